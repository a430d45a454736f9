"""Flags in files that are not Python: found with line and column, never edited."""

from __future__ import annotations

import pytest

from jaxmigrate.hosts.text import scan_text
from jaxmigrate.model import Finding, Outcome, Position, Settings, Status, Version

SETTINGS = Settings(Version((0, 12)))


def findings(text: str, settings: Settings = SETTINGS) -> list[Finding]:
    result = scan_text("run.sh", text.encode(), settings)
    assert result.status is Status.UNCHANGED
    return [finding for finding in result.findings if finding.codemod == "jax-array-flag"]


@pytest.mark.parametrize(
    "text",
    [
        "export JAX_ARRAY=1\n",
        "ENV JAX_ARRAY 1\n",
        "ENV JAX_ARRAY=true\n",
        "        JAX_ARRAY: '0'\n",
        "python train.py --jax_array=1\n",
        "JAX_ARRAY=1 python train.py\r\n",
        "export JAX_PARALLEL_FUNCTIONS_OUTPUT_GDA=1\n",
    ],
)
def test_flag_is_reported(text: str) -> None:
    [finding] = findings(text)
    assert finding.outcome is Outcome.MANUAL
    assert finding.position.line == 1


@pytest.mark.parametrize(
    "text",
    [
        "# export JAX_ARRAY=1\n",
        "  ; JAX_ARRAY=1\n",
        "export JAX_PLATFORMS=cpu\n",
        "export MY_JAX_ARRAY_DIR=x\n",
        "pip install jax\n",
        "echo jax_array.txt\n",
        "",
    ],
)
def test_nothing_is_reported(text: str) -> None:
    assert findings(text) == []


def test_position_counts_characters_and_lines() -> None:
    [finding] = findings("#!/bin/sh\n\nécho=ü; export JAX_ARRAY=1\n")
    assert finding.position == Position(3, 15)


def test_ignored_line_is_suppressed() -> None:
    [finding] = findings("export JAX_ARRAY=1  # jaxmigrate: ignore[jax-array-flag]\n")
    assert finding.outcome is Outcome.SUPPRESSED
    [finding] = findings("export JAX_ARRAY=1  # jaxmigrate: ignore\n")
    assert finding.outcome is Outcome.SUPPRESSED
    [finding] = findings("export JAX_ARRAY=1  # jaxmigrate: ignore[live-buffers]\n")
    assert finding.outcome is Outcome.MANUAL


def test_skipped_file_says_so() -> None:
    result = scan_text("run.sh", b"# jaxmigrate: skip-file\nexport JAX_ARRAY=1\n", SETTINGS)
    assert (result.status, result.findings) == (Status.SKIPPED, ())


def test_binary_file_is_skipped() -> None:
    assert scan_text("run.sh", b"\0JAX_ARRAY=1\n", SETTINGS).status is Status.SKIPPED


def test_selection_is_honoured() -> None:
    assert findings("export JAX_ARRAY=1\n", Settings(SETTINGS.target, select=frozenset({"live-buffers"}))) == []
    assert findings("export JAX_ARRAY=1\n", Settings(SETTINGS.target, ignore=frozenset({"jax-array-flag"}))) == []


def test_facts_are_left_for_the_look_at_the_whole_project() -> None:
    result = scan_text("run.sh", b"export JAX_ARRAY=0\n", SETTINGS)
    assert [(fact.codemod, fact.value, fact.path, fact.position.line) for fact in result.facts] == [
        ("recursive-jit", "off", "run.sh", 1)
    ]


def test_bytes_of_any_encoding_are_searched() -> None:
    result = scan_text("run.sh", b"# \xff\xe9\nexport JAX_ARRAY=1 # \xff\n", SETTINGS)
    assert [finding.position.line for finding in result.findings if finding.codemod == "jax-array-flag"] == [2]
