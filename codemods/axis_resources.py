"""`in_axis_resources`, `out_axis_resources` and `axis_resources` are `in_shardings`, `out_shardings` and `shardings`.

Only where the callee is jax's own: parameters of wrappers that have the old names keep them.
https://docs.jax.dev/en/latest/changelog.html (0.4.4, 0.4.14)
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    Change,
    Codemod,
    EditCall,
    FileSite,
    Manual,
    ReplaceText,
    Report,
    Rewrite,
)
from jaxmigrate_codemods._pjit import CONSTRAINT, LAX_CONSTRAINT, PJIT, Pjit, is_guarded, is_partial
from jaxmigrate_codemods._reach import Wrapper, handed_on, reach_of
from jaxmigrate_codemods._specs import SHARDINGS, SPECS, UNSPECIFIED

if TYPE_CHECKING:
    from jaxmigrate.model import Applicability
    from jaxmigrate.names import Source

codemod = Codemod(
    "axis-resources",
    summary="in_axis_resources, out_axis_resources and axis_resources are in_shardings, out_shardings and shardings",
    since="0.4.4",
    deprecated="0.4.9",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"in_axis_resources", "out_axis_resources", "axis_resources", "pjit"}),
    applicability=REVIEW,
)

_PJIT = {"in_axis_resources": "in_shardings", "out_axis_resources": "out_shardings"}
_CONSTRAINT = {"axis_resources": "shardings"}
_UNTIL_0_4_3 = ("static_argnums", "donate_argnums")
_FROM_0_4_2 = ("static_argnums", "static_argnames", "donate_argnums")
_FROM_0_4_4 = ("in_shardings", "out_shardings", "static_argnums", "static_argnames", "donate_argnums")
_UNDECIDED = (
    "the {number} positional argument of pjit means static_argnums until JAX 0.4.3 and again from 0.4.14, and in_axis_resources "
    "in between; nothing here tells which is meant: pass it by its keyword"
)
_SHARED_DICT = "this dict holds old keywords of pjit but serves other code too: rename its keys by hand"
_OLD_POSITIONS = "from JAX 0.4.4 to 0.4.13 these were the old names of in_shardings and out_shardings"
_NEW_POSITION = "the position of {name} changed in JAX 0.4.4 and back in 0.4.14, its keyword did not"
_MAY_BE_PJIT = "what is called here may be pjit, which knows {old} as {new} only: rename it where it is pjit"
_HANDED_ON = (
    "{function} hands these to pjit, which knows them as in_shardings and out_shardings only; callers in other files must use "
    "these names too"
)
_NOT_ONLY = (
    "{function} hands {old} to pjit, which knows it as {new} only, but does other things with what its callers pass: rename it "
    "by hand, in the function and at its calls"
)
_OTHER_RELEASE = (
    "the fourth positional argument of pjit is in_axis_resources in JAX {origin}, yet this is written as {name}, which it was "
    "until 0.4.3 and is again from 0.4.14: pass it by the keyword that is meant"
)
_ORDINALS = {3: "fourth", 4: "fifth", 5: "sixth", 6: "seventh", 7: "eighth"}


@codemod.file
@codemod.only_where(*PJIT, *CONSTRAINT, LAX_CONSTRAINT)
def axis_resources(site: FileSite) -> Iterator[Report]:
    """All calls of pjit and with_sharding_constraint of a file, partials and splatted dicts included."""
    source = site.source
    reach = reach_of(source, tuple(_PJIT))
    splats = reach.splats()
    for use in reach.pjit:
        if not use.has_sentinel(source) and not is_guarded(source, use.name):
            for call in use.calls_with_arguments():
                yield from _keywords(site, call, _PJIT, splats)
            yield from _positional(site, use)
    for call in reach.chosen:
        yield from _keywords(site, call, _PJIT, splats)
    for call in reach.doubtful:
        old = next((k.arg for k in call.keywords if k.arg in _PJIT), None)
        if old is not None:
            yield Manual(_MAY_BE_PJIT.format(old=old, new=_PJIT[old]), at=call)
    yield from _wrapped(site, reach.wrappers, splats)
    for name in source.names(*CONSTRAINT, LAX_CONSTRAINT):
        parent = source.parent(name)
        wrapped = isinstance(parent, ast.Call) and parent.args[:1] == [name] and is_partial(source, parent)
        if isinstance(parent, ast.Call) and (parent.func is name or wrapped):
            yield from _keywords(site, parent, _CONSTRAINT, set())


def _wrapped(site: FileSite, wrappers: list[Wrapper], splats: set[ast.expr]) -> Iterator[Report]:
    """What functions that hand their ** to pjit get by it: in all of them, since one may hand on to another, or by hand."""
    source = site.source
    handed = [(w, handed_on(source, w, _PJIT, splats)) for w in wrappers]
    provable = all(h.problem is None for _, h in handed)
    for wrapper, own in handed:
        table = {old: new for old, new in _PJIT.items() if old not in own.popped}
        inside = [c for node in own.written for c in _written(source, node, table)]
        outside = {old: new for old, new in table.items() if old not in wrapper.parameters()}
        if provable:
            if inside:
                yield Rewrite(
                    _HANDED_ON.format(function=wrapper.name), REVIEW, tuple(inside), at=own.written[0], requires=codemod.since
                )
            for call in wrapper.calls:
                yield from _keywords(site, call, outside, splats, REVIEW if inside else SAFE)
            continue
        inside_names = [(node, _old_name(node, table)) for node in (*own.written, *own.read)]
        for node, old in (*inside_names, *((c, _brought(source, c, outside, splats)) for c in wrapper.calls)):
            if old is not None:
                yield Manual(_NOT_ONLY.format(function=wrapper.name, old=old, new=table[old]), at=node)


def _brought(source: Source, call: ast.Call, table: dict[str, str], splats: set[ast.expr]) -> str | None:
    """The first old name that a call passes, as a keyword or by ``**``."""
    for keyword in call.keywords:
        if keyword.arg in table:
            return keyword.arg
        if keyword.arg is None:
            changes, blamed = _splat(source, keyword.value, table, splats)
            names = [source.utf8[c.start : c.end].decode() for c in changes if isinstance(c, ReplaceText)]
            if names or isinstance(blamed, ast.expr):
                return names[0] if names else _old_name(blamed, table) if isinstance(blamed, ast.expr) else None
    return None


def _written(source: Source, node: ast.expr, table: dict[str, str]) -> Iterator[Change]:
    """The renames in a key that a dict is given: ``d["key"]``, ``d.setdefault("key", ...)``, ``d.update(key=...)``."""
    if isinstance(node, ast.Subscript):
        yield from _string(source, node.slice, table)
    else:
        yield from (c for c in _method(source, node, table) if c is not None)


def _old_name(node: ast.AST, table: dict[str, str]) -> str | None:
    """The first old name that a piece of code mentions, as a keyword or a string."""
    for part in ast.walk(node):
        name = part.arg if isinstance(part, ast.keyword) else part.value if isinstance(part, ast.Constant) else None
        if isinstance(name, str) and name in table:
            return name
    return None


def _keywords(
    site: FileSite, call: ast.Call, table: dict[str, str], splats: set[ast.expr], applicability: Applicability = SAFE
) -> Iterator[Report]:
    source = site.source
    changes: list[Change] = []
    given = {k.arg for k in call.keywords}
    old = [k for k in call.keywords if k.arg in table]
    for keyword in old:
        assert keyword.arg is not None
        if table[keyword.arg] in given:
            yield Manual(f"both {keyword.arg} and {table[keyword.arg]} are given: drop the former", at=call)
            return
        changes.append(_renamed_keyword(source, keyword, table))
    unknown = False
    for keyword in call.keywords:
        if keyword.arg is None:
            more, problem = _splat(source, keyword.value, table, splats)
            changes += more
            unknown |= problem is not None and bool(old)
            if problem is not None and not isinstance(problem, str):
                yield Manual(_SHARED_DICT, at=problem)
    if changes:
        names = ", ".join(sorted({table[n] for n in table if _mentions(source, call, changes, n)}))
        message = f"spelled {names} since JAX 0.4.4" if names else "the shardings have new names since JAX 0.4.4"
        if not site.target_has("0.4.4"):
            message += "; no one spelling serves the target and the newest JAX"
        if unknown:
            message += "; what ** brings at run time may hold old names too"
        yield Rewrite(message, REVIEW if unknown else applicability, tuple(changes), at=call, requires=codemod.since)


def _mentions(source: Source, call: ast.Call, changes: Iterable[Change], old: str) -> bool:
    return any(isinstance(c, ReplaceText) and source.utf8[c.start : c.end].decode() == old for c in changes)


def _renamed_keyword(source: Source, keyword: ast.keyword, table: dict[str, str]) -> ReplaceText:
    assert keyword.arg is not None
    start = source.offset(keyword.lineno, keyword.col_offset)
    return ReplaceText(start, start + len(keyword.arg), table[keyword.arg])


def _splat(
    source: Source, value: ast.expr, table: dict[str, str], splats: set[ast.expr]
) -> tuple[list[Change], ast.expr | str | None]:
    """The renames inside a splatted dict; and why it may hold more (a text), or the dict that cannot be changed (a node)."""
    if not isinstance(value, ast.Name):
        changes = list(_dict_keys(source, value, table))
        return changes, None if changes or isinstance(value, (ast.Dict, ast.Call)) else "unknown"
    definitions = [b.value for b in source.lookup(value.id, source.scope(value))[0]]
    renames = [c for d in definitions if d is not None for c in _dict_keys(source, d, table)]
    behind = source.definition(value)
    if behind is None:
        blamed = next((d for d in definitions if d is not None and list(_dict_keys(source, d, table))), None)
        return [], blamed or "unknown"
    touched = list(_other_uses(source, value, table, splats))
    if None in touched:
        return [], behind if renames else "unknown"
    return [*renames, *(c for c in touched if c is not None)], None if isinstance(behind, (ast.Dict, ast.Call)) else "unknown"


def _dict_keys(source: Source, value: ast.expr, table: dict[str, str]) -> Iterator[Change]:
    """The old names among the keys of a dict literal or ``dict(...)``."""
    if isinstance(value, ast.Dict):
        for key in value.keys:
            yield from _string(source, key, table)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        yield from (_renamed_keyword(source, k, table) for k in value.keywords if k.arg in table)


def _string(source: Source, node: ast.AST | None, table: dict[str, str]) -> Iterator[ReplaceText]:
    """The rename of a plain string constant, its quotes kept."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in table:
        start = source.span(node)[0]
        text = source.segment(node)
        at = text.find(node.value)
        if at > 0 and len(text) == at + len(node.value) + at - len(text[:at].rstrip("\"'")):
            yield ReplaceText(start + at, start + at + len(node.value), table[node.value])


