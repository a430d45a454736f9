"""What becomes of the name GlobalDeviceArray itself, use by use."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, KeepBlock, NameSite, Piece, Reports, Rewrite
from jaxmigrate_codemods import _gda

_CONSTRUCTORS = frozenset({"from_callback", "from_batched_callback", "from_batched_callback_with_devices"})
_KEPT = {
    "base-class": "nothing can subclass jax.Array: hold an array instead of being one",
    "dict-key": "a dict key: look-ups by type(x) find the private class of an array, never jax.Array; test with isinstance",
}
_MEMBERS = frozenset({"getmembers", "getattr", "hasattr", "setattr", "vars", "dir", "create_autospec"})
_FAMILY = frozenset({"Array", "DeviceArray", "ShardedDeviceArray"})
_NEW = ("jax.Array", "jax.experimental.array.Array")
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
    if site.direct and _is_leaf_test(site, call):
        return Rewrite("this leaf test may find every jax.Array: they are leaves anyway", SAFE, ())
    if site.direct and _is_beside_array(site, call):
        return Rewrite("jax.Array is among these types already", SAFE, ())
    other = _own_test(site, call)
    if other is not None and (report := _without(site, call, other)):
        return report
    if site.option(_OPTION, "jax-array") == "multiprocess":
        return _spans_processes(site, call)
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


def _is_beside_array(site: NameSite, call: ast.Call) -> bool:
    kinds = call.args[1]
    names = [site.source.resolve(e) for e in kinds.elts] if isinstance(kinds, ast.Tuple) else []
    return "jax.Array" in names or "jax.numpy.ndarray" in names


def _own_test(site: NameSite, call: ast.Call) -> ast.Call | None:
    """A test of the same value for jax.Array in the same function: then code for GDAs is code for what no longer exists."""
    source, subject = site.source, ast.dump(call.args[0])
    if call.args[1] is not site.node:
        return None
    for node in source.by_id.get("isinstance", ()):
        other = source.parent(node)
        if not (isinstance(other, ast.Call) and other.func is node and len(other.args) == 2) or other is call:
            continue
        same = source.function(other) is source.function(call) and ast.dump(other.args[0]) == subject
        kinds = other.args[1].elts if isinstance(other.args[1], ast.Tuple) else [other.args[1]]
        known = any(source.resolve(k) in _NEW for k in kinds) and not isinstance(source.statement(other), ast.Assert)
        if same and known and not _is_guarded_by(site, other, call):
            return other
    return None


def _is_guarded_by(site: NameSite, inner: ast.Call, test: ast.Call) -> bool:
    """Whether `inner` stands in the arm that `test` opens, or in the same condition behind it."""
    around = list(site.source.ancestors(inner))
    for parent in site.source.ancestors(test):
        if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and parent in around:
            return True
        if isinstance(parent, ast.If):
            return any(statement in around for statement in parent.body)
    return False


def _without(site: NameSite, call: ast.Call, other: ast.Call) -> Reports:
    """Take out the arm for GDAs: ``isinstance(x, GDA)`` is false for every value there is."""
    message = f"no value is a GlobalDeviceArray any more, and jax.Array has its own test in line {other.lineno}: {{}}"
    test, parent = _false_part(site, call)
    if isinstance(parent, ast.If) and parent.test is test:
        return Rewrite(message.format("this arm goes"), REVIEW, (KeepBlock(parent, "orelse"),))
    if isinstance(parent, ast.IfExp) and parent.test is test:
        return Rewrite(message.format("the other value stays"), REVIEW, (site.replace("{rest}", parent, rest=parent.orelse),))
    if isinstance(parent, ast.BoolOp):
        pieces: dict[str, Piece] = {f"part{n}": value for n, value in enumerate(parent.values) if value is not test}
        rest = " or ".join(f"({{{name}}})" if _is_loose(piece) else f"{{{name}}}" for name, piece in pieces.items())
        return Rewrite(message.format("this test goes"), REVIEW, (site.replace(rest, parent, **pieces),))
    return None


def _false_part(site: NameSite, call: ast.Call) -> tuple[ast.expr, ast.AST | None]:
    """The largest expression that is false because `call` is, and what is around it."""
    part: ast.expr = call
    parent = site.source.parent(part)
    while isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
        part, parent = parent, site.source.parent(parent)
    return part, parent


def _is_loose(piece: Piece) -> bool:
    return isinstance(piece, (ast.IfExp, ast.Lambda, ast.NamedExpr))


def _shadowed(site: NameSite, call: ast.Call) -> str:
    """A warning for an if-chain in which an arm takes everything from a later one."""
    source = site.source
    arm = next((a for a in source.ancestors(call) if isinstance(a, ast.If)), None)
    if arm is None or call not in ast.walk(arm.test):
        return ""
    for other in _arms(site, arm):
        names = (source.resolve(n) or "" for n in ast.walk(other.test) if isinstance(n, (ast.Name, ast.Attribute)))
        if any(name.rpartition(".")[2] in _FAMILY for name in names):
            before = other.lineno < arm.lineno
            line = other.test.lineno
            return (
                f", and the test in line {line} takes them all before" if before else f", the ones meant for line {line} included"
            )
    return ""


def _arms(site: NameSite, arm: ast.If) -> list[ast.If]:
    """The other arms of the chain."""
    top = arm
    while isinstance(parent := site.source.parent(top), ast.If) and top in parent.orelse and len(parent.orelse) == 1:
        top = parent
    arms = [top]
    while len(arms[-1].orelse) == 1 and isinstance(following := arms[-1].orelse[0], ast.If):
        arms.append(following)
    return [other for other in arms if other is not arm]


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
