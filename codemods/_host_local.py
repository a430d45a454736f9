"""Which calls of pjit-ed functions take arrays that one process has to itself: shared by host-local-inputs and pjit-to-jit."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate_codemods._pjit import PJIT, Called, Pjit, is_traced
from jaxmigrate_codemods._specs import (
    HOST_LOCAL,
    TO_LOCAL,
    has_replicated,
    is_global,
    is_replicated,
    may_be_filled,
    needs_no_conversion,
)

if TYPE_CHECKING:
    from jaxmigrate.codemod import Site
    from jaxmigrate.names import Source

_WORDS = ("process_index", "process_count")
_NAMES = ("jax.host_count", "jax.host_id", "jax.host_ids", "jax.distributed", "jax.distributed.initialize")
_HELPERS = ("assert_equal", "broadcast_one_to_all", "process_allgather", "sync_global_devices")
"""What multi-process programs call; the converters are no evidence, since this run may have put them there."""
_NUMBERS = ("builtins.int", "builtins.float", "builtins.bool", "builtins.complex")
_OUTPUT_FLAG = "jax_parallel_functions_output_gda"


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """An argument that is this process's part of a global array."""

    argument: ast.expr
    spec: ast.expr
    mixed: bool = False
    """Whether some leaves of the spec say "the same everywhere", so that leaves of the argument may be Python numbers."""


def is_multi_process(source: Source) -> bool:
    """Whether the file says itself that several processes run it."""
    if any(source.mentions(word) for word in _WORDS):
        return True
    return bool(source.names(*_NAMES, *(f"jax.experimental.multihost_utils.{name}" for name in _HELPERS)))


def has_global_arrays(site: Site) -> bool:
    """Whether the program is known to be of the days when arrays were global from the start (0.4.1), and says nothing else."""
    origin = site.settings.origin
    return origin is not None and not site.is_older_than("0.4.1") and b"jax_array" not in site.source.utf8


def says_shardings(source: Source) -> bool:
    """Whether the program, as it was written, gave pjit its shardings by a name that is younger than global arrays (0.4.4)."""
    written = source.original or source
    calls = [
        *written.calls(*PJIT),
        *(c for c in written.calls("functools.partial") if c.args and written.resolve(c.args[0]) in PJIT),
    ]
    given = {keyword.arg for call in calls for keyword in call.keywords}
    old = given & {"in_axis_resources", "out_axis_resources"} or b"jax_array" in written.utf8
    return bool(given & {"in_shardings", "out_shardings"}) and not old


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
    return [i for a, s in pairs for i in sharded(source, a, s)]


def sharded(source: Source, argument: ast.expr, spec: ast.expr, depth: int = 6) -> list[Input]:
    """What of one argument is a part of something: leaf by leaf where its tree is written out, else all of it.

    What is the same everywhere is global already, and `multihost_utils` refuses the Python numbers among it.
    """
    if needs_no_conversion(source, spec) or is_global(source, argument):
        return []
    tree = source.value_of(spec)
    filled = isinstance(spec, (ast.Name, ast.Attribute)) and may_be_filled(source, spec, tree)
    pairs = _paired(source, argument, tree) if depth and not filled else None
    if pairs is None:
        return [Input(argument, spec, mixed=has_replicated(source, spec))]
    return [i for a, s in pairs for i in sharded(source, a, s, depth - 1)]


def _paired(source: Source, argument: ast.expr, spec: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """The children of a tree that is written out, with their specs; None when they cannot be matched."""
    ours, theirs = _by_key(source, argument), _by_key(source, spec)
    if ours is not None and theirs is not None:
        return [(ours[k], theirs[k]) for k in ours] if ours.keys() == theirs.keys() else None
    if isinstance(argument, (ast.Tuple, ast.List)) and type(argument) is type(spec):
        assert isinstance(spec, (ast.Tuple, ast.List))
        starred = any(isinstance(e, ast.Starred) for e in (*argument.elts, *spec.elts))
        return None if starred or len(argument.elts) != len(spec.elts) else list(zip(argument.elts, spec.elts, strict=True))
    return None


def _by_key(source: Source, tree: ast.expr) -> dict[object, ast.expr] | None:
    """The values of a dict whose keys are all different constants, also of ``dict(key=value)``."""
    if isinstance(tree, ast.Dict):
        keys = [k.value for k in tree.keys if isinstance(k, ast.Constant)]
        return dict(zip(keys, tree.values, strict=True)) if len(set(keys)) == len(tree.keys) else None
    named = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "dict" and not tree.args
    if not named or not isinstance(tree, ast.Call) or source.lookup("dict", source.scope(tree))[0]:
        return None
    return {k.arg: k.value for k in tree.keywords} if all(k.arg is not None for k in tree.keywords) else None


def holds_number(source: Source, argument: ast.expr, spec: ast.expr, depth: int = 6) -> bool:
    """Whether a tree that has to be converted as a whole is known to hold a Python number where it is the same everywhere."""
    value = source.value_of(argument)
    if is_replicated(source, spec):
        number = value.operand if isinstance(value, ast.UnaryOp) else value
        constant = isinstance(number, ast.Constant) and isinstance(number.value, (int, float, complex))
        return constant or source.infer(argument) in _NUMBERS
    pairs = _paired(source, value, source.value_of(spec)) if depth else None
    return any(holds_number(source, a, s, depth - 1) for a, s in pairs or ())


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
