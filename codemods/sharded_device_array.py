"""`ShardedDeviceArray`, what `pmap` returned, is a `jax.Array` whose sharding spans several devices of this process.

JAX's words: https://docs.jax.dev/en/latest/jax_array_migration.html, the sections on the new type and on creating jax.Array

Where the guide says `PmapSharding`, which left JAX in 0.10.0, a `NamedSharding` over the devices of the buffers takes its place;
the shards keep the mapped dimension, with size 1.
"""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    AttributeSite,
    CallSite,
    Change,
    Codemod,
    DeleteStatement,
    InsertBefore,
    NameSite,
    Piece,
    Reports,
    Rewrite,
    Site,
    Template,
)
from jaxmigrate_codemods._arrays import (
    ARRAY,
    DEVICE_ARRAYS,
    GLOBAL_DEVICE_ARRAYS,
    MAKE_DEVICE,
    MAKE_SHARDED,
    SHARDED_DEVICE_ARRAYS,
    SPECS,
    VALUE_TYPES,
    assignment_for,
    classes_text,
    container,
    defines,
    elements,
    fresh,
    indentation,
    line,
    traced,
    typed,
    unused_in,
)
from jaxmigrate_codemods._beside_array import yields_to_array

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_PARAMETERS = ("aval", "sharding_spec", "device_buffers", "indices")
_RAISES = "it raises for tracers, where the old test was False"
_WIDTH = 120
_ONE_CLASS = "jax.Array is the class of single-device arrays too, so this no longer tells sharded ones from others"

codemod = Codemod(
    "sharded-device-array",
    summary="ShardedDeviceArray becomes jax.Array, its test asks the sharding, its constructor names one",
    since="0.3.24",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset(n.rpartition(".")[2] for n in SHARDED_DEVICE_ARRAYS | MAKE_SHARDED | MAKE_DEVICE)
    | {"sharding_spec", "one_replica_buffer_indices"},
    applicability=REVIEW,
)


def _sharded(site: NameSite) -> Reports:
    """Decide one use of the class by its role."""
    handler = _ROLES.get(site.role)
    return handler(site) if handler is not None else None


def _tested(site: NameSite) -> Reports:
    """``isinstance(x, ShardedDeviceArray)``, also with other classes beside it."""
    source = site.source
    call = next(a for a in source.ancestors(site.node) if isinstance(a, ast.Call))
    siblings = [e for e in elements(call.args[1]) if source.resolve(e) not in SHARDED_DEVICE_ARRAYS]
    if wider := _wider(site, siblings):
        return wider
    if site.text(call.func) != "isinstance":
        return Rewrite(_ONE_CLASS, REVIEW, ())
    others, pieces = classes_text(source, siblings)
    test = f"isinstance({{x}}, {others})" if siblings else ""
    return _asks_sharding(site, call, call.args[0], test, pieces)


def _wider(site: NameSite, siblings: list[ast.expr]) -> Reports:
    """Beside DeviceArray, of which it was a subclass, the class adds nothing: both collapse to jax.Array."""
    names = {site.source.resolve(e) for e in siblings}
    reason = traced(site)
    if names & (DEVICE_ARRAYS | {ARRAY}):
        message = "ShardedDeviceArray and DeviceArray are jax.Array"
        return Rewrite(f"{message}; isinstance is now True for tracers too; {reason}" if reason else message, REVIEW, ())
    if names & GLOBAL_DEVICE_ARRAYS:
        return Rewrite(_ONE_CLASS, REVIEW, ())
    return None


