"""Which old JAX a program was written for, from the names it uses and the arguments it passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SEPARATE = rb"\b(GlobalDeviceArray|ShardedDeviceArray|make_sharded_device_array|jax_parallel_functions_output_gda)\b"
"""Names of the time when each kind of array had a class of its own; `FROM_GDA` also took arrays of the one new class."""
NEWER = (
    rb"\b(in_shardings|out_shardings|jax\.sharding|jax\.Array|make_array_from_callback|make_array_from_single_device_arrays"
    rb"|host_local_array_to_global_array|global_array_to_host_local_array)\b|from jax import (.*\W)?sharding\b"
)
"""Names of the time of the one new class."""
READS_FLAG = rb"(config|FLAGS)\.jax_array\b"
CONSTRUCTORS = frozenset({"GlobalDeviceArray", "from_callback", "from_batched_callback", "from_batched_callback_with_devices"})


@dataclass(frozen=True, slots=True)
class Signs:
    """What the texts of a program say."""

    separate: bool
    newer: bool
    reads_flag: bool
    lists: bool
    """Specs or shapes of GlobalDeviceArrays are lists, which only the first releases took."""
    fourth_static: bool
    """The fourth argument of pjit is that of 0.4.3 and before."""

    @property
    def jax_array(self) -> bool:
        """Whether arrays are of the one new class."""
        if self.lists:
            return False
        return self.reads_flag or (self.newer and not self.separate)

    @property
    def version(self) -> str:
        """A version in which all of it worked."""
        if self.lists:
            return "0.3.1"
        if not (self.newer or self.reads_flag):
            return "0.3.25"
        return "0.4.3" if self.fourth_static else "0.4.6"


def guess(sources: Iterable[bytes]) -> tuple[str, bool]:
    """The version that fits the texts of a program, and whether its arrays are of the one new class `jax.Array`."""
    texts = list(sources)
    calls = [call for text in texts for call in _calls(text)]
    signs = Signs(
        separate=_any(SEPARATE, texts),
        newer=_any(NEWER, texts),
        reads_flag=_any(READS_FLAG, texts),
        lists=any(_gives_lists(call) for call in calls),
        fourth_static=any(_gives_static_fourth(call) for call in calls),
    )
    return signs.version, signs.jax_array


def _any(pattern: bytes, texts: Iterable[bytes]) -> bool:
    return any(re.search(pattern, text) for text in texts)


def _calls(text: bytes) -> Iterator[ast.Call]:
    if not re.search(rb"\b(pjit|GlobalDeviceArray)\b", text):
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _gives_lists(call: ast.Call) -> bool:
    if _name(call) not in CONSTRUCTORS:
        return False
    shape = call.args[:1] + [word.value for word in call.keywords if word.arg == "global_shape"]
    axes = call.args[2:3] + [word.value for word in call.keywords if word.arg == "mesh_axes"]
    return any(isinstance(node, ast.List) for node in shape) or any(isinstance(node, ast.List | ast.Tuple) for node in axes)


def _gives_static_fourth(call: ast.Call) -> bool:
    """`pjit(f, in, out, 0)` or ``(0, 1)``: numbers of arguments, which no spec can be."""
    if _name(call) != "pjit" or len(call.args) < 4:
        return False
    fourth = call.args[3]
    parts = fourth.elts if isinstance(fourth, ast.Tuple | ast.List) else [fourth]
    return all(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in parts)
