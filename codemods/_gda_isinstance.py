"""What becomes of ``isinstance(x, GlobalDeviceArray)``: a test for every array, for those that span processes, or none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import REVIEW, SAFE, DeleteStatement, KeepBlock, NameSite, Piece, Reports, Rewrite, last_part
from jaxmigrate_codemods._gda_behind import behind, same

FAMILY = frozenset({"Array", "DeviceArray", "ShardedDeviceArray"})
_NEW = ("jax.Array", "jax.experimental.array.Array")
_OF_MESH = ("mesh", "mesh_axes", "_global_mesh", "_mesh_axes", "spec")
OPTION = "global-device-array.isinstance"


def review(site: NameSite, what: str) -> Reports:
    """The default rename, to be looked at."""
    return Rewrite(f"with jax.Array this {what}", REVIEW, ()) if site.direct else None


def tested(site: NameSite) -> Reports:
    """One test of the class."""
    call = call_around(site)
    if call is None:
        return review(site, "is true for every array")
    if _is_denied_in_test_case(site, call):
        return site.manual("every array of JAX is a jax.Array now, so this assertion would fail: test what tells them apart")
    if site.direct and _is_leaf_test(site, call):
        return Rewrite("this leaf test may find every jax.Array: they are leaves anyway", SAFE, ())
    if site.direct and _is_beside_array(site, call):
        return Rewrite("jax.Array is among these types already", SAFE, ())
    return _dropped(site, call) or _narrowed(site, call) or _widened(site, call)


def _dropped(site: NameSite, call: ast.Call) -> Reports:
    """Where the code for GDAs has to go."""
    refusal = _refusal(site, call)
    if refusal and call.args[1] is not site.node:
        return _without_kind(site, call, refusal)
    other = _own_test(site, call) if call.args[1] is site.node else None
    why = f"jax.Array has its own test in line {site.source.original_line(other)}" if other is not None else refusal
    return _without(site, call, why) if why else None


def _narrowed(site: NameSite, call: ast.Call) -> Reports:
    """Where not every array is meant."""
    if site.option(OPTION, "jax-array") == "multiprocess":
        return _spans_processes(site, call, "as the option multiprocess asks")
    if call.args[1] is not site.node or not site.source.is_pure(call.args[0]):
        return None
    if local := _local_test(site, call):
        line = site.source.original_line(local)
        return _spans_processes(site, call, f"since arrays of one process are tested for in line {line}")
    return _has_mesh(site, call) if _asks_for_mesh(site, call) else None


def _widened(site: NameSite, call: ast.Call) -> Reports:
    """Where every array is meant."""
    evidence = site.may_be_traced()
    tracers = f" and for tracers ({evidence})" if evidence else ", tracers included"
    advice = f"to find only arrays that span processes, set the option {OPTION} to multiprocess"
    report = review(site, f"test is true for every array{tracers}{_shadowed(site, call)}; {advice}")
    if isinstance(report, Rewrite) and call.args[1] is site.node and _has_twin(site):
        return Rewrite(report.message, report.applicability, (site.replace("{jax.Array}"),))
    return report


def _is_denied_in_test_case(site: NameSite, call: ast.Call) -> bool:
    """``assertNotIsInstance(x, GDA)`` and ``assertFalse(isinstance(x, GDA))``."""
    outer = site.source.parent(call)
    called = [c.func.attr for c in (call, outer) if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute)]
    return "assertNotIsInstance" in called or "assertFalse" in called


def _has_twin(site: NameSite) -> bool:
    """Whether the same function tests for the class again: then none may wait for the move of an import.

    A test that becomes jax.Array first would look like one that was there before.
    """
    source, function = site.source, site.source.function(site.node)
    others = (n for n in source.names(site.symbol) if n is not site.node and source.function(n) is function)
    return any(source.role(n) in ("isinstance", "type-compare") for n in others)


def call_around(site: NameSite) -> ast.Call | None:
    """The call that the class is a type argument of, alone or in a tuple."""
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


def _other_tests(site: NameSite, call: ast.Call) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Further isinstance tests of the same value in the same function, and the types they test for."""
    source, subject = site.source, ast.dump(call.args[0])
    for node in source.by_id.get("isinstance", ()):
        other = source.parent(node)
        if not (isinstance(other, ast.Call) and other.func is node and len(other.args) == 2) or other is call:
            continue
        same = source.function(other) is source.function(call) and ast.dump(other.args[0]) == subject
        if same and not isinstance(source.statement(other), ast.Assert) and not _is_guarded_by(site, other, call):
            yield other, other.args[1].elts if isinstance(other.args[1], ast.Tuple) else [other.args[1]]


def _own_test(site: NameSite, call: ast.Call) -> ast.Call | None:
    """A test for jax.Array: then code for GDAs beside it is code for what no longer exists."""
    return next((other for other, kinds in _other_tests(site, call) if any(_is_new(site, k) for k in kinds)), None)


def _is_new(site: NameSite, kind: ast.expr) -> bool:
    """Whether jax.Array is meant, not an old class whose import became ``from jax import Array as DA`` in this run."""
    return site.source.resolve(kind) in _NEW and last_part(kind) == "Array"


