"""Import paths of old JAX."""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path

from worlds import raises

from jaxmigrate import legacy

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "import_paths.json.gz"


def _from(path: str) -> None:
    module, _, name = path.rpartition(".")
    exec(f"from {module} import {name}", {})


def _attribute(path: str) -> None:
    module, _, name = path.rpartition(".")
    scope: dict[str, object] = {}
    exec(f"import {module}\nfound = {path}", scope)
    assert scope["found"] is getattr(importlib.import_module(module), name)


def _try(form: object, path: str) -> str:
    try:
        form(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def check_all() -> str:
    """Give what was found for each path, for the test to look at."""
    paths = json.loads(gzip.decompress(GOLDEN.read_bytes()))
    answers = {}
    for path in paths:
        answers[f"from {path}"] = _try(_from, path)
        answers[f"attribute {path}"] = _try(_attribute, path)
    with legacy.installed("0.3.0"):
        answers |= {f"oldest {path}": _try(_from, path) for path in paths}
    return json.dumps(answers)


def check_modules():
    import jax.experimental.array
    import jax.experimental.gda_serialization.serialization
    import jax.experimental.global_device_array as gda_lib
    import jax.experimental.maps as maps
    import jax.experimental.pjit
    import jax.experimental.sharding
    import jax.interpreters.sharded_jit
    import jax.interpreters.xla as xla
    import jax.lib.xla_bridge as xb
    import jax.lib.xla_client as xc
    import jax.lib.xla_extension as xe

    assert gda_lib.GlobalDeviceArray.__name__ == "GlobalDeviceArray"
    assert maps.Mesh is jax.sharding.Mesh
    assert xla.DeviceArray is xc.Buffer or issubclass(xc.Buffer, xla.DeviceArray)
    assert xb.get_backend
    assert xe.DeviceArray


def check_attributes_of_a_plain_import():
    import jax

    assert jax.xla.DeviceArray
    assert jax.pxla.ShardedDeviceArray
    assert jax.interpreters.pxla.ShardedDeviceArray is jax.pxla.ShardedDeviceArray
    assert jax.lib.xla_bridge.get_backend
    assert jax.experimental.maps.Mesh
    assert jax.abstract_arrays.ShapedArray
    assert jax.linear_util.wrap_init
    assert jax.config.update


def check_absent_names_stay_absent():
    import jax

    raises(AttributeError, lambda: jax.DeviceArray)
    raises(AttributeError, lambda: jax.experimental.maps.no_such_name)
    raises(ModuleNotFoundError, lambda: importlib.import_module("jax.experimental.gda"))
    raises(ModuleNotFoundError, lambda: importlib.import_module("jax.no_such_module"))
