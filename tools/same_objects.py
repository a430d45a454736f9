"""Write ``codemods/same_objects.txt``: the public names that are one object in the newest release (installed)."""

from __future__ import annotations

import importlib
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

from jaxmigrate.registry import history

PATH = Path(__file__).resolve().parents[1] / "codemods" / "same_objects.txt"
_HEAD = """\
# Derived by tools/same_objects.py from the newest release: names of one object in a line, the oldest first. A function that
# only passes its arguments on to another (jax.tree.map, jax.remat) counts as one with it.
"""
_PASSED_OVER = ("jax.experimental.pallas.ops.", "jax.experimental.mosaic.", "jaxlib.")


def text() -> str:
    """The table."""
    groups: dict[int, list[str]] = {}
    kept: list[object] = []  # an identity is that of a living object
    for name, value in _public():
        kept.append(value)
        groups.setdefault(id(value), []).append(name)
    lines = sorted(" ".join(sorted(names, key=_rank)) for names in groups.values() if _counts(names))
    return _HEAD + "".join(f"{line}\n" for line in [*lines, *_passed_on()])


def _counts(names: list[str]) -> bool:
    """Whether there are several names, not all of them accidental exports."""
    return len(names) > 1 and not all(map(_leaks, names))


def _leaks(name: str) -> bool:
    entry = history().entry(name)
    return entry is not None and "leak" in entry.kinds


def _rank(name: str) -> tuple[object, ...]:
    return _leaks(name), history().since(name), name.count("."), len(name), name


def _passed_on() -> Iterator[str]:
    yield "jax.checkpoint jax.remat"
    tree, util = (history().members(f"jax.{module}") for module in ("tree", "tree_util"))
    for name, entry in tree.items():
        if entry.alive and f"tree_{name}" in util and util[f"tree_{name}"].alive:
            yield f"jax.tree.{name} jax.tree_util.tree_{name}"


def _public() -> Iterator[tuple[str, object]]:
    """Functions and classes of JAX by their names."""
    for section in history().sections():
        if section.startswith(_PASSED_OVER) or section.partition(".")[0] != "jax":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from _members(section)


def _members(section: str) -> Iterator[tuple[str, object]]:
    try:
        module = importlib.import_module(section)
    except ImportError:
        return
    for name, entry in history().members(section).items():
        value = getattr(module, name, None) if entry.alive else None
        if callable(value) and not isinstance(value, types.ModuleType) and (value.__module__ or "").partition(".")[0] == "jax":
            yield f"{section}.{name}", value


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