def _compared(site: NameSite) -> Reports:
    """``type(x) is ShardedDeviceArray`` and ``type(x) in (...)``."""
    source = site.source
    classes = container(source, site.node)
    compare = source.parent(classes)
    arrays = [e for e in elements(classes) if source.resolve(e) in SHARDED_DEVICE_ARRAYS]
    others = [e for e in elements(classes) if e not in arrays]
    if any(source.resolve(o) in DEVICE_ARRAYS for o in others) or site.node is not arrays[0]:
        return ()  # device-array rewrites the comparison, or the first of ours does
    if not isinstance(compare, ast.Compare) or len(compare.ops) != 1:
        return site.manual("no array has exactly the type jax.Array: ask isinstance and the sharding")
    value = typed(compare.left if compare.left is not classes else compare.comparators[0])
    if value is None:
        return site.manual("no array has exactly the type jax.Array: ask isinstance and the sharding")
    pieces: dict[str, ast.expr] = {f"class{i}": o for i, o in enumerate(others)}
    listed = ", ".join(f"{{{n}}}" for n in pieces) + ("," if len(pieces) == 1 else "")
    test = f"type({{x}}) in ({listed})" if others else ""
    negative = isinstance(compare.ops[0], (ast.IsNot, ast.NotEq, ast.NotIn))
    return _asks_sharding(site, compare, value, test, pieces, negative=negative)


def _asks_sharding(
    site: NameSite, whole: ast.expr, value: ast.expr, first: str, pieces: dict[str, ast.expr], *, negative: bool = False
) -> Reports:
    """The guide's test, `value` evaluated once; where tracers come by they are kept out, since they cannot be asked."""
    reason = traced(site)
    parts = [f"isinstance({{x}}, {{{ARRAY}}})"] if first or not _is_array_before(site.source, whole, value) else []
    parts += ["not isinstance({x}, {jax.core.Tracer})"] if reason else []
    parts += ["{x}.is_fully_addressable", "len({x}.sharding.device_set) > 1"]
    held: dict[str, Piece] = {"x": value, **pieces}
    walrus = ""
    if not site.source.is_pure(value):
        if forbidden := _no_walrus(site.source, whole):
            return site.manual(f"the tested expression must be evaluated once, but {forbidden}: bind it to a name first")
        walrus = fresh(site.source, "array", "maybe_array")
        held = {"x": walrus, "value": value, **pieces}
    template = _written(site.source, whole, first, parts, negative, held)
    template = template.replace("{x}", f"{walrus} := {{value}}", 1) if walrus else template
    outcome = f"tracers are kept out of it, since {reason}" if reason else _RAISES
    message = f"a ShardedDeviceArray is a jax.Array on several devices of this process; {outcome}"
    return Rewrite(message, REVIEW, (site.replace(template, whole, **held),))


def _is_array_before(source: Source, whole: ast.expr, value: ast.expr) -> bool:
    """Whether an earlier operand of the same ``and`` has found out that `value` is a jax.Array."""
    wanted, child = ast.dump(value), whole
    for ancestor in source.ancestors(whole):
        if isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And):
            before = ancestor.values[: next(i for i, v in enumerate(ancestor.values) if v is child)]
            tests = [
                t for t in before if isinstance(t, ast.Call) and getattr(t.func, "id", "") == "isinstance" and len(t.args) == 2
            ]
            if any(ast.dump(t.args[0]) == wanted and source.resolve(t.args[1]) in DEVICE_ARRAYS | {ARRAY} for t in tests):
                return True
        elif not (isinstance(ancestor, ast.UnaryOp) and isinstance(ancestor.op, ast.Not)):
            return False
        assert isinstance(ancestor, ast.expr)
        child = ancestor
    return False


def _written(source: Source, whole: ast.expr, first: str, parts: list[str], negative: bool, held: dict[str, Piece]) -> str:
    """Template of the test, broken into lines, an operand each, where one line would be too long."""
    test = " and ".join(parts)
    template = f"{first} or ({test})" if first else test
    template = f"not ({template})" if negative else template
    filled = template
    for name, piece in held.items():
        filled = filled.replace(f"{{{name}}}", piece if isinstance(piece, str) else source.segment(piece))
    start = source.offset(whole.lineno, 0)
    before = source.utf8[start : start + whole.col_offset].decode("utf-8").expandtabs(4)
    if len(before) + len(filled) <= _WIDTH:
        return template
    outer = "\n" + indentation(source, source.statement(whole))
    inner = outer + "    "
    if first:
        joined = f"{inner}    and ".join(parts)
        operands = f"{inner}{first}{inner}or ({inner}    {joined}{inner})"
    else:
        operands = inner + f"{inner}and ".join(parts)
    return ("not " if negative else "") + f"({operands}{outer})"


