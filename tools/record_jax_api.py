"""Record the public API of a JAX release and carry it into the history of the codemods.

    python tools/record_jax_api.py 0.12.1                  in a new environment, by uv or by venv and pip
    python tools/record_jax_api.py --python PATH           with the JAX of a present environment

Writes tests/api/recordings/VERSION.json.gz. Where the release is newer than all on record, codemods/history.txt is brought up to
it (new names, names that went, members that classes lost, deprecations), NEWEST is set, and the private names of the release
replace those of the last one; codemods/signatures.tsv gets the calls that it refuses and the last one took. What is gone and
lacks advice in codemods/successors.tsv is listed. Of a release on record, what the history says otherwise is listed; members
that the newest release has after all are taken off the record of lost ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

from jaxmigrate.history import Entry, History, Range, symbol
from jaxmigrate.model import Version

ROOT = Path(__file__).resolve().parents[1]
WALKER = ROOT / "tools" / "walk_jax_api.py"
RECORDINGS = ROOT / "tests" / "api" / "recordings"
HISTORY = ROOT / "codemods" / "history.txt"
SUCCESSORS = ROOT / "codemods" / "successors.tsv"
PRIVATE = ROOT / "codemods" / "private.json.gz"
PACK = ROOT / "codemods" / "__init__.py"

EXTRAS = ("absl-py", "flatbuffers")
"""Small packages without which some modules of JAX cannot be imported."""
PYTHONS = (("0.4.14", (9, 10)), ("0.4.36", (10, 11, 12)), ("0.11.0", (11, 12, 13)), ("999", (12, 13, 14)))
"""JAX releases before a version, and the minor versions of Python 3 that can run them, the best last but one."""
OLD_NUMPY = Version.parse("0.4.26")
"""The first release that runs on NumPy 2 and on the SciPy of that time."""

SIGNATURE = re.compile(r"[fc]\((.*)\)", re.DOTALL)
"""A function or class in a recording, with what it takes."""
OF_ENUM = "qualname"
"""A keyword of all enumerations, whose signature is that of Python's release."""

OF_CLASS = "members of "
OF_FUNCTION = "parameters of "
OF_OBJECTS = (OF_CLASS, OF_FUNCTION)
"""How sections begin that a walk of modules says nothing about."""

Recording = dict[str, Any]
Names = dict[str, Entry]


def main() -> int:
    """Record one release."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", nargs="?", help="release to install and record")
    parser.add_argument("--python", help="interpreter of an environment that has the JAX to record")
    arguments = parser.parse_args()
    if (arguments.version is None) == (arguments.python is None):
        parser.error("give either a version or --python")
    if arguments.python:
        recording = walk(arguments.python)
    else:
        with tempfile.TemporaryDirectory(prefix="record-jax-") as folder:
            recording = walk(str(environment(arguments.version, Path(folder))))
    private = recording.pop("private")
    path = write(recording)
    print(f"{path.relative_to(ROOT)}: {sum(map(len, recording['modules'].values()))} names of JAX {recording['version']}")
    print("\n".join(report(recording, private)))
    sys.path.insert(0, str(ROOT))
    import_module("tools.signatures").main()
    return 0


def environment(version: str, folder: Path) -> Path:
    """A new environment with that JAX; its interpreter."""
    python = interpreter(version)
    if shutil.which("uv"):
        subprocess.run(["uv", "venv", "-q", "--python", python, str(folder / "env")], check=True)
        install = ["uv", "pip", "install", "-q", "--python", str(folder / "env" / "bin" / "python")]
    else:
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        install = [str(folder / "env" / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, *requirements(version)], check=True)
    return folder / "env" / "bin" / "python"


def requirements(version: str) -> list[str]:
    """What to install for a release."""
    old = ["numpy<2", "scipy<1.13"] if Version.parse(version) < OLD_NUMPY else []
    return [f"jax=={version}", f"jaxlib=={version}", *EXTRAS, *old]


def interpreter(version: str) -> str:
    """A Python that the release runs on, from the search path or from pyenv."""
    minors = next(minors for limit, minors in PYTHONS if Version.parse(version) < Version.parse(limit))
    for minor in sorted(minors, key=lambda m: (m != minors[-2], m)):
        if sys.version_info[:2] == (3, minor):
            return sys.executable
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
        pyenv = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        if pyenv:
            return str(pyenv[-1])
    raise SystemExit(f"JAX {version} needs one of Python 3.{', 3.'.join(map(str, minors))}; none was found (try --python)")


def walk(python: str, package: str = "jax", path: str | None = None) -> Recording:
    """What the walker finds with that interpreter; `path` is a folder to import `package` from."""
    command = [python, "-I", str(WALKER), package, *([path] if path else [])]
    done = subprocess.run(command, capture_output=True, env={"JAX_PLATFORMS": "cpu", "PATH": ""}, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode(errors="replace"))
    recording: Recording = json.loads(done.stdout)
    return recording


def write(recording: Recording, folder: Path = RECORDINGS) -> Path:
    """Store a recording, the same bytes for the same content."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{recording['version']}.json.gz"
    path.write_bytes(_packed(recording))
    return path


