"""What programs took from inside old JAX: frames of named axes, backends, wrapped functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jax._src import core


def axis_frame(axis_name: Any) -> Any:
    """What is known of a named axis."""
    return SimpleNamespace(name=axis_name, size=core.get_axis_env().axis_size(axis_name))


OBJECTS: dict[str, object] = {
    "jax.core.axis_frame": axis_frame,
}
"""Old path -> object."""
