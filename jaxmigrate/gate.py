"""The first look at a file: whether its bytes may hold anything for any codemod. Every start needs it: it imports little."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

GROUP = "jaxmigrate.codemods"
BUILTIN = "jaxmigrate_codemods"
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_WHOLE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*(?=[^A-Za-z0-9_])")
_BLANKED = bytes(byte if chr(byte).isidentifier() or chr(byte).isdigit() else 32 for byte in range(128)) + b" " * 128
"""What leaves of ASCII the characters of identifiers."""


def has_trace(data: bytes) -> bool:
    """Whether the packs must be asked about this file.

    A module may get a class from its own package and never mention jax, hence the second word; a job that only sets an
    environment variable holds the third.
    """
    return b"jax" in data or b"DeviceArray" in data or b"JAX_" in data


def prefilter(data: bytes) -> bool:
    """Whether a file's bytes hold a word of any codemod; false for most files, and cheap.

    A substring search comes first, identifiers only where it hits: a word-boundary regex over a whole tree costs ten times more
    (``field/SPEED.md``).
    """
    return has_trace(data) and (holds_own_word(data) or imports_library(data))


def holds_own_word(data: bytes) -> bool:
    """Whether the bytes hold a word that tells of an old API by itself."""
    words, phrases = _words()
    found = _identifiers(data)
    return not words.isdisjoint(found) or any(name in found and phrase in data for name, phrase in phrases)


def imports_library(data: bytes) -> bool:
    """Whether the bytes may import one of the libraries, or name it at the start of a string."""
    words, pattern = _library()
    return not words.isdisjoint(_identifiers(data)) and pattern.search(data) is not None


def holds_word(data: bytes, words: Iterable[str]) -> bool:
    """Whether the bytes hold one of `words`, identifiers or phrases."""
    identifiers, phrases = _encoded(frozenset(words))
    found = _identifiers(data)
    return not identifiers.isdisjoint(found) or any(inner <= found and phrase in data for inner, phrase in phrases)


@functools.lru_cache(maxsize=256)
def _encoded(words: frozenset[str]) -> tuple[frozenset[bytes], tuple[tuple[frozenset[bytes], bytes], ...]]:
    """Identifiers, and phrases with the identifiers that are complete in them: they begin with a word, and may end in one."""
    identifiers = frozenset(w.encode() for w in words if w.isidentifier())
    phrases = (w.encode() for w in words if not w.isidentifier())
    return identifiers, tuple((frozenset(_WHOLE.findall(phrase)), phrase) for phrase in phrases)


@functools.lru_cache(maxsize=1)
def _identifiers(data: bytes) -> frozenset[bytes]:
    """The identifiers of one file; asked for by each codemod in turn."""
    return frozenset(data.translate(_BLANKED).split())


@functools.cache
def packages() -> tuple[str, ...]:
    """The installed packs, ours first.

    The entry points' metadata files are read directly: importing ``importlib.metadata`` costs as much as importing click.
    """
    return (BUILTIN, *(p for p in _entry_points() if p != BUILTIN))


def newest() -> str:
    """The newest release of the library that our pack knows."""
    found: str = import_module(BUILTIN).NEWEST
    return found


@functools.cache
def _words() -> tuple[frozenset[bytes], tuple[tuple[bytes, bytes], ...]]:
    """Identifiers to look for, and other phrases (``.device()``), each with an identifier that it cannot be without."""
    libraries = {library.encode() for package in packages() for library in libraries_of(package)}
    words = {w.encode() for package in packages() for w in words_of(package)} - libraries
    identifiers = frozenset(w for w in words if w.decode().isidentifier())
    return identifiers, tuple((max(_IDENTIFIER.findall(w), key=len), w) for w in words - identifiers)


@functools.cache
def _library() -> tuple[frozenset[bytes], re.Pattern[bytes]]:
    """The names of the libraries, and how a file that uses one must mention it."""
    names = frozenset(library.encode() for package in packages() for library in libraries_of(package))
    either = b"|".join(map(re.escape, sorted(names))) or rb"\b\B"
    line = rb"(?:[^\n\\]|\\\r?\n|\\)*?"
    return names, re.compile(rb"\b(?:import|from)\b" + line + rb"\b(?:" + either + rb")\b|['\"](?:" + either + rb")\b")


def libraries_of(package: str) -> Iterable[str]:
    """The libraries that a pack is about: as words they concern only files that import them."""
    return getattr(import_module(package), "LIBRARIES", ())


def words_of(package: str) -> Iterable[str]:
    """The words of a pack, which it may list as ``WORDS``: that spares loading its codemods for a file that holds none."""
    module = import_module(package)
    listed: Iterable[str] | None = getattr(module, "WORDS", None)
    if listed is not None:
        return listed
    return {w for name in module.MODULES for w in import_module(f"{package}.{name}").codemod.words}


def _entry_points() -> Iterator[str]:
    """Packages named by entry points of the installed distributions, each once."""
    seen: set[str] = set()
    for directory in sys.path:
        try:
            with os.scandir(directory or ".") as entries:
                found = sorted(e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        for entry in found:
            for package in _entry_points_in(os.path.join(entry, "entry_points.txt")):
                if package not in seen:
                    seen.add(package)
                    yield package


def _entry_points_in(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return []
    if GROUP not in text:
        return []
    match = re.search(rf"^\[{re.escape(GROUP)}\]\s*$(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\s*[\w.-]+\s*=\s*([\w.]+)", match[1], re.MULTILINE) if match else []
