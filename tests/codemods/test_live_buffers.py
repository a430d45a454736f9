"""live-buffers: above all, what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import findings, rewritten, unchanged

SELECT = {"select": "live-buffers"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "import jax\nclass Pool:\n    def live_buffers(self): return []\np = Pool()\nprint(p.live_buffers())\n",
            id="own-method",
        ),
        pytest.param(
            "import jax\nclass Pool:\n    def live_buffers(self): return []\n    def n(self, pool): return len(pool.live_buffers())\n",
            id="unknown-receiver-in-a-file-with-such-a-method",
        ),
        pytest.param(
            "import jax\nclass A:\n    def __init__(self): self.live_buffers = []\n    def f(self): return self.live_buffers\n",
            id="own-attribute",
        ),
        pytest.param("import jax\nclass A:\n    live_buffers: list\ndef f(a): return a.live_buffers\n", id="own-field"),
        pytest.param("import jax\nlive_buffers = jax.live_arrays()\nprint(live_buffers)\n", id="local-variable"),
        pytest.param("import jax\ndef f(live_buffers): return len(live_buffers)\n", id="parameter"),
        pytest.param("import jax\ndef live_buffers(): return []\nprint(live_buffers())\n", id="own-function"),
        pytest.param("from mylib import memory\nimport jax\nprint(memory.live_buffers)\n", id="own-module-attribute-not-called"),
        pytest.param("import torch\nd = torch.device('cuda')\nprint(d.live_buffers())\n", id="torch-device"),
        pytest.param("def f(device): return device.live_buffers()\n", id="file-without-jax"),
        pytest.param("import jax\nprint(len(jax.live_arrays()))\n", id="already-migrated"),
        pytest.param(
            "import jax\ndevice = jax.devices()[0]\nx = [a for a in jax.live_arrays() if device in a.devices()]\n",
            id="already-per-device",
        ),
        pytest.param('import jax\ndef f():\n    """Calls device.live_buffers()."""\n', id="docstring"),
        pytest.param("import jax\n# device.live_buffers()\n", id="comment"),
        pytest.param("import jax\nprint('live_buffers', {'live_buffers': 1})\n", id="string"),
        pytest.param("import jax\nprint(client.live_executables())\n", id="another-method"),
        pytest.param("import jax\nd = jax.devices()[0]\nd.live_buffers()  # jaxmigrate: ignore[live-buffers]\n", id="suppressed"),
        pytest.param("import jax\nf(live_buffers=3)\n", id="keyword"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, **SELECT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("d = jax.devices()[0]\nf = d.live_buffers\n", ["returns an empty list"], id="method-as-a-value"),
        pytest.param("def f(thing): return thing.live_buffers()\n", ["of a backend"], id="device-or-backend"),
        pytest.param("n = getattr(dev, 'live_buffers')()\n", ["returns an empty list"], id="getattr"),
    ],
)
def test_reported_and_kept(source: str, expected: list[str]) -> None:
    unchanged("import jax\n" + source, findings=expected, **SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x = d.live_buffers()", "x = [a for a in jax.live_arrays() if d in a.devices()]", id="assigned"),
        pytest.param("n = len(d.live_buffers())", "n = len([a for a in jax.live_arrays() if d in a.devices()])", id="counted"),
        pytest.param(
            "for b in d.live_buffers():\n    b.delete()",
            "for b in [a for a in jax.live_arrays() if d in a.devices()]:\n    b.delete()",
            id="deleted-in-a-loop",
        ),
        pytest.param(
            "x = jax.devices()[0].live_buffers()",
            "x = [a for device in [jax.devices()[0]] for a in jax.live_arrays() if device in a.devices()]",
            id="device-expression-once",
        ),
        pytest.param(
            "a = jax.local_devices()[1]\nx = a.live_buffers()",
            "a = jax.local_devices()[1]\nx = [array for array in jax.live_arrays() if a in array.devices()]",
            id="variable-of-the-comprehension-does-not-capture",
        ),
        pytest.param(
            "n = sum(len(v.live_buffers()) for v in jax.devices())",
            "n = sum(len([a for a in jax.live_arrays() if v in a.devices()]) for v in jax.devices())",
            id="sum-over-devices",
        ),
        pytest.param(
            "g = jax.devices('gpu')[0]\nx = g.live_buffers()",
            "g = jax.devices('gpu')[0]\nx = [a for a in jax.live_arrays('gpu') if g in a.devices()]",
            id="named-platform",
        ),
        pytest.param("n = len(d.client.live_buffers())", "n = len(d.client.live_arrays())", id="client-of-a-device"),
        pytest.param(
            "def f(device): return device.live_buffers()",
            "def f(device): return [a for a in jax.live_arrays() if device in a.devices()]",
            id="parameter-called-device",
        ),
        pytest.param(
            "def f(backend): return backend.live_buffers()",
            "def f(backend): return backend.live_arrays()",
            id="parameter-called-backend",
        ),
        pytest.param(
            "class C:\n    d = d\n    n = len(d.live_buffers())",
            "class C:\n    d = d\n    n = len([a for device in [d] for a in jax.live_arrays() if device in a.devices()])",
            id="class-body-names-are-not-seen-by-a-comprehension",
        ),
    ],
)
def test_uses(before: str, after: str) -> None:
    head = "import jax\nd = jax.devices()[0]\n"
    rewritten(head + before + "\n", head + after + "\n", **SELECT)


def test_backend_used_for_more_stays() -> None:
    rewritten(
        """
        import jax
        from jax.extend import backend as jeb
        def f():
            backend = jeb.get_backend()
            print(backend.platform)
            return backend.live_buffers()
        """,
        """
        import jax
        from jax.extend import backend as jeb
        def f():
            backend = jeb.get_backend()
            print(backend.platform)
            return jax.live_arrays()
        """,
        **SELECT,
    )


def test_backend_made_for_this_alone_goes() -> None:
    rewritten(
        """
        import jax
        def clear_mem():
            backend = jax.lib.xla_bridge.get_backend()
            for buf in backend.live_buffers(): buf.delete()
        """,
        """
        import jax
        def clear_mem():
            for buf in jax.live_arrays(): buf.delete()
        """,
        **SELECT,
    )


def test_backend_that_is_deleted_afterwards_goes_with_the_del() -> None:
    rewritten(
        """
        import jax
        def clear_mem():
            backend = jax.lib.xla_bridge.get_backend()
            for buf in backend.live_buffers(): buf.delete()
            del backend
            return 0
        """,
        """
        import jax
        def clear_mem():
            for buf in jax.live_arrays(): buf.delete()
            return 0
        """,
        **SELECT,
    )


def test_backend_behind_a_presence_test_goes_with_the_test() -> None:
    rewritten(
        """
        import jax
        def clear_mem(device="gpu"):
            backend = jax.lib.xla_bridge.get_backend(device)
            if hasattr(backend, "live_buffers"):
                for buf in backend.live_buffers():
                    buf.delete()
        """,
        """
        import jax
        def clear_mem(device="gpu"):
            for buf in jax.live_arrays(device):
                buf.delete()
        """,
        **SELECT,
    )


def test_presence_test_with_an_else_stays() -> None:
    rewritten(
        """
        import jax
        def count():
            backend = jax.lib.xla_bridge.get_backend()
            if hasattr(backend, "live_buffers"):
                return len(backend.live_buffers())
            else:
                return 0
        """,
        """
        import jax
        def count():
            backend = jax.lib.xla_bridge.get_backend()
            if hasattr(backend, "live_buffers"):
                return len(jax.live_arrays())
            else:
                return 0
        """,
        **SELECT,
    )


def test_a_device_is_one_also_beside_a_class_with_such_a_method() -> None:
    head = "import jax\nclass Pool:\n    def live_buffers(self): return []\n"
    rewritten(
        head + "def f(device): return device.live_buffers()\n",
        head + "def f(device): return [a for a in jax.live_arrays() if device in a.devices()]\n",
        **SELECT,
    )


def test_the_import_of_jax_is_added() -> None:
    rewritten(
        "from jax import devices\nd = devices()[0]\nn = len(d.live_buffers())\n",
        "import jax\nfrom jax import devices\nd = devices()[0]\nn = len([a for a in jax.live_arrays() if d in a.devices()])\n",
        **SELECT,
    )


def test_always_for_review_since_sharded_arrays_count_as_a_whole() -> None:
    (finding,) = findings("import jax\nd = jax.devices()[0]\nprint(d.live_buffers())\n", **SELECT)
    assert str(finding.applicability) == "review"
    assert "sharded array" in finding.message


OWN = "import jax\nclass Pool:\n    def live_buffers(self): return []\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("    def n(self): return len(self.live_buffers())\n", id="self"),
        pytest.param("class Big(Pool):\n    def n(self): return super().live_buffers() + self.live_buffers()\n", id="derived"),
        pytest.param("n = len(Pool().live_buffers())\n", id="made-at-once"),
        pytest.param("def f(p: Pool): return p.live_buffers()\n", id="annotated"),
        pytest.param("def f(_pool): return _pool.live_buffers()\n", id="named-after-the-class"),
        pytest.param("def f(x): return x.live_buffers\n", id="not-called"),
    ],
)
def test_own_method(source: str) -> None:
    unchanged(OWN + source, **SELECT)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(e): return e.live_buffers()\n", id="parameter"),
        pytest.param("def f(it): return next(it).live_buffers()\n", id="call"),
        pytest.param("def f(xs): return xs[0].live_buffers()\n", id="element"),
        pytest.param("    def n(self): return self.engine.live_buffers()\n", id="attribute-of-self"),
        pytest.param("class Other:\n    def n(self): return self.live_buffers()\n", id="self-of-another-class"),
    ],
)
def test_own_method_does_not_silence_unknown_values(source: str) -> None:
    unchanged(OWN + source, findings=["returns an empty list"], **SELECT)
