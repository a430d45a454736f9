"""A small pack of its own for tests of the core, so that they do not move when a real codemod does."""

from __future__ import annotations

from jaxmigrate.codemod import (
    REVIEW,
    SAFE,
    AttributeSite,
    CallSite,
    Codemod,
    DeleteStatement,
    EditCall,
    KeepBlock,
    NameSite,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.registry import Pack

types = Codemod(
    "types", "types", "0.3.18", None, "0.4.14", "", frozenset({"DeviceArray", "Buffer", "Mesh", "PartitionSpec", "gone"})
)
moves = Codemod("moves", "moves", "0.4.0", None, "0.4.14", "", frozenset({"Mesh", "PartitionSpec", "old_serialization"}))
calls = Codemod("calls", "calls", "0.4.0", None, "0.4.14", "", frozenset({"make", "old_jit", "local_shards", "flag"}))


def _reviewed_under_tracing(site: NameSite) -> Reports:
    if site.role == "base-class":
        return site.manual("jax.Array cannot be subclassed")
    if site.role == "isinstance" and (why := site.may_be_traced()):
        return Rewrite(f"true for tracers: {why}", REVIEW, ())
    return None


types.rename(
    {
        "jax.numpy.DeviceArray": "jax.Array",
        "jax.interpreters.xla.DeviceArray": "jax.Array",
        "jax.interpreters.xla.Buffer": "jax.Array",
        "jaxlib.xla_extension.DeviceArray": "jax.Array",
    },
    handler=_reviewed_under_tracing,
)
types.gone["jax.experimental.gone"] = "use something else"
moves.rename(
    {
        "jax.experimental.pjit.PartitionSpec": "jax.sharding.PartitionSpec",
        "jax.experimental.PartitionSpec": "jax.sharding.PartitionSpec",
        "jax.experimental.maps.Mesh": "jax.sharding.Mesh",
        "jax.experimental.old_serialization.core": "jax.experimental.array_serialization.core",
    }
)


@calls.call("jax.old.make")
def make(site: CallSite) -> Reports:
    bound = site.bind("shape", "mesh", "callback")
    new = "{jax.make_array_from_callback}({shape}, {jax.sharding.NamedSharding}({mesh}), {callback})"
    return Rewrite("make is make_array_from_callback", SAFE, (site.replace(new, **bound),))


@calls.call("jax.old.old_jit")
def old_jit(site: CallSite) -> Reports:
    edit = EditCall(site.node, Template("{jax.jit}"), rename={"in_axes": "in_shardings"}, drop=frozenset({"gda"}))
    return Rewrite("old_jit is jit", SAFE, (edit,))


@calls.attribute("local_shards")
def local_shards(site: AttributeSite) -> Reports:
    if site.receiver_type not in (None, "jax.Array"):
        return None
    return Rewrite("local_shards is addressable_shards", REVIEW, (site.replace("{x}.addressable_shards", x=site.value),))


@calls.name_("jax.old.flag")
def flag(site: NameSite) -> Reports:
    parent = site.parent()
    statement = site.source.statement(site.node)
    if getattr(statement, "test", None) is site.node:
        return Rewrite("the flag is always on", SAFE, (KeepBlock(statement, "body"),))  # type: ignore[arg-type]
    if parent is statement:
        return Rewrite("no flag", SAFE, (DeleteStatement(statement),))
    return site.manual("read the flag yourself")


PACK = Pack({c.name: c for c in (types, moves, calls)}, ("jaxmigrate_codemods",))
