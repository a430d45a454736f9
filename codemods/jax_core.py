"""What is left of `jax.core` for users lies in `jax.extend.core`, in `jax.errors` and in `jax` itself.

https://docs.jax.dev/en/latest/changelog.html (0.4.36, 0.5.0, 0.6.0, 0.10.0)
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite
from jaxmigrate.registry import history
from jaxmigrate_codemods import _safe_zip
from jaxmigrate_codemods._as_value import as_value
from jaxmigrate_codemods._moved_modules import member_moves

codemod = Codemod(
    "jax-core",
    summary="Jaxpr, Primitive and their kin under jax.extend.core, other names of jax.core where they are now",
    since="0.2.0",
    deprecated="0.4.36",
    removed="0.6.0",
    link="https://docs.jax.dev/en/latest/jax.extend.core.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)

_MODULES = {
    "jax.core.dtypes": "jax.dtypes",
    "jax.core.lu": "jax.extend.linear_util",
    "jax.core.source_info_util": "jax.extend.source_info_util",
}
_SHAPED = "all types of values are shaped since 0.4.36"


def _typed(site: NameSite) -> Reports:
    """``get_aval(x).val`` asked a type for the value."""
    call = site.parent()
    around = site.source.parent(call) if isinstance(call, ast.Call) and call.func is site.node else None
    if isinstance(around, ast.Attribute) and around.attr == "val":
        return site.manual("types hold no values since 0.4.36: use the value itself")
    return None


def _made(site: NameSite) -> Reports:
    """The arguments of these classes are not what they were."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node:
        return None
    name = site.symbol.rpartition(".")[2]
    if name == "Var" and (len(call.args) != 1 or call.keywords):
        return site.manual("a variable is made of its type alone today: jax.extend.core.Var(aval)")
    message = f"{name} is made here: see whether its arguments are those of today's class"
    return Rewrite(message, REVIEW, ()) if name == "JaxprEqn" or call.keywords else None


def _numbered(site: NameSite) -> Reports:
    """``gensym([jaxpr])``: variables have no numbers any more, so there is nothing to count on from."""
    call = site.parent()
    if not isinstance(call, ast.Call) or call.func is not site.node or not (call.args or call.keywords):
        return None
    if not site.target_has("0.10.0"):
        return None  # no spelling serves the target and the newest
    message = "gensym takes nothing since 0.6.2: variables differ by themselves, without a number or a suffix"
    if not all(_may_go(site, v) for v in call.args) or not all(k.arg and _may_go(site, k.value) for k in call.keywords):
        return site.manual(f"{message}; leave its arguments out")
    given = frozenset([*range(len(call.args)), *(k.arg for k in call.keywords if k.arg)])
    return Rewrite(message, SAFE, (EditCall(call, drop=given),), at=call)


def _may_go(site: NameSite, value: ast.expr) -> bool:
    elements = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return all(site.source.is_pure(element) for element in elements)


_MADE = ("jax.core.ClosedJaxpr", "jax.core.JaxprEqn", "jax.core.Var")
_MOVES = {old: new for old, new in history().moves("jax-core").items() if old not in _MODULES}
codemod.rename(_MOVES)
codemod.rename({name: _MOVES[name] for name in _MADE}, handler=_made)
codemod.rename({"jax.core.get_aval": _MOVES["jax.core.get_aval"]}, handler=_typed)
codemod.rename({"jax.core.gensym": _MOVES["jax.core.gensym"]}, handler=_numbered)
for _old, _new in _MODULES.items():
    codemod.rename({_old: _new}, handler=member_moves(_new))
_safe_zip.register(codemod, "jax.core")


_RAISES = ("jax.core.raise_to_shaped", "jax.abstract_arrays.raise_to_shaped")


@codemod.call(*_RAISES)
def raise_to_shaped(site: CallSite) -> Reports:
    """Nothing is left to raise."""
    bound = site.bind("aval", "weak_type", optional=("weak_type",))
    if site.partial or "weak_type" in bound:
        return site.manual(f"{_SHAPED}: leave raise_to_shaped out; aval.update(weak_type=...) sets that")
    if not site.target_has("0.4.36"):
        return site.manual(f"{_SHAPED}, and raise_to_shaped went with 0.6.0; JAX {site.target} needs it: choose by version")
    message = f"{_SHAPED}: raise_to_shaped gave back what it got"
    return Rewrite(message, SAFE, (site.replace("{aval}", aval=bound["aval"]),), requires="0.4.36")


