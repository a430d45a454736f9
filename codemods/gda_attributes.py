"""Attributes that only GlobalDeviceArray had, and methods of the first jax.Array that are properties now.

`local_data(i)` asks the shard: ``addressable_data(i)`` ignores its argument for replicated arrays since JAX 0.4.9.
https://docs.jax.dev/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, UNSAFE, AttributeSite, Codemod, Reports, Rewrite, StringSite
from jaxmigrate.model import Applicability
from jaxmigrate_codemods._gda import ARRAY, is_gda
from jaxmigrate_codemods._gda_behind import behind, following, same
from jaxmigrate_codemods._gda_subclass import is_super

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "gda-attributes",
    summary="local_shards, local_data, mesh and the private parts of GlobalDeviceArray have new names on jax.Array",
    since="0.3.20",
    deprecated=None,
    removed="0.4.7",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset(
        {"GlobalDeviceArray", "local_shards", "_local_shards", "local_data", "_device_buffers", ".global_shards", ".mesh_axes",
         ".is_fully_addressable()", ".is_fully_replicated()"}
    ),
    applicability=UNSAFE,
)  # fmt: skip

_EVIDENCE = ("local_shards", "local_data", "addressable_shards", "addressable_data", "global_shards", "_device_buffers")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OF_SHARDING = {
    "mesh": "{x}.sharding.mesh",
    "_global_mesh": "{x}.sharding.mesh",
    "mesh_axes": "{x}.sharding.spec",
    "_mesh_axes": "{x}.sharding.spec",
    "_global_shape": "{x}.shape",
    "_local_devices": "{x}.sharding.mesh.local_devices",
    "_current_process": "{jax.process_index}()",
}

_ORDER = (
    "the order of global_shards is no longer that of the mesh when several processes take part: find a shard by its device, "
    "not by its position"
)

_Verdict = tuple[Applicability, str]


def _judge(site: AttributeSite) -> _Verdict | None:
    """How sure it is that the receiver is an array, for names that nothing but arrays has; None when it is none."""
    kind, source = site.receiver_type, site.source
    if is_gda(kind) or kind == ARRAY:
        return SAFE, ""
    if kind is not None or _is_self(site.value) or not _uses_jax(source):
        return None
    assumption = f", assuming that {site.text(site.value)} is an array"
    if _defines(source, site.node.attr):
        return UNSAFE, f"{assumption} and not of a class in this file that has a {site.node.attr} too"
    return REVIEW, assumption


def _is_self(node: ast.expr) -> bool:
    return (isinstance(node, ast.Name) and node.id in ("self", "cls")) or is_super(node)


def _uses_jax(source: Source) -> bool:
    names = [a.name for s in source.imports for a in s.names if isinstance(s, ast.Import)]
    names += [s.module or "" for s in source.imports if isinstance(s, ast.ImportFrom) and not s.level]
    return any(name.partition(".")[0] in ("jax", "jaxlib", "flax", "orbax") for name in names)


def _defines(source: Source, attribute: str) -> bool:
    """Whether a class of this file has an attribute of that name."""
    if any(isinstance(a.ctx, ast.Store) for a in source.by_attribute.get(attribute, ())):
        return True
    if not re.search(rf"^[ \t]+(?:async )?(?:def )?{attribute}\b[ \t]*[(:=]", source.text, re.MULTILINE):
        return False
    classes = (node for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef))
    return any(attribute in _bound(statement) for node in classes for statement in node.body)


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, _FUNCTIONS):
        return [statement.name]
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign)
        else [statement.target]
        if isinstance(statement, ast.AnnAssign)
        else ()
    )
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _written(site: AttributeSite) -> Reports:
    if is_gda(site.receiver_type):
        return site.manual(f"{site.node.attr} of an array cannot be set: make another array")
    return None


@codemod.attribute("local_shards", "_local_shards")
def local_shards(site: AttributeSite) -> Reports:
    """The shards of this process, in the same order."""
    verdict = _judge(site)
    if verdict is None or site.assignment:
        return _written(site)
    if site.call() is not None:
        return None  # a method, as torch's ShardedTensor has it
    new = site.replace("{x}.addressable_shards", x=site.value)
    return Rewrite(f"local_shards is addressable_shards now{verdict[1]}", verdict[0], (new,))


@codemod.attribute("local_data")
def local_data(site: AttributeSite) -> Reports:
    """The data of the i-th shard of this process."""
    verdict = _judge(site)
    if verdict is None or site.assignment:
        return _written(site)
    call = site.call()
    if call is None:
        return _local_data_as_value(site, verdict)
    index = _only_argument(call)
    if index is None:
        known = verdict[0] is SAFE
        return site.manual("local_data takes one index: addressable_shards[index].data is what it gave") if known else None
    if isinstance(index, ast.Constant) and index.value == 0:
        new = site.replace("{x}.addressable_data", x=site.value)
        return Rewrite(f"local_data(0) is addressable_data(0) now{verdict[1]}", verdict[0], (new,))
    new = site.replace("{x}.addressable_shards[{i}].data", call, x=site.value, i=index)
    message = f"local_data(i) is addressable_shards[i].data now (addressable_data ignores i for replicated arrays){verdict[1]}"
    return Rewrite(message, verdict[0], (new,))


def _only_argument(call: ast.Call) -> ast.expr | None:
    if len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    if not call.args and len(call.keywords) == 1 and call.keywords[0].arg == "index":
        return call.keywords[0].value
    return None


def _local_data_as_value(site: AttributeSite, verdict: _Verdict) -> Reports:
    """The bound method handed on: it holds on to the array, as a name with one binding does."""
    if verdict[0] is not SAFE or site.source.definition(site.value) is None:
        return site.manual("local_data is gone: write a function that gives addressable_shards[index].data of the array")
    new = site.replace("lambda index: {x}.addressable_shards[index].data", x=site.value)
    return Rewrite("local_data is gone: as a value it is a function of the shards", SAFE, (new,))


@codemod.attribute("mesh", "mesh_axes", "_global_mesh", "_mesh_axes", "_global_shape", "_local_devices", "_current_process")
def of_sharding(site: AttributeSite) -> Reports:
    """What an array knows about its mesh is in its sharding."""
    kind = site.receiver_type
    if site.assignment:
        return _written(site)
    new = site.replace(_OF_SHARDING[site.node.attr], x=site.value)
    place = new.new.text.replace("{x}", "x").replace("{jax.process_index}", "jax.process_index")
    message = f"{site.node.attr} of a GlobalDeviceArray is {place} of a jax.Array"
    text = site.text(site.value)
    if is_gda(kind) and not _only_tested(site):
        return Rewrite(message, SAFE, (new,))
    if is_gda(kind) or kind == ARRAY or (kind is None and (_is_behind_test(site) or _is_tested_element(site))):
        return Rewrite(f"{message}, assuming that {text} has a NamedSharding", REVIEW, (new,))
    if kind is None and _used_as_array(site):
        return Rewrite(f"{message}, assuming that {text} is an array, as its shards are asked for", REVIEW, (new,))
    return None


def _only_tested(site: AttributeSite) -> bool:
    """Whether a test says what the receiver is, which becomes one for every array."""
    wanted = ast.dump(site.value)
    tests = (site.source.parent(node) for node in site.source.by_id.get("isinstance", ()))
    return any(isinstance(test, ast.Call) and test.args and ast.dump(test.args[0]) == wanted for test in tests)


def _is_behind_test(site: AttributeSite) -> bool:
    """Whether a test says that the receiver is an array: an early exit, a flag, or one around the function this stands in."""
    source, wanted = site.source, ast.dump(site.value)
    around = {site.node, *source.ancestors(site.node)}
    for test in filter(None, (_test_of_array(source, node) for node in source.by_id.get("isinstance", ()))):
        is_it = ast.dump(test.args[0]) == wanted and same(source, test.args[0], site.value)
        if is_it and any(part in around for part in behind(source, test)):
            return True
    return False


def _is_tested_element(site: AttributeSite) -> bool:
    """Whether the function tests the elements of the same list elsewhere: ``all(isinstance(x, GDA) for x in xs)``."""
    source, iterable = site.source, _iterable(site.source, site.value)
    tests = filter(None, (_test_of_array(source, node) for node in source.by_id.get("isinstance", ())))
    others = (_iterable(source, test.args[0]) for test in tests if iterable is not None)
    return any(o is not None and iterable is not None and _is_equal(source, o, iterable) for o in others)


def _iterable(source: Source, element: ast.expr) -> ast.expr | None:
    """What a comprehension or loop around `element` takes it from."""
    for ancestor in source.ancestors(element) if isinstance(element, ast.Name) else ():
        loops = [ancestor] if isinstance(ancestor, ast.For) else getattr(ancestor, "generators", [])
        for loop in loops:
            if isinstance(loop.target, ast.Name) and isinstance(element, ast.Name) and loop.target.id == element.id:
                found: ast.expr = loop.iter
                return found
    return None


def _is_equal(source: Source, one: ast.expr, other: ast.expr) -> bool:
    return source.function(one) is source.function(other) and ast.dump(one) == ast.dump(other)


def _test_of_array(source: Source, node: ast.Name) -> ast.Call | None:
    """The test that this ``isinstance`` makes, if for arrays alone."""
    test = source.parent(node)
    if not (isinstance(test, ast.Call) and test.func is node and len(test.args) == 2):
        return None
    kind = source.resolve(test.args[1])
    return test if is_gda(kind) or kind == ARRAY else None


def _used_as_array(site: AttributeSite) -> bool:
    """Whether the same function asks the same value for its shards."""
    source, wanted, function = site.source, ast.dump(site.value), site.source.function(site.node)
    if _is_self(site.value):
        return False
    others = (node for name in _EVIDENCE for node in source.by_attribute.get(name, ()))
    return any(ast.dump(node.value) == wanted and source.function(node) is function for node in others)


@codemod.attribute("_device_buffers")
def device_buffers(site: AttributeSite) -> Reports:
    """The private list of buffers of this process."""
    verdict = _judge(site)
    if verdict is None or site.assignment:
        return _written(site)
    parent = site.parent()
    message = f"_device_buffers are the data of addressable_shards{verdict[1]}"
    if isinstance(parent, ast.Subscript) and not isinstance(parent.slice, ast.Slice) and isinstance(parent.ctx, ast.Load):
        new = site.replace("{x}.addressable_shards[{i}].data", parent, x=site.value, i=parent.slice)
    elif isinstance(parent, ast.Call) and _called(parent) == "len":
        new = site.replace("{x}.addressable_shards", x=site.value)
    else:
        copied = isinstance(parent, ast.Call) and _called(parent) == "list" and len(parent.args) == 1
        whole = parent if copied and isinstance(parent, ast.Call) else site.node
        new = site.replace("[s.data for s in {x}.addressable_shards]", whole, x=site.value)
    return Rewrite(message, verdict[0], (new,))


@codemod.attribute("is_fully_addressable", "is_fully_replicated")
def called_property(site: AttributeSite) -> Reports:
    """Methods in JAX 0.3.14 to 0.3.21, properties since."""
    call = site.call()
    if call is None or call.args or call.keywords:
        return None
    kind = site.receiver_type or ""
    verdict = (SAFE, "") if kind.startswith("jax.sharding.") else _judge(site)
    if verdict is None:
        return None
    new = site.replace(f"{{x}}.{site.node.attr}", call, x=site.value)
    return Rewrite(f"{site.node.attr} is a property since JAX 0.3.22{verdict[1]}", verdict[0], (new,))


@codemod.attribute("global_shards")
def global_shards(site: AttributeSite) -> Reports:
    """All shards, but in an order of their own as soon as several processes take part."""
    kind = site.receiver_type
    if not (is_gda(kind) or kind == ARRAY or (kind is None and _uses_jax(site.source) and not _is_self(site.value))):
        return None
    parent = site.parent()
    if (
        _is_position(parent, site.node)
        or isinstance(parent, ast.Compare)
        or (isinstance(parent, ast.Call) and _called(parent) in ("zip", "enumerate"))
    ):
        return site.manual(_ORDER)
    return None


def _is_position(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether certain shards are taken."""
    return isinstance(parent, ast.Subscript) and parent.value is node


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


