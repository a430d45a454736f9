"""A second opinion on what is left to migrate: its own small resolver, independent of jaxmigrate's, and lists of names.

The names are those of the array world, listed here, and all that the record of the releases says the newest lacks.

It is deliberately crude: every import of a file binds everywhere in that file, assignments are not followed, and a few names
that only the legacy API ever had are found by spelling alone. So it sees too much rather than too little, and what it sees
must be in a finding.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from jaxmigrate.registry import history

DEVICE_ARRAY = """
    jax.numpy.DeviceArray jax.DeviceArray jax.xla.DeviceArray jax.xla._DeviceArray jax.xla._CppDeviceArray jax.xla.Buffer
    jax.xla.make_device_array jax.interpreters.xla.DeviceArray jax.interpreters.xla._DeviceArray
    jax.interpreters.xla._CppDeviceArray jax.interpreters.xla.CppDeviceArray jax.interpreters.xla.Buffer
    jax.interpreters.xla.make_device_array jax.interpreters.xla.DeviceArrayProtocol jax.interpreters.xla.DeviceValue
    jax._src.device_array jax._src.device_array.DeviceArray jax._src.device_array._DeviceArray jax._src.device_array.Buffer
    jax._src.device_array.DeviceArrayProtocol jax._src.device_array.make_device_array
    jax._src.device_array.device_array_types jax._src.numpy.lax_numpy.DeviceArray jax._src.numpy.lax_numpy._DeviceArray
    jax._src.numpy.ndarray.DeviceArray jax.lib.xla_extension.DeviceArray jax.lib.xla_extension.DeviceArrayBase
    jax.lib.xla_extension.Buffer jax.lib.xla_client.Buffer jax.lib.xla_client.DeviceArrayBase
    jaxlib.xla_extension.DeviceArray jaxlib.xla_extension.DeviceArrayBase jaxlib.xla_extension.Buffer
    jaxlib.xla_extension.PyLocalBuffer jaxlib.xla_client.Buffer jaxlib.xla_client.DeviceArrayBase
    jaxlib.xla_client.DeviceArray jaxlib.xla_extension.ArrayImpl jax.lib.xla_extension.ArrayImpl
    jax.lib.xla_client.ArrayImpl
"""
SHARDED_DEVICE_ARRAY = " ".join(
    f"{home}.{name}"
    for home in ("jax.interpreters.pxla", "jax.pxla", "jax._src.interpreters.pxla")
    for name in ("ShardedDeviceArray", "_ShardedDeviceArray", "ShardedDeviceArrayBase", "make_sharded_device_array")
)
GLOBAL_DEVICE_ARRAY = """
    jax.experimental.global_device_array jax._src.global_device_array jax.experimental.gda
    jax.experimental.global_device_array.* jax._src.global_device_array.* jax.experimental.GlobalDeviceArray
    jax.experimental.gda.GlobalDeviceArray jax.experimental.gda_serialization
    jax.experimental.gda_serialization.serialization jax.experimental.gda_serialization.serialization.*
"""
PJIT = """
    jax.experimental.pjit.FROM_GDA jax._src.pjit.FROM_GDA jax.experimental.pjit._is_from_gda
    jax.experimental.pjit.with_sharding_constraint jax.interpreters.sharded_jit.with_sharding_constraint
    jax.experimental.pjit.PartitionSpec jax.experimental.pjit.NamedSharding jax.experimental.pjit.Mesh
    jax.experimental.pjit.MeshPspecSharding jax.experimental.pjit.OpShardingSharding
