# original: fixtures/sharding-paths/mesh/before.py
# wrong: four by two became two by four.
# kind: mesh transposed
# processes: 1
"""Mesh from the two modules that passed it on."""

import jax
import numpy as np
from jax.sharding import Mesh


def layout(mesh: Mesh) -> dict:
    return dict(mesh.shape)


devices = np.array(jax.devices())
mesh = Mesh(devices.reshape(4, 2), ("data", "model"))
print(layout(mesh), layout(Mesh(devices, ("x",))), isinstance(mesh, Mesh))
