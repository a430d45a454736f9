"""GlobalDeviceArray is jax.Array: its constructors make arrays out of a shape and a sharding.

A mesh and its axes become one NamedSharding; the batched constructors have no successor and are written out.
https://docs.jax.dev/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Change,
    Codemod,
    EditCall,
    InsertBefore,
    Manual,
    NameSite,
    Report,
    Reports,
    Rewrite,
    Template,
    Unbindable,
)
from jaxmigrate_codemods import _gda

codemod = Codemod(
    "global-device-array",
    summary="GlobalDeviceArray is jax.Array, made by jax.make_array_from_callback and its kin",
    since="0.3.19",
    deprecated="0.4.6",
    removed="0.4.7",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset({"global_device_array", "GlobalDeviceArray"}),
    applicability=REVIEW,
    options={"isinstance": ("jax-array", "multiprocess")},
)
codemod.gone = dict.fromkeys(_gda.HOMES, "GlobalDeviceArray and its module were removed in JAX 0.4.7; every array is a jax.Array now")

_FROM_CALLBACK = tuple(f"{name}.from_callback" for name in _gda.CLASSES)
_FROM_BATCHED = tuple(f"{name}.from_batched_callback" for name in _gda.CLASSES)
_WITH_DEVICES = tuple(f"{name}.from_batched_callback_with_devices" for name in _gda.CLASSES)
_PLACE = ("global_shape", "global_mesh", "mesh_axes")
_MAKE = "jax.make_array_from_callback"
_ASSEMBLE = "{jax.make_array_from_single_device_arrays}"
_NEW_KEYWORDS = {"global_shape": "shape", "global_mesh": "sharding", "device_buffers": "arrays"}
_EFFECTS = frozenset({"next", "append", "pop", "normal", "uniform", "randint", "integers", "rand", "randn", "permutation", "choice", "read"})


def _in_homes(*names: str) -> tuple[str, ...]:
    return tuple(f"{home}.{name}" for home in _gda.HOMES for name in names)


# -- the constructors ---------------------------------------------------------------------------------------------------------


@codemod.call(*_FROM_CALLBACK)
def from_callback(site: CallSite) -> Reports:
    """One array from one callback: the same call with a sharding instead of mesh and axes."""
    parameters = (*_PLACE, "data_callback")
    bound = site.bind(*parameters, optional=parameters if site.partial else ())
    if "mesh_axes" not in bound:
        call = site.source.segment(site.positional()[0] if site.positional() else site.node)
        return _late_callback(site, call)
    callback = bound.get("data_callback")
    note = _side_effects(site, callback) if callback is not None else ""
    return _reshaped(site, bound, _MAKE, note)


def _late_callback(site: CallSite, call: str) -> Rewrite:
    """``partial(GDA.from_callback, shape, mesh)``: what is bound early stays bound early."""
    function = site.node.args[0]
    return Rewrite("from_callback takes a sharding now: the mesh is joined with the axes when they come", SAFE,
                   (site.replace(_as_function("data_callback", f"{{{_MAKE}}}"), function),))  # fmt: skip


def _as_function(last: str, make: str) -> str:
    """The old constructor as a function with its old parameters."""
    parameters = ", ".join((*_PLACE, last))
    return f"lambda {parameters}: {make}(global_shape, {{jax.sharding.NamedSharding}}(global_mesh, mesh_axes), {last})"


@codemod.call(*_gda.CLASSES)
def constructor(site: CallSite) -> Reports:
    """An array from buffers that are on their devices already."""
    internal = ("_gda_fast_path_args", "_enable_checks")
    parameters = (*_PLACE, "device_buffers", *internal)
    bound = site.bind(*parameters, optional=parameters if site.partial else internal)
    if site.partial and "mesh_axes" not in bound:
        return site.manual("GlobalDeviceArray takes a sharding now, but this partial has no mesh axes to make it of: "
                           "bind jax.make_array_from_single_device_arrays with a NamedSharding instead")  # fmt: skip
    return _reshaped(site, bound, "jax.make_array_from_single_device_arrays")


def _reshaped(site: CallSite, bound: dict[str, ast.expr], make: str, note: str = "") -> Rewrite:
    """The call with the new callee, a sharding in the place of the mesh, and the axes dropped."""
    source = site.source
    keys = _keys(site, bound)
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    values = {keys["global_mesh"]: Template(sharding.text, sharding.pieces)}
    shape = _gda.shape_of(source, bound["global_shape"])
    if shape.text != "{shape}":
        values[keys["global_shape"]] = Template(shape.text, shape.pieces)
    buffers = bound.get("device_buffers")
    if isinstance(buffers, ast.Tuple) and not site.target_has("0.12"):
        values[keys["device_buffers"]] = Template("list({buffers})", {"buffers": buffers})
    dropped = frozenset(keys[name] for name in ("mesh_axes", "_gda_fast_path_args", "_enable_checks") if name in keys)
    assumptions = [text for text in (sharding.assumption, _order(site, bound), note) if text]
    changes: list[Change] = [EditCall(site.node, None if site.partial else Template(f"{{{make}}}"), _NEW_KEYWORDS, dropped, values=values)]
    if site.partial:
        changes = [EditCall(site.node, None, _NEW_KEYWORDS, dropped, values={**values, 0: Template(f"{{{make}}}")})]
    message = f"this is {make} with a NamedSharding now"
    return Rewrite("; ".join((message, *assumptions)), REVIEW if assumptions else SAFE, tuple(changes))


def _keys(site: CallSite, bound: dict[str, ast.expr]) -> dict[str, int | str]:
    """Where each argument stands: its position in the call, or its keyword."""
    positions = {id(node): number for number, node in enumerate(site.node.args)}
    return {name: positions.get(id(node), name) for name, node in bound.items()}


def _order(site: CallSite, bound: dict[str, ast.expr]) -> str:
    """Whether joining mesh and axes moves an evaluation past another that may have effects."""
    source = site.source
    arguments = sorted(bound.values(), key=lambda node: source.span(node))
    first, second = sorted((arguments.index(bound["global_mesh"]), arguments.index(bound["mesh_axes"])))
    passed = arguments[first:second] if arguments[second] is bound["global_mesh"] else arguments[first + 1 : second]
    moved = [bound["mesh_axes"], *passed]
    if passed and sum(not _gda.is_harmless(source, node) for node in moved) > 1:
        return "mesh axes are evaluated together with the mesh now, which changes the order of these arguments"
    return ""


def _side_effects(site: CallSite, callback: ast.expr) -> str:
    """What to say about a callback that minds how often it is called."""
    value = site.source.value_of(callback)
    body: ast.AST | None = value if isinstance(value, ast.Lambda) else _local_function(site, callback)
    for node in ast.walk(body) if body is not None else ():
        effect = isinstance(node, (ast.Nonlocal, ast.Global, ast.Yield))
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
            effect = name in _EFFECTS and not (site.source.resolve(function) or "").startswith(("jax.", "operator."))
        if effect:
            return (f"the callback {site.text(callback)} has effects: it is called once now if nothing is split (it was once a device), "
                    "and JAX 0.4.6 to 0.4.13 call it in no particular order")  # fmt: skip
    return ""


def _local_function(site: CallSite, name: ast.expr) -> ast.AST | None:
    if not isinstance(name, ast.Name):
        return None
    bindings, _ = site.source.lookup(name.id, site.source.scope(name))
    return bindings[0].node if len(bindings) == 1 and bindings[0].kind == "def" else None


# -- the batched constructors: no one-call successor ----------------------------------------------------------------------------


@codemod.call(*_FROM_BATCHED)
def from_batched_callback(site: CallSite) -> Reports:
    """One call of the callback with all indices of this process."""
    return _written_out(
        site,
        ("shard_indices", "shards"),
        "{sharding} = {made}\n"
        "{shard_indices} = {sharding}.addressable_devices_indices_map({shape})\n"
        "{shards} = {callback}(list({shard_indices}.values()))",
        _ASSEMBLE + "({shape}, {sharding}, [{jax.device_put}(s, d) for s, d in zip({shards}, {shard_indices})])",
    )


@codemod.call(*_WITH_DEVICES)
def from_batched_callback_with_devices(site: CallSite) -> Reports:
    """One call of the callback with every index and the devices that hold it; it puts the data there itself."""
    return _written_out(
        site,
        ("shard_groups", "shards", "device", "index"),
        "{sharding} = {made}\n"
        "{shard_groups} = {{}}\n"
        "for {device}, {index} in {sharding}.addressable_devices_indices_map({shape}).items():\n"
        "    {shard_groups}.setdefault(str({index}), ({index}, []))[1].append({device})\n"
        "{shards} = {callback}([(index, tuple(devices)) for index, devices in {shard_groups}.values()])",
        _ASSEMBLE + "({shape}, {sharding}, {shards})",
    )


def _written_out(site: CallSite, names: tuple[str, ...], before: str, instead: str) -> Reports:
    if site.partial:
        return site.manual(f"{site.symbol.rpartition('.')[2]} has no successor to bind arguments to: write a function")
    bound = site.bind(*_PLACE, "data_callback")
    statement = _gda.room_before(site.source, site.node)
    if statement is None:
        return site.manual(f"{site.symbol.rpartition('.')[2]} has no successor in one call: ask NamedSharding(mesh, axes)."
                           "addressable_devices_indices_map(shape) for the indices, fetch them, and put the shards together with "
                           "jax.make_array_from_single_device_arrays; there is no room for these statements here")  # fmt: skip
    if next(_batched_calls(site, statement)) is not site.node:
        return ()  # its turn comes in the next round, when the names for the first are taken
    return _expanded(site, bound, statement, names, before, instead)


def _batched_calls(site: CallSite, statement: ast.stmt) -> Iterator[ast.AST]:
    calls = site.source.calls(*_FROM_BATCHED, *_WITH_DEVICES, *_REPLICA_IDS)
    return iter(sorted((c for c in calls if site.source.statement(c) is statement), key=lambda c: site.source.span(c)))


def _expanded(
    site: CallSite, bound: dict[str, ast.expr], statement: ast.stmt, names: tuple[str, ...], before: str, instead: str
) -> Rewrite:
    source = site.source
    new = dict(zip(("sharding", "global_shape", *names), _gda.fresh(source, statement, ("sharding", "global_shape", *names)), strict=True))
    shape = _gda.shape_of(source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    pieces = {**new, **shape.pieces, **sharding.pieces, "callback": _callee(site, bound["data_callback"])}
    if not (_gda.is_harmless(source, bound["global_shape"]) and shape.text == "{shape}"):
        before = f"{new['global_shape']} = {shape.text}\n" + before.replace("{shape}", new["global_shape"])
        instead = instead.replace("{shape}", new["global_shape"])
    else:
        pieces["shape"] = bound["global_shape"]
    changes: tuple[Change, ...] = (
        InsertBefore(statement, Template(before.replace("{made}", sharding.text), pieces)),
        site.replace(instead, **pieces),
    )
    assumptions = [text for text in (sharding.assumption, _order(site, bound)) if text]
    name = site.symbol.rpartition(".")[2]
    message = f"{name} has no successor in one call: indices, callback and array are written out"
    return Rewrite("; ".join((message, *assumptions)), REVIEW if assumptions else SAFE, changes)


def _callee(site: CallSite, callback: ast.expr) -> ast.expr | str:
    if isinstance(callback, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        return callback
    return f"({site.text(callback)})"


# -- the functions of the module ------------------------------------------------------------------------------------------------

_INDICES = _in_homes("get_shard_indices")
_SHAPES = _in_homes("get_shard_shape")
_REPLICA_IDS = _in_homes("get_shard_indices_replica_ids", "_get_shard_indices_replica_ids_uncached")
_METHOD = {"get_shard_indices": "devices_indices_map", "get_shard_shape": "shard_shape"}


@codemod.call(*_INDICES, *_SHAPES)
def shard_layout(site: CallSite) -> Reports:
    """Questions about the layout are asked of the sharding."""
    if site.partial:
        return site.manual("ask a NamedSharding(mesh, axes) for devices_indices_map(shape) or shard_shape(shape)")
    bound = site.bind(*_PLACE)
    name = site.symbol.rpartition(".")[2]
    shape = _gda.shape_of(site.source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    new = site.replace(f"{sharding.text}.{_METHOD[name]}({shape.text})", **{**shape.pieces, **sharding.pieces})
    order = sum(not _gda.is_harmless(site.source, node) for node in bound.values()) > 1
    assumptions = [sharding.assumption] if sharding.assumption else []
    assumptions += ["the shape is evaluated after mesh and axes now"] if order else []
    assumptions += ["it raises where a dimension does not divide evenly (the old function rounded down)"] if name == "get_shard_shape" else []
    message = f"{name} is {_METHOD[name]} of a NamedSharding"
    return Rewrite("; ".join((message, *assumptions)), REVIEW if assumptions else SAFE, (new,))


@codemod.call(*_REPLICA_IDS)
def shard_indices_and_replicas(site: CallSite) -> Reports:
    """Replicas are counted in the order of the mesh, as they were."""
    bound = site.bind(*_PLACE)
    statement = _gda.room_before(site.source, site.node)
    simple = all(_gda.is_harmless(site.source, node) for node in bound.values())
    if statement is None or not simple or site.partial:
        return site.manual("get_shard_indices_replica_ids has no successor: NamedSharding(mesh, axes).devices_indices_map(shape) gives "
                           "the indices; the replica number is the count of equal indices before, in that order")  # fmt: skip
    if next(_batched_calls(site, statement)) is not site.node:
        return ()
    shape = _gda.shape_of(site.source, bound["global_shape"])
    sharding = _gda.sharding_of(site, bound["global_mesh"], bound["mesh_axes"], bound["global_shape"])
    (name,) = _gda.fresh(site.source, statement, ("shard_indices",))
    before = Template(f"{name} = {sharding.text}.devices_indices_map({shape.text})", {**shape.pieces, **sharding.pieces})
    counted = "{{d: (i, list({name}.values())[:n].count(i)) for n, (d, i) in enumerate({name}.items())}}"
    message = "get_shard_indices_replica_ids has no successor: replicas are counted over devices_indices_map"
    return Rewrite(message, REVIEW if sharding.assumption else SAFE, (InsertBefore(statement, before), site.replace(counted, name=name)))


# -- functions of the module used as values ---------------------------------------------------------------------------------------


@codemod.name_(*_FROM_CALLBACK, *_FROM_BATCHED, *_WITH_DEVICES, *_INDICES, *_SHAPES, *_REPLICA_IDS)
def function_as_value(site: NameSite) -> Reports:
    """Handed on, bound to a name, or given to partial."""
    if site.role == "call" or not site.direct or _is_bound_by_partial(site):
        return ()
    name = site.symbol.rpartition(".")[2]
    if name == "from_callback":
        return Rewrite("from_callback takes a sharding now: as a value it needs its old parameters", SAFE,
                       (site.replace(_as_function("data_callback", f"{{{_MAKE}}}")),))  # fmt: skip
    if name in _METHOD:
        made = f"{{jax.sharding.NamedSharding}}(global_mesh, mesh_axes).{_METHOD[name]}(global_shape)"
        return Rewrite(f"{name} is {_METHOD[name]} of a NamedSharding", SAFE, (site.replace(f"lambda {', '.join(_PLACE)}: {made}"),))
    return site.manual(f"{name} has no successor in one call: write a function with its parameters here")


def _is_bound_by_partial(site: NameSite) -> bool:
    parent = site.parent()
    return isinstance(parent, ast.Call) and site.node in parent.args[:1] and site.source.resolve(parent.func) == "functools.partial"


# -- the class itself --------------------------------------------------------------------------------------------------------------

_CONSTRUCTORS = frozenset({"from_callback", "from_batched_callback", "from_batched_callback_with_devices"})
_KEPT = {
    "base-class": "nothing can subclass jax.Array: wrap an array instead of a GlobalDeviceArray subclass",
    "dict-key": "a dict key: look-ups by type(x) find the private class of a jax.Array, never jax.Array itself; test with isinstance",
}
_MEMBERS = frozenset({"getmembers", "getattr", "hasattr", "setattr", "vars", "dir", "create_autospec"})


def use_of_class(site: NameSite) -> Reports:
    """What becomes of one use of the class; constructors are handled as calls."""
    role = site.role
    if role == "call" or _is_bound_by_partial(site):
        return ()
    if role == "attribute":
        parent = site.parent()
        known = isinstance(parent, ast.Attribute) and parent.attr in _CONSTRUCTORS
        return () if known else site.manual(f"{site.text(parent)}: jax.Array is abstract and has no such function to take from it")
    if role in _KEPT:
        return site.manual(_KEPT[role])
    handler = {"isinstance": _isinstance, "type-compare": _type_compare, "register": _register, "value": _value}.get(role)
    if handler is not None:
        return handler(site)
    if role == "issubclass":
        return _review(site, "is true for every array class of JAX now")
    return None


def _review(site: NameSite, what: str) -> Reports:
    """The default rename, to be looked at."""
    if not site.direct:
        return None
    return Rewrite(f"with jax.Array this {what}", REVIEW, ())


def _isinstance(site: NameSite) -> Reports:
    call = _call_around(site)
    if call is None:
        return _review(site, "is true for every array now")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "assertNotIsInstance":
        return site.manual("every array of JAX is a jax.Array now, so this assertion would fail: test what tells them apart")
    if site.option("global-device-array.isinstance", "jax-array") == "multiprocess":
        return _spans_processes(site, call)
    if not site.direct:
        return None
    if _is_leaf_test(site, call):
        return Rewrite("this leaf test may find every jax.Array: they are leaves anyway", SAFE, ())
    return _review(site, f"test is true for every array{_traced(site)}{_shadowed(site, call)}; to find only arrays that span processes, set the "
                         "option global-device-array.isinstance to multiprocess")  # fmt: skip


def _call_around(site: NameSite) -> ast.Call | None:
    parent = site.parent()
    while isinstance(parent, (ast.Tuple, ast.BinOp)):
        parent = site.source.parent(parent)
    return parent if isinstance(parent, ast.Call) else None


def _is_leaf_test(site: NameSite, call: ast.Call) -> bool:
    """Whether this is the body of a leaf predicate: ``is_leaf=lambda x: isinstance(x, GDA)``."""
    function = site.source.function(call)
    keyword = site.source.parent(function) if isinstance(function, ast.Lambda) else None
    return isinstance(keyword, ast.keyword) and keyword.arg == "is_leaf" and isinstance(function, ast.Lambda) and function.body is call


def _traced(site: NameSite) -> str:
    evidence = site.may_be_traced()
    return f" and for tracers ({evidence})" if evidence else ", tracers included"


def _shadowed(site: NameSite, call: ast.Call) -> str:
    """A warning for the arm of an if-chain that an earlier arm now takes everything from."""
    source = site.source
    node = next((a for a in source.ancestors(call) if isinstance(a, ast.If)), None)
    while node is not None:
        parent = source.parent(node)
        if not (isinstance(parent, ast.If) and node in parent.orelse):
            return ""
        if any("Array" in (source.resolve(n) or "") for n in ast.walk(parent.test) if isinstance(n, (ast.Name, ast.Attribute))):
            return f", and the test in line {parent.lineno} takes them all before"
        node = parent
    return ""


def _spans_processes(site: NameSite, call: ast.Call) -> Reports:
    """``isinstance(x, GDA)`` for multi-process arrays only."""
    subject = call.args[0]
    if not (isinstance(call.func, ast.Name) and site.source.is_pure(subject)):
        return site.manual("bind the tested value to a name first: jax.Array and is_fully_addressable both have to look at it")
    kinds = call.args[1]
    others = [e for e in kinds.elts if e is not site.node] if isinstance(kinds, ast.Tuple) else []
    if kinds is not site.node and not isinstance(kinds, ast.Tuple):
        return site.manual("write this union as several tests: isinstance(x, jax.Array) and not x.is_fully_addressable is the one for GDA")
    array = "isinstance({x}, {jax.Array}) and not {x}.is_fully_addressable"
    pieces = {f"kind{number}": element for number, element in enumerate(others)}
    holes = ", ".join(f"{{{name}}}" for name in pieces)
    rest = holes if len(others) == 1 else f"({holes})"
    text = f"isinstance({{x}}, {rest}) or ({array})" if others else array
    message = ("GlobalDeviceArray is jax.Array now: this tests for arrays that span processes, as the option multiprocess asks; "
               "an array of a single process was a GDA too")  # fmt: skip
    return Rewrite(message + (f"; on a tracer it raises ({site.may_be_traced()})" if site.may_be_traced() else ""), REVIEW,
                   (site.replace(text, call, x=subject, **pieces),))  # fmt: skip


def _type_compare(site: NameSite) -> Reports:
    """``type(x) is GDA``: the concrete class of arrays is private."""
    compare = site.parent()
    if not (isinstance(compare, ast.Compare) and len(compare.ops) == 1 and isinstance(compare.ops[0], (ast.Is, ast.Eq, ast.IsNot, ast.NotEq))):
        return site.manual("type(x) is never jax.Array, whose concrete class is private: test with isinstance(x, jax.Array)")
    other = compare.left if compare.comparators[0] is site.node else compare.comparators[0]
    subject = other.args[0] if isinstance(other, ast.Call) else other.value if isinstance(other, ast.Attribute) else other
    text = "isinstance({x}, {jax.Array})"
    if isinstance(compare.ops[0], (ast.IsNot, ast.NotEq)):
        text = "not " + text
    return Rewrite("GlobalDeviceArray is jax.Array now, and type(x) is never jax.Array: this tests with isinstance, so for every array",
                   REVIEW, (site.replace(text, compare, x=subject),))  # fmt: skip


def _register(site: NameSite) -> Reports:
    call = _call_around(site)
    name = call.func.attr if call is not None and isinstance(call.func, ast.Attribute) else ""
    if "pytree" in name:
        return site.manual("a pytree registration: arrays are leaves of JAX itself, so take the registration out")
    if call is not None and _registers_another(site, call):
        return site.manual("another handler is registered for an array class here: both are jax.Array now, so one function has to do both")
    return _review(site, "handler now gets every array (not tracers)")


def _registers_another(site: NameSite, call: ast.Call) -> bool:
    """Whether the same function has a handler for another class that becomes jax.Array."""
    receiver = ast.dump(call.func)
    for other in ast.walk(site.source.tree):
        if isinstance(other, ast.Call) and other is not call and ast.dump(other.func) == receiver and other.args:
            if (site.source.resolve(other.args[0]) or "").rpartition(".")[2] in ("Array", "DeviceArray", "ShardedDeviceArray"):
                return True
    return False


def _value(site: NameSite) -> Reports:
    call = site.parent()
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    if name in _MEMBERS:
        return site.manual(f"{name} looks into the class, and jax.Array is an abstract one with other members")
    return _review(site, "value stands for every array class")


codemod.rename(dict.fromkeys(_gda.CLASSES, "jax.Array"), "GlobalDeviceArray is jax.Array now", use_of_class)


# -- what else the module had --------------------------------------------------------------------------------------------------------


def use_of_shard(site: NameSite) -> Reports:
    """The class of shards is another one: same attributes, another constructor."""
    if site.role == "call":
        return site.manual("jax.Shard is made from (device, sharding, global_shape, data), not from an index and a replica id: "
                           "take the shards of an array")  # fmt: skip
    if site.role == "base-class":
        return site.manual("jax.Shard is no dataclass: do not derive from it")
    return None


codemod.rename(dict.fromkeys(_in_homes("Shard"), "jax.Shard"), handler=use_of_shard)
codemod.rename(dict.fromkeys(_in_homes("MeshAxes"), "jax.sharding.PartitionSpec"), "MeshAxes was another name of PartitionSpec")
codemod.rename(dict.fromkeys(_in_homes("Device"), "jax.Device"))
codemod.rename(dict.fromkeys(_in_homes("ArrayLike"), "jax.typing.ArrayLike"))
codemod.rename(dict.fromkeys(_in_homes("DeviceArray"), "jax.Array"))


@codemod.name_(*_in_homes("Shape", "Index"))
def tuple_types(site: NameSite) -> Reports:
    """Shape and Index were plain aliases of tuple types."""
    if not site.direct:
        return None
    name = site.symbol.rpartition(".")[2]
    holder = "tuple" if site.target_has("0.4.14") else "{typing.Tuple}"  # JAX 0.4.13 and older ran on Python 3.8
    return Rewrite(f"{name} was an alias of a tuple type", SAFE, (site.replace(f"{holder}[{'int' if name == 'Shape' else 'slice'}, ...]"),))


@codemod.name_(*_in_homes("_GdaFastPathArgs", "_get_sharding_spec", "_hashed_index", "_get_indices"))
def internals(site: NameSite) -> Report | tuple[Manual, ...]:
    """Private helpers that nothing replaces."""
    if any(isinstance(a, ast.keyword) and a.arg == "_gda_fast_path_args" for a in site.source.ancestors(site.node)):
        return ()  # goes with the argument
    return site.manual(f"{site.symbol.rpartition('.')[2]} was internal and is gone: a NamedSharding answers what is asked of it here")
