# original: fixtures/jax-array-flag/on-and-asked/before.py
# wrong: the branch of the old arrays was kept.
# kind: wrong branch kept
# processes: 1
import jax

print("three")
