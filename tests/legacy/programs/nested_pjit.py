# A pjit-ed function that calls others: inside, shapes are global and the inner specs constrain the intermediate values.
# processes: 1
# devices: 8
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.maps import Mesh
from jax.experimental.pjit import PartitionSpec as P
from jax.experimental.pjit import pjit

seen = []


def scores(q, k):
    seen.append(("scores", q.shape))
    return q @ k.T


def softmax(s):
    seen.append(("softmax", s.shape))
    return jax.nn.softmax(s, axis=-1)


p_scores = pjit(scores, in_axis_resources=(P("x", "y"), P("y")), out_axis_resources=P("x", "y"))
p_softmax = pjit(softmax, in_axis_resources=(P("x", None),), out_axis_resources=P("x", None))


def attention(q, k, v):
    weights = p_softmax(p_scores(q, k))
    return weights @ v


def train(q, k, v):
    out = jnp.sum(pjit(attention, in_axis_resources=(P("x"), P("y"), P("y")), out_axis_resources=P("x"))(q, k, v) ** 2)
    return out


rng = np.random.RandomState(4)
q, k, v = (rng.normal(size=(8, 4)).astype(np.float32) for _ in range(3))

with Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y")):
    p_attention = pjit(attention, in_axis_resources=(P("x"), P("y"), P("y")), out_axis_resources=P("x"))
    out = p_attention(q, k, v)
    assert seen == [("scores", (8, 4)), ("softmax", (8, 8))], seen
    again = p_attention(q, k, v)
    assert len(seen) == 2, "traced once"
    grads = pjit(jax.grad(train), in_axis_resources=(P("x"), None, None), out_axis_resources=P("x"))(q, k, v)

e = np.exp(q @ k.T)
expected = (e / e.sum(axis=1, keepdims=True)) @ v
np.testing.assert_allclose(np.asarray(out), expected, rtol=1e-4, atol=1e-5)
np.testing.assert_array_equal(np.asarray(out), np.asarray(again))
assert grads.shape == (8, 4)
step = 1e-2 * np.asarray(grads)
e2 = np.exp((q + step) @ k.T)
moved = (((e2 / e2.sum(axis=1, keepdims=True)) @ v) ** 2).sum() - (expected**2).sum()
np.testing.assert_allclose(moved, (np.asarray(grads) * step).sum(), rtol=0.05)
print("out %.4f grad %.4f" % (float(np.asarray(out).sum()), float(np.abs(np.asarray(grads)).sum())))