def read(path: Path) -> Recording:
    """A stored recording."""
    recording: Recording = json.loads(gzip.decompress(path.read_bytes()))
    return recording


def stored(before: Version) -> Iterator[Recording]:
    """The recordings of older releases, the newest first."""
    versions = {Version.parse(path.name.removesuffix(".json.gz")): path for path in RECORDINGS.glob("*.json.gz")}
    return (read(versions[version]) for version in sorted(versions, reverse=True) if version < before)


def _packed(content: object) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def report(recording: Recording, private: dict[str, list[str]]) -> Iterator[str]:
    """Bring the history up to a recording where it is newer, and say what is new."""
    history = History((HISTORY.read_text("utf-8"),), (SUCCESSORS.read_text("utf-8"),))
    version = Version.parse(recording["version"])
    before = sections(history)
    if version <= history.versions[-1]:
        yield from (f"the history says otherwise: {line}" for line in disagreements(history, recording))
        if version == history.versions[-1]:
            HISTORY.write_text(rendered(corrected(before, recording), history.versions, HISTORY.read_text("utf-8")), "utf-8")
            PRIVATE.write_bytes(_packed(private))
        return
    older = list(stored(version))
    after = advanced(before, recording, history.versions[-1], older)
    HISTORY.write_text(rendered(after, (*history.versions, version), HISTORY.read_text("utf-8")), "utf-8")
    PRIVATE.write_bytes(_packed(private))
    PACK.write_text(re.sub(r'NEWEST = "[^"]*"', f'NEWEST = "{version}"', PACK.read_text("utf-8")), "utf-8")
    yield from news(before, after, version, history)
    yield from gained(recording, older[0])


def sections(history: History) -> dict[str, Names]:
    """All of a history, by section."""
    return {name: dict(history.section(name)) for name in history.all_sections()}


def recorded(recording: Recording) -> dict[str, dict[str, list[str]]]:
    """The names that a release has: section -> name -> kind (with signature) and what it warns of."""
    found = {m: {n: e for n, e in names.items() if e[0] != "-"} for m, names in recording["modules"].items()}
    found["flags"] = {flag: ["v"] for flag in recording["flags"]}
    found[""] = {name: ["m"] for name in found if name and "." not in name and name != "flags"}
    return found


def kinds(entry: list[str]) -> frozenset[str]:
    """What a recorded name is, in the words of the history."""
    code = entry[0]
    words = {"m": "module", "c": "class", "x": "leak"}.get(code[:1])
    return frozenset(filter(None, (words, "static" if code in ("s", "sx") else None, "leak" if code == "sx" else None)))