"""
SHARDING = """
    jax.experimental.PartitionSpec jax.experimental.maps.Mesh jax.experimental.maps.mesh jax.experimental.maps.PartitionSpec
    jax.experimental.maps.thread_resources jax.sharding.PmapSharding
    jax.ShapedArray jax.abstract_arrays.ShapedArray jax.interpreters.xla.ShapedArray
    jax.interpreters.pxla.Mesh jax.interpreters.pxla.PartitionSpec jax.pxla.Mesh jax.pxla.PartitionSpec
    jax._src.interpreters.pxla.Mesh jax._src.interpreters.pxla.PartitionSpec jax.interpreters.sharded_jit.PartitionSpec
    jax.sharding.MeshPspecSharding jax.sharding.OpShardingSharding jax.sharding.XLACompatibleSharding
    jax.experimental.sharding jax.experimental.sharding.* jax.experimental.array jax.experimental.array.*
    jax._src.sharding.NamedSharding jax._src.sharding.MeshPspecSharding jax._src.sharding.GSPMDSharding
    jax._src.sharding.OpShardingSharding jax._src.sharding.XLACompatibleSharding jax._src.sharding.PartitionSpec
"""
PJIT_ITSELF = "jax.experimental.pjit.pjit"

LEGACY = frozenset(" ".join((DEVICE_ARRAY, SHARDED_DEVICE_ARRAY, GLOBAL_DEVICE_ARRAY, PJIT, SHARDING, PJIT_ITSELF)).split())
PJIT_NAMES = frozenset({PJIT_ITSELF, "jax._src.pjit.pjit"})

_UNMISTAKABLE = """
    DeviceArray _DeviceArray _CppDeviceArray ShardedDeviceArray _ShardedDeviceArray make_sharded_device_array make_device_array
    GlobalDeviceArray FROM_GDA MeshPspecSharding OpShardingSharding XLACompatibleSharding gda_serialization global_device_array
    from_batched_callback from_batched_callback_with_devices
"""
UNMISTAKABLE = frozenset(_UNMISTAKABLE.split())
"""Identifiers that are looked for by spelling, whatever they resolve to."""

_ATTRIBUTES = """
    device_buffers device_buffer live_buffers local_shards local_data global_shards block_host_until_ready to_py sharding_spec
    copy_to_device _device_buffers mesh_axes
"""
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
"""Attributes of legacy arrays or devices that hardly anything else has."""

CALLED = frozenset({"device", "is_fully_addressable", "is_fully_replicated"})
"""Attributes that are legacy when they are called."""

FLAGS = frozenset({"jax_array", "jax_parallel_functions_output_gda"})
KEYWORDS = frozenset({"in_axis_resources", "out_axis_resources"})


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """One legacy use."""

    line: int
    kind: str
    """``name``, ``import``, ``string``, ``keyword``, ``attribute``, ``called``, ``flag`` or ``spelling``."""
    symbol: str


def own_attributes(sources: Iterable[str]) -> frozenset[str]:
    """Attributes that classes of these modules define, so that an object with such an attribute need not be an array."""
    found: set[str] = set()
    for source in sources:
        if "jax" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.ClassDef):
                found.update(part.name for part in node.body if isinstance(part, ast.FunctionDef))
                found.update(
                    part.target.id for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
                )
    return frozenset(found)


def audit(source: str, own: frozenset[str] = frozenset()) -> list[Use]:
    """Every legacy use in a module that mentions JAX, in line order; attributes in `own` are those of other classes."""
    if "jax" not in source:
        return []
    tree = ast.parse(source)
    bindings = _bindings(tree)
    uses = {*_imports(tree), *_names(tree, bindings), *_strings(tree, bindings), *_keywords(tree, bindings), *_flags(tree)}
    uses.update(use for use in _attributes(tree, bindings) if use.symbol not in own)
    seen = {use.line for use in uses}
    uses.update(use for use in _spellings(source) if use.line not in seen and use.symbol not in bindings)
    return sorted(uses)


@cache
def _is_legacy(name: str) -> bool:
    if name in LEGACY or f"{name.rpartition('.')[0]}.*" in LEGACY:
        return True
    parts = name.split(".")
    return parts[0] in ("jax", "jaxlib") and any(_is_gone(".".join(parts[:n])) for n in range(2, len(parts) + 1))


def _is_gone(name: str) -> bool:
    entry = history().entry(name)
    return entry is not None and not entry.alive


def _bindings(tree: ast.AST) -> dict[str, set[str]]:
    """Local name -> everything an import anywhere in the file binds it to."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]].add(alias.name if alias.asname else alias.name.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
    return found


