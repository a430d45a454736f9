# original: fixtures/pjit-to-jit/no_shardings_uncommitted/before.py
# wrong: jit uses one device where pjit used the mesh.
# kind: jit places on one device
# processes: 1
# raises: AssertionError
import jax
import numpy as np
from jax.experimental.pjit import pjit
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))

ones = jax.jit(lambda: np.ones(8))

with mesh:
    out = ones()

assert len(out.sharding.device_set) == 8
print("pjit put this on every device of the mesh; jit would use one")