def advanced(before: dict[str, Names], recording: Recording, last: Version, older: Sequence[Recording] = ()) -> dict[str, Names]:
    """The sections of a history, brought from its newest release `last` to the one of a recording.

    `older` are recordings up to `last`, the newest first: they tell what the classes had.
    """
    version = Version.parse(recording["version"])
    found = recorded(recording)
    after = {section: dict(names) for section, names in before.items()}
    for section, names in found.items():
        old = after.setdefault(section, {})
        for name, what in names.items():
            old[name] = _seen(old.get(name), f"{section}.{name}" if section else name, what, version)
    for section, old in after.items():
        for name, entry in old.items():
            if entry.alive and name not in found.get(section, {}) and not _may_have(section, entry, recording):
                ranges = (*entry.ranges[:-1], Range(entry.since, last))
                old[name] = Entry(entry.symbol, ranges, entry.deprecated, entry.kinds - {"static"})
    for section, had, names in _of_objects(recording, older[0]) if older else ():
        lost = after.setdefault(section, {})
        for name in had - names:
            lost[name] = _lost(lost.get(name), symbol(section, name), _first_with(section, name, older), last)
    return corrected(after, recording)


def _of_objects(recording: Recording, older: Recording) -> Iterator[tuple[str, set[str], set[str]]]:
    """The sections of classes and functions of both releases, what they had and what they have; none that may have anything."""
    for owner, names in recording["members"].items():
        if "*" not in names:
            yield OF_CLASS + owner, set(older["members"].get(owner, ())) - {"*"}, set(names)
    for function in _functions(recording):
        now, had = keywords(recording, function), keywords(older, function)
        if now is not None and had is not None and OF_ENUM not in now | had:
            yield OF_FUNCTION + function, had, now


def _functions(recording: Recording) -> Iterator[str]:
    for module, names in recording["modules"].items():
        yield from (f"{module}.{name}" for name, entry in names.items() if SIGNATURE.match(entry[0]))


def keywords(recording: Recording, function: str) -> set[str] | None:
    """What a function takes by keyword; None if that is not known, or anything."""
    module, _, name = function.rpartition(".")
    found = SIGNATURE.match(recording["modules"].get(module, {}).get(name, [""])[0])
    if found is None:
        return None
    parts = [part.strip() for part in parameters(found[1])]
    if any(part.startswith("**") for part in parts):
        return None
    free = parts[parts.index("/") + 1 :] if "/" in parts else parts
    return {part.partition("=")[0] for part in free if part and part[0] not in "*_"}


def parameters(text: str) -> Iterator[str]:
    """The parameters of a signature: commas within brackets and quotes separate nothing; a long default is cut short by dots."""
    start = depth = 0
    quote = ""
    for number, sign in enumerate(text):
        if sign == "," and text[:number].endswith("..."):
            quote, depth = "", 0
        if quote or sign in "'\"":
            quote = "" if sign == quote else quote or sign
        elif sign in "([{<":
            depth += 1
        elif sign in ")]}>":
            depth -= 1
        elif sign == "," and not depth:
            yield text[start:number]
            start = number + 1
    yield text[start:]


def _lost(old: Entry | None, symbol: str, first: Version, last: Version) -> Entry:
    """The life of a member that ends with `last`."""
    if old is not None and old.alive:
        return Entry(symbol, (*old.ranges[:-1], Range(old.since, last)), old.deprecated)
    return Entry(symbol, (*(old.ranges if old is not None else ()), Range(first, last)))


def _first_with(section: str, name: str, older: Sequence[Recording]) -> Version:
    """The oldest of the recordings from the newest back that have a member or a keyword without a break."""
    having = takewhile(lambda recording: name in _at(section, recording), older)
    return Version.parse([recording["version"] for recording in having][-1])


def _at(section: str, recording: Recording) -> Iterable[str]:
    if section.startswith(OF_CLASS):
        members: list[str] = recording["members"].get(section.removeprefix(OF_CLASS), [])
        return members
    return keywords(recording, section.removeprefix(OF_FUNCTION)) or ()


def corrected(before: dict[str, Names], recording: Recording) -> dict[str, Names]:
    """The sections without lost members that the newest release, the one of the recording, has: none was lost."""
    after = {}
    for section, names in before.items():
        present = recording["members"].get(section.removeprefix(OF_CLASS), ()) if section.startswith(OF_CLASS) else ()
        after[section] = {name: entry for name, entry in names.items() if entry.alive or name not in present}
    return {section: names for section, names in after.items() if names}


