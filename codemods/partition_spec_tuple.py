"""`PartitionSpec` is no tuple since 0.6.1, and equals none since 0.10.0.

Its elements can still be read, sliced and counted. https://docs.jax.dev/en/latest/changelog.html (0.6.1, 0.10.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, UNSAFE, Codemod, FileSite, NameSite, ReplaceExpr, Report, Reports, Rewrite, Site, last_part

from ._arrays import VALUE_TYPES, defines, elements
from ._changes import before, builtin_calls, kind

if TYPE_CHECKING:
    from jaxmigrate.model import Applicability
    from jaxmigrate.names import Source

codemod = Codemod(
    "partition-spec-tuple",
    summary="PartitionSpec is no tuple any more: isinstance, comparisons and tuple arithmetic",
    since="0.6.1",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=UNSAFE,
    about=frozenset({"jax.sharding.PartitionSpec", "jax.P"}),
)

_SPEC = "jax.sharding.PartitionSpec"
_NAMES = frozenset({"spec", "pspec", "partition_spec", "pspecs", "sharding_spec", "p_spec"})


@codemod.file
@before("0.6.1")
def tuple_tests(site: FileSite) -> Iterator[Report]:
    """``isinstance(spec, tuple)``, and ``isinstance(spec, Sequence)``."""
    source = site.source
    for call in builtin_calls(source, "isinstance"):
        if len(call.args) != 2 or not any(_is_tuple_class(source, e) for e in elements(call.args[1])):
            continue
        if any(_is_spec_class(source, e) for e in elements(call.args[1])) or _asks_both(source, call):
            continue
        if (certainty := _certainty(site, call.args[0])) is None:
            continue
        holes = {f"class{i}": e for i, e in enumerate(elements(call.args[1]))}
        text = ", ".join(f"{{{name}}}" for name in holes)
        change = site.replace(f"({text}, {{{_SPEC}}})", call.args[1], **holes)
        assumed = "" if certainty is REVIEW else f", assuming that {site.text(call.args[0])} may be one"
        yield Rewrite(f"a PartitionSpec is no tuple since 0.6.1{assumed}", certainty, (change,), call)


@codemod.file
@before("0.10.0")
def arithmetic_and_comparisons(site: FileSite) -> Iterator[Report]:
    """``spec == ("x",)``, ``spec + ("x",)``, ``spec * 2`` and ``spec < other``."""
    source = site.source
    speaks = source.mentions("PartitionSpec") or source.mentions("P") or "spec" in source.by_attribute
    for node in ast.walk(site.node) if speaks else ():
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _compared(site, node)
        elif isinstance(node, ast.BinOp) and site.is_older_than("0.6.1"):
            yield from _computed(site, node)


_SEQUENCES = ("collections.abc.Sequence", "typing.Sequence")


def _is_tuple_class(source: Source, node: ast.expr) -> bool:
    return _is_builtin(source, node, "tuple") or source.resolve(node) in _SEQUENCES


@codemod.file
@before("0.6.1")
def taken_apart(site: FileSite) -> Iterator[Report]:
    """``"%s" % spec``, ``match spec:``, ``table[spec]`` and ``table.get(spec)`` where the keys are tuples."""
    for node in ast.walk(site.node):
        spec = _asked_as_tuple(site.source, node)
        if spec is not None and is_spec(site, spec):
            change = site.replace("tuple({x})", spec, x=spec)
            yield Rewrite("a PartitionSpec is no tuple since 0.6.1", REVIEW, (change,), spec)


def _asked_as_tuple(source: Source, node: ast.AST) -> ast.expr | None:
    """What only a tuple does: give several values to a format, match patterns of sequences, be found among tuples."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        is_text = isinstance(node.left, ast.JoinedStr) or isinstance(getattr(node.left, "value", None), str)
        return node.right if is_text else None
    if isinstance(node, ast.Match):
        return node.subject if any(isinstance(c.pattern, ast.MatchSequence) for c in node.cases) else None
    if isinstance(node, ast.Subscript):
        return node.slice if _has_tuple_keys(source, node.value) else None
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return node.left if _has_tuple_keys(source, node.comparators[0]) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop", "setdefault"):
        is_table = isinstance(source.value_of(node.func.value), ast.Dict) and _has_tuple_keys(source, node.func.value)
        return node.args[0] if is_table and node.args else None
    return None


def _has_tuple_keys(source: Source, node: ast.expr) -> bool:
    """Whether a written dict, set or list holds tuples."""
    value = source.value_of(node)
    held = value.keys if isinstance(value, ast.Dict) else value.elts if isinstance(value, (ast.Set, ast.List, ast.Tuple)) else []
    return bool(held) and all(isinstance(k, ast.Tuple) for k in held)


def _compared(site: FileSite, node: ast.Compare) -> Iterator[Report]:
    source, (left, right) = site.source, (node.left, node.comparators[0])
    if isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        if site.is_older_than("0.6.1") and is_spec(site, left) and is_spec(site, right):
            changes = tuple(site.replace("tuple({x})", side, x=side) for side in (left, right))
            yield Rewrite("a PartitionSpec is no tuple since 0.6.1 and has no order", REVIEW, changes, node)
        return
    if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return
    for spec, other in ((left, right), (right, left)):
        if is_spec(site, spec) and _is_tuple(source, other):
            change = _as_spec(site, other)
            yield Rewrite("a PartitionSpec equals no tuple since 0.10.0", REVIEW, (change,), node)


