"""What left `jax.interpreters` and has a public home.

https://docs.jax.dev/en/latest/changelog.html (0.4.31, 0.4.36, 0.9.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, NameSite, Reports, Rewrite
from jaxmigrate.guards import in_annotation
from jaxmigrate.registry import history
from jaxmigrate_codemods._moved_modules import member_moves

_XLA = "jax.interpreters.xla"
_XLAS = (_XLA, "jax.xla")
_MODULES = {f"{_XLA}.xb": "jax.extend.backend", "jax.interpreters.ad.source_info_util": "jax.extend.source_info_util"}

codemod = Codemod(
    "jax-interpreters",
    summary="names that left jax.interpreters for a public home",
    since="0.2.0",
    deprecated="0.3.16",
    removed="0.4.14",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)


def _moveaxis(site: NameSite) -> Reports:
    """The keywords of NumPy's function are others."""
    call = site.parent()
    if isinstance(call, ast.Call) and call.func is site.node and any(k.arg in ("src", "dst") for k in call.keywords):
        return site.manual("jax.numpy.moveaxis(x, source, destination) is its public form")
    return None


def _not_mapped(site: NameSite) -> Reports:
    """It was None in every release."""
    return Rewrite("jax.interpreters.batching.not_mapped was None", SAFE, (site.replace("None"),))


def _class_of_none(site: NameSite) -> Reports:
    """It was the class of None."""
    new = "None" if in_annotation(site.source, site.node) else "type(None)"
    return Rewrite("jax.interpreters.batching.NotMapped was type(None)", SAFE, (site.replace(new),))


_MOVES = {old: new for old, new in history().moves("jax-interpreters").items() if old not in _MODULES}
_MOVEAXIS = "jax.interpreters.batching.moveaxis"
codemod.rename({old: new for old, new in _MOVES.items() if old != _MOVEAXIS})
codemod.rename({_MOVEAXIS: "jax.numpy.moveaxis"}, handler=_moveaxis)
codemod.name_("jax.interpreters.batching.not_mapped")(_not_mapped)
codemod.name_("jax.interpreters.batching.NotMapped")(_class_of_none)
for _old, _new in _MODULES.items():
    codemod.rename({_old: _new}, handler=member_moves(_new))


@codemod.call(*(f"{xla}.abstractify" for xla in _XLAS))
def abstractify(site: CallSite) -> Reports:
    """The type of a value."""
    value = site.bind("x")["x"]
    if site.partial or not site.target_has("0.6.0"):
        return site.manual("jax.typeof(x) is the type of a value since 0.6.0")
    return Rewrite("jax.typeof tells the type of a value", SAFE, (site.replace("{jax.typeof}({x})", x=value),))


@codemod.call(*(f"{xla}.canonicalize_dtype" for xla in _XLAS))
def canonicalize_dtype(site: CallSite) -> Reports:
    """It took a value, unlike the function of jax.dtypes."""
    value = site.bind("x")["x"]
    if site.partial:
        return site.manual("jax.numpy.asarray(x) gives a value the type that JAX would use")
    message = "jax.numpy.asarray gives a value the type that JAX would use; it is an array then, on the default device"
    return Rewrite(message, REVIEW, (site.replace("{jax.numpy.asarray}({x})", x=value),))