def _no_walrus(source: Source, node: ast.AST) -> str:
    """Why ``:=`` cannot stand at `node`; empty when it can."""
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return "it stands in a comprehension"
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return ""
        if isinstance(ancestor, ast.Lambda):
            return "it stands in a lambda"
        if isinstance(ancestor, ast.ClassDef):
            return "it stands in a class body"
    return ""


def _class_only(site: NameSite) -> Reports:
    """issubclass, register: a class is asked for, and there is one class only."""
    dead: Reports = yields_to_array(site) if site.role == "issubclass" else None
    if dead:
        return dead
    if site.role == "register" and _registers_device_array(site):
        return site.manual("the same dispatcher registers DeviceArray: both are jax.Array now, so merge the two functions")
    return Rewrite(_ONE_CLASS, REVIEW, ())


def _registers_device_array(site: NameSite) -> bool:
    source = site.source
    here = source.parent(site.node)
    dispatcher = source.segment(here.func) if isinstance(here, ast.Call) else ""
    for node in source.names(*DEVICE_ARRAYS, ARRAY):
        call = source.parent(node)
        if isinstance(call, ast.Call) and source.role(node) == "register" and source.segment(call.func) == dispatcher:
            return source.parent(call) is not source.parent(here) if here is not None else True
    return False


def _keyed(site: NameSite) -> Reports:
    """A key of a table."""
    return site.manual(
        "a table keyed by class cannot tell sharded arrays from others: ask isinstance(x, jax.Array) and its sharding"
    )


def _held(site: NameSite) -> Reports:
    """A name, a tuple or an argument that holds the class; a bare alias or a Union only names the type."""
    if isinstance(site.parent(), ast.MatchClass):
        return _matched(site)
    whole = container(site.source, site.node)
    if site.role == "alias" and isinstance(site.source.parent(whole), ast.Subscript):
        return None
    if site.role == "alias" and whole is site.node:
        return Rewrite(_ONE_CLASS, REVIEW, ()) if _is_public_alias(site) or _alias_is_collected(site) else None
    wider = _wider(site, [e for e in elements(whole) if e is not site.node]) if whole is not site.node else None
    return wider or Rewrite(_ONE_CLASS, REVIEW, ())


def _is_public_alias(site: NameSite) -> bool:
    """Whether other modules may test with the alias."""
    statement = site.parent()
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    public = any(isinstance(t, ast.Name) and not t.id.startswith("_") for t in targets)
    return public and site.source.scope(site.node) is site.source.scope_root


def _alias_is_collected(site: NameSite) -> bool:
    """Whether the alias goes into a tuple, or anywhere else where it may come to be tested."""
    statement = site.parent()
    names = [t.id for t in statement.targets if isinstance(t, ast.Name)] if isinstance(statement, ast.Assign) else []
    uses = [n for name in names for n in site.source.by_id.get(name, ()) if isinstance(n.ctx, ast.Load)]
    return any(site.source.role(n) in ("alias", "value") for n in uses)


def _matched(site: NameSite) -> Reports:
    """``case ShardedDeviceArray():``."""
    return site.manual("a class pattern cannot ask for the sharding: match jax.Array() with a guard")


def _looked_into(site: NameSite) -> Reports:
    """A subclass, or an attribute of the class."""
    return site.manual("jax.Array can be neither subclassed nor asked for methods: see jax.make_array_from_single_device_arrays")


