"""Guards that hide a vanished name: urgent where a feature is off and nothing tells, quiet where there is another way."""

from __future__ import annotations

import pytest

from jaxmigrate.model import Finding, Outcome, Severity, Status
from jaxmigrate.testing import run


def urgent(source: str) -> list[Finding]:
    return [f for f in run(source).findings if f.severity is Severity.URGENT]


OFF = {
    "import_and_flag": "try:\n    import jax\n    from jax.interpreters import masking\n    HAS = True\n"
                       "except ImportError:\n    HAS = False\nif HAS: masking.x\n",
    "import_and_none": "try:\n    from jax.interpreters import masking\nexcept ImportError:\n    masking = None\nif masking: masking.x\n",
    "import_and_pass": "try:\n    import jax.interpreters.masking as m\n    m.x\nexcept ImportError:\n    pass\n",
    "module_not_found": "try:\n    import jax.interpreters.masking as m\nexcept ModuleNotFoundError:\n    m = None\nif m: m.x\n",
    "bare_except": "try:\n    from jax.core import Unit\nexcept:\n    Unit = ()\nprint(Unit)\n",
    "one_of_several_errors": "try:\n    from jax.core import Unit\nexcept (KeyError, ImportError):\n    Unit = object\nprint(Unit)\n",
    "attribute_error": "import jax\ntry:\n    jax.core.unitvar\nexcept AttributeError:\n    pass\n",
    "exception_and_return": "import jax\ndef f():\n    try:\n        return jax.core.unitvar\n    except Exception:\n        return None\n",
    "lost_member": "import jax.numpy as jnp\nx = jnp.ones(4)\ntry:\n    y = x.split(2)\nexcept AttributeError:\n    y = None\n",
    "broad_and_asked_for_none": "try:\n    from jax.core import Unit\nexcept Exception:\n    Unit = None\nif Unit is not None:\n    f(Unit)\n",
    "suppress": "import contextlib, jax\nwith contextlib.suppress(AttributeError):\n    jax.core.unitvar\n",
    "hasattr": "import jax\nif hasattr(jax.core, 'unitvar'):\n    jax.core.unitvar\n",
    "hasattr_and": "import jax\nif x and hasattr(jax.core, 'unitvar'):\n    jax.core.unitvar\n",
    "hasattr_else_pass": "import jax\nif hasattr(jax.core, 'unitvar'):\n    jax.core.unitvar\nelse:\n    pass\n",
    "hasattr_kept": "import jax\nHAS = hasattr(jax.core, 'unitvar')\nif HAS:\n    jax.core.unitvar\n",
    "hasattr_if_expression": "import jax\nx = jax.core.unitvar if hasattr(jax.core, 'unitvar') else None\n",
    "hasattr_to_go_away": "import jax\ndef f():\n    if not hasattr(jax.core, 'unitvar'):\n        return\n    g()\n",
    "getattr_class": "import jax\nisinstance(x, getattr(jax.core, 'unitvar', ()))\n",
    "getattr_true_negated": "import jax\nif not getattr(jax.core, 'unitvar', True):\n    f()\n",
    "getattr_none": "import jax\nu = getattr(jax.core, 'unitvar', None)\nif u is not None:\n    u()\n",
    "member_of_a_value": "import jax\ndef f(x):\n    if hasattr(x, 'device_buffers'):\n        g(x.device_buffers)\n",
    "member_of_a_value_or_none": "import jax\ndef f(x):\n    b = getattr(x, 'device_buffers', None)\n    if b is not None:\n        g(b)\n",
    "skipped_test": "import jax, unittest\n@unittest.skipIf(not hasattr(jax.core, 'unitvar'), '')\ndef test(): ...\n",
    "find_spec": "import importlib.util\nHAS = importlib.util.find_spec('jax.experimental.maps') is not None\nif HAS:\n    f()\n",
    "find_spec_turned_round": "import importlib.util\nLACKS = importlib.util.find_spec('jax.experimental.maps') is None\nif not LACKS:\n    f()\n",
    "hasattr_turned_round": "import jax\nLACKS = not hasattr(jax.core, 'unitvar')\nif not LACKS:\n    f()\n",
    "gives_back_what_it_got": "import jax\ndef f(x):\n    try:\n        return jax.core.unitvar\n    except AttributeError:\n        return x\n",
    "gives_defaults": "import jax\ndef f(x):\n    try:\n        return jax.core.unitvar, x\n    except Exception:\n        return None, x\n",
    "importorskip": "import pytest\npytest.importorskip('jax.interpreters.masking')\n",
    "private_name": "try:\n    from jax._src.core import unitvar\nexcept ImportError:\n    unitvar = None\nprint(unitvar)\n",
}  # fmt: skip


