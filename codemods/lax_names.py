"""Functions that left jax.lax, and the modules that it was made of before 0.2.7.

https://docs.jax.dev/en/latest/changelog.html (0.2.7, 0.4.14, 0.4.24, 0.4.29, 0.9.0, 0.10.0)
"""

from __future__ import annotations

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, Reports, Rewrite, Template
from jaxmigrate.registry import history
from jaxmigrate_codemods._calls import argument, no_common_spelling, passed_on, renamed_partial

codemod = Codemod(
    "lax-names",
    summary="functions that left jax.lax",
    since="0.2.0",
    deprecated="0.4.11",
    removed="0.4.16",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)
codemod.rename(history().moves("lax-names"))


@codemod.call("jax.lax.tie_in")
def tie_in(site: CallSite) -> Reports:
    """It has given back its second argument since 0.2.0."""
    first, second = argument(site, 0, "x"), argument(site, 1, "y")
    if site.partial or site.has_star() or first is None or second is None:
        return site.manual("jax.lax.tie_in(x, y) is y: it has done nothing since JAX 0.2.0")
    message = "jax.lax.tie_in(x, y) is y: it has done nothing since JAX 0.2.0"
    change = site.replace("{y}", y=second)
    if site.source.is_pure(first):
        return Rewrite(message, SAFE, (change,))
    return Rewrite(f"{message}; {site.text(first)} is not computed any more", REVIEW, (change,))


@codemod.call("jax.lax.pvary")
def pvary(site: CallSite) -> Reports:
    """A cast to what varies over axes of the mesh."""
    if why := no_common_spelling(site, "jax.lax.pcast"):
        return site.manual(why)
    if site.partial:
        edit = renamed_partial(site, "jax.lax.pcast", to='"varying"')
    else:
        edit = EditCall(site.node, Template("{jax.lax.pcast}"), append=(("to", Template('"varying"')),))
    return Rewrite('jax.lax.pvary(x, axes) is jax.lax.pcast(x, axes, to="varying")', SAFE, (edit,))


passed_on(
    codemod,
    {"jax.lax.pvary": '{functools.partial}({jax.lax.pcast}, to="varying")', "jax.lax.tie_in": "lambda x, y: y"},
)