@codemod.name_(*_RAISES)
def raise_to_shaped_passed(site: NameSite) -> Reports:
    """The function as a value, mostly mapped over types."""
    parent = site.parent()
    called = isinstance(parent, ast.Call) and parent.func is site.node
    if called or not site.direct:
        return None
    if not site.target_has("0.4.36"):
        return site.manual(f"{_SHAPED}: leave raise_to_shaped out")
    found: Reports = as_value(site, "lambda aval: aval", "no weak_type is given to it, and that ", f"{_SHAPED}: leave it out")
    return found


@codemod.call("jax.abstract_arrays.make_shaped_array")
def make_shaped_array(site: CallSite) -> Reports:
    """The type of a value, without the mark of a weak one."""
    value = site.bind("x")["x"]
    if site.partial or not site.source.is_pure(value):
        return site.manual("write jax.core.ShapedArray(jax.numpy.shape(x), jax.numpy.result_type(x))")
    new = "{jax.core.ShapedArray}({jax.numpy.shape}({x}), {jax.numpy.result_type}({x}))"
    return Rewrite("make_shaped_array written out", SAFE, (site.replace(new, x=value),))


@codemod.call("jax.core.axis_frame")
def axis_frame(site: CallSite) -> Reports:
    """``axis_frame(name).size``; what else the frame told is private."""
    name = site.bind("axis_name")["axis_name"]
    size = site.parent()
    if site.partial or not isinstance(size, ast.Attribute) or size.attr != "size":
        return site.manual("the size of a named axis is jax.lax.axis_size(name); frames of axes are private")
    if site.target_has("0.6.1"):
        return Rewrite("jax.lax.axis_size tells the size of a named axis", SAFE,
                       (site.replace("{jax.lax.axis_size}({name})", size, name=name),))  # fmt: skip
    return Rewrite("psum of 1 is the size of a named axis", SAFE, (site.replace("{jax.lax.psum}(1, {name})", size, name=name),))


@codemod.call("jax.core.definitely_equal", "jax.core.symbolic_equal_dim")
def equal_dimensions(site: CallSite) -> Reports:
    """Dimensions know by themselves whether they are equal."""
    bound = site.bind("d1", "d2")
    if site.partial:
        return site.manual("dimensions are compared with ==")
    return Rewrite("dimensions are compared with ==", SAFE, (site.replace("{a} == {b}", a=bound["d1"], b=bound["d2"]),))


@codemod.call("jax.core.non_negative_dim")
def non_negative_dim(site: CallSite) -> Reports:
    """The greater one of a dimension and 0."""
    bound = site.bind("d")
    if site.partial or not site.target_has("0.4.23"):
        return site.manual("non_negative_dim(d) is jax.core.max_dim(d, 0) since 0.4.23")
    return Rewrite("non_negative_dim(d) is max_dim(d, 0)", SAFE, (site.replace("{jax.core.max_dim}({d}, 0)", d=bound["d"]),))


@codemod.call("jax.core.is_opaque_dtype", "jax.core.has_opaque_dtype")
def opaque_dtype(site: CallSite) -> Reports:
    """Types of elements that NumPy does not know, such as those of keys."""
    value = next(iter(site.bind("x").values()))
    if site.partial or not site.target_has("0.4.14"):
        return site.manual("jax.dtypes.issubdtype(dtype, jax.dtypes.extended) asks this since 0.4.14")
    dtype = "{x}.dtype" if site.symbol.endswith("has_opaque_dtype") else "{x}"
    change = site.replace(f"{{jax.dtypes.issubdtype}}({dtype}, {{jax.dtypes.extended}})", x=value)
    return Rewrite("opaque types of elements are called extended", SAFE, (change,))


@codemod.call("jax.core.tuple_delete", "jax.core.tuple_insert")
def tuple_change(site: CallSite) -> Reports:
    """A tuple with one element less or more."""
    bound = site.bind("t", "idx", "val", optional=("val",))
    if site.partial or not all(site.source.is_pure(bound[name]) for name in ("t", "idx")):
        return site.manual("(*t[:i], *t[i + 1:]) deletes, (*t[:i], value, *t[i:]) inserts")
    if "val" in bound:
        return Rewrite("tuple_insert written out", SAFE, (site.replace("(*{t}[:{i}], {v}, *{t}[{i}:])", t=bound["t"],
                       i=bound["idx"], v=bound["val"]),))  # fmt: skip
    change = site.replace("(*{t}[:{i}], *{t}[{i} + 1:])", t=bound["t"], i=bound["idx"])
    return Rewrite("tuple_delete written out", SAFE, (change,))