@pytest.mark.parametrize("source", OFF.values(), ids=OFF)
def test_a_feature_that_is_off_without_a_word_is_urgent_and_counts(source: str) -> None:
    (finding,) = urgent(source)
    assert finding.outcome is Outcome.MANUAL
    assert finding.outstanding
    assert "nothing tells" in finding.message


ANOTHER_WAY = {
    "living_fallback": "try:\n    from jax.core import Unit\nexcept ImportError:\n    from mylib import Unit\nprint(Unit)\n",
    "raises": "try:\n    from jax.core import Unit\nexcept ImportError:\n    raise\nprint(Unit)\n",
    "raises_another": "try:\n    from jax.core import Unit\nexcept ImportError as e:\n    raise RuntimeError('old') from e\nprint(Unit)\n",
    "warns": "import warnings\ntry:\n    from jax.core import Unit\nexcept ImportError:\n    warnings.warn('off')\n    Unit = None\nprint(Unit)\n",
    "does_something_else": "try:\n    from jax.core import Unit\nexcept ImportError:\n    Unit = make()\nprint(Unit)\n",
    "error_of_another_kind": "try:\n    from jax.core import Unit\nexcept KeyError:\n    Unit = None\nprint(Unit)\n",
    "import_error_for_an_attribute": "import jax\ntry:\n    jax.core.unitvar\nexcept ImportError:\n    pass\n",
    "run_later": "import jax\ntry:\n    def f():\n        return jax.core.unitvar\nexcept AttributeError:\n    pass\n",
    "only_jax_itself": "try:\n    import jax\nexcept ImportError:\n    jax = None\ndef f():\n    jax.core.unitvar\n",
    "living_name": "try:\n    from jax import Array\nexcept ImportError:\n    Array = None\n",
    "only_deprecated": "try:\n    from jax.lax import psend\nexcept ImportError:\n    psend = None\n",
    "hasattr_else": "import jax\nif hasattr(jax.core, 'unitvar'):\n    jax.core.unitvar\nelse:\n    g()\n",
    "hasattr_elif": "import jax\nif hasattr(jax.core, 'unitvar'):\n    a()\nelif hasattr(jax, 'Array'):\n    b()\n",
    "hasattr_and_on": "import jax\ndef f():\n    if hasattr(jax.core, 'unitvar'):\n        return jax.core.unitvar\n    return g()\n",
    "member_of_a_value_or_another_way": "import jax\ndef f(x):\n    if hasattr(x, 'device_buffers'):\n        return x.device_buffers\n    return g(x)\n",
    "member_of_oneself": "import jax\nclass A:\n    def f(self):\n        if hasattr(self, 'mesh_axes'):\n            g(self.mesh_axes)\n",
    "asked_for_none": "try:\n    from jax.extend.core.primitives import xla_pmap_p\nexcept ImportError:\n    xla_pmap_p = None\n"
                      "if xla_pmap_p is not None:\n    rules[xla_pmap_p] = f\n",
    "successor_beside_it": "T = ()\ntry:\n    from jax._src.literals import LiteralArray\n    T += (LiteralArray,)\nexcept ImportError:\n    pass\n"
                           "try:\n    from jax._src.literals import TypedNdArray\n    T += (TypedNdArray,)\nexcept ImportError:\n    pass\n",
    "hasattr_not": "import jax\nif not hasattr(jax.core, 'unitvar'):\n    g()\n",
    "hasattr_of_a_living_name": "import jax\nif hasattr(jax, 'Array'):\n    jax.Array\n",
    "hasattr_of_a_value": "import jax\nif hasattr(x, 'unitvar'):\n    x.unitvar\n",
    "hasattr_and_more_asserted": "import jax\nassert hasattr(jax.core, 'unitvar') or x\n",
    "find_spec_turned_round": "import importlib.util\nLACKS = importlib.util.find_spec('jax.experimental.maps') is None\nif LACKS:\n    f()\n",
    "gives_back_a_function": "import jax\ndef g(): ...\ndef f():\n    try:\n        return jax.core.unitvar\n    except Exception:\n        return g\n",
    "getattr_or": "import jax\nu = getattr(jax.core, 'unitvar', None) or g\n",
    "getattr_true_is_on": "import jax\nif getattr(jax.core, 'unitvar', True):\n    f()\n",
    "getattr_true_else": "import jax\nif getattr(jax.core, 'unitvar', True):\n    x = 1\nelse:\n    x = 2\n",
    "getattr_default": "import jax\nu = getattr(jax.core, 'unitvar', g)\n",
    "getattr_if_else": "import jax\nu = getattr(jax.core, 'unitvar', None)\nif u is None:\n    u = g\n",
    "behind_a_living_name": "import jax\nif hasattr(jax.dtypes, 'prng_key'):\n    a()\nelif hasattr(jax.random, 'PRNGKeyArray'):\n    b()\n",
    "behind_living_names": "import jax\nif hasattr(jax, 'Ref') and hasattr(jax, 'Array'):\n    a()\nelif hasattr(jax.core, 'Unit'):\n    b()\n",
    "version_by_a_helper": "import jax\nif version_of('jax') < (0, 3):\n    jax.core.unitvar\n",
    "living_value_before": "import jax\nq = jax.jit\ntry:\n    q = jax.core.unitvar\nexcept AttributeError:\n    pass\n",
    "version": "import jax\nif jax.__version_info__ < (0, 3):\n    jax.core.unitvar\n",
}  # fmt: skip


