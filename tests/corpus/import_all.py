"""Import every module of an unpacked package and print one JSON line; run by another Python, so it needs nothing but JAX.

``python import_all.py TREE [LEGACY_NAMES_FILE]``: with the file, the named legacy API is faked before anything is imported,
which tells what a package could reach if nothing but this API were in its way.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import signal
import sys
import types
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


def fake(names: list[str]) -> None:
    """Put stand-ins where the legacy names were."""
    import jax
    import jax.interpreters.pxla
    import jax.interpreters.xla
    import jax.numpy
    import jax.sharding

    with contextlib.suppress(Exception):
        type(jax.config).jax_array = True
        type(jax.config).jax_parallel_functions_output_gda = False
    for name in sorted(names):
        module_name, _, last = name.rpartition(".")
        module = _module(module_name)
        if last == "*":
            module.__getattr__ = lambda attribute: _stand_in(attribute)  # type: ignore[method-assign]
        elif last[0].islower() and any(other.startswith(f"{name}.") for other in names):
            _module(name)
        elif last not in vars(module):
            setattr(module, last, _stand_in(last))


def _module(name: str) -> types.ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    parent, _, last = name.rpartition(".")
    _module(parent)
    try:
        return importlib.import_module(name)
    except ImportError:
        pass
    except AttributeError:
        pass
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    setattr(sys.modules[parent], last, module)
    return module


def _stand_in(name: str) -> object:
    import jax

    if name.startswith("__"):
        raise AttributeError(name)
    if name.endswith(("Array", "ArrayImpl")):
        return jax.Array
    known = getattr(jax.sharding, name, None) or getattr(jax.lax, name, None)
    return known or type(name, (), {})


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
    signal.alarm(60)
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

    if len(sys.argv) > 2:
        fake(Path(sys.argv[2]).read_text("utf-8").split())
    sys.path.insert(0, str(tree))
    print(json.dumps(import_all(modules(tree))))


if __name__ == "__main__":
    main()
