"""``jaxmigrate codemods``: the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from jaxmigrate.codemod import Codemod


@click.command("codemods", short_help="List the codemods.")
def command() -> None:
    """List the codemods: name, the JAX that removed the old API, what it does."""
    from jaxmigrate.cli.explain import wrapped
    from jaxmigrate.registry import load

    codemods = load().codemods.values()
    width = max((len(codemod.name) for codemod in codemods), default=0)
    for codemod in codemods:
        click.echo(f"{codemod.name:<{width}}  {fate(codemod)}")
        click.echo("\n".join(wrapped(codemod.summary, "    ")))


def fate(codemod: Codemod) -> str:
    """What became of the old API, in a word and a version."""
    if codemod.removed is not None:
        return f"removed in {codemod.removed}"
    if codemod.deprecated is not None:
        return f"deprecated in {codemod.deprecated}"
    return f"changed in {codemod.since}" if codemod.since != "0.2.0" else "any release"
