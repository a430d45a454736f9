"""The axes of `jax.make_mesh` are Explicit since 0.9.0 where nothing is said; before they were Auto.

https://docs.jax.dev/en/latest/changelog.html (0.8.1, 0.9.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template

from ._changes import argument, before

codemod = Codemod(
    "mesh-axis-types",
    summary="jax.make_mesh without axis_types makes Explicit axes, and made Auto ones",
    since="0.9.0",
    deprecated="0.8.1",
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html",
    words=frozenset({"make_mesh"}),
    applicability=REVIEW,
)

_WHY = "axes of jax.make_mesh are Explicit by default since 0.9.0, and were Auto"
_TYPES = "jax.sharding.AxisType.Auto"


@codemod.call("jax.make_mesh")
@before("0.9.0")
def make_mesh(site: CallSite) -> Reports:
    """The old default by its name, as many times as there are axes."""
    if site.partial or site.keyword("axis_types") is not None:
        return None
    names = argument(site.node, 1, "axis_names")
    if site.has_star() or names is None:
        return site.manual(f"{_WHY}: unless the arguments say otherwise, add axis_types=({_TYPES},) * (number of axes)")
    if not site.target_has("0.5.3"):
        return site.manual(f"{_WHY}: from 0.5.3 on add axis_types=({_TYPES},) * {_number(site, names) or '(number of axes)'}")
    number = _number(site, names)
    if number is None:
        return site.manual(f"{_WHY}: add axis_types=({_TYPES},) * (number of axes)")
    times = "" if number == "1" else f" * {number}"
    types = Template(f"({{jax.sharding.AxisType}}.Auto,){times}", {"names": names})
    change = EditCall(site.node, append=(("axis_types", types),))
    return Rewrite(f"{_WHY}; this keeps them so", REVIEW, (change,), requires="0.5.3")


@codemod.name_("jax.make_mesh")
@before("0.9.0")
def passed_on(site: NameSite) -> Reports:
    """Who calls it then is not known here."""
    parent = site.parent()
    if site.role in ("call", "attribute", "alias") or site.quoted or not isinstance(parent, (ast.Call, ast.keyword)):
        return None
    given = parent.keywords if isinstance(parent, ast.Call) else []
    return None if any(k.arg == "axis_types" for k in given) else site.manual(f"{_WHY}: pass axis_types where it is called")


def _number(site: CallSite, names: ast.expr) -> str | None:
    """How many axes there are, as text."""
    for node in (names, argument(site.node, 0, "axis_shapes")):
        value = site.source.value_of(node) if node is not None else None
        if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in value.elts):
            return str(len(value.elts))
    return "len({names})" if site.source.is_pure(names) else None
