"""Names that JAX keeps elsewhere today, or that Python itself has: `jax.api`, `jax.util`, `jax.experimental.ann`, ...

https://docs.jax.dev/en/latest/changelog.html
"""

from __future__ import annotations

import ast

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    CallSite,
    Codemod,
    DeleteStatement,
    KeepBlock,
    NameSite,
    Reports,
    Rewrite,
)
from jaxmigrate.history import Successor
from jaxmigrate.registry import history
from jaxmigrate_codemods import _safe_zip
from jaxmigrate_codemods._as_value import as_value, is_imported
from jaxmigrate_codemods._moved_modules import member_moves, move_module

codemod = Codemod(
    "moved-names",
    summary="names that JAX has elsewhere today, or that Python has itself",
    since="0.2.0",
    deprecated=None,
    removed="0.2.21",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=REVIEW,
)

_WHOLE = {
    "jax.experimental.array_api": "jax.numpy",
    "jax.source_info_util": "jax.extend.source_info_util",
    "jax.extend.ffi": "jax.ffi",
}
_SHORT = {
    "jax.xla": "jax.interpreters.xla",
    "jax.pxla": "jax.interpreters.pxla",
    "jax.partial_eval": "jax.interpreters.partial_eval",
}
_ELSEWHERE = {"jax.experimental.sharding": "jax.sharding"}
"""Modules whose members other codemods know."""
_NOTHING = ("jax.cloud_tpu_init.cloud_tpu_init", "jax.tools.colab_tpu.setup_tpu")


def _axis_types(site: NameSite) -> Reports:
    """The members had other names in 0.4.36 to 0.5.2."""
    member = site.parent()
    new = {"User": "Explicit", "Collective": "Manual"}.get(member.attr) if isinstance(member, ast.Attribute) else None
    if new is None or not isinstance(member, ast.Attribute):
        return None
    message = f"AxisTypes.{member.attr} is AxisType.{new} now"
    return Rewrite(message, SAFE, (site.replace(f"{{jax.sharding.AxisType}}.{new}", member),))


def _out_info(site: NameSite) -> Reports:
    """What is known of a result."""
    message = "what is known of a result is a jax.ShapeDtypeStruct, which takes its sharding by keyword"
    return Rewrite(message, REVIEW, ()) if site.role == "call" else None


def _shortened(short: str, module: str) -> dict[str, tuple[Successor, ...]]:
    """What moved out of a module, as names of its abbreviation."""
    found = (a for a in history().advices.values() if a.verb == "move" and a.codemod in ("jax-interpreters", "sharding-paths"))
    return {a.symbol.replace(module, short, 1): a.successors for a in found if a.symbol.startswith(f"{module}.")}


_MOVES = history().moves("moved-names")
_CAREFUL = {
    "jax.sharding.AxisTypes": _axis_types,
    "jax.stages.OutInfo": _out_info,
}
_PLAIN = {
    old: new
    for old, new in _MOVES.items()
    if old not in _CAREFUL and not any(old == m or old.startswith(f"{m}.") for m in (*_WHOLE, *_SHORT, *_ELSEWHERE))
}
codemod.rename(_PLAIN)
for _old, _handler in _CAREFUL.items():
    if _old in _MOVES:
        codemod.rename({_old: _MOVES[_old]}, handler=_handler)
for _old, _new in _WHOLE.items():
    move_module(codemod, _old, _new, _MOVES)
for _old, _new in _ELSEWHERE.items():
    codemod.rename({_old: _new}, handler=member_moves(_new, quiet=True))
for _old, _new in _SHORT.items():
    codemod.rename({_old: _new}, handler=member_moves(_new, _shortened(_old, _new), quiet=True))
    codemod.rename(_shortened(_old, _new))
codemod.rename(
    {f"jax.ad.{name}": f"jax.interpreters.ad.{name}" for name, entry in history().members("jax.interpreters.ad").items()
     if entry.alive and history().entry(f"jax.ad.{name}") is None}
)  # fmt: skip
_safe_zip.register(codemod, "jax.util", "jax.api")


@codemod.call("jax.extend.ffi.ffi_call", "jax.ffi.ffi_call")
def ffi_call(site: CallSite) -> Reports:
    """Before 0.4.38 it took the operands, since then it gives a function of them."""
    if site.has_star() or len(site.positional()) > 2:
        return site.manual("jax.ffi.ffi_call(name, result) gives a function since 0.4.38: call that with operands and attributes")
    return None


