"""How far floats of a dtype may differ, and which elements of two arrays differ by more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jaxmigrate.verify.model import Tolerance

TOLERANCES: dict[str, tuple[float, float]] = {
    "float64": (1e-12, 1e-13),
    "complex128": (1e-12, 1e-13),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float16": (2e-3, 1e-4),
    "bfloat16": (1.6e-2, 1e-3),
}
"""dtype -> (rtol, atol). Compilers of two JAX versions order sums differently; wrong placements change the first digits."""

NARROW = (0.5, 1e-2)
"""For the 8-bit and smaller floats, whose neighbours lie up to a quarter apart."""

EXACT = (0.0, 0.0)


def bounds(dtype: str, tolerance: Tolerance | None = None) -> tuple[float, float]:
    """The rtol and atol that hold for values of this dtype; zero for integers and booleans."""
    if dtype in TOLERANCES:
        rtol, atol = TOLERANCES[dtype]
    elif dtype.startswith(("float8", "float6", "float4")):
        rtol, atol = NARROW
    else:
        return EXACT
    given = tolerance or Tolerance()
    return rtol if given.rtol is None else given.rtol, atol if given.atol is None else given.atol


def tolerances(dtypes: Iterable[str], tolerance: Tolerance | None = None) -> str:
    """One sentence for the report that states how exactly values of these dtypes were compared."""
    parts = (f"{name} {rtol:g}/{atol:g}" for name in sorted(dtypes) for rtol, atol in [bounds(name, tolerance)])
    texts = ", ".join(parts)
    return f"floats may differ by rtol/atol: {texts}; everything else not at all" if texts else "everything was compared exactly"


def unequal(before: Any, after: Any, allowed: tuple[float, float]) -> Any:
    """Where two arrays of one dtype differ; NaN is equal to NaN, infinities to those of their sign, zero to minus zero."""
    if before.dtype.kind in "biuSUMmO" or (allowed == EXACT and before.dtype.kind not in "fcV"):
        return np.asarray(before != after)
    wide = np.complex128 if before.dtype.kind == "c" else np.float64
    try:
        a, b = before.astype(wide), after.astype(wide)
    except (TypeError, ValueError):
        return np.asarray(before != after)  # raw bytes
    if wide is np.complex128:
        finite = np.isfinite(a) & np.isfinite(b)
        parts = unequal(a.real, b.real, EXACT) | unequal(a.imag, b.imag, EXACT)
        return np.where(finite, _beyond(a, b, finite, allowed), parts)
    finite = np.isfinite(a) & np.isfinite(b)
    special = ~((np.isnan(a) & np.isnan(b)) | (a == b))
    return np.where(finite, _beyond(a, b, finite, allowed), special)


def _beyond(a: Any, b: Any, finite: Any, allowed: tuple[float, float]) -> Any:
    a, b = np.where(finite, a, 0), np.where(finite, b, 0)
    rtol, atol = allowed
    with np.errstate(over="ignore"):
        return np.abs(a - b) > atol + rtol * np.maximum(np.abs(a), np.abs(b))
