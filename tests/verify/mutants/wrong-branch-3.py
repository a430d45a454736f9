# original: fixtures/jax-array-flag/output-gda/before.py
# wrong: the flag was folded to False.
# kind: wrong branch kept
# processes: 1
import jax.numpy as jnp

pass
print(jnp.ones(2))
