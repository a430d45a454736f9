"""Why a module of an old package cannot be imported on the newest JAX, read from the error that its import ends with."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jaxmigrate.registry import history

READ = Path(__file__).with_name("blockers.txt")
"""What no rule can tell from the error: ``package: part of the error: kind: reason``, each line the result of reading the code."""

_SYMBOLS = (
    re.compile(r"cannot import name '(?P<name>[\w.]+)' from '(?P<module>[\w.]+)'"),
    re.compile(r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"(?:No module named|import of) '(?P<name>[\w.]+)'"),
)
_PYTHON = re.compile(
    r"^SyntaxError|mutable default .* is not allowed|No module named '(imp|distutils|pkg_resources|imghdr|asyncore)\b"
)


class Kind(enum.Enum):
    """What stands in the way."""

    MISSED = "a JAX API with a known replacement"
    INTERNAL = "a JAX internal without a replacement"
    LIBRARY = "another library"
    PYTHON = "Python itself"
    OWN = "the package itself"
    UNREAD = "nobody has read it yet"


@dataclass(frozen=True, slots=True)
class Blocker:
    """What keeps a module from being imported."""

    kind: Kind
    reason: str


def blocker(package: str, error: str) -> Blocker:
    """Sort the error of an import."""
    for name, part, kind, reason in _read():
        if name == package and part in error:
            return Blocker(Kind[kind.upper()], reason)
    if _PYTHON.search(error):
        return Blocker(Kind.PYTHON, error)
    symbol = _symbol(error)
    if not symbol:
        return Blocker(Kind.UNREAD, error)
    if symbol.split(".")[0] not in ("jax", "jaxlib"):
        return Blocker(Kind.LIBRARY, error)
    return Blocker(Kind.MISSED if _has_replacement(symbol) else Kind.INTERNAL, error)


def _symbol(error: str) -> str:
    found = next((match for pattern in _SYMBOLS if (match := pattern.search(error))), None)
    if found is None:
        return ""
    module = found.groupdict().get("module")
    return f"{module}.{found['name']}" if module else found["name"]


def _has_replacement(symbol: str) -> bool:
    advice = history().advice(symbol)
    return advice is not None and advice.verb != "none"


@cache
def _read() -> tuple[tuple[str, str, str, str], ...]:
    lines = [line for line in READ.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return tuple((a, b, c, d) for a, b, c, d in (line.split(": ", 3) for line in lines))