@pytest.mark.parametrize("name", ["asked_for_none", "successor_beside_it"])
def test_a_loss_that_was_foreseen_is_left_with_low_severity(name: str) -> None:
    left = [f for f in run(ANOTHER_WAY[name]).findings if f.outcome is Outcome.MANUAL]
    assert {(f.codemod, f.severity) for f in left} == {("removed-names", Severity.LOW)}
    assert all("is made for its absence too" in f.message for f in left)


@pytest.mark.parametrize("source", ANOTHER_WAY.values(), ids=ANOTHER_WAY)
def test_what_tells_or_goes_another_way_is_not_urgent(source: str) -> None:
    assert not urgent(source)


def test_an_edit_that_mends_it_says_so_and_does_not_count() -> None:
    source = "try:\n    from jax.interpreters.xla import DeviceArray\n    HAS = True\nexcept ImportError:\n    HAS = False\n"
    (finding,) = urgent(f"{source}def f(x):\n    return isinstance(x, DeviceArray)\n")
    assert finding.outcome is Outcome.APPLIED
    assert "the except clause in line 4" in finding.message
    assert finding.message.endswith("(this edit mends it)")
    assert not finding.outstanding


def test_an_edit_beside_a_name_that_is_gone_for_good_does_not_claim_to_mend_it() -> None:
    source = "try:\n    from jax.core import NamedShape, Jaxpr as _Jaxpr\nexcept ImportError:\n    NamedShape = None\n"
    result = run(f"{source}print(NamedShape, _Jaxpr)\n")
    assert (
        b"import Jaxpr as _Jaxpr\n    from jax.core import NamedShape\n" in result.after
    )  # what lives is there before the rest fails
    assert not [f for f in result.findings if "mends" in f.message]  # still_gone_beside it


def test_an_edit_whose_import_is_still_asked_for_does_not_claim_to_mend_it() -> None:
    source = "try:\n    from jax.experimental import host_callback as hcb\nexcept ImportError:\n    hcb = None\n"
    assert not [f for f in run(f"{source}if hcb:\n    hcb.call(f, x)\n").findings if "mends" in f.message]


def test_what_an_older_target_still_has_is_not_said_to_be_missing_always() -> None:
    source = "import jax\nif hasattr(jax, 'tree_map'):\n    jax.tree_map(f, t)\n"
    assert "is always False now" in urgent(source)[0].message
    [in_namespace] = urgent("import jax\nif 'unitvar' in dir(jax.core):\n    jax.core.unitvar\n")
    assert "is always False now" in in_namespace.message
    [finding] = [f for f in run(source, target="0.4.13").findings if f.severity is Severity.URGENT]
    assert "is False on JAX 0.12.0.1, and" in finding.message