def _local_test(site: NameSite, call: ast.Call) -> ast.Call | None:
    """A test for one of the classes of local arrays, also where this run made it jax.Array under a name of its own."""
    for other, kinds in _other_tests(site, call):
        if any((site.source.resolve(k) or "").rpartition(".")[2] in FAMILY and not _is_new(site, k) for k in kinds):
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


def _refusal(site: NameSite, call: ast.Call) -> str:
    """Why an arm that only refuses GDAs goes; empty when it does more."""
    test, parent = _false_part(site, call)
    refused = (
        isinstance(parent, ast.If) and parent.test is test and len(parent.body) == 1 and isinstance(parent.body[0], ast.Raise)
    )
    asserted = isinstance(parent, ast.UnaryOp) and isinstance(site.source.parent(parent), ast.Assert)
    return "what was refused of it here must not be refused of every array" if refused or asserted else ""


def _without_kind(site: NameSite, call: ast.Call, why: str) -> Reports:
    """Take the class out of the types that are refused with it."""
    kinds = call.args[1]
    others = [e for e in kinds.elts if e is not site.node] if isinstance(kinds, ast.Tuple) else []
    if not others or not site.direct:
        return site.manual(f"no value is a GlobalDeviceArray any more, and {why}: take it out of these types")
    pieces: dict[str, Piece] = {f"kind{number}": element for number, element in enumerate(others)}
    holes = ", ".join(f"{{{name}}}" for name in pieces)
    new = site.replace(holes if len(others) == 1 else f"({holes})", kinds, **pieces)
    return Rewrite(f"no value is a GlobalDeviceArray any more, and {why}: it goes from these types", REVIEW, (new,))


def _without(site: NameSite, call: ast.Call, why: str) -> Reports:
    """Take out the arm for GDAs: ``isinstance(x, GDA)`` is false for every value there is."""
    message = f"no value is a GlobalDeviceArray any more, and {why}: {{}}"
    test, parent = _false_part(site, call)
    if isinstance(parent, ast.UnaryOp) and isinstance(statement := site.source.parent(parent), ast.Assert):
        negated = isinstance(parent.op, ast.Not) and statement.test is parent
        return Rewrite(message.format("this assertion goes"), REVIEW, (DeleteStatement(statement),)) if negated else None
    if isinstance(parent, ast.If) and parent.test is test:
        return Rewrite(message.format("this is a branch that goes, with its comments"), REVIEW, (KeepBlock(parent, "orelse"),))
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


def _asks_for_mesh(site: NameSite, call: ast.Call) -> bool:
    """Whether what is done with a tested value asks for its mesh, which only arrays with a NamedSharding have."""
    source, subject = site.source, ast.dump(call.args[0])
    region = list(behind(source, call))
    for name in _OF_MESH:
        for node in source.by_attribute.get(name, ()):
            owner = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "sharding" else node.value
            is_it = ast.dump(owner) == subject and same(source, owner, call.args[0])
            if is_it and any(part in region for part in (node, *source.ancestors(node))):
                return True
    return False


def _has_mesh(site: NameSite, call: ast.Call) -> Reports:
    evidence = site.may_be_traced()
    sharding = 'getattr({x}, "sharding", None)' if evidence else "{x}.sharding"
    new = f"isinstance({{x}}, {{jax.Array}}) and isinstance({sharding}, {{jax.sharding.NamedSharding}})"
    message = f"with jax.Array this tests for every array that has a mesh, which is asked for behind it{_shadowed(site, call)}"
    message += f"; a tracer has no sharding ({evidence})" if evidence else ""
    return Rewrite(message, REVIEW, (site.replace(new, call, x=call.args[0]),))


def _shadowed(site: NameSite, call: ast.Call) -> str:
    """A warning for an arm of an if-chain from which an earlier one takes everything."""
    source = site.source
    arm = next((a for a in source.ancestors(call) if isinstance(a, ast.If)), None)
    if arm is None or call not in ast.walk(arm.test):
        return ""
    for other in _arms_before(site, arm):
        names = (source.resolve(n) or "" for n in ast.walk(other.test) if isinstance(n, (ast.Name, ast.Attribute)))
        if any(name.rpartition(".")[2] in FAMILY for name in names):
            return f", and the test in line {source.original_line(other.test)} takes them all before"
    return ""


def _arms_before(site: NameSite, arm: ast.If) -> Iterator[ast.If]:
    """The arms of the chain above this one."""
    parent = site.source.parent(arm)
    while isinstance(parent, ast.If) and parent.orelse == [arm]:
        yield parent
        arm, parent = parent, site.source.parent(parent)


def _spans_processes(site: NameSite, call: ast.Call, why: str) -> Reports:
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
    message = f"this tests for arrays that span processes, {why}; those of one process were GDAs too{_shadowed(site, call)}"
    message += f"; it raises for tracers ({evidence})" if evidence else "; it raises for tracers"
    return Rewrite(message, REVIEW, (site.replace(text, call, x=subject, **pieces),))
