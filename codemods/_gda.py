"""What the codemods about GlobalDeviceArray share: its names, and how mesh and axes become one sharding."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import CallSite, Handler, NameSite, Piece, Reports, Site, last_part

if TYPE_CHECKING:
    from jaxmigrate.names import Source

HOMES = ("jax.experimental.global_device_array", "jax._src.global_device_array")
CLASSES = tuple(f"{home}.GlobalDeviceArray" for home in HOMES)
PLACE = ("global_shape", "global_mesh", "mesh_axes")
"""The parameters that say where an array lies; all constructors begin with them."""
ARRAY = "jax.Array"
SPEC = "jax.sharding.PartitionSpec"
_SHARDING = "{jax.sharding.NamedSharding}"
_EFFECTS = frozenset(
    {"next", "append", "pop", "normal", "uniform", "randint", "integers", "rand", "randn", "permutation", "choice", "read"}
)
_EAGER = (
    ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.Yield, ast.UnaryOp,
    ast.BinOp, ast.withitem,
)  # fmt: skip
"""Nodes that always evaluate all their parts."""


def in_homes(*names: str) -> tuple[str, ...]:
    """The qualified names of members of the old module."""
    return tuple(f"{home}.{name}" for home in HOMES for name in names)


def named(function: str) -> tuple[str, ...]:
    """The qualified names of a classmethod of the class, or of a function of the module."""
    return tuple(f"{owner}.{function}" for owner in (CLASSES if function.startswith("from_") else HOMES))


def not_yet(new: str, handler: Handler | None = None) -> Handler:
    """A handler that keeps the use of a name whose successor the target lacks, and asks `handler` about others."""

    def use(site: NameSite) -> Reports:
        since = site.source.facts.since_of(new)
        if since is None or since <= site.target:
            return handler(site) if handler is not None else None
        return site.manual(f"{site.symbol} is {new} now, but that came with JAX {since}, after the target {site.target}")

    return use


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a template: its text, the pieces that fill it, and what it assumes (empty: nothing)."""

    text: str
    pieces: dict[str, Piece]
    assumption: str = ""


def is_gda(kind: str | None) -> bool:
    """Whether an inferred type is the old class."""
    return kind in CLASSES


def is_harmless(source: Source, node: ast.expr) -> bool:
    """Whether it does not matter when `node` is evaluated: no call in it but that of PartitionSpec."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_harmless(source, e) for e in node.elts)
    if isinstance(node, ast.Call):
        made = source.resolve(node.func) or ""
        return made.endswith(".PartitionSpec") and all(is_harmless(source, a) for a in node.args)
    return isinstance(node, ast.Lambda) or source.is_pure(node)


def sharding_of(site: Site, mesh: ast.expr, axes: ast.expr, shape: ast.expr | None = None) -> Part:
    """The sharding for a mesh and its axes; where both come from one array or sharding, that array's own."""
    return _shared_owner(site.source, mesh, axes, shape) or _named_sharding(site.source, mesh, axes)


def _shared_owner(source: Source, mesh: ast.expr, axes: ast.expr, shape: ast.expr | None) -> Part | None:
    if not (isinstance(mesh, ast.Attribute) and isinstance(axes, ast.Attribute) and source.is_pure(mesh.value)):
        return None
    if ast.dump(mesh.value) != ast.dump(axes.value):
        return None
    owner = mesh.value
    if (mesh.attr, axes.attr) == ("mesh", "spec"):
        return Part("{owner}", {"owner": owner})
    if (mesh.attr, axes.attr) not in (("mesh", "mesh_axes"), ("_global_mesh", "_mesh_axes")):
        return None
    kind = source.infer(owner)
    if is_gda(kind) or kind == ARRAY:
        return Part("{owner}.sharding", {"owner": owner})
    from_it = isinstance(shape, ast.Attribute) and shape.attr == "shape" and ast.dump(shape.value) == ast.dump(owner)
    if kind is None and from_it:
        text = source.segment(owner)
        return Part("{owner}.sharding", {"owner": owner}, f"assuming that {text} is an array, since its shape is taken too")
    return None


def _named_sharding(source: Source, mesh: ast.expr, axes: ast.expr) -> Part:
    spec = spec_of(source, axes)
    return Part(f"{_SHARDING}({{mesh}}, {spec.text})", {"mesh": mesh, **spec.pieces})


def spec_of(source: Source, axes: ast.expr) -> Part:
    """The PartitionSpec for `axes`: JAX 0.3.1 and older took any sequence of axis names."""
    if isinstance(axes, ast.Constant) and axes.value is None:
        return Part(f"{{{SPEC}}}()", {})
    if isinstance(axes, (ast.List, ast.Tuple)):
        names = {f"axis{number}": element for number, element in enumerate(axes.elts)}
        return Part(f"{{{SPEC}}}({', '.join(f'{{{name}}}' for name in names)})", dict(names))
    if isinstance(source.value_of(axes), (ast.List, ast.Tuple)):
        return Part(f"{{{SPEC}}}(*{{axes}})", {"axes": axes})
    return Part("{axes}", {"axes": axes})