_BY_NAME = {"local_shards": "addressable_shards", "_local_shards": "addressable_shards", "local_data": "addressable_data"}
_GETTERS = ("attrgetter", "methodcaller")
_INSTEAD = {
    "hasattr": "this is False and what it guards is dead, so ask for {new}",
    **dict.fromkeys(("getattr", *_GETTERS), "ask for {new}"),
    "setattr": "nor can it be set, so make another array",
    "delattr": "delete this",
}


@codemod.string(*_BY_NAME, *_OF_SHARDING)
def by_name(site: StringSite) -> Reports:
    """``getattr(x, "local_shards")`` and its kin; ``hasattr`` where no other branch is for the new name."""
    call, name = site.parent(), site.value.rpartition(".")[2]
    called = _asked(site, call)
    if not isinstance(call, ast.Call) or called not in _INSTEAD or not _uses_jax(site.source):
        return None
    value = call.args[0] if call.args[1:2] == [site.node] and called not in _GETTERS else None
    kind = site.source.infer(value) if value is not None else None
    is_array = is_gda(kind) or kind == ARRAY
    if name in _BY_NAME and not is_array:  # a name that nothing but arrays has
        is_array = kind is None and not (value is not None and _is_self(value)) and not _defines(site.source, name)
    new = (_BY_NAME | _OF_SHARDING).get(name, "").replace("{x}.", "").replace("{jax.process_index}", "jax.process_index")
    if not new or not is_array or (called == "hasattr" and _other_way(site.source, call, new.partition(".")[0])):
        return None
    return site.manual(f"no array has {name} any more: {_INSTEAD[called].format(new=new)}")


def _asked(site: StringSite, call: ast.AST | None) -> str:
    """The function that looks an attribute up by this string."""
    if not isinstance(call, ast.Call):
        return ""
    found = (site.source.resolve(call.func) or "").removeprefix("operator.")
    if found in _GETTERS:
        return found if site.node in call.args[: None if found == "attrgetter" else 1] else ""
    return _called(call) if site.node is (call.args[1] if len(call.args) > 1 else None) else ""


def _other_way(source: Source, test: ast.Call, new: str) -> bool:
    """Whether the code that chooses by this test has a way for the new name."""
    region: list[ast.AST] = []
    for ancestor in source.ancestors(test):
        if isinstance(ancestor, (ast.If, ast.IfExp, ast.BoolOp)):
            region.append(ancestor)
        if isinstance(ancestor, ast.If) and isinstance(ancestor.body[-1], (ast.Return, ast.Raise, ast.Continue)):
            region += following(source, ancestor)
        if isinstance(ancestor, ast.stmt):
            break
    uses = [*source.by_attribute.get(new, ()), *(s for s in source.strings if s.value == new)]
    return any(around in region for use in uses for around in source.ancestors(use))
