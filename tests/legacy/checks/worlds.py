"""How a check says which old JAX it wants."""

from __future__ import annotations

from collections.abc import Callable


def world(version: str, jax_array: bool | None = False) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Run a check on this version, with `jax_array` on or off."""

    def mark(check: Callable[[], None]) -> Callable[[], None]:
        check.world = (version, jax_array)
        return check

    return mark


def raises(kind: type[BaseException], call: Callable[[], object], text: str = "") -> None:
    """Assert that a call raises exactly this class of error, with `text` in its message."""
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
        return
    raise AssertionError(f"no {kind.__name__}")
