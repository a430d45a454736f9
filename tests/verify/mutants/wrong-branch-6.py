# original: fixtures/jax-array-flag/read-if-not/before.py
# wrong: the check was kept without its condition.
# kind: wrong branch kept
# processes: 1
# raises: RuntimeError
import jax.numpy as jnp

raise RuntimeError("this program needs jax.Array")


def norm(x):
    # Nothing to wait for.
    x = jnp.asarray(x)
    return float(jnp.sqrt((x * x).sum()))


assert norm(jnp.array([3.0, 4.0])) == 5.0
print("ok")
