"""Run the checks of a file in one child process, or in several that form one JAX program."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
TIMEOUT = 240


def names(file: str) -> list[str]:
    """The checks that a file holds, found without JAX."""
    tree = ast.parse((HERE / "checks" / file).read_text())
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")]


def outcomes(file: str, processes: int = 1, devices: int = 8) -> dict[str, str]:
    """Name -> what went wrong in any of the processes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices // processes}"
    environment["PYTHONPATH"] = str(HERE.parent.parent)
    address = f"127.0.0.1:{_port()}"
    places = [[]] if processes == 1 else [[str(i), str(processes), address] for i in range(processes)]
    command = [sys.executable, str(HERE / "child.py"), str(HERE / "checks" / file)]
    children = [
        subprocess.Popen([*command, *place], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for place in places
    ]
    try:
        answers = [child.communicate(timeout=TIMEOUT) for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()
    return _merge([json.loads(out) if out else dict.fromkeys(names(file), err or "no answer") for out, err in answers])


def _merge(answers: list[dict[str, str]]) -> dict[str, str]:
    return {name: "\n".join(filter(None, (answer.get(name, "not run") for answer in answers))) for name in answers[0]}


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