def _called(site: NameSite) -> Reports:
    """The constructor is handled as a call."""
    return ()


_ROLES = {
    "isinstance": _tested,
    "type-compare": _compared,
    "issubclass": _class_only,
    "register": _class_only,
    "dict-key": _keyed,
    "alias": _held,
    "value": _held,
    "base-class": _looked_into,
    "attribute": _looked_into,
    "call": _called,
}

codemod.rename(
    dict.fromkeys(sorted(SHARDED_DEVICE_ARRAYS), ARRAY),
    handler=_sharded,
    passed_on="modules that test against it match every array now, single-device ones too",
)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a ShardingSpec says: the mesh, where each dimension goes, and which dimensions the buffers lack."""

    sizes: tuple[str, ...]
    axes: tuple[str, ...]
    spec: str
    missing: tuple[int, ...] = ()

    def mesh(self, devices: str) -> str:
        """Template of the mesh over the list `devices`."""
        names = ", ".join(f'"{a}"' for a in self.axes) + ("," if len(self.axes) == 1 else "")
        if len(self.axes) > 1:
            devices = f"{{numpy.array}}({devices}).reshape({', '.join(self.sizes)})"
        return f"{{jax.sharding.Mesh}}({devices}, ({names}))"

    def stack(self, buffer: str) -> str:
        """The buffer with the dimensions it lacks."""
        index = ", ".join("None" if d in self.missing else ":" for d in range(self.missing[-1] + 1))
        return f"{buffer}[{index}]"


_PMAP_STYLE = _Layout(("",), ("i",), '"i"', (0,))


@codemod.call(*MAKE_SHARDED, *SHARDED_DEVICE_ARRAYS)
def make_sharded_device_array(site: CallSite) -> Reports:
    """Name the sharding that the spec described."""
    if site.partial:
        return site.manual("make_sharded_device_array is gone: see jax.make_array_from_single_device_arrays")
    bound = site.bind(*_PARAMETERS, optional=("indices",))
    spec = site.source.value_of(bound["sharding_spec"])
    shape, shape_piece = _shape(site.source, bound["aval"])
    if isinstance(spec, ast.Attribute) and spec.attr == "sharding_spec":
        template = f"{{jax.make_array_from_single_device_arrays}}({shape}, {{like}}.sharding, {{buffers}})"
        change = site.replace(template, aval=shape_piece, like=spec.value, buffers=bound["device_buffers"])
        return Rewrite(
            "the new array takes over the other one's sharding; its buffers must have the shape of those shards",
            REVIEW,
            (change,),
        )
    layout = _layout(site.source, spec)
    if isinstance(layout, str):
        return site.manual(layout)
    return _make(site, layout, shape, shape_piece, bound["device_buffers"])


def _make(site: CallSite, layout: _Layout, shape: str, aval: ast.expr, buffers: ast.expr) -> Reports:
    changes: list[Change] = _without_spec(site)
    piece: Piece = buffers
    name = site.text(buffers)
    if not site.source.is_pure(buffers):
        around = _room_before(site, buffers)
        if around is None:
            return site.manual("the buffers are needed twice (for the mesh and for the array): bind them to a name first")
        name = piece = fresh(site.source, "buffers", "device_buffers", "shards")
        changes.append(InsertBefore(around, Template(f"{name} = {{buffers}}", {"buffers": buffers})))
    b = unused_in(name, "b", "buffer")
    mesh = layout.mesh(f"[next(iter({b}.devices())) for {b} in {{buffers}}]")
    sharding = f"{{jax.sharding.NamedSharding}}({mesh}, {{jax.sharding.PartitionSpec}}({layout.spec}))"
    shards = f"[{layout.stack(b)} for {b} in {{buffers}}]" if layout.missing else "{buffers}"
    template = _call(site, shape, sharding, shards)
    changes.append(site.replace(template, aval=aval, buffers=piece))
    message = "the sharding is a NamedSharding over the devices of the buffers"
    if layout.missing:
        message += (
            "; each buffer gets the mapped dimension with size 1, and so do the shards of the result (a leading 1 for pmap)"
        )
    return Rewrite(message, REVIEW, tuple(changes))


def _room_before(site: CallSite, buffers: ast.expr) -> ast.stmt | None:
    """The statement before which the buffers can be made: nothing that does something is evaluated before them."""
    source, statement = site.source, site.source.statement(site.node)
    if not isinstance(statement, (ast.Assign, ast.Return, ast.Expr)) or isinstance(source.parent(statement), ast.ClassDef):
        return None
    child: ast.AST = buffers
    for ancestor in source.ancestors(buffers):
        if ancestor is statement:
            return statement
        if not isinstance(ancestor, (ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Tuple, ast.List)):
            return None
        before = itertools.takewhile(lambda node: node is not child, list(ast.iter_child_nodes(ancestor)))  # noqa: B023
        if not all(_is_quiet(source, node) for node in before):
            return None
        child = ancestor
    return None


def _is_quiet(source: Source, node: ast.AST) -> bool:
    """Whether it does not matter when `node` is evaluated: no call in it but that of ShapedArray."""
    calls = [n for n in ast.walk(node) if isinstance(n, (ast.Call, ast.Await, ast.Yield, ast.NamedExpr))]
    return all(isinstance(c, ast.Call) and (source.resolve(c.func) or "").endswith(".ShapedArray") for c in calls)


def _without_spec(site: CallSite) -> list[Change]:
    """Delete what was computed for the old call alone: the spec, and the indices that were made of it."""
    bound = site.bind(*_PARAMETERS, optional=("indices",))
    gone: list[ast.stmt] = []
    for argument in (bound.get("indices"), bound["sharding_spec"]):
        if argument is not None:
            made = site.source.value_of(argument)
            statement = assignment_for(site.source, argument, made, (*gone, bound.get("indices", argument)))
            gone += [statement] if statement is not None else []
    return [DeleteStatement(statement) for statement in gone]


def _call(site: CallSite, *arguments: str) -> str:
    """Template of the call, an argument a line, as deep as its statement."""
    statement = site.source.statement(site.node)
    indent = "\n" + indentation(site.source, statement)
    inner = "".join(f"{indent}    {argument}," for argument in arguments)
    return f"{{jax.make_array_from_single_device_arrays}}({inner}{indent})"


def _shape(source: Source, aval: ast.expr) -> tuple[str, ast.expr]:
    """Template and piece for the shape of an aval: of ``ShapedArray(shape, dtype)`` its argument, of ``x.aval`` that of x."""
    if isinstance(aval, ast.Call) and (source.resolve(aval.func) or "").endswith(".ShapedArray") and aval.args:
        return "{aval}", aval.args[0]
    if isinstance(aval, ast.Attribute) and aval.attr == "aval":
        return "{aval}.shape", aval.value
    return "{aval}.shape", aval


def _layout(source: Source, spec: ast.expr) -> _Layout | str:
    """Read a ShardingSpec, or say why it cannot be read."""
    if isinstance(spec, ast.Constant) and spec.value is None:
        return _PMAP_STYLE
    if not isinstance(spec, ast.Call):
        return (
            "the source does not show the ShardingSpec: write jax.make_array_from_single_device_arrays(aval.shape, "
            "NamedSharding(Mesh(devices, ('i',)), PartitionSpec('i')), buffers); pmap-style buffers need a leading 1"
        )
    if "mesh_sharding_specs" in source.segment(spec.func):
        return (
            "the spec came from a mesh: write jax.make_array_from_single_device_arrays(aval.shape, "
            "NamedSharding(mesh, PartitionSpec(...)), buffers)"
        )
    if _is_pmap_style(source, spec):
        return _PMAP_STYLE
    parsed = _parse_spec(source, spec)
    return parsed or "this ShardingSpec cannot be read: name its mesh and PartitionSpec in a jax.sharding.NamedSharding"


def _is_pmap_style(source: Source, spec: ast.Call) -> bool:
    """JAX's own makers of specs, where they ask for dimension 0 and one device an element."""
    maker = source.segment(spec.func).rpartition(".")[2]
    if maker == "_create_pmap_sharding_spec":
        return len(spec.args) == 1 and not spec.keywords
    texts = [source.segment(a) for a in spec.args]
    return (
        maker == "_pmap_sharding_spec"
        and len(texts) == 6
        and texts[0] == texts[1]
        and [*texts[2:4], texts[5]] == ["1", "None", "0"]
    )


