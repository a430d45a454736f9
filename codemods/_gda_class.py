"""What becomes of the name GlobalDeviceArray itself, use by use."""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, Handler, NameSite, Reports, Rewrite, last_part
from jaxmigrate_codemods import _gda
from jaxmigrate_codemods._beside_array import yields_to_array
from jaxmigrate_codemods._gda_isinstance import FAMILY, OPTION, call_around, review, tested
from jaxmigrate_codemods._gda_subclass import derived

_CONSTRUCTORS = frozenset({"from_callback", "from_batched_callback", "from_batched_callback_with_devices"})
_KEY = "a dict key: look-ups by type(x) find the private class of an array, never jax.Array; test with isinstance"
_MEMBERS = frozenset({"getmembers", "getattr", "hasattr", "setattr", "vars", "dir", "create_autospec"})


def use_of_class(site: NameSite) -> Reports:
    """What becomes of one use of the class; constructors are handled as calls."""
    role = site.role
    if role == "call" or _gda.is_bound_by_partial(site):
        return ()
    if role == "attribute":
        parent = site.parent()
        known = isinstance(parent, ast.Attribute) and parent.attr in _CONSTRUCTORS
        return () if known else site.manual(f"{site.text(parent)}: jax.Array is abstract and has nothing to take from it")
    if role == "dict-key":
        return site.manual(_KEY)
    handler = _HANDLERS.get(role)
    return handler(site) if handler else None


def _type_compare(site: NameSite) -> Reports:
    """``type(x) is GDA``: the concrete class of arrays is private."""
    compare = site.parent()
    if not (isinstance(compare, ast.Compare) and len(compare.ops) == 1 and not isinstance(compare.ops[0], (ast.In, ast.NotIn))):
        return site.manual("type(x) is never jax.Array, whose concrete class is private: test with isinstance(x, jax.Array)")
    other = compare.left if compare.comparators[0] is site.node else compare.comparators[0]
    subject = other.args[0] if isinstance(other, ast.Call) else other.value if isinstance(other, ast.Attribute) else other
    test, kinds = "isinstance({x}, {jax.Array})", "every array"
    if site.option(OPTION, "jax-array") == "multiprocess" and site.source.is_pure(subject):
        test, kinds = f"{test} and not {{x}}.is_fully_addressable", "arrays that span processes; it raises for tracers"
    if isinstance(compare.ops[0], (ast.IsNot, ast.NotEq)):
        test = f"not ({test})" if " and " in test else f"not {test}"
    new = site.replace(test, compare, x=subject)
    return Rewrite(f"type(x) is never jax.Array: this tests with isinstance, so for {kinds}", REVIEW, (new,))


def _register(site: NameSite) -> Reports:
    call = call_around(site)
    name = call.func.attr if call is not None and isinstance(call.func, ast.Attribute) else ""
    if "pytree" in name:
        return site.manual("a pytree registration: arrays are leaves of JAX itself, so take the registration out")
    if call is not None and _registers_another(site, call):
        return site.manual("another handler is registered for an array class: both are jax.Array now, so one has to do both")
    report: Reports = review(site, "handler gets every array (no tracers)")
    return report


def _registers_another(site: NameSite, call: ast.Call) -> bool:
    """Whether the same function has a handler for another class that becomes jax.Array."""
    receiver = ast.dump(call.func)
    for node in site.source.by_attribute.get("register", ()):
        other = site.source.parent(node)
        if isinstance(other, ast.Call) and other is not call and other.args and ast.dump(other.func) == receiver:
            name = site.source.resolve(other.args[0]) or ""
            if name.rpartition(".")[2] in FAMILY:
                return True
    return False


def _value(site: NameSite) -> Reports:
    call = site.parent()
    name = last_part(call.func) if isinstance(call, ast.Call) else ""
    if name in _MEMBERS:
        return site.manual(f"{name} looks into the class, and jax.Array is an abstract one with other members")
    report: Reports = review(site, "value stands for every array class")
    return report


def _subclass_test(site: NameSite) -> Reports:
    """At once, and not with the import: a later row must not take this one for a test of jax.Array that was there before."""
    if not site.direct:
        return None
    message = "with jax.Array this is true for every array class of JAX"
    return yields_to_array(site) or Rewrite(message, REVIEW, (site.replace("{jax.Array}"),))


_HANDLERS: dict[str, Handler] = {
    "isinstance": tested,
    "issubclass": _subclass_test,
    "type-compare": _type_compare,
    "register": _register,
    "base-class": derived,
    "value": _value,
}
