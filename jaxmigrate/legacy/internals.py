"""What programs took from inside old JAX: frames of named axes, backends, wrapped functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import jax
from jax._src import core
from jax.sharding import AxisType


def axis_frame(axis_name: Any) -> Any:
    """What is known of a named axis."""
    return SimpleNamespace(name=axis_name, size=core.get_axis_env().axis_size(axis_name))


AXIS_TYPES = SimpleNamespace(
    Auto=AxisType.Auto, Explicit=AxisType.Explicit, Manual=AxisType.Manual, User=AxisType.Explicit, Collective=AxisType.Manual
)
"""The kinds of axes under their first names."""

OBJECTS: dict[str, object] = {
    "jax.core.axis_frame": axis_frame,
    "jax.sharding.AxisTypes": AXIS_TYPES,
    "jax.sharding.use_mesh": jax.set_mesh,
}
"""Old path -> object."""
