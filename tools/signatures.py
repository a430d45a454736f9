"""Bring ``codemods/signatures.tsv`` up to the newest recording (see `jaxmigrate.signatures`); record_jax_api.py does it as well.

Of each function that refuses calls which an older release took: what it takes today, and what it took.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jaxmigrate.history import History
from jaxmigrate.model import Version
from jaxmigrate.registry import history
from jaxmigrate.signatures import Life, Signature, Signatures, signature
from tools.record_jax_api import OF_ENUM, SIGNATURE, Recording, parameters, stored

PATH = Path(__file__).resolve().parents[1] / "codemods" / "signatures.tsv"
_HEAD = """\
# Functions that refuse calls today which an older release took, derived by tools/signatures.py; tabs between the fields:
# functions, what they take today, and what older releases took, each behind the last of them, the newest first.
# A signature is that of Python, without the values of defaults: x,/,y=,*,z has an x by position only and a z by keyword only.
"""
_CURRIED = ("jax.extend.linear_util.transformation",)
"""Where functions that get too little wait for the rest, whatever their signature says."""
_OF_PYTHON = {OF_ENUM, "boundary"}
"""Parameters of all enumerations, whose signature is that of Python's release."""


def main() -> None:
    """Add what the newest recording refuses of what the one before it took."""
    newest, before, *_ = stored(Version.parse("999"))
    old = lives(Signatures((PATH.read_text("utf-8"),)))
    new = advanced(old, signatures_of(newest), signatures_of(before), history())
    PATH.write_text(rendered(new), "utf-8")
    print("\n".join(changed(old, new)))


def signatures_of(recording: Recording) -> dict[str, Signature]:
    """What the functions and classes of a release take."""
    entries = ((f"{m}.{n}", SIGNATURE.match(e[0])) for m, names in recording["modules"].items() for n, e in names.items())
    return {function: compact(parameters(found[1])) for function, found in entries if found is not None}


def compact(written: Iterable[str]) -> Signature:
    """A signature from the parameters of a recorded one."""
    parts = (part.strip().partition("=") for part in written)
    return signature(",".join(name.strip() + equals for name, equals, _ in parts if name))


def is_wider(new: Signature, old: Signature) -> bool:
    """Whether a signature takes every call that another takes."""
    return not any(new.refusal(given) for given in old.calls())


def is_known(known: History, function: str, today: Signature, old: Signature) -> bool:
    """Whether both signatures tell what the function takes, and it is one to be called by users."""
    entry = known.entry(function)
    if entry is None or not entry.alive or "leak" in entry.kinds or function.startswith(_CURRIED):
        return False
    if any(not _OF_PYTHON.isdisjoint(s.only_keyword) or s.text in ("*values", "arg0") for s in (today, old)):
        return False
    return not (old.any_positional and old.any_keyword and not old.free)


def advanced(
    before: Mapping[str, Life], newest: Mapping[str, Signature], older: Mapping[str, Signature], known: History
) -> dict[str, Life]:
    """The table brought to the newest release; `older` are the signatures of the recording before."""
    last, after = known.versions[-2], {}
    for function, today in newest.items():
        entry, old = before.get(function), older.get(function)
        had = list(entry.before) if entry is not None else []
        if old is not None and is_known(known, function, today, old) and all(is_wider(was, old) is False for _, was in had):
            had.insert(0, (last, old))
        if refused := tuple((release, was) for release, was in had if not is_wider(today, was)):
            after[function] = Life(today, refused)
    return after


def lives(known: Signatures) -> dict[str, Life]:
    """All of a table."""
    return {function: found for function in known.functions if (found := known.life(function)) is not None}


def rendered(table: Mapping[str, Life]) -> str:
    """The text of the table; functions with the same fields share a line."""
    lines: dict[str, list[str]] = {}
    for function, entry in sorted(table.items()):
        fields = [entry.today.text, *(f"{release} {old.text}" for release, old in entry.before)]
        lines.setdefault("\t".join(fields), []).append(function)
    return _HEAD + "".join(f"{' '.join(functions)}\t{fields}\n" for fields, functions in lines.items())


def changed(before: Mapping[str, Life], after: Mapping[str, Life]) -> Iterator[str]:
    """What the newest release refuses that the one before it took."""
    for function, entry in after.items():
        if function not in before or before[function].before != entry.before:
            yield f"refuses     {function}: takes ({entry.today.text}), took ({entry.before[0][1].text})"


if __name__ == "__main__":
    main()
