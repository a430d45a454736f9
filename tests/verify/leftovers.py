"""What a run must not leave: its processes, and ports that they listen on."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

MARK = "JAXMIGRATE_TEST"
"""Inherited by every process that a test starts, and by no other run on this machine."""
os.environ[MARK] = secrets.token_hex(8)


def marked(mark: str) -> dict[int, str]:
    """The processes that carry this variable in the environment they were started with, and their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and entry.name != str(os.getpid()):
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if any(variable.startswith(mark.encode()) for variable in environment):
                found[int(entry.name)] = line
    return found


def of_runs() -> dict[int, str]:
    """The processes that the tests of this process started and that are still there."""
    return marked(f"{MARK}={os.environ[MARK]}")


def children() -> dict[int, str]:
    """Our own children, zombies too, by state."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found[int(entry.name)] = state
    return found
