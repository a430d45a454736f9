"""Functions of old JAX that no function of today replaces under another name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax import tree_util
from jax.extend import random as generators


def host_ids(backend: str | None = None) -> list[int]:
    """Numbers of all processes."""
    return list(range(jax.process_count(backend)))


def curry(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the first arguments that gives one of the rest."""
    return functools.partial(functools.partial, f)


def clear_backends() -> None:
    """Forget what was compiled; today nothing more can be forgotten while arrays are alive."""
    jax.clear_caches()


def asfarray(x: Any, dtype: Any = None) -> Any:
    """An array of floats."""
    kind = dtype if dtype is not None and jnp.issubdtype(dtype, jnp.inexact) else float
    return jnp.asarray(x, dtype=kind)


def default_prng_impl() -> Any:
    """The generator that new keys belong to, with its name and the shape of its keys."""
    return getattr(generators, _GENERATORS[jax.config.jax_default_prng_impl])


_GENERATORS = {"threefry2x32": "threefry_prng_impl", "rbg": "rbg_prng_impl", "unsafe_rbg": "unsafe_rbg_prng_impl"}


def _keys(implementation: str) -> Callable[[int], Any]:
    return lambda seed: jax.random.PRNGKey(seed, impl=implementation)


threefry2x32_key = _keys("threefry2x32")
rbg_key = _keys("rbg")
unsafe_rbg_key = _keys("unsafe_rbg")


def tie_in(x: Any, y: Any) -> Any:
    """The second argument, which once was made to depend on the first."""
    del x
    return y


def polar_unitary(a: Any, *, method: str = "qdwh", eps: float | None = None, max_iterations: int | None = None) -> Any:
    """The unitary factor of the polar decomposition."""
    return jax.scipy.linalg.polar(a, method=method, eps=eps, max_iterations=max_iterations)[0]


def raise_to_shaped(aval: Any, weak_type: bool | None = None) -> Any:
    """The type of a value without the value, which is all that types hold today."""
    return aval if weak_type is None else aval.update(weak_type=weak_type)


def tuple_delete(t: Sequence[Any], idx: int) -> tuple[Any, ...]:
    """A tuple without one element."""
    return (*t[:idx], *t[idx + 1 :])


def tuple_insert(t: Sequence[Any], idx: int, val: Any) -> tuple[Any, ...]:
    """A tuple with one element more."""
    return (*t[:idx], val, *t[idx:])


_map = tree_util.tree_map


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply a function to leaves; None in the first tree stands for itself, whatever the other trees have there."""
    if not rest:
        return _map(f, tree, is_leaf=is_leaf)
    structure = tree_util.tree_structure(tree, is_leaf=is_leaf)
    try:
        for other in rest:
            structure.flatten_up_to(other)
    except ValueError:
        stops = lambda x: x is None or (is_leaf is not None and is_leaf(x))  # noqa: E731
        return _map(lambda x, *others: None if x is None else f(x, *others), tree, *rest, is_leaf=stops)
    return _map(f, tree, *rest, is_leaf=is_leaf)


def build_tree(treedef: Any, xs: Any) -> Any:
    """A tree of the given structure."""
    return tree_util.tree_unflatten(treedef, tree_util.tree_leaves(xs))


def register_keypaths(kind: type, handler: Callable[[Any], Any]) -> None:
    """Once gave names to the children of a node for messages; nothing depends on it."""


@contextmanager
def disable_x64() -> Iterator[None]:
    """Types of 32 bits within a block."""
    with jax.enable_x64(False):
        yield


@contextmanager
def maps_mesh(devices: Any, axis_names: Sequence[Any]) -> Iterator[Any]:
    """A mesh for the calls of pjit within a block."""
    with jax.sharding.Mesh(np.asarray(devices), tuple(axis_names)) as mesh:
        yield mesh


def to_dlpack(x: Any, take_ownership: bool = False) -> Any:
    """A capsule that other libraries read."""
    del take_ownership
    return x.__dlpack__()


def is_opaque_dtype(dtype: Any) -> bool:
    """Whether elements have a structure that NumPy knows nothing of, as keys have."""
    return bool(jnp.issubdtype(dtype, jax.dtypes.extended))


def has_opaque_dtype(x: Any) -> bool:
    """The same of an array."""
    return is_opaque_dtype(x.dtype)


@contextmanager
def spmd_mode(new_val: str) -> Iterator[None]:
    """Once allowed computations on arrays of several processes, which need no leave today."""
    del new_val
    yield


def initialize_cache(path: str, *_: Any, **__: Any) -> None:
    """Keep what was compiled in a folder."""
    jax.config.update("jax_compilation_cache_dir", str(path))


def is_initialized() -> bool:
    """Whether what was compiled is kept in a folder."""
    return bool(jax.config.jax_compilation_cache_dir)


def nothing(*_: Any, **__: Any) -> None:
    """What once had to be set up needs no setting up."""


def stax_normalize(x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: float = 1e-5) -> Any:
    """Shift and scale to mean 0 and variance 1."""
    return jax.nn.standardize(x, axis=axis, mean=mean, variance=variance, epsilon=epsilon)


def sph_harm(m: Any, n: Any, theta: Any, phi: Any, n_max: int | None = None) -> Any:
    """Spherical harmonics; the angles had each other's names."""
    return jax.scipy.special.sph_harm_y(n, m, phi, theta, n_max=n_max)


