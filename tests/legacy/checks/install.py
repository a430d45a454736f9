"""Installing and taking back."""

from __future__ import annotations

import importlib
import sys
import types

from worlds import raises

from jaxmigrate import legacy


def _picture() -> dict[str, dict[str, int]]:
    """The content of JAX's modules and of the classes and tables that the emulation touches."""
    import jax
    from jax._src import config, core
    from jax._src.array import ArrayImpl
    from jax._src.interpreters import pxla

    owners = {f"module {name}": vars(module) for name, module in _modules().items()}
    owners |= {f"class {kind}": dict(vars(kind)) for kind in (ArrayImpl, config.Config, jax.Device, jax.sharding.Mesh, jax.Array)}
    owners |= {"class type(Array)": dict(vars(type(jax.Array))), "class NamedSharding": dict(vars(jax.sharding.NamedSharding))}
    owners |= {"avals": core.pytype_aval_mappings, "handlers": pxla.shard_arg_handlers}
    picture = {owner: {str(name): id(value) for name, value in content.items()} for owner, content in owners.items()}
    picture["sys.meta_path"] = {str(i): id(finder) for i, finder in enumerate(sys.meta_path)}
    return picture


def _modules() -> dict[str, types.ModuleType]:
    return {name: module for name, module in sys.modules.items() if name == "jax" or name.startswith("jax.")}


def _uninstalled() -> None:
    """Leave the emulation that the check runs in, until the check ends."""
    legacy.uninstall()


def _use() -> None:
    import jax
    import jax.experimental.maps
    import jax.interpreters.xla
    import numpy as np
    from jax.config import config
    from jax.experimental.global_device_array import GlobalDeviceArray  # noqa: F401
    from jax.experimental.pjit import pjit

    config.update("jax_array", False)
    with jax.experimental.maps.Mesh(np.array(jax.devices()), ("x",)):
        pjit(lambda x: x, None, None)(np.ones(3))
    jax.pmap(lambda x: x)(np.ones(8)).device_buffers[0].device()


def check_everything_is_as_before():
    _uninstalled()
    try:
        with legacy.installed("0.3.25"):
            _use()  # imports what is imported lazily by JAX itself
        before = _picture()
        with legacy.installed("0.3.25"):
            _use()
            assert _picture() != before
        after = _picture()
        assert set(after) == set(before), set(after) ^ set(before)
        for owner, content in before.items():
            changed = {name for name in {*content, *after[owner]} if content.get(name) != after[owner].get(name)}
            assert not changed - {"__warningregistry__"}, (owner, changed)
    finally:
        legacy.install("0.3.25", jax_array=False)


def check_old_modules_are_gone_afterwards():
    import jax.experimental.maps
    from jax.experimental import global_device_array  # noqa: F401

    _uninstalled()
    try:
        for name in ("jax.experimental.maps", "jax.experimental.global_device_array", "jax.config"):
            raises(ModuleNotFoundError, lambda name=name: importlib.import_module(name))
        assert not hasattr(jax.experimental, "maps")
        assert not hasattr(jax, "tree_multimap")
        raises(AttributeError, lambda: jax.config.update("jax_array", True))
    finally:
        legacy.install("0.3.25", jax_array=False)


def check_nested():
    import jax

    with legacy.installed("0.4.6", jax_array=True):
        assert jax.config.jax_array
        with legacy.installed("0.3.0"):
            assert not jax.config.jax_array
            assert hasattr(jax, "tree_multimap")
        assert jax.config.jax_array
    assert not jax.config.jax_array
    assert hasattr(jax, "tree_multimap")


def check_uninstall_without_install_does_nothing():
    _uninstalled()
    try:
        legacy.uninstall()
        legacy.uninstall()
    finally:
        legacy.install("0.3.25", jax_array=False)


def check_user_errors_leave_the_block_clean():
    def fail():
        with legacy.installed("0.4.6"):
            raise KeyError("user")

    raises(KeyError, fail)
    import jax

    assert not jax.config.jax_array


def check_flags_do_not_outlive_the_block():
    import jax

    with legacy.installed("0.3.25"):
        jax.config.update("jax_array", True)
        jax.config.update("jax_parallel_functions_output_gda", True)
    assert not jax.config.jax_array
    assert not jax.config.jax_parallel_functions_output_gda


def check_a_with_block_of_a_mesh_does_not_warn():
    import warnings

    import jax
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with jax.sharding.Mesh(np.array(jax.devices()), ("x",)):
            pass