def _parse_spec(source: Source, spec: ast.Call) -> _Layout | None:
    """``ShardingSpec(sharding, mesh_mapping)`` with literal parts; the devices are row-major over `mesh_mapping`."""
    arguments = dict(zip(("sharding", "mesh_mapping"), spec.args, strict=False)) | {k.arg or "": k.value for k in spec.keywords}
    dims, mapping = _parts(source, arguments.get("sharding")), _parts(source, arguments.get("mesh_mapping"))
    if dims is None or mapping is None or not mapping or not (source.resolve(spec.func) or "").endswith(".ShardingSpec"):
        return None
    chunks: list[tuple[int, str]] = []
    for dim, (kind, argument) in enumerate(dims):
        sizes = _sizes(source, kind, argument)
        if sizes is None:
            return None
        chunks += [(dim, size) for size in sizes]
    axes = ("i", "j", "k", "l", "m", "n")[: len(mapping)]
    entries: list[list[str]] = [[] for _ in dims]
    named: dict[int, str] = {}
    mesh: list[str] = []
    for axis, (kind, argument) in zip(axes, mapping, strict=False):
        if argument is None or not isinstance(argument, ast.Constant) or not isinstance(argument.value, int):
            return None
        if kind == "ShardedAxis" and argument.value < len(chunks):
            named[argument.value] = axis
            mesh.append(chunks[argument.value][1])
        elif kind == "Replicated":
            mesh.append(source.segment(argument))
        else:
            return None
    for number, (dim, _) in enumerate(chunks):
        if number not in named:
            return None
        entries[dim].append(named[number])
    missing = tuple(d for d, (kind, _) in enumerate(dims) if kind == "Unstacked")
    return _Layout(tuple(mesh), axes, _entries(entries), missing) if len(axes) == len(mapping) else None


