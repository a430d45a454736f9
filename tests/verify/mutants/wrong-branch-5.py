# original: fixtures/jax-array-flag/output-gda-beside-jax-array/before.py
# wrong: the answer for the flags being off was kept.
# kind: wrong branch kept
# processes: 1
"""Knows both flags: the older one had no effect once jax_array was on."""

import logging

import jax
import numpy as np


def make(shape, sharding):
    return jax.make_array_from_callback(shape, sharding, lambda index: np.ones(shape)[index])


def check():
    return "local"


mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
print(check(), make((4,), sharding))
