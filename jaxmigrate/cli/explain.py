"""``jaxmigrate explain NAME``: one codemod, or the one that deals with an API, taught by example."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from jaxmigrate.config import did_you_mean

if TYPE_CHECKING:
    from jaxmigrate.codemod import Codemod


@click.command("explain", short_help="Explain a codemod, or what becomes of an old API.")
@click.argument("name")
def command(name: str) -> None:
    """Explain a codemod (live-buffers), or the ones that deal with an old API (jax.numpy.DeviceArray, local_shards)."""
    from jaxmigrate.registry import load

    codemods = load().codemods
    # jnp.DeviceArray is found by its last part.
    names = (name, name.rpartition(".")[2])
    chosen = [codemods[name]] if name in codemods else next(filter(None, (_dealing_with(n, codemods) for n in names)), [])
    if not chosen:
        raise click.BadParameter(f"no codemod or old API {name!r}{did_you_mean(name, codemods)}", param_hint="'NAME'")
    click.echo("\n".join("\n".join(_lines(codemod)) for codemod in chosen))


def _dealing_with(symbol: str, codemods: dict[str, Codemod]) -> list[Codemod]:
    return [codemod for codemod in codemods.values() if _deals_with(codemod, symbol)]


def _deals_with(codemod: Codemod, symbol: str) -> bool:
    known = (*codemod.moves, *codemod.names, *codemod.calls, *codemod.attributes, *codemod.strings)
    return any(name == symbol or name.endswith(f".{symbol}") for name in known)


def _lines(codemod: Codemod) -> Iterator[str]:
    yield f"{codemod.name}: {codemod.summary}"
    yield ""
    yield from _facts(codemod)
    pair = example(codemod.name)
    if pair is not None:
        yield ""
        yield from _difference(*pair)


def _facts(codemod: Codemod) -> Iterator[str]:
    rows = [
        ("new API since", codemod.since),
        ("old one deprecated in", codemod.deprecated or "-"),
        ("old one removed in", codemod.removed or "-"),
        ("edits are at most", str(codemod.applicability)),
        ("read", codemod.link),
    ]
    rows[4:4] = [(f"option {codemod.name}.{name}", " or ".join(values)) for name, values in codemod.options.items()]
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        yield f"  {label:<{width}}  {value}"


def example(name: str) -> tuple[str, str] | None:
    """The smallest fixture of a codemod that runs with default settings: source before and after; None if it has none."""
    folder = os.path.join(_fixtures(), name)
    pairs = []
    for case in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        before, after = (_read(os.path.join(folder, case, f"{side}.py")) for side in ("before", "after"))
        if before and after and before != after:
            special = os.path.exists(os.path.join(folder, case, "case.toml"))
            pairs.append((special, len(before), before, after))
    return min(pairs)[2:] if pairs else None


def _fixtures() -> str:
    """The folder of the fixtures: an installed package, or the source tree's own."""
    from importlib.util import find_spec

    spec = find_spec("jaxmigrate_fixtures")
    if spec is not None and spec.submodule_search_locations:
        return next(iter(spec.submodule_search_locations))
    import jaxmigrate

    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(jaxmigrate.__file__))), "fixtures")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _difference(before: str, after: str) -> Iterator[str]:
    import difflib

    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2)
    for number, line in enumerate(lines):
        if number >= 2:  # not the two lines with file names
            yield "  ..." if line.startswith("@@") else f"  {line}".rstrip()
