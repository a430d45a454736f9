"""A tree that switches jax_array on here and off there: old arrays reach new code and end in "RecursionError: jit".

https://jax.readthedocs.io/en/latest/jax_array_migration.html, last section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jaxmigrate.codemod import MANUAL, CallSite, Codemod, FileSite, Note, StringSite
from jaxmigrate.model import Fact
from jaxmigrate_codemods import _jax_array as flags
from jaxmigrate_codemods import _jax_array_outside as outside

codemod = Codemod(
    "recursive-jit",
    summary="one part of the tree switches jax_array on, another off",
    since="0.4.1",
    deprecated="0.4.7",
    removed="0.4.14",
    link="https://jax.readthedocs.io/en/latest/jax_array_migration.html",
    words=frozenset({flags.ARRAY, flags.ARRAY.upper(), f"no{flags.ARRAY}"}),
    applicability=MANUAL,
)

codemod.text(rb"\bJAX_ARRAY[ \t]*[=: \t][ \t]*[\"']?(?:1|true|t|yes|y|on)\b", "", note="on")
codemod.text(rb"\bJAX_ARRAY[ \t]*[=: \t][ \t]*[\"']?(?:0|false|f|no|n|off)\b", "", note="off")
codemod.text(rb"--jax_array(?:=(?:1|true|t|yes|y)\b|(?![=\w]))", "", note="on")
codemod.text(rb"--nojax_array\b(?!=)|--jax_array=(?:0|false|f|no|n)\b", "", note="off")

_ADVICE = (
    "jax_array is switched on at {on} and off at {off}: arrays made where it is off and used where it is on end in "
    '"RecursionError: jit"; there is only jax.Array now, so delete every one of these places'
)


@codemod.call(*flags.UPDATES)
def update(site: CallSite) -> Iterable[Note]:
    """``config.update("jax_array", value)``."""
    return _notes(flags.update_setting(site.source, site.node, deferred=site.partial))


@codemod.call(flags.MANAGER)
def manager(site: CallSite) -> Iterable[Note]:
    """``with jax_array(value):``."""
    return _notes(flags.manager_setting(site.source, site.node))


@codemod.string(flags.ARRAY, flags.ARRAY.upper(), f"no{flags.ARRAY}")
def outside_(site: StringSite) -> Iterable[Note]:
    """The environment variable and the command-line flag."""
    if site.value in flags.VARIABLES:
        return _notes(outside.variable_setting(site.source, site.node))
    return _notes(outside.argument_setting(site.source, site.node))


@codemod.file
def keywords(site: FileSite) -> Iterator[Note]:
    """``dict(os.environ, JAX_ARRAY="1")``."""
    for keyword, setting in outside.keyword_settings(site.source):
        for note in _notes(setting):
            yield Note(note.value, keyword)


def _notes(setting: flags.Setting | None) -> list[Note]:
    if setting is None or setting.flag != flags.ARRAY or setting.on is None:
        return []
    return [Note("on" if setting.on else "off")]


@codemod.project
def together(facts: Sequence[Fact]) -> Iterator[tuple[Fact, str]]:
    """One finding for the tree, at the first place that switches the flag off."""
    on = [f for f in facts if f.value == "on"]
    off = [f for f in facts if f.value == "off"]
    if on and off:
        yield off[0], _ADVICE.format(on=_places(on), off=_places(off))


def _places(facts: Sequence[Fact]) -> str:
    return ", ".join(f"{fact.path}:{fact.position.line}" for fact in facts)