def _other_uses(source: Source, name: ast.Name, table: dict[str, str], splats: set[ast.expr]) -> Iterator[Change | None]:
    """Renames where the dict is indexed or updated; None for a use that could see its keys."""
    scope = source.lookup(name.id, source.scope(name))[1]
    shared = scope is source.scope_root and name.id in source.index.consumed.get(source.module, ())
    if shared:
        yield None
    for node in source.by_id.get(name.id, ()):
        if not isinstance(node.ctx, ast.Load) or source.lookup(node.id, source.scope(node))[1] is not scope or node in splats:
            continue
        parent = source.parent(node)
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.slice, ast.Constant):
            yield from _string(source, parent.slice, table)
        elif isinstance(parent, ast.Attribute) and parent.attr in ("update", "setdefault", "pop", "get"):
            yield from _method(source, source.parent(parent), table)
        else:
            yield None


def _method(source: Source, call: ast.AST | None, table: dict[str, str]) -> Iterator[Change | None]:
    if not isinstance(call, ast.Call):
        yield None
        return
    yield from (_renamed_keyword(source, k, table) for k in call.keywords if k.arg in table)
    for argument in call.args[:1]:
        yield from itertools.chain(_string(source, argument, table), _dict_keys(source, argument, table))


def _positional(site: FileSite, use: Pjit) -> Iterator[Report]:
    """Positional arguments after the second sharding, whose meaning changed twice."""
    source = site.source
    positional = use.positional()
    call = use.call
    if call is None or len(positional) < 3 or any(isinstance(a, ast.Starred) for a in positional):
        return
    kinds = [_kind(source, a) for a in positional]
    names = _names(kinds[2:])
    if names is None:
        number = next((i for i, kind in enumerate(kinds) if i >= 2 and kind == ""), 2) + 1
        yield Manual(_UNDECIDED.format(number=_ORDINALS.get(number, "last")), at=call)
        return
    if names[:1] == _FROM_0_4_4[:1]:
        if kinds[:2] != ["unspecified", "unspecified"]:
            yield Manual("shardings are given twice by position: keep one of the two by its keyword", at=call)
            return
        edit = EditCall(call, drop=frozenset({1, 2}), to_keyword={i + 3: n for i, n in enumerate(names)})
        yield Rewrite(_OLD_POSITIONS, SAFE, (edit,), at=call, requires=codemod.since)
        return
    if site.is_older_than("0.4.14") and not site.is_older_than("0.4.4"):
        yield Manual(_OTHER_RELEASE.format(origin=site.settings.origin, name=names[0]), at=call)
        return
    edit = EditCall(call, to_keyword={i + 3: n for i, n in enumerate(names)})
    yield Rewrite(_NEW_POSITION.format(name=names[0]), SAFE, (edit,), at=call)


def _names(kinds: list[str]) -> tuple[str, ...] | None:
    """The keywords of the arguments from the fourth on, where their kinds leave one reading."""
    expected = {"static_argnums": "ints", "donate_argnums": "ints", "static_argnames": "strings", "in_shardings": "specs",
                "out_shardings": "specs"}  # fmt: skip
    readings = {
        row[: len(kinds)]
        for row in (_UNTIL_0_4_3, _FROM_0_4_2, _FROM_0_4_4)
        if len(kinds) <= len(row) and all(expected[n] == k for n, k in zip(row, kinds, strict=False))
    }
    return readings.pop() if len(readings) == 1 else None


def _kind(source: Source, node: ast.expr) -> str:
    """``ints``, ``strings``, ``specs`` or ``unspecified``; empty where it could be any."""
    if source.resolve(node) in UNSPECIFIED:
        return "unspecified"
    node = source.value_of(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and (source.resolve(part.func) or "") in SPECS | SHARDINGS:
            return "specs"
    elements = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    types = {type(e.value) for e in elements if isinstance(e, ast.Constant)}
    if len(types) == 1 and all(isinstance(e, ast.Constant) for e in elements):
        return {int: "ints", str: "strings"}.get(types.pop(), "")
    return ""
