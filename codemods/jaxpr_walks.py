"""What code that walks a jaxpr meets: the primitive `pjit` is called `jit` since 0.7.0, jaxprs cannot be changed since 0.4.2.

https://docs.jax.dev/en/latest/changelog.html (0.4.2, 0.7.0)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxmigrate.codemod import (
    REVIEW,
    AttributeSite,
    Codemod,
    FileSite,
    NameSite,
    ReplaceText,
    Report,
    Reports,
    Rewrite,
    StringSite,
    last_part,
)

from ._arrays import elements
from ._changes import before

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "jaxpr-walks",
    summary="the primitive of jit is called jit, and was pjit; jaxprs are immutable and all alike",
    since="0.7.0",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"pjit", "xla_call", "eqns", "invars", "outvars", "constvars", "ClosedJaxpr", "get_bind_params"}),
    applicability=REVIEW,
)

_RENAMED = "the primitive of jax.jit is called jit since 0.7.0, and was pjit"
_IN_TEXT = "calls of jit are printed as jit in a jaxpr since 0.7.0, and were pjit"
_OLDER = (
    "the primitive of jax.jit is called jit since 0.7.0, pjit from 0.4.4 on and xla_call before; "
    "its body is the closed jaxpr params['jaxpr']"
)


@codemod.string("pjit", "xla_call")
@before("0.7.0")
def primitive_name(site: StringSite) -> Reports:
    """A name that is compared with that of a primitive."""
    if site.value not in ("pjit", "xla_call") or _knows_jit(site):
        return None
    parent = site.parent()
    if isinstance(parent, ast.MatchValue):
        return _matched(site, parent)
    if isinstance(parent, ast.Compare):
        return _compared(site, parent, site.node)
    if isinstance(parent, (ast.Tuple, ast.List, ast.Set)):
        return _listed(site, parent)
    if isinstance(parent, ast.Call):
        return _prefix(site, parent)
    if not isinstance(parent, ast.Dict) or site.node not in parent.keys or not _names_primitives(site.source):
        return None
    why = _RENAMED if site.value == "pjit" else _OLDER
    return site.manual(f"{why}: if this is asked with names of primitives, it needs an entry for jit")


def _compared(site: StringSite, compare: ast.Compare, own: ast.expr) -> Reports:
    """``name == "pjit"`` asks for both; the file may do so already."""
    source = site.source
    other = compare.left if own in compare.comparators else compare.comparators[0]
    if len(compare.ops) == 1 and isinstance(compare.ops[0], (ast.In, ast.NotIn)) and _is_text(source, other):
        return site.manual(f"{_IN_TEXT}: look for jit too", compare)
    if len(compare.ops) != 1 or not _is_name(source, other):
        return None
    if isinstance(compare.ops[0], (ast.In, ast.NotIn)) and own is compare.left:
        return site.manual(f"{_RENAMED}: look for jit too", compare)  # a part of the name
    if not isinstance(compare.ops[0], (ast.Eq, ast.NotEq)):
        return None
    if site.value == "xla_call":
        return site.manual(_OLDER, compare)
    operator = "in" if isinstance(compare.ops[0], ast.Eq) else "not in"
    change = site.replace(f'{{name}} {operator} ("pjit", "jit")', compare, name=other)
    return Rewrite(_RENAMED, REVIEW, (change,), compare)


def _prefix(site: StringSite, call: ast.Call) -> Reports:
    """``name.startswith("pjit")`` and ``str(jaxpr).count("pjit")``."""
    if (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("count", "find", "index")
        and _is_text(site.source, call.func.value)
    ):
        return site.manual(f"{_IN_TEXT}: look for jit too", call)
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "startswith" or not _is_name(site.source, call.func.value):
        return None
    if site.value == "xla_call" or len(call.args) != 1:
        return site.manual(_OLDER, call)
    return Rewrite(_RENAMED, REVIEW, (site.replace('("pjit", "jit")', site.node),), call)


def _knows_jit(site: StringSite) -> bool:
    """Whether the file, as it was read, asks for the new name somewhere; or this place does by now."""
    read, parent = site.source.original or site.source, site.parent()
    asking = (ast.Compare, ast.MatchValue, ast.Tuple, ast.List, ast.Set, ast.Dict)
    if any(_is_jit(s) and isinstance(read.parent(s), asking) and not _is_of_others(read, s) for s in read.strings):
        return True
    around = site.source.parent(parent) if isinstance(parent, ast.MatchValue) else parent
    return around is not None and any(_is_jit(n) for n in ast.walk(around))


def _is_of_others(source: Source, name: ast.Constant) -> bool:
    """Whether a word is compared with something else than the name of a primitive (``mode == "jit"``)."""
    compare = source.parent(name)
    return isinstance(compare, ast.Compare) and not any(_is_name(source, n) for n in (compare.left, *compare.comparators))


def _is_jit(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == "jit"


def _listed(site: StringSite, names: ast.Tuple | ast.List | ast.Set) -> Reports:
    """``name in ("pjit", "xla_call")``: one more name."""
    source = site.source
    compare = source.parent(names)
    bound = isinstance(compare, ast.Assign) and len(compare.targets) == 1 and isinstance(compare.targets[0], ast.Name)
    if isinstance(compare, ast.Call) and getattr(compare.func, "id", "") in ("frozenset", "set", "tuple"):
        bound = isinstance(source.parent(compare), ast.Assign)
    if site.value == "xla_call" and any(_is_pjit(e) for e in names.elts):
        return None
    tested = isinstance(compare, ast.Compare) and names in compare.comparators and _is_name(source, compare.left)
    if not tested and not (bound and _names_primitives(source)):
        return None
    if site.value == "xla_call":
        return site.manual(_OLDER)
    start, end = source.span(site.node)
    text = source.segment(site.node)
    return Rewrite(_RENAMED, REVIEW, (ReplaceText(start, end, f"{text}, {text.replace('pjit', 'jit')}"),))


def _is_pjit(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == "pjit"


def _matched(site: StringSite, pattern: ast.MatchValue) -> Reports:
    """``case "pjit":``."""
    source = site.source
    match = next((a for a in source.ancestors(pattern) if isinstance(a, ast.Match)), None)
    if match is None or not _is_name(source, match.subject):
        return None
    if site.value == "xla_call":
        return site.manual(_OLDER)
    start, end = source.span(site.node)
    text = source.segment(site.node)
    return Rewrite(_RENAMED, REVIEW, (ReplaceText(start, end, f"{text} | {text.replace('pjit', 'jit')}"),))


def _is_name(source: Source, node: ast.expr) -> bool:
    """``eqn.primitive.name``, ``prim.name``, ``str(eqn.primitive)``, or a name for one."""
    value = source.value_of(node)
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "str" and value.args:
        value = value.args[0]
        return _is_primitive(source, value)
    return isinstance(value, ast.Attribute) and value.attr == "name" and _is_primitive(source, value.value)


def _is_text(source: Source, node: ast.expr) -> bool:
    """``str(jaxpr)``, of something that is called so or that make_jaxpr gave."""
    value = source.value_of(node)
    if not isinstance(value, ast.Call) or last_part(value.func) not in ("str", "repr") or len(value.args) != 1:
        return False
    printed = source.value_of(value.args[0])
    made = printed.func if isinstance(printed, ast.Call) else None
    is_made = isinstance(made, ast.Call) and source.resolve(made.func) == "jax.make_jaxpr"
    return is_made or "jaxpr" in last_part(value.args[0]).lower()


def _is_primitive(source: Source, node: ast.expr) -> bool:
    value = source.value_of(node)
    leaf = last_part(value)
    return "prim" in leaf.lower()


def _names_primitives(source: Source) -> bool:
    """Whether the file asks a primitive for its name."""
    return any(_is_primitive(source, a.value) for a in source.by_attribute.get("name", ()))


@codemod.attribute("eqns", "invars", "outvars", "constvars")
@before("0.4.2")
def assigned(site: AttributeSite) -> Reports:
    """``jaxpr.eqns = ...``."""
    leaf = site.text(site.value).rpartition(".")[2].lower()
    if not site.assignment or "jaxpr" not in leaf:
        return None
    new = f"{site.text(site.value)}.replace({site.symbol}=...)"
    return site.manual(f"a jaxpr cannot be changed since 0.4.2: make another with {new}")


@codemod.attribute("get_bind_params")
@before("0.9.2")
def bind_params(site: AttributeSite) -> Reports:
    """``subfuns, params = eqn.primitive.get_bind_params(eqn.params)``: the parameters alone, with the functions among them."""
    source, call = site.source, site.call()
    around = source.parent(call) if call is not None else None
    if call is None or not _is_primitive(source, site.value):
        return None
    why = "get_bind_params gives the parameters since 0.9.2, and gave a pair with functions before"
    is_second = isinstance(around, ast.Subscript) and around.value is call and site.text(around.slice) == "1"
    is_pair = isinstance(around, ast.Assign) and isinstance(around.targets[0], ast.Tuple) and len(around.targets[0].elts) == 2
    if not is_second and not is_pair:
        return None
    if not site.target_has("0.9.2"):
        return site.manual(f"{why}: where it is a dict, there are no functions to bind", call)
    if isinstance(around, ast.Subscript):
        return Rewrite(why, REVIEW, (site.replace("{params}", around, params=call),), call, requires="0.9.2")
    return Rewrite(why, REVIEW, (site.replace("[], {params}", call, params=call),), call, requires="0.9.2")


@codemod.name_("jax.core.ClosedJaxpr", "jax.extend.core.ClosedJaxpr", "jax._src.core.ClosedJaxpr")
@before("0.11.0")
def closed(site: NameSite) -> Reports:
    """Open and closed jaxprs are of one class."""
    if site.role != "isinstance" or site.quoted:
        return None
    source = site.source
    call = next(a for a in source.ancestors(site.node) if isinstance(a, ast.Call))
    opened = source.names(*(f"{m}.Jaxpr" for m in ("jax.core", "jax.extend.core", "jax._src.core")))
    if any(e in opened for e in elements(call.args[1])):
        return None  # both are meant
    return site.manual(
        "ClosedJaxpr is Jaxpr since 0.11.0, so that this is true for open jaxprs too (eqn.params['call_jaxpr'], x.jaxpr); "
        "where the two go different ways, test for constvars or consts",
        call,
    )


@codemod.file
@before("0.7.0")
def parts_of_text(site: FileSite) -> Iterator[Report]:
    """``"pjit[" in str(jaxpr)`` and other pieces of a printed jaxpr."""
    for node in site.source.strings:
        if isinstance(node.value, str) and re.search(r"(?<![\w.])pjit\[", node.value) and not _is_docstring(site.source, node):
            yield site.manual('a jaxpr prints the call of a jit-ed function as "jit[", and printed "pjit["', node)


def _is_docstring(source: Source, node: ast.Constant) -> bool:
    return isinstance(source.parent(node), ast.Expr)
