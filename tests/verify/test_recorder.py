"""The recorder runs a program as Python would, and writes what the marked places gave."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import jaxmigrate.verify.recorder as recorder

RECORDER = Path(recorder.__file__)
Record = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A place to mark, named by its text."""

    kind: str
    text: str
    names: tuple[str, ...] = ()
    nth: int = 0

    def site(self, number: int, source: str) -> Record:
        return {"id": number, "kind": self.kind, "span": span(source, self.text, self.nth), "names": list(self.names)}


def value(text: str, nth: int = 0) -> Place:
    return Place("value", text, nth=nth)


def watch(text: str) -> Place:
    return Place("watch", text)


def statement(text: str, *names: str) -> Place:
    return Place("statement", text, names)


def span(source: str, text: str, nth: int = 0) -> list[int]:
    """Where a text lies, in the coordinates of `ast`."""
    start = -1
    for _ in range(nth + 1):
        start = source.index(text, start + 1)
    before, inside = source[:start], source[: start + len(text)]
    return [*_position(before), *_position(inside)]


def _position(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text.rpartition("\n")[2].encode())


@dataclass
class Outcome:
    records: list[Record]
    status: int
    stdout: str
    stderr: str

    def of(self, event: str, site: int | None = None) -> list[Record]:
        return [r for r in self.records if r["e"] == event and (site is None or r["s"] == site)]

    def values(self, site: int, event: str = "hit") -> list[Record]:
        return [r["v"] for r in self.of(event, site)]

    @property
    def end(self) -> Record:
        (end,) = self.of("end")
        return end

    @property
    def final(self) -> Record:
        (final,) = self.of("final")
        found: Record = final["v"]
        return found


