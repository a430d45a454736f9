"""Meshes, specs, shardings and array serialization live in other modules now, some under other names or with other arguments.

https://docs.jax.dev/en/latest/changelog.html (0.3.19, 0.3.24, 0.4.1, 0.4.4, 0.4.9, 0.8.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    UNSAFE,
    AttributeSite,
    CallSite,
    Codemod,
    EditCall,
    NameSite,
    Piece,
    Report,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.model import Applicability
from jaxmigrate_codemods import _gda
from jaxmigrate_codemods._sharding_paths import GONE, MANAGER, MANAGERS, MOVES, NO_SUCCESSOR, SERIALIZATION, SERIALIZATION_MOVES

codemod = Codemod(
    "sharding-paths",
    summary="Mesh, PartitionSpec, shardings and array serialization under their present names",
    since="0.4.0",
    deprecated="0.4.4",
    removed="0.4.11",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset(
        {"PartitionSpec", "maps", "pxla", "sharded_jit", "sharding", "NamedSharding", "MeshPspecSharding", "OpShardingSharding", "GSPMDSharding",
         "XLACompatibleSharding", "gda_serialization", "process_allgather", "ShapedArray", "with_sharding_constraint", "array"}
    ),
    applicability=UNSAFE,
)  # fmt: skip
codemod.gone = GONE


def use_of_class(site: NameSite) -> Reports:
    """Abstract classes got other abstract methods over time."""
    if site.role == "base-class":
        return Rewrite("XLACompatibleSharding is Sharding now: see whether this subclass has all its abstract methods", REVIEW, ())
    return None


def use_of_array_class(site: NameSite) -> Reports:
    """jax.experimental.array.Array could be called."""
    if site.role == "call":
        return site.manual("jax.Array cannot be called: jax.make_array_from_single_device_arrays(shape, sharding, arrays) makes one")
    return None


def use_of_thread_resources(site: NameSite) -> Reports:
    """The mesh of ``with mesh:`` has no other home; under jax.set_mesh it is jax.sharding.get_mesh()."""
    return Rewrite("thread_resources lives on in jax.interpreters.pxla, with a warning since 0.8.2; it sees `with mesh:` and not "
                   "jax.set_mesh, under which jax.sharding.get_mesh() is the mesh", REVIEW, ())  # fmt: skip


def use_of_op_sharding(site: NameSite) -> Reports:
    """GSPMDSharding is public in jax.sharding from 0.4.5 to 0.6.2 and in jax.extend.sharding from 0.7.0."""
    if not site.target_has("0.7.0"):
        return site.manual(f"{site.symbol.rpartition('.')[2]} has no public name that both JAX {site.target} and the newest have: "
                           "use a NamedSharding, or jax.extend.sharding.GSPMDSharding from 0.7.0 on")  # fmt: skip
    return None


_HANDLERS = {
    "jax.sharding.Sharding": use_of_class,
    "jax.Array": use_of_array_class,
    "jax.interpreters.pxla.thread_resources": use_of_thread_resources,
    "jax.extend.sharding.GSPMDSharding": use_of_op_sharding,
}
for _new, _olds in MOVES.items():
    codemod.rename(dict.fromkeys(_olds, _new), handler=_HANDLERS.get(_new))


@codemod.name_(*NO_SUCCESSOR)
def without_successor(site: NameSite) -> Reports:
    """Names that left JAX for good."""
    return site.manual(NO_SUCCESSOR[site.symbol])


@codemod.call("jax.sharding.NamedSharding", "jax.NamedSharding")
def named_sharding(site: CallSite) -> Reports:
    """None as the spec meant "replicated" until 0.4.13."""
    key: int | str = 1 if len(site.positional()) > 1 else "spec"
    keyword = site.keyword("spec")
    spec = site.node.args[1] if key == 1 else keyword.value if keyword else None
    if site.partial or not (isinstance(spec, ast.Constant) and spec.value is None):
        return None
    change = EditCall(site.node, values={key: Template(f"{{{_gda.SPEC}}}()")})
    return Rewrite("NamedSharding takes no None any more: PartitionSpec() is the replicated one", SAFE, (change,))


# -- gathering ------------------------------------------------------------------------------------------------------------------

_GLOBAL = frozenset(
    {"jax.make_array_from_callback", "jax.make_array_from_single_device_arrays", "jax.make_array_from_process_local_data",
     "jax.experimental.multihost_utils.host_local_array_to_global_array"}
)  # fmt: skip


@codemod.call("jax.experimental.multihost_utils.process_allgather")
def process_allgather(site: CallSite) -> Reports:
    """Arrays that span processes are gathered with tiled=True only (0.8.0); for a GDA `tiled` was never looked at."""
    if site.has_star() or site.partial or not site.positional():
        return None
    tiled = site.keyword("tiled") or site.keyword("titled")
    value = tiled.value if tiled else site.node.args[1] if len(site.node.args) > 1 else None
    if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
        return None
    verdict = _spans_processes(site, site.node.args[0])
    if verdict is None:
        return None
    true = Template("True")
    if value is None:
        change = EditCall(site.node, append=(("tiled", true),))
    else:
        change = EditCall(site.node, rename={"titled": "tiled"}, values={tiled.arg if tiled and tiled.arg else 1: true})
    return Rewrite(f"process_allgather of an array that spans processes takes tiled=True only{verdict[1]}", verdict[0], (change,))


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
    if isinstance(made, ast.Call) and source.resolve(made.func) in _GLOBAL:
        return REVIEW, f", assuming that {site.text(value)} spans processes where there are several"
    if kind == _gda.ARRAY:
        return UNSAFE, f", assuming that {site.text(value)} is such an array (for one local to the process this concatenates, where it was stacked)"
    return None


# -- serialization ----------------------------------------------------------------------------------------------------------------


def member_of_module(site: NameSite) -> Reports:
    """``serialization.run_serialization`` follows its module; only names imported by themselves are moved here."""
    return () if isinstance(site.node, ast.Attribute) else None


codemod.rename(SERIALIZATION_MOVES, "gda_serialization is array_serialization since 0.4.9", member_of_module)
codemod.rename({"jax.experimental.gda_serialization.serialization": "jax.experimental.array_serialization.serialization",
                "jax.experimental.gda_serialization": "jax.experimental.array_serialization"},
               "gda_serialization is array_serialization since 0.4.9")  # fmt: skip


def _in_serialization(*names: str) -> tuple[str, ...]:
    return tuple(f"{home}.{name}" for home in SERIALIZATION for name in names)


@codemod.call(*_in_serialization("run_serialization", "async_serialize"))
def saved_arrays(site: CallSite) -> Reports:
    """The arrays are not called GDAs any more."""
    new = {"gdas": "arrays", "gda_inp": "arr_inp"}
    named = [k.arg for k in site.node.keywords if k.arg in new]
    if not named:
        return None
    return Rewrite(f"{named[0]} is called {new[str(named[0])]} now", SAFE, (EditCall(site.node, rename=new),))


@codemod.call(*_in_serialization("run_deserialization"))
def run_deserialization(site: CallSite) -> Reports:
    """Meshes and mesh axes were two lists until 0.3.21."""
    return _joined(site, site.node, known=True)


@codemod.call(*_in_serialization("async_deserialize"))
def async_deserialize(site: CallSite) -> Reports:
    """One mesh and one spec became one sharding."""
    mesh, axes = site.keyword("mesh"), site.keyword("mesh_axes")
    first = site.positional()[0] if site.positional() else None
    if axes is None or (mesh is None and first is None):
        if first is not None and len(site.positional()) > 1 and site.source.infer(first) == "jax.sharding.Mesh":
            return _one_sharding(site, first, site.positional()[1], 0, 1)
        return None
    assert mesh is not None or first is not None
    return _one_sharding(site, mesh.value if mesh else site.node.args[0], axes.value, "mesh" if mesh else 0, "mesh_axes")


def _one_sharding(site: CallSite, mesh: ast.expr, axes: ast.expr, key: int | str, drop: int | str) -> Reports:
    sharding = _gda.sharding_of(site, mesh, axes)
    if key == "mesh" and (site.node.args or site.node.keywords[0].arg != "mesh"):
        return site.manual("async_deserialize takes a sharding as its first argument instead of mesh and mesh_axes")
    changed = EditCall(site.node, drop=frozenset({drop}), values={key: Template(sharding.text, sharding.pieces)}, rename={"mesh": "in_type"})
    if key != "mesh":
        return Rewrite("async_deserialize takes a sharding instead of mesh and axes", SAFE, (changed,))
    rest = [site.text(k) for k in site.node.keywords if k.arg not in ("mesh", "mesh_axes")]
    pieces: dict[str, Piece] = {**sharding.pieces, "callee": site.node.func}
    new = site.replace(f"{{callee}}({', '.join([sharding.text, *(_escaped(r) for r in rest)])})", **pieces)
    return Rewrite("async_deserialize takes a sharding (its first argument, under changing names) instead of mesh and axes", SAFE, (new,))


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _joined(site: CallSite | AttributeSite, call: ast.Call, *, known: bool) -> Reports:
    """Make one list of shardings out of the list of meshes and the list of axes of a deserialize call."""
    keywords = {k.arg: k.value for k in call.keywords}
    places: dict[str, int | str] = {name: name for name in ("global_meshes", "mesh_axes") if name in keywords}
    if "mesh_axes" in places and ("global_meshes" in places or call.args):
        places.setdefault("global_meshes", 0)
    elif known and len(call.args) > 2 and not any(isinstance(a, ast.Starred) for a in call.args):
        return _by_position(site, call)
    else:
        return None
    meshes = keywords["global_meshes"] if places["global_meshes"] == "global_meshes" else call.args[0]
    return _with_shardings(site, call, meshes, keywords["mesh_axes"], places["global_meshes"], places["mesh_axes"], SAFE)


def _by_position(site: CallSite | AttributeSite, call: ast.Call) -> Reports:
    """Three or more positional arguments fit both signatures; what the first holds decides."""
    kind = site.source.infer(call.args[0])
    if kind == "list[jax.sharding.Mesh]":
        return _with_shardings(site, call, call.args[0], call.args[1], 0, 1, SAFE)
    if kind is not None and kind.startswith("list["):
        return None
    return site.manual("until 0.3.21 the signature began with the meshes and the mesh axes, since then with the shardings: if these are meshes, "
                       "write [NamedSharding(m, s) for m, s in zip(meshes, axes)] for the two")  # fmt: skip


def _with_shardings(
    site: CallSite | AttributeSite, call: ast.Call, meshes: ast.expr, axes: ast.expr, keep: int | str, drop: int | str, sure: Applicability
) -> Rewrite:
    if isinstance(meshes, ast.List) and isinstance(axes, ast.List) and len(meshes.elts) == len(axes.elts):
        parts = [_gda.sharding_of(site, m, a) for m, a in zip(meshes.elts, axes.elts, strict=True)]
        text, pieces = _list_of(parts)
    else:
        text = "[{jax.sharding.NamedSharding}(m, s) for m, s in zip({meshes}, {axes})]"
        pieces = {"meshes": meshes, "axes": axes}
    change = EditCall(call, rename={"global_meshes": "shardings"}, drop=frozenset({drop}), values={keep: Template(text, pieces)})
    return Rewrite("meshes and mesh axes are one list of shardings since 0.3.22", sure, (change,))


def _list_of(parts: list[_gda.Part]) -> tuple[str, dict[str, Piece]]:
    """The parts as a list, their pieces numbered so that they do not meet."""
    texts: list[str] = []
    pieces: dict[str, Piece] = {}
    for number, part in enumerate(parts):
        text = part.text
        for name, piece in part.pieces.items():
            text = text.replace(f"{{{name}}}", f"{{{name}_{number}}}")
            pieces[f"{name}_{number}"] = piece
        texts.append(text)
    return f"[{', '.join(texts)}]", pieces


@codemod.call(*MANAGERS)
def manager(site: CallSite) -> Reports:
    """0.3.9 gave the directories to the constructor."""
    if len(site.positional()) > 1 or site.keyword("temp_checkpoint_dir") or site.keyword("final_checkpoint_dir"):
        return site.manual("the manager takes no directories any more: rename the directory in the on_commit_callback of serialize")
    return None


@codemod.attribute("deserialize", "serialize")
def manager_method(site: AttributeSite) -> Reports:
    """Methods of the checkpoint manager."""
    call = site.call()
    if call is None or site.receiver_type not in (MANAGER, None):
        return None
    return _deserialize(site, call) if site.node.attr == "deserialize" else _serialize(site, call)


def _deserialize(site: AttributeSite, call: ast.Call) -> Iterator[Report]:
    known = site.receiver_type == MANAGER
    if known or any(k.arg == "global_meshes" for k in call.keywords):
        result = _joined(site, call, known=known)
        if isinstance(result, Rewrite) and not known:
            yield Rewrite(f"{result.message}, assuming that {site.text(site.value)} is a GlobalAsyncCheckpointManager", REVIEW, result.changes)
        elif result is not None:
            assert not isinstance(result, Iterator)
            yield result  # type: ignore[misc]


def _serialize(site: AttributeSite, call: ast.Call) -> Iterator[Report]:
    named = {k.arg for k in call.keywords}
    if named & {"temp_checkpoint_dir", "final_checkpoint_dir"} and (site.receiver_type == MANAGER or "final_checkpoint_dir" in named):
        yield site.manual("serialize takes no directories since 0.3.16 but an on_commit_callback, which is where to rename the directory")
    elif site.receiver_type == MANAGER and "on_commit_callback" not in named and None not in named:
        yield site.manual("serialize needs an on_commit_callback since 0.3.16")
    elif "gdas" in named and site.receiver_type == MANAGER:
        yield Rewrite("gdas is called arrays now", SAFE, (EditCall(call, rename={"gdas": "arrays"}),))