def shape_of(source: Source, shape: ast.expr) -> Part:
    """The shape as a tuple: JAX 0.3.13 and older took a list."""
    if isinstance(shape, ast.List):
        names = {f"size{number}": element for number, element in enumerate(shape.elts)}
        inner = ", ".join(f"{{{name}}}" for name in names) + ("," if len(names) == 1 else "")
        return Part(f"({inner})", dict(names))
    if isinstance(source.value_of(shape), (ast.List, ast.ListComp)):
        return Part("tuple({shape})", {"shape": shape})
    return Part("{shape}", {"shape": shape})


def order(site: CallSite, bound: dict[str, ast.expr]) -> str:
    """What to say if joining mesh and axes moves an evaluation past another that may have effects."""
    source = site.source
    arguments = sorted(bound.values(), key=source.span)
    mesh, axes = arguments.index(bound["global_mesh"]), arguments.index(bound["mesh_axes"])
    passed = arguments[mesh + 1 : axes] if mesh < axes else arguments[axes + 1 : mesh + 1]
    moved = [bound["mesh_axes"], *passed]
    if passed and sum(not is_harmless(source, node) for node in moved) > 1:
        return "the mesh axes are evaluated together with the mesh now, which changes the order of these arguments"
    return ""


def callback_note(site: CallSite, callback: ast.expr) -> str:
    """What to say about a callback that minds how often it is called, or gives no array."""
    value = site.source.value_of(callback)
    body = value if isinstance(value, ast.Lambda) else _local_function(site.source, callback)
    if body is None:
        return ""
    if any(_has_effect(site.source, node) for node in ast.walk(body)):
        return (
            f"the callback {site.text(callback)} has effects: it is called once now if nothing is split (it was once a device), "
            "and JAX 0.4.6 to 0.4.13 call it in no particular order"
        )
    results = [body.body] if isinstance(body, ast.Lambda) else [n.value for n in ast.walk(body) if isinstance(n, ast.Return)]
    if any(_is_list(result) for result in results):
        return f"the callback {site.text(callback)} gives a list, where an array is wanted: wrap it in numpy.asarray"
    return ""


def _is_list(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        return function.attr == "tolist" if isinstance(function, ast.Attribute) else getattr(function, "id", "") == "list"
    return isinstance(node, (ast.List, ast.ListComp))


def _local_function(source: Source, name: ast.expr) -> ast.AST | None:
    if not isinstance(name, ast.Name):
        return None
    bindings, _ = source.lookup(name.id, source.scope(name))
    return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "def" else None


def _has_effect(source: Source, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, (ast.Nonlocal, ast.Global, ast.Yield))
    function = node.func
    name = last_part(function)
    return name in _EFFECTS and not (source.resolve(function) or "").startswith(("jax.", "operator."))


def is_bound_by_partial(site: NameSite) -> bool:
    """Whether the name is the function that ``functools.partial(name, ...)`` binds arguments to."""
    parent = site.parent()
    return (
        isinstance(parent, ast.Call) and site.node in parent.args[:1] and site.source.resolve(parent.func) == "functools.partial"
    )


def fresh(source: Source, at: ast.AST, names: Iterable[str]) -> Iterator[str]:
    """For each name one that neither hides nor is taken for another at `at`."""
    scope = source.scope(at)
    for name in names:
        candidate = name
        while source.lookup(candidate, scope)[1] is not None or _is_free(source, candidate):
            candidate += "_"
        yield candidate


def _is_free(source: Source, name: str) -> bool:
    """Whether the file reads `name` where nothing binds it."""
    return any(source.lookup(name, source.scope(node))[1] is None for node in source.by_id.get(name, ()))


def room_before(source: Source, node: ast.expr) -> ast.stmt | None:
    """The statement before which parts of `node` can be computed without changing what happens when; None if there is none."""
    statement = source.statement(node)
    head = _head(source, statement)
    if head is None and not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Raise, ast.Expr)):
        return None
    if isinstance(source.parent(statement), ast.ClassDef):
        return None
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if ancestor is statement:
            return statement if head is None or child is head else None
        if not isinstance(ancestor, _EAGER) or not _is_reached_first(source, ancestor, child):
            return None
        child = ancestor
    return None


def _head(source: Source, statement: ast.stmt) -> ast.AST | None:
    """What a compound statement evaluates once, before anything else."""
    if isinstance(statement, ast.For):
        return statement.iter
    if isinstance(statement, ast.With):
        return statement.items[0]
    if isinstance(statement, ast.Match):
        return statement.subject
    return statement.test if isinstance(statement, ast.If) and not source.segment(statement).startswith("elif") else None


def _is_reached_first(source: Source, parent: ast.AST, child: ast.AST) -> bool:
    """Whether nothing with effects is evaluated before `child` in `parent`."""
    for sibling in ast.iter_child_nodes(parent):
        if sibling is child:
            return True
        if isinstance(sibling, ast.expr) and not is_harmless(source, sibling):
            return False
    return False
