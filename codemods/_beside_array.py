"""Where a program tests for `jax.Array` beside the old class: arrays take that row or arm today, so the old one goes."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, DeleteStatement, KeepBlock, ReplaceText, Rewrite
from jaxmigrate_codemods._arrays import ALL_ARRAYS, ARRAY, DEVICE_ARRAYS, classes_text, elements, is_spelled_array, line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxmigrate.codemod import NameSite, Reports
    from jaxmigrate.names import Source

_NDARRAY = "jax.numpy.ndarray"


def yields_to_array(site: NameSite) -> Reports:
    """The edit that makes room for a later row or arm for jax.Array; None where there is none."""
    return _row(site) or _arm(site)


def _message(kind: str, number: int) -> str:
    return f"jax.Array has {kind} of its own in line {number}, which is for all arrays now; this one goes"


def _holds_array(source: Source, node: ast.AST) -> bool:
    return any(is_spelled_array(source, n) for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute)))


def _row(site: NameSite) -> Reports:
    """``[(lambda t: issubclass(t, DeviceArray), f), (lambda t: issubclass(t, jax.Array), g)]``."""
    source = site.source
    child: ast.AST = site.node
    for ancestor in source.ancestors(site.node):
        if isinstance(ancestor, ast.stmt):
            return None
        if isinstance(ancestor, (ast.List, ast.Tuple)) and _is_row(source, child) and not _is_unpacked(source, ancestor):
            position = next(i for i, e in enumerate(ancestor.elts) if e is child)
            later = [e for e in ancestor.elts[position + 1 :] if type(e) is type(child) and _holds_array(source, e)]
            if later:
                start, end = source.span(child)[0], source.span(ancestor.elts[position + 1])[0]
                return Rewrite(_message("a row", line(source, later[0])), REVIEW, (ReplaceText(start, end, ""),))
        child = ancestor
    return None


def _is_row(source: Source, node: ast.AST) -> bool:
    """A tuple or a call with more in it than the test: what the test chooses."""
    if isinstance(node, ast.Call):
        return source.segment(node.func) not in ("isinstance", "issubclass") and len(node.args) + len(node.keywords) > 1
    return isinstance(node, ast.Tuple) and any(isinstance(e, (ast.Lambda, ast.Call)) for e in node.elts)


def _is_unpacked(source: Source, display: ast.List | ast.Tuple) -> bool:
    """``a, b = (..), (..)``: the number of rows counts."""
    statement = source.parent(display)
    return isinstance(statement, ast.Assign) and any(isinstance(t, (ast.Tuple, ast.List)) for t in statement.targets)


def key_yields_to_array(site: NameSite) -> Reports:
    """``{DeviceArray: f, jax.Array: g}`` and ``t[DeviceArray] = f; t[jax.Array] = g``: two keys become one."""
    for other, value, own in _equal_keys(site):
        is_array = is_spelled_array(site.source, other)
        if not is_array and ast.dump(value) != ast.dump(own):
            where = line(site.source, other)
            return site.manual(f"this class and the one in line {where} are both jax.Array now, and their rows differ: keep one")
        if not is_array and (other.lineno, other.col_offset) > (site.node.lineno, site.node.col_offset):
            continue  # of two old classes with one value the later one goes
        change = _without_row(site)
        return Rewrite(_message("a row", line(site.source, other)), REVIEW, (change,)) if change is not None else None
    return None


def _equal_keys(site: NameSite) -> Iterator[tuple[ast.expr, ast.expr, ast.expr]]:
    """Other keys of the same table that are jax.Array today, with the other's and the own value."""
    source, parent = site.source, site.parent()
    family = DEVICE_ARRAYS | {ARRAY}
    if isinstance(parent, ast.Dict):
        rows = [(k, v) for k, v in zip(parent.keys, parent.values, strict=True) if k is not None]
        own = next(v for k, v in rows if k is site.node)
        yield from ((k, v, own) for k, v in rows if k is not site.node and source.resolve(k) in family)
        return
    statement = source.parent(parent) if isinstance(parent, ast.Subscript) else None
    if not isinstance(parent, ast.Subscript) or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    table = source.segment(parent.value)
    for node in source.names(*family):
        key = source.parent(node)
        other = source.parent(key) if isinstance(key, ast.Subscript) and isinstance(key.ctx, ast.Store) else None
        if node is not site.node and isinstance(other, ast.Assign) and source.segment(key.value) == table:  # type: ignore[union-attr]
            yield node, other.value, statement.value


