"""Whether two texts that programs printed say the same."""

from __future__ import annotations

import re

import numpy as np

from jaxmigrate.verify.model import Tolerance
from jaxmigrate.verify.tolerance import bounds, unequal

ARRAYS = r"(?:GlobalDeviceArray|_?ShardedDeviceArray|_?DeviceArray|ArrayImpl|Array)"
_SUBSTITUTIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"<class '[\w.]*\b{ARRAYS}'>"), "<class 'Array'>"),
    (re.compile(rf"\b(?:[\w]+\.)*{ARRAYS}\b"), "Array"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "0x..."),
    (re.compile(r"\bP\((?=['\"(N)])"), "PartitionSpec("),
    (re.compile(r"(\bPartitionSpec\([^()]*),\)"), r"\1)"),
    (re.compile(r"\b(?:MeshPspec|Named)Sharding\b"), "NamedSharding"),
    (re.compile(r"\bTFRT_CPU_(\d+)\b"), r"cpu:\1"),
    (re.compile(r"[ \t]+"), " "),
)
_FLAG = r"['\"]?--(?:no)?(?:jax_array|jax_parallel_functions_output_gda)(?:=\w+)?['\"]?"
_REMOVED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?:/[^\s'\":,()/]+)*/jaxmigrate-\w+/[^\s'\":,()/]+"), "<copy>"),
    (re.compile(rf"{_FLAG}, "), ""),
    (re.compile(rf"(?:, )?{_FLAG}"), ""),
)
"""Paths of the copies in which the versions run, and flags that JAX has no more."""
_FLOAT = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|nan|inf)(?![\w.])")


def plain(text: str) -> str:
    """Text without what legitimately differs: names of array types and devices, addresses, paths of the copies, blanks."""
    for pattern, new in (*_REMOVED, *_SUBSTITUTIONS):
        text = pattern.sub(new, text)
    return text


def same_text(before: str, after: str, tolerance: Tolerance | None = None) -> bool:
    """Whether two texts are the same but for names of array types, addresses, blanks and the last digits of floats."""
    a, b = plain(before).strip(), plain(after).strip()
    if a == b:
        return True
    if _FLOAT.sub("#", a) != _FLOAT.sub("#", b):
        return False
    return all(_close(x, y, tolerance) for x, y in zip(_FLOAT.findall(a), _FLOAT.findall(b), strict=True))


def _close(before: str, after: str, tolerance: Tolerance | None) -> bool:
    """Printed floats, of which a JAX array has at most float32's digits; a last digit may have been rounded either way."""
    rtol, atol = bounds("float32", tolerance)
    step = max(_step(before), _step(after))
    return not unequal(np.asarray(float(before)), np.asarray(float(after)), (rtol, max(atol, step)))


def _step(text: str) -> float:
    """One unit of the last digit printed, if enough digits were printed for it to be rounding."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 1.01 * 10.0 ** (int(exponent or 0) - digits) if digits >= 3 else 0.0
