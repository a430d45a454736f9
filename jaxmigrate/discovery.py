"""Paths on the command line -> the files of the user's own project, each once, in a stable order."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

PYTHON, TEXT, PINS = "python", "text", "pins"
"""The kinds of files: Python is rewritten; in text (shell, Dockerfile, CI) flags are only reported; the rest may hold pins."""

_PYTHON_SUFFIXES = (".py", ".pyi")
_NOT_SOURCE = (".ipynb", ".md", ".rst", ".txt", ".json", ".pyc")
_TEXT_SUFFIXES = (
    ".sh",
    ".bash",
    ".zsh",
    ".ksh",
    ".csh",
    ".fish",
    ".bazelrc",
    ".yml",
    ".yaml",
    ".cfg",
    ".ini",
    ".toml",
    ".env",
    ".service",
    ".slurm",
    ".sbatch",
)
# A string: compiling it costs 3 ms, and a run over one Python file never asks.
_TEXT_NAMES = r"(?i:(?:Dockerfile|Containerfile|Makefile|GNUmakefile)(?:[.-].*)?\Z|.*\.(?:dockerfile|mk)\Z)"
_FOREIGN_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "__pypackages__"})
# Hidden folders hold tool state, except these, where people keep the environment of their jobs.
_HIDDEN_BUT_OURS = frozenset(
    {".azure-pipelines", ".buildkite", ".ci", ".circleci", ".devcontainer", ".docker", ".github", ".gitlab"}
)

BUILD_SCRIPTS = ("setup.py", "noxfile.py")
"""Python whose strings are requirements."""
PROJECT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What the folder of a project has."""
SCRIPT_BLOCK = b"# /// script"
"""Begins the comment in which other Python says what it needs (PEP 723)."""
_MAY_PIN = (".txt", ".in", ".pip", ".ipynb", "Pipfile")
_PIN_NAMES = (
    r"(?i:(?!.*\.egg-info/).*(?:require|constraint|deps|\breqs?\b)[^/]*\.(?:txt|in|pip)\Z|(?:.*/)?requirements/[^/]*\.(?:txt|in)\Z"
    r"|.*\.ipynb\Z|.*\bPipfile\Z)"
)

_REQUIRING = (
    r"(?i:(?:pyproject\.toml|setup\.cfg|tox\.ini|(?:environment|conda)[^/]*\.ya?ml|(?:Dockerfile|Containerfile)(?:[.-].*)?)\Z)"
)
"""Other files that are there to say what a project needs: a folder of settings may hold thousands of the rest."""

Excluded = Callable[[str], bool]
"""Whether the file of this path is left out."""


class Found(NamedTuple):
    """What discovery came back with."""

    files: list[tuple[str, str]]
    """Path and kind of each file."""
    errors: list[tuple[str, str]]
    """Path and reason for each argument that leads nowhere."""
    named: set[str]
    """The paths of `files` that were given themselves, not found in a folder."""


def kind_of(name: str) -> str | None:
    """The kind of a file by its path, None for a file that does not concern us."""
    if name.endswith(_PYTHON_SUFFIXES):
        return PYTHON
    if name.endswith(_TEXT_SUFFIXES) or re.match(_TEXT_NAMES, name.rpartition("/")[2]):
        return TEXT
    if name.endswith(_MAY_PIN) and re.match(_PIN_NAMES, name):
        return PINS
    return None


def discover(paths: Iterable[str], exclude: tuple[str, ...] = (), base: str = ".") -> Found:
    """Find the files below `paths`; `exclude` are gitignore patterns relative to the folder `base`.

    A file that is named is taken whatever it is called and whoever ignores it.
    """
    found = Found([], [], set())
    seen: set[str] = set()
    excluded = _excluder(exclude, base) if exclude else None
    for path in paths:
        if os.path.isdir(path):
            for file in _folder(path, excluded):
                _take(file, seen, found)
        elif os.path.lexists(path):
            _take_named(path, seen, found)
        else:
            found.errors.append((path, "does not exist"))
    return found


def _take_named(path: str, seen: set[str], found: Found) -> None:
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        found.errors.append((path, f"leads nowhere: {(error.strerror or str(error)).lower()}"))
        return
    if not regular:
        found.errors.append((path, "is neither a file nor a folder"))
        return
    kind = kind_of(os.path.abspath(path).replace(os.sep, "/"))
    if kind is None and path.endswith(_NOT_SOURCE):
        found.errors.append((path, "is not a Python file"))
        return
    _take((path, kind or PYTHON, os.path.realpath(path)), seen, found)
    found.named.add(path)


def _take(file: tuple[str, str, str], seen: set[str], found: Found) -> None:
    path, kind, real = file
    if real not in seen:
        seen.add(real)
        found.files.append((path, kind))


def _folder(top: str, excluded: Excluded | None) -> list[tuple[str, str, str]]:
    """The files below a folder, sorted: path, kind, real path.

    A symlink is last in line, so that the file it leads to is known by its own name if it is in the tree.
    """
    listed = list(_git_files(top)) if git_root(top) else []
    # Nothing listed: no git after all, or an ignored folder that was asked for by name.
    names = listed or list(_walk(top))
    real_top = os.path.realpath(top)
    prefix = "" if top in (".", "./") else os.path.join(top, "")
    plain: list[tuple[str, str, str]] = []
    links: list[tuple[str, str, str]] = []
    for name, is_link in sorted(names):
        kind = kind_of(name)
        if kind is None or (excluded is not None and excluded(prefix + name)):
            continue
        if is_link:
            real = os.path.realpath(prefix + name)
            if os.path.isfile(real):
                links.append((prefix + name, kind, real))
        else:
            plain.append((prefix + name, kind, f"{real_top}/{name}"))
    own = {real for _, _, real in plain} if links else set()
    return plain + [link for link in links if link[2] not in own]


