"""Where values are told apart by their exact class: ``type(x) is DeviceArray``, assertions about it, tables keyed by it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Change, NameSite, Reports, Rewrite
from jaxmigrate_codemods._arrays import ALL_ARRAYS, ARRAY, DEVICE_ARRAYS, classes_text, container, elements, typed
from jaxmigrate_codemods._beside_array import key_yields_to_array

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_EXACT = "no array has exactly the type jax.Array (their class is private), so the test became isinstance, also True for tracers"
_ASSERTIONS = {
    "assertEqual": "assertIsInstance",
    "assertEquals": "assertIsInstance",
    "assertIs": "assertIsInstance",
    "assertIsNot": "assertNotIsInstance",
    "assertNotEqual": "assertNotIsInstance",
}


def compared(site: NameSite) -> Reports:
    """``type(x) is/==/in DeviceArray``; one edit for a whole tuple, whichever of its classes asks for it."""
    source = site.source
    classes = container(source, site.node)
    compare = source.parent(classes)
    if not isinstance(compare, ast.Compare) or len(compare.ops) != 1:
        return site.manual("no array has exactly the type jax.Array: use isinstance")
    arrays = [e for e in elements(classes) if source.resolve(e) in ALL_ARRAYS]
    value = typed(compare.left if compare.left is not classes else compare.comparators[0])
    if value is None:
        return site.manual("no array has exactly the type jax.Array: use isinstance")
    return as_isinstance(site, compare, value, [e for e in elements(classes) if e not in arrays], source.segment(classes)[:1])


def compared_by_call(site: NameSite, call: ast.Call) -> Reports:
    """``self.assertIs(type(x), DeviceArray)``, ``operator.eq(type(x), DeviceArray)``."""
    values = [v for a in call.args[:2] if (v := typed(a)) is not None]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    asserted = _ASSERTIONS.get(name)
    if asserted is None or len(values) != 1 or len(call.args) > 3 or call.keywords or not isinstance(call.func, ast.Attribute):
        return site.manual("no array has exactly the type jax.Array (their class is private): test isinstance instead")
    pieces = {"owner": call.func.value, "value": values[0]} | ({"text": call.args[2]} if len(call.args) == 3 else {})
    template = f"{{owner}}.{asserted}({{value}}, {{{ARRAY}}}{', {text}' if 'text' in pieces else ''})"
    return Rewrite(_EXACT, REVIEW, (site.replace(template, call, **pieces),))


def as_isinstance(site: NameSite, compare: ast.Compare, value: ast.expr, others: list[ast.expr], bracket: str) -> Reports:
    """Rewrite the comparison; other classes stay exact unless a subclass of theirs is as good (NumPy's array, JAX's own)."""
    source = site.source
    negative = isinstance(compare.ops[0], (ast.IsNot, ast.NotEq, ast.NotIn))
    joins = all((source.resolve(o) or "") in ("numpy.ndarray",) or (source.resolve(o) or "").startswith("jax.") for o in others)
    if not others or joins:
        text, pieces = classes_text(source, others)
        classes = f"({text.strip('()')}, {{{ARRAY}}})" if others else f"{{{ARRAY}}}"
        test = f"isinstance({{value}}, {classes})"
        also = f", and for subclasses of {' and '.join(source.segment(o) for o in others)}" if others else ""
        template = f"not {test}" if negative else test
    else:
        if not source.is_pure(value):
            return site.manual(f"no array has exactly the type jax.Array: test isinstance(x, {ARRAY}) beside the other classes")
        names = {f"class{i}": o for i, o in enumerate(others)}
        pieces, also = names, ""
        exact = f"type({{value}}) in {_brackets(bracket, [f'{{{n}}}' for n in names])}"
        test = f"{exact} or isinstance({{value}}, {{{ARRAY}}})"
        template = f"not ({test})" if negative else test
    change = site.replace(template, compare, value=value, **pieces)
    return Rewrite(_EXACT + also, REVIEW, (change,))


def _brackets(bracket: str, items: list[str]) -> str:
    inner = ", ".join(items)
    if bracket == "[":
        return f"[{inner}]"
    if bracket == "{":
        return f"{{{{{inner}}}}}"
    return f"({inner},)" if len(items) == 1 else f"({inner})"


def keyed(site: NameSite) -> Reports:
    """A key of a table: lookups by ``type(x)`` in the same file are taught to find it."""
    source = site.source
    table = _table(source, site.node)
    if table is not None and (source.resolve(table) or "").partition(".")[0] in ("jax", "jaxlib"):
        return site.manual("JAX's own table of array classes: JAX fills it itself, and the class of arrays is private")
    dead: Reports = key_yields_to_array(site)
    if dead:
        return dead
    lookups = _lookups(source, table) if table is not None else []
    values = [v for v in (typed(node) for node in lookups) if v is not None]
    if not all(source.is_pure(v) for v in values):
        return site.manual(
            "the table is looked up by type(x), which is never jax.Array: look up jax.Array where isinstance(x, jax.Array)"
        )
    if not lookups:
        return Rewrite("as a key, jax.Array is found by isinstance or issubclass, never by a lookup of type(x)", REVIEW, ())
    if _first_key(source, table) is not site.node:
        return None
    find = f"{{{ARRAY}}} if isinstance({{value}}, {{{ARRAY}}}) else {{found}}"
    changes: list[Change] = [site.replace(f"{{{ARRAY}}}")]
    changes += [site.replace(find, node, value=value, found=node) for node, value in zip(lookups, values, strict=True)]
    message = (
        "the table is looked up by type(x), which is never jax.Array: the lookups ask isinstance first, also True for tracers"
    )
    return Rewrite(message, REVIEW, tuple(changes))


def _table(source: Source, key: ast.expr) -> ast.expr | None:
    """The expression that names the table in which `key` is a key."""
    parent = source.parent(key)
    if isinstance(parent, ast.Subscript):
        return parent.value
    owner = source.parent(parent) if isinstance(parent, ast.Dict) else None
    if isinstance(owner, ast.Assign) and len(owner.targets) == 1:
        return owner.targets[0]
    return owner.target if isinstance(owner, ast.AnnAssign) else None


def _lookups(source: Source, table: ast.expr | None) -> list[ast.expr]:
    """The ``type(x)`` of ``table[type(x)]``, ``table.get(type(x))`` and ``type(x) in table``."""
    wanted = source.segment(table) if table is not None else ""
    found: list[ast.expr] = []
    calls = [p for n in source.by_id.get("type", ()) if isinstance(p := source.parent(n), ast.Call) and typed(p) is not None]
    for node in (*calls, *source.by_attribute.get("__class__", ())):
        parent = source.parent(node)
        if isinstance(parent, ast.Subscript) and parent.slice is node:
            owner: ast.expr | None = parent.value
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.args[:1] == [node]:
            owner = parent.func.value
        elif isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.In, ast.NotIn)) and len(parent.ops) == 1:
            owner = parent.comparators[0]
        else:
            continue
        if owner is not None and source.segment(owner) == wanted:
            found.append(node)
    return found


def _first_key(source: Source, table: ast.expr | None) -> ast.expr | None:
    """The first old array class that is a key of this table."""
    wanted = source.segment(table) if table is not None else ""
    keys = [n for n in source.names(*DEVICE_ARRAYS) if source.role(n) == "dict-key"]
    same = [k for k in keys if (t := _table(source, k)) is not None and source.segment(t) == wanted]
    return min(same, key=lambda n: (n.lineno, n.col_offset), default=None)
