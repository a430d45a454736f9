"""The changed signatures of array serialization: one list of shardings since 0.3.22, where meshes and axes were two."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    AttributeSite,
    CallSite,
    EditCall,
    NameSite,
    Piece,
    Report,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate_codemods import _gda
from jaxmigrate_codemods._sharding_paths import SERIALIZATION

MANAGERS = tuple(f"{home}.GlobalAsyncCheckpointManager" for home in SERIALIZATION)
MANAGER = MANAGERS[1]
"""The type of a manager, as type inference names it."""
_JOINED = "meshes and mesh axes are one list of shardings since 0.3.22"
_ONE = "async_deserialize takes a sharding instead of mesh and axes"
_EITHER = (
    "until 0.3.21 the signature began with meshes and mesh axes, since then with shardings: if these are meshes, give "
    "NamedSharding(mesh, axes) for the two"
)
_DIRECTORIES = "{what} takes no directories any more: rename the directory in the on_commit_callback of serialize (0.3.16)"


def saved_arrays(site: CallSite) -> Reports:
    """``run_serialization`` and ``async_serialize``: the arrays are not called GDAs any more."""
    new = {"gdas": "arrays", "gda_inp": "arr_inp"}
    named = [old for old in new if site.keyword(old)]
    if not named:
        return None
    return Rewrite(f"{named[0]} is called {new[named[0]]} now", SAFE, (EditCall(site.node, rename=new),))


def run_deserialization(site: CallSite) -> Reports:
    """Meshes and mesh axes were two lists until 0.3.21."""
    if _hides(site.node):
        return site.manual(_EITHER)
    return _joined(site, site.node, known=True)


def _hides(call: ast.Call) -> bool:
    """Whether ``*`` or ``**`` may hold meshes and axes, and nothing says that shardings are given."""
    starred = any(isinstance(a, ast.Starred) for a in call.args[:2])
    named = [k.arg for k in call.keywords]
    if call.args and "shard" in ast.unparse(call.args[0]).lower() and not isinstance(call.args[0], ast.Starred):
        return False
    told = any(name and (name == "mesh_axes" or "shard" in name) for name in named)
    return (starred or (None in named and len(call.args) < 3)) and not told


def async_deserialize(site: CallSite) -> Reports:
    """One mesh and one spec became one sharding, whose parameter has another name in most releases."""
    if site.partial:
        return None
    args, mesh, axes = site.node.args, site.keyword("mesh"), site.keyword("mesh_axes")
    if _hides(site.node):
        return site.manual(_EITHER)
    if len(args) > 1 and axes is None:
        return _mesh_first(site, args)
    if args and mesh is None and axes is not None:
        return _with_sharding(site, args[0], axes.value, "mesh_axes")
    if args or mesh is None or axes is None:
        return None
    if site.node.keywords[0] is not mesh:
        return site.manual("async_deserialize takes a sharding as its first argument instead of mesh and mesh_axes")
    sharding = _gda.sharding_of(site, mesh.value, axes.value)
    rest = [site.text(k).replace("{", "{{").replace("}", "}}") for k in site.node.keywords if k not in (mesh, axes)]
    pieces: dict[str, Piece] = {**sharding.pieces, "callee": site.node.func}
    return Rewrite(_ONE, SAFE, (site.replace(f"{{callee}}({', '.join([sharding.text, *rest])})", None, **pieces),))


def _mesh_first(site: CallSite, args: list[ast.expr]) -> Reports:
    """Mesh, axes and spec by position, or sharding, spec and shape: what the first is decides."""
    kind, first = site.source.infer(args[0]), site.text(args[0])
    named = site.keyword("tensorstore_spec") is not None  # then two arguments before it are mesh and axes
    if kind == "jax.sharding.Mesh" or named:
        return _with_sharding(site, args[0], args[1], 1)
    if (kind or "").startswith("jax.sharding.") or "shard" in first.lower() or len(args) < 3:
        return None
    if "mesh" in first.lower():
        report = _with_sharding(site, args[0], args[1], 1)
        return Rewrite(f"{report.message}, assuming that {first} is a mesh", REVIEW, report.changes)
    return site.manual(_EITHER)


RESTORING = ("run_deserialization", "async_deserialize")


def restoring_as_value(site: NameSite) -> Reports:
    """``tree_map(async_deserialize, meshes, axes, specs)``."""
    call = site.parent()
    if site.role == "call" or not isinstance(call, ast.Call):
        return None
    rest = [site.text(a).lower() for a in (*call.args, *call.keywords) if a is not site.node]
    meshes = any("mesh" in text and "shard" not in text for text in rest)
    return site.manual(_EITHER) if meshes or len(rest) > 2 else None


def _with_sharding(site: CallSite, mesh: ast.expr, axes: ast.expr, drop: int | str) -> Rewrite:
    sharding = _gda.sharding_of(site, mesh, axes)
    change = EditCall(site.node, drop=frozenset({drop}), values={0: Template(sharding.text, sharding.pieces)})
    return Rewrite(_ONE, SAFE, (change,))


def _joined(site: CallSite | AttributeSite, call: ast.Call, *, known: bool) -> Rewrite | Report | None:
    """Make one list of shardings out of the list of meshes and the list of axes of a deserialize call."""
    keywords = {k.arg: k.value for k in call.keywords}
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    if "mesh_axes" in keywords and "global_meshes" in keywords:
        return _with_shardings(site, call, keywords["global_meshes"], keywords["mesh_axes"], "global_meshes", "mesh_axes")
    if "mesh_axes" in keywords and call.args and not starred:
        return _with_shardings(site, call, call.args[0], keywords["mesh_axes"], 0, "mesh_axes")
    if _has_two_before_specs(call):
        return _with_shardings(site, call, call.args[0], call.args[1], 0, 1)
    return _by_position(site, call) if known and len(call.args) > 2 and not starred else None


def _has_two_before_specs(call: ast.Call) -> bool:
    """Whether specs by keyword come after two lists by position, so meshes and axes."""
    two = len(call.args) == 2 and not any(isinstance(a, ast.Starred) for a in call.args)
    return two and any(k.arg == "tensorstore_specs" for k in call.keywords)


def _by_position(site: CallSite | AttributeSite, call: ast.Call) -> Report | None:
    """Three or more positional arguments fit both signatures; what the first holds decides."""
    first = site.text(call.args[0]).lower()
    kind = site.source.infer(call.args[0])
    if kind == "list[jax.sharding.Mesh]":
        return _with_shardings(site, call, call.args[0], call.args[1], 0, 1)
    if (kind is not None and kind.startswith("list[")) or "shard" in first:
        return None
    if "mesh" in first:
        report = _with_shardings(site, call, call.args[0], call.args[1], 0, 1)
        return Rewrite(f"{report.message}, assuming that {site.text(call.args[0])} are meshes", REVIEW, report.changes)
    return site.manual(_EITHER)


def _with_shardings(
    site: CallSite | AttributeSite, call: ast.Call, meshes: ast.expr, axes: ast.expr, keep: int | str, drop: int | str
) -> Rewrite:
    pieces: dict[str, Piece] = {"meshes": meshes, "axes": axes}
    if isinstance(meshes, ast.List) and isinstance(axes, ast.List) and len(meshes.elts) == len(axes.elts):
        text, pieces = _list_of([_gda.sharding_of(site, m, a) for m, a in zip(meshes.elts, axes.elts, strict=True)])
    elif (one := _repeated(site, meshes)) is not None:
        (spec,) = _gda.fresh(site.source, call, ("spec",))
        text = f"[{{jax.sharding.NamedSharding}}({{one}}, {spec}) for {spec} in {{axes}}]"
        pieces["one"] = one
    else:
        text = "[{jax.sharding.NamedSharding}(m, s) for m, s in zip({meshes}, {axes})]"
    change = EditCall(call, rename={"global_meshes": "shardings"}, drop=frozenset({drop}), values={keep: Template(text, pieces)})
    return Rewrite(_JOINED, SAFE, (change,))


def _repeated(site: CallSite | AttributeSite, meshes: ast.expr) -> ast.expr | None:
    """The mesh of ``[mesh] * n``."""
    if not (isinstance(meshes, ast.BinOp) and isinstance(meshes.op, ast.Mult) and isinstance(meshes.left, ast.List)):
        return None
    elements = meshes.left.elts
    return elements[0] if len(elements) == 1 and site.source.is_pure(elements[0]) else None


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


def manager(site: CallSite) -> Reports:
    """0.3.9 gave the directories to the constructor."""
    if len(site.positional()) > 1 or site.has_star() or any(k.arg and "dir" in k.arg for k in site.node.keywords):
        return site.manual(_DIRECTORIES.format(what="the manager"))
    return None


def manager_method(site: AttributeSite) -> Iterator[Report]:
    """``serialize`` and ``deserialize`` of the checkpoint manager."""
    call = site.call()
    if call is not None and site.receiver_type in (MANAGER, None):
        yield from (_deserialize if site.node.attr == "deserialize" else _serialize)(site, call)


def _deserialize(site: AttributeSite, call: ast.Call) -> Iterator[Report]:
    known = site.receiver_type == MANAGER
    if not known and not any(k.arg == "global_meshes" for k in call.keywords) and not _has_two_before_specs(call):
        if _may_be_manager(site, call):
            yield site.manual(_EITHER)
        return
    if known and _hides(call):
        yield site.manual(_EITHER)
        return
    report = _joined(site, call, known=known)
    if isinstance(report, Rewrite) and not known:
        assumption = f"assuming that {site.text(site.value)} is a GlobalAsyncCheckpointManager"
        yield Rewrite(f"{report.message}, {assumption}", REVIEW, report.changes)
    elif report is not None:
        yield report


def _may_be_manager(site: AttributeSite, call: ast.Call) -> bool:
    """Whether a value of unknown type is given meshes and axes to deserialize in a file about array serialization."""
    about = any(home.split(".")[2] in site.source.text for home in SERIALIZATION)
    first = ast.unparse(call.args[0]).lower() if call.args else ""
    fits = len(call.args) > 2 and "manager" in site.text(site.value).lower()
    meshes = "mesh" in first or any(k.arg == "mesh_axes" for k in call.keywords)
    return about and (meshes or fits) and "shard" not in first


def _serialize(site: AttributeSite, call: ast.Call) -> Iterator[Report]:
    known = site.receiver_type == MANAGER
    named = {k.arg for k in call.keywords}
    if "final_checkpoint_dir" in named or (known and "temp_checkpoint_dir" in named):
        yield site.manual(_DIRECTORIES.format(what="serialize"))
    elif known and "on_commit_callback" not in named and None not in named:
        yield site.manual("serialize needs an on_commit_callback since 0.3.16")
    elif known and "gdas" in named:
        yield Rewrite("gdas is called arrays now", SAFE, (EditCall(call, rename={"gdas": "arrays"}),))
