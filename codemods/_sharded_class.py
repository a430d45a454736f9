"""Uses of the class ShardedDeviceArray: its test asks the sharding; where only the class can be asked, a distinction is lost."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, NameSite, Piece, Reports, Rewrite
from jaxmigrate_codemods._arrays import (
    ARRAY,
    DEVICE_ARRAYS,
    GLOBAL_DEVICE_ARRAYS,
    SHARDED_DEVICE_ARRAYS,
    classes_text,
    container,
    elements,
    fresh,
    indentation,
    registered_beside,
    traced,
    typed,
)
from jaxmigrate_codemods._beside_array import yields_to_array

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_RAISES = "it raises for tracers, where the old test was False"
_WIDTH = 120
_ONE_CLASS = "jax.Array is the class of single-device arrays too, so this no longer tells sharded ones from others"


def use_of_class(site: NameSite) -> Reports:
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
    if site.role == "register" and registered_beside(site, *DEVICE_ARRAYS, ARRAY):
        return site.manual("the same dispatcher registers DeviceArray: both are jax.Array now, so merge the two functions")
    return Rewrite(_ONE_CLASS, REVIEW, ())


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