def test_the_use_behind_the_dead_test_is_left_alone() -> None:
    found = run("import jax\nif hasattr(jax, 'device_put_sharded'):\n    jax.device_put_sharded(x, d)\n").findings
    assert [(f.position.line, f.outcome) for f in found] == [(2, Outcome.MANUAL), (3, Outcome.GUARDED)]


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    from jax.interpreters import masking\n    HAS = True\nexcept ImportError:\n    HAS = False\n",
        "try:\n    import jax.experimental.maps\nexcept ImportError:\n    HAS = False\nelse:\n    HAS = True\n",
    ],
)
def test_an_import_that_only_finds_out_what_there_is_stays(source: str) -> None:
    result = run(source)
    assert result.status is Status.UNCHANGED
    assert [f.severity for f in result.findings] == [Severity.URGENT]


def test_an_import_that_is_not_used_goes_where_nothing_depends_on_it() -> None:
    for handler in ("pass", "raise ImportError('too old')"):
        result = run(f"try:\n    from jax.interpreters import masking\n    import numpy\nexcept ImportError:\n    {handler}\n")
        assert b"masking" not in result.after


STOPS = {
    "raise": "if not hasattr(jax.core, 'unitvar'):\n    raise RuntimeError('too new')\n",
    "raise_after_a_message": "if not hasattr(jax.core, 'unitvar'):\n    print('!')\n    raise RuntimeError\n",
    "exit": "import sys\nif not hasattr(jax.core, 'unitvar'):\n    sys.exit(1)\n",
    "assert": "assert hasattr(jax.core, 'unitvar')\n",
    "assert_with_more": "assert x and hasattr(jax.core, 'unitvar'), 'too new'\n",
    "else": "if hasattr(jax.core, 'unitvar'):\n    f()\nelse:\n    raise ImportError\n",
    "below": "def f():\n    if hasattr(jax.core, 'unitvar'):\n        return jax.core.unitvar\n    raise ImportError\n",
    "or": "if not hasattr(jax.core, 'unitvar') or x:\n    raise ImportError\n",
    "variable": "HAS = hasattr(jax.core, 'unitvar')\nif not HAS:\n    raise ImportError\n",
    "getattr": "u = getattr(jax.core, 'unitvar', None)\nif u is None:\n    raise ImportError\n",
    "in_line": "if (u := getattr(jax.core, 'unitvar', None)) is None:\n    raise ImportError\n",
    "find_spec": "import importlib.util\nif importlib.util.find_spec('jax.experimental.maps') is None:\n    raise ImportError\n",
    "not_loaded": "import sys\nif 'jax.experimental.maps' not in sys.modules:\n    raise ImportError\n",
}
GOES_ON = {
    "raise_where_it_is_there": "if hasattr(jax.core, 'unitvar'):\n    raise RuntimeError('too old')\n",
    "assert_not": "assert not hasattr(jax.core, 'unitvar')\n",
    "and": "if not hasattr(jax.core, 'unitvar') and x:\n    raise ImportError\n",
    "either": "if not (hasattr(jax.core, 'unitvar') or hasattr(jax, 'Array')):\n    raise ImportError\n",
    "living": "if not hasattr(jax, 'Array'):\n    raise ImportError\n",
    "on_an_older_jax": "if not hasattr(jax, 'Array'):\n    if not hasattr(jax.core, 'unitvar'):\n        raise ImportError\n",
}


@pytest.mark.parametrize("source", STOPS.values(), ids=STOPS)
def test_a_program_that_always_stops_now_is_urgent(source: str) -> None:
    (finding,) = urgent(f"import jax\n{source}")
    assert finding.outcome is Outcome.MANUAL
    assert " now: the program stops here: " in finding.message


@pytest.mark.parametrize("source", GOES_ON.values(), ids=GOES_ON)
def test_a_program_that_goes_on_is_not_said_to_stop(source: str) -> None:
    assert not [f for f in run(f"import jax\n{source}").findings if "stops here" in f.message]