def check_eq(xs: Any, ys: Any, err_msg: str = "") -> None:
    """Compare two trees exactly."""
    tree_util.tree_map(lambda x, y: np.testing.assert_array_equal(x, y, err_msg=err_msg), xs, ys)


def check_close(xs: Any, ys: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Compare two trees with a tolerance."""
    options = {"atol": atol or 1e-6, "rtol": rtol or 1e-6, "err_msg": err_msg}
    tree_util.tree_map(lambda x, y: np.testing.assert_allclose(x, y, **options), xs, ys)


OBJECTS: dict[str, object] = {
    "jax.clear_backends": clear_backends,
    "jax.curry": curry,
    "jax.host_ids": host_ids,
    "jax.cloud_tpu_init.cloud_tpu_init": nothing,
    "jax.core.has_opaque_dtype": has_opaque_dtype,
    "jax.core.is_opaque_dtype": is_opaque_dtype,
    "jax.core.raise_to_shaped": raise_to_shaped,
    "jax.core.tuple_delete": tuple_delete,
    "jax.core.tuple_insert": tuple_insert,
    "jax.dlpack.to_dlpack": to_dlpack,
    "jax.experimental.compilation_cache.compilation_cache.initialize_cache": initialize_cache,
    "jax.experimental.compilation_cache.compilation_cache.is_initialized": is_initialized,
    "jax.experimental.disable_x64": disable_x64,
    "jax.experimental.stax.normalize": stax_normalize,
    "jax.experimental.x64_context.disable_x64": disable_x64,
    "jax.experimental.maps.mesh": maps_mesh,
    "jax.lax.tie_in": tie_in,
    "jax.lib.xla_bridge.host_ids": host_ids,
    "jax.numpy.NINF": -np.inf,
    "jax.numpy.NZERO": -0.0,
    "jax.numpy.PZERO": 0.0,
    "jax.numpy.asfarray": asfarray,
    "jax.random.default_prng_impl": default_prng_impl,
    "jax.random.rbg_key": rbg_key,
    "jax.random.threefry2x32_key": threefry2x32_key,
    "jax.random.unsafe_rbg_key": unsafe_rbg_key,
    "jax.scipy.linalg.polar_unitary": polar_unitary,
    "jax.scipy.special.sph_harm": sph_harm,
    "jax.spmd_mode": spmd_mode,
    "jax.test_util.check_close": check_close,
    "jax.test_util.check_eq": check_eq,
    "jax.tools.colab_tpu.setup_tpu": nothing,
    "jax.tree_map": tree_map,
    "jax.tree_multimap": tree_map,
    "jax.tree_util.tree_map": tree_map,
    "jax.tree_util.tree_multimap": tree_map,
    "jax.tree_util.build_tree": build_tree,
    "jax.tree_util.register_keypaths": register_keypaths,
}
"""Old path -> object."""
