"""What modules of a tree pass to each other: exports are exact or absent, consumption is rather too much."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jaxmigrate.model import ProjectIndex
from jaxmigrate.project import Indexer, build_index, module_name

Build = Callable[[dict[str, str]], ProjectIndex]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def index(files: dict[str, str]) -> ProjectIndex:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(text.encode())
        return build_index((str(tmp_path / name), text.encode()) for name, text in files.items())

    return index


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("p/__init__.py", ("p", True)),
        ("p/a.py", ("p.a", False)),
        ("p/q/__init__.py", ("p.q", True)),
        ("p/q/b.pyi", ("p.q.b", False)),
        ("src/r/__init__.py", ("r", True)),
        ("src/r/c.py", ("r.c", False)),
        ("script.py", ("script", False)),
        ("p/data/notes.py", ("notes", False)),
        pytest.param("p/data/jax/ffi.py", ("data.jax.ffi", False), id="not-jax-itself"),
    ],
)
def test_module_name_follows_the_chain_of_init_files(tmp_path: Path, path: str, name: tuple[str, bool]) -> None:
    for file in ("p/__init__.py", "p/q/__init__.py", "src/r/__init__.py", "p/data/jax/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert module_name(str(tmp_path / path)) == name


def exported(build: Build, source: str) -> dict[str, str]:
    return build({"m.py": source, "user.py": "from m import *\n"}).exports.get("m", {})


@pytest.mark.parametrize(
    ("source", "exports"),
    [
        ("from jax.numpy import DeviceArray\n", {"DeviceArray": "jax.numpy.DeviceArray"}),
        ("from jax.numpy import DeviceArray as DA, ndarray\n", {"DA": "jax.numpy.DeviceArray", "ndarray": "jax.numpy.ndarray"}),
        ("from jax.a import (\n    X,  # one (1)\n    Y as Z,\n)\n", {"X": "jax.a.X", "Z": "jax.a.Y"}),
        ("from jax.a import X, \\\n    Y\n", {"X": "jax.a.X", "Y": "jax.a.Y"}),
        ("from jax.a import X; y = 1\n", {"X": "jax.a.X"}),
        ("import jax.numpy as jnp\n", {"jnp": "jax.numpy"}),
        ("import jax, jax.numpy\nif x:\n    from jax import lax\n", {"jax": "jax"}),
        ("if x:\n    import jax\n", {}),
        ("import jax\nA = jax.numpy.DeviceArray\n", {"jax": "jax", "A": "jax.numpy.DeviceArray"}),
        ("import jax.numpy as jnp, os\nA = jnp.DeviceArray  # the type\n", {"jnp": "jax.numpy", "A": "jax.numpy.DeviceArray"}),
        ("import jax.numpy as jnp\r\nA: type = jnp.DeviceArray\r\n", {"jnp": "jax.numpy", "A": "jax.numpy.DeviceArray"}),
        ("from jax import numpy\nA = numpy.DeviceArray\n", {"numpy": "jax.numpy", "A": "jax.numpy.DeviceArray"}),
    ],
)
def test_exports(build: Build, source: str, exports: dict[str, str]) -> None:
    assert exported(build, source) == exports


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    from jax import A\nexcept ImportError:\n    from jax.x import A\n",
        "from jax import A\ntry:\n    A = B\nexcept NameError:\n    pass\n",
        "from jax import A\nfrom jax.x import A\n",
        "from jax import A\nclass A: ...\n",
        "from jax import A\nif old: A = None\n",
        "import jax\nA = jax.x.A\nA = jax.y.A\n",
        "import jax\nA = jax.x.A if jax else None\n",
        "import jax\nA = jax.make()\n",
        "from numpy import A\n",
        "from jaxlib import A\n",
        "from jaxtyping import A\n",
        "def f():\n    from jax import A\n",
        "class C:\n    import jax.numpy as A\n",
        "#from jax import A\n",
    ],
)
def test_doubtful_name_is_not_exported(build: Build, source: str) -> None:
    assert "A" not in exported(build, source)


def test_names_are_followed_through_modules(build: Build) -> None:
    index = build(
        {
            "src/p/__init__.py": "from .compat import DA as Array\nfrom p.sub import *\n",
            "src/p/compat.py": "from jax.numpy import DeviceArray as DA\n",
            "tests/test_p.py": "from p import Array\n",
            "src/p/sub/__init__.py": "from ..compat import DA\nfrom jax.experimental.pjit import pjit as _private\n",
        }
    )
    assert index.exports["p"] == {"Array": "jax.numpy.DeviceArray", "DA": "jax.numpy.DeviceArray"}


def test_modules_of_the_same_name_export_nothing(build: Build) -> None:
    index = build({"a/utils.py": "from jax import A\n", "b/utils.py": "from jax.x import A\n", "c.py": "from utils import A\n"})
    assert index.exports == {}


def consumed(build: Build, consumer: str, path: str = "p/user.py") -> frozenset[str]:
    files = {"p/__init__.py": "", "p/compat.py": "from jax.x import A, B\n", path: consumer}
    return build(files).consumed.get("p.compat", frozenset())


@pytest.mark.parametrize(
    "consumer",
    [
        "from .compat import A\n",
        "from p.compat import (A as C)\n",
        "def f():\n    from p.compat import A\n",
        "try:\n    from p.compat import A\nexcept ImportError: pass\n",
        "from . import compat\ncompat.A\n",
        "from p import compat as c\nx = c.A\n",
        "import p.compat\np.compat.A()\n",
        "import p.compat as c\nprint(c.A)\n",
        "from compat import A\n",
        "from src.p.compat import A\n",
        "mock.patch('p.compat.A')\n",
        'importlib.import_module("p.compat").A\n',
        "getattr(importlib.import_module('p.compat'), 'A')\n",
        "import sys\nsys.modules['p.compat'].A\n",
        "from p import compat\nmock.patch.object(compat, 'A', None)\n",
        "def test(monkeypatch):\n    monkeypatch.setattr('p.compat.A', None)\n",
    ],
)
def test_name_that_another_module_takes_is_consumed(build: Build, consumer: str) -> None:
    assert consumed(build, consumer) == {"A"}


def test_star_takes_all(build: Build) -> None:
    assert consumed(build, "from .compat import *\n") == {"A", "B", "*"}


def test_tests_beside_the_package_take_from_it(build: Build) -> None:
    assert consumed(build, "from p.compat import B\n", "tests/test_p.py") == {"B"}


@pytest.mark.parametrize(
    "consumer",
    [
        "from .other import A\n",
        "import other\nother.A\n",
        "x.compat.A\n",
        "from p.compatible import A\n",
        "mock.patch('p.other.A')\n",
        "mock.patch('p.compatible.A')\n",
    ],
)
def test_name_from_elsewhere_is_not_consumed(build: Build, consumer: str) -> None:
    assert consumed(build, consumer) == frozenset()


def test_relative_import_beyond_the_top_is_ignored(build: Build) -> None:
    assert consumed(build, "from ....x import A\nfrom ... import compat\n") == frozenset()


def takers(tmp_path: Path, files: dict[str, str], hits: set[str]) -> set[str]:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    indexer = Indexer(lambda path: Path(path).read_bytes(), lambda qualified: b"Old" in qualified)
    for name in sorted(hits):
        indexer.add(str(tmp_path / name), files[name].encode())
    _, found = indexer.of_project([str(tmp_path / name) for name in hits], [])
    return {str(Path(path).relative_to(tmp_path)) for path in found}


def test_files_that_take_a_migrated_name_are_found_through_each_other(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "",
        "p/__init__.py": "from .types import Short\nfrom .more import *\n",
        "p/types.py": "from jax.x import Old as Short, New\n",
        "p/more.py": "from .types import Short as Shorter\n",
        "p/alias.py": "import p.types as t\nShortest = t.Short\n",
        "p/direct.py": "from p.types import Short\n",
        "p/attribute.py": "from . import types\nisinstance(x, types.Short)\n",
        "tests/a.py": "from p import Short\n",
        "tests/b.py": "import p\np.Shorter\n",
        "tests/c.py": "from p.alias import Shortest\n",
        "p/new.py": "from p.types import New\n",
        "p/other.py": "from .others import Short\nfrom . import direct\n",
        "p/none.py": "Short = 1\nfrom p import types\ntypes.New\n",
    }
    found = takers(tmp_path, files, {"p/types.py"})
    assert found == {
        "p/__init__.py",
        "p/more.py",
        "p/alias.py",
        "p/direct.py",
        "p/attribute.py",
        "tests/a.py",
        "tests/b.py",
        "tests/c.py",
    }


def test_names_assigned_from_jax_are_passed_on_too(tmp_path: Path) -> None:
    files = {
        "setup.py": "",
        "p/__init__.py": "",
        "p/types.py": "from jax import x\nShort = x.Old  # short\nAnother: type = x.Old\nCalled = x.Old()\n",
        "p/a.py": "from .types import Short\n",
        "p/b.py": "from .types import Called\n",
    }
    assert takers(tmp_path, files, {"p/types.py"}) == {"p/a.py"}


def test_names_of_the_library_that_a_module_assigns_are_known(build: Build) -> None:
    text = "import jax\nfrom jax import core as c\njax.new = 1\nif x:\n    c.other = 2\nsetattr(jax.nn, 'third', f)\nx.y = 3\njax.no == 4\n"
    assert build({"a.py": text}).patched == {"jax.new", "jax.core.other", "jax.nn.third"}


def test_names_that_get_their_successor_are_told_from_those_that_get_something_else(build: Build) -> None:
    text = "import jax\njax.a = jax.b.c\njax.d = mine\nsetattr(jax, 'e', jax.f)\nsetattr(jax, 'g', f)\njax.h = jax.i(mine)\n"
    assert build({"a.py": text}).replaced == {"jax.d", "jax.g", "jax.h"}


def test_modules_that_are_only_passed_on_are_followed(tmp_path: Path) -> None:
    files = {
        "setup.py": "",
        "p/__init__.py": "",
        "p/compat.py": "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n\nzero = lax.zeros\n",
        "p/a.py": "from .compat import jnp as np\n",
        "p/b.py": "from . import compat\ncompat.jax.f()\n",
        "p/c.py": "import p.compat\np.compat.jnp.f()\n",
        "p/d.py": "from .compat import zero\n",
        "p/e.py": "from .compat import lax\n",
    }
    assert takers(tmp_path, files, {"p/compat.py"}) == {"p/a.py", "p/b.py", "p/c.py"}


@pytest.mark.parametrize("taken", ["from . import compat\n", "import p.compat\n", "from p import compat as c\n"])
def test_what_a_module_that_is_imported_as_a_whole_exports_is_known(build: Build, taken: str) -> None:
    files = {"p/__init__.py": "", "p/compat.py": "import jax\nimport jax.numpy as jnp\n", "p/user.py": taken}
    assert build(files).exports == {"p.compat": {"jax": "jax", "jnp": "jax.numpy"}}
