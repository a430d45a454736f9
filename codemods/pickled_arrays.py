"""Unpicklers that name array classes, and old programs that load pickles: those of an old JAX hold classes that are gone.

https://docs.jax.dev/en/latest/jax_array_migration.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import Codemod, FileSite, Manual, Reports, StringSite, last_part
from jaxmigrate.model import Severity

from ._changes import before, first

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "pickled-arrays",
    summary="unpicklers that look for the array classes of an old JAX",
    since="0.4.1",
    deprecated=None,
    removed="0.4.9",
    link="https://docs.jax.dev/en/latest/jax_array_migration.html",
    words=frozenset({"find_class", "_reconstruct_array", "pickle"}),
)
_GONE = ("jax.interpreters.xla", "jax._src.device_array", "jaxlib.xla_extension", "DeviceArray", "_reconstruct_array")
_ADVICE = (
    "pickles written by an old JAX name classes and functions that are gone: load them with the JAX that wrote them, and keep "
    "the arrays by numpy.save, or orbax, which no release of JAX can break (orbax.readthedocs.io)"
)
_MODULES = ("jax.interpreters.xla", "jax._src.device_array", "jaxlib.xla_extension")
_CLASSES = ("DeviceArray", "_DeviceArray", "Buffer")
_NAMES = frozenset({"_reconstruct_array", *_MODULES, *_CLASSES, *(f"{m}.{c}" for m in _MODULES for c in _CLASSES)})


@codemod.string(*_GONE)
def unpickled(site: StringSite) -> Reports:
    """The first name of those in a ``find_class``."""
    method = next((a for a in site.source.ancestors(site.node) if isinstance(a, ast.FunctionDef)), None)
    if method is None or method.name != "find_class":
        return None
    first = next((n for n in ast.walk(method) if isinstance(n, ast.Constant) and n.value in _NAMES), None)
    return site.manual(_ADVICE) if first is site.node else None


_LOADERS = tuple(f"{module}.{name}" for module in ("pickle", "cloudpickle", "dill") for name in ("load", "loads"))


@codemod.file
@before("0.4.1")
def loaded(site: FileSite) -> Iterator[Manual]:
    """The first ``pickle.load`` of a file that uses JAX: what it reads may be older than the array class of today."""
    uses_jax = any(name.partition(".")[0] == "jax" for name in site.source.loaded_modules())
    loads = [n for n in first(site.source, site.source.names(*_LOADERS)) if _is_of_old(site.source, n)]
    if uses_jax and loads:
        yield site.manual(f"if this reads arrays: {_ADVICE}", loads[0], Severity.LOW)


def _is_of_old(source: Source, loader: ast.expr) -> bool:
    """Whether it is called on something else than what ``dumps`` has just made."""
    call = source.parent(loader)
    if not isinstance(call, ast.Call) or call.func is not loader or not call.args:
        return False
    made = source.value_of(call.args[0])
    return not (isinstance(made, ast.Call) and last_part(made.func) == "dumps")