def around(files: Sequence[tuple[str, str]]) -> list[str]:
    """The files of the project that `files` are in which may hold its requirements, from their common folder up, without them."""
    paths = [path for path, _ in files]
    try:
        common = os.path.commonpath([os.path.abspath(min(paths)), os.path.abspath(max(paths))])
    except ValueError:  # there are none, or they are on several drives
        return []
    levels = _levels(common if os.path.isdir(common) else os.path.dirname(common))
    found = [path for level in levels for path in _requirements(level)]
    names = {os.path.basename(path) for path in found}
    known = {os.path.abspath(path) for path in paths if os.path.basename(path) in names}
    return [path for path in found if path not in known]


def _levels(folder: str) -> list[str]:
    """A folder and those above it, up to the top of the checkout; without one, up to the nearest that is a project."""
    top, levels = git_root(folder), []
    while True:
        levels.append(folder)
        if os.path.realpath(folder) == top:
            return levels
        if top is None and any(os.path.exists(os.path.join(folder, mark)) for mark in PROJECT_MARKS):
            return levels
        parent = os.path.dirname(folder)
        if parent == folder:
            return []
        folder = parent


def _requirements(folder: str) -> Iterator[str]:
    for place in (folder, os.path.join(folder, "requirements")):
        try:
            names = sorted(os.listdir(place))
        except OSError:
            continue
        for name in names:
            path = os.path.join(place, name)
            may_pin = kind_of(path.replace(os.sep, "/")) == PINS and not name.endswith(".ipynb")
            if may_pin or name in BUILD_SCRIPTS or re.match(_REQUIRING, name):
                yield path


def git_root(folder: str) -> str | None:
    """The top of the git checkout that holds `folder`."""
    current = os.path.realpath(folder)
    while True:
        if os.path.exists(os.path.join(current, ".git")):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return None
        current = parent


def _git_files(top: str) -> Iterator[tuple[str, bool]]:
    """Tracked files and those that could be added, relative to `top`; nothing if git does not answer."""
    import subprocess

    command = ["git", "-C", top, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return
    names = os.fsdecode(run.stdout).split("\0") if run.returncode == 0 else []
    environments = {name[: -len("pyvenv.cfg")] for name in names if name.endswith("/pyvenv.cfg")}
    ours = {"": True}
    for name in names:
        folder, _, base = name.rpartition("/")
        keep = ours.get(folder)
        if keep is None:
            keep = ours[folder] = _is_ours(folder, environments)
        if keep and base and kind_of(name):
            mode = _mode(os.path.join(top, name))
            if mode == 0o100000 or mode == 0o120000:
                yield name, mode == 0o120000


def _mode(path: str) -> int:
    """The file type bits; 0 for a tracked file that was deleted."""
    try:
        return os.lstat(path).st_mode & 0o170000
    except OSError:
        return 0


def _is_ours(folder: str, environments: set[str]) -> bool:
    """Whether no part of the path is an environment, a cache or a tool's own folder."""
    if any(_is_foreign(part) for part in folder.split("/")):
        return False
    return not any(f"{folder}/".startswith(environment) for environment in environments)


def _is_foreign(name: str) -> bool:
    return name in _FOREIGN_FOLDERS or (name.startswith(".") and name not in _HIDDEN_BUT_OURS)


def _walk(top: str) -> Iterator[tuple[str, bool]]:
    """Files below `top`, relative to it, without what its .gitignore files name; links to folders are not followed."""
    pending: list[tuple[str, list[tuple[str, GitIgnoreSpec]]]] = [("", [])]
    while pending:
        folder, specs = pending.pop()
        try:
            entries = list(os.scandir(os.path.join(top, folder)))
        except OSError:
            continue
        names = {entry.name for entry in entries}
        if "pyvenv.cfg" in names and folder:
            continue
        if ".gitignore" in names:
            specs = [*specs, (folder, _read_gitignore(os.path.join(top, folder, ".gitignore")))]
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder:
                if not _is_foreign(entry.name) and not (specs and _ignored(specs, name + "/")):
                    pending.append((name, specs))
            elif kind_of(name) and not (specs and _ignored(specs, name)):
                is_link = entry.is_symlink()
                if is_link or entry.is_file():
                    yield name, is_link


def _read_gitignore(path: str) -> GitIgnoreSpec:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return _spec(file)


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _ignored(specs: list[tuple[str, GitIgnoreSpec]], name: str) -> bool:
    """The innermost .gitignore that says something about `name` decides."""
    for folder, spec in reversed(specs):
        verdict = spec.check_file(name[len(folder) + 1 :] if folder else name).include
        if verdict is not None:
            return verdict
    return False


def _excluder(patterns: tuple[str, ...], base: str) -> Excluded:
    spec = _spec(patterns)
    top = os.path.realpath(base)
    folders: dict[str, str] = {}

    def excluded(path: str) -> bool:
        folder, name = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.relpath(os.path.realpath(folder or "."), top).replace(os.sep, "/")
        relative = folders[folder]
        if relative == ".." or relative.startswith("../"):
            return False
        return spec.match_file(name if relative == "." else f"{relative}/{name}")

    return excluded
