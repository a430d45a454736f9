"""The cost that every user pays at every start."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.rewrite_speed import CLICK, Command, Row, ratio, rewrite

SLACK = 1.4
"""The other tests, on the second core, disturb the ratio by this much."""


@pytest.mark.slow
def test_a_clean_file_costs_little_more_than_importing_click(tmp_path: Path) -> None:
    clean = tmp_path / "clean.py"
    clean.write_text("import numpy as np\n\n\ndef total(x):\n    return np.sum(x)\n", "utf-8")
    row = Row("one clean file", rewrite(str(clean)), Command((sys.executable, "-c", CLICK)), 1.3 * SLACK, 15)
    measured = ratio(row)
    assert measured.met, measured.line()
