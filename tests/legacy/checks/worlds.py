"""How a check says which old JAX it wants."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest


def world(version: str, jax_array: bool | None = False) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Run a check on this version, with `jax_array` on or off."""

    def mark(check: Callable[[], None]) -> Callable[[], None]:
        check.world = (version, jax_array)
        return check

    return mark


def raises(kind: type[BaseException], call: Callable[[], object], text: str = "") -> None:
    """Assert that a call raises exactly this class of error, with `text` in its message."""
    with pytest.raises(kind, match=re.escape(text)) as info:
        call()
    assert info.type is kind or info.type.__module__.startswith("jax")
