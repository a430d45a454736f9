"""What the emulation is set to: the version it stands for, its flags, and who wants to hear of hazards."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Version = tuple[int, ...]
Observer = Callable[[str, str, str], None]
"""Called with the kind of a hazard, a key that is the same in every process, and a detail."""


class Flag:
    """A boolean option of old JAX: a value for the program, and for the current thread while its context manager is open."""

    def __init__(self, name: str, default: bool) -> None:
        self.name = name
        self.default = default
        self._local = threading.local()

    @property
    def value(self) -> bool:
        """What holds in the current thread."""
        stack = getattr(self._local, "stack", None)
        return bool(stack[-1] if stack else self.default)

    def _set(self, value: bool) -> None:
        self.default = bool(value)

    @contextmanager
    def __call__(self, value: bool) -> Iterator[None]:
        """Let the option have another value within a block."""
        stack = self._local.__dict__.setdefault("stack", [])
        stack.append(value)
        try:
            yield
        finally:
            stack.pop()


version: Version = (0, 4, 6)
"""The JAX that is stood for; decides spellings of indices, texts of errors, order of parameters."""
array_flag = Flag("jax_array", False)
gda_flag = Flag("jax_parallel_functions_output_gda", False)
_observer: Observer | None = None


def jax_array() -> bool:
    """Whether arrays are of the one new class `jax.Array`."""
    return array_flag.value


def output_gda() -> bool:
    """Whether pjit gives GlobalDeviceArrays instead of host-local arrays."""
    return gda_flag.value


def set_observer(observer: Observer | None) -> None:
    """Choose who hears of hazards."""
    global _observer
    _observer = observer


def observed() -> bool:
    """Whether anybody listens."""
    return _observer is not None


def report(kind: str, key: str, detail: str) -> None:
    """Tell the observer of a hazard."""
    if _observer is not None:
        _observer(kind, key, detail)


def environment_flag(name: str, default: bool) -> bool:
    """A boolean environment variable, read as JAX reads it."""
    text = os.environ.get(name, "").lower()
    if not text:
        return default
    if text in ("y", "yes", "t", "true", "on", "1"):
        return True
    if text in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"invalid truth value {text!r} for environment {name!r}")


def parse_version(text: str) -> Version:
    """The numbers of a version."""
    return tuple(int(part) for part in text.split("."))
