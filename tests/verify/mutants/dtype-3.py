# original: fixtures/jax-array-flag/update-in-loop/before.py
# wrong: the loop went as a whole, and double precision with it.
# kind: dtype lost
# processes: 1
import jax



print(jax.numpy.arange(3.0).dtype)
