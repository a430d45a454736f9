"""What becomes of the name GlobalDeviceArray itself, use by use."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, NameSite, Piece, Reports, Rewrite
from jaxmigrate_codemods import _gda

_CONSTRUCTORS = frozenset({"from_callback", "from_batched_callback", "from_batched_callback_with_devices"})
_KEPT = {
    "base-class": "nothing can subclass jax.Array: hold an array instead of being one",
    "dict-key": "a dict key: look-ups by type(x) find the private class of an array, never jax.Array; test with isinstance",
}
_MEMBERS = frozenset({"getmembers", "getattr", "hasattr", "setattr", "vars", "dir", "create_autospec"})
_FAMILY = frozenset({"Array", "DeviceArray", "ShardedDeviceArray"})
_OPTION = "global-device-array.isinstance"


def use_of_class(site: NameSite) -> Reports:
    """What becomes of one use of the class; constructors are handled as calls."""
    role = site.role
    if role == "call" or _gda.is_bound_by_partial(site):
        return ()
    if role == "attribute":
        parent = site.parent()
        known = isinstance(parent, ast.Attribute) and parent.attr in _CONSTRUCTORS
        return () if known else site.manual(f"{site.text(parent)}: jax.Array is abstract and has nothing to take from it")
    if role in _KEPT:
        return site.manual(_KEPT[role])
    if role == "issubclass":
        return _review(site, "is true for every array class of JAX")
    handler = {"isinstance": _isinstance, "type-compare": _type_compare, "register": _register, "value": _value}.get(role)
    return handler(site) if handler else None


def _review(site: NameSite, what: str) -> Reports:
    """The default rename, to be looked at."""
    return Rewrite(f"with jax.Array this {what}", REVIEW, ()) if site.direct else None


# -- isinstance ---------------------------------------------------------------------------------------------------------------


def _isinstance(site: NameSite) -> Reports:
    call = _call_around(site)
    if call is None:
        return _review(site, "is true for every array")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "assertNotIsInstance":
        return site.manual("every array of JAX is a jax.Array now, so this assertion would fail: test what tells them apart")
    if site.option(_OPTION, "jax-array") == "multiprocess":
        return _spans_processes(site, call)
    if site.direct and _is_leaf_test(site, call):
        return Rewrite("this leaf test may find every jax.Array: they are leaves anyway", SAFE, ())
    evidence = site.may_be_traced()
    tracers = f" and for tracers ({evidence})" if evidence else ", tracers included"
    advice = f"to find only arrays that span processes, set the option {_OPTION} to multiprocess"
    return _review(site, f"test is true for every array{tracers}{_shadowed(site, call)}; {advice}")


def _call_around(site: NameSite) -> ast.Call | None:
    parent = site.parent()
    while isinstance(parent, (ast.Tuple, ast.BinOp)):
        parent = site.source.parent(parent)
    return parent if isinstance(parent, ast.Call) else None


def _is_leaf_test(site: NameSite, call: ast.Call) -> bool:
    """Whether this is the body of a leaf predicate: ``is_leaf=lambda x: isinstance(x, GDA)``."""
    function = site.source.function(call)
    if not (isinstance(function, ast.Lambda) and function.body is call):
        return False
    keyword = site.source.parent(function)
    return isinstance(keyword, ast.keyword) and keyword.arg == "is_leaf"


def _shadowed(site: NameSite, call: ast.Call) -> str:
    """A warning for the arm of an if-chain that an earlier arm now takes everything from."""
    source = site.source
    node = next((a for a in source.ancestors(call) if isinstance(a, ast.If)), None)
    while node is not None:
        parent = source.parent(node)
        if not (isinstance(parent, ast.If) and node in parent.orelse):
            return ""
        names = (source.resolve(n) or "" for n in ast.walk(parent.test) if isinstance(n, (ast.Name, ast.Attribute)))
        if any(name.rpartition(".")[2] in _FAMILY for name in names):
            return f", and the test in line {parent.lineno} takes them all before"
        node = parent
    return ""


def _spans_processes(site: NameSite, call: ast.Call) -> Reports:
    """``isinstance(x, GDA)`` for multi-process arrays only."""
    subject, kinds = call.args[0], call.args[1]
    if not (isinstance(call.func, ast.Name) and site.source.is_pure(subject)):
        return site.manual("bind the tested value to a name first: isinstance and is_fully_addressable both have to look at it")
    if kinds is not site.node and not isinstance(kinds, ast.Tuple):
        return site.manual("test apart from these types: isinstance(x, jax.Array) and not x.is_fully_addressable")
    others = [e for e in kinds.elts if e is not site.node] if isinstance(kinds, ast.Tuple) else []
    pieces: dict[str, Piece] = {f"kind{number}": element for number, element in enumerate(others)}
    holes = ", ".join(f"{{{name}}}" for name in pieces)
    text = "isinstance({x}, {jax.Array}) and not {x}.is_fully_addressable"
    if others:
        text = f"isinstance({{x}}, {holes if len(others) == 1 else f'({holes})'}) or ({text})"
    evidence = site.may_be_traced()
    message = "this tests for arrays that span processes, as the option multiprocess asks; those of one process were GDAs too"
    message += f"; on a tracer it raises ({evidence})" if evidence else ""
    return Rewrite(message, REVIEW, (site.replace(text, call, x=subject, **pieces),))


# -- the rest -----------------------------------------------------------------------------------------------------------------


def _type_compare(site: NameSite) -> Reports:
    """``type(x) is GDA``: the concrete class of arrays is private."""
    compare = site.parent()
    if not (isinstance(compare, ast.Compare) and len(compare.ops) == 1 and not isinstance(compare.ops[0], (ast.In, ast.NotIn))):
        return site.manual("type(x) is never jax.Array, whose concrete class is private: test with isinstance(x, jax.Array)")
    other = compare.left if compare.comparators[0] is site.node else compare.comparators[0]
    subject = other.args[0] if isinstance(other, ast.Call) else other.value if isinstance(other, ast.Attribute) else other
    negated = isinstance(compare.ops[0], (ast.IsNot, ast.NotEq))
    new = site.replace(f"{'not ' if negated else ''}isinstance({{x}}, {{jax.Array}})", compare, x=subject)
    return Rewrite("type(x) is never jax.Array: this tests with isinstance, so for every array", REVIEW, (new,))


def _register(site: NameSite) -> Reports:
    call = _call_around(site)
    name = call.func.attr if call is not None and isinstance(call.func, ast.Attribute) else ""
    if "pytree" in name:
        return site.manual("a pytree registration: arrays are leaves of JAX itself, so take the registration out")
    if call is not None and _registers_another(site, call):
        return site.manual("another handler is registered for an array class: both are jax.Array now, so one has to do both")
    return _review(site, "handler gets every array (no tracers)")


def _registers_another(site: NameSite, call: ast.Call) -> bool:
    """Whether the same function has a handler for another class that becomes jax.Array."""
    receiver = ast.dump(call.func)
    for other in ast.walk(site.source.tree):
        if isinstance(other, ast.Call) and other is not call and other.args and ast.dump(other.func) == receiver:
            name = site.source.resolve(other.args[0]) or ""
            if name.rpartition(".")[2] in _FAMILY:
                return True
    return False


def _value(site: NameSite) -> Reports:
    call = site.parent()
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    if name in _MEMBERS:
        return site.manual(f"{name} looks into the class, and jax.Array is an abstract one with other members")
    return _review(site, "value stands for every array class")
