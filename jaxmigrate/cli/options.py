"""Options of the command line and of the project, put together and checked against what the packs know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from jaxmigrate.config import Config, ConfigError, did_you_mean, find, load

if TYPE_CHECKING:
    from typing import TextIO

    from jaxmigrate.codemod import Codemod
    from jaxmigrate.model import Settings, Version


Command = TypeVar("Command", bound=Callable[..., Any])


class Wishes(NamedTuple):
    """What the user asked for, before anything was looked up."""

    target: str | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    safe_only: bool
    unsafe: bool
    origin: str | None = None
    strict: bool = False

    @property
    def unusual(self) -> bool:
        """Whether there is anything that may be wrong."""
        return bool(self.target or self.select or self.ignore or self.options or self.origin)


def configuration(paths: tuple[str, ...], explicit: str | None) -> Config:
    """The table of the project that `paths` are in, or of the file that was named."""
    if explicit is not None and not os.path.isfile(explicit):
        raise click.BadParameter(f"{explicit!r} is not a file", param_hint="'--config'")
    path = explicit or find(_common(paths))
    if path is None:
        return Config()
    try:
        return load(path)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def _common(paths: tuple[str, ...]) -> str:
    if len(paths) == 1:
        return paths[0]
    return os.path.commonpath([os.path.abspath(path) for path in paths]) if paths else "."


def split_names(values: Iterable[str]) -> tuple[str, ...]:
    """``("a,b", "c")`` -> ``("a", "b", "c")``."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def split_options(values: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """``codemod.option=value`` -> its two sides."""
    pairs = [value.partition("=") for value in values]
    for name, equals, _ in pairs:
        if not equals or "." not in name:
            raise click.BadParameter(f"{name!r} is not of the form CODEMOD.OPTION=VALUE", param_hint="'--option'")
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def merge(wishes: Wishes, config: Config) -> Wishes:
    """The command line goes before the project, option by option."""
    chosen = wishes.safe_only or wishes.unsafe
    return Wishes(
        wishes.target or config.target,
        wishes.select or config.select,
        wishes.ignore or config.ignore,
        (*config.options, *wishes.options),
        wishes.safe_only if chosen else config.safe_only,
        wishes.unsafe if chosen else config.unsafe,
        wishes.origin or config.origin,
        wishes.strict or config.strict,
    )


def settings_of(wishes: Wishes) -> Settings:
    """The settings of a run.

    Raises:
        click.UsageError: an unknown codemod, option, value or version.
    """
    from jaxmigrate.gate import newest
    from jaxmigrate.model import Applicability, Settings, Version

    allowed = Applicability.SAFE if wishes.safe_only else Applicability.UNSAFE if wishes.unsafe else Applicability.REVIEW
    target = _version(wishes.target, "--target") if wishes.target else Version.parse(newest())
    origin = _version(wishes.origin, "--from") if wishes.origin else None
    if not (wishes.select or wishes.ignore or wishes.options):
        return Settings(target, allowed=allowed, origin=origin, strict=wishes.strict)
    from jaxmigrate.registry import load

    codemods = load().codemods
    for option, names in (("--select", wishes.select), ("--ignore", wishes.ignore)):
        for name in names:
            require_codemod(name, codemods, option)
    for name, value in wishes.options:
        _check_option(name, value, codemods)
    select = frozenset(wishes.select) if wishes.select else None
    return Settings(target, select, frozenset(wishes.ignore), allowed, wishes.options, origin=origin, strict=wishes.strict)


def _version(text: str, option: str) -> Version:
    from jaxmigrate.model import Version

    try:
        return Version.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'{option}'") from None


def require_codemod(name: str, codemods: Iterable[str], option: str) -> None:
    """Refuse a name that no pack has."""
    if name not in codemods:
        raise click.BadParameter(f"no codemod {name!r}{did_you_mean(name, codemods)}", param_hint=f"'{option}'")


def _check_option(name: str, value: str, codemods: dict[str, Codemod]) -> None:
    owner, _, option = name.partition(".")
    require_codemod(owner, codemods, "--option")
    known = codemods[owner].options
    if option not in known:
        hint = did_you_mean(option, known) if known else " (it has none)"
        raise click.BadParameter(f"{owner} has no option {option!r}{hint}", param_hint="'--option'")
    if value not in known[option]:
        raise click.BadParameter(f"{name}={value}: expected {' or '.join(known[option])}", param_hint="'--option'")


def colored(wish: bool | None, stream: TextIO) -> bool:
    """Whether to use colours on `stream`: as was asked for, else on a terminal that can show them and may."""
    if wish is not None:
        return wish
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def rewriting_options(command: Command) -> Command:
    """Give a command the options that say what is rewritten, and how."""
    for option in reversed(_REWRITING):
        command = option(command)
    return command


_REWRITING = (
    click.option("--target", metavar="VERSION", help="The oldest JAX that the result must run on. [default: the newest known]"),
    click.option(
        "--from",
        "origin",
        metavar="VERSION",
        help="The JAX that the program was written for: changes of behaviour since then are reported. [default: from its pins]",
    ),
    click.option("--select", multiple=True, metavar="NAMES", help="Only these codemods (repeatable, comma-separated)."),
    click.option("--ignore", multiple=True, metavar="NAMES", help="All but these codemods (repeatable, comma-separated)."),
    click.option("--safe-only", is_flag=True, help="Hold back edits that rest on an assumption."),
    click.option("--unsafe", is_flag=True, help="Also apply edits to code that still works, where they rest on an assumption."),
    click.option("--option", "options", multiple=True, metavar="CODEMOD.OPTION=VALUE", help="A choice that a codemod offers."),
    click.option("--config", metavar="FILE", help="A pyproject.toml. [default: the nearest with a table tool.jaxmigrate]"),
)
