"""`jax.config` is an object and no module: `from jax.config import config` becomes `from jax import config`.

https://docs.jax.dev/en/latest/changelog.html (0.4.20, 0.4.25)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import (
    SAFE,
    CallSite,
    Codemod,
    DeleteStatement,
    FileSite,
    NameSite,
    ReplaceExpr,
    ReplaceStatement,
    Reports,
    Rewrite,
    Template,
)
from jaxmigrate.folding import fold
from jaxmigrate.registry import history
from jaxmigrate_codemods.config_flags import ALWAYS, folded

_MODULE = "jax.config"
_FLAGS = ("jax.config.FLAGS", "jax.config.flags.FLAGS")
_DEFINERS = (
    *(f"DEFINE_{kind}" for kind in ("bool", "enum", "float", "integer", "string")),
    *(f"define_{kind}_state" for kind in ("bool", "enum", "float", "int", "string", "string_or_object")),
)
_OWN_OPTION = (
    "jax.config takes no options of others any more (0.4.20): define {kind} with absl.flags or argparse and read it from there"
)

codemod = Codemod(
    "config-module",
    summary="jax.config is an object, not a module to import from",
    since="0.2.0",
    deprecated="0.4.20",
    removed="0.4.25",
    link="https://docs.jax.dev/en/latest/changelog.html#jax-0-4-25-feb-26-2024",
    words=frozenset({"jax.config", "config.FLAGS", "config.DEFINE", "config.define_", "omnistaging"}),
)

codemod.rename(
    {**history().moves("config-module"), "jax.config.flags": "jax.config"}, "{old} is {new} now: jax.config is no module"
)


@codemod.file
@codemod.only_where(f"import {_MODULE}")
def module_import(site: FileSite) -> Iterator[Rewrite]:
    """``import jax.config`` bound `jax`, and with ``as`` the object; there is no such module to import now."""
    for statement in site.source.imports:
        if isinstance(statement, ast.Import) and any(alias.name == _MODULE for alias in statement.names):
            yield Rewrite("jax.config comes with import jax", SAFE, (_without_module(site, statement),), at=statement)


def _without_module(site: FileSite, statement: ast.Import) -> ReplaceStatement | DeleteStatement:
    """The statement with ``jax`` in place of the module, and ``from jax import config as c`` beside it where it had an ``as``."""
    kept = [_written(alias) for alias in statement.names if alias.name != _MODULE]
    plain = any(alias.name == _MODULE and alias.asname is None for alias in statement.names)
    if plain and "jax" not in kept and not _is_imported(site, statement):
        kept.append("jax")
    lines = [f"import {', '.join(kept)}"] if kept else []
    named = [alias.asname for alias in statement.names if alias.name == _MODULE and alias.asname]
    lines += ["from jax import config" if name == "config" else f"from jax import config as {name}" for name in named]
    return ReplaceStatement(statement, Template("\n".join(lines))) if lines else DeleteStatement(statement)


def _written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _is_imported(site: FileSite, statement: ast.Import) -> bool:
    """Whether `jax` is bound in the same block by another import."""
    block = site.source.parent(statement)
    others = (s for s in site.source.imports if s is not statement and site.source.parent(s) is block)
    names = (alias for s in others if isinstance(s, ast.Import) for alias in s.names if alias.name != _MODULE)
    return any(alias.asname is None and alias.name.partition(".")[0] == "jax" for alias in names)


@codemod.name_(*_FLAGS)
def namespace(site: NameSite) -> Reports:
    """``config.FLAGS.jax_enable_x64`` is ``config.jax_enable_x64``."""
    attribute = site.parent()
    if site.role == "alias":
        return _replaced("{jax.config}", site.node)
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return site.manual("jax.config has no FLAGS: read options as attributes of jax.config, set them with jax.config.update")
    return _read(site, attribute)


def _read(site: NameSite, attribute: ast.Attribute) -> Reports:
    """An option that is an attribute of the object, or one of those that only `read` gives."""
    known, name = site.source.facts.history, attribute.attr
    as_attribute, as_flag = known.since(f"{_MODULE}.{name}"), known.since(f"flags.{name}")
    if as_attribute is not None and as_attribute <= site.target:
        return _replaced(f"{{jax.config}}.{name}", attribute) if site.direct else None
    if as_flag is not None:
        return _replaced(f'{{jax.config}}.read("{name}")', attribute)
    if name in ALWAYS:
        return folded(site, attribute, name) or _replaced(f"{{jax.config}}.{name}", attribute)
    return site.manual(f"jax.config has no option {name}")


def _replaced(template: str, node: ast.expr) -> Rewrite:
    return Rewrite("options are read from jax.config itself", SAFE, (ReplaceExpr(node, Template(template)),))


@codemod.name_(*(f"{_MODULE}.{name}" for name in _DEFINERS))
def definer(site: NameSite) -> Reports:
    """Options of the program itself, which other packages kept in JAX's table."""
    kind = "it" if site.symbol.rpartition(".")[2].startswith("DEFINE") else "the option"
    return site.manual(_OWN_OPTION.format(kind=kind))


@codemod.call(f"{_MODULE}.enable_omnistaging")
def enable_omnistaging(site: CallSite) -> Reports:
    """Nothing is left to enable."""
    statement = site.parent()
    if isinstance(statement, ast.Expr):
        return Rewrite("omnistaging is always on since 0.2.12", SAFE, (DeleteStatement(statement, ("omnistaging",)),))
    return site.manual("omnistaging is always on since 0.2.12: leave the call out")


@codemod.name_(f"{_MODULE}.disable_omnistaging")
def disable_omnistaging(site: NameSite) -> Reports:
    """What was asked for is gone."""
    return site.manual("omnistaging cannot be turned off since 0.2.12: write the code for traced functions that see no values")


@codemod.name_(f"{_MODULE}.omnistaging_enabled")
def omnistaging_enabled(site: NameSite) -> Reports:
    """A question with one answer."""
    if not isinstance(site.node, ast.Attribute) or not isinstance(site.node.ctx, ast.Load):
        return None
    changes = fold(site.source, site.node, True).changes
    if not changes:
        return site.manual("omnistaging is always on since 0.2.12: leave the question out")
    return Rewrite("omnistaging is always on since 0.2.12", SAFE, changes)
