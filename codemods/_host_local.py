"""Which calls of pjit-ed functions take arrays that one process has to itself: shared by host-local-inputs and pjit-to-jit."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate_codemods._pjit import Called, Pjit, is_traced
from jaxmigrate_codemods._specs import HOST_LOCAL, TO_LOCAL, is_global, is_replicated

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_WORDS = ("process_index", "process_count")
_NAMES = ("jax.host_count", "jax.host_id", "jax.host_ids", "jax.distributed", "jax.distributed.initialize")
_HELPERS = ("assert_equal", "broadcast_one_to_all", "process_allgather", "sync_global_devices")
"""What multi-process programs call; the converters are no evidence, since this run may have put them there."""
_OUTPUT_FLAG = "jax_parallel_functions_output_gda"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """An argument that is this process's part of a global array."""

    argument: ast.expr
    spec: ast.expr


def is_multi_process(source: Source) -> bool:
    """Whether the file says itself that several processes run it."""
    if any(source.mentions(word) for word in _WORDS):
        return True
    return bool(source.names(*_NAMES, *(f"jax.experimental.multihost_utils.{name}" for name in _HELPERS)))


def outputs_stay_global(source: Source) -> bool:
    """Whether the program asked for global outputs by the flag of old."""
    return any(s.value == _OUTPUT_FLAG for s in source.strings)


def inputs(source: Source, use: Pjit, called: Called) -> list[Input] | None:
    """The host-local arguments of one call; None when arguments and specs cannot be matched."""
    given = use.in_shardings()
    if given is None or is_traced(source, called.call):
        return []  # inside another pjit all values are global already
    arguments = use.dynamic(source, called.arguments)
    specs = source.value_of(given[1])
    if arguments is None or called.starred:
        return None
    if isinstance(specs, (ast.Tuple, ast.List)):
        if len(specs.elts) != len(arguments):
            return None
        pairs = list(zip(arguments, specs.elts, strict=True))
    else:
        pairs = [(a, given[1]) for a in arguments]
    return [Input(a, s) for a, s in pairs if not is_replicated(source, s) and not is_global(source, a)]


def is_concerned(source: Source, use: Pjit) -> bool:
    """Whether anything that this pjit is given, or gives back, may be local to a process."""
    given = use.in_shardings()
    if given is None or not is_multi_process(source):
        return False
    if (use.made.leak is not None or use.made.lowered) and not is_replicated(source, given[1]):
        return True
    return any(inputs(source, use, called) != [] for called in use.made.calls)


def local_output(source: Source, use: Pjit, called: Called) -> ast.expr | None:
    """The specs of an output that was local to the process and is global now; None when there is nothing to convert."""
    given = use.out_shardings()
    if given is None or outputs_stay_global(source) or is_replicated(source, given[1]) or not inputs(source, use, called):
        return None
    parent = source.parent(called.call)
    if isinstance(parent, ast.Expr) or (isinstance(parent, ast.Call) and source.resolve(parent.func) in (TO_LOCAL, HOST_LOCAL)):
        return None
    spec: ast.expr = given[1]
    return spec