def _may_have(section: str, entry: Entry, recording: Recording) -> bool:
    """Whether a release may have a name although its recording does not show it."""
    if section.startswith(OF_OBJECTS) or _is_open(section, recording):
        return True
    by_source = "static" in entry.kinds and "*" not in recording["modules"].get(section, {})
    return section in recording["failed"] and not by_source


def _is_open(section: str, recording: Recording) -> bool:
    return any((section + ".").startswith(f"{name}.") for name in recording["open"])


def _seen(old: Entry | None, symbol: str, entry: list[str], version: Version) -> Entry:
    deprecated = version if len(entry) > 1 else None
    if old is None:
        return Entry(symbol, (Range(version, None),), deprecated, kinds(entry))
    if not old.alive:
        return Entry(symbol, (*old.ranges, Range(version, None)), deprecated, kinds(entry) or old.kinds - {"module", "class"})
    return Entry(symbol, old.ranges, (old.deprecated or deprecated) if deprecated else None, old.kinds)


def rendered(content: dict[str, Names], versions: Iterable[Version], old: str) -> str:
    """The text of a history; its head is kept from the old one."""
    lines = [*(line for line in old.split("\n[")[0].splitlines() if line.startswith("#"))]
    lines.append(f"versions {' '.join(map(str, versions))}")
    for section in sorted(content):
        lines.append(f"[{section}]")
        lines += [_line(name, entry) for name, entry in sorted(content[section].items())]
    return "\n".join(lines) + "\n"


def _line(name: str, entry: Entry) -> str:
    spans = ",".join(f"{r.first}-{r.last or ''}" for r in entry.ranges)
    marks = [f"~{entry.deprecated}"] if entry.deprecated else []
    return " ".join([name, spans, *marks, *(["=" + "+".join(sorted(entry.kinds))] if entry.kinds else [])])


def news(before: dict[str, Names], after: dict[str, Names], version: Version, history: History) -> Iterator[str]:
    """What a release changed, and what of it nobody gives advice about."""
    for section, names in after.items():
        for name, entry in names.items():
            old = before.get(section, {}).get(name)
            advised = _has_advice(history, entry.symbol)
            if old is None or (entry.alive and not old.alive):
                yield f"new         {entry.symbol}"
            elif old.alive and not entry.alive:
                yield f"gone        {entry.symbol}{'' if advised else '   (no advice in successors.tsv)'}"
            elif entry.deprecated == version:
                yield f"deprecated  {entry.symbol}{'' if advised else '   (no advice in successors.tsv)'}"


def gained(recording: Recording, older: Recording) -> Iterator[str]:
    """The members that classes of both releases have in the newer one only; what is asked for belongs into [news] of api.toml."""
    for owner, names in recording["members"].items():
        had = older["members"].get(owner, ["*"])
        yield from (f"new member  {owner}.{name}" for name in names if name not in had and "*" not in (name, *had))


def _has_advice(history: History, symbol: str) -> bool:
    found = history.advice(symbol)
    return found is not None and bool(found.text or found.successors)


def disagreements(history: History, recording: Recording) -> Iterator[str]:
    """Where a history and a recording of one of its releases differ."""
    version = Version.parse(recording["version"])
    found = recorded(recording)
    for section, names in found.items():
        members = history.members(section)
        for name, entry in names.items():
            life = members.get(name)
            if life is None or not life.at(version):
                yield f"{section}.{name} is in {version}"
            elif len(entry) > 1 and not life.alive and (life.deprecated is None or life.deprecated > version):
                yield f"{section}.{name} is deprecated in {version}"
    for section in history.sections():
        if section in recording["failed"] or _is_open(section, recording):
            continue
        for name, life in history.members(section).items():
            if life.at(version) and name not in found.get(section, {}) and not name.startswith("_"):
                yield f"{section}.{name} is not in {version}"
    yield from _members_after_all(history, recording)


def _members_after_all(history: History, recording: Recording) -> Iterator[str]:
    version = Version.parse(recording["version"])
    for owner, members in recording["members"].items():
        for name, life in history.lost_members(owner).items():
            if name in members and not life.at(version):
                yield f"{owner}.{name} is in {version}"


if __name__ == "__main__":
    sys.exit(main())
