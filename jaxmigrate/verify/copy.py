"""Copies of the user's tree in which its program may run and write: one for each run, gone afterwards."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from jaxmigrate.discovery import git_root
from jaxmigrate.verify.model import Plan

RUNS = ("before", "after", "again")
"""The names of the copies."""
MAX_FILE = 20_000_000
"""Bytes of a file that is still copied."""
MAX_TREE = 500_000_000
"""Bytes that are copied of a tree."""
MAX_FILES = 50_000
MAX_LOOSE = 2000
"""Files that are taken from a folder that is no checkout and no project, the nearest first: it may be a home, or ``/tmp``."""
_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_NEVER = frozenset(
    {
        ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox",
        ".venv", "__pycache__", "__pypackages__", "node_modules", "site-packages",
    }
)  # fmt: skip
_FICLONE = 0x40049409
"""The request to share the blocks of another file until one of the two is written."""


def root_of(script: str | None, cwd: str) -> str:
    """The top of the tree that a program belongs to: its checkout, else its project, else the folder of the script."""
    start = os.path.dirname(os.path.abspath(script)) if script else os.path.abspath(cwd)
    if script and os.path.isdir(script):
        start = os.path.abspath(script)
    start = os.path.realpath(start)
    top = git_root(start)
    if top is not None and _is_listed(top, start):
        return top
    folder = start
    while os.path.dirname(folder) != folder:
        if any(os.path.isfile(os.path.join(folder, name)) for name in _PROJECT_FILES):
            return folder
        folder = os.path.dirname(folder)
    return start


def _is_listed(top: str, folder: str) -> bool:
    """Whether a checkout holds this folder, and does not merely lie around it."""
    command = ["git", "-C", top, "check-ignore", "-q", "--", folder]
    try:
        return folder == top or subprocess.run(command, capture_output=True, check=False).returncode != 0
    except OSError:
        return True


class Workspace:
    """The copies of one verification, as a context manager that removes them in the end.

    `cwd` and what lies beside the tree keep their place relative to it, so that ``../data`` is still found.
    """

    def __init__(self, root: str, plan: Plan, *, cwd: str, target: str | None = None, inputs: Sequence[str] = ()) -> None:
        """`target` is relative to `cwd`, and so are `inputs`: what is needed whatever its size, and whoever ignores it."""
        self._tree = os.path.realpath(root)
        self._cwd = os.path.realpath(cwd)
        script = os.path.join(self._cwd, target) if target else ""
        # A script that is a link keeps its own name and place.
        self._script = os.path.join(os.path.realpath(os.path.dirname(script)), os.path.basename(script)) if script else None
        self._inputs = [os.path.abspath(os.path.join(cwd, path)) for path in inputs]
        self._plan = plan
        self._top = ""
        # The part of the file system that the copies keep in its order; what is not copied in it is not there.
        self._base = os.path.commonpath([self._tree, self._cwd, *map(os.path.dirname, self._inputs)])
        self.files = 0
        """How many files were copied."""
        self.left_out: list[str] = []
        """Files that were too large."""

    def __enter__(self) -> Self:
        self._top = os.path.realpath(tempfile.mkdtemp(prefix="jaxmigrate-"))
        try:
            first = self.root(RUNS[0])
            self._copy_tree(first)
            self._add_inputs(RUNS[0])
            for name in RUNS[1:]:
                _duplicate(self._place(self._base, RUNS[0]), self._place(self._base, name))
            for name in RUNS:
                os.makedirs(self.cwd(name), exist_ok=True)
                self._write(name, self._plan.before if name == "before" else self._plan.after)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._remove()

    def root(self, name: str) -> str:
        """The copy of the tree for the run `name`."""
        return self._place(self._tree, name)

    def cwd(self, name: str) -> str:
        """The working directory in that copy."""
        return self._place(self._cwd, name)

    def target(self, name: str) -> str:
        """The script in that copy, relative to its working directory."""
        assert self._script is not None
        return os.path.relpath(self._place(self._script, name), self.cwd(name))

    def search(self, name: str) -> tuple[str, ...]:
        """The folders of that copy that modules are imported from: the script's, the working directory, the tree, ``src``."""
        folders = [self._cwd, self._tree, os.path.join(self._tree, "src")]
        if self._script is not None:
            folders.insert(0, self._script if os.path.isdir(self._script) else os.path.dirname(self._script))
        places = dict.fromkeys(self._place(folder, name) for folder in folders)
        return tuple(place for place in places if os.path.isdir(place))

    def _place(self, path: str, name: str) -> str:
        """Where `path` is in a copy; the name of the outermost folder is kept, since programs show it."""
        relative = os.path.relpath(path, self._base)
        top = os.path.join(self._top, name, os.path.basename(self._base) or "tree")
        if relative.split(os.sep, 1)[0] == os.pardir:
            return path  # a script outside of the tree is run where it is
        return os.path.normpath(os.path.join(top, relative))

    def _copy_tree(self, copy: str) -> None:
        os.makedirs(copy)
        size = 0
        names = list(listed(self._tree))
        if self._script is not None and _inside(self._script, self._tree):
            names.append(os.path.relpath(self._script, self._tree))
        # Code first: what is left out for its size is data.
        for name in sorted(dict.fromkeys(names), key=lambda name: not name.endswith(".py")):
            source = os.path.join(self._tree, name)
            try:
                status = os.stat(source)
            except OSError:
                continue  # a tracked file that was deleted, a link that leads nowhere
            if not stat.S_ISREG(status.st_mode):
                continue
            if status.st_size > MAX_FILE or size + status.st_size > MAX_TREE or self.files >= MAX_FILES:
                self.left_out.append(name)
                continue
            size += status.st_size
            self.files += _copy_file(source, os.path.join(copy, name))
        if len(names) >= MAX_LOOSE and is_loose(self._tree):
            self.left_out.append(f"all but the {MAX_LOOSE} nearest files")
        for name in names:
            _keep_folder_modes(self._tree, copy, os.path.dirname(name))

    def _add_inputs(self, run: str) -> None:
        """What the user listed: small files are copied, so that nothing is written through a link; others are linked."""
        for path in self._inputs:
            place = self._place(path, run)
            if os.path.isdir(path):
                for name in _walk(path, everything=True):
                    self._add_input(os.path.join(path, name), os.path.join(place, name))
            else:
                self._add_input(path, place)
        listed = {os.path.relpath(path, self._tree) for path in self._inputs}
        self.left_out = [n for n in self.left_out if not any(n == i or n.startswith(i + os.sep) for i in listed)]

    def _add_input(self, source: str, place: str) -> None:
        if os.path.lexists(place):
            return
        with contextlib.suppress(OSError):
            if os.stat(source).st_size <= MAX_FILE:
                _copy_file(source, place)
            else:
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.symlink(os.path.realpath(source), place)

    def _write(self, name: str, contents: dict[str, bytes]) -> None:
        for relative, data in contents.items():
            place = os.path.join(self.root(name), relative)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            mode = stat.S_IMODE(os.stat(place).st_mode) if os.path.exists(place) else 0o644
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
            with open(place, "wb") as file:
                file.write(data)
            os.chmod(place, mode)

    def _remove(self) -> None:
        """Remove everything, also what the program made read-only; processes that are ending may still write for a moment."""
        for wait in (0.0, 0.1, 0.5):
            time.sleep(wait)
            _make_writable(self._top)
            shutil.rmtree(self._top, ignore_errors=True)
            if not os.path.lexists(self._top):
                return


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def is_loose(tree: str) -> bool:
    """Whether nothing says that this folder is a tree of its own."""
    return git_root(tree) is None and not any(os.path.isfile(os.path.join(tree, name)) for name in _PROJECT_FILES)


