"""Put the emulation in the place of the installed JAX, and take it away again."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
from jax._src import core, source_info_util
from jax.experimental import multihost_utils

from . import aliases, arrays, behaviour, flags, hostlocal, keywords, live, modules, multihost, objects, resources, state
from .journal import Journal

_journals: list[tuple[Journal, state.Version, bool, bool]] = []


def install(version: str = "0.4.6", *, jax_array: bool | None = None) -> None:
    """Let `jax` be the given old version, for programs that are imported from now on.

    Called again, it only changes the version and the flag until the matching `uninstall`.
    """
    journal = Journal()
    _journals.append((journal, state.version, state.array_flag.default, state.gda_flag.default))
    state.version = state.parse_version(version)
    wanted = state.version >= (0, 4, 1) if jax_array is None else jax_array
    state.array_flag.default = state.environment_flag("JAX_ARRAY", wanted)
    state.gda_flag.default = state.environment_flag("JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA", False)
    hostlocal.reset()
    if len(_journals) > 1:
        return
    try:
        _apply(journal)
    except BaseException:
        uninstall()
        raise


def uninstall() -> None:
    """Take back the last `install`."""
    if not _journals:
        return
    journal, state.version, state.array_flag.default, state.gda_flag.default = _journals.pop()
    journal.undo()


def _apply(journal: Journal) -> None:
    names = modules.Names(objects.OBJECTS)
    finder = modules.Finder(names)
    _extend_modules(journal, names)
    finder.install(journal)
    _config_module(journal)
    flags.install(journal)
    arrays.register()
    journal.later(arrays.unregister)
    for name, function in multihost.FUNCTIONS.items():
        journal.attribute(multihost_utils, name, function)
    live.install(journal)
    keywords.install(journal)
    behaviour.install(journal)
    _quiet_mesh(journal)
    _equal_tuples(journal)
    _stay_unseen(journal)
    # Traces had levels; now there is only the innermost.
    journal.attribute(core.Trace, "level", 0)


def _extend_modules(journal: Journal, names: modules.Names) -> None:
    """Let the modules of today answer for the old names that they lack, and for those that mean something else now."""
    wanted = {path.rpartition(".")[0] for path in objects.OBJECTS} | set(aliases.RENAMED) | set(aliases.COUNTERPARTS)
    wanted |= {name.rpartition(".")[0] for name in aliases.MODULES}
    present = {name: module for name in sorted(wanted) if (module := _module(name)) is not None}
    for module in present.values():
        modules.extend(journal, names, module)
    for path in sorted(objects.REPLACED):
        owner, _, name = path.rpartition(".")
        if owner in present:
            journal.attribute(present[owner], name, objects.OBJECTS[path])


def _module(name: str) -> ModuleType | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


def _config_module(journal: Journal) -> None:
    """``from jax.config import config``: a module that is not the attribute `jax.config`, as it was."""
    module = ModuleType("jax.config", "The options of JAX.")
    module.__dict__.update(config=jax.config, FLAGS=flags.FLAGS, flags=jax.config)
    if "jax.config" not in sys.modules:
        journal.module("jax.config", module)


def _quiet_mesh(journal: Journal) -> None:
    """``with mesh:`` was how it was done, and nothing to warn of."""
    before: Callable[[Any], Any] = jax.sharding.Mesh.__enter__

    def __enter__(self: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return before(self)

    journal.attribute(jax.sharding.Mesh, "__enter__", __enter__)


def _equal_tuples(journal: Journal) -> None:
    """A PartitionSpec was a tuple, and equal to one."""
    before: Callable[[Any, object], Any] = resources.P.__eq__

    def __eq__(self: Any, other: object) -> Any:
        return tuple(self) == other if isinstance(other, tuple) else before(self, other)

    journal.attribute(resources.P, "__eq__", __eq__)


def _stay_unseen(journal: Journal) -> None:
    """Let messages of JAX name the lines of the program, not those of the emulation."""
    folder = str(Path(__file__).parent)
    source_info_util.register_exclusion(folder)

    def forget() -> None:
        source_info_util._exclude_paths.remove(folder)
        source_info_util._exclude_path_regex.cache_clear()
        source_info_util.is_user_filename.cache_clear()

    journal.later(forget)
