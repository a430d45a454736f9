"""`DeviceArray`, in all its homes, becomes `jax.Array`, the one class of arrays since JAX 0.4.1.

JAX's words: https://docs.jax.dev/en/latest/jax_array_migration.html#new-public-type-named-jax-array

`jax.Array` is abstract. Tracers are instances of it (they were none of `DeviceArray`), no value has exactly that type, and its
methods cannot be called on the class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, Change, Codemod, Manual, NameSite, Reports, Rewrite, StringSite
from jaxmigrate_codemods._arrays import (
    ALL_ARRAYS,
    ARRAY,
    DEVICE_ARRAYS,
    DEVICES,
    classes_text,
    container,
    elements,
    line,
    traced,
    typed,
)
from jaxmigrate_codemods._beside_array import key_yields_to_array, tracers_arm, yields_to_array

if TYPE_CHECKING:
    from jaxmigrate.names import Source

_TYPES = "jax._src.device_array.device_array_types"
_EXACT = "no array has exactly the type jax.Array (their class is private), so the test became isinstance, also True for tracers"
_ABSTRACT = (
    "the methods of jax.Array itself cannot be called, it is abstract; the class that arrays really have is asked of one, "
    "which starts JAX's backend where the expression runs"
)
_CONCRETE = "type({jax.numpy.zeros}(()))"
_ASSERTIONS = {
    "assertEqual": "assertIsInstance",
    "assertEquals": "assertIsInstance",
    "assertIs": "assertIsInstance",
    "assertIsNot": "assertNotIsInstance",
    "assertNotEqual": "assertNotIsInstance",
}
_WIDER = "isinstance with jax.Array is also True for tracers, with DeviceArray it was False"
_NAMED = "the class of arrays is called ArrayImpl now: use isinstance(x, jax.Array)"
_PATCHED = "attributes set on jax.Array do not reach all arrays: patch the function that uses them instead"

codemod = Codemod(
    "device-array",
    summary="DeviceArray and its whole family become jax.Array",
    since="0.3.18",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset(name.rpartition(".")[2] for name in DEVICE_ARRAYS | DEVICES) | {"device_array_types"},
    applicability=REVIEW,
)


def _array(site: NameSite) -> Reports:
    """Decide one use of the class by its role."""
    handler = _ROLES.get(site.role)
    if handler is not None:
        return handler(site)
    return None


def _tested(site: NameSite) -> Reports:
    """``isinstance(x, DeviceArray)``: wider now, which matters where tracers come by."""
    if not site.direct:
        return None
    dead: Reports = yields_to_array(site)
    if dead:
        return dead
    reason = traced(site) or tracers_arm(site)
    call = next((a for a in site.source.ancestors(site.node) if isinstance(a, ast.Call)), None)
    if not reason and call is not None and site.text(call.func).endswith("assertNotIsInstance"):
        reason = "so the assertion fails if the value is one"
    negation = site.source.parent(call) if call is not None else None
    if not reason and isinstance(negation, ast.UnaryOp) and isinstance(negation.op, ast.Not):
        reason = "so the negated test no longer holds for them"
    if not reason:
        return None
    return Rewrite(f"{_WIDER}; {reason}", REVIEW, ())


def _of_class(site: NameSite) -> Reports:
    """``issubclass(t, DeviceArray)``: no tracer class is a subclass of either."""
    dead: Reports = yields_to_array(site) if site.direct else None
    return dead


def _defined(site: NameSite) -> Reports:
    """A tuple of classes by name: what holds for isinstance holds for it. A plain alias or a Union names a type."""
    whole = container(site.source, site.node)
    if whole is not site.node:
        return None if isinstance(site.source.parent(whole), ast.Subscript) else _tested(site)
    statement = site.parent()
    names = [t for t in statement.targets if isinstance(t, ast.Name)] if isinstance(statement, ast.Assign) else []
    for use in (n for name in names for n in site.source.by_id.get(name.id, ()) if isinstance(n.ctx, ast.Load)):
        if site.source.role(use) == "isinstance" and (reason := site.source.tracing_evidence(use)):
            return Rewrite(f"{_WIDER}; {reason} (line {line(site.source, use)})", REVIEW, ())
    return None


def _registered(site: NameSite) -> Reports:
    """``singledispatch.register``: tracers dispatch as before, since 0.8.2 no tracer class is a subclass of jax.Array."""
    parent = site.parent()
    leaf = parent.func.attr if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) else "register"
    if leaf != "register":
        return site.manual(f"{leaf} goes by the exact class, which is private today; JAX treats arrays as leaves itself")
    if _registers_array(site):
        return site.manual("the same dispatcher registers jax.Array, which is for all arrays now: take this registration out")
    if site.target_has("0.8.2"):
        return None
    return Rewrite("before JAX 0.8.2 tracers dispatch on jax.Array too, which they did not on DeviceArray", REVIEW, ())


def _registers_array(site: NameSite) -> bool:
    """Whether another function is registered for jax.Array on the same dispatcher."""
    source, here = site.source, site.parent()
    dispatcher = source.segment(here.func) if isinstance(here, ast.Call) else ""
    for node in source.names(ARRAY):
        call = source.parent(node)
        if isinstance(call, ast.Call) and source.role(node) == "register" and source.segment(call.func) == dispatcher:
            return source.parent(call) is not source.parent(here) if here is not None else True
    return False


def _subclassed(site: NameSite) -> Reports:
    """``class X(DeviceArray)``."""
    return site.manual(
        "a subclass of the array class: JAX functions do not take one; hold an array and define __jax_array__ instead"
    )


def _constructed(site: NameSite) -> Reports:
    """``DeviceArray(aval, device, buffer)``."""
    return site.manual("jax.Array has no constructor: use jax.numpy.asarray, or jax.device_put(value, device)")


def _member(site: NameSite) -> Reports:
    """``DeviceArray.method``: found on the class that arrays really have."""
    attribute = site.parent()
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return site.manual(_PATCHED)
    if attribute.attr in ("from_pyval", "make"):
        return _constructed(site)
    return Rewrite(_ABSTRACT, REVIEW, (site.replace(_CONCRETE),))


def _passed(site: NameSite) -> Reports:
    """The class as an argument: getattr and patching look inside it."""
    call = site.parent()
    if isinstance(call, ast.MatchClass):
        return _tested(site)
    if not isinstance(call, ast.Call):
        return None
    if any(typed(a) is not None for a in call.args):
        return _compared_by_call(site, call)
    if call.args[:1] != [site.node]:
        return None
    if site.source.resolve(call.func) == "copyreg.pickle":
        return site.manual("copyreg goes by the exact class, which is private today; arrays pickle by themselves")
    called = site.source.segment(call.func).rpartition(".")[2]
    if called in ("setattr", "delattr", "object"):
        return site.manual(_PATCHED)
    if called in ("getattr", "hasattr", "getmembers", "dir", "vars"):
        return Rewrite(_ABSTRACT, REVIEW, (site.replace(_CONCRETE),))
    return None


def _compared(site: NameSite) -> Reports:
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
    return _as_isinstance(site, compare, value, [e for e in elements(classes) if e not in arrays], source.segment(classes)[:1])


def _compared_by_call(site: NameSite, call: ast.Call) -> Reports:
    """``self.assertIs(type(x), DeviceArray)``, ``operator.eq(type(x), DeviceArray)``."""
    values = [v for a in call.args[:2] if (v := typed(a)) is not None]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    asserted = _ASSERTIONS.get(name)
    if asserted is None or len(values) != 1 or len(call.args) > 3 or call.keywords or not isinstance(call.func, ast.Attribute):
        return site.manual("no array has exactly the type jax.Array (their class is private): test isinstance instead")
    pieces = {"owner": call.func.value, "value": values[0]} | ({"text": call.args[2]} if len(call.args) == 3 else {})
    template = f"{{owner}}.{asserted}({{value}}, {{{ARRAY}}}{', {text}' if 'text' in pieces else ''})"
    return Rewrite(_EXACT, REVIEW, (site.replace(template, call, **pieces),))


def _as_isinstance(site: NameSite, compare: ast.Compare, value: ast.expr, others: list[ast.expr], bracket: str) -> Reports:
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


def _keyed(site: NameSite) -> Reports:
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


_ROLES = {
    "isinstance": _tested,
    "issubclass": _of_class,
    "alias": _defined,
    "register": _registered,
    "base-class": _subclassed,
    "call": _constructed,
    "attribute": _member,
    "value": _passed,
    "type-compare": _compared,
    "dict-key": _keyed,
}

codemod.gone = {"jax._src.device_array": "there is one class of arrays, jax.Array"}
codemod.rename(dict.fromkeys(sorted(DEVICE_ARRAYS), ARRAY), handler=_array)
codemod.rename(dict.fromkeys(sorted(DEVICES), "jax.Device"))


@codemod.name_(_TYPES)
def device_array_types(site: NameSite) -> Reports:
    """The private list of array classes: only asking whether it holds a value's class can be rewritten."""
    parent = site.parent()
    if isinstance(parent, ast.Call) and site.text(parent.func) == "tuple":
        outer = site.source.parent(parent)
        if isinstance(outer, ast.Call) and site.text(outer.func) in ("isinstance", "issubclass") and parent in outer.args:
            reason = traced(site)
            tracers = f", which is also True for tracers; {reason}" if reason else ""
            return Rewrite(f"the one array class is {ARRAY}{tracers}", REVIEW, (site.replace(f"{{{ARRAY}}}", parent),))
    if isinstance(parent, ast.Compare) and parent.comparators == [site.node] and (value := typed(parent.left)) is not None:
        return _as_isinstance(site, parent, value, [], "(")
    return site.manual(f"the list of array classes is gone: there is one, {ARRAY}, and the class of a value is private")


@codemod.string("DeviceArray", "_DeviceArray", "ShardedDeviceArray")
def class_name(site: StringSite) -> Reports:
    """A comparison with the *name* of a class (``type(x).__name__ == "DeviceArray"``) is reported; other strings are prose."""
    around = site.source.parent(container(site.source, site.node))
    asked: list[ast.expr] = []
    if isinstance(around, ast.Compare):
        asked = [around.left, *around.comparators]
    elif isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute):
        asked = [around.func.value]  # type(x).__name__.endswith("DeviceArray")
    return Manual(_NAMED) if any(_asks_name(part) for part in asked) else None


def _asks_name(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("__name__", "__qualname__")
    return (
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("str", "repr")
        and bool(node.args)
        and typed(node.args[0]) is not None
    )
