"""Run the checks of one file on the emulation, in this process; writes a JSON object name -> traceback, empty if it passed; or what it returned.

``child.py FILE [PROCESS PROCESSES ADDRESS]``. A check is a function ``check_...``; its attribute `world` holds the arguments
for `legacy.installed`. Each check runs in an emulation that is installed for it alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from jaxmigrate import legacy

DEFAULT = ("0.3.25", False)


def checks(path: Path) -> dict[str, Callable[[], str | None]]:
    """The checks of a file by name."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if name.startswith("check_")}


def run(check: Callable[[], str | None]) -> str:
    """What went wrong."""
    version, jax_array = getattr(check, "world", DEFAULT)
    try:
        with legacy.installed(version, jax_array=jax_array):
            return check() or ""
    except BaseException:
        return traceback.format_exc()


def main() -> None:
    """Run all checks of the file, in one of several processes if the arguments say so."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    path, *place = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if place:
        import jax

        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.distributed.initialize(place[2], int(place[1]), int(place[0]))
    results = {name: run(check) for name, check in checks(Path(path)).items()}
    if place:
        # The first process serves the others until all are done.
        jax.distributed.shutdown()
    answers.write(json.dumps(results))
    answers.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
