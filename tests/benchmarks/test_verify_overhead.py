"""The measuring code of the benchmark of the recorder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

from benchmarks.verify_overhead import PROGRAMS, TARGET, Command, Measured, measure, pairs, programs, total
from jaxmigrate.verify.launch import read_records
from jaxmigrate.verify.model import World


def test_the_time_of_a_command_is_that_of_its_processor_and_of_its_children(tmp_path: Path) -> None:
    busy = "import time\nwhile time.process_time() < 0.4: pass\n"
    (tmp_path / "busy.py").write_text(busy)
    (tmp_path / "sleepy.py").write_text("import time; time.sleep(0.4)")
    (tmp_path / "parent.py").write_text("import subprocess, sys; subprocess.check_call([sys.executable, 'busy.py'])")
    took = {name: Command((sys.executable, f"{name}.py"), tmp_path, os.environ).cpu() for name in ("busy", "sleepy", "parent")}
    assert took["busy"] >= 0.4 > took["sleepy"]
    assert took["parent"] >= 0.4


def test_a_program_that_fails_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"exit status 1(.|\n)*KeyError: 'gone'"):
        Command((sys.executable, "-c", "{}['gone']"), tmp_path, os.environ).cpu()


def test_the_total_weighs_programs_by_their_time() -> None:
    lines = [Measured("a", 1, 3.0, 1.0), Measured("b", 2, 9.0, 9.0)]
    assert total(lines) == Measured("total", 3, 12.0, 10.0)
    assert total(lines).ratio == pytest.approx(1.2)


def test_every_program_is_measured() -> None:
    assert programs("") == sorted(PROGRAMS.glob("*.py"))
    assert [program.stem for program in programs("matmul")] == ["matmul_2d_mesh"]


@pytest.mark.slow
def test_both_versions_of_a_program_are_recorded_at_their_sites(tmp_path: Path) -> None:
    original, migrated = pairs(PROGRAMS / "batched_loader.py", tmp_path)
    assert (original.world, migrated.world) == (World.LEGACY, World.PLAIN)
    for pair, side in ((original, "before"), (migrated, "after")):
        measured = measure(pair, 1)
        records = read_records(tmp_path / f"batched_loader-{side}-run" / "records-0.jsonl")
        assert {r["s"] for r in records if "s" in r}, "the recorded run recorded something"
        assert pair.sites > 3
        assert measured.plain > 0.1
        assert measured.ratio < 2 * TARGET, measured.line()
