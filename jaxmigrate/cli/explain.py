"""``jaxmigrate explain NAME``: a codemod, taught by example, or the life of a JAX name and what to write instead."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from jaxmigrate.config import did_you_mean

if TYPE_CHECKING:
    from jaxmigrate.codemod import Codemod
    from jaxmigrate.history import Entry
    from jaxmigrate.registry import Pack
    from jaxmigrate.story import Changed, Holds, Story

_WIDTH = 80


@click.command("explain", short_help="Explain a codemod, or what became of a JAX name.")
@click.argument("name")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
def command(name: str, style: str) -> None:
    """Explain a codemod (live-buffers), or what became of a JAX name.

    A name may be written in full (jax.tree_map), with a usual abbreviation (jtu.tree_multimap) or alone (DeviceArray). Also a
    keyword argument (jax.numpy.clip(a_min=)), a member of a class (jax.Array.device_buffer), a flag (jax_omnistaging), a module,
    an import or an error message ("module 'jax' has no attribute 'tree_map'").
    The exit status is 1 for a name of JAX that no release had, 2 for one of nobody's.
    """
    from jaxmigrate.question import asked
    from jaxmigrate.registry import load
    from jaxmigrate.story import tell

    pack = load()
    if name in pack.codemods:
        _show_codemods([pack.codemods[name]], style)
        return
    story = tell(name, pack.history, pack.codemods, _short(pack))
    if story is not None:
        click.echo(json.dumps(_as_data(story), indent=2) if style == "json" else "\n".join(_told(story)))
        return
    question, name = name, asked(name)
    # DeviceArray.to_py and jnp.DeviceArray are found by their last part, np.clip is none of ours.
    names = (name, name.rpartition(".")[2] if name[:1].isupper() or _is_ours(name, pack) else name)
    chosen = next(filter(None, (_dealing_with(n, pack.codemods) for n in names)), [])
    if chosen:
        _show_codemods(chosen, style)
        return
    _unknown(question, name, pack, style)


def _short(pack: Pack) -> dict[str, str]:
    """Usual names of modules, such as jnp."""
    short: dict[str, str] = pack.tables.get("short", {})
    return short


def _is_ours(name: str, pack: Pack) -> bool:
    """Whether a dotted name begins with a library on record, or a usual name of one of its modules."""
    first = name.partition(".")[0]
    return _short(pack).get(first, first).partition(".")[0] in pack.history.members("")


def _unknown(question: str, name: str, pack: Pack, style: str) -> None:
    from jaxmigrate.story import near

    history = pack.history
    if "." not in name or not _is_ours(name, pack):
        meant = did_you_mean(question, pack.codemods)
        hint = meant if meant.startswith(",") else "; jaxmigrate codemods lists the codemods"
        raise click.BadParameter(f"no codemod or old API {question!r}{hint}", param_hint="'NAME'")
    private = _private(name, pack)
    guess = history.public_namesake(name) if private else near(name, history, _short(pack))
    if style == "json":
        state, newest = ("private", history.has_private(name)) if private else ("unknown", False)
        click.echo(json.dumps({"symbol": name, "state": state, "in_newest": newest, "near": guess or None}, indent=2))
    elif private:
        click.echo("\n".join(wrapped(f"{name}: {private}{f'; see {guess}' if guess else ''}", "")))
    else:
        span = f"{history.versions[0]} to {history.versions[-1]}"
        hint = f", did you mean {guess}?" if guess else ""
        click.echo("\n".join(wrapped(f"{name}: not a JAX API of any known release ({span}){hint}", "")))
    raise SystemExit(0 if private else 1)


def _private(name: str, pack: Pack) -> str:
    """What to say about a private name; empty for others."""
    if not any(part.startswith("_") for part in name.split(".")):
        return ""
    has = {True: "has it", False: "does not have it", None: "may or may not have it"}[pack.history.has_private(name)]
    return f"a private name of JAX, which may change with any release; JAX {pack.history.versions[-1]} {has}"


def _told(story: Story) -> Iterator[str]:
    """A story for people, within 80 columns."""
    yield from wrapped(_title(story), "", "  ")
    yield ""
    rows = list(_rows(story))
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        yield from wrapped(text, f"  {label:<{width}}  ")
    if story.codemods and not story.by_hand and example(story.codemods[0].name) is not None:
        yield ""
        yield from wrapped(f"jaxmigrate explain {story.codemods[0].name} shows an example of the edit.", "  ")


def _title(story: Story) -> str:
    kind = "module" if "module" in story.entry.kinds else "class" if "class" in story.entry.kinds else ""
    kind = "keyword argument" if story.symbol.endswith("=)") else "flag" if story.symbol.startswith("flags.") else kind
    symbol = story.symbol.removeprefix("flags.")
    said = {"gone": f"gone since JAX {story.removed}", "deprecated": f"deprecated since JAX {story.entry.deprecated}"}
    return f"{symbol}: {f'{kind}, ' if kind else ''}{said.get(story.state, 'part of JAX today')}"


def _rows(story: Story) -> Iterator[tuple[str, str]]:
    if story.of:
        yield "asked for", f"{story.of}, which is not among what it lost"
    yield from _life(story)
    for number, new in enumerate(story.instead):
        yield "" if number else "instead", f"{new.name}, {_targets(story, number)}"
    if story.advice:
        yield _label(story), story.advice
    yield from _workers(story)
    if story.holds is not None:
        yield "its names", _held(story.holds)
    if story.lost:
        yield "it lost", "; ".join(_lost(e) for e in story.lost)
    if story.also:
        yield "same name", ", ".join(story.also)


def _life(story: Story) -> Iterator[tuple[str, str]]:
    entry = story.entry
    yield "in JAX", _spans(entry)
    if "leak" in entry.kinds:
        yield "what it was", "an import of that module which nobody promised, no API of its own"
    for number, changed in enumerate(story.changed):
        yield "" if number else "changed in", _change(changed)
    if entry.deprecated is not None:
        yield "deprecated in", str(entry.deprecated)
    if story.removed is not None:
        yield "removed in", str(story.removed)


def _change(changed: Changed) -> str:
    """Another behaviour, and who speaks of it."""
    return f"{', '.join(map(str, changed.releases))}: {changed.codemod.summary} ({changed.codemod.name}, with --from)"


def _label(story: Story) -> str:
    """What the advice is: the successor itself where no name is one."""
    if story.state == "alive" or story.instead:
        return "to know"
    return "what to do" if story.by_hand else "instead"


def _held(holds: Holds) -> str:
    gone = f"{holds.names} on record, {holds.gone} of them gone"
    return gone + (f"; some are rewritten by {', '.join(holds.codemods)}" if holds.codemods else "")


def _workers(story: Story) -> Iterator[tuple[str, str]]:
    edits = [f"{c.name} ({_reservation(c)})" for c in story.codemods]
    if story.state == "alive":
        if edits:
            yield "codemods", ", ".join(edits)
    elif story.by_hand:
        lookers = ", ".join(c.name for c in story.codemods)
        yield "rewritten by", f"nothing, by hand{f'; looked at by {lookers}' if lookers else ''}"
    else:
        yield "rewritten by", ", ".join(edits)
    if story.codemods:
        yield "read", story.codemods[0].link


def _reservation(codemod: Codemod) -> str:
    """The strongest that an edit of it may carry."""
    if codemod.applicability.name == "MANUAL":
        return "by hand"
    return f"{'up to ' if int(codemod.applicability) else ''}{codemod.applicability}"


def _spans(entry: Entry) -> str:
    if not entry.ranges:
        return "not on record"
    spans = [f"{r.first} to {r.last}" if r.last else f"since {r.first}" for r in entry.ranges]
    spans = [span.partition(" to ")[0] if r.first == r.last else span for span, r in zip(spans, entry.ranges, strict=True)]
    return ", ".join(spans)


def _targets(story: Story, number: int) -> str:
    new = story.instead[number]
    if len(story.instead) == 1:
        return f"since JAX {new.since}"
    if new.before is None:
        return f"for targets from JAX {new.since}"
    return f"for targets before {new.before}" + (f" (from {new.since})" if number else "")


def _lost(entry: Entry) -> str:
    name = entry.symbol.rpartition("(")[2].rstrip("=)") if entry.symbol.endswith(")") else f".{entry.symbol.rpartition('.')[2]}"
    return f"{name} ({'deprecated in ' + str(entry.deprecated) if entry.alive else 'last in ' + str(entry.last)})"


def wrapped(text: str, head: str, further: str | None = None) -> list[str]:
    """`text` behind `head`, its further lines below the first, or behind `further`."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head) if further is None else further,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _as_data(story: Story) -> dict[str, object]:
    entry = story.entry
    return {
        "symbol": story.symbol,
        "of": story.of or None,
        "state": story.state,
        "kinds": sorted(entry.kinds),
        "releases": [{"first": str(r.first), "last": str(r.last) if r.last else None} for r in entry.ranges],
        "deprecated": str(entry.deprecated) if entry.deprecated else None,
        "removed": str(story.removed) if story.removed else None,
        "instead": [
            {"name": new.name, "since": str(new.since), "before": str(new.before) if new.before else None}
            for new in story.instead
        ],
        "advice": story.advice,
        "by_hand": story.by_hand and story.state != "alive",
        "codemods": [{"name": c.name, "edits": str(c.applicability), "link": c.link} for c in story.codemods],
        "changed": [
            {"codemod": c.codemod.name, "releases": list(map(str, c.releases)), "summary": c.codemod.summary}
            for c in story.changed
        ],
        "lost": [{"name": e.symbol, "last": str(e.last) if e.last else None} for e in story.lost],
        "names": story.holds.names if story.holds else None,
        "names_gone": story.holds.gone if story.holds else None,
        "also": list(story.also),
    }


