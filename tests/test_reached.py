"""Guards: what no release of the target or newer reaches stays, and nothing that one of them comes to is called dead."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Outcome
from jaxmigrate.testing import run, unchanged

HEAD = "import jax, sys\nimport jax.numpy as jnp\n"
OLD, NEW = "jax.tree_map(f, t)", "jax.tree.map(f, t)"

ALIVE = {
    "a_default_before": "x = default\ntry:\n    x = {}\nexcept Exception:\n    pass\n",
    "a_default_made_before": "x = [1]\ntry:\n    x = {}\nexcept AttributeError:\n    pass\n",
    "fallback_of_a_file": "try:\n    x = load_cache(p)\nexcept Exception:\n    x = {}\n",
    "fallback_of_an_array": "try:\n    x = jnp.asarray(p)\nexcept Exception:\n    x = {}\n",
    "fallback_of_a_cache": "try:\n    x = self._cached\nexcept AttributeError:\n    x = {}\n",
    "fallback_of_an_attribute_like_jax": "try:\n    x = self.is_deleted\nexcept AttributeError:\n    x = {}\n",
    "below_the_fallback_of_a_cache": "def g():\n    try:\n        return self._cached\n    except AttributeError:\n        pass\n    return {}\n",
    "fallback_of_another_library": "try:\n    import mylib\nexcept ImportError:\n    x = {}\n",
    "broad_and_gives_back_what_it_got": "def g(t):\n    try:\n        return {}\n    except Exception:\n        return t\n",
    "broad_and_gives_a_default": "def g(t, default):\n    try:\n        return {}, 1\n    except:\n        return None, default\n",
    "broad_and_uses_another_library": "def g(t):\n    try:\n        return {}\n    except Exception:\n        return np.map(t)\n",
    "broad_and_uses_jax_for_something_else": "def g(t):\n    try:\n        return {}\n    except Exception:\n        return jnp.zeros(3)\n",
    "type_error_of_a_value": "try:\n    x = jnp.asarray(v, dtype=d)\nexcept TypeError:\n    x = {}\n",
    "raises_and_names_the_version": "try:\n    x = {}\nexcept AttributeError:\n    raise RuntimeError(jax.__version__)\n",
    "prints_the_version": "try:\n    {}\nexcept AttributeError:\n    print(jax.__version__)\n",
    "broad_and_more_is_tried": "try:\n    from jax import shard_map\n    x = self.load(p)\nexcept Exception:\n    x = {}\n",
    "import_error_for_a_read": "try:\n    x = {}\nexcept ImportError:\n    x = jax.tree.map(f, t)\n",
    "another_error": "try:\n    x = {}\nexcept NotImplementedError:\n    x = jax.tree.map(f, t)\n",
    "import_error_for_a_choice": "try:\n    x = jax.tree.map(f, t)\nexcept ImportError:\n    x = {}\n",
    "finally": "try:\n    x = jax.shard_map(f)(t)\nfinally:\n    x = {}\n",
    "only_if_something_else_holds_too": "def g(t):\n    if hasattr(jax, 'tree') and t:\n        return t\n    return {}\n",
    "or_something_else": "if not hasattr(jax, 'shard_map') or t:\n    x = {}\n",
    "behind_the_loop": "for x in t:\n    if hasattr(jax, 'shard_map'):\n        break\nx = {}\n",
    "attribute_of_oneself": "if hasattr(self, 'device'):\n    x = {}\n",
    "attribute_of_oneself_or_not": "if hasattr(self, 'sharding_spec'):\n    pass\nelse:\n    x = {}\n",
    "attribute_of_oneself_once_of_jax": "if hasattr(self, 'mesh_axes'):\n    x = {}\n",
    "attribute_of_a_configuration": "if hasattr(cfg, 'layout'):\n    pass\nelse:\n    x = {}\n",
    "attribute_that_a_function_of_jax_has": "if hasattr(model, 'grad'):\n    pass\nelse:\n    x = {}\n",
    "option_that_is_on": "if getattr(jax.config, 'jax_array', True):\n    x = {}\n",
    "option_that_is_still_there": "if getattr(jax.config, 'jax_enable_x64', False):\n    pass\nelse:\n    x = {}\n",
    "option_that_is_still_there_and_on": "if getattr(jax.config, 'jax_enable_x64', False):\n    x = {}\n",
    "living_name_in_the_namespace": "if 'shard_map' in dir(jax):\n    x = {}\n",
    "key_of_a_dictionary": "if 'shard_map' not in vars(args):\n    x = {}\n",
    "attribute_of_another_library": "import torch\nif not hasattr(torch, 'compile'):\n    x = {}\n",
}  # fmt: skip


@pytest.mark.parametrize("place", ALIVE.values(), ids=ALIVE)
def test_what_runs_is_rewritten(place: str) -> None:
    after = run(HEAD + place.replace("{}", OLD), select="tree-map").after
    assert after.decode() == HEAD + place.replace("{}", NEW)


DEAD = {
    "living_value_before": "x = jax.tree.map(f, t)\ntry:\n    x = {}\nexcept Exception:\n    pass\n",
    "broad_but_with_the_successor": "def g(t):\n    try:\n        return {}\n    except Exception:\n        return jax.tree.map(f, t)\n",
    "broad_with_the_successor_in_a_function": "def h(t):\n    return jax.tree_util.tree_map(f, t)\n"
                                              "def g(t):\n    try:\n        return {}\n    except Exception:\n        return h(t)\n",
    "narrow_and_does_it_by_hand": "def g(t):\n    try:\n        return {}\n    except AttributeError:\n        return by_hand(t)\n",
    "fallback_of_what_is_young": "try:\n    x = jax.tree.map(f, t)\nexcept AttributeError:\n    x = {}\n",
    "fallback_of_an_import_that_never_fails": "try:\n    from jax.numpy import prod\nexcept ImportError:\n    x = {}\n",
    "broad_fallback_of_what_is_young": "try:\n    x = jax.tree.map(f, t)\nexcept Exception:\n    x = {}\n",
    "import_error_of_an_import": "try:\n    from jax import shard_map\n    x = shard_map(f)(t)\nexcept ImportError:\n    x = {}\n",
    "within_the_loop": "for x in t:\n    if hasattr(jax, 'shard_map'):\n        continue\n    x = {}\n",
    "member_of_an_array": "if hasattr(x, 'addressable_shards'):\n    pass\nelse:\n    x = {}\n",
    "name_of_jax": "if hasattr(jax, 'shard_map'):\n    pass\nelse:\n    x = {}\n",
    "name_in_the_namespace": "if 'shard_map' in dir(jax):\n    pass\nelse:\n    x = {}\n",
    "name_not_in_the_namespace": "if 'shard_map' not in vars(jax):\n    x = {}\n",
    "old_name_in_the_namespace": "if 'tree_map' in jax.__dict__:\n    x = {}\nelse:\n    x = f\n",
    "option_that_is_gone": "if getattr(jax.config, 'jax_array', True):\n    pass\nelse:\n    x = {}\n",
    "option_that_is_gone_turned_round": "is_off = not getattr(jax.config, 'jax_array', True)\nx = {} if is_off else None\n",
    "name_of_jax_with_default": "new = getattr(jax, 'shard_map', None)\nif new is None:\n    x = {}\n",
}  # fmt: skip


@pytest.mark.parametrize("place", DEAD.values(), ids=DEAD)
def test_what_does_not_run_is_left_alone(place: str) -> None:
    [finding] = run(HEAD + place.replace("{}", OLD), select="tree-map").findings
    assert finding.outcome is Outcome.GUARDED


def test_an_old_member_of_the_object_that_is_asked_is_left_alone() -> None:
    place = "def f(x):\n    if hasattr(x, 'sharding'):\n        return x.sharding\n    return x.device_buffers\n"
    assert [f.outcome for f in run(HEAD + place).findings] == [Outcome.GUARDED]


def test_an_import_in_a_try_is_not_there_in_its_except_clause() -> None:
    source = (
        "import jax.numpy as jnp\ntry:\n    from jax.numpy import prod\n    import mylib\nexcept ImportError:\n    y = {}(x)\n"
    )
    after = run(source.replace("{}", "jnp.product"), select="numpy-names").after.decode()
    assert after == source.replace("{}", "jnp.prod")


@pytest.mark.parametrize("old", ["from jax import tree_multimap as tm", "import jax.experimental.maps as tm"])
def test_the_fallback_of_an_own_module_does_not_go_unmentioned(old: str) -> None:
    result = run(f"try:\n    from mylib import tm\nexcept ImportError:\n    {old}\nprint(tm)\n")
    assert [f.outcome for f in result.findings] in ([Outcome.APPLIED], [Outcome.MANUAL])
    assert b"as tm\n" in (result.after or b"as tm\n")


def test_a_member_of_one_of_two_libraries_is_reported() -> None:
    source = "try:\n    import cupy as np\nexcept ImportError:\n    import jax.numpy as np\nprint(np.product([1]))\n"
    unchanged(source, findings=["jax.numpy.product is gone"])


ARMS = [  # test, target, whether an old name in the body and one in the else branch are rewritten; 0.5.3 was the last with it
    ("jax.__version_info__ >= (0, 7)", "0.12.0", (True, False)),
    ("jax.__version_info__ >= (0, 7)", "0.6.2", (True, True)),
    ("jax.__version_info__ >= (0, 7)", "0.4.13", (True, True)),
    ("jax.__version_info__ >= (0, 4, 20)", "0.4.13", (True, False)),
    ("jax.__version_info__ >= (0, 6)", "0.4.13", (True, False)),
    ("jax.__version_info__ >= (0, 6, 1)", "0.4.13", (True, True)),
    ("jax.__version_info__ < (0, 4, 20)", "0.4.13", (False, True)),
    ("jax.__version_info__ < (0, 4, 20)", "0.12.0", (False, True)),
    ("(0, 5) <= jax.__version_info__ < (0, 6)", "0.4.13", (False, True)),
    ("(0, 5) <= jax.__version_info__ < (0, 7)", "0.4.13", (True, True)),
    ("(0, 5) <= jax.__version_info__ < (0, 7)", "0.7.0", (False, True)),
    ("jax.__version__.startswith('0.6.')", "0.6.0", (True, True)),
    ("jax.__version__.startswith('0.6.')", "0.7.0", (False, True)),
    ("jax.__version__ == '0.6.2'", "0.6.2", (True, True)),
    ("hasattr(jax, 'shard_map')", "0.4.13", (True, True)),  # since 0.6.1
    ("hasattr(jax, 'shard_map')", "0.12.0", (True, False)),
    ("hasattr(jax.tree_util, 'tree_map_with_path')", "0.4.1", (True, False)),  # since 0.4.6
    ("hasattr(jax, 'tree_map')", "0.4.13", (False, True)),
    ("x and jax.__version_info__ >= (0, 7)", "0.12.0", (True, True)),
    ("x and jax.__version_info__ < (0, 7)", "0.12.0", (False, True)),
]


@pytest.mark.parametrize(("test", "target", "expected"), ARMS)
def test_an_arm_is_alive_if_a_release_without_the_old_name_comes_there(
    test: str, target: str, expected: tuple[bool, bool]
) -> None:
    after = run(f"import jax\nif {test}:\n    jax.tree_map(f, a)\nelse:\n    jax.tree_map(f, b)\n", target=target).after
    rewritten = ("map(f, a)", "map(f, b)")
    assert tuple(f"jax.tree_{text}" not in after.decode() for text in rewritten) == expected


def test_a_name_that_never_was_is_asked_for_in_vain_on_every_release() -> None:
    source = "import jax\nif hasattr(jax, 'unstack'):\n    x = jax.unstack(x)\nelse:\n    x = jax.numpy.unstack(x)\n"
    assert [f.outcome for f in run(source, target="0.12.0").findings if "jax.unstack" in f.symbol] == [Outcome.GUARDED]


@pytest.mark.parametrize(
    "choice",
    [
        "if jax.__version_info__ >= (0, 6, 2):\n    Format = layout.Format\nelse:\n    Format = layout.Layout\n",
        "Format = layout.Format if jax.__version_info__ >= (0, 6, 2) else layout.Layout\n",
        "if hasattr(layout, 'Format'):\n    from jax.experimental.layout import Format\nelse:\n    from jax.experimental.layout import Layout as Format\n",
    ],
)
def test_a_name_means_nothing_that_only_older_releases_give_it(choice: str) -> None:
    source = f"import jax\nfrom jax.experimental import layout\n{choice}x = Format(dll, sharding=s)\n"
    assert not [f for f in run(source).findings if f.outcome is not Outcome.GUARDED]


NOT_YET = {
    "name_that_came_and_went": "try:\n    f = jax.extend.core.get_opaque_trace_state\nexcept AttributeError:\n    f = jax.core.get_opaque_trace_state\n",
    "import_that_came_and_went": "if hasattr(jax, 'new_ref') and hasattr(jax, 'Ref'):\n    from jax import Ref\n"
                                 "else:\n    from jax.experimental import MutableArray as Ref\n",
    "private_name": "if jax.__version_info__ >= (0, 7, 1):\n    x = 1\nelse:\n    x = jax._src.sharding_impls.TransferToMemoryKind('device')\n",
    "name_that_never_was": "try:\n    E = jax.errors.JaxRuntimeError\nexcept AttributeError:\n    E = jax.errors.JAXRuntimeError\n",
}  # fmt: skip


@pytest.mark.parametrize("source", NOT_YET.values(), ids=NOT_YET)
@pytest.mark.parametrize("target", ["0.12.0", "0.4.30"])
def test_what_comes_to_an_old_name_before_it_went_leaves_it_alone(source: str, target: str) -> None:
    found = run(f"import jax\n{source}", target=target).findings
    assert found
    assert {f.outcome for f in found} == {Outcome.GUARDED}


def test_keywords_that_are_gone_at_the_target_are_mended_in_the_arm_that_runs_there() -> None:
    source = "import jax\nfrom jax.experimental.pjit import pjit\nif jax.__version_info__ < (0, 7):\n    f = pjit(g, in_axis_resources=s)\n"
    assert b"in_axis_resources" not in run(source, target="0.6.2").after
    assert not run(source, target="0.7.0").after


@pytest.mark.parametrize(
    "probe",
    [
        "try:\n    jax.tree_map\nexcept AttributeError:\n    jax.tree_map = jax.tree.map\n",
        "try:\n    jnp.DeviceArray\nexcept Exception:\n    jnp.DeviceArray = jnp.ndarray\n",
        "try:\n    from jax.core import Primitive\nexcept ImportError:\n    import jax.extend.core\n"
        "    jax.core.Primitive = jax.extend.core.Primitive\n",
    ],
)
def test_a_probe_whose_answer_puts_the_name_back_stays(probe: str) -> None:
    unchanged(HEAD + probe, findings=["is assigned to here"])
