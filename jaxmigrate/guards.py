"""Code that already chooses by version or by presence of a name, and which imports reach which places.

An old API that is only the fallback of such a choice must be left alone (DESIGN section 3, *guard*).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.scan import last_part
from jaxmigrate.version_tests import answers_today, is_version_test

if TYPE_CHECKING:
    from jaxmigrate.names import Binding, Source

_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "Exception", "BaseException"}
_NO_NEWS = {"shape", "dtype", "ndim", "size", "T", "numpy", "item", "items", "keys", "values", "_asdict", "_fields", "name"}
"""What values of all sorts have had all along: to ask for it tells kinds of values, not releases."""
_NEWS = {
    "_committed", "abstract_device", "abstract_mesh", "addressable_data", "addressable_devices", "addressable_shards",
    "all_invars", "are_all_axes_auto", "are_all_axes_explicit", "are_all_axes_explicit_or_manual", "are_all_axes_manual",
    "as_text", "at", "auto_axes", "aval", "axis_sizes", "axis_types", "block_until_ready", "broadcast_in_dim",
    "call_wrapped", "check_compatible_aval", "client", "closure_convert", "committed", "compile", "copy_to_host_async",
    "cost_analysis", "dec_rank", "def_bind_with_trace", "def_custom_bind", "def_effectful_abstract_eval2", "device",
    "device_set", "devices", "dimension_as_value", "eval_shape", "explicit_axes", "format", "from_flat_info",
    "from_node_data_and_children", "full_lower", "fun_name", "global_shards", "has_addressable_devices", "inc_rank",
    "input_formats", "input_layouts", "input_shardings", "is_compatible_aval", "is_deleted", "is_effectful",
    "is_fully_addressable", "is_fully_replicated", "is_high", "layout", "leading_axis_spec", "lo_ty", "local_devices",
    "lojax", "lower", "lower_val", "lower_val2", "make_from_node_data_and_children", "manual_axes", "manual_axis_type",
    "map_primitive", "memory_analysis", "memory_kind", "memory_space", "mesh", "named_shape", "nospec", "num_consts",
    "num_devices", "on_device_size_in_bytes", "out_info", "output_formats", "output_layouts", "output_shardings",
    "physicalize", "raise_val", "raise_val2", "reduced", "ref_allocating", "ref_primitive", "replicated_axes", "reshard",
    "sharding", "skip_canonicalization", "spec", "strip_named_shape", "to_concrete_value", "to_ct_aval", "to_ct_spec",
    "to_device", "to_lo", "to_lojax", "to_tangent_aval", "to_tangent_spec", "trace", "unreduced", "unreduced_kind",
    "unsafe_buffer_pointer", "unsafe_raw_buffer", "unshard", "update_axis_types", "update_manual_axis_type",
    "update_weak_type", "vma", "vspace_add", "weak_type", "with_consts", "with_consts_as_arg", "with_memory_kind",
}  # fmt: skip
"""What values of JAX have that they had not in every release."""
_OTHERS = {"optax", "flax", "haiku", "torch", "tensorflow", "numpy", "scipy", "tqdm", "matplotlib", "chex", "pandas", "cupy"}
"""Packages that are there or not whatever the JAX."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_placeholder(source: Source, binding: Binding) -> bool:
    """Whether a binding only stands in for a failed import: ``except ImportError: jax = None``, or is no value at all."""
    if binding.kind in ("declare", "del"):
        return True
    if binding.kind != "assign" or binding.value is None or not is_empty(binding.value):
        return False
    return any(isinstance(a, ast.ExceptHandler) for a in source.ancestors(binding.node))


def first_living(source: Source, imports: list[Binding]) -> Binding | None:
    """Which of the imports in the arms of one ``try``/``except ImportError`` gives the name on the newest JAX."""
    owners = {next((a for a in source.ancestors(b.node) if isinstance(a, ast.Try)), None) for b in imports}
    owner = owners.pop() if len(owners) == 1 else None
    if owner is None or not all(_catches_absence(h) for h in owner.handlers):
        return None
    living = [b for b in imports if not source.is_dead(b.qualified) and not is_dead_module(source, b.qualified)]
    return living[0] if living else None