def _as_spec(site: FileSite, node: ast.expr) -> ReplaceExpr:
    """A tuple as the spec of its elements."""
    if isinstance(node, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
        holes = {f"axis{i}": e for i, e in enumerate(node.elts)}
        return site.replace(f"{{{_SPEC}}}({', '.join(f'{{{h}}}' for h in holes)})", node, **holes)
    return site.replace(f"{{{_SPEC}}}(*{{axes}})", node, axes=node)


def _computed(site: FileSite, node: ast.BinOp) -> Iterator[Report]:
    source = site.source
    if isinstance(source.parent(node), (ast.Starred, ast.BinOp)) or not isinstance(node.op, (ast.Mult, ast.Add)):
        return
    sides = [s for s in (node.left, node.right) if is_spec(site, s)]
    if not sides:
        return
    changes = tuple(site.replace("tuple({x})", s, x=s) for s in sides)
    if isinstance(node.op, ast.Mult):
        yield Rewrite("a PartitionSpec is no tuple since 0.6.1 and cannot be repeated", REVIEW, changes, node)
    elif isinstance(node.op, ast.Add) and not _is_looked_through(source, node):
        yield Rewrite("a sum with a PartitionSpec is a PartitionSpec since 0.6.1, no tuple", UNSAFE, changes, node)


def _is_looked_through(source: Source, node: ast.BinOp) -> bool:
    """Whether only the elements of a sum are asked for, as in ``len(spec + more)`` and ``for axis in spec + more``."""
    parent = source.parent(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
        return parent.func.id in ("tuple", "list", "len", "set", "enumerate", "zip", "sorted", "any", "all", "iter")
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    return isinstance(parent, ast.Subscript) or (isinstance(parent, ast.Compare) and not _is_equality(parent))


def _is_equality(node: ast.Compare) -> bool:
    return any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)


@codemod.name_(_SPEC, "jax.experimental.PartitionSpec", "jax.experimental.pjit.PartitionSpec", "jax.P")
@before("0.6.1")
def subclass(site: NameSite) -> Reports:
    """A class of one's own cannot derive from it."""
    if site.role != "base-class":
        return None
    return site.manual("PartitionSpec cannot be subclassed any more: keep a spec in a field, or make it by a function")


@codemod.name_("json.dumps", "json.dump")
@before("0.6.1")
def dumped(site: NameSite) -> Reports:
    """JSON knew it as a tuple."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node or not call.args:
        return None
    specs = [n for n in _members(call.args[0]) if is_spec(site, n)]
    if not specs:
        return None
    changes = tuple(site.replace("tuple({x})", n, x=n) for n in specs)
    return Rewrite("a PartitionSpec is no tuple since 0.6.1, and json cannot write it", REVIEW, changes, specs[0])


def _members(node: ast.expr) -> list[ast.expr]:
    """A value, or those that a written list or dict holds."""
    if isinstance(node, ast.Dict):
        return [m for v in node.values for m in _members(v)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [m for e in node.elts for m in _members(e)]
    return _members(node.elt) if isinstance(node, ast.ListComp) else [node]


def is_spec(site: Site, node: ast.expr) -> bool:
    """Whether the file shows that a value is a PartitionSpec; a sum with one is, unless it is made a tuple here."""
    source, value = site.source, site.source.value_of(node)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return site.settings.allowed < UNSAFE and (is_spec(site, value.left) or is_spec(site, value.right))
    found = kind(source, node)
    if found is not None:
        return found == _SPEC
    return isinstance(value, ast.Attribute) and value.attr == "spec" and _is_sharding(source, value.value)


def _is_sharding(source: Source, node: ast.expr) -> bool:
    """``x.sharding`` of what is or may be an array, or a NamedSharding."""
    if (found := source.infer(node)) is not None:
        return found.startswith("jax.sharding.")
    if not isinstance(node, ast.Attribute) or node.attr != "sharding" or source.resolve(node) is not None:
        return False
    return source.infer(node.value) in VALUE_TYPES or not (_is_settings(node.value) or defines(source, "sharding"))


_SETTINGS = ("self", "cls", "cfg", "conf", "config", "args", "flags", "options", "settings", "hparams")


def _is_settings(node: ast.expr) -> bool:
    """Whether something is called as objects are that keep the program's own choices, not arrays."""
    named = last_part(node)
    return named.lower().rpartition("_")[2] in _SETTINGS


def _certainty(site: FileSite, node: ast.expr) -> Applicability | None:
    """Review for a value that is a spec, unsafe for one that is called so, None for all others."""
    source = site.source
    if is_spec(site, node):
        return REVIEW
    named = last_part(node)
    speaks = source.mentions("PartitionSpec") and source.infer(node) is None
    return UNSAFE if speaks and named.lower().lstrip("_") in _NAMES else None


def _asks_both(source: Source, call: ast.Call) -> bool:
    """Whether the same condition asks for PartitionSpec too."""
    around = source.parent(call)
    return isinstance(around, ast.BoolOp) and any(_is_spec_class(source, n) for n in ast.walk(around))


def _is_spec_class(source: Source, node: ast.AST) -> bool:
    named = source.resolve(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    return named is not None and source.facts.canonical(named) == _SPEC


def _is_builtin(source: Source, node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and source.lookup(name, source.scope(node))[1] is None


def _is_tuple(source: Source, node: ast.expr) -> bool:
    """A tuple by its looks, or a name for one."""
    value = source.value_of(node)
    return isinstance(value, ast.Tuple) or (
        isinstance(value, ast.Call) and _is_builtin(source, value.func, "tuple") and len(value.args) < 2
    )