@codemod.call("jax.host_ids")
def host_ids(site: CallSite) -> Reports:
    """Numbers of all processes."""
    backend = site.bind("backend", optional=("backend",)).get("backend")
    message = "the numbers of all processes are range(jax.process_count())"
    if site.partial:
        return site.manual(message)
    if backend is None:
        return Rewrite(message, SAFE, (site.replace("list(range({jax.process_count}()))"),))
    return Rewrite(message, SAFE, (site.replace("list(range({jax.process_count}({backend})))", backend=backend),))


@codemod.call(*_NOTHING)
def nothing_to_do(site: CallSite) -> Reports:
    """What once had to be set up needs no setting up."""
    name = site.symbol.rpartition(".")[2]
    statement = site.parent()
    if isinstance(statement, ast.Expr):
        return Rewrite(f"{name} has nothing to do any more", SAFE, (DeleteStatement(statement, (name,)),))
    return site.manual(f"{name} has nothing to do any more: leave the call out")


@codemod.call("jax.spmd_mode")
def spmd_mode(site: CallSite) -> Reports:
    """Computations on arrays of several processes need no leave."""
    item = site.parent()
    block = site.source.parent(item) if item is not None else None
    mode = site.node.args[0] if site.node.args else None
    allowed = isinstance(mode, ast.Constant) and mode.value in ("allow_all", "allow_jit")
    alone = isinstance(block, ast.With) and len(block.items) == 1 and block.items[0].optional_vars is None
    if allowed and alone and isinstance(block, ast.With):
        message = "computations on arrays of several processes need no spmd_mode"
        return Rewrite(message, REVIEW, (KeepBlock(block, "body"),))
    return site.manual("spmd_mode is gone: computations on arrays of several processes need no leave, and none can be refused")


@codemod.call("jax.curry")
def curry(site: CallSite) -> Reports:
    """A function of the first arguments that gives one of the rest."""
    function = site.bind("f")["f"]
    if site.partial:
        return site.manual("jax.curry(f) is functools.partial(functools.partial, f)")
    change = site.replace("{functools.partial}({functools.partial}, {f})", f=function)
    return Rewrite("jax.curry(f) is functools.partial(functools.partial, f)", SAFE, (change,))


_UNZIPS = {
    "jax.util.unzip2": "tuple(zip(*{pairs})) or ((), ())",
    "jax.util.unzip3": "tuple(zip(*{pairs})) or ((), (), ())",
}


@codemod.call(*_UNZIPS)
def unzip(site: CallSite) -> Reports:
    """Tuples of the first and second (and third) members, of nothing too."""
    if site.partial or not is_imported(site, site.node.func):
        return None
    if not _safe_zip.means_builtin(site, "tuple", "zip"):
        written_out = _UNZIPS[site.symbol].replace("{pairs}", "pairs")
        return site.manual(f"write {written_out}, where tuple and zip are those of Python")
    (pairs,) = site.bind("xys" if site.symbol.endswith("2") else "xyzs").values()
    name = site.symbol.rpartition(".")[2]
    return Rewrite(f"{name} written out", SAFE, (site.replace(_UNZIPS[site.symbol], pairs=pairs),))


@codemod.name_(*_UNZIPS)
def unzip_as_value(site: NameSite) -> Reports:
    """The function passed on, stored or given another name."""
    written_out = _UNZIPS[site.symbol].replace("{pairs}", "pairs")
    found: Reports = as_value(site, f"lambda pairs: {written_out}", "", f"write {written_out}")
    return found


@codemod.call("jax.util.wraps")
def wraps(site: CallSite) -> Reports:
    """Python's own wraps, where nothing of JAX's was asked for."""
    if site.partial or len(site.node.args) != 1 or site.node.keywords:
        return site.manual("functools.wraps(f) without the namestr and docstr of jax.util.wraps")
    return Rewrite("jax.util.wraps(f) is functools.wraps(f)", SAFE, (site.replace("{functools.wraps}", site.node.func),))


@codemod.call("jax.dlpack.to_dlpack")
def to_dlpack(site: CallSite) -> Reports:
    """Arrays make their capsules themselves."""
    others = ("take_ownership", "stream", "src_device", "dl_device", "copy")
    bound = site.bind("x", *others, optional=others)
    if site.partial or set(bound) - {"x", "take_ownership"}:
        return site.manual("x.__dlpack__() makes a capsule; most libraries take the array itself in their from_dlpack")
    return Rewrite("an array makes its capsule itself", SAFE, (site.replace("{x}.__dlpack__()", x=bound["x"]),))