def _without_row(site: NameSite) -> ReplaceText | DeleteStatement | None:
    """The change that removes the row of which the site is the key."""
    source, parent = site.source, site.parent()
    if not isinstance(parent, ast.Dict):
        return DeleteStatement(source.statement(site.node))
    if None in parent.keys:
        return None
    position = next(i for i, k in enumerate(parent.keys) if k is site.node)
    following = parent.keys[position + 1] if position + 1 < len(parent.keys) else None
    if following is None and position == 0:
        return None
    start = source.span(site.node)[0] if following is not None else source.span(parent.values[position - 1])[1]
    end = source.span(following)[0] if following is not None else source.span(parent.values[position])[1]
    return ReplaceText(start, end, "")


def _arm(site: NameSite) -> Reports:
    """``if isinstance(x, DeviceArray): .. elif isinstance(x, jax.Array): ..``."""
    found = _tested(site)
    if found is None:
        return None
    call, arm = found
    other = next((o for o in _later(site.source, arm) if ARRAY in _classes(site.source, o.test, call.args[0])), None)
    if other is None:
        return None
    if arm.test is not call:
        return site.manual(
            f"jax.Array has an arm of its own in line {line(site.source, other.test)}: take this test out of the condition"
        )
    kept = [e for e in elements(call.args[1]) if site.source.resolve(e) not in ALL_ARRAYS]
    if kept:
        text, pieces = classes_text(site.source, kept)
        change = site.replace(text, call.args[1], **pieces)
        return Rewrite(_message("an arm", line(site.source, other.test)), REVIEW, (change,))
    return Rewrite(_message("an arm", line(site.source, other.test)), REVIEW, (KeepBlock(arm, "orelse"),))


def tracers_arm(site: NameSite) -> str:
    """Why a wider test matters: a later arm, for jnp.ndarray, was the one that tracers took."""
    found = _tested(site)
    for other in _later(site.source, found[1]) if found else ():
        if _NDARRAY in _classes(site.source, other.test, found[0].args[0] if found else other.test):
            return f"the arm for jnp.ndarray in line {line(site.source, other.test)} was theirs"
    return ""


def _tested(site: NameSite) -> tuple[ast.Call, ast.If] | None:
    """The isinstance call around the class, and the ``if`` in whose test it stands."""
    call: ast.Call | None = None
    child: ast.AST = site.node
    for ancestor in site.source.ancestors(site.node):
        if call is None and isinstance(ancestor, ast.Call):
            if getattr(ancestor.func, "id", "") != "isinstance" or len(ancestor.args) != 2:
                return None
            call = ancestor
        elif isinstance(ancestor, ast.If):
            return (call, ancestor) if call is not None and ancestor.test is child else None
        elif isinstance(ancestor, (ast.stmt, ast.Lambda)):
            return None
        child = ancestor
    return None


def _later(source: Source, arm: ast.If) -> Iterator[ast.If]:
    """The arms after `arm`: its elifs, or, where its body leaves, the ifs that follow it."""
    following = arm.orelse
    if not following and isinstance(arm.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)):
        block = next((b for b in _blocks(source.parent(arm)) if arm in b), [])
        following = block[block.index(arm) + 1 :] if block else []
        yield from (s for s in itertools.takewhile(lambda s: isinstance(s, ast.If), following) if isinstance(s, ast.If))
    elif len(following) == 1 and isinstance(following[0], ast.If):
        yield following[0]
        yield from _later(source, following[0])


def _blocks(node: ast.AST | None) -> list[list[ast.stmt]]:
    return [b for name in ("body", "orelse", "finalbody") if isinstance(b := getattr(node, name, None), list)]


def _classes(source: Source, test: ast.expr, value: ast.expr) -> set[str]:
    """What `value` is tested for in `test`."""
    wanted = ast.dump(value)
    calls = [
        n for n in ast.walk(test) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "isinstance" and len(n.args) == 2
    ]
    tested = [e for c in calls if ast.dump(c.args[0]) == wanted for e in elements(c.args[1])]
    return {n for e in tested if (n := source.resolve(e) or "") != ARRAY or is_spelled_array(source, e)}
