"""`x.device` is a property since 0.4.31, and `jax.devices("cpu")` lists the devices of all processes since 0.4.21.

https://docs.jax.dev/en/latest/changelog.html (0.4.21, 0.4.27, 0.4.31)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, AttributeSite, CallSite, Codemod, Reports, Rewrite, StringSite
from jaxmigrate.model import Severity

from ._arrays import VALUE_TYPES
from ._changes import argument, before, builtin_calls, kind
from ._host_local import is_multi_process

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "devices",
    summary='x.device is a property; jax.devices("cpu") lists the devices of all processes',
    since="0.4.31",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.Array.device.html",
    words=frozenset({"device", "devices", "device_count"}),
    applicability=REVIEW,
)

_WHY = (
    "x.device is a property since 0.4.31, was a method until 0.4.26 and absent between: the device of an array on one, and for "
    "an array on several their sharding"
)


@codemod.attribute("device")
@before("0.4.31")
def as_value(site: AttributeSite) -> Reports:
    """``x.device`` without a call, of what is known to be an array."""
    around = site.parent()
    if site.assignment or site.call() is not None or kind(site.source, site.value) not in VALUE_TYPES or _was_called(site):
        return None
    if isinstance(around, ast.Assign) and _is_called(site, around):
        return None
    return site.manual(f"{_WHY}; x.devices() is the set of them in every release since 0.4.7", severity=Severity.LOW)


def _was_called(site: AttributeSite) -> bool:
    """Whether a codemod has just taken the parentheses from ``x.device()``."""
    original = site.source.original
    if original is None:
        return False
    text, line = site.text(), site.source.original_line(site.node)
    now = [a for a in _alike(site.source, text) if site.source.original_line(a) == line]
    then = [a for a in _alike(original, text) if a.lineno == line]
    if len(now) != len(then):
        return not any(_is_read(original, a) for a in then)
    return not _is_read(original, then[now.index(site.node)])


def _alike(source: Source, text: str) -> list[ast.Attribute]:
    """The ``x.device`` of one array, in the order of the text."""
    return sorted((a for a in source.by_attribute.get("device", ()) if source.segment(a) == text), key=source.span)


def _is_read(source: Source, attribute: ast.Attribute) -> bool:
    call = source.parent(attribute)
    return not (isinstance(call, ast.Call) and call.func is attribute)


def _is_called(site: AttributeSite, statement: ast.Assign) -> bool:
    """Whether the name that is bound to the method is called: array-attributes speaks of that."""
    names = [t.id for t in statement.targets if isinstance(t, ast.Name)]
    uses = [n for name in names for n in site.source.by_id.get(name, ()) if site.source.definition(n) is site.node]
    return any(isinstance(call := site.source.parent(n), ast.Call) and call.func is n for n in uses)


@codemod.string("device")
@before("0.4.31")
def by_name(site: StringSite) -> Reports:
    """``hasattr(x, "device")`` and ``getattr(x, "device", None)``, which is not called."""
    source, call = site.source, site.parent()
    if site.value != "device" or not isinstance(call, ast.Call) or call.args[1:2] != [site.node]:
        return None
    if call not in list(builtin_calls(source, "hasattr", "getattr")) or kind(source, call.args[0]) not in VALUE_TYPES:
        return None
    called = source.parent(call)
    return None if isinstance(called, ast.Call) and called.func is call else site.manual(_WHY, severity=Severity.LOW)


@codemod.call("jax.devices", "jax.device_count")
@before("0.4.21")
def of_all_processes(site: CallSite) -> Reports:
    """``jax.devices("cpu")`` of a program with several processes."""
    backend = argument(site.node, 0, "backend")
    if site.partial or not isinstance(backend, ast.Constant) or backend.value != "cpu" or not is_multi_process(site.source):
        return None
    if _chooses_own(site):
        return None
    new = "{jax.local_devices}" if site.symbol == "jax.devices" else "{jax.local_device_count}"
    change = site.replace(f"{new}(backend={{backend}})", site.node, backend=backend)
    what = "lists the CPU devices" if site.symbol == "jax.devices" else "counts the CPU devices"
    return Rewrite(f'{site.symbol}("cpu") {what} of all processes since 0.4.21, and those of its own before', REVIEW, (change,))


def _chooses_own(site: CallSite) -> bool:
    """Whether only the devices of one process are taken from the list (``if d.process_index == jax.process_index()``)."""
    around = site.parent()
    return isinstance(around, ast.comprehension) and "process_index" in " ".join(site.text(test) for test in around.ifs)
