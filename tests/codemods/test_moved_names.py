"""moved-names: first what must be left alone."""

from __future__ import annotations

import pytest

from jaxmigrate.testing import rewritten, run, unchanged

SELECT = "moved-names"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import jax\njax.process_index(), jax.jit, jax.lax.approx_max_k\n", id="present-names"),
        pytest.param("import jax\nfrom mylib import api\napi.jit(f)\n", id="another-api"),
        pytest.param("from fastapi import api\nimport jax\napi.vmap\n", id="a-web-api"),
        pytest.param("import jax\nfrom functools import partial\n@partial(jax.jit)\ndef f(): ...\n", id="python-s-partial"),
        pytest.param("import jax\nfrom haiku._src import util\nutil.safe_zip(a, b)\n", id="another-util"),
        pytest.param("import jax\ndef host_id(): return 0\nhost_id()\n", id="own-function"),
        pytest.param("import jax\nself.host_id, cluster.host_count()\n", id="attributes-of-others"),
        pytest.param("import jax\ndef f(jax): return jax.host_id()\n", id="shadowed"),
        pytest.param("import array_api_compat.numpy as xp\nimport jax\nxp.abs(x)\n", id="another-array-api"),
        pytest.param("import jax\njax.ad.DontWant\n", id="what-jax-ad-is-today"),
        pytest.param("import jax\n# jax.api.jit\nx = 'jax.util'\n", id="text"),
        pytest.param("from jax._src.util import safe_zip\nsafe_zip(a, b)\n", id="private-but-alive"),
        pytest.param(
            "import jax\npid = jax.process_index() if hasattr(jax, 'process_index') else jax.host_id()\n", id="presence-chooses"
        ),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("import jax\nif jax.host_id() == 0: ...\n", "import jax\nif jax.process_index() == 0: ...\n", id="host-id"),
        pytest.param("from jax.api import jit, vmap as v\njit(v(f))\n", "from jax import jit, vmap as v\njit(v(f))\n", id="api"),
        pytest.param("from jax import api\napi.grad(f)\n", "import jax\njax.grad(f)\n", id="api-module"),
        pytest.param("import jax\n@jax.partial(jax.jit, n=1)\ndef f(): ...\n", None, id="partial-as-decorator"),
        pytest.param(
            "from jax.util import partial\npartial(f, 1)\n", "from functools import partial\npartial(f, 1)\n", id="util"
        ),
        pytest.param("from jax import ad_util\nad_util.Zero\n", "import jax\njax.interpreters.ad.Zero\n", id="ad-util"),
        pytest.param(
            "import jax\njax.ad.deflinear2(p, t)\n", "import jax\njax.interpreters.ad.deflinear2(p, t)\n", id="what-jax-ad-was"
        ),
        pytest.param(
            "from jax.experimental import array_api as xp\nxp.abs(x), xp.linalg.norm\n",
            "from jax import numpy as xp\nxp.abs(x), xp.linalg.norm\n",
            id="array-api",
        ),
        pytest.param(
            "from jax.sharding import AxisTypes as T\nT.User, T.Collective, T.Auto\n",
            "from jax.sharding import AxisType, AxisType as T\nAxisType.Explicit, AxisType.Manual, T.Auto\n",
            id="axis-types",
        ),
        pytest.param("import jax\ny = jax.dlpack.to_dlpack(x)\n", "y = x.__dlpack__()\n", id="dlpack"),
        pytest.param(
            "import jax\nfrom jax.api import tree_leaves\njax.api.tree_multimap(f, tree_leaves(x), x)\n",
            "from jax.tree_util import tree_leaves, tree_map\ntree_map(f, tree_leaves(x), x)\n",
            id="trees-by-way-of-others",
        ),
        pytest.param("import jax\nfor i in jax.host_ids(): ...\n", None, id="host-ids"),
    ],
)
def test_rewritten(before: str, after: str | None) -> None:
    expected = {
        "partial": "import functools\n\nimport jax\n@functools.partial(jax.jit, n=1)\ndef f(): ...\n",
        "host_ids": "import jax\nfor i in list(range(jax.process_count())): ...\n",
    }
    rewritten(before, after or next(text for word, text in expected.items() if word in before), select=SELECT)


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        ("jax.spmd_mode(mode)", "spmd_mode is gone"),
        ("x = jax.tools.colab_tpu.setup_tpu()", "nothing to do"),
        ("jax.util.wraps(f, docstr='a')", "functools.wraps"),
        ("jax.dlpack.to_dlpack(x, copy=True)", "__dlpack__"),
    ],
)
def test_what_depends_on_more_is_reported(use: str, advice: str) -> None:
    unchanged(f"import jax\n{use}\n", select=SELECT, findings=[advice])


def test_a_module_half_of_which_is_gone_keeps_its_import() -> None:
    source = "import jax.extend.ffi as ffi\nffi.include_dir(), ffi.never_there\n"
    after = "import jax.extend.ffi as ffi\nimport jax.ffi\njax.ffi.include_dir(), ffi.never_there\n"
    rewritten(source, after, select=SELECT, findings=2)


def test_name_that_was_imported_alone_is_imported_alone() -> None:
    rewritten(
        "from jax import host_id, host_count\nprint(host_id(), host_count())\n",
        "from jax import process_index, process_count\nprint(process_index(), process_count())\n",
        select="moved-names",
    )
    rewritten(
        "from jax import host_id\nprocess_index = 3\nprint(host_id(), process_index)\n",
        "import jax\nprocess_index = 3\nprint(jax.process_index(), process_index)\n",
        select="moved-names",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a, b = util.unzip2(x)", "a, b = tuple(zip(*x)) or ((), ())", id="unpacked"),
        pytest.param("y = util.unzip3(x)[0]", "y = (tuple(zip(*x)) or ((), (), ()))[0]", id="indexed"),
        pytest.param("y = util.unzip2(a if b else c)", "y = tuple(zip(*a if b else c)) or ((), ())", id="condition"),
        pytest.param("f = util.unzip2\ny = f(x)", "f = lambda pairs: tuple(zip(*pairs)) or ((), ())\ny = f(x)", id="value"),
        pytest.param("y = map(util.unzip2, x)", "y = map(lambda pairs: tuple(zip(*pairs)) or ((), ()), x)", id="passed-on"),
    ],
)
def test_unzip(before: str, after: str) -> None:
    rewritten(f"from jax import util\n{before}\n", f"{after}\n", select="moved-names")


def test_the_advice_for_unzip_has_no_hole_in_it() -> None:
    source = "from jax.util import unzip2, safe_zip as zip\nunzip2(pairs), zip\n"
    advice = [f.message for f in run(source, select=SELECT).findings if "where tuple and zip" in f.message]
    assert len(advice) == 1
    assert "zip(*pairs)" in advice[0]
