"""Run many little JAX programs, each in a process of its own that finds jax already imported: five times faster than starting Python.

Reads lines ``devices<tab>path`` from standard input; writes a JSON object path -> error ("" when the program ran through).
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import IO

import jax  # noqa: F401  # imported before the forks, its backend is not started


def run(program: Path, devices: int, output: IO[bytes]) -> str:
    """Run one program in a child process and give the end of its output if it failed."""
    child = os.fork()
    if not child:
        _become(program, devices, output)
    _, status = os.waitpid(child, 0)
    output.seek(0)
    return "" if status == 0 else output.read().decode(errors="replace")[-2000:] or f"status {status}"


def _become(program: Path, devices: int, output: IO[bytes]) -> None:
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    os.chdir(program.parent)
    sys.argv, status = [str(program)], 1
    try:
        runpy.run_path(str(program), run_name="__main__")
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def main() -> None:
    """Run what standard input lists."""
    warnings.simplefilter("ignore")
    results = {}
    for line in sys.stdin.read().splitlines():
        devices, _, path = line.partition("\t")
        with tempfile.TemporaryFile() as output:
            results[path] = run(Path(path), int(devices), output)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
