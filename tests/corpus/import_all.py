"""Import every module of an unpacked package and print one JSON line; run by another Python, so it needs nothing but JAX.

``python import_all.py TREE``
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import signal
import sys
import warnings
from pathlib import Path

NOT_THE_PACKAGE = re.compile(
    r"(^|[_./])(tests?|testing_data|test_util\w*|examples?|benchmarks?|docs|conftest|setup|scripts?|data)([_./]|$)"
)


def modules(tree: Path) -> list[str]:
    """Dotted names of the package's modules, parents first; tests, examples and scripts left out."""
    names = []
    for path in sorted(tree.rglob("*.py")):
        parts = path.relative_to(tree).with_suffix("").parts
        if len(parts) > 1 and not NOT_THE_PACKAGE.search("/".join(parts)) and parts[-1] != "__main__":
            names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return sorted(names)


def _timed_out(signum: int, frame: object) -> None:
    raise TimeoutError("the import took too long")


def import_all(names: list[str]) -> dict[str, str]:
    """Module -> first line of the error that keeps it from being imported, or the empty string."""
    errors: dict[str, str] = {}
    signal.signal(signal.SIGALRM, _timed_out)
    for name in names:
        # Importing a module imports its parents first, so a parent's failure is also its own.
        parent = next((p for p in _parents(name) if errors.get(p)), None)
        errors[name] = errors[parent] if parent else _error(name)
    return errors


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def _error(name: str) -> str:
    signal.alarm(300)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(name)
    except BaseException as error:
        # The place of a module inside the environment says nothing.
        return re.sub(r" \(/[^)]*\)", "", f"{type(error).__name__}: {error}".splitlines()[0])[:200]
    finally:
        signal.alarm(0)
    return ""


def main() -> None:
    """Print the errors of a tree as JSON."""
    warnings.simplefilter("ignore")
    tree = Path(sys.argv[1])
    import jax  # noqa: F401

    sys.path.insert(0, str(tree))
    print(json.dumps(import_all(modules(tree))))


if __name__ == "__main__":
    main()
