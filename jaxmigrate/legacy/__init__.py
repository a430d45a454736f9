"""Old JAX (0.3 to 0.4.6) emulated on the installed JAX: what an original program runs on (DESIGN section 6).

Needs nothing but the standard library, NumPy and JAX, so that it can be loaded from its folder by any interpreter; JAX is
imported by `install` only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .guessing import guess
from .state import Observer, set_observer

__all__ = ["OLDEST_HOST", "VERSIONS", "guess", "install", "installed", "observe", "uninstall"]

VERSIONS: tuple[str, ...] = tuple(f"0.3.{n}" for n in range(26)) + tuple(f"0.4.{n}" for n in range(7))
"""The versions that can be stood for."""

OLDEST_HOST = "0.9.0"
"""The oldest installed JAX that they can be put over."""


def install(version: str = "0.4.6", *, jax_array: bool | None = None) -> None:
    """Let `jax` be the given old version, for what is imported from now on.

    `jax_array` is the default of the option of that name; None takes that of the version. The environment variables that
    JAX had for its options are heeded. Called again, it changes version and option until the matching `uninstall`.
    """
    from . import world

    world.install(version, jax_array=jax_array)


def uninstall() -> None:
    """Take back the last `install`."""
    from . import world

    world.uninstall()


@contextmanager
def installed(version: str = "0.4.6", *, jax_array: bool | None = None) -> Iterator[None]:
    """`install` for a block."""
    install(version, jax_array=jax_array)
    try:
        yield
    finally:
        uninstall()


def observe(observer: Observer | None) -> None:
    """Choose who hears of undefined behaviour in a run of several processes; None for nobody.

    The observer gets the kind, a key that is the same in every process, and a detail: ``replicated-input`` with a digest of
    what must be equal everywhere, ``non-contiguous-mesh`` with the process whose devices are no block of the mesh.
    """
    set_observer(observer)
