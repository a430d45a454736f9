"""The first look at a file: whether its bytes hold any trace of JAX at all. Imports nothing, since every start needs it."""

from __future__ import annotations


def has_trace(data: bytes) -> bool:
    """Whether the packs must be asked about this file.

    A module may get a class from its own package and never mention jax, hence the second word; a job that only sets an
    environment variable holds the third.
    """
    return b"jax" in data or b"DeviceArray" in data or b"JAX_" in data
