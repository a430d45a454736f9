# Code that probes what a mesh can hold and falls back: the errors of pjit and GlobalDeviceArray are part of its logic.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import maps
from jax.experimental.global_device_array import GlobalDeviceArray
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit

mesh = maps.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))


def best_spec(value, candidates):
    """The first spec under which the function runs."""
    for spec in candidates:
        try:
            with mesh:
                pjit(lambda v: v * 2, in_axis_resources=spec, out_axis_resources=spec)(value)
        except ValueError:
            continue
        return spec
    return None


chosen = {}
for shape in ((8, 4), (6, 4), (5, 4), (5, 3)):
    value = np.ones(shape, np.float32)
    chosen[shape] = best_spec(value, [P("x"), P("y"), P(None, "y"), P()])
    print(shape, "->", tuple(chosen[shape]))
assert [tuple(spec) for spec in chosen.values()] == [("x",), ("y",), (None, "y"), ()]


def outcome(function, *args):
    try:
        result = function(*args)
    except Exception as error:
        return next(base.__name__ for base in (ValueError, IndexError, AssertionError, TypeError, Exception) if isinstance(error, base))
    return tuple(result.shape)


def gda(shape, spec):
    value = np.zeros(shape, np.float32)
    return GlobalDeviceArray.from_callback(shape, mesh, spec, lambda index: value[index])


assert outcome(gda, (8, 2), P("x", "y")) == (8, 2)
assert outcome(gda, (7, 2), P("x")) == "ValueError"
assert outcome(gda, (8,), P("x", "y")) == "IndexError"


def wrong_rank(value):
    with mesh:
        return pjit(lambda v: v, in_axis_resources=P("x", "y"), out_axis_resources=P("x"))(value)


assert outcome(wrong_rank, np.ones(8)) == "ValueError"


def wrong_tree(value):
    with mesh:
        return pjit(lambda v: v["a"], in_axis_resources=({"b": P("x")},), out_axis_resources=P("x"))({"a": value})


assert outcome(wrong_tree, jnp.ones(8)) == "ValueError"
print("errors as expected")