def is_empty(value: ast.expr) -> bool:
    """None, a constant, an empty container, ``object``, ``Any`` or ``type(None)``: a stand-in, not a successor."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return all(is_empty(e) for e in value.elts)
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("type", "object", "tuple", "list", "dict")
    leaf = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else ""
    return leaf in ("Any", "object", "NoneType")


def type_checking_block(source: Source, node: ast.AST) -> ast.If | None:
    """The ``if TYPE_CHECKING`` whose body holds `node`."""
    child = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body and _is_type_checking(ancestor.test):
            return ancestor
        child = ancestor
    return None


def _is_type_checking(test: ast.expr) -> bool:
    leaf = last_part(test)
    return leaf == "TYPE_CHECKING"


def in_annotation(source: Source, node: ast.AST) -> bool:
    """Whether `node` is (part of) an annotation."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.arg):
            return True
        if isinstance(ancestor, ast.AnnAssign):
            return child is ancestor.annotation
        if isinstance(ancestor, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return child is ancestor.returns
        if isinstance(ancestor, ast.stmt):
            return False
        child = ancestor
    return False


def is_lazy(source: Source, node: ast.AST) -> bool:
    """Whether `node` is never evaluated at run time: quoted, or an annotation under ``from __future__ import annotations``."""
    if source.is_quoted(node):
        return True
    if not in_annotation(source, node):
        return False
    return source.postpones_annotations


def reaches(source: Source, binding: Binding, at: ast.AST) -> bool:
    """Whether the import that made `binding` has run (or need not have) when `at` is evaluated."""
    statement = binding.statement
    if statement is None:
        return True
    typing_block = type_checking_block(source, statement)
    if typing_block is not None:
        if not (is_lazy(source, at) or type_checking_block(source, at) is typing_block):
            return False
    elif not condition_holds(source, statement, at):
        return False
    if source.scope(statement) is source.scope(at) and not is_lazy(source, at):
        return statement.lineno <= getattr(at, "lineno", statement.lineno)
    return not runs_too_late(source, statement, at)


def runs_too_late(source: Source, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether a function that holds `at` may be called by the module before it comes to this import, far below."""
    if source.scope(statement) is not source.scope_root or is_lazy(source, at):
        return False
    start, end = getattr(at, "lineno", statement.lineno), statement.lineno
    if end <= start:
        return False
    between = (
        s for s in source.tree.body if start < s.lineno < end and not isinstance(s, (*_SCOPES, ast.Import, ast.ImportFrom))
    )
    return any(isinstance(node, ast.Call) for s in between for node in ast.walk(s))


def condition_holds(source: Source, statement: ast.stmt, at: ast.AST) -> bool:
    """Whether every ``if``, handler or loop around the import is also around `at`; a try body counts as always run."""
    around = {id(a) for a in source.ancestors(at)}
    child: ast.AST = statement
    for ancestor in source.ancestors(statement):
        if isinstance(ancestor, _SCOPES):
            return True
        if isinstance(ancestor, ast.ExceptHandler) and id(ancestor) not in around:
            return False
        if isinstance(ancestor, (ast.If, ast.For, ast.While)):
            if id(ancestor) not in around:
                return False
            same_arm = child in getattr(ancestor, "body", ()) and any(id(s) in around or s is at for s in ancestor.body)
            other_arm = child in ancestor.orelse and any(id(s) in around or s is at for s in ancestor.orelse)
            if not (same_arm or other_arm):
                return False
        child = ancestor
    return True


def guard(source: Source, node: ast.AST) -> str:
    """Why the old API at `node` is only reached where it exists; empty when nothing guards it."""
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        reason = ""
        if isinstance(ancestor, ast.Try):
            reason = _try_guard(source, ancestor, child, node)
        elif isinstance(ancestor, (ast.If, ast.IfExp)):
            reason = _if_guard(source, ancestor, child)
        elif isinstance(ancestor, ast.BoolOp) and child in ancestor.values:
            reason = _boolop_guard(source, ancestor, child)
        reason = reason or _earlier_guard(source, ancestor, child)
        if reason:
            return reason
        child = ancestor
    return ""


def waits(source: Source, node: ast.AST, name: str) -> str:
    """Why `name`, which older releases do not have yet, is only reached where it exists; empty when nothing guards it."""
    if is_lazy(source, node) or type_checking_block(source, node) is not None:
        return "it is never evaluated at run time"
    child: ast.AST = node
    for ancestor in source.ancestors(node):
        if isinstance(ancestor, ast.Try) and child in ancestor.body and any(map(_catches_absence, ancestor.handlers)):
            return "the except clause is for a JAX without it"
        if isinstance(ancestor, (ast.If, ast.IfExp)) and child is not ancestor.test:
            in_body = child in ancestor.body if isinstance(ancestor, ast.If) else child is ancestor.body
            if reason := _waiting_test(source, ancestor.test, in_body, name):
                return reason
        if isinstance(ancestor, ast.BoolOp) and child in ancestor.values:
            before = ancestor.values[: ancestor.values.index(child)]
            holds = isinstance(ancestor.op, ast.And)
            if reason := next((r for v in before if (r := _waiting_test(source, v, holds, name))), ""):
                return reason
        if reason := _left_before(source, ancestor, child, name):
            return reason
        child = ancestor
    return ""


def _left_before(source: Source, ancestor: ast.AST, child: ast.AST, name: str) -> str:
    """``if not hasattr(jax, "new"): return old`` above."""
    if isinstance(ancestor, (ast.Module, ast.ClassDef)):
        return ""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(ancestor, field, None)
        if isinstance(block, list) and child in block:
            for earlier in block[: block.index(child)]:
                returns = isinstance(earlier, ast.If) and not earlier.orelse and leaves(earlier.body)
                if returns and (reason := _waiting_test(source, earlier.test, False, name)):
                    return reason
    return ""


def _waiting_test(source: Source, test: ast.expr, in_body: bool, name: str) -> str:
    """Why an arm of a test runs only where `name` exists."""
    test = source.value_of(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _waiting_test(source, test.operand, not in_body, name)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) == in_body:
            return next((r for v in test.values if (r := _waiting_test(source, v, in_body, name))), "")
        return ""
    if is_version_test(source, test):
        return "the code around it chooses by jax's version"
    asked = _presence_test(source, test)
    if in_body and asked and f"{name}.".startswith(f"{source.resolve(asked[0])}.{asked[1]}."):
        return f"the code around it asks whether {asked[1]!r} exists"
    return ""


def _earlier_guard(source: Source, ancestor: ast.AST, child: ast.AST) -> str:
    """``if hasattr(x, "new"): return x.new`` above: what follows in the block is the fallback."""
    if isinstance(ancestor, (ast.Module, ast.ClassDef)):
        return ""  # nothing returns there
    for name in ("body", "orelse", "finalbody"):
        block = getattr(ancestor, name, None)
        if not isinstance(block, list) or child not in block:
            continue
        for earlier in block[: block.index(child)]:
            if isinstance(earlier, ast.If) and not earlier.orelse and leaves(earlier.body):
                if reason := _test_guard(source, earlier.test, False):
                    return reason
            elif isinstance(earlier, ast.Try) and _is_first_choice(source, earlier):
                return "it is the fallback of a try whose first choice is current"
    return ""


def _is_first_choice(source: Source, statement: ast.Try) -> bool:
    """``try: return new(x)`` / ``except AttributeError: pass``: what follows runs where the new API is missing."""
    passes = any(_catches_absence(h) for h in statement.handlers) and not any(leaves(h.body) for h in statement.handlers)
    return passes and leaves(statement.body) and not _holds_dead(source, statement.body[-1])


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends by going elsewhere, so that what follows it runs only without it."""
    return isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def _try_guard(source: Source, statement: ast.Try, child: ast.AST, node: ast.AST) -> str:
    if isinstance(child, ast.ExceptHandler):
        if child.type is not None and node in ast.walk(child.type):
            return ""  # what is caught is asked for whenever anything is raised
        if _only_imports_others(statement.body):
            return ""
        if (_catches_absence(child) or _catches(child, {"TypeError"})) and not any(
            _holds_dead(source, s) for s in statement.body
        ):
            return "it is the fallback of a try whose first choice is current"
        return ""
    if child not in statement.body:
        return ""
    for handler in statement.handlers:
        if _is_uncallable(source, node) and not _catches(handler, {"TypeError", "Exception", "BaseException"}):
            continue  # the name is there, but calling or indexing it raises something else
        if _catches_absence(handler) and _handler_replaces(source, statement, handler, node):
            return "the except clause already has the successor"
    return ""


def is_probe(source: Source, statement: ast.stmt) -> bool:
    """Whether a ``try`` finds out by an import what there is: more happens with it, or without it."""
    parent = source.parent(statement)
    if not isinstance(parent, ast.Try) or statement not in parent.body or not any(map(_catches_absence, parent.handlers)):
        return False
    rest = [*parent.body, *parent.orelse, *(s for h in parent.handlers for s in h.body)]
    return not all(isinstance(s, (ast.Import, ast.ImportFrom, ast.Pass, ast.Raise)) for s in rest)


def _only_imports_others(body: list[ast.stmt]) -> bool:
    """``import optax``, whose absence says nothing about JAX."""
    names = [a.name for s in body if isinstance(s, ast.Import) for a in s.names]
    names += [s.module or "" for s in body if isinstance(s, ast.ImportFrom) and not s.level]
    imports = all(isinstance(s, ast.Import) or (isinstance(s, ast.ImportFrom) and not s.level) for s in body)
    return imports and all(name.partition(".")[0] in _OTHERS for name in names)


def _is_uncallable(source: Source, node: ast.AST) -> bool:
    """Whether `node` calls or indexes an attribute that is still there but can no longer be called or indexed."""
    attribute = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else node
    return isinstance(attribute, ast.Attribute) and attribute.attr in source.facts.uncallable


def _catches_absence(handler: ast.ExceptHandler) -> bool:
    return _catches(handler, _IMPORT_ERRORS)


def _catches(handler: ast.ExceptHandler, wanted: set[str]) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    leaves = {last_part(k) for k in kinds}
    return bool(leaves & wanted)


def _handler_replaces(source: Source, statement: ast.Try, handler: ast.ExceptHandler, node: ast.AST) -> bool:
    """Whether the handler does with a living API what the body does with the old one."""
    if any(_holds_dead(source, s) for s in handler.body):
        return False
    body_names, handler_names = _bound_names(statement.body), _bound_names(handler.body)
    if body_names and all(isinstance(s, ast.Pass) for s in handler.body):
        handler_names = _bound_names(_before(source, statement))
    if body_names:
        real = {n for n, value in handler_names.items() if value is None or not is_empty(value)}
        return bool(body_names.keys() & real)
    if all(isinstance(s, (ast.Pass, ast.Raise, ast.Continue, ast.Break)) for s in handler.body):
        return False
    if isinstance(statement.body[-1], ast.Return):
        last = handler.body[-1]
        return isinstance(last, ast.Return) and last.value is not None and not is_empty(last.value)
    return False


def _before(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of the same block that bind nothing old before this one."""
    parent = source.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and statement in block:
            return [s for s in block[: block.index(statement)] if not _holds_dead(source, s)]
    return []


def _bound_names(body: list[ast.stmt]) -> dict[str, ast.expr | None]:
    names: dict[str, ast.expr | None] = {}
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                names[alias.asname or alias.name.partition(".")[0]] = None
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    names[target.id] = statement.value
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names[statement.name] = None
    return names


def _holds_dead(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement uses or imports an old name."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Name, ast.Attribute)):
            if source.is_dead(source.resolve(node)) or (isinstance(node, ast.Attribute) and node.attr in source.dead_members):
                return True
        elif isinstance(node, ast.keyword):
            if node.arg in source.dead_members:
                return True
        elif isinstance(node, ast.ImportFrom):
            module = source.absolute(node.module, node.level)
            if any(source.is_dead(name := f"{module}.{a.name}") or is_dead_module(source, name) for a in node.names):
                return True
        elif isinstance(node, ast.Import) and any(is_dead_module(source, a.name) for a in node.names):
            return True
    return False


def is_dead_module(source: Source, module: str) -> bool:
    """Whether `module` is gone as a whole on the newest JAX."""
    return source.facts.is_gone_module(module)


def _if_guard(source: Source, node: ast.If | ast.IfExp, child: ast.AST) -> str:
    if child is node.test:
        return ""
    in_body = child in node.body if isinstance(node, ast.If) else child is node.body
    return _test_guard(source, node.test, in_body)


def _test_guard(source: Source, test: ast.expr, in_body: bool) -> str:
    test = source.value_of(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _test_guard(source, test.operand, not in_body)
    if isinstance(test, ast.BoolOp):
        reasons = [_test_guard(source, v, in_body) for v in test.values]
        if isinstance(test.op, ast.And) == in_body:  # every part of an `and` holds in its body; of an `or`, fails in its else
            return next(filter(None, reasons), "")
        return reasons[0] if all(reasons) else ""
    if is_version_test(source, test):
        return "" if in_body in answers_today(source, test) else "the code around it chooses by jax's version"
    asked = _presence_test(source, test)
    if asked and _is_dead(source, *asked) == in_body and not _tells_kinds(source, *asked):
        return f"the code around it asks whether {asked[1]!r} exists"
    return ""


def _tells_kinds(source: Source, owner: ast.expr, name: str) -> bool:
    """Whether ``hasattr(x, "shape")`` asks what kind of value `x` is, or ``hasattr(device, "coords")``: not of JAX's release."""
    ours = (source.resolve(owner) or "").partition(".")[0] in source.facts.history.members("")
    if ours or _is_dead(source, owner, name) or name == "__jax_array__":
        return False
    return name in _NO_NEWS or name.startswith("__") or not (name in _NEWS or _is_public(source, name))


def _is_public(source: Source, name: str) -> bool:
    """Whether some module of the library has the name."""
    history = source.facts.history
    return any(name in history.members(section) for section in history.sections())


def _is_dead(source: Source, owner: ast.expr, name: str) -> bool:
    """Whether ``hasattr(owner, name)`` is false on the newest JAX."""
    module = source.resolve(owner)
    if module is not None:
        return source.is_dead(asked := f"{module}.{name}") or is_dead_module(source, asked) or name in source.dead_members
    return name in source.dead_leaves or name in source.dead_members


def _presence_test(source: Source, test: ast.expr) -> tuple[ast.expr, str] | None:
    """Object and attribute that ``hasattr(x, "name")`` asks for; also when the answer was put into a variable."""
    test = source.value_of(test)
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "hasattr" and len(test.args) == 2:
        wanted = test.args[1]
        if isinstance(wanted, ast.Constant) and isinstance(wanted.value, str):
            return test.args[0], wanted.value
    return None


def _boolop_guard(source: Source, node: ast.BoolOp, child: ast.AST) -> str:
    """``hasattr(x, "old") and x.old``; ``not hasattr(x, "new") and x.old``."""
    before = node.values[: next(i for i, v in enumerate(node.values) if v is child)]
    holds = isinstance(node.op, ast.And)
    return next((r for v in before if (r := _test_guard(source, v, holds))), "")