def _parts(source: Source, node: ast.expr | None) -> list[tuple[str, ast.expr | None]] | None:
    """(class, argument) of each element of a tuple or list of constructor calls."""
    node = source.value_of(node) if node is not None else None
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    found: list[tuple[str, ast.expr | None]] = []
    for element in node.elts:
        if not isinstance(element, ast.Call) or element.keywords or len(element.args) > 1:
            return None
        found.append(((source.resolve(element.func) or "").rpartition(".")[2], element.args[0] if element.args else None))
    return found


def _sizes(source: Source, kind: str, argument: ast.expr | None) -> list[str] | None:
    """The sizes into which a dimension is cut."""
    if kind == "NoSharding" and argument is None:
        return []
    if kind == "Unstacked" and argument is not None and source.is_pure(argument):
        return [source.segment(argument)]
    if kind == "Chunked" and isinstance(argument, (ast.List, ast.Tuple)) and all(source.is_pure(e) for e in argument.elts):
        return [source.segment(e) for e in argument.elts]
    return None


def _entries(entries: list[list[str]]) -> str:
    """The arguments of the PartitionSpec, without trailing ones that say nothing."""
    written = ["None" if not e else f'"{e[0]}"' if len(e) == 1 else "(" + ", ".join(f'"{a}"' for a in e) + ")" for e in entries]
    while written and written[-1] == "None":
        written.pop()
    return ", ".join(written)


