"""What a ShardingSpec said: the mesh over the devices of the buffers, the axes of each dimension, what the buffers lack."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmigrate.names import Source


@dataclass(frozen=True, slots=True)
class Layout:
    """What a ShardingSpec says: the mesh, where each dimension goes, and which dimensions the buffers lack."""

    sizes: tuple[str, ...]
    axes: tuple[str, ...]
    spec: str
    missing: tuple[int, ...] = ()

    def mesh(self, devices: str) -> str:
        """Template of the mesh over the list `devices`."""
        names = ", ".join(f'"{a}"' for a in self.axes) + ("," if len(self.axes) == 1 else "")
        if len(self.axes) > 1:
            devices = f"{{numpy.array}}({devices}).reshape({', '.join(self.sizes)})"
        return f"{{jax.sharding.Mesh}}({devices}, ({names}))"

    def stack(self, buffer: str) -> str:
        """The buffer with the dimensions it lacks."""
        index = ", ".join("None" if d in self.missing else ":" for d in range(self.missing[-1] + 1))
        return f"{buffer}[{index}]"


_PMAP_STYLE = Layout(("",), ("i",), '"i"', (0,))


def read_layout(source: Source, spec: ast.expr) -> Layout | str:
    """Read a ShardingSpec, or say why it cannot be read."""
    if isinstance(spec, ast.Constant) and spec.value is None:
        return _PMAP_STYLE
    if not isinstance(spec, ast.Call):
        return (
            "the source does not show the ShardingSpec: write jax.make_array_from_single_device_arrays(aval.shape, "
            "NamedSharding(Mesh(devices, ('i',)), PartitionSpec('i')), buffers); pmap-style buffers need a leading 1"
        )
    if "mesh_sharding_specs" in source.segment(spec.func):
        return (
            "the spec came from a mesh: write jax.make_array_from_single_device_arrays(aval.shape, "
            "NamedSharding(mesh, PartitionSpec(...)), buffers)"
        )
    if _is_pmap_style(source, spec):
        return _PMAP_STYLE
    parsed = _parse_spec(source, spec)
    return parsed or "this ShardingSpec cannot be read: name its mesh and PartitionSpec in a jax.sharding.NamedSharding"


def _is_pmap_style(source: Source, spec: ast.Call) -> bool:
    """JAX's own makers of specs, where they ask for dimension 0 and one device an element."""
    maker = source.segment(spec.func).rpartition(".")[2]
    if maker == "_create_pmap_sharding_spec":
        return len(spec.args) == 1 and not spec.keywords
    texts = [source.segment(a) for a in spec.args]
    return (
        maker == "_pmap_sharding_spec"
        and len(texts) == 6
        and texts[0] == texts[1]
        and [*texts[2:4], texts[5]] == ["1", "None", "0"]
    )


def _parse_spec(source: Source, spec: ast.Call) -> Layout | None:
    """``ShardingSpec(sharding, mesh_mapping)`` with literal parts; the devices are row-major over `mesh_mapping`."""
    arguments = dict(zip(("sharding", "mesh_mapping"), spec.args, strict=False)) | {k.arg or "": k.value for k in spec.keywords}
    dims, mapping = _parts(source, arguments.get("sharding")), _parts(source, arguments.get("mesh_mapping"))
    if dims is None or mapping is None or not mapping or not (source.resolve(spec.func) or "").endswith(".ShardingSpec"):
        return None
    chunks: list[tuple[int, str]] = []
    for dim, (kind, argument) in enumerate(dims):
        sizes = _sizes(source, kind, argument)
        if sizes is None:
            return None
        chunks += [(dim, size) for size in sizes]
    axes = ("i", "j", "k", "l", "m", "n")[: len(mapping)]
    entries: list[list[str]] = [[] for _ in dims]
    named: dict[int, str] = {}
    mesh: list[str] = []
    for axis, (kind, argument) in zip(axes, mapping, strict=False):
        if argument is None or not isinstance(argument, ast.Constant) or not isinstance(argument.value, int):
            return None
        if kind == "ShardedAxis" and argument.value < len(chunks):
            named[argument.value] = axis
            mesh.append(chunks[argument.value][1])
        elif kind == "Replicated":
            mesh.append(source.segment(argument))
        else:
            return None
    for number, (dim, _) in enumerate(chunks):
        if number not in named:
            return None
        entries[dim].append(named[number])
    missing = tuple(d for d, (kind, _) in enumerate(dims) if kind == "Unstacked")
    return Layout(tuple(mesh), axes, _entries(entries), missing) if len(axes) == len(mapping) else None


def _parts(source: Source, node: ast.expr | None) -> list[tuple[str, ast.expr | None]] | None:
    """(class, argument) of each element of a tuple or list of constructor calls."""
    node = source.value_of(node) if node is not None else None
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    found: list[tuple[str, ast.expr | None]] = []
    for element in node.elts:
        if not isinstance(element, ast.Call) or element.keywords or len(element.args) > 1:
            return None
        found.append(((source.resolve(element.func) or "").rpartition(".")[2], element.args[0] if element.args else None))
    return found


def _sizes(source: Source, kind: str, argument: ast.expr | None) -> list[str] | None:
    """The sizes into which a dimension is cut."""
    if kind == "NoSharding" and argument is None:
        return []
    if kind == "Unstacked" and argument is not None and source.is_pure(argument):
        return [source.segment(argument)]
    if kind == "Chunked" and isinstance(argument, (ast.List, ast.Tuple)) and all(source.is_pure(e) for e in argument.elts):
        return [source.segment(e) for e in argument.elts]
    return None


def _entries(entries: list[list[str]]) -> str:
    """The arguments of the PartitionSpec, without trailing ones that say nothing."""
    written = ["None" if not e else f'"{e[0]}"' if len(e) == 1 else "(" + ", ".join(f'"{a}"' for a in e) + ")" for e in entries]
    while written and written[-1] == "None":
        written.pop()
    return ", ".join(written)
