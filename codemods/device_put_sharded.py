"""`device_put_sharded` and `device_put_replicated` become `device_put` of what is stacked, split along the new dimension.

https://docs.jax.dev/en/latest/migrate_pmap.html#drop-in-replacements

The arrays are those that the old functions gave since 0.8.0. Before, their sharding was a PmapSharding (pmap takes either), and
until 0.4.33 the pieces on the devices lacked the first dimension.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from jaxmigrate.codemod import REVIEW, SAFE, CallSite, Change, Codemod, NameSite, Reports, Rewrite, Site, StringSite
from jaxmigrate_codemods._arrays import VALUE_TYPES, unused_in
from jaxmigrate_codemods._as_value import as_value, by_name, is_imported
from jaxmigrate_codemods._lines import spread

if TYPE_CHECKING:
    from jaxmigrate.names import Source

codemod = Codemod(
    "device-put-sharded",
    summary="device_put_sharded and device_put_replicated become device_put with a sharding",
    since="0.4.0",
    deprecated="0.8.1",
    removed="0.10.0",
    link="https://docs.jax.dev/en/latest/migrate_pmap.html",
    words=frozenset({"device_put_sharded", "device_put_replicated"}),
    applicability=REVIEW,
)

_SHARDED = ("jax.device_put_sharded", "jax.api.device_put_sharded")
_REPLICATED = ("jax.device_put_replicated", "jax.api.device_put_replicated")
_WITH = "with NamedSharding(Mesh(devices, ('x',)), PartitionSpec('x')), does what it did"
_ADVICES = {
    **dict.fromkeys(_SHARDED, f"jax.device_put of the stacked leaves, {_WITH}"),
    **dict.fromkeys(_REPLICATED, f"jax.device_put of the leaves stacked len(devices) times, {_WITH}"),
}
_DEVICES = ("jax.devices", "jax.local_devices")
_NUMPY = ("numpy.ndarray", "list[numpy.ndarray]")
_ARRAYS = (*VALUE_TYPES, *(f"list[{kind}]" for kind in VALUE_TYPES))


@codemod.call(*_SHARDED)
def sharded(site: CallSite) -> Reports:
    """One tree for each device: their leaves are stacked."""
    if site.partial or not is_imported(site, site.node.func):
        return None
    bound = site.bind("shards", "devices")
    kind = site.source.infer(bound["shards"])
    stack = "{numpy.stack}({shards})" if kind in _NUMPY else "{jax.numpy.stack}({shards})" if kind in _ARRAYS else None
    return _rewrite(site, site.replace(_put(site, stack or _stacked(site, "{shards}"), "{devices}"), **bound))


@codemod.call(*_REPLICATED)
def replicated(site: CallSite) -> Reports:
    """One tree for all devices: its leaves are stacked as often as there are devices."""
    if site.partial or not is_imported(site, site.node.func):
        return None
    bound = site.bind("x", "devices")
    if not _is_repeatable(site.source, bound["devices"]):
        return _rewrite(
            site,
            site.replace(
                f"(lambda x, devices: {_put(site, _copied(site, 'x', 'devices'), 'devices')})({{x}}, {{devices}})", **bound
            ),
        )
    plain = site.source.infer(bound["x"]) in VALUE_TYPES
    copies = "{jax.numpy.stack}([{x}] * len({devices}))" if plain else _copied(site, "{x}", "{devices}")
    return _rewrite(site, site.replace(_put(site, copies, "{devices}"), **bound))


@codemod.name_(*_SHARDED)
def sharded_as_value(site: NameSite) -> Reports:
    """The function passed on, stored or given another name."""
    function = f"lambda shards, devices: {_put(site, _stacked(site, 'shards'), 'devices')}"
    found: Reports = as_value(site, function, "", _ADVICES[site.symbol])
    return found


@codemod.name_(*_REPLICATED)
def replicated_as_value(site: NameSite) -> Reports:
    """The function passed on, stored or given another name."""
    function = f"lambda x, devices: {_put(site, _copied(site, 'x', 'devices'), 'devices')}"
    found: Reports = as_value(site, function, "", _ADVICES[site.symbol])
    return found


@codemod.string("device_put_sharded", "device_put_replicated")
def in_a_string(site: StringSite) -> Reports:
    """The function looked up by its name."""
    found: Reports = by_name(site, _ADVICES)
    return found


def _put(site: Site, tree: str, devices: str) -> str:
    sharding = f'{{jax.sharding.NamedSharding}}({{jax.sharding.Mesh}}({devices}, ("x",)), {{jax.sharding.PartitionSpec}}("x"))'
    arguments: str = spread(site, [tree, sharding])
    return f"{{jax.device_put}}({arguments})"


def _stacked(site: Site, shards: str) -> str:
    return f"{_tree_map(site)}(lambda *leaves: {{jax.numpy.stack}}(leaves), *{shards})"


def _copied(site: Site, x: str, devices: str) -> str:
    leaf = unused_in(site.text(), "leaf", "x", "y")
    return f"{_tree_map(site)}(lambda {leaf}: {{jax.numpy.stack}}([{leaf}] * len({devices})), {x})"


def _tree_map(site: Site) -> str:
    return "{jax.tree.map}" if site.target_has("0.4.25") else "{jax.tree_util.tree_map}"


def _is_repeatable(source: Source, devices: ast.expr) -> bool:
    """Whether the devices may be asked for twice: a name, or what JAX says each time again."""
    if isinstance(devices, ast.Subscript) and isinstance(devices.slice, (ast.Slice, ast.Constant)):
        return _is_repeatable(source, devices.value)
    if isinstance(devices, ast.Call):
        arguments = [*devices.args, *(k.value for k in devices.keywords)]
        return source.resolve(devices.func) in _DEVICES and all(source.is_pure(argument) for argument in arguments)
    return source.is_pure(devices)


def _rewrite(site: CallSite, change: Change) -> Rewrite:
    """Programs that ran on 0.8.0 or newer get just what they had."""
    name = site.symbol.rpartition(".")[2]
    message = f"{name} is device_put of what is stacked, with a NamedSharding"
    if site.settings.origin is not None and not site.is_older_than("0.8.0"):
        return Rewrite(message, SAFE, (change,))
    doubt = "that nothing asks for the PmapSharding it had before JAX 0.8.0, nor for the shape of the pieces before 0.4.34"
    return Rewrite(f"{message}, assuming {doubt}", REVIEW, (change,))
