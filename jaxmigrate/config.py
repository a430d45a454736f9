"""The table ``[tool.jaxmigrate]`` of the nearest pyproject.toml: it says how to rewrite, never that anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

# Read at every start, so dataclasses and tomllib (several milliseconds each) are not imported unless there is a table.

_MARK = b"tool.jaxmigrate"


class Config(NamedTuple):
    """What a project asks for; each option of the command line goes before it."""

    target: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns as in .gitignore, relative to the folder of the file."""
    options: tuple[tuple[str, str], ...] = ()
    """``codemod.option`` and its value, from the table ``[tool.jaxmigrate.options]``."""
    safe_only: bool = False
    unsafe: bool = False
    origin: str | None = None
    """The JAX that the program was written for; the key is ``from``."""
    strict: bool = False
    path: str = ""
    """The file it came from; empty if there is none."""

    @property
    def base(self) -> str:
        """The folder that `exclude` is relative to."""
        return os.path.dirname(os.path.abspath(self.path)) if self.path else "."


class ConfigError(ValueError):
    """The table holds something that it must not hold; the message names file and key."""


def find(start: str) -> str | None:
    """The nearest pyproject.toml at or above `start` that has a table for us; the search ends at the top of the checkout."""
    folder = os.path.abspath(start)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if _MARK in _read(path):
            return path
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = parent


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def load(path: str) -> Config:
    """Read the table of this file.

    Raises:
        ConfigError: the file cannot be read, or a key or value is not known.
    """
    import tomllib

    try:
        with open(path, "rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    tool = document.get("tool", {})
    table = tool.get("jaxmigrate", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: tool.jaxmigrate must be a table")
    try:
        return _config(table, path)
    except ConfigError as error:
        raise ConfigError(f"{path}: [tool.jaxmigrate] {error}") from None


def _config(table: dict[str, object], path: str) -> Config:
    values: dict[str, object] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise ConfigError(f"{key}: {_no_such_key(key)}")
        values[_FIELDS.get(key, key.replace("-", "_"))] = reader(key, value)
    if values.get("safe_only") and values.get("unsafe"):
        raise ConfigError("safe-only and unsafe: choose one")
    return Config(path=path, **values)  # type: ignore[arg-type]


def _no_such_key(key: str) -> str:
    if key.replace("_", "-") in _READERS:
        return f"unknown key, did you mean {key.replace('_', '-')!r}?"
    if key in {"write", "fix", "check", "diff", "exit-zero", "jobs"}:
        return "not a setting of the project: give it on the command line"
    return f"unknown key{did_you_mean(key, _READERS)}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` or, with nothing near, the list of what there is."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(word, names, 1)
    return f", did you mean {near[0]!r}?" if near else f" (known: {', '.join(names)})"


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{key}: expected a string, not {value!r}")
    return value


def _target(key: str, value: object) -> str:
    from jaxmigrate.model import Version

    text = _text(key, value)
    try:
        Version.parse(text)
    except ValueError as error:
        raise ConfigError(f"{key}: {error}") from None
    return text


def _names(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{key}: expected a list of strings, not {value!r}")
    return tuple(value)


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigError(f"{key}: expected true or false, not {value!r}")
    return value


def _options(key: str, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ConfigError(f"{key}: expected a table, not {value!r}")
    pairs: list[tuple[str, str]] = []
    for name, choice in value.items():
        # [options] codemod.option = "x" makes nested tables, "codemod.option" = "x" does not.
        nested = choice if isinstance(choice, dict) else {"": choice}
        pairs += [(f"{name}.{inner}".rstrip("."), _text(f"{key}.{name}", text)) for inner, text in nested.items()]
    return tuple(pairs)


_READERS: dict[str, Callable[[str, object], object]] = {
    "target": _target,
    "select": _names,
    "ignore": _names,
    "exclude": _names,
    "options": _options,
    "safe-only": _flag,
    "unsafe": _flag,
    "from": _target,
    "strict": _flag,
}
_FIELDS = {"from": "origin"}
"""Keys that are words of Python."""
