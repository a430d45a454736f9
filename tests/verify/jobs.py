"""Jobs made from the text of a program, for tests of what runs them."""

from __future__ import annotations

import socket
import sys
import textwrap
from pathlib import Path

from jaxmigrate.verify.launch import run
from jaxmigrate.verify.model import Job, Json, Program, Run, World
from tests.verify.leftovers import children, of_runs


def job(tree: Path, text: str, *, name: str = "after", world: World = World.PLAIN, timeout: float = 60, **more: object) -> Job:
    """A job that runs `text` as the script ``program.py`` in the folder `tree`."""
    tree.mkdir(exist_ok=True)
    (tree / "program.py").write_text(textwrap.dedent(text))
    values: dict[str, object] = {
        "name": name,
        "program": Program.SCRIPT,
        "target": "program.py",
        "args": (),
        "root": str(tree),
        "cwd": str(tree),
        "search": (str(tree),),
        "world": world,
        "sites": (),
        "side": "before" if world is World.LEGACY else "after",
        "python": sys.executable,
        "timeout": timeout,
    }
    return Job(**{**values, **more})  # type: ignore[arg-type]


def tried(text: str, folder: Path, **more: object) -> Run:
    """Run a program and see that nothing is left of it."""
    before = children()
    try:
        return run(job(folder / "tree", text, **more), folder)  # type: ignore[arg-type]
    finally:
        assert not of_runs()
        assert children().keys() <= before.keys()


def records(run: Run, kind: str, process: int = 0) -> list[Json]:
    """The records of one kind that a process left."""
    return [record for record in run.processes[process].records if record["e"] == kind]


def final(run: Run, process: int = 0) -> dict[str, Json]:
    """The values of the program's own names at its end."""
    return records(run, "final", process)[-1]["v"]  # type: ignore[return-value]


def kinds(run: Run, process: int = 0) -> list[str]:
    """The kinds of a process's records."""
    return [str(record["e"]) for record in run.processes[process].records]


def is_free(port: int) -> bool:
    """Whether nobody holds this port of the loopback interface."""
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            again.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
