"""Random programs around pjit do on the newest JAX after pjit-to-jit what they did before: values, placement and errors."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from jaxmigrate.testing import run

HEAD = """\
import functools
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pjit import pjit
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
ROW = P("x")
OUT = []
x, u, y = np.arange(8.0), jnp.arange(8.0), np.ones(8)
c = jax.device_put(np.arange(8.0), NamedSharding(mesh, P("x")))
"""
SPECS = ['P("x")', 'P("y")', "P()", "None", 'P(("x", "y"))', "ROW"]
BODIES = [
    "a * 2",
    "a + jnp.ones(8)",
    'with_sharding_constraint(a, P("y")) * 3',
    "jax.lax.scan(lambda s, v: (s + v, s), 0.0, a)[1]",
]
ARGUMENTS = ["x", "u", "c", "y", "np.ones(8)", "x", "u", "jnp.ones(8)", "u * 2"]
EXTRAS = ["", "", "OUT.append(jnp.ones(8))", "OUT.append(y + 1)", "OUT.append(y[1:3])", "print(y.sum())"]


class Programs:
    """A source of random programs."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def function(self, name: str, arity: int) -> str:
        """A definition that makes a pjit-ed function."""
        pick = self.random.choice
        parameters = ", ".join("ab"[:arity])
        body = pick(BODIES) + (" + b" if arity == 2 else "")
        specs = ", ".join(pick(SPECS) for _ in range(arity))
        inputs = pick(["", f"in_shardings=({specs},)", f"in_shardings={pick(SPECS)}"])
        outputs = pick(["", f"out_shardings={pick(SPECS)}"])
        options = ", ".join(filter(None, (inputs, outputs)))
        definition = f"def {name}({parameters}):\n    return {body}\n"
        forms = [
            f"{name} = pjit(lambda {parameters}: {body}, {options})\n",
            f"{definition}{name} = pjit({name}, {options})\n",
            f"@functools.partial(pjit, {options})\n{definition}",
        ]
        if inputs and outputs:
            forms.append(f"{name} = pjit(lambda {parameters}: {body}, {inputs.split('=', 1)[1]}, {outputs.split('=', 1)[1]})\n")
        return pick(forms)

    def statements(self, arities: list[int]) -> list[str]:
        """Calls of these functions, and what may stand between calls."""
        lines = []
        quiet = self.random.random() < 0.4  # nothing but calls, so that jax.set_mesh may serve
        for _ in range(self.random.randint(1, 3)):
            number = self.random.randrange(len(arities))
            arguments = ", ".join(self.random.choice(ARGUMENTS) for _ in range(arities[number]))
            lines.append(f"y = f{number}({arguments})")
            if not quiet:
                lines += ["OUT.append(y)", self.random.choice(EXTRAS)]
        return [line for line in lines if line]

    def program(self) -> str:
        """A whole program, which leaves its arrays in OUT."""
        arities = [self.random.randint(1, 2) for _ in range(self.random.randint(1, 3))]
        functions = "".join(self.function(f"f{i}", n) for i, n in enumerate(arities))
        lines = self.statements(arities)
        shapes = [
            "with mesh:\n" + "".join(f"    {line}\n" for line in lines),
            "with mesh:\n    for _ in range(2):\n" + "".join(f"        {line}\n" for line in lines),
            "def main(y):\n    with mesh:\n" + "".join(f"        {line}\n" for line in lines) + "    return y\ny = main(y)\n",
            "def main(y):\n" + "".join(f"    {line}\n" for line in lines) + "    return y\nwith mesh:\n    y = main(y)\n",
        ]
        return HEAD + functions + self.random.choice(shapes) + "OUT.append(jnp.asarray(y))\n"


@pytest.mark.slow
def test_programs_do_what_they_did() -> None:
    pytest.importorskip("jax", minversion="0.8")
    source = Programs(seed=20260801)
    befores = [source.program() for _ in range(100)]
    pairs = [(b, after.decode()) for b in befores if (after := run(b, select="pjit-to-jit").after)]
    assert len(pairs) > 60  # otherwise this test shows nothing
    assert any("set_mesh" in after for _, after in pairs)
    assert any("with mesh" not in after for _, after in pairs)
    script = Path(__file__).with_name("compare_programs.py")
    done = subprocess.run(
        [sys.executable, script], input=json.dumps(pairs), capture_output=True, text=True, timeout=600, check=True
    )
    different = [pairs[number] for number in json.loads(done.stdout)]
    assert not different, "\n----\n".join(different[0])
