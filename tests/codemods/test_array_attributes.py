"""array-attributes: above all, what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, run, unchanged

SELECT = {"select": "array-attributes"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import torch\nt = torch.ones(2)\nprint(t.device)\n", id="torch-device-property"),
        pytest.param("import jax\nfrom numba import cuda\ny = cuda.to_device(x).copy_to_host()\n", id="array-of-numba"),
        pytest.param("import jax\ny = x.copy_to_host()\n", id="copy-to-host-of-an-unknown-value"),
        pytest.param("import jax\nx = jax.numpy.ones(1)\nx.copy_to_host_async()\n", id="copy-to-host-async"),
        pytest.param("import torch, jax\nt = torch.ones(2)\nprint(t.device())\n", id="torch-receiver"),
        pytest.param("import tensorflow as tf\nimport jax\nwith tf.device('/gpu:0'): pass\n", id="tf-device"),
        pytest.param("import jax\nprint(jax.devices()[1:], jax.devices().index(d))\n", id="devices-of-jax"),
        pytest.param("import jax\ndef f(mesh): return mesh.devices[1:]\n", id="slice-of-the-devices-of-a-mesh"),
        pytest.param(
            "import jax.numpy as jnp\nx = jnp.ones(3)\nprint(x.devices() == {d}, x.devices() | other, x.devices().pop())\n",
            id="devices-as-a-set",
        ),
        pytest.param("import jax\nx = jax.numpy.ones(1)\nprint(x.device)\n", id="property-already"),
        pytest.param(
            "import jax\nclass Env:\n    def device(self): return 1\n    def f(self): return self.device()\n", id="own-method"
        ),
        pytest.param(
            "import jax\nclass Env:\n    def device(self): return 1\ndef f(e): return e.device()\n",
            id="unknown-receiver-own-method",
        ),
        pytest.param("import jax\nx = jax.numpy.ones(1)\nprint(x.device(0))\n", id="device-with-an-argument"),
        pytest.param("def f(x): return x.device()\n", id="file-without-jax"),
        pytest.param("import jax\nclass B(A):\n    def f(self): return self.device(), super().device()\n", id="self-and-super"),
        pytest.param("import jax\nprint(jax.devices()[0], jax.local_devices()[1])\n", id="devices-of-jax"),
        pytest.param("import jax\nd = jax.devices()[0]\nprint(d.client.devices()[0].id)\n", id="devices-of-a-client"),
        pytest.param(
            "import jax\nx = jax.numpy.ones(1)\nprint(len(x.devices()), list(x.devices())[0], x.devices().pop())\n", id="set-uses"
        ),
        pytest.param(
            "import jax\nclass B:\n    def __init__(self, b): self.device_buffers = b\n    def f(self): return self.device_buffers[0]\n",
            id="own-buffers",
        ),
        pytest.param("import jax\ndef f(device_buffers): return device_buffers[0]\n", id="parameter-called-device-buffers"),
        pytest.param("import jax\nf(device_buffers=[1])\n", id="keyword"),
        pytest.param("import js\nx = js.document.to_py()\n", id="pyodide"),
        pytest.param("from numba import cuda\ncuda.to_device(x).copy_to_device(y)\n", id="numba-without-jax"),
        pytest.param(
            "import jax\nx = jax.numpy.ones(1)\nx.block_until_ready()\nx.platform()\nx.delete()\nx.clone()\nx.unsafe_buffer_pointer()\n",
            id="alive",
        ),
        pytest.param(
            "import jax\nx = jax.numpy.ones(1)\nprint([s.data for s in x.addressable_shards], x.addressable_data(0))\n",
            id="already-migrated",
        ),
        pytest.param('import jax\ndef f(x):\n    """Calls x.device_buffers, x.to_py() and x.device()."""\n', id="docstring"),
        pytest.param("import jax\n# x.device_buffers[0].to_py()\n", id="comment"),
        pytest.param("import jax\ndef f(conn): return conn.client.get()\n", id="client-of-an-unknown-value"),
        pytest.param("import jax\ndef f(self): return self._device\n", id="private-device-of-an-unknown-value"),
        pytest.param("import jax\nx = jax.numpy.ones(1)\nx.to_py()  # jaxmigrate: ignore\n", id="suppressed"),
        pytest.param("import jax\nm = jax.make_mesh((1,), ('x',))\nprint(m.devices[0])\n", id="devices-of-a-mesh"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("def f(leaf): return leaf.device()\n", ["unsafe: x.device is a property"], id="device-of-an-unknown-value"),
        pytest.param(
            "def f(leaf): return leaf.devices()[0]\n", ["unsafe: x.devices() is a set"], id="devices-of-an-unknown-value"
        ),
        pytest.param("x = jax.numpy.ones(1)\nf = x.to_py\n", ["passed on"], id="method-as-a-value"),
        pytest.param("x = jax.numpy.ones(1)\nprint(x.copy_to_device(*args))\n", ["passed on"], id="starred-argument"),
        pytest.param(
            "x = jax.numpy.ones(1)\nf = x.device\nprint(f())  # x.device()\n",
            ["cannot be called"],
            id="bound-method-called-later",
        ),
        pytest.param("x = jax.numpy.ones(1)\nprint(getattr(x, 'device')())  # x.device()\n", ["cannot be called"], id="getattr"),
        pytest.param("x = jax.numpy.ones(1)\nprint(x.xla_shape())\n", ["no successor"], id="xla-shape"),
        pytest.param("def f(x): return hasattr(x, 'device_buffers')\n", ["always False"], id="presence-test"),
        pytest.param("from numba import cuda\ndef f(a, b): a.copy_to_device(b)\n", ["unsafe: "], id="numba-beside-jax"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged("import jax\n" + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("print(x.device())", "print(x.device)", id="device"),
        pytest.param("print(x.device().platform)", "print(x.device.platform)", id="device-platform"),
        pytest.param("print((x + 1).device())", "print((x + 1).device)", id="device-of-an-expression"),
        pytest.param("print(jnp.sin(x).device())", "print(jnp.sin(x).device)", id="device-of-a-call"),
        pytest.param("print(x.devices()[0].id)", "print(x.addressable_shards[0].device.id)", id="first-device"),
        pytest.param("print(x.devices()[1:])", "print([s.device for s in x.addressable_shards][1:])", id="some-devices"),
        pytest.param(
            "print(x.devices().index(d))", "print([s.device for s in x.addressable_shards].index(d))", id="position-of-a-device"
        ),
        pytest.param(
            "ds = x.devices()\nprint(ds[1:], x.device())",
            "ds = [s.device for s in x.addressable_shards]\nprint(ds[1:], x.device)",
            id="some-of-the-devices-later",
        ),
        pytest.param(
            "ds = x.devices()\nprint(ds.index(d), x.device())",
            "ds = [s.device for s in x.addressable_shards]\nprint(ds.index(d), x.device)",
            id="position-later",
        ),
        pytest.param(
            "print(x.devices() == [d], x.devices()[0])",
            "print([s.device for s in x.addressable_shards] == [d], x.addressable_shards[0].device)",
            id="compared-with-a-list",
        ),
        pytest.param(
            "print(x.devices() + [x.device()])", "print([s.device for s in x.addressable_shards] + [x.device])", id="joined-lists"
        ),
        pytest.param("print(x.device_buffer)", "print(x.addressable_data(0))", id="device-buffer"),
        pytest.param("print(x.device_buffer.device())", "print(x.addressable_data(0).device)", id="device-of-the-buffer"),
        pytest.param("print(x.device_buffers[0])", "print(x.addressable_data(0))", id="first-buffer"),
        pytest.param("print(x.device_buffers[i])", "print(x.addressable_shards[i].data)", id="some-buffer"),
        pytest.param(
            "print(x.device_buffers[-1].device())", "print(x.addressable_shards[-1].data.device)", id="device-of-the-last-buffer"
        ),
        pytest.param("print(list(x.device_buffers))", "print([s.data for s in x.addressable_shards])", id="list-of-buffers"),
        pytest.param("print(len(x.device_buffers))", "print(len(x.addressable_shards))", id="number-of-buffers"),
        pytest.param("print(x.device_buffers)", "print([s.data for s in x.addressable_shards])", id="all-buffers"),
        pytest.param("print(x.device_buffers[1:])", "print([s.data for s in x.addressable_shards[1:]])", id="some-buffers"),
        pytest.param(
            "s = x\nprint(s.device_buffers)", "s = x\nprint([shard.data for shard in s.addressable_shards])", id="no-capture"
        ),
        pytest.param(
            "print([b.device() for b in x.device_buffers])",
            "print([b.device for b in x.addressable_shards])",
            id="devices-of-buffers",
        ),
        pytest.param(
            "print({b.shape for b in x.device_buffers if b.ndim})",
            "print({b.data.shape for b in x.addressable_shards if b.data.ndim})",
            id="comprehension",
        ),
        pytest.param(
            "print([(lambda: b)() for b in x.device_buffers])",
            "print([(lambda: b)() for b in [s.data for s in x.addressable_shards]])",
            id="variable-used-in-an-inner-function",
        ),
        pytest.param(
            "print(max(x.device_buffers, key=lambda b: b.device().id))",
            "print(max([s.data for s in x.addressable_shards], key=lambda b: b.device.id))",
            id="key-function",
        ),
        pytest.param(
            "for b in x.device_buffers:\n    print(b.device())",
            "for b in [s.data for s in x.addressable_shards]:\n    print(b.device)",
            id="loop",
        ),
        pytest.param(
            "for i, b in enumerate(x.device_buffers):\n    print(i, b.device())",
            "for i, b in enumerate([s.data for s in x.addressable_shards]):\n    print(i, b.device)",
            id="enumerated",
        ),
        pytest.param(
            "ds = x.devices()\nprint(ds[0], len(ds))  # x.devices()[0]",
            "ds = [s.device for s in x.addressable_shards]\nprint(ds[0], len(ds))  # x.devices()[0]",
            id="devices-indexed-later",
        ),
        pytest.param("print(x.to_py())", "print(np.asarray(x))", id="to-py"),
        pytest.param("print((x + 1).to_py())", "print(np.asarray(x + 1))", id="to-py-of-an-expression"),
        pytest.param("print(x.to_py().sum())", "print(np.asarray(x).sum())", id="to-py-chained"),
        pytest.param("print(x.copy_to_device(d))", "print(jax.device_put(x, d))", id="copy-to-device"),
        pytest.param("x.block_host_until_ready()", "x.block_until_ready()", id="block"),
        pytest.param("print(x.client.platform)", "print(next(iter(x.devices())).client.platform)", id="client"),
    ],
)
def test_uses(before: str, after: str) -> None:
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nx = jnp.ones(np.int32(3))\n"
    rewritten(head + before + "\n", head + after + "\n", **SELECT)


def test_elements_of_an_unknown_list_of_buffers() -> None:
    rewritten(
        "import jax\ndef f(x, ds):\n    for b, d in zip(x.device_buffers, ds):\n        print(b.device() == d, b.to_py())\n",
        "import jax\nimport numpy as np\ndef f(x, ds):\n    for b, d in zip([s.data for s in x.addressable_shards], ds):\n"
        "        print(b.device == d, np.asarray(b))\n",
        **SELECT,
    )


def test_another_framework_beside_jax_does_not_hide_names_it_never_had() -> None:
    rewritten(
        "import jax, torch\nimport numpy as np\ndef f(y): return y.device_buffers[0].to_py(), torch.ones(1).device\n",
        "import jax, torch\nimport numpy as np\ndef f(y): return np.asarray(y.addressable_data(0)), torch.ones(1).device\n",
        **SELECT,
    )


def test_attribute_taken_over_from_an_array_is_no_own_one() -> None:
    (finding,) = findings("import jax\nclass A:\n    def f(self, x): self.device_buffers = x.device_buffers\n", **SELECT)
    assert finding.outcome.value == "applied"


def test_old_targets_get_a_spelling_that_works_everywhere() -> None:
    rewritten(
        "import jax\nx = jax.numpy.ones(1)\nprint(x.device())\n",
        "import jax\nx = jax.numpy.ones(1)\nprint(next(iter(x.devices())))\n",
        target="0.4.13",
        **SELECT,
    )


def test_pmap_rows_keep_their_dimension_for_old_targets() -> None:
    source = "import jax\ny = jax.pmap(f)(x)\nprint(y.device_buffers[1])\n"
    rewritten(source, "import jax\ny = jax.pmap(f)(x)\nprint(y.addressable_shards[1].data[0])\n", **SELECT)
    rewritten(source, "import jax\ny = jax.pmap(f)(x)\nprint(y.addressable_shards[1].data)\n", target="0.4.20", **SELECT)


@pytest.mark.parametrize("decorator", ["jax.pmap", "functools.partial(jax.pmap, axis_name='i')"])
def test_rows_of_a_decorated_pmap(decorator: str) -> None:
    head = f"import functools\nimport jax\n@{decorator}\ndef f(v): return v\ny = f(x)\n"
    rewritten(head + "print(y.device_buffers[0])\n", head + "print(y.addressable_data(0)[0])\n", **SELECT)


def test_deleting_the_buffers_of_a_pmap_result_deletes_no_copies() -> None:
    head = "import jax\ny = jax.pmap(f)(x)\n"
    rewritten(
        head + "for b in y.device_buffers:\n    b.delete()\n",
        head + "for b in [s.data for s in y.addressable_shards]:\n    b.delete()\n",
        **SELECT,
    )


def test_one_of_several_results_of_pmap() -> None:
    head = "import jax\n@jax.pmap\ndef f(v): return v, v\nw, loss = f(x)\n"
    rewritten(head + "print(loss.device_buffers[0])\n", head + "print(loss.addressable_data(0)[0])\n", **SELECT)


def test_other_out_axes_of_pmap_are_not_guessed() -> None:
    head = "import jax\nf = jax.pmap(g, out_axes=1)\ny = f(x)\n"
    rewritten(head + "print(y.device_buffers[0])\n", head + "print(y.addressable_data(0))\n", **SELECT)


def test_unknown_value_with_a_name_that_only_arrays_had() -> None:
    (finding,) = findings("import jax\ndef f(leaf): return leaf.device_buffers[0]\n", **SELECT)
    assert str(finding.applicability) == "review"
    assert "leaf is taken to be a jax.Array" in finding.message


def test_device_of_what_was_taken_for_a_buffer_follows() -> None:
    rewritten(
        "import jax\ndef f(x): return x.device_buffer.device(), x.device_buffers[1].device(), x.addressable_data(0).device()\n",
        "import jax\ndef f(x): return x.addressable_data(0).device, x.addressable_shards[1].data.device, x.addressable_data(0).device\n",
        **SELECT,
    )


def test_known_array_is_safe() -> None:
    (finding,) = findings("import jax\nx = jax.numpy.ones(1)\nx.to_py()\n", allowed="safe", **SELECT)
    assert str(finding.applicability) == "safe"
    assert finding.outcome.value == "applied"


def test_annotation_of_the_old_class_tells_the_type() -> None:
    rewritten(
        "import jax\ndef f(x: jax.xla.DeviceArray): return x.device()\n",
        "import jax\ndef f(x: jax.xla.DeviceArray): return x.device\n",
        **SELECT,
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_devices_bound_to_a_name_wake_an_otherwise_clean_file(end: str) -> None:
    source = end.join(["import jax.numpy as jnp", "x = jnp.ones(3)", "ds = x.devices()", "print(ds[0])", ""])
    assert len(findings(source, **SELECT)) == 1


def test_numbers_of_keys_and_arrays_on_the_host() -> None:
    rewritten(
        "import jax\nimport numpy as np\nx = jax.numpy.ones(2)\nh = x.copy_to_host()\nn = k.unsafe_raw_array()\n",
        "import jax\nimport numpy as np\nx = jax.numpy.ones(2)\nh = np.asarray(x)\nn = jax.random.key_data(k)\n",
        **SELECT,
    )
    unchanged("import jax\nn = k.unsafe_raw_array()\n", **SELECT, target="0.4.13")


@pytest.mark.parametrize(
    "aliases",
    [
        pytest.param('Tree = Dict[str, Union[jax.Array, "Tree"]]\n', id="of-itself"),
        pytest.param('Tree = Union[int, "Other"]\nOther = List[Tree]\n', id="of-another"),
        pytest.param('Tree = "Tree | None"\n', id="quoted"),
    ],
)
def test_a_recursive_alias_ends(aliases: str) -> None:
    source = f"import jax\nfrom typing import Dict, List, Union\n{aliases}def f(x: Tree): return x.to_py()\n"
    assert run(source, select="array-attributes").findings


@pytest.mark.parametrize("bridge", ["jax._src.xla_bridge", "jax._src.lib.xla_bridge", "jax.extend.backend"])
def test_a_backend_is_no_array(bridge: str) -> None:
    source = f"import {bridge} as xb\nbackend = xb.get_backend(None)\nd = backend.devices()[0]\n"
    unchanged(source, select="array-attributes", allowed="unsafe")
