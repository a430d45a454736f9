"""The tables of a pack: what they say, and that asking costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import jaxmigrate_codemods
from jaxmigrate.history import History
from jaxmigrate.model import Version
from jaxmigrate.registry import history

FOLDER = Path(str(jaxmigrate_codemods.__file__)).parent
TEXT = """\
versions 0.1.0 0.2.0 0.3.0 0.4.0
[]
lib 0.1.0- =module
[lib]
away 0.1.0-0.1.0,0.3.0-
gone 0.1.0-0.2.0 ~0.2.0
inner 0.1.0-0.3.0 =module
os 0.1.0-0.2.0 =leak+module
[lib.inner]
deep 0.2.0-0.3.0
[members of lib.Box]
lid 0.1.0-0.3.0
[parameters of lib.f]
depth 0.1.0-0.2.0 ~0.1.0
"""
ADVICE = """\
[one]
lib.gone\tmove\tlib.newer@0.3.0 lib.old@0.1.0\tsame arguments
lib.inner.*\tnone\t\tuse lib.outer
[two]
leak\tnone\t\timport it yourself
"""
SMALL = History((TEXT,), (ADVICE,))


def test_a_name_that_was_away() -> None:
    entry = SMALL.entry("lib.away")
    assert entry is not None
    assert [entry.at(v) for v in SMALL.versions] == [True, False, True, True]
    assert (entry.alive, str(entry.since)) == (True, "0.3.0")


def test_a_name_that_is_gone() -> None:
    entry = SMALL.entry("lib.gone")
    assert entry is not None
    assert (str(entry.last), str(entry.deprecated), str(SMALL.removed(entry))) == ("0.2.0", "0.2.0", "0.3.0")


def test_keywords_and_members_are_entries_but_no_modules() -> None:
    keyword, member = SMALL.entry("lib.f(depth=)"), SMALL.entry("lib.Box.lid")
    assert keyword is not None
    assert member is not None
    assert (keyword.symbol, member.symbol) == ("lib.f(depth=)", "lib.Box.lid")
    assert list(SMALL.sections()) == ["", "lib", "lib.inner"]
    assert not SMALL.is_module("lib.Box")
    assert not SMALL.is_module("lib.f")
    assert SMALL.lost_parameters("lib.f").keys() == {"depth"}


def test_advice_of_a_name_of_its_module_and_of_a_leak() -> None:
    texts = {name: advice.text for name in ("lib.gone", "lib.inner.deep", "lib.os") if (advice := SMALL.advice(name))}
    assert texts == {"lib.gone": "same arguments", "lib.inner.deep": "use lib.outer", "lib.os": "import it yourself"}
    assert SMALL.advice("lib.away") is None


def test_the_target_chooses_the_successor() -> None:
    advice = SMALL.advice("lib.gone")
    assert advice is not None
    chosen = [advice.at(Version.parse(v)) for v in ("0.1.0", "0.2.0", "0.3.0", "0.4.0")]
    assert [s.name for s in chosen if s] == ["lib.old", "lib.old", "lib.newer", "lib.newer"]


def test_private_names_of_the_newest_release() -> None:
    known = history()
    assert known.has_private("jax._src.core.Tracer") is True
    assert known.has_private("jax._src.core") is True
    assert known.has_private("jax._src.core.no_such_thing") is False
    assert known.has_private("jax._src.no_such_module.x") is False
    assert known.has_private("jax._src.core.__file__") is None


def test_the_record_of_private_names_is_read_for_private_names_alone() -> None:
    known = fresh()
    assert known.has_private("jax.__version__") is None
    assert "_private" not in vars(known)
    known.has_private("jax._src")
    assert "_private" in vars(known)


def test_private_names_of_public_modules() -> None:
    known = history()
    assert known.has_private("jax._src") is True
    assert known.has_private("jax.experimental.ode._odeint") is True
    assert known.has_private("jax.random._shuffle") is False
    assert known.has_private("jax._hello") is False
    for not_told in (
        "jax.numpy.array",
        "jax.numpy.array._x",
        "jax.numpy.__all__",
        "jaxlib._anything",
        "jax.experimental.mosaic.x._y",
    ):
        assert known.has_private(not_told) is None, not_told


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("jax.lax._convert_element_type", "jax.lax.convert_element_type"),
        ("jax._src.numpy.lax_numpy.einsum", "jax.numpy.einsum"),
        ("jax._src.numpy.lax_numpy.product", "jax.numpy.product"),
        ("jax._src.lax.parallel.psum", "jax.lax.psum"),
        ("jax._src.api.jit", "jax.jit"),
        ("jax._src.pjit.pjit_p", "jax.experimental.pjit.pjit_p"),
        ("jax.random._shuffle_of_nobody", ""),
        ("jax._src.config.nothing", ""),
        ("jax._hello", ""),
    ],
)
def test_the_public_name_of_a_private_one(private: str, public: str) -> None:
    assert history().public_namesake(private) == public


def test_an_answer_reads_one_section_only() -> None:
    known = fresh()
    assert known.entry("jax.tree_map") is not None
    assert list(known._parsed) == ["jax"]


def test_the_tables_cost_little_more_than_reading_them() -> None:
    plain = min(cpu(read_texts) for _ in range(7))
    asked = min(cpu(lambda: fresh().entry("jax.tree_map")) for _ in range(7))
    assert asked < 40 * plain + 0.02, f"{asked:.4f} s against {plain:.4f} s for the plain read"


def read_texts() -> tuple[str, str]:
    history_text, successors = ((FOLDER / name).read_text("utf-8") for name in ("history.txt", "successors.tsv"))
    return history_text, successors


def fresh() -> History:
    text, successors = read_texts()
    return History((text,), (successors,))


def cpu(action: object) -> float:
    assert callable(action)
    start = time.process_time()
    action()
    return time.process_time() - start


CLEAN = """
import sys
from click.testing import CliRunner
from jaxmigrate.cli import cli
done = CliRunner().invoke(cli, ["rewrite", "--check", sys.argv[1]])
registry = sys.modules.get("jaxmigrate.registry")
print(done.exit_code, registry is None or registry.history.cache_info().currsize)
"""


def test_a_file_without_jax_reads_no_tables(tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text("import numpy as np\n\nprint(np.clip([3], 0, 1))\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", CLEAN, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() in (["0", "True"], ["0", "0"]), done.stdout
