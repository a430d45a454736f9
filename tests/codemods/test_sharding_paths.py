"""sharding-paths: what lives where it is first, then the moves, then the changed signatures."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Applicability, Outcome
from jaxmigrate.testing import applied, findings, rewritten, run, unchanged

SELECT = "sharding-paths"
SER = "from jax.experimental.array_serialization import serialization as ser\n"
OLD_SER = "from jax.experimental.gda_serialization import serialization as ser\n"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(
            "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\nx = NamedSharding(Mesh(d, 'x'), P('x'))\n",
            id="present-homes",
        ),
        pytest.param("import jax\nx = jax.sharding.PartitionSpec('x')\n", id="present-attribute"),
        pytest.param(
            "from jax.interpreters import pxla\nm = pxla.thread_resources.env.physical_mesh\n", id="thread-resources-alive"
        ),
        pytest.param("from mylib.maps import Mesh\nMesh(1, 2)\n", id="another-maps"),
        pytest.param("from flax import maps\nmaps.Mesh()\n", id="another-package-s-maps"),
        pytest.param("import jax\nclass PartitionSpec(tuple): ...\nPartitionSpec('x')\n", id="own-class"),
        pytest.param("import jax\ndef f(pxla): return pxla.PartitionSpec\n", id="parameter"),
        pytest.param("import jax\nsharding = f()\nsharding.MeshPspecSharding\n", id="variable-called-sharding"),
        pytest.param("from tensorflow.experimental import dtensor\ndtensor.Mesh()\n", id="tensorflow-mesh"),
        pytest.param("from jax._src.partition_spec import PartitionSpec\nPartitionSpec()\n", id="private-but-alive"),
        pytest.param("from jax._src.mesh import Mesh\nMesh()\n", id="private-mesh-alive"),
        pytest.param("import jax\ndef f(in_axes: 'maps.Mesh'): ...\n", id="quoted-name-that-nothing-binds"),
        pytest.param(
            "try:\n    from jax.sharding import PartitionSpec\nexcept ImportError:\n    from jax.experimental import PartitionSpec\nPartitionSpec()\n",
            id="successor-is-tried-first",
        ),
        pytest.param(
            "import jax\nif jax.__version_info__ >= (0, 4):\n    Mesh = jax.sharding.Mesh\nelse:\n    from jax.experimental.maps import Mesh\n",
            id="version-chooses",
        ),
        pytest.param("import jax\n# jax.experimental.maps.Mesh\nx = 'see jax.experimental.maps.Mesh for it'\n", id="text"),
        pytest.param(SER + "ser.run_deserialization([a.sharding], specs, shapes)\n", id="shapes-in-the-third-place"),
        pytest.param(SER + "ser.run_deserialization([a.sharding, b.sharding], specs)\n", id="two-arguments"),
        pytest.param(SER + "ser.async_deserialize(s, spec, global_shape=g)\n", id="sharding-and-spec"),
        pytest.param(SER + "ser.async_deserialize(x.sharding, spec, shape)\n", id="shape-in-the-third-place-of-the-coroutine"),
        pytest.param(SER + "import jax\njax.tree.map(ser.async_deserialize, shardings, specs)\n", id="mapped-over-shardings"),
        pytest.param(SER + "ser.run_serialization(arrays=a, tensorstore_specs=s)\n", id="arrays-keyword"),
        pytest.param(SER + "ser.run_deserialization(shardings, *rest)\n", id="shardings-before-a-star"),
        pytest.param(SER + "ser.run_deserialization(shardings=a, **rest)\n", id="shardings-by-keyword-before-two-stars"),
        pytest.param(SER + "ser.async_deserialize(x.sharding, spec, **rest)\n", id="sharding-before-two-stars"),
        pytest.param(
            SER + "def f(model, shardings): return model.deserialize(a, b, c), model.deserialize(shardings, b, c)\n",
            id="deserialize-of-something",
        ),
        pytest.param("import jax\nmanager.deserialize(meshes, axes, specs)\n", id="manager-in-a-file-without-serialization"),
        pytest.param(
            "from jax._src.sharding_impls import UNSPECIFIED\nfrom jax._src import pjit\nx = UNSPECIFIED, pjit.UNSPECIFIED\n",
            id="private-unspecified-alive",
        ),
        pytest.param(SER + "m = ser.GlobalAsyncCheckpointManager(300)\n", id="manager-with-a-timeout"),
        pytest.param("import jax\nmodel.deserialize(a, b, c)\nmodel.serialize(gdas)\n", id="other-deserialize"),
        pytest.param("import pickle\nfrom rest import model\nmodel.serialize(x, gdas=1)\n", id="no-jax"),
        pytest.param(
            "from jax.experimental.multihost_utils import process_allgather\nprocess_allgather(x, tiled=True)\n",
            id="tiled-already",
        ),
        pytest.param(
            "from jax.experimental.multihost_utils import process_allgather\nprocess_allgather(x, tiled=flag)\n",
            id="tiled-by-variable",
        ),
        pytest.param(
            "from jax.experimental.multihost_utils import process_allgather\nprocess_allgather(x)\n", id="gathering-something"
        ),
        pytest.param(
            "import numpy as np\nfrom jax.experimental.multihost_utils import process_allgather\nprocess_allgather(np.ones(3))\n",
            id="gathering-numpy",
        ),
        pytest.param(
            "import jax.numpy as jnp\nfrom jax.experimental.multihost_utils import process_allgather\ny = jnp.zeros(3)\nprocess_allgather(y)\nprocess_allgather(jnp.array([n]), tiled=False)\n",
            id="gathering-numbers-of-each-process",
        ),
        pytest.param(
            "import jax.numpy as jnp, numpy as np\nfrom jax.experimental.multihost_utils import process_allgather\n"
            "x = np.zeros(n)\nx[:2] = y\nz = jnp.array(x)\nprocess_allgather(z, tiled=False)\n",
            id="gathering-what-was-a-numpy-array",
        ),
        pytest.param(
            "from mylib import process_allgather\nimport jax\nprocess_allgather(jax.numpy.ones(3))\n", id="own-process-allgather"
        ),
        pytest.param(
            "from jax.sharding import NamedSharding\nNamedSharding(mesh, spec)\nNamedSharding(mesh, *none)\n",
            id="spec-by-variable",
        ),
        pytest.param("from jax.core import ShapedArray\nShapedArray((1,), 'f')\n", id="shaped-array-of-core"),
    ],
)
def test_unchanged(source: str) -> None:
    unchanged(source, select=SELECT)


@pytest.mark.parametrize(
    ("source", "messages"),
    [
        pytest.param("from jax.experimental.maps import xmap\nxmap(f)\n", ["cannot be imported", "xmap left"], id="xmap"),
        pytest.param(
            "from jax.experimental import maps\nmaps.xmap(f)\n", ["maps cannot be imported", "xmap left"], id="xmap-of-the-module"
        ),
        pytest.param(
            "from jax.experimental.maps import FrozenDict as F\nx = isinstance(y, F)\n",
            ["cannot be imported", "another mapping"],
            id="frozen-dict",
        ),
        pytest.param("from jax.experimental.pjit import AUTO\nx = AUTO\n", ["cannot be imported", "AUTO"], id="auto"),
        pytest.param(
            "from jax.experimental.array import Array\nArray(s, sh, a, True)\n",
            ["cannot be imported", "cannot be called"],
            id="array-called",
        ),
        pytest.param(OLD_SER.replace("gda_", "array_") + "ser.create_async_gda_from_callback\n", ["private"], id="private-now"),
        pytest.param(SER + "ser.run_deserialization(a, b, specs)\n", ["signature"], id="three-unknown-arguments"),
        pytest.param(SER + "ser.run_deserialization(*args)\n", ["signature"], id="starred"),
        pytest.param(SER + "x = ser.async_deserialize(a, b, c)\n", ["signature"], id="three-unknown-arguments-of-the-coroutine"),
        pytest.param(
            SER + "import jax\njax.tree_map(ser.async_deserialize, meshes, axes, specs)\n", ["signature"], id="mapped-over-meshes"
        ),
        pytest.param(
            SER + "m = ser.GlobalAsyncCheckpointManager(temp_dir=a, final_dir=b)\n", ["directories"], id="directories-by-keyword"
        ),
        pytest.param(
            SER + "ser.run_deserialization(**kw)\nser.async_deserialize(**kw)\nser.async_deserialize(a, b, **kw)\n",
            ["signature"] * 3,
            id="two-stars",
        ),
        pytest.param(SER + "def f(manager): manager.deserialize(a, b, c)\n", ["signature"], id="manager-of-unknown-type"),
        pytest.param(SER + "def f(m): m.deserialize(meshes, axes, specs)\n", ["signature"], id="meshes-to-something"),
        pytest.param(
            SER + "def f(m): m.deserialize(a, tensorstore_specs=s, mesh_axes=b)\n", ["signature"], id="axes-to-something"
        ),
        pytest.param(
            SER + "m = ser.GlobalAsyncCheckpointManager()\nm.deserialize(*args)\n", ["signature"], id="starred-deserialize"
        ),
        pytest.param(SER + "m = ser.GlobalAsyncCheckpointManager(**kw)\n", ["directories"], id="manager-with-two-stars"),
        pytest.param(
            "from jax._src.pjit import _UNSPECIFIED\nx = _UNSPECIFIED\n",
            ["cannot be imported", "leave the argument out"],
            id="unspecified-of-src",
        ),
        pytest.param(
            "from jax.interpreters import pxla\nx = pxla._UNSPECIFIED\n", ["leave the argument out"], id="unspecified-of-pxla"
        ),
        pytest.param(
            "from jax.interpreters import pxla\ny = pxla._is_unspecified(x)\n", ["_is_unspecified"], id="is-unspecified"
        ),
        pytest.param(
            "from jax.experimental import pjit\nx = pjit.ParsedPartitionSpec\n", ["PartitionSpec itself"], id="parsed-spec"
        ),
        pytest.param(
            "from jax.experimental.pjit import _UNSPECIFIED\nx = _UNSPECIFIED\n",
            ["cannot be imported", "leave the argument out"],
            id="unspecified",
        ),
        pytest.param(SER + "m = ser.GlobalAsyncCheckpointManager(a, b)\n", ["directories"], id="directories-of-the-manager"),
        pytest.param(
            SER + "m = ser.GlobalAsyncCheckpointManager()\nm.serialize(a, s)\n",
            ["on_commit_callback"],
            id="serialize-without-callback",
        ),
        pytest.param("import jax\nm.serialize(a, s, final_checkpoint_dir=d)\n", ["directories"], id="directories-of-serialize"),
        pytest.param(
            SER + "x = ser.async_deserialize(tensorstore_spec=s, mesh=m, mesh_axes=a)\n", ["first argument"], id="mesh-not-first"
        ),
    ],
)
def test_left_to_a_human(source: str, messages: list[str]) -> None:
    unchanged(source, select=SELECT, findings=messages)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from jax.experimental import PartitionSpec as P\nP('x')",
            "from jax.sharding import PartitionSpec as P\nP('x')",
            id="as-p",
        ),
        pytest.param(
            "from jax.experimental.pjit import PartitionSpec\nPartitionSpec()",
            "from jax.sharding import PartitionSpec\nPartitionSpec()",
            id="pjit",
        ),
        pytest.param(
            "from jax.interpreters.sharded_jit import PartitionSpec\nPartitionSpec()",
            "from jax.sharding import PartitionSpec\nPartitionSpec()",
            id="oldest",
        ),
        pytest.param(
            "from jax.experimental.global_device_array import PartitionSpec as P\nP()",
            "from jax.sharding import PartitionSpec as P\nP()",
            id="of-the-gda-module",
        ),
        pytest.param(
            "import jax\nimport jax.experimental.maps\njax.experimental.maps.Mesh(d, n)",
            "import jax\njax.sharding.Mesh(d, n)",
            id="attributes",
        ),
        pytest.param(
            "import jax\nfrom jax.interpreters import pxla\npxla.Mesh(d, n)", "import jax\njax.sharding.Mesh(d, n)", id="pxla"
        ),
        pytest.param(
            "import jax\nfrom jax.experimental.maps import mesh\nwith mesh(d, n): pass",
            "import jax\nwith jax.sharding.Mesh(d, n): pass",
            id="context",
        ),
        pytest.param(
            "from jax.experimental.maps import mesh as M\nM(d, n)", "from jax.sharding import Mesh as M\nM(d, n)", id="context-as"
        ),
        pytest.param(
            "import jax\njax.sharding.MeshPspecSharding(m, s)", "import jax\njax.sharding.NamedSharding(m, s)", id="mesh-pspec"
        ),
        pytest.param("import jax\njax.sharding.XLACompatibleSharding", "import jax\njax.sharding.Sharding", id="xla-compatible"),
        pytest.param("import jax\nfrom jax.experimental import array\narray.Array", "import jax\njax.Array", id="early-array"),
        pytest.param("import jax\njax.ShapedArray((1,), d)", "import jax\njax.core.ShapedArray((1,), d)", id="shaped-array"),
        pytest.param(
            "import jax\nfrom jax.abstract_arrays import ShapedArray\nShapedArray",
            "import jax\nfrom jax.core import ShapedArray\nShapedArray",
            id="abstract-arrays",
        ),
        pytest.param(
            "import jax\njax.sharding.NamedSharding(m, None)",
            "import jax\njax.sharding.NamedSharding(m, jax.sharding.PartitionSpec())",
            id="none",
        ),
        pytest.param(
            "import jax\njax.sharding.NamedSharding(mesh=m, spec=None)",
            "import jax\njax.sharding.NamedSharding(mesh=m, spec=jax.sharding.PartitionSpec())",
            id="none-keyword",
        ),
    ],
)
def test_moves(before: str, after: str) -> None:
    rewritten(before + "\n", after + "\n", select=SELECT)


def test_live_names_stay_where_they_are() -> None:
    rewritten(
        "from jax.experimental import multihost_utils, PartitionSpec, mesh_utils\nPartitionSpec(multihost_utils, mesh_utils)\n",
        "from jax.experimental import multihost_utils, mesh_utils\nfrom jax.sharding import PartitionSpec\nPartitionSpec(multihost_utils, mesh_utils)\n",
        select=SELECT,
    )


def test_dead_neighbour_keeps_its_import() -> None:
    result = run("from jax.experimental.maps import Mesh, xmap\nMesh(d, n)\nxmap(f)\n", select=SELECT)
    assert b"from jax.sharding import Mesh" in result.after
    assert b"from jax.experimental.maps import xmap" in result.after
    assert any("xmap left" in f.message for f in result.findings)


def test_subclass_of_an_abstract_sharding_is_a_review() -> None:
    found = applied(run("import jax\nclass S(jax.sharding.XLACompatibleSharding): ...\n", select=SELECT))
    assert [f.applicability for f in found] == [Applicability.REVIEW]


def test_op_sharding_has_no_name_for_an_old_target() -> None:
    source = "import jax\nx = jax.sharding.OpShardingSharding(d, s)\n"
    unchanged(source, select=SELECT, target="0.6.0", findings=["no public name"])
    assert b"GSPMDSharding(d, s)" in run(source, select=SELECT, target="0.7.0").after


def test_op_sharding_imported_by_name_stays_for_an_old_target() -> None:
    source = "from jax.experimental.sharding import OpShardingSharding\nx = OpShardingSharding(d, s)\n"
    unchanged(source, select=SELECT, target="0.4.13", findings=["cannot be imported", "no public name"])


@pytest.mark.parametrize(
    ("home", "name"),
    [("jax.experimental.array", "Shard"), ("jax.experimental.array", "ArrayLike"), ("jax.experimental.sharding", "Device")],
)
@pytest.mark.parametrize("text", ["from {home} import {name}\nx = {name}\n", "from {home} import {name} as Z\nx = Z\n"])
def test_successor_that_came_after_the_target(home: str, name: str, text: str) -> None:
    source = text.format(home=home, name=name)
    unchanged(source, select=SELECT, target="0.4.0", findings=["cannot be imported", "after the target 0.4.0"])
    assert run(source, select=SELECT, target="0.4.13").after


def test_two_stars_beside_meshes_and_axes() -> None:
    rewritten(
        "import jax\n" + SER + "ser.run_deserialization(global_meshes=[m], mesh_axes=[a], **kw)\n",
        "import jax\n" + SER + "ser.run_deserialization(shardings=[jax.sharding.NamedSharding(m, a)], **kw)\n",
        select=SELECT,
    )


def test_coroutine_whose_first_argument_is_called_a_mesh() -> None:
    result = run("import jax\n" + SER + "x = ser.async_deserialize(mesh, specs[0], t[0])\n", select=SELECT)
    assert b"ser.async_deserialize(jax.sharding.NamedSharding(mesh, specs[0]), t[0])" in result.after
    assert any("assuming that mesh is a mesh" in f.message and f.applicability is Applicability.REVIEW for f in result.findings)


def test_thread_resources_of_maps_warns_but_works() -> None:
    result = run("from jax.experimental.maps import thread_resources\nm = thread_resources.env\n")
    assert result.after == b"from jax.interpreters.pxla import thread_resources\nm = thread_resources.env\n"
    assert [f.applicability for f in result.findings if f.codemod == SELECT] == [Applicability.REVIEW]
    assert ["0.8.2" in f.message for f in result.findings if f.is_left] == [True]


GATHER = "import jax\nfrom jax.experimental.multihost_utils import process_allgather\n"


@pytest.mark.parametrize(
    ("source", "applicability"),
    [
        pytest.param("def f(x: jax.Array): return process_allgather(x)", Applicability.UNSAFE, id="any-array"),
        pytest.param(
            "x = jax.make_array_from_callback(s, h, f)\nprocess_allgather(x)", Applicability.REVIEW, id="made-as-global"
        ),
        pytest.param(
            "from jax.experimental.global_device_array import GlobalDeviceArray\ndef f(x: GlobalDeviceArray): return process_allgather(x)",
            Applicability.SAFE,
            id="gda",
        ),
    ],
)
def test_gathering(source: str, applicability: Applicability) -> None:
    found = [f for f in findings(GATHER + source + "\n", select=SELECT, origin="0.4.1") if "tiled" in f.message]
    assert [f.applicability for f in found] == [applicability]
    assert (found[0].outcome is Outcome.HELD) == (applicability is Applicability.UNSAFE)


def test_misspelt_tiled_of_0_3_1() -> None:
    rewritten(
        GATHER + "x = jax.make_array_from_callback(s, h, f)\nprocess_allgather(x, titled=False)\n",
        GATHER + "x = jax.make_array_from_callback(s, h, f)\nprocess_allgather(x, tiled=True)\n",
        select=SELECT,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "ser.run_serialization(gdas=a, tensorstore_specs=s)",
            "ser.run_serialization(arrays=a, tensorstore_specs=s)",
            id="gdas",
        ),
        pytest.param(
            "ser.run_deserialization(a, b, tensorstore_specs=s)",
            "ser.run_deserialization([jax.sharding.NamedSharding(m, s) for m, s in zip(a, b)], tensorstore_specs=s)",
            id="two-lists-before-specs-by-keyword",
        ),
        pytest.param(
            "manager.deserialize(a, b, tensorstore_specs=s)",
            "manager.deserialize([jax.sharding.NamedSharding(m, s) for m, s in zip(a, b)], tensorstore_specs=s)",
            id="two-lists-before-specs-of-a-manager",
        ),
        pytest.param(
            "ser.run_deserialization(global_meshes=[m], mesh_axes=[a], tensorstore_specs=s)",
            "ser.run_deserialization(shardings=[jax.sharding.NamedSharding(m, a)], tensorstore_specs=s)",
            id="literal-lists",
        ),
        pytest.param(
            "ser.run_deserialization(global_meshes=[m] * 2, mesh_axes=a, tensorstore_specs=s)",
            "ser.run_deserialization(shardings=[jax.sharding.NamedSharding(m, spec) for spec in a], tensorstore_specs=s)",
            id="one-mesh-for-all",
        ),
        pytest.param(
            "ser.run_deserialization(ms, mesh_axes=a, tensorstore_specs=s)",
            "ser.run_deserialization([jax.sharding.NamedSharding(m, s) for m, s in zip(ms, a)], tensorstore_specs=s)",
            id="meshes-by-position",
        ),
        pytest.param(
            "ser.async_deserialize(m, mesh_axes=a, tensorstore_spec=s)",
            "ser.async_deserialize(jax.sharding.NamedSharding(m, a), tensorstore_spec=s)",
            id="coroutine",
        ),
        pytest.param(
            "ser.async_deserialize(mesh=m, mesh_axes=a, tensorstore_spec={'a': 1})",
            "ser.async_deserialize(jax.sharding.NamedSharding(m, a), tensorstore_spec={'a': 1})",
            id="coroutine-with-braces",
        ),
    ],
)
def test_serialization(before: str, after: str) -> None:
    rewritten(f"import jax\n{OLD_SER}x = {before}\n", f"import jax\n{SER}x = {after}\n", select=SELECT)


def test_positional_meshes_are_known_by_their_name() -> None:
    source = SER + "def f(global_mesh, spec): ser.run_deserialization([global_mesh] * len(t), a, t, global_shapes=g)\n"
    result = run("import jax\n" + source, select=SELECT)
    assert (
        b"run_deserialization([jax.sharding.NamedSharding(global_mesh, spec_) for spec_ in a], t, global_shapes=g)"
        in result.after
    )
    assert any("assuming that [global_mesh] * len(t) are meshes" in f.message for f in result.findings)


def test_unknown_manager_is_an_assumption() -> None:
    found = findings("import jax\nm.deserialize(global_meshes=a, mesh_axes=b, tensorstore_specs=c)\n", select=SELECT)
    assert [f.applicability for f in found] == [Applicability.REVIEW]
    assert "assuming that m is a GlobalAsyncCheckpointManager" in found[0].message


@pytest.mark.parametrize(
    ("source", "applicability"),
    [
        pytest.param(
            "from jax.experimental.pjit import pjit\nf = pjit(g, out_axis_resources=p)\nw, y = f(x)\nprocess_allgather(y)",
            Applicability.REVIEW,
            id="pjit",
        ),
        pytest.param(
            "f = jax.jit(g, out_shardings=p)\ny = f(x)\nprocess_allgather(y, tiled=False)", Applicability.REVIEW, id="jit"
        ),
        pytest.param(
            "import functools\nfrom jax.experimental.pjit import pjit\n@functools.partial(pjit, out_axis_resources=p)\ndef f(x): return x\nprocess_allgather(f(x))",
            Applicability.REVIEW,
            id="decorated",
        ),
        pytest.param(
            "def f(y):\n    print(y.addressable_shards)\n    return process_allgather(y)",
            Applicability.UNSAFE,
            id="shards-asked-for",
        ),
    ],
)
def test_gathering_results_of_functions_with_shardings(source: str, applicability: Applicability) -> None:
    found = [f for f in findings(GATHER + source + "\n", select=SELECT, origin="0.4.1") if "tiled" in f.message]
    assert [f.applicability for f in found] == [applicability]


@pytest.mark.parametrize(
    "source",
    ["f = jax.jit(g)\nprocess_allgather(f(x))", "f = jax.pmap(g)\ny = f(x)\nprocess_allgather(y)", "process_allgather(len(x))"],
)
def test_gathering_results_of_other_functions(source: str) -> None:
    unchanged(GATHER + source + "\n", select=SELECT)


def test_gathering_a_result_that_may_become_local_again_is_left_to_a_human() -> None:
    source = GATHER + "f = jax.jit(g, out_shardings=p)\ny = f(x)\nprocess_allgather(y)\n"
    unchanged(source, select=SELECT, allowed="unsafe", findings=["host-local-inputs"])


def test_none_among_the_specs_of_a_conversion_is_spelled_out() -> None:
    rewritten(
        """
        from jax.experimental import multihost_utils
        from jax.sharding import PartitionSpec as P
        a = multihost_utils.host_local_array_to_global_array(x, mesh, None)
        b = multihost_utils.host_local_array_to_global_array((x, y), mesh, (P("d"), None))
        c = multihost_utils.global_array_to_host_local_array(x, mesh, pspecs={"a": None})
        d = multihost_utils.host_local_array_to_global_array(x, mesh, P(None))
        e = multihost_utils.host_local_array_to_global_array(x, mesh, specs)
        """,
        """
        from jax.experimental import multihost_utils
        from jax.sharding import PartitionSpec as P
        a = multihost_utils.host_local_array_to_global_array(x, mesh, P())
        b = multihost_utils.host_local_array_to_global_array((x, y), mesh, (P("d"), P()))
        c = multihost_utils.global_array_to_host_local_array(x, mesh, pspecs={"a": P()})
        d = multihost_utils.host_local_array_to_global_array(x, mesh, P(None))
        e = multihost_utils.host_local_array_to_global_array(x, mesh, specs)
        """,
        select=SELECT,
    )


@pytest.mark.parametrize("origin", [None, "0.8.0"])
def test_living_programs_gather_arrays_of_a_process(origin: str | None) -> None:
    unchanged(GATHER + "def f(x: jax.Array): return process_allgather(x)\n", select=SELECT, allowed="unsafe", origin=origin)
