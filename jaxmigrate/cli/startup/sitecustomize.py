"""Python imports this file first in the programs that ``jaxmigrate run`` starts, and in their children; it gives them old JAX.

Python finds it because `jaxmigrate.cli.run` puts this folder on PYTHONPATH. It waits for the first import of JAX and then
installs `jaxmigrate.legacy`, so that a program without JAX pays nothing. Any Python may come along here (a child process
need not be the same interpreter), hence the old syntax and the imports inside functions.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

HERE = os.path.dirname(os.path.abspath(__file__))


class LegacyFinder:
    """Lets the other finders find JAX and installs the emulation when it has been loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The specification of ``jax`` or ``jaxlib`` with a loader that does more; None for all others."""
        if name not in ("jax", "jaxlib"):
            return None
        spec = self._found_by_others(name, path, target)
        loader = spec.loader if spec is not None else None
        if loader is None or not hasattr(loader, "exec_module"):
            return spec
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            if name == "jax":
                sys.meta_path.remove(self)
                install()
            elif "jax" not in sys.modules:  # not on the way from jax itself
                __import__("jax")

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _found_by_others(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        for other in sys.meta_path:
            if other is not self and hasattr(other, "find_spec"):
                spec = other.find_spec(name, path, target)
                if spec is not None:
                    return spec
        return None


def install() -> None:
    """Put old JAX over the installed one, as the environment says."""
    keep_device_count()
    version, flag = os.environ["JAXMIGRATE_LEGACY"], os.environ.get("JAXMIGRATE_LEGACY_ARRAY", "")
    try:
        legacy().install(version, jax_array={"0": False, "1": True}.get(flag))
    except Exception as error:
        if os.environ.get("JAXMIGRATE_DEBUG"):
            raise
        jax = getattr(sys.modules.get("jax"), "__version__", "?")
        text = "jaxmigrate: cannot put JAX {} over the installed JAX {}: {}: {} (JAXMIGRATE_DEBUG=1 shows where)"
        sys.stderr.write(text.format(version, jax, type(error).__name__, error) + "\n")
        raise SystemExit(2) from None


def keep_device_count() -> None:
    """A program that sets XLA_FLAGS without a device count does not mean to lose the one of --devices."""
    count, flags = os.environ.get("JAXMIGRATE_DEVICES"), os.environ.get("XLA_FLAGS", "")
    name = "--xla_force_host_platform_device_count"
    if count and name not in flags:
        os.environ["XLA_FLAGS"] = (flags + " " + name + "=" + count).strip()


def legacy() -> ModuleType:
    """`jaxmigrate.legacy` from beside this file, whether jaxmigrate is installed in this Python or not; nothing else of it."""
    import importlib.util
    import types

    if "jaxmigrate" not in sys.modules and importlib.util.find_spec("jaxmigrate") is None:
        parent = types.ModuleType("jaxmigrate")  # what imports inside the package look for
        parent.__path__ = []
        sys.modules["jaxmigrate"] = parent
    folder = os.path.join(os.path.dirname(os.path.dirname(HERE)), "legacy")
    start = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("jaxmigrate.legacy", start, submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def give_way() -> None:
    """Import the ``sitecustomize`` that Python would have found without us."""
    ours = sys.modules.pop(__name__)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    try:
        __import__(__name__)
    except ImportError as error:
        if error.name != __name__:
            raise
    sys.modules.setdefault(__name__, ours)


if __name__ == "sitecustomize":
    if sys.version_info >= (3, 11) and os.environ.get("JAXMIGRATE_LEGACY"):
        sys.meta_path.insert(0, LegacyFinder())
    give_way()