@dataclass
class Bench:
    """A tree to run programs in."""

    root: Path
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=dict)

    def job(self, files: dict[str, str], places: Sequence[Place | tuple[str, Place]] = (), **job: Any) -> Path:
        target = job.setdefault("target", next(iter(files)))
        for name, text in files.items():
            path = self.root / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        sites: dict[str, list[Record]] = {}
        for number, place in enumerate(places):
            name, wanted = place if isinstance(place, tuple) else (target, place)
            sites.setdefault(name, []).append(wanted.site(number, files[name]))
        tree = str(self.root / "tree")
        whole = {"program": "script", "root": tree, "cwd": tree, "world": "plain", "devices_per_process": 8, "platform": "cpu"}
        whole.update(job, sites=sites, records=str(self.root / "records"))
        (self.root / "records").unlink(missing_ok=True)
        path = self.root / "job.json"
        path.write_text(json.dumps(whole))
        return path

    def env(self) -> dict[str, str]:
        ours = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
        return {**os.environ, **ours, **self.environment}

    def run(self, source: str | dict[str, str], places: Sequence[Place | tuple[str, Place]] = (), **job: Any) -> Outcome:
        files = {"main.py": source} if isinstance(source, str) else source
        path = self.job({name: textwrap.dedent(text) for name, text in files.items()}, places, **job)
        return self.finish([self.python, str(RECORDER), str(path)], self.root / "tree")

    def plain(self, *arguments: str) -> Outcome:
        return self.finish([self.python, *arguments], self.root / "tree")

    def finish(self, command: list[str], cwd: Path) -> Outcome:
        done = subprocess.run(
            command, cwd=cwd, env=self.env(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
        )
        return Outcome(self.records(), done.returncode, done.stdout, done.stderr)

    def records(self) -> list[Record]:
        path = self.root / "records"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def scalar(described: Record) -> Any:
    assert described["k"] == "scalar"
    return described["v"]


def array_of(digest: Record, shape: Sequence[int]) -> Any:
    return np.frombuffer(base64.b64decode(digest["b"]), digest["dtype"]).reshape(shape)


JAX = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
def put(x, *spec): return jax.device_put(x, NamedSharding(mesh, P(*spec)))
"""


KINDS: list[tuple[str, Record]] = [
    ("jnp.float32(3)", {"k": "array", "shape": [], "dtype": "float32", "weak": False, "committed": False, "replicated": True}),
    ("jnp.asarray(3.0)", {"k": "array", "weak": True}),
    ("jnp.zeros((0, 3))", {"k": "array", "shape": [0, 3]}),
    ("jnp.ones(3, jnp.bfloat16)", {"k": "array", "dtype": "bfloat16"}),
    ("jnp.ones(3, jnp.float8_e4m3fn)", {"k": "array", "dtype": "float8_e4m3fn"}),
    ("jnp.ones(3, jnp.int4)", {"k": "array", "dtype": "int4"}),
    ("jnp.ones(3, complex)", {"k": "array", "dtype": "complex64"}),
    ("jnp.ones(3, bool)", {"k": "array", "dtype": "bool"}),
    ("jax.random.split(jax.random.key(0), 4)", {"k": "array", "shape": [4], "dtype": "key<fry>", "type": "PRNGKeyArray"}),
    ("put(jax.random.split(jax.random.key(0), 4), 'x')", {"k": "array", "shape": [4], "dtype": "key<fry>"}),
    ("np.float64(2)", {"k": "ndarray", "shape": [], "dtype": "float64"}),
    ("np.arange(6).reshape(2, 3).T", {"k": "ndarray", "shape": [3, 2]}),
    ("np.array([1, 2], '>i4')", {"k": "ndarray", "dtype": "int32"}),
    ("np.array(['a', None], object)", {"k": "ndarray", "dtype": "object", "v": None}),
    ("np.ma.masked_array([1, 2], [0, 1])", {"k": "ndarray", "shape": [2]}),
    ("3", {"k": "scalar", "t": "int", "v": 3}),
    ("float('nan')", {"k": "scalar", "t": "float", "v": "nan"}),
    ("1 - 2j", {"k": "scalar", "t": "complex", "v": ["1.0", "-2.0"]}),
    ("b'ab'", {"k": "scalar", "t": "bytes", "v": "YWI="}),
    ("'\\ud800'", {"k": "scalar", "t": "str", "v": "\ud800"}),
    ("None", {"k": "scalar", "t": "none"}),
    ("...", {"k": "scalar", "t": "ellipsis"}),
    ("10 ** 9000", {"k": "scalar", "t": "int"}),
    ("slice(None, np.int64(3))", {"k": "slice", "v": [None, 3, None]}),
    ("{1, 2}", {"k": "set", "n": 2}),
    ("range(3)", {"k": "seq", "t": "range", "n": 3}),
    ("list(range(1000))", {"k": "seq", "n": 1000}),
    ("jax.devices()[3]", {"k": "device", "id": 3, "p": 0}),
    ("mesh", {"k": "mesh", "axes": [["x", 4], ["y", 2]], "devices": list(range(8))}),
    ("mesh.abstract_mesh", {"k": "mesh", "axes": [["x", 4], ["y", 2]], "devices": None}),
    ("P('x', None, ('x', 'y'), ())", {"k": "spec", "v": ["x", None, ["x", "y"], None]}),
    ("NamedSharding(mesh, P('x'))", {"k": "sharding", "type": "NamedSharding", "spec": ["x"]}),
    ("jax.sharding.SingleDeviceSharding(jax.devices()[2])", {"k": "sharding", "devices": [2], "mesh": None}),
    ("np.dtype('f4')", {"k": "dtype", "v": "float32"}),
    ("jnp.dtype(jnp.bfloat16)", {"k": "dtype", "v": "bfloat16"}),
    ("jax.ShapeDtypeStruct((2,), 'f4')", {"k": "abstract", "shape": [2], "dtype": "float32"}),
    ("ValueError('x')", {"k": "exception", "type": "ValueError", "message": "x"}),
    ("int", {"k": "opaque", "t": "class", "v": "builtins.int"}),
    ("np", {"k": "opaque", "t": "module", "v": "numpy"}),
    ("(i for i in 'ab')", {"k": "opaque", "t": "object", "v": "builtins.generator"}),
    ("iter([1])", {"k": "opaque", "t": "object"}),
    ("jax.jit(put)", {"k": "opaque", "t": "function", "v": "__main__.put"}),
    ("__import__('functools').partial(put, 1)", {"k": "opaque", "t": "function", "v": "__main__.put"}),
    ("put(jnp.zeros(8), 'x').addressable_shards[1]", {"k": "shard", "d": 1, "i": [[0, 2]], "r": 1}),
    ("__import__('enum').Enum('E', 'A').A", {"k": "opaque", "t": "object", "v": "__main__.E.A"}),
]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """What is recorded of each expression; all in one program."""
    bench = Bench(tmp_path_factory.mktemp("kinds"))
    source = JAX + "".join(f"v{n} = [{expression}]\n" for n, (expression, _) in enumerate(KINDS))
    out = bench.run(
        source,
        [
            value(f"[{expression}]", source[: source.index(f"v{n} = ")].count(f"[{expression}]"))
            for n, (expression, _) in enumerate(KINDS)
        ],
    )
    assert out.status == 0, out.stderr
    return {expression: out.values(n)[0]["v"][0] for n, (expression, _) in enumerate(KINDS)}


class TestValues:
    def test_sharded_array_says_which_device_holds_which_index(self, bench: Bench) -> None:
        out = bench.run(
            JAX + 'a = put(np.arange(32., dtype="f").reshape(8, 4), "x")\n',
            [value('put(np.arange(32., dtype="f").reshape(8, 4), "x")')],
        )
        (found,) = out.values(0)
        assert (found["shape"], found["dtype"], found["weak"], found["committed"]) == ([8, 4], "float32", False, True)
        assert (found["addressable"], found["replicated"], found["local"]) == (True, False, None)
        assert [(s["d"], s["i"], s["r"]) for s in found["shards"][:3]] == [
            (0, [[0, 2], [0, 4]], 0),
            (1, [[0, 2], [0, 4]], 1),
            (2, [[2, 4], [0, 4]], 0),
        ]
        whole = np.arange(32, dtype="<f4").reshape(8, 4)
        assert found["v"]["h"] == hashlib.sha1(whole.tobytes()).hexdigest()
        assert found["shards"][2]["v"]["h"] == hashlib.sha1(whole[2:4].tobytes()).hexdigest()
        assert (array_of(found["v"], (8, 4)) == whole).all()

    def test_two_dimensions_are_put_together(self, bench: Bench) -> None:
        out = bench.run(JAX + 'a = put(np.arange(32).reshape(8, 4), "y", "x")\n')
        found = out.final["a"]
        assert (array_of(found["v"], (8, 4)) == np.arange(32).reshape(8, 4)).all()
        assert [s["i"] for s in found["shards"]] == [[[4 * (d % 2), 4 * (d % 2) + 4], [d // 2, d // 2 + 1]] for d in range(8)]

    @pytest.mark.parametrize(("expression", "expected"), KINDS)
    def test_kinds(self, kinds: dict[str, Record], expression: str, expected: Record) -> None:
        found = kinds[expression]
        assert {key: found.get(key) for key in expected} == expected

    def test_trees(self) -> None:
        import dataclasses
        import typing

        @dataclasses.dataclass
        class State:
            step: int
            rest: Any = None

        class Pair(typing.NamedTuple):
            a: int
            b: int

        found = recorder.describe({"s": State(1), "p": Pair(1, 2), "d": {3: [None]}})
        by_key = {scalar(key): item for key, item in found["v"]}
        assert by_key["s"]["k"] == "record"
        assert scalar(by_key["s"]["v"]["step"]) == 1
        assert {name: scalar(v) for name, v in by_key["p"]["v"].items()} == {"a": 1, "b": 2}
        assert by_key["d"]["k"] == "map"

    def test_registered_trees_are_looked_into(self) -> None:
        jax = pytest.importorskip("jax")

        class Box:
            def __init__(self, inside: Any) -> None:
                self.inside = inside

        jax.tree_util.register_pytree_node(Box, lambda box: ((box.inside,), None), lambda _, inside: Box(*inside))
        found = recorder.describe(Box(7))
        assert found["k"] == "record"
        assert scalar(found["v"]["0"]) == 7

    def test_a_structure_that_holds_itself_is_cut(self) -> None:
        loop: list[Any] = [1]
        loop.append(loop)
        assert recorder.describe(loop)["v"][1] == {"k": "cut"}

    @pytest.mark.parametrize("kind", [list, tuple, set, dict])
    def test_items_that_are_not_written_down_are_hashed(self, kind: Any) -> None:
        def described(items: Any) -> Record:
            made = dict.fromkeys(items, 1) if kind is dict else kind(items)
            return recorder.describe(made)

        one, same, other = described(range(1000)), described(range(1000)), described([*range(999), 5000])
        assert one == same
        assert one["h"] != other["h"]
        assert one["v"][:3] == other["v"][:3] or kind is set
        assert "h" not in described(range(256))

    def test_nesting_is_cut(self) -> None:
        deep: Any = 1
        for _ in range(3000):
            deep = [deep]
        assert '{"k": "cut"}' in json.dumps(recorder.describe(deep))

    def test_much_text_is_cut(self) -> None:
        found = recorder.describe(["x" * 60000] * 200)
        assert len(json.dumps(found)) < 2 * recorder.MAX_VALUE
        assert recorder.describe("x" * 100000)["n"] == 100000

    def test_nothing_of_an_unknown_object_is_called(self) -> None:
        touched = []

        class Hostile:
            def __getattribute__(self, name: str) -> Any:
                touched.append(name)
                raise SystemExit(3)

            def _called(self, *_: object) -> Any:
                touched.append("called")
                raise SystemExit(3)

            __eq__ = __len__ = __iter__ = __bool__ = __hash__ = __repr__ = __str__ = _called  # type: ignore[assignment]

        class HostileList(list):  # type: ignore[type-arg]
            __iter__ = __len__ = __getitem__ = Hostile._called  # type: ignore[assignment]

        class HostileDict(dict):  # type: ignore[type-arg]
            items = __iter__ = __len__ = keys = Hostile._called  # type: ignore[assignment]

        assert recorder.describe(Hostile())["k"] == "opaque"
        assert recorder.describe(HostileList([1]))["n"] == 1
        assert recorder.describe(HostileDict(a=1))["n"] == 1
        assert not touched

    def test_an_exception_whose_text_raises(self) -> None:
        class Bad(KeyError):
            def __str__(self) -> str:
                raise RuntimeError

        found = recorder.exception(Bad("x"))
        assert (found["type"], found["family"], found["message"]) == ("Bad", "KeyError", "")

    @pytest.mark.parametrize("hashed", [True, False])
    def test_slabs_give_the_digest_of_the_whole(self, monkeypatch: pytest.MonkeyPatch, hashed: bool) -> None:
        monkeypatch.setattr(recorder, "MAX_WHOLE", 4096)
        whole = np.arange(7 * 30 * 11, dtype="f4").reshape(7, 30, 11)
        places = [(slice(0, 4), slice(0, 30)), (slice(4, 7), slice(0, 13)), (slice(4, 7), slice(13, 30))]
        pieces = [recorder._Piece(None, recorder.bounds(p, whole.shape), 0, None) for p in places]
        values = [np.ascontiguousarray(whole[p]) for p in places]
        assert recorder._slabs(whole.shape, pieces, values, hashed) == recorder.digest(whole, hashed)

    @pytest.mark.parametrize(
        "array", [np.arange(5000)[::-2], np.arange(6000).reshape(60, 100).T, np.zeros((0, 3)), np.float32(1), np.array(b"")]
    )
    def test_the_digest_is_that_of_c_order(self, array: Any) -> None:
        array = np.asarray(array)
        found = recorder.digest(array)
        assert found["h"] == hashlib.sha1(array.tobytes()).hexdigest()
        assert found["all"] == (array.size <= 1024)
        flat = np.ascontiguousarray(array).reshape(-1)
        expected = flat if found["all"] else flat[np.arange(1024) * flat.size // 1024]
        assert base64.b64decode(found["b"]) == expected.tobytes()

    @pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "bfloat16", "float8_e4m3fn"])
    def test_one_changed_element_between_the_samples_shows(self, dtype: str) -> None:
        pytest.importorskip("ml_dtypes")
        array = np.linspace(-1, 1, 100_000).astype(np.dtype(dtype))
        before = recorder.digest(array)
        array[50_001] = 3
        after = recorder.digest(array)
        assert before["b"] == after["b"]
        parts = len(before["m"])
        assert parts == 12
        assert [k for k in range(parts) if before["m"][k] != after["m"][k]] == [50_001 * parts // 100_000]
        array[7] = np.nan
        assert recorder.digest(array)["m"][0][4] == 1

    def test_the_digest_of_a_large_array_is_cheap_when_it_comes_often(self) -> None:
        found = recorder.digest(np.ones((3000, 2000), "f4").T, hashed=False)
        assert (found["h"], found["n"], found.get("m")) == (None, 6_000_000, None)
        assert len(base64.b64decode(found["b"])) == 4096

    def test_deleted_and_donated_arrays(self, bench: Bench) -> None:
        out = bench.run(JAX + "a = jnp.ones(8)\nb = jnp.ones(9)\nb.delete()\nc = jax.jit(lambda x: x + 1, donate_argnums=0)(a)\n")
        assert (out.final["a"], out.final["b"], out.final["c"]["k"]) == ({"k": "deleted"}, {"k": "deleted"}, "array")


class TestTheProgramDoesNotNotice:
    def test_donation_live_arrays_and_caches(self, bench: Bench) -> None:
        source = JAX + textwrap.dedent("""
            import gc
            a = put(jnp.arange(64.), "x")
            gc.collect(); before = len(jax.live_arrays())
            b = (a)
            gc.collect(); after = len(jax.live_arrays())
            c = jnp.ones(1000)
            pointer = c.unsafe_buffer_pointer()
            d = jax.jit(lambda x: x + 1, donate_argnums=0)(c)
            same = d.unsafe_buffer_pointer() == pointer
            cached = d._npy_value is None
            """)
        text = textwrap.dedent(source)
        out = bench.run(text, [value("a", text.index("(a)") and text[: text.index("(a)")].count("a")), value("jnp.ones(1000)")])
        assert [out.values(0)[0]["k"], out.values(1)[0]["k"]] == ["array", "array"]
        assert scalar(out.final["before"]) == scalar(out.final["after"])
        assert scalar(out.final["same"]) is True
        assert scalar(out.final["cached"]) is True

    def test_the_random_state_warnings_and_transfer_guard(self, bench: Bench) -> None:
        source = JAX + textwrap.dedent("""
            import warnings; warnings.simplefilter("error")
            import random
            random.seed(1); np.random.seed(1)
            with jax.transfer_guard("disallow"):
                a = put(jnp.arange(8), "x") if False else jnp_ones
            r = [random.random(), np.random.rand()]
            """).replace("jnp_ones", "ones").replace("import random\n", "import random; ones = jnp.ones(3)\n")
        out = bench.run(source, [value('put(jnp.arange(8), "x") if False else ones')])
        assert out.status == 0, out.stderr
        assert out.values(0)[0]["k"] == "array"
        import random

        assert scalar(out.final["r"]["v"][0]) == repr(random.Random(1).random())

    def test_the_users_signal_reaches_the_user(self) -> None:
        class Slow:
            def __init__(self) -> None:
                self.inside = 1

        jax = pytest.importorskip("jax")
        jax.tree_util.register_pytree_node(Slow, lambda _: time.sleep(5), lambda *_: Slow())

        def alarm(*_: object) -> None:
            raise TimeoutError

        previous = signal.signal(signal.SIGALRM, alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            with pytest.raises(TimeoutError):
                recorder.describe([Slow()])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    def test_traceback_lines_and_columns(self, bench: Bench) -> None:
        source = textwrap.dedent("""
            def inner(x):
                return {"a": 1}[x]

            def outer(x):
                value = [1,
                    2 + inner(
                        x)]
                return value

            class A:
                @property
                def p(self):
                    return outer("b")

            def generator():
                yield 1
                yield A().p

            try:
                list(generator())
            except KeyError as error:
                raise RuntimeError("again") from error
            """)
        places = [
            value('{"a": 1}[x]'),
            value("inner(\n            x)"),
            value('outer("b")'),
            value("A().p"),
            value("list(generator())"),
            statement("value = [1,\n        2 + inner(\n            x)]", "value"),
        ]
        out = bench.run(source, places)
        assert {r["s"] for r in out.of("raise")} == set(range(6))
        assert not out.of("lost")
        plain = bench.plain("main.py")
        assert "^" in plain.stderr or sys.version_info < (3, 11)
        assert out.stderr == plain.stderr
        assert (out.status, out.stdout) == (plain.status, plain.stdout)

    def test_the_module_is_a_script_like_any(self, bench: Bench) -> None:
        source = '''
            """The docstring."""
            from __future__ import annotations
            import inspect, linecache, pickle, sys, functools, dataclasses, copy, locale
            def f(a, b=2):
                """Of f."""
                return a + b
            g = functools.wraps(f)(lambda *a: f(*a))
            @dataclasses.dataclass
            class D:
                """Of D."""
                x: int = 3
                def m(self): return __class__.__name__
            class E(D):
                def m(self): return super().m() + "!"
            print(__doc__, f.__doc__, D.__doc__, D(), E().m(), D.__annotations__)
            print(inspect.getsource(f), inspect.getsource(D), inspect.signature(g), linecache.getline(__file__, 3))
            print(pickle.loads(pickle.dumps(f)) is f, pickle.loads(pickle.dumps(D(4))), copy.copy(f) is f)
            print(__name__, __file__, __package__, __spec__, type(__loader__), __builtins__, sorted(globals()))
            print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
            del D
            x = 1
            def h():
                global x
                x = 2
                y = 3
                def k():
                    nonlocal y
                    y += 1
                    return y
                return k(), sorted(locals())
            print(h(), x)
        '''
        places = [
            value("functools.wraps(f)(lambda *a: f(*a))"),
            value("a + b"),
            value("__class__.__name__"),
            value('super().m() + "!"'),
            value("k()", 1),
            value("sorted(locals())"),
        ]
        out = bench.run(source, places, args=["-x", "1"])
        assert not out.of("lost")
        assert all(out.of("hit", n) for n in range(6) if n != 1)
        plain = bench.plain("main.py", "-x", "1")
        assert (out.stdout, out.stderr, out.status) == (plain.stdout, plain.stderr, plain.status)

    def test_a_module_is_run_as_with_dash_m(self, bench: Bench) -> None:
        files = {
            "pkg/__init__.py": "",
            "pkg/__main__.py": "import sys\nfrom . import other\nprint(__name__, __package__, __spec__.name, __file__, sys.argv, sys.path[0], other.x)\n",
            "pkg/other.py": "x = 1 + 1\n",
        }
        out = bench.run(files, [("pkg/other.py", value("1 + 1"))], program="module", target="pkg", args=["a"])
        plain = bench.plain("-m", "pkg", "a")
        assert (out.stdout, out.stderr, out.status) == (plain.stdout, plain.stderr, plain.status)
        assert scalar(out.values(0)[0]) == 2
        assert {r["path"] for r in out.of("load")} == {"pkg/__init__.py", "pkg/__main__.py", "pkg/other.py"}

    def test_a_path_is_run_by_the_program(self, bench: Bench) -> None:
        files = {
            "main.py": "import runpy, sys\nx = runpy.run_path('other.py', run_name='__main__')['y']\n",
            "other.py": "y = 1 + 1\nprint(__name__, __file__)\n",
        }
        out = bench.run(files, [("other.py", value("1 + 1"))])
        assert (out.stdout, scalar(out.final["x"])) == (bench.plain("main.py").stdout, 2)
        assert [scalar(v) for v in out.values(0)] == [2]

    def test_a_module_that_is_not_there(self, bench: Bench) -> None:
        out = bench.run({"a.py": ""}, program="module", target="nothing")
        plain = bench.plain("-m", "nothing")
        assert (out.stdout, out.stderr, out.status) == (plain.stdout, plain.stderr, plain.status)

    def test_the_program_s_modules_hide_those_of_the_standard_library(self, bench: Bench) -> None:
        files = {
            "main.py": "import copy, base64, json\nx = copy.mine, base64.mine, json.loads('1')\n",
            "copy.py": "mine = 1\n",
            "base64.py": "mine = 2\n",
        }
        files["json/data.txt"] = ""
        out = bench.run(files)
        assert [scalar(v) for v in out.final["x"]["v"]] == [1, 2, 1], out.stderr

    def test_no_bytecode_of_marked_files_is_kept(self, bench: Bench) -> None:
        bench.environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": ""}
        files = {"main.py": "import other, plain\n", "other.py": "x = 1 + 1\n", "plain.py": "y = 1\n"}
        bench.run(files, [("other.py", value("1 + 1"))])
        kept = {path.name.partition(".")[0] for path in (bench.root / "tree").rglob("*.pyc")}
        assert kept == {"plain"}

    @pytest.mark.parametrize(
        ("ending", "status", "printed"),
        [
            ("pass", 0, ""),
            ("sys.exit()", 0, ""),
            ("sys.exit(3)", 3, ""),
            ("sys.exit(300)", 44, ""),
            ("sys.exit('bye')", 1, "bye\n"),
            ("sys.exit(None)", 0, ""),
            ("raise SystemExit([1])", 1, "[1]\n"),
            ("import threading; threading.Thread(target=lambda: time.sleep(0.2) or print('late')).start()", 0, ""),
            ("from concurrent.futures import ThreadPoolExecutor as T; t = T(2); print(t.submit(len, 'ab').result())", 0, ""),
            ("import threading; threading.Thread(target=lambda: time.sleep(0.3) or globals().update(x=1)).start(); x = 2", 0, ""),
            ("import atexit; atexit.register(print, 'over')", 0, ""),
            ("sys.stdout.close()", 0, ""),
            ("os.closerange(3, 1000)", 0, ""),
            ("sys.excepthook = lambda *a: print('hook'); 1 / 0", 1, ""),
            ("import signal; signal.signal(signal.SIGTERM, lambda *a: sys.exit(5)); os.kill(os.getpid(), signal.SIGTERM)", 5, ""),
        ],
    )
    def test_ways_to_end(self, bench: Bench, ending: str, status: int, printed: str) -> None:
        out = bench.run(f"import os, sys, time\nx = 1\n{ending}\n", [value("1")])
        plain = bench.plain("main.py")
        assert (out.stdout, out.stderr, out.status) == (plain.stdout, plain.stderr, plain.status)
        assert out.end["status"] == status == out.status
        assert scalar(out.final["x"]) == 1

    def test_an_interrupt_ends_by_the_signal(self, bench: Bench) -> None:
        # a job that a shell put into the background hands down that the signal is ignored
        handled = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        out = bench.run(f"{handled}os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(9)\n")
        plain = bench.plain("main.py")
        assert out.status == plain.status == -signal.SIGINT
        assert out.stderr == plain.stderr
        assert out.end["x"]["type"] == "KeyboardInterrupt"

    @pytest.mark.parametrize("ending", ["os._exit(3)", "os.kill(os.getpid(), 9)", "os.abort()"])
    def test_what_was_recorded_survives_a_crash(self, bench: Bench, ending: str) -> None:
        out = bench.run(f"import os\nx = 1 + 1\n{ending}\n", [value("1 + 1")])
        assert scalar(out.values(0)[0]) == 2
        assert not out.of("end")
        assert out.status != 0

    def test_children_record_nothing(self, bench: Bench) -> None:
        source = """
            import multiprocessing, os, sys
            def f(x): return x + 1
            if __name__ == "__main__":
                pid = os.fork()
                if pid == 0:
                    f(10)
                    sys.exit(7)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                for way in ("fork", "spawn"):
                    with multiprocessing.get_context(way).Pool(1) as pool:
                        print(pool.map(f, [1, 2]))
                f(5)
        """
        out = bench.run(source, [value("x + 1")])
        assert out.stdout == "7\n[2, 3]\n[2, 3]\n", out.stderr
        assert [scalar(v) for v in out.values(0)] == [6]
        assert len(out.of("start")) == len(out.of("end")) == 1

    def test_closing_all_files_does_not_write_into_the_users(self, bench: Bench) -> None:
        source = """
            import os
            os.closerange(3, 1000)
            files = [os.open("f%d" % i, os.O_CREAT | os.O_RDWR) for i in range(300)]
            x = 1 + 1
            print(sum(os.fstat(f).st_size for f in files))
        """
        out = bench.run(source, [value("1 + 1")])
        assert out.stdout == "0\n"
        assert len(out.values(0)) == 1


class TestPlaces:
    CASES: ClassVar = {
        "await": (
            "import asyncio\nasync def g(): return 3\nasync def f(): return await g()\nx = asyncio.run(f())\n",
            "await g()",
            3,
        ),
        "yield": (
            "def f():\n    y = yield 1\n    return y\ng = f(); next(g)\ntry: g.send(5)\nexcept StopIteration as e: x = e.value\n",
            "yield 1",
            5,
        ),
        "walrus": ("if (y := 4) > 3: x = y\n", "y := 4", 4),
        "comprehension": ("x = [i * 2 for i in [3]]\n", "i * 2", 6),
        "lambda": ("x = (lambda a: a + 1)(2)\n", "a + 1", 3),
        "class body": ("class A:\n    y = 1\n    z = [y]\nx = A.z\n", "[y]", None),
        "private name": ("class A:\n    __y = 1\n    def f(self): return self.__y\nx = A().f()\n", "self.__y", 1),
        "f-string": ("x = f'{1 + 1!r:>3}'\n", "f'{1 + 1!r:>3}'", "  2"),
        "generator": ("x = sum(i for i in (2, 3))\n", "(2, 3)", None),
        "default": ("def f(a=1 + 2): return a\nx = f()\n", "1 + 2", 3),
        "decorator": ("def d(v): return lambda f: v\n@d(1 + 3)\ndef f(): pass\nx = f\n", "1 + 3", 4),
        "keyword": ("x = dict(a=1 + 1)['a']\n", "1 + 1", 2),
        "starred": ("x = [*[1]]\n", "[1]", None),
        "subscript": ("x = {2: 3}[1 + 1]\n", "1 + 1", 2),
        "slice of a slice": (
            "import numpy as np\nx = np.arange(6).reshape(2, 3)[0:1, 1]\n",
            "np.arange(6).reshape(2, 3)[0:1, 1]",
            None,
        ),
        "target's inside": ("class A: pass\nb = [A()]\nb[0].q = 1\nx = b[0].q\n", "b[0]", None),
        "condition": ("if 1 > 2: x = 1\nelif 1 < 2: x = 3\n", "1 < 2", True),
        "while": ("n = 2\nwhile n > 0: n -= 1\nx = n\n", "n > 0", True),
        "assert": ("assert 1 + 1\nx = 1\n", "1 + 1", 2),
        "super": (
            "class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return super().f()\nx = B().f()\n",
            "super().f()",
            1,
        ),
        "handler": ("try: 1 / 0\nexcept (KeyError, ZeroDivisionError): x = 1\n", "(KeyError, ZeroDivisionError)", None),
        "async comprehension": (
            "import asyncio\nasync def a():\n    yield 1\nasync def f(): return [i + 1 async for i in a()]\nx = asyncio.run(f())\n",
            "i + 1",
            2,
        ),
        "deep": ("x = " + "(" * 40 + "1 + 1" + ")" * 40 + "\n", "1 + 1", 2),
        "after wide characters": ("a = 'äöü€𝄞'; x = 1 + 1\n", "1 + 1", 2),
        "delete": ("d = {1: 2}\ndel d[1 + 0]\nx = d\n", "1 + 0", 1),
    }

    @pytest.mark.parametrize("name", CASES)
    def test_an_expression_is_recorded_and_the_program_goes_on(self, name: str) -> None:
        source, text, expected = self.CASES[name]
        plain = executed(source)
        records, namespace = in_process(source, [value(text)])
        assert repr(namespace["x"]) == repr(plain["x"])
        hits = [r for r in records if r["e"] == "hit"]
        assert hits
        if expected is not None:
            assert hits[0]["v"]["v"] == expected

    @pytest.mark.parametrize(
        ("source", "text", "nth"),
        [
            ("match 3:\n    case 1 | 3: x = 1\n", "3", 1),
            ("import enum\nclass E(enum.Enum):\n    A = 1\nmatch E.A:\n    case E.A: x = 1\n", "E.A", 1),
            ("def f(a: int = 3): pass\nx = f.__annotations__\n", "int", 0),
            (
                "from __future__ import annotations\ndef f(a: nothing.at.all) -> 'x': pass\nx = f.__annotations__\n",
                "nothing.at.all",
                0,
            ),
            ("a: 'int' = 3\nx = a\n", "'int'", 0),
            ("'doc'\nx = __doc__\n", "'doc'", 0),
            ("x = 1\nx = 2\n", "x", 0),
            ("def f(): pass\ndel f\nx = 1\n", "f", 2),
        ],
    )
    def test_what_no_call_can_replace_is_told_as_reached(self, source: str, text: str, nth: int) -> None:
        plain = executed(source)
        records, namespace = in_process(source, [value(text, nth)])
        assert repr(namespace["x"]) == repr(plain["x"])
        assert any(r["e"] == "reach" for r in records)

    def test_deep_blocks(self) -> None:
        source = "x = 0\n" + "".join(" " * n + "if 1:\n" for n in range(30)) + " " * 30 + "x = 1 + 1\n"
        blocks = [Place("statement", source[source.index("\n" + " " * n + "if") + 1 + n :].rstrip("\n")) for n in range(30)]
        records, namespace = in_process(source, [value("1 + 1"), *blocks])
        assert namespace["x"] == 2
        assert {r["s"] for r in records if r["e"] in ("hit", "reach")} == set(range(31))

    def test_a_place_that_is_not_there_is_lost(self) -> None:
        records, namespace = in_process("x = 1 + 1\n", [value("+")])
        assert [(r["s"], r["text"]) for r in records if r["e"] == "lost"] == [(0, "program.py:1:7 cannot be watched")]
        assert namespace["x"] == 2

    def test_statements_and_the_names_after_them(self) -> None:
        source = "import sys\nif sys:\n    a = 1\nelse:\n    b = 2\nc = 3\nd = 4\n"
        records, _ = in_process(
            source, [statement("if sys:\n    a = 1\nelse:\n    b = 2", "a", "b"), statement("c = 3\nd = 4", "c", "d")]
        )
        assert [(r["e"], r["s"], list(r.get("v", ()))) for r in records] == [
            ("reach", 0, []), ("state", 0, ["a"]), ("reach", 1, []), ("state", 1, ["c"]), ("state", 1, ["d"]),
        ]  # fmt: skip

    def test_statements_that_leave(self) -> None:
        source = "def f(x):\n    for i in [1, 2]:\n        if x: return i\n        else: break\n    raise KeyError(x)\nx = f(1)\ntry: f(0)\nexcept KeyError: pass\n"
        records, _ = in_process(
            source, [statement("if x: return i\n        else: break", "return"), statement("raise KeyError(x)")]
        )
        found = [(r["e"], r["s"]) for r in records]
        assert found == [("reach", 0), ("state", 0), ("reach", 0), ("reach", 1), ("raise", 1)]
        assert scalar(records[1]["v"]["return"]) == 1

    def test_returns_of_inner_functions_are_not_ours(self) -> None:
        source = "def f():\n    if 1:\n        def g(): return 1\n        return g() + 1\nx = f()\n"
        records, _ = in_process(source, [statement("if 1:\n        def g(): return 1\n        return g() + 1", "return")])
        assert [scalar(r["v"]["return"]) for r in records if r["e"] == "state"] == [2]

    def test_a_context_is_reached_when_entered(self) -> None:
        source = "import contextlib\nwith contextlib.nullcontext(1) as x, contextlib.suppress(KeyError):\n    {}[1]\n@contextlib.contextmanager\ndef c():\n    raise OSError\n    yield\ntry:\n    with c(): pass\nexcept OSError: pass\n"
        records, _ = in_process(
            source,
            [
                Place("context", "contextlib.nullcontext(1)"),
                Place("context", "contextlib.suppress(KeyError)"),
                Place("context", "c()", nth=1),
            ],
        )
        assert [(r["e"], r["s"]) for r in records] == [("reach", 0), ("reach", 1), ("raise", 2)] or [
            (r["e"], r["s"]) for r in records
        ] == [("reach", 1), ("reach", 0), ("raise", 2)]
        assert records[-1]["x"]["type"] == "OSError"

    def test_imports_of_the_future_stay_first(self) -> None:
        source = '"""d"""\nfrom __future__ import annotations\nimport sys\nx = __doc__\n'
        records, namespace = in_process(
            source, [statement('"""d"""\nfrom __future__ import annotations\nimport sys', "sys"), statement('"""d"""')]
        )
        assert namespace["x"] == "d"
        assert {r["s"] for r in records if r["e"] == "reach"} == {0, 1}

    def test_exceptions_are_told_of_the_expressions_they_leave(self) -> None:
        source = "def f(x): return 1 // x\ndef g(x):\n    try:\n        return [f(x)]\n    except ZeroDivisionError:\n        return None\nx = [g(1), g(0), g(1)]\n"
        records, namespace = in_process(source, [value("1 // x"), value("f(x)", 1), value("[f(x)]")])
        assert namespace["x"] == [[1], None, [1]]
        assert [(r["e"], r["n"]) for r in records if r["s"] == 1] == [("hit", 1), ("raise", 2), ("hit", 3)]
        assert {r["s"] for r in records if r["e"] == "raise"} == {0, 1, 2}
        assert all(r["x"]["family"] == "ZeroDivisionError" for r in records if r["e"] == "raise")

    def test_an_exception_of_a_lambda(self) -> None:
        source = "f = lambda q: q[1]\ndef call(g): g({})\ntry: call(f)\nexcept KeyError: x = 1\n"
        records, _ = in_process(source, [value("q[1]")])
        assert [(r["e"], r["x"]["type"]) for r in records] == [("raise", "KeyError")]

    def test_a_generator_that_is_closed_raises_nothing(self) -> None:
        source = "def f():\n    y = [(yield 1)]\ng = f(); next(g); g.close()\ng = f(); next(g); del g\nx = 1\n"
        records, _ = in_process(source, [value("[(yield 1)]"), value("yield 1")])
        assert records == []

    def test_interleaved_generators_are_told_apart(self) -> None:
        source = "def f(x):\n    return (yield 1) // x\na, b = f(0), f(1)\nnext(a); next(b)\ntry: b.send(4)\nexcept StopIteration as e: x = e.value\ntry: a.send(4)\nexcept ZeroDivisionError: pass\n"
        records, _ = in_process(source, [value("(yield 1) // x")])
        assert [(r["e"], r["n"]) for r in records] == [("hit", 1), ("raise", 2)]

    @pytest.mark.parametrize("change", ["x[0] == 25", "x[0] == 900"])
    def test_a_change_between_recorded_values_shows_in_the_fingerprint(self, change: str) -> None:
        source = "import numpy\nx = [0]\nwhile x[0] < 1000:\n    x[0] += 1\n    y = numpy.float32({})\n    z = f(lambda: y) if 0 else y\n"
        prints = []
        for expression in ("x[0]", "x[0]", f"(-1 if {change} else x[0])"):
            text = source.format(expression)
            records, _ = in_process(text, [value(f"numpy.float32({expression})")])
            prints += [r["fp"] for r in records if r["e"] == "count"]
        assert prints[0] == prints[1]
        assert (prints[1] != prints[2]) == (change == "x[0] == 25")

    def test_a_change_of_type_shows_in_any_fingerprint(self) -> None:
        prints = []
        for change in ("x == -1", "x == 900"):
            records, _ = in_process(
                f"x = 0\nwhile x < 1000:\n    x += 1\n    y = ('a' if {change} else x)\n",
                [value(f"('a' if {change} else x)"[1:-1])],
            )
            prints += [r["fp"] for r in records if r["e"] == "count"]
        assert prints[0] != prints[1]

    def test_often_reached_places_are_counted(self) -> None:
        records, _ = in_process("x = 0\nwhile x < 1000:\n    x = x + 1\n", [value("x + 1")])
        assert [r["n"] for r in records if r["e"] == "hit"] == [*range(1, 21), 32, 64, 128, 256, 512]
        assert [(r["s"], r["n"]) for r in records if r["e"] == "count"] == [(0, 1000)]


class TestCallables:
    def test_transforms_take_a_watched_function(self, bench: Bench) -> None:
        source = JAX + textwrap.dedent("""
            from functools import partial
            f = jax.jit(lambda x: x * 2)
            g = partial(jnp.sum, axis=0)
            @partial(jax.jit, static_argnums=1)
            def h(x, k): return k(x)
            x = jnp.arange(4.)
            r1 = jax.vmap(f)(x)
            r2 = jax.grad(lambda v: f(v).sum())(x)
            r3 = jax.jit(f)(x)
            r4 = f.lower(x).compile()(x)
            r5 = jax.eval_shape(f, x).shape
            r6 = jax.make_jaxpr(f)(x) is not None
            r7 = h(x, f), h(x, f)
            r8 = h(x, g)
            r9 = h._cache_size() == 2
            r10 = {f: 1}[f], f == f, f != g, isinstance(f, type(jax.jit(h))), isinstance(g, partial), callable(f)
            r11 = jax.lax.scan(lambda c, y: (f(c), f(y)), 1., x)
            r12 = jax.tree_util.tree_map(f, [x, x])
            r13 = f.__name__, f.__doc__, f.__module__, f.__wrapped__.__name__, g.func is jnp.sum, g.keywords
            f.mine = 3
            r14 = f.mine, hasattr(f, "other"), "mine" in dir(f)
            del f.mine
            r15 = hasattr(f, "mine")
            r16 = jax.pmap(f)(jnp.arange(8.)).shape if hasattr(jax, "pmap") else (8,)
            f.clear_cache()
            class M:
                def __init__(self, k): self.k = k
                @partial(jax.jit, static_argnums=0)
                def step(self, x): return x * self.k
                @staticmethod
                def s(x): return x + 1
                @classmethod
                def c(cls, x): return cls.__name__, x
                @property
                def p(self): return self.k
            m = M(3)
            r17 = m.step(x), M.step(m, x), jax.jit(m.step)(x), m.s(1), m.c(1), M.c(2), m.p
            print([v for k, v in sorted(globals().items()) if k[0] == "r" and k[1:].isdigit()])
            """)
        places = [
            value("jax.jit(lambda x: x * 2)"), value("partial(jnp.sum, axis=0)"), value("partial(jax.jit, static_argnums=1)"),
            watch("def h(x, k): return k(x)"), watch("def step(self, x): return x * self.k"), watch("def s(x): return x + 1"),
            watch("def c(cls, x): return cls.__name__, x"), watch("def p(self): return self.k"),
        ]  # fmt: skip
        out = bench.run(source, places)
        plain = bench.plain("main.py")
        assert (out.stdout, out.stderr) == (plain.stdout, plain.stderr)
        assert not out.of("lost")
        assert {r["t"] for r in out.of("call", 0)} == {True, False}
        assert [v["k"] for v in out.values(2, "call")] == ["opaque", "array", "array", "array"]
        assert [v["k"] for v in out.values(3, "call")] == ["array"] * 3
        assert len(out.of("call", 4)) == 3
        assert [scalar(v) for v in out.values(5, "call")] == [2]
        assert len(out.of("call", 6)) == 2

    def test_a_decorator_and_what_it_returns_are_watched(self) -> None:
        source = "def deco(a):\n    def inner(f): return lambda *x: f(*x) + a\n    return inner\n@deco(1)\ndef f(x): return x\nx = f(3)\n"
        records, namespace = in_process(source, [value("deco(1)")])
        assert namespace["x"] == 4
        assert [(r["e"], r["v"]["k"]) for r in records] == [("hit", "opaque"), ("call", "opaque"), ("call", "scalar")]

    def test_a_call_that_raises(self) -> None:
        source = "def f(x): return 1 // x\ndef g(h): return h\nk = g(f)\ntry: k(0)\nexcept ZeroDivisionError as e: x = str(e)\ny = k(1)\n"
        records, namespace = in_process(source, [watch("g(f)")])
        assert (namespace["x"], namespace["y"]) == ("integer division or modulo by zero", 1)
        assert [(r["e"], r["n"], r.get("of")) for r in records] == [("raise", 1, "call"), ("call", 2, None)]

    def test_a_watched_expression_that_is_no_callable(self) -> None:
        records, namespace = in_process("def f(): return 3\ndef g(h): return h()\nx = g(f)\n", [watch("g(f)")])
        assert namespace["x"] == 3
        assert [(r["e"], scalar(r["v"])) for r in records] == [("hit", 3)]

    @pytest.mark.parametrize(
        "expression", ["int", "[1].__class__", "object()", "C()", "contextlib.nullcontext()", "numpy.float32", "numpy.add"]
    )
    def test_what_is_no_function_is_left_alone(self, expression: str) -> None:
        source = f"import contextlib, numpy\nclass C:\n    def __call__(self): return 1\nx = ({expression})\nt = type(x)\n"
        _, namespace = in_process(source, [value(expression)])
        assert namespace["t"] is not recorder.Watched

    def test_trees_that_are_callable_stay_trees(self, bench: Bench) -> None:
        source = (
            JAX
            + "f = jax.tree_util.Partial(jnp.add, jnp.ones(2))\nx = jax.jit(lambda g: g(1.))(f)\nn = len(jax.tree_util.tree_leaves(f))\n"
        )
        out = bench.run(source, [value("jax.tree_util.Partial(jnp.add, jnp.ones(2))"), value("mesh", 0)])
        assert scalar(out.final["n"]) == 1
        assert out.status == 0, out.stderr

    def test_jax_names_the_program_s_lines(self, bench: Bench) -> None:
        source = JAX + textwrap.dedent("""
            f = jax.jit(lambda x: x.no_such_name)
            def g(x): return f(x)
            try:
                jax.make_jaxpr(g)(1.0)
            except AttributeError as error:
                import traceback
                traceback.print_exc()
            print(jax.make_jaxpr(jax.jit(lambda x: x + 1))(1.0).pretty_print(source_info=True))
            """)
        out = bench.run(source, [value("jax.jit(lambda x: x.no_such_name)"), value("f(x)"), value("jax.jit(lambda x: x + 1)")])
        plain = bench.plain("main.py")
        assert out.stdout == plain.stdout
        # JAX builds tracebacks anew from frames that have ended, whose last column is that of our `raise`.
        assert without_carets(out.stderr) == without_carets(plain.stderr)

    def test_warnings_blame_the_program_s_line(self, bench: Bench) -> None:
        source = "import warnings\ndef old(): warnings.warn('old', DeprecationWarning, stacklevel=2)\ndef g(f): return f\nk = g(old)\nk()\nk()\n"
        out = bench.run(source, [watch("g(old)")])
        plain = bench.plain("main.py")
        assert "main.py:5" in out.stderr
        assert out.stderr == plain.stderr

    def test_recursion_and_identity_by_name(self) -> None:
        source = "import pickle, copy, sys\ndef f(n): return n and f(n - 1) + 1\nsys.modules['p'] = type(sys)('p'); sys.modules['p'].f = f\nx = f(30)\ny = pickle.loads(pickle.dumps(f)) is f\nz = copy.deepcopy(f) == f\n"
        records, namespace = in_process(source, [watch("def f(n): return n and f(n - 1) + 1")])
        assert (namespace["x"], namespace["y"], namespace["z"]) == (30, True, True)
        assert [r["n"] for r in records if r["e"] == "call"] == list(range(1, 21))


class TestPytest:
    FILES: ClassVar = {
        "conftest.py": "import pytest\nfrom helper import twice\n@pytest.fixture\ndef four(): return twice(2)\n",
        "helper.py": "def twice(x): return x * 2\n",
        "test_a.py": textwrap.dedent("""
            import pytest
            from helper import twice
            def test_good(four): assert twice(four) == 8
            def test_bad(): assert twice(1) == 3
            def test_bang(): twice([][1])
            @pytest.mark.skip
            def test_skipped(): pass
            @pytest.fixture
            def broken(): raise OSError("no")
            def test_error(broken): pass
            @pytest.mark.parametrize("n", [1, 2])
            def test_many(n): assert twice(n)
            class TestC:
                def test_inside(self): assert twice("a") == "aa", "message"
        """),
    }

    def test_tests_and_their_places(self, bench: Bench) -> None:
        bench.environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": ""}
        places = [
            ("helper.py", value("x * 2")),
            ("test_a.py", value("twice(1) == 3")),
            ("test_a.py", value("[][1]")),
            ("conftest.py", value("twice(2)")),
        ]
        for _ in range(2):
            out = bench.run(dict(self.FILES), places, program="pytest", target="test_a.py", args=["-q"])
            outcomes = {r["id"].partition("::")[2]: r["outcome"] for r in out.of("test")}
            assert outcomes == {
                "test_good": "passed", "test_bad": "failed", "test_bang": "failed", "test_skipped": "skipped",
                "test_error": "error", "test_many[1]": "passed", "test_many[2]": "passed", "TestC::test_inside": "passed",
            }  # fmt: skip
            assert {r["c"] for r in out.of("hit", 0)} >= {"test_a.py::test_many[1]", "test_a.py::TestC::test_inside"}
            assert [r["n"] for r in out.of("hit", 0) if r["c"] == "test_a.py::test_many[2]"] == [1]
            assert [scalar(v) for v in out.values(1)] == [False]
            assert [r["x"]["type"] for r in out.of("raise", 2)] == ["IndexError"]
            assert [scalar(v) for v in out.values(3)] == [4]
            (error,) = [r for r in out.of("test") if r["outcome"] == "error"]
            assert error["x"]["family"] == "OSError"
            assert "_jaxmigrate_" not in out.stdout + out.stderr
            assert out.status == out.end["status"] == 1
        kept = {path.name.partition(".")[0] for path in (bench.root / "tree").rglob("*.pyc")}
        assert not kept & {"test_a", "conftest", "helper"}

    def test_a_file_that_cannot_be_imported(self, bench: Bench) -> None:
        out = bench.run({"test_a.py": "import nothing_like_it\n"}, program="pytest", target="test_a.py")
        assert out.status == out.end["status"] == 2

    def test_the_caller_s_options_for_workers_and_order(self, bench: Bench) -> None:
        files = {"test_a.py": "def test_a(): assert 1 + 1\n", "pytest.ini": "[pytest]\naddopts = -n 2\n"}
        pytest.importorskip("xdist")
        out = bench.run(files, [value("1 + 1")], program="pytest", target="test_a.py")
        assert [r["c"] for r in out.of("hit")] == ["test_a.py::test_a"], out.stdout + out.stderr


class TestWorld:
    FLAGS = """
import os
os.environ["XLA_FLAGS"] = {flags!r}
shown = os.environ["XLA_FLAGS"]
import jax
n = jax.device_count()
"""

    @pytest.mark.parametrize(
        ("flags", "count"), [("--xla_cpu_enable_fast_math=false", 8), ("--xla_force_host_platform_device_count=3", 3), ("", 8)]
    )
    def test_flags_of_the_program_keep_the_number_of_devices(self, bench: Bench, flags: str, count: int) -> None:
        out = bench.run(self.FLAGS.format(flags=flags))
        assert scalar(out.final["n"]) == count, out.stderr
        assert scalar(out.final["shown"]) == flags
        assert out.of("backend") == [{"e": "backend", "platform": "cpu", "devices": count, "local": count}]

    @pytest.mark.parametrize("how", ["del os.environ['XLA_FLAGS']", "os.environ.pop('XLA_FLAGS')", "os.environ.clear()"])
    def test_flags_that_the_program_removes(self, bench: Bench, how: str) -> None:
        out = bench.run(
            f"import os\n{how}\ngone = 'XLA_FLAGS' not in os.environ\nimport jax\nn = jax.local_device_count('cpu')\n"
        )
        assert (scalar(out.final["n"]), scalar(out.final["gone"])) == (8, True), out.stderr

    def test_jax_is_not_imported_before_the_program_does(self, bench: Bench) -> None:
        out = bench.run(
            "import os, sys\nearly = 'jax' in sys.modules\nos.environ['JAX_ENABLE_X64'] = '1'\nimport jax.numpy as jnp\nd = str(jnp.ones(1).dtype)\n",
            **LEGACY,
        )
        assert (scalar(out.final["early"]), scalar(out.final["d"])) == (False, "float64"), out.stderr

    def test_the_old_world_is_there_when_jax_is(self, bench: Bench) -> None:
        source = """
            import numpy as np, jax
            from jax.experimental.global_device_array import GlobalDeviceArray
            from jax.experimental import PartitionSpec as P
            from jax.experimental.maps import Mesh
            mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
            gda = GlobalDeviceArray.from_callback((8, 2), mesh, P("x", "y"), lambda i: np.arange(16.).reshape(8, 2)[i])
            one = gda.local_shards
            dead = GlobalDeviceArray.from_callback((8,), mesh, P("x"), lambda i: np.zeros(8)[i])
        """
        out = bench.run(source, [value("gda.local_shards")], **LEGACY)
        assert out.status == 0, out.stderr
        (world,) = out.of("legacy")
        assert world["jax_array"] is False
        found = out.final["gda"]
        assert (found["type"], found["shape"], found["addressable"], found["replicated"]) == (
            "GlobalDeviceArray",
            [8, 2],
            True,
            False,
        )
        assert [(s["d"], s["i"], s["r"]) for s in found["shards"][:2]] == [(0, [[0, 2], [0, 1]], 0), (1, [[0, 2], [1, 2]], 0)]
        assert (array_of(found["v"], (8, 2)) == np.arange(16.0).reshape(8, 2)).all()
        assert [s["k"] for s in out.values(0)[0]["v"]] == ["shard"] * 8
        assert [s["i"] for s in out.values(0)[0]["v"][:2]] == [[[0, 2], [0, 1]], [[0, 2], [1, 2]]]
        assert out.final["dead"]["shards"][1]["r"] == 1

    def test_an_old_sharded_array(self, bench: Bench) -> None:
        source = """
            import numpy as np, jax
            from jax.interpreters import pxla
            out = jax.pmap(lambda x: x * 2)(np.arange(16.).reshape(8, 2))
            kind = isinstance(out, pxla.ShardedDeviceArray)
        """
        out = bench.run(source, [value("jax.pmap(lambda x: x * 2)")], **LEGACY)
        assert out.status == 0, out.stderr
        found = out.values(0, "call")[0]
        assert scalar(out.final["kind"]) is True
        assert (found["type"], found["shape"], found["local"]) == ("ShardedDeviceArray", [8, 2], None)
        assert [(s["d"], s["i"], s["r"]) for s in found["shards"]] == [(d, [[d, d + 1], [0, 2]], 0) for d in range(8)]
        assert (array_of(found["v"], (8, 2)) == np.arange(0.0, 32.0, 2.0).reshape(8, 2)).all()

    @pytest.mark.parametrize("first", ["jaxlib", "jax"])
    def test_children_and_jaxlib_see_the_old_world_too(self, bench: Bench, first: str) -> None:
        files = {
            "main.py": f"import {first}\nimport subprocess, sys\nprint(subprocess.check_output([sys.executable, 'child.py'], text=True))\n",
            "child.py": "from jax.experimental.global_device_array import GlobalDeviceArray\nfrom jax.interpreters import pxla\nprint(GlobalDeviceArray.__name__, 1 + 1)\n",
        }
        out = bench.run(files, [("child.py", value("1 + 1"))], **LEGACY)
        assert out.stdout == "GlobalDeviceArray 2\n\n", out.stderr
        assert len(out.of("legacy")) == 1
        assert not out.of("hit")

    def test_a_world_that_cannot_be_set_up_is_no_run(self, bench: Bench) -> None:
        broken = bench.root / "legacy"
        broken.mkdir()
        (broken / "__init__.py").write_text("1 / 0\n")
        job = {"world": "legacy", "legacy": {"package": str(broken), "version": "0.4.6"}}
        out = bench.run("try: import jax\nexcept Exception: pass\n", **job)
        assert (out.status, out.records) == (70, [])
        assert "ZeroDivisionError" in out.stderr

    def test_two_processes(self, tmp_path: Path) -> None:
        source = textwrap.dedent("""
            import jax, numpy as np
            jax.distributed.initialize()
            from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
            mesh = Mesh(np.array(jax.devices()), "x")
            a = jax.make_array_from_callback((4,), NamedSharding(mesh, P("x")), lambda i: np.arange(4.)[i])
            b = jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, P()))(a)
            n = jax.process_count()
            """)
        port = free_port()
        running = []
        for process in range(2):
            bench = Bench(tmp_path / str(process), environment={"XLA_FLAGS": "--xla_force_host_platform_device_count=2"})
            bench.root.mkdir()
            job = bench.job(
                {"main.py": source}, processes=2, process=process, coordinator=f"127.0.0.1:{port}", devices_per_process=2
            )
            command = [sys.executable, str(RECORDER), str(job)]
            running.append(
                (bench, subprocess.Popen(command, cwd=bench.root / "tree", env=bench.env(), stderr=subprocess.PIPE, text=True))
            )
        for process, (bench, child) in enumerate(running):
            _, stderr = child.communicate(timeout=100)
            out = Outcome(bench.records(), child.returncode, "", stderr)
            assert out.status == 0, stderr
            a, b = out.final["a"], out.final["b"]
            assert (a["addressable"], a["v"], scalar(out.final["n"])) == (False, None, 2)
            assert [(s["p"], s["i"]) for s in a["shards"]] == [
                (process, [[2 * process + i, 2 * process + i + 1]]) for i in range(2)
            ]
            assert (b["replicated"], array_of(b["v"], ())) == (True, 6.0)
            assert out.of("backend")[0]["devices"] == 4


def without_carets(text: str) -> list[str]:
    return [line for line in text.splitlines() if set(line) - set(" ~^")]


LEGACY: Record = {"world": "legacy", "legacy": {"package": str(RECORDER.parents[1] / "legacy"), "version": "auto"}}


def free_port() -> int:
    import socket

    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port: int = opened.getsockname()[1]
        return port


class TestServer:
    def test_a_job_after_the_other(self, tmp_path: Path) -> None:
        pytest.importorskip("jax")
        programs = {
            "a": "import jax.numpy as jnp, sys\nx = jnp.ones(2) * 3\nprint('out', x.dtype, sys.argv, __name__)\n",
            "b": "import sys\nprint('err', file=sys.stderr)\nsys.exit(4)\n",
            "c": "import os; os.kill(os.getpid(), 9)\n",
        }
        server = subprocess.Popen(
            [sys.executable, str(RECORDER), "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert server.stdin is not None
        assert server.stdout is not None
        answers, benches = [], {}
        for name, source in programs.items():
            benches[name] = bench = Bench(tmp_path / name, environment={"JAX_ENABLE_X64": "1"})
            bench.root.mkdir()
            job = bench.job({"main.py": source}, [value("jnp.ones(2) * 3")] if name == "a" else [])
            request = {"job": str(job), "env": bench.env(), "stdout": str(bench.root / "out"), "stderr": str(bench.root / "err")}
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["pid"] > 0
            answers.append(json.loads(server.stdout.readline())["status"])
        server.stdin.close()
        assert server.wait(timeout=120) == 0
        server.stdout.close()
        assert answers == [0, 4, -9]
        assert (benches["a"].root / "out").read_text() == "out float64 ['main.py'] __main__\n"
        assert (benches["b"].root / "err").read_text() == "err\n"
        assert [r["v"]["dtype"] for r in benches["a"].records() if r["e"] == "hit"] == ["float64"]
        assert [r["status"] for r in benches["b"].records() if r["e"] == "end"] == [4]


def interpreter(version: str) -> str:
    """A Python of that version with NumPy; skips if there is none on this machine."""
    name = f"python{version}"
    found = [shutil.which(name), *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/{name}"))]
    named = os.environ.get("JAXMIGRATE_OLD_PYTHON")
    for python in [named, *found]:
        if python and _answers(python, version):
            return python
    pytest.skip(f"no Python {version} with NumPy here")


def _answers(python: str, version: str) -> bool:
    code = "import sys, numpy; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_every_python_marks_every_place(tmp_path: Path, version: str) -> None:
    python = interpreter(version)
    for number, (source, text, expected) in enumerate(TestPlaces.CASES.values()):
        bench = Bench(tmp_path / str(number), python=python)
        bench.root.mkdir()
        out = bench.run(source, [value(text)])
        plain = bench.plain("main.py")
        assert (out.status, out.stderr, out.stdout) == (plain.status, plain.stderr, plain.stdout)
        assert out.of("hit"), (source, out.records)
        assert expected is None or out.values(0)[0]["v"] == expected


def executed(source: str) -> dict[str, Any]:
    """The names after a text was executed as it is."""
    namespace: dict[str, Any] = {"__name__": "p"}
    exec(compile(source, "p", "exec", dont_inherit=True), namespace)
    return namespace


def in_process(source: str, places: Sequence[Place]) -> tuple[list[Record], dict[str, Any]]:
    """Run a marked text here; what was recorded, and the names afterwards."""
    log = _Memory()
    ours = recorder.Recorder(log)  # type: ignore[arg-type]
    recorder.publish(ours)
    recorder.RECORDER = ours
    sites = {"program.py": [place.site(number, source) for number, place in enumerate(places)]}
    compiler = recorder.Compiler("/nowhere", sites, log)  # type: ignore[arg-type]
    code = compiler.code(source.encode(), "/nowhere/program.py", "program.py")
    namespace: dict[str, Any] = {"__name__": "p"}
    exec(code, namespace)
    ours.totals()
    return [r for r in log.records if r["e"] != "load"], namespace


class _Memory:
    """A log that keeps its records."""

    full = False

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.pid = os.getpid()

    def write(self, record: Record) -> None:
        self.records.append(json.loads(json.dumps(record)))


@pytest.fixture(autouse=True)
def _published() -> Iterator[None]:
    yield
    import builtins

    for name in recorder.NAMES.values():
        if hasattr(builtins, name):
            delattr(builtins, name)


def test_helpers_agree_with_ast() -> None:
    source = "x = 'ä' + f(1,\n  2)\n"
    call = next(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    assert span(source, "f(1,\n  2)") == [call.lineno, call.col_offset, call.end_lineno, call.end_col_offset]
