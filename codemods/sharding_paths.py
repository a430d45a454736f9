"""Meshes, specs, shardings and array serialization live in other modules now, some under other names or with other arguments.

https://docs.jax.dev/en/latest/changelog.html (0.3.19, 0.3.24, 0.4.1, 0.4.4, 0.4.9, 0.8.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, UNSAFE, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template
from jaxmigrate.model import Applicability, Severity
from jaxmigrate_codemods import _gda, _serialization
from jaxmigrate_codemods._gda import not_yet
from jaxmigrate_codemods._sharding_paths import GONE, GSPMD, MOVES, NO_SUCCESSOR, SERIALIZATION, SERIALIZATION_MOVES

from ._changes import before

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "sharding-paths",
    summary="Mesh, PartitionSpec, shardings and array serialization under their present names",
    since="0.4.0",
    deprecated="0.4.4",
    removed="0.4.11",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset(
        {"PartitionSpec", "NamedSharding", "MeshPspecSharding", "OpShardingSharding", "GSPMDSharding", "XLACompatibleSharding",
         "PmapSharding", "ShapedArray", "pxla", "sharded_jit", "process_allgather", "gda_serialization", "array_serialization",
         "global_meshes", "final_checkpoint_dir", "experimental.maps", "import maps", "maps as", "maps.Mesh", "maps.mesh",
         "maps.thread_resources", "maps.xmap", "experimental.array", "experimental import array", "experimental.sharding",
         "experimental import sharding", "experimental.with_sharding_constraint", "experimental import with_sharding_constraint",
         "pjit.AUTO", "import AUTO", ", AUTO", "_UNSPECIFIED", "_is_unspecified", "ParsedPartitionSpec",
         "host_local_array_to_global_array",
         "global_array_to_host_local_array"}
    ),
    applicability=UNSAFE,
)  # fmt: skip
codemod.gone = GONE


def use_of_class(site: NameSite) -> Reports:
    """Abstract classes got other abstract methods over time."""
    if site.role == "base-class":
        return Rewrite(
            "XLACompatibleSharding is Sharding now: see whether this subclass has all its abstract methods", REVIEW, ()
        )
    return None


def use_of_array_class(site: NameSite) -> Reports:
    """jax.experimental.array.Array could be called."""
    if site.role == "call":
        return site.manual(
            "jax.Array cannot be called: jax.make_array_from_single_device_arrays(shape, sharding, arrays) makes one"
        )
    return None


def use_of_thread_resources(site: NameSite) -> Reports:
    """The mesh of ``with mesh:`` has no other home; that this one is deprecated too is said of the new name."""
    return Rewrite("thread_resources lives on in jax.interpreters.pxla; it sees `with mesh:`, not jax.set_mesh", REVIEW, ())


_GSPMD_NOW = "{jax.extend.sharding.GSPMDSharding}"
_HANDLERS = {
    "jax.sharding.Sharding": use_of_class,
    "jax.Array": use_of_array_class,
    "jax.interpreters.pxla.thread_resources": use_of_thread_resources,
}
for _new, _olds in MOVES.items():
    codemod.rename(dict.fromkeys(_olds, _new), handler=not_yet(_new, _HANDLERS.get(_new)))


@codemod.name_(*GSPMD)
def op_sharding(site: NameSite) -> Reports:
    """OpShardingSharding and GSPMDSharding are one class, in jax.extend since 0.7.0."""
    name = site.symbol.rpartition(".")[2]
    if not site.target_has("0.7.0"):
        return site.manual(f"{name} has no public name that both JAX {site.target} and the newest have: use a NamedSharding")
    return Rewrite(f"{name} is jax.extend.sharding.GSPMDSharding", SAFE, (site.replace(_GSPMD_NOW),)) if site.direct else None


@codemod.name_(*NO_SUCCESSOR)
def without_successor(site: NameSite) -> Reports:
    """Names that left JAX for good."""
    return site.manual(NO_SUCCESSOR[site.symbol])


@codemod.call("jax.sharding.NamedSharding", "jax.NamedSharding")
@codemod.only_with(dict.fromkeys(("jax.sharding.NamedSharding", "jax.NamedSharding"), ("#1=None", "spec=None")))
def named_sharding(site: CallSite) -> Reports:
    """None as the spec meant "replicated" until 0.4.13."""
    key: int | str = 1 if len(site.positional()) > 1 else "spec"
    keyword = site.keyword("spec")
    spec = site.node.args[1] if key == 1 else keyword.value if keyword else None
    if site.partial or not (isinstance(spec, ast.Constant) and spec.value is None):
        return None
    change = EditCall(site.node, values={key: Template(f"{{{_gda.SPEC}}}()")})
    return Rewrite("NamedSharding takes no None any more: PartitionSpec() is the replicated one", SAFE, (change,))


@codemod.call(
    "jax.experimental.multihost_utils.host_local_array_to_global_array",
    "jax.experimental.multihost_utils.global_array_to_host_local_array",
)
def between_hosts(site: CallSite) -> Reports:
    """None as a spec meant "replicated" until 0.4.13 and is a ValueError since 0.4.14."""
    specs = site.positional()[2] if len(site.positional()) > 2 else None
    keyword = site.keyword("pspecs")
    specs = specs or (keyword.value if keyword else None)
    if site.partial or specs is None:
        return None
    nones = list(_none_specs(specs))
    if not nones:
        return None
    changes = tuple(site.replace(f"{{{_gda.SPEC}}}()", none) for none in nones)
    message = "a spec of None is refused since 0.4.14: PartitionSpec() is the replicated one"
    return Rewrite(message, SAFE, changes, raises=frozenset({"ValueError"}))


def _none_specs(specs: ast.expr) -> Iterator[ast.expr]:
    """The None leaves of a literal tree of specs."""
    if isinstance(specs, ast.Constant) and specs.value is None:
        yield specs
    elif isinstance(specs, (ast.Tuple, ast.List)):
        for element in specs.elts:
            yield from _none_specs(element)
    elif isinstance(specs, ast.Dict):
        for value in specs.values:
            yield from _none_specs(value)


_SHARDS = ("local_shards", "local_data", "addressable_shards", "addressable_data", "global_shards")
_FILLED = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")
_GLOBAL = frozenset(
    {"jax.make_array_from_callback", "jax.make_array_from_single_device_arrays", "jax.make_array_from_process_local_data",
     "jax.experimental.multihost_utils.host_local_array_to_global_array"}
)  # fmt: skip


@codemod.call("jax.experimental.multihost_utils.process_allgather")
def process_allgather(site: CallSite) -> Reports:
    """Arrays that span processes are gathered with tiled=True only (0.8.0); for a GDA `tiled` was never looked at."""
    if site.has_star() or site.partial or not site.positional():
        return None
    if site.settings.origin is not None and not site.is_older_than("0.8.0"):
        return None
    tiled = site.keyword("tiled") or site.keyword("titled")
    value = tiled.value if tiled else site.node.args[1] if len(site.node.args) > 1 else None
    if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
        return None
    gathered = site.node.args[0]
    if site.settings.allowed >= UNSAFE and _is_sharded_result(site.source, gathered):
        return site.manual(
            "process_allgather of an array that spans processes takes tiled=True only; host-local-inputs, where it can, makes "
            "this result local to its process, and then it must stay as it is"
        )
    verdict = _spans_processes(site, gathered)
    if verdict is None or (verdict[0] is UNSAFE and not site.is_older_than("0.8.0")):
        return None  # living programs gather arrays of a process too
    true = Template("True")
    if value is None:
        change = EditCall(site.node, append=(("tiled", true),))
    else:
        change = EditCall(site.node, rename={"titled": "tiled"}, values={tiled.arg if tiled and tiled.arg else 1: true})
    return Rewrite(f"process_allgather of an array that spans processes takes tiled=True only{verdict[1]}", verdict[0], (change,))


@codemod.call("jax.experimental.multihost_utils.process_allgather")
@before("0.8.0")
def gathered_maybe(site: CallSite) -> Reports:
    """A value of which the file does not say whether it spans processes, without `tiled`."""
    told = any(k.arg in ("tiled", "titled", None) for k in site.node.keywords)
    if (
        told
        or site.has_star()
        or site.partial
        or len(site.node.args) != 1
        or _spans_processes(site, site.node.args[0]) is not None
    ):
        return None
    given, made = site.node.args[0], site.source.value_of(site.node.args[0])
    if isinstance(made, (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.BinOp)) or site.source.infer(given) is not None:
        return None
    if isinstance(made, ast.Call) and (_is_local(site.source, made) or isinstance(given, ast.Call)):
        return None
    return site.manual(
        "process_allgather raises for an array that spans processes since 0.8.0 unless tiled=True is given: if "
        f"{site.text(given)} holds such arrays, pass it",
        severity=Severity.LOW,
    )


def _spans_processes(site: CallSite, value: ast.expr) -> tuple[Applicability, str] | None:
    source = site.source
    if isinstance(value, (ast.Dict, ast.Tuple, ast.List)):
        members = value.values if isinstance(value, ast.Dict) else value.elts
        verdicts = [_spans_processes(site, member) for member in members]
        return max((v for v in verdicts if v), default=None) if all(verdicts) else None
    kind = source.infer(value)
    if _gda.is_gda(kind):
        return SAFE, ""
    made = source.value_of(value)
    if _is_sharded_result(source, value):
        return REVIEW, (
            f", assuming that {site.text(value)} spans processes where there are several; unless "
            "jax_parallel_functions_output_gda was on it was local to each process, gathered as (processes, rows) where it is "
            "(rows) now"
        )
    if isinstance(made, ast.Call) and source.resolve(made.func) in _GLOBAL:
        return REVIEW, f", assuming that {site.text(value)} spans processes where there are several"
    if isinstance(made, ast.Call) and _is_local(source, made):
        return None
    if kind == _gda.ARRAY or (kind is None and _is_used_as_array(source, value)):
        return (
            UNSAFE,
            f", assuming that {site.text(value)} does: of arrays local to a process this makes one, where it stacked them",
        )
    return None


def _is_sharded_result(source: Source, value: ast.expr) -> bool:
    """Whether a name is bound, alone or with others, to what a function with shardings gives."""
    if not isinstance(value, ast.Name):
        return isinstance(value, ast.Call) and _gives_sharded(source, value.func)
    bindings, _ = source.lookup(value.id, source.scope(value))
    made = [b.statement.value for b in bindings if isinstance(b.statement, ast.Assign)]
    return any(isinstance(call, ast.Call) and _gives_sharded(source, call.func) for call in made)


def _gives_sharded(source: Source, function: ast.expr) -> bool:
    """Whether a function is made by pjit, or by jit with shardings."""
    makers = [source.value_of(function)]
    if isinstance(function, ast.Name):
        bindings, _ = source.lookup(function.id, source.scope(function))
        makers += [d for b in bindings if isinstance(b.node, ast.FunctionDef) for d in b.node.decorator_list]
    for maker in makers:
        names = {source.resolve(n) for n in ast.walk(maker) if isinstance(n, (ast.Name, ast.Attribute))}
        keywords = {k.arg for k in maker.keywords} if isinstance(maker, ast.Call) else set()
        if "jax.experimental.pjit.pjit" in names or ("jax.jit" in names and keywords & {"in_shardings", "out_shardings"}):
            return True
    return False


def _is_used_as_array(source: Source, value: ast.expr) -> bool:
    """Whether the function asks the same value for its shards."""
    wanted, function = ast.dump(value), source.function(value)
    others = (node for name in _SHARDS for node in source.by_attribute.get(name, ()))
    return any(ast.dump(node.value) == wanted and source.function(node) is function for node in others)


def _is_local(source: Source, made: ast.Call) -> bool:
    """Whether a call makes an array of this process out of numbers, or of another such array."""
    module, _, function = (source.resolve(made.func) or "").rpartition(".")
    if module not in ("jax.numpy", "numpy"):
        return False
    if function in _FILLED or function == "frombuffer":
        return True
    if function not in ("array", "asarray") or not made.args:
        return False
    values = source.value_of(made.args[0])
    return isinstance(values, (ast.List, ast.Tuple, ast.Constant)) or (isinstance(values, ast.Call) and _is_local(source, values))


# -- serialization --------------------------------------------------------------------------------------------------------------


def member_of_module(site: NameSite) -> Reports:
    """``serialization.run_serialization`` follows its module; only names imported by themselves are moved here."""
    return () if isinstance(site.node, ast.Attribute) else None


_SINCE = "gda_serialization is array_serialization since 0.4.9"
_OLD, _NEW = (home.rpartition(".")[0] for home in SERIALIZATION)
codemod.rename(SERIALIZATION_MOVES, _SINCE, member_of_module)
codemod.rename({SERIALIZATION[0]: SERIALIZATION[1], _OLD: _NEW}, _SINCE)
for _handler, _names in {
    _serialization.saved_arrays: ("run_serialization", "async_serialize"),
    _serialization.run_deserialization: ("run_deserialization",),
    _serialization.async_deserialize: ("async_deserialize",),
    _serialization.manager: ("GlobalAsyncCheckpointManager",),
}.items():
    codemod.call(*(f"{home}.{name}" for home in SERIALIZATION for name in _names))(_handler)
codemod.name_(*(f"{home}.{name}" for home in SERIALIZATION for name in _serialization.RESTORING))(
    _serialization.restoring_as_value
)
codemod.attribute("deserialize", "serialize")(_serialization.manager_method)