def _show_codemods(chosen: list[Codemod], style: str) -> None:
    if style == "text":
        click.echo("\n".join("\n".join(_lines(codemod)) for codemod in chosen))
    else:
        click.echo(json.dumps([_codemod_data(codemod) for codemod in chosen], indent=2))


def _codemod_data(codemod: Codemod) -> dict[str, object]:
    pair = example(codemod.name)
    return {
        "codemod": codemod.name,
        "summary": codemod.summary,
        "since": codemod.since,
        "deprecated": codemod.deprecated,
        "removed": codemod.removed,
        "edits": str(codemod.applicability),
        "options": {name: list(values) for name, values in codemod.options.items()},
        "link": codemod.link,
        "example": {"before": pair[0], "after": pair[1]} if pair else None,
    }


def _dealing_with(symbol: str, codemods: dict[str, Codemod]) -> list[Codemod]:
    return [codemod for codemod in codemods.values() if _deals_with(codemod, symbol)]


def _deals_with(codemod: Codemod, symbol: str) -> bool:
    known = (*codemod.moves, *codemod.names, *codemod.calls, *codemod.attributes, *codemod.strings)
    return any(name == symbol or name.endswith(f".{symbol}") for name in known)


def _lines(codemod: Codemod) -> Iterator[str]:
    yield from wrapped(f"{codemod.name}: {codemod.summary}", "", "  ")
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
            wide = max(map(len, (before + after).splitlines())) > _WIDTH - 3
            pairs.append((special, wide, len(before), before, after))
    return min(pairs)[3:] if pairs else None


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