@codemod.name_(*SPECS)
def sharding_spec(site: NameSite) -> Reports:
    """What describes a layout without naming a mesh; one that only fed a rewritten call is gone by the last round."""
    uses = sorted(site.source.names(site.symbol), key=lambda n: (n.lineno, n.col_offset))
    if site.node is not uses[0] or not site.direct:
        return None  # said once, at the first of them
    lines = [line(site.source, use) for use in uses]
    name = site.symbol.rpartition(".")[2]
    more = f" (also in line {', '.join(map(str, lines[1:]))})" if lines[1:] else ""
    return site.manual(f"{name} left JAX in 0.10.0: a NamedSharding(mesh, PartitionSpec(...)) says the layout{more}")


@codemod.name_(*MAKE_SHARDED, *MAKE_DEVICE)
def passed_on(site: NameSite) -> Reports:
    """The function as a value."""
    if site.role == "call" or _is_partial(site):
        return None
    return site.manual(
        f"{site.symbol.rpartition('.')[2]} is gone: see jax.make_array_from_single_device_arrays and jax.device_put"
    )


def _is_partial(site: Site) -> bool:
    parent = site.parent()
    return isinstance(parent, ast.Call) and (site.source.resolve(parent.func) or "") == "functools.partial"


@codemod.call(*MAKE_DEVICE)
def make_device_array(site: CallSite) -> Reports:
    """The buffer is an array already; `device` says where it is to stay."""
    if site.partial:
        return site.manual("make_device_array is gone: see jax.device_put")
    bound = site.bind("aval", "device", "device_buffer")
    buffer, device = bound["device_buffer"], bound["device"]
    message = "a buffer is an array today; its dtype is its own, not that of the aval"
    if isinstance(device, ast.Constant) and device.value is None:
        return Rewrite(message, REVIEW, (site.replace("{buffer}", buffer=buffer),))
    return Rewrite(message, REVIEW, (site.replace("{jax.device_put}({buffer}, {device})", buffer=buffer, device=device),))


@codemod.attribute("sharding_spec", "indices", "one_replica_buffer_indices")
def layout_attribute(site: AttributeSite) -> Reports:
    """What the array knew about its layout: `x.sharding` knows it now."""
    known = site.receiver_type in VALUE_TYPES
    if site.assignment or _in_constructor(site) or not (known or _is_likely_sharded(site)):
        return None
    x = site.text(site.value)
    if site.node.attr == "sharding_spec":
        return site.manual(f"{x}.sharding says how the array is laid out; ShardingSpec left JAX in 0.10.0")
    if site.node.attr == "one_replica_buffer_indices":
        return site.manual(f"positions in {x}.addressable_shards of one copy of everything: those with replica_id == 0")
    if not site.source.is_pure(site.value):
        return site.manual("list(x.sharding.addressable_devices_indices_map(x.shape).values()), with the array bound to a name")
    change = site.replace("list({x}.sharding.addressable_devices_indices_map({x}.shape).values())", x=site.value)
    return Rewrite(
        "the index of a mapped dimension was an int and is a slice of length 1 where pmap made the array", REVIEW, (change,)
    )


def _is_likely_sharded(site: AttributeSite) -> bool:
    """Whether an unknown value may be a ShardedDeviceArray: the name is its own, and the file has to do with them."""
    if site.node.attr == "indices" or site.receiver_type is not None or defines(site.source, site.node.attr):
        return False
    return any(site.source.mentions(word) for word in ("pmap", "ShardedDeviceArray", "device_buffers", "PmapSharding"))


def _in_constructor(site: AttributeSite) -> bool:
    """Whether the attribute is an argument of a constructor that another function here rewrites."""
    parent = site.parent()
    call = site.source.parent(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and (site.source.resolve(call.func) or "") in MAKE_SHARDED | SHARDED_DEVICE_ARRAYS
