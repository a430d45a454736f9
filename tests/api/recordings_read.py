"""The stored recordings, and what they say of a name."""

from __future__ import annotations

import functools

from jaxmigrate.model import Version
from jaxmigrate.registry import history
from tools.record_jax_api import RECORDINGS, Recording, read, recorded

VERSIONS = sorted((path.name.removesuffix(".json.gz") for path in RECORDINGS.glob("*.json.gz")), key=Version.parse)


@functools.cache
def recording(version: str) -> Recording:
    """What was recorded of a release."""
    return read(RECORDINGS / f"{version}.json.gz")


@functools.cache
def names(version: str) -> dict[str, list[str]]:
    """Dotted name -> what is recorded of it."""
    sections = recorded(recording(version))
    return {f"{section}.{name}" if section else name: e for section, members in sections.items() for name, e in members.items()}


def usable(version: str, name: str) -> bool:
    """Whether a release has a name and does not warn of it, as far as its recording tells."""
    found = names(version).get(name)
    if found is None:
        module = parent(name)
        return module in recording(version)["failed"] or bool(history().entry(module) and not history().is_module(module))
    return len(found) == 1


def parent(symbol: str) -> str:
    """The module or class around a name."""
    return symbol.rpartition(".")[0]