def listed(tree: str) -> Iterator[str]:
    """The files of a tree, relative to it: what git knows or would add, else all but environments and caches."""
    names = _git_files(tree) if git_root(tree) else []
    if not names:
        yield from itertools.islice(_walk(tree), MAX_LOOSE if is_loose(tree) else None)
        return
    environments = tuple(name[: -len("pyvenv.cfg")] for name in names if name.endswith("/pyvenv.cfg"))
    for name in names:
        if name.startswith(environments) and environments:
            continue
        if any(part in _NEVER for part in name.split("/")[:-1]) or name.endswith((".pyc", ".pyo")):
            continue
        if os.path.isdir(os.path.join(tree, name)):  # a submodule, a link to a folder
            yield from (f"{name}/{inner}" for inner in _walk(os.path.join(tree, name)))
        else:
            yield name


def _git_files(tree: str) -> list[str]:
    command = ["git", "-C", tree, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "."]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return []
    return [name for name in os.fsdecode(run.stdout).split("\0") if name] if run.returncode == 0 else []


def _walk(tree: str, *, everything: bool = False) -> Iterator[str]:
    """The files below a folder, the nearest first; those behind links too, but no link that leads back to where it is."""
    pending: deque[tuple[str, tuple[str, ...]]] = deque([("", (os.path.realpath(tree),))])
    while pending:
        folder, above = pending.popleft()
        try:
            entries = sorted(os.scandir(os.path.join(tree, folder)), key=lambda entry: entry.name)
        except OSError:
            continue
        if folder and not everything and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            name = os.path.join(folder, entry.name)
            if not _is_folder(entry):
                if not entry.name.endswith((".pyc", ".pyo")):
                    yield name
            elif everything or entry.name not in _NEVER:
                real = os.path.realpath(entry.path)
                if real not in above:
                    pending.append((name, (*above, real)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _copy_file(source: str, place: str) -> int:
    """Copy content, mode and times of a file, of the one it leads to if it is a link; 0 if that is not allowed."""
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        if not _share_blocks(source, place):
            shutil.copyfile(source, place)
        shutil.copystat(source, place)
    except PermissionError:
        with contextlib.suppress(OSError):
            os.unlink(place)
        return 0
    return 1


def _share_blocks(source: str, place: str) -> bool:
    """Copy by sharing blocks until they are written, where the file system can; a hard link would share the writes too."""
    try:
        import fcntl
    except ImportError:
        return False
    with open(source, "rb") as old, open(place, "wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        except OSError:
            return False
    return True


def _keep_folder_modes(tree: str, copy: str, folder: str) -> None:
    while folder:
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(os.stat(os.path.join(tree, folder)).st_mode)
            os.chmod(os.path.join(copy, folder), mode | stat.S_IRWXU)
        folder = os.path.dirname(folder)


def _duplicate(source: str, place: str) -> None:
    """Copy a copy; links in it lead to large inputs and stay links."""
    shutil.copytree(source, place, symlinks=True, copy_function=lambda old, new: _copy_file(old, new))


def _make_writable(top: str) -> None:
    pending = [top]
    while pending:
        folder = pending.pop()
        with contextlib.suppress(OSError):
            os.chmod(folder, stat.S_IRWXU)
            pending += [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
