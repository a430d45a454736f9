"""gda-attributes: receivers that are no arrays first."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Applicability, Outcome
from jaxmigrate.testing import findings, rewritten, run, unchanged

SELECT = "gda-attributes"
HEAD = "import jax\nfrom jax.experimental.global_device_array import GlobalDeviceArray\n"


def of_gda(before: str, after: str, **kw: object) -> None:
    """One expression about an annotated parameter."""
    head = f"{HEAD}def f(x: GlobalDeviceArray, i, cb):\n    return "
    rewritten(f"{head}{before}\n", f"{head}{after}\n", select=SELECT, **kw)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import numpy as np\nx = np.ones(3)\nprint(x.local_shards)\n", id="no-jax-in-the-file"),
        pytest.param("import jax\nimport numpy as np\nx = np.ones(3)\nprint(x.local_data(1))\n", id="numpy-array"),
        pytest.param("import jax\nimport torch\nx = torch.ones(3)\nprint(x.local_shards)\n", id="torch-tensor"),
        pytest.param("import jax\nx = [1]\nprint(x.local_shards)\n", id="list"),
        pytest.param("import jax\nclass A:\n    local_shards = ()\ndef f(a: A):\n    return a.local_shards\n", id="own-class"),
        pytest.param("import jax\nclass A:\n    def f(self):\n        return self.local_shards\n", id="own-attribute"),
        pytest.param(
            "import jax\nclass A(B):\n    def f(self):\n        return super().local_shards, super().local_data(0)\n",
            id="of-a-base-class",
        ),
        pytest.param("import jax\nclass A:\n    @property\n    def local_shards(self):\n        return 1\n", id="own-property"),
        pytest.param("import jax\nfor shard in tensor.local_shards(): print(shard)\n", id="method-of-torch-sharded-tensors"),
        pytest.param("import jax\nd = {'local_shards': 1}\nf('local_data', x)\n", id="strings"),
        pytest.param(
            "import jax\ny = x.addressable_shards if not hasattr(x, 'local_shards') else None\n", id="hasattr-beside-the-new-name"
        ),
        pytest.param(
            "import jax\ndef f(x):\n    if hasattr(x, 'local_data'):\n        return x.local_data(0)\n    return x.addressable_data(0)\n",
            id="hasattr-returns-early",
        ),
        pytest.param("import jax\nx = f(v, 'local_shards')\ny = getattr('local_shards', x)\n", id="string-for-something-else"),
        pytest.param(
            "import jax\nclass A:\n    def f(self):\n        return getattr(self, 'local_data', None)\n", id="getattr-of-self"
        ),
        pytest.param(
            "import jax\ny = getattr(trainer, 'mesh_axes', None) if hasattr(trainer, 'mesh') else None\n",
            id="mesh-of-something-by-name",
        ),
        pytest.param("import jax\nimport torch\nx = hasattr(torch.ones(3), 'local_shards')\n", id="hasattr-of-torch"),
        pytest.param("import numpy as np\ny = hasattr(x, 'local_shards')\n", id="hasattr-without-jax"),
        pytest.param("import jax\nlocal_shards = f()\nprint(local_shards)\n", id="variable"),
        pytest.param("import jax\nf(local_shards=1, mesh_axes=2)\n", id="keyword"),
        pytest.param("import jax\ndef f(local_data): return local_data(0)\n", id="function-of-that-name"),
        pytest.param("import jax\nprint(trainer.mesh, trainer.mesh_axes)\n", id="mesh-of-something"),
        pytest.param(
            "import jax\nclass P:\n    def f(self):\n        return self._mesh_axes, self._global_mesh, self._local_devices\n",
            id="private-own",
        ),
        pytest.param("import jax\nprint(p._global_mesh)\n", id="private-mesh-of-something"),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return x.addressable_shards, x.addressable_data(0), x.sharding.mesh\n",
            id="successors",
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return x.is_fully_addressable and x.is_fully_replicated\n", id="properties"
        ),
        pytest.param("import jax\nprint(x.is_fully_replicated(axis))\n", id="method-with-an-argument"),
        pytest.param(
            "import jax\nclass S:\n    def is_fully_replicated(self): ...\ndef f(s: S): return s.is_fully_replicated()\n",
            id="own-method",
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array):\n    for s in x.global_shards: print(s)\n", id="global-shards-in-any-order"
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return {s.device: s for s in x.global_shards}\n", id="global-shards-by-device"
        ),
        pytest.param("import jax\nx.local_shards = 3\n", id="assigned-on-something"),
        pytest.param("import jax\nprint('x.local_shards')  # x.local_data(0)\n", id="text"),
        pytest.param("import jax\nfrom pyspark.sql import df\nprint(df.local_data(a, b))\n", id="local-data-with-two-arguments"),
        pytest.param(
            "import jax\nif hasattr(x, 'local_shards'):\n    y = x.local_shards\nelse:\n    y = x.addressable_shards\n",
            id="guarded-by-hasattr",
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return x.local_shards  # jaxmigrate: ignore[gda-attributes]\n", id="suppressed"
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        pytest.param(HEAD + "def f(x: GlobalDeviceArray): x.mesh = m\n", ["cannot be set"], id="assigned"),
        pytest.param(HEAD + "def f(x: GlobalDeviceArray): del x._device_buffers\n", ["cannot be set"], id="deleted"),
        pytest.param(HEAD + "def f(x: GlobalDeviceArray): return x.local_data()\n", ["one index"], id="no-index"),
        pytest.param(
            HEAD + "def f(x: GlobalDeviceArray): return x.local_data\n", ["write a function"], id="method-of-a-parameter-escapes"
        ),
        pytest.param("import jax\ny = getattr(x, 'local_shards')\n", ["addressable_shards"], id="getattr"),
        pytest.param("import jax\ny = f(x) if hasattr(x, 'local_data') else x\n", ["addressable_data"], id="hasattr-alone"),
        pytest.param(
            "import jax\ndef f(x):\n    if hasattr(x, 'local_data'): g(x)\n",
            ["is False and what it guards is dead"],
            id="dead-branch",
        ),
        pytest.param(
            "import jax\ndef f(x):\n    y = x.addressable_data(0)\n    return hasattr(x, 'local_data'), getattr(x, 'local_shards', None)\n",
            ["dead", "addressable_shards"],
            id="new-name-elsewhere-in-the-function",
        ),
        pytest.param("import jax, operator\nf = operator.attrgetter('local_shards')\n", ["addressable_shards"], id="attrgetter"),
        pytest.param(
            "import jax\nfrom operator import attrgetter as get\nf = get('name', 'array.local_shards')\n",
            ["addressable_shards"],
            id="attrgetter-of-a-path",
        ),
        pytest.param(
            "import jax, operator\nf = operator.methodcaller('local_data', 0)\n", ["addressable_data"], id="methodcaller"
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return hasattr(x, 'mesh'), getattr(x, '_mesh_axes')  # local_data\n",
            ["sharding.mesh", "sharding.spec"],
            id="mesh-of-an-array",
        ),
        pytest.param("import jax\ndef f(x): setattr(x, 'local_shards', 1)\n", ["another array"], id="setattr"),
        pytest.param("import jax\nf = leaf.local_data\n", ["write a function"], id="method-of-something-escapes"),
        pytest.param(
            "import jax\ndef f(x: jax.Array, m): return list(zip(m.devices.flat, x.global_shards))\n", ["order"], id="zipped"
        ),
        pytest.param(
            "import jax\ndef f(x: jax.Array): return [(i, s) for i, s in enumerate(x.global_shards)]\n",
            ["order"],
            id="enumerated",
        ),
        pytest.param("import jax\ndef f(x: jax.Array, i): return x.global_shards[i]\n", ["order"], id="indexed"),
        pytest.param(
            "import jax\ndef f(x): return x.global_shards[0].data, x.global_shards == y\n",
            ["order", "order"],
            id="first-and-compared",
        ),
    ],
)
def test_left_to_a_human(source: str, messages: list[str]) -> None:
    unchanged(source, select=SELECT, findings=messages)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        pytest.param(
            "import jax\nclass A:\n    local_shards = ()\ndef f(x): return x.local_shards\n",
            "class in this file",
            id="file-has-one-of-its-own",
        ),
        pytest.param(
            "import jax\nclass S:\n    def is_fully_replicated(self): ...\ndef f(s): return s.is_fully_replicated()\n",
            "class in this file",
            id="own-method",
        ),
    ],
)
def test_only_with_unsafe(source: str, part: str) -> None:
    held = [f for f in findings(source, select=SELECT) if f.outcome is Outcome.HELD]
    assert [f for f in held if part in f.message and f.applicability is Applicability.UNSAFE]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x.local_shards", "x.addressable_shards", id="local-shards"),
        pytest.param("x.local_shards[0].data", "x.addressable_shards[0].data", id="chain"),
        pytest.param("x.local_data(0)", "x.addressable_data(0)", id="first"),
        pytest.param("x.local_data(index=0)", "x.addressable_data(index=0)", id="first-by-keyword"),
        pytest.param("x.local_data(i)", "x.addressable_shards[i].data", id="computed"),
        pytest.param("x.local_data(False)", "x.addressable_data(False)", id="false-is-zero"),
        pytest.param("x.local_data(-1)", "x.addressable_shards[-1].data", id="last"),
        pytest.param("x.local_data(i + 1).shape[0]", "x.addressable_shards[i + 1].data.shape[0]", id="expression"),
        pytest.param("x.local_data(i if i else 1)", "x.addressable_shards[i if i else 1].data", id="conditional"),
        pytest.param("x.mesh.shape", "x.sharding.mesh.shape", id="mesh"),
        pytest.param("cb(x.shape, x.mesh, x.mesh_axes)", "cb(x.shape, x.sharding.mesh, x.sharding.spec)", id="mesh-and-axes"),
        pytest.param("x._device_buffers", "[s.data for s in x.addressable_shards]", id="buffers"),
        pytest.param("x._device_buffers[i]", "x.addressable_shards[i].data", id="buffer"),
        pytest.param("x._device_buffers[1:]", "[s.data for s in x.addressable_shards][1:]", id="slice-of-buffers"),
        pytest.param("list(x._device_buffers)", "[s.data for s in x.addressable_shards]", id="copied-buffers"),
        pytest.param("tuple(x._device_buffers)", "tuple([s.data for s in x.addressable_shards])", id="tuple-of-buffers"),
        pytest.param("len(x._device_buffers)", "len(x.addressable_shards)", id="number-of-buffers"),
        pytest.param(
            "[s for s in x._device_buffers]",
            "[s for s in [s.data for s in x.addressable_shards]]",
            id="buffers-in-a-comprehension",
        ),
        pytest.param("x._global_shape", "x.shape", id="shape"),
        pytest.param("x._current_process", "jax.process_index()", id="process"),
        pytest.param("-x.local_data(1)", "-x.addressable_shards[1].data", id="operand"),
    ],
)
def test_of_an_annotated_array(before: str, after: str) -> None:
    of_gda(before, after)


@pytest.mark.parametrize(
    "receiver",
    [
        pytest.param("x = GlobalDeviceArray.from_callback(s, m, p, cb)\n", id="constructed"),
        pytest.param("x = GlobalDeviceArray(s, m, p, b)\n", id="raw"),
        pytest.param("x: GlobalDeviceArray = f()\n", id="annotated"),
        pytest.param("assert isinstance(x, GlobalDeviceArray)\n", id="asserted"),
    ],
)
def test_known_arrays_are_safe(receiver: str) -> None:
    result = run(f"{HEAD}{receiver}y = x.local_shards\n", select=SELECT)
    assert [f.applicability for f in result.findings] == [Applicability.SAFE]


def test_narrowed_by_isinstance() -> None:
    result = run(
        f"{HEAD}def f(x):\n    if isinstance(x, GlobalDeviceArray):\n        return x.mesh_axes\n    return x.mesh_axes\n",
        select=SELECT,
    )
    assert result.after.count(b"x.sharding.spec") == 1


def test_unknown_receiver_is_a_review_that_names_the_assumption() -> None:
    found = findings("import jax\ndef f(leaf): return leaf.local_data(2)\n", select=SELECT)
    assert [f.applicability for f in found] == [Applicability.REVIEW]
    assert "assuming that leaf is an array" in found[0].message


def test_is_fully_replicated_of_a_sharding_is_safe() -> None:
    source = "import jax\nfrom jax.sharding import NamedSharding\ndef f(s: NamedSharding): return s.is_fully_replicated()\n"
    assert [f.applicability for f in findings(source, select=SELECT)] == [Applicability.SAFE]


def test_mesh_of_a_plain_array_assumes_a_named_sharding() -> None:
    found = findings("import jax\ndef f(x: jax.Array): return x.mesh_axes\n", select=SELECT)
    assert [f.applicability for f in found] == [Applicability.REVIEW]
    assert "NamedSharding" in found[0].message


def test_comment_in_the_call_stays() -> None:
    head = f"{HEAD}def f(x: GlobalDeviceArray, i):\n    return "
    result = run(f"{head}x.local_data(\n        i  # mine\n    )\n", select=SELECT)
    assert b"# mine" in result.after or any("# mine" in f.message for f in result.findings)


def test_together_with_the_class() -> None:
    rewritten(
        HEAD
        + "def f(x: GlobalDeviceArray, bufs):\n    return GlobalDeviceArray(x.shape, x.mesh, x.mesh_axes, bufs), x.local_data(1)\n",
        "import jax\ndef f(x: jax.Array, bufs):\n    return jax.make_array_from_single_device_arrays(x.shape, x.sharding, bufs), x.addressable_shards[1].data\n",
    )


def test_mesh_and_axes_of_a_value_whose_shards_are_asked_for() -> None:
    source = HEAD + "def f(x, m): return GlobalDeviceArray(x.shape, m, x.mesh_axes, [s.data for s in x.local_shards])\n"
    after = run(source).after
    assert b"NamedSharding(m, x.sharding.spec), [s.data for s in x.addressable_shards]" in after


def test_elements_of_a_list_whose_elements_are_tested() -> None:
    source = (
        HEAD
        + "def f(xs, ys):\n    if not all(isinstance(x, GlobalDeviceArray) for x in xs): raise E\n    return [x.mesh for x in xs], [x.mesh_axes for x in ys]\n"
    )
    after = run(source, select=["gda-attributes", "global-device-array"]).after
    assert b"return [x.sharding.mesh for x in xs], [x.mesh_axes for x in ys]" in after
