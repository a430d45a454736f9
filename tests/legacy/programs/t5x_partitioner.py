# A partitioner class in the manner of t5x: logical axis rules give the specs, methods wrap functions in pjit.
# processes: 1
# devices: 8
import abc
import dataclasses
from typing import Any, Callable, Optional, Sequence, Tuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec
from jax.experimental.pjit import pjit as jax_pjit

LogicalAxisRules = Sequence[Tuple[str, Optional[str]]]

RULES: LogicalAxisRules = (("batch", "data"), ("mlp", "model"), ("heads", "model"), ("embed", None), ("vocab", "model"))


def get_mesh(num_partitions: int) -> Mesh:
    devices = np.asarray(jax.devices())
    return Mesh(devices.reshape(len(devices) // num_partitions, num_partitions), ("data", "model"))


def pjit(
    fun: Callable,
    in_axis_resources,
    out_axis_resources,
    static_argnums=(),
    donate_argnums=(),
):
    """Wrapper for pjit: the place where t5x told CPU from TPU."""
    return jax_pjit(
        fun, in_axis_resources, out_axis_resources, static_argnums=static_argnums, donate_argnums=donate_argnums
    )


@dataclasses.dataclass
class DataLayout:
    batch_size: int
    shard_id: int
    num_shards: int


class BasePartitioner(abc.ABC):
    @property
    @abc.abstractmethod
    def mesh(self) -> Mesh:
        ...

    @property
    def data_partition_spec(self) -> PartitionSpec:
        return PartitionSpec("data")

    def get_data_layout(self, batch_size: int) -> DataLayout:
        return DataLayout(batch_size, jax.process_index(), jax.process_count())

    @abc.abstractmethod
    def partition(self, fn, in_axis_resources, out_axis_resources, static_argnums=(), donate_argnums=()):
        ...


class PjitPartitioner(BasePartitioner):
    def __init__(self, num_partitions: int, rules: LogicalAxisRules = RULES):
        self._mesh = get_mesh(num_partitions)
        self._rules = dict(rules)

    @property
    def mesh(self) -> Mesh:
        return self._mesh

    def specs(self, logical_axes: Any) -> Any:
        is_axes = lambda x: isinstance(x, tuple) and all(isinstance(name, str) for name in x)
        to_spec = lambda names: PartitionSpec(*[self._rules[name] for name in names])
        return jax.tree_util.tree_map(to_spec, logical_axes, is_leaf=is_axes)

    def partition(self, fn, in_axis_resources, out_axis_resources, static_argnums=(), donate_argnums=()):
        pjitted = pjit(fn, in_axis_resources, out_axis_resources, static_argnums, donate_argnums)

        def call(*args):
            with self.mesh:
                return pjitted(*args)

        return call


def mlp(params, x):
    return jnp.tanh(jnp.tanh(x @ params["embedder"]) @ params["wi"]) @ params["wo"]


def init_params():
    rng = np.random.RandomState(9)
    shapes = {"embedder": (12, 8), "wi": (8, 32), "wo": (32, 8)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


params = init_params()
x = np.random.RandomState(10).normal(size=(8, 12)).astype(np.float32)
expected = np.tanh(np.tanh(x @ params["embedder"]) @ params["wi"]) @ params["wo"]
axes = {"embedder": ("vocab", "embed"), "wi": ("embed", "mlp"), "wo": ("mlp", "embed")}

for num_partitions in (1, 2, 4):
    partitioner = PjitPartitioner(num_partitions)
    param_specs = partitioner.specs(axes)
    assert tuple(param_specs["wi"]) == (None, "model") and tuple(param_specs["embedder"]) == ("model", None)
    assert partitioner.get_data_layout(8) == DataLayout(8, 0, 1)
    apply = partitioner.partition(
        mlp,
        in_axis_resources=(param_specs, partitioner.data_partition_spec),
        out_axis_resources=partitioner.data_partition_spec,
    )
    y = apply(params, x)
    assert y.shape == (8, 8)
    np.testing.assert_allclose(np.asarray(y), expected, rtol=1e-4, atol=1e-5)
    print(num_partitions, dict(partitioner.mesh.shape), "%.3f" % float(np.abs(np.asarray(y)).sum()))