def _resolve(node: ast.AST, bindings: dict[str, set[str]]) -> set[str]:
    if isinstance(node, ast.Name):
        return bindings.get(node.id, set())
    if isinstance(node, ast.Attribute):
        return {f"{base}.{node.attr}" for base in _resolve(node.value, bindings)}
    return set()


def _imports(tree: ast.AST) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(alias, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [(alias, f"{node.module}.{alias.name}") for alias in node.names]
        else:
            continue
        for alias, name in names:
            if _is_legacy(name):
                yield Use(alias.lineno, "import", name)


def _names(tree: ast.AST, bindings: dict[str, set[str]]) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            names = _resolve(node, bindings)
            # A name that a guard binds to something alive as well is no legacy use.
            if names and all(map(_is_legacy, names)):
                yield from (Use(node.end_lineno or node.lineno, "name", name) for name in names)


def _strings(tree: ast.AST, bindings: dict[str, set[str]]) -> Iterator[Use]:
    """Quoted annotations, and strings that are a legacy name from end to end (``mock.patch``, ``importlib``)."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            not (isinstance(node, ast.Constant) and isinstance(node.value, str))
            or id(node) in docstrings
            or len(node.value) > 300
        ):
            continue
        if _is_legacy(node.value.strip()):
            yield Use(node.lineno, "string", node.value.strip())
        elif any(word in node.value for word in UNMISTAKABLE):
            yield from _quoted(node, bindings)


def _quoted(node: ast.Constant, bindings: dict[str, set[str]]) -> Iterator[Use]:
    try:
        inner = ast.parse(str(node.value).strip(), mode="eval")
    except SyntaxError:
        return
    for part in ast.walk(inner):
        if isinstance(part, ast.Name | ast.Attribute):
            for name in _resolve(part, bindings):
                if _is_legacy(name):
                    yield Use(node.lineno, "string", name)


def _keywords(tree: ast.AST, bindings: dict[str, set[str]]) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            callees = [node.func, *node.args[:1]]
            if any(PJIT_NAMES & _resolve(callee, bindings) for callee in callees):
                yield from (Use(k.lineno, "keyword", k.arg) for k in node.keywords if k.arg in KEYWORDS)
            if any(name.endswith(".with_sharding_constraint") for name in _resolve(node.func, bindings)):
                yield from (Use(k.lineno, "keyword", k.arg) for k in node.keywords if k.arg == "axis_resources")


def _attributes(tree: ast.AST, bindings: dict[str, set[str]]) -> Iterator[Use]:
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        # An attribute of an imported module is no attribute of an array.
        if not isinstance(node, ast.Attribute) or _resolve(node, bindings):
            continue
        if node.attr in ATTRIBUTES:
            yield Use(node.end_lineno or node.lineno, "attribute", node.attr)
        elif node.attr in CALLED and id(node) in called and not (called[id(node)].args or called[id(node)].keywords):
            yield Use(node.end_lineno or node.lineno, "called", node.attr)


def _flags(tree: ast.AST) -> Iterator[Use]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in FLAGS:
            yield Use(node.end_lineno or node.lineno, "flag", node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value.lstrip("-").split("=")[0].lower()
            if word in FLAGS:
                yield Use(node.lineno, "flag", word)


def _spellings(source: str) -> Iterator[Use]:
    """Identifiers in the code, and words of type comments, that only the legacy API has."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string in UNMISTAKABLE:
            yield Use(token.start[0], "spelling", token.string)
        elif token.type == tokenize.COMMENT and re.match(r"#\s*type:\s", token.string):
            for word in re.findall(r"\w+", token.string):
                if word in UNMISTAKABLE:
                    yield Use(token.start[0], "spelling", word)
