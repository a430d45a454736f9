"""Axes of `jax.make_mesh` are Explicit since 0.9.0 where nothing is said, of abstract meshes since 0.11.1; they were Auto.

https://docs.jax.dev/en/latest/changelog.html (0.8.1, 0.9.0); of abstract meshes jax/_src/mesh.py tells, by tag.
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template

from ._changes import argument, before

codemod = Codemod(
    "mesh-axis-types",
    summary="jax.make_mesh and AbstractMesh without axis_types make Explicit axes, and made Auto ones",
    since="0.9.0",
    deprecated="0.8.1",
    removed=None,
    link="https://docs.jax.dev/en/latest/_autosummary/jax.make_mesh.html",
    words=frozenset({"make_mesh", "AbstractMesh"}),
    applicability=REVIEW,
)

_MAKE, _ABSTRACT = "jax.make_mesh", "jax.sharding.AbstractMesh"
_SINCE = {_MAKE: "0.9.0", _ABSTRACT: "0.11.1"}
_WHY = {name: f"axes of {name} are Explicit by default since {since}, and were Auto" for name, since in _SINCE.items()}
_TYPES = "jax.sharding.AxisType.Auto"


@codemod.call(_MAKE)
@before(_SINCE[_MAKE])
def make_mesh(site: CallSite) -> Reports:
    """The old default by its name, as many times as there are axes."""
    return None if site.partial else _kept(site, _WHY[_MAKE])


@codemod.call(_ABSTRACT)
@before(_SINCE[_ABSTRACT])
def abstract_mesh(site: CallSite) -> Reports:
    """The same; pairs of names and sizes are no call of today."""
    told = site.partial or len(site.node.args) > 2 or argument(site.node, 1, "axis_names") is None
    return None if told else _kept(site, _WHY[_ABSTRACT])


def _kept(site: CallSite, why: str) -> Reports:
    if site.keyword("axis_types") is not None:
        return None
    names = argument(site.node, 1, "axis_names")
    if site.has_star() or names is None:
        return site.manual(f"{why}: unless the arguments say otherwise, add axis_types=({_TYPES},) * (number of axes)")
    if not site.target_has("0.5.3"):
        return site.manual(f"{why}: from 0.5.3 on add axis_types=({_TYPES},) * {_number(site, names) or '(number of axes)'}")
    number = _number(site, names)
    if number is None:
        return site.manual(f"{why}: add axis_types=({_TYPES},) * (number of axes)")
    times = "" if number == "1" else f" * {number}"
    types = Template(f"({{jax.sharding.AxisType}}.Auto,){times}", {"names": names})
    change = EditCall(site.node, append=(("axis_types", types),))
    return Rewrite(f"{why}; this keeps them so", REVIEW, (change,), requires="0.5.3")


@codemod.name_(_MAKE)
@before(_SINCE[_MAKE])
def passed_on(site: NameSite) -> Reports:
    """Who calls it then is not known here."""
    parent = site.parent()
    if site.role in ("call", "attribute", "alias") or site.quoted or not isinstance(parent, (ast.Call, ast.keyword)):
        return None
    given = parent.keywords if isinstance(parent, ast.Call) else []
    return (
        None if any(k.arg == "axis_types" for k in given) else site.manual(f"{_WHY[_MAKE]}: pass axis_types where it is called")
    )


def _number(site: CallSite, names: ast.expr) -> str | None:
    """How many axes there are, as text."""
    for node in (names, argument(site.node, 0, "axis_shapes")):
        value = site.source.value_of(node) if node is not None else None
        if isinstance(value, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in value.elts):
            return str(len(value.elts))
    return "len({names})" if site.source.is_pure(names) else None
