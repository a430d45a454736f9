"""The report of a verification in a pipe and on a terminal."""

import pytest

from jaxmigrate.reports import placement
from jaxmigrate.reports.verify_text import render, summary
from jaxmigrate.verify.model import Difference, Edit, Judgement, Placement, Report, Verdict

ROWS = Placement((8, 4), tuple((d, ((2 * d, 2 * d + 2), (0, 4))) for d in range(4)))
BLOCKS = Placement((8, 4), tuple((d, ((4 * (d // 2), 4 * (d // 2) + 4), (2 * (d % 2), 2 * (d % 2) + 2))) for d in range(4)))
COPIES = Placement((8, 4), tuple((d, ((0, 8), (0, 4))) for d in range(4)))


def edit(number: int, line: int = 3, codemod: str = "from-gda", before: str = "old(x)", after: str = "new(x)") -> Edit:
    return Edit(number, "train.py", line, 4, codemod, "", before, after, (number,))


def judgement(number: int, verdict: Verdict, *evidence: str, **fields: object) -> Judgement:
    return Judgement(edit(number, number), verdict, evidence, **fields)  # type: ignore[arg-type]


DIFFERENT = judgement(
    2,
    Verdict.DIFFERENT,
    "evaluation 1: placement differs: device 0: [0:2, 0:4] before, device 0: [0:4, 0:2] after",
    differences=(Difference("placement", "device 0: [0:2, 0:4]", "device 0: [0:4, 0:2]", "", (ROWS, BLOCKS)),),
    reproduce="jaxmigrate verify --edit 2 train.py",
)
REPORT = Report(
    (
        judgement(1, Verdict.EQUIVALENT, "8 values compared equal in 8 evaluations", "1 large array compared by samples"),
        DIFFERENT,
        judgement(3, Verdict.NOT_REACHED, "never executed"),
    ),
    hazards=("replicated input w differs between processes 0 and 1",),
    program=("output: 'a' before, 'b' after",),
    notes=("8 cpu devices",),
)

PIPE = """\
hazard: replicated input w differs between processes 0 and 1
train.py:1:5: from-gda [1] equivalent: 8 values compared equal in 8 evaluations
    1 large array compared by samples
train.py:2:5: from-gda [2] different: evaluation 1: placement differs: device 0: [0:2, 0:4] before, device 0: [0:4, 0:2] after
    - old(x)
    + new(x)
    placement:
      before (8, 4)    after (8, 4)
            0:4              0:2   2:4
      0:2 | 0   |      0:4 | 0   | 1   |
      2:4 | 1   |      4:8 | 2   | 3   |
      4:6 | 2   |
      6:8 | 3   |
    again: jaxmigrate verify --edit 2 train.py
train.py:3:5: from-gda [3] not reached: never executed
program: output: 'a' before, 'b' after
note: 8 cpu devices
3 edits: 1 equivalent, 1 different, 1 not reached
"""


def test_in_a_pipe() -> None:
    assert render(REPORT) == PIPE


def test_the_last_line_names_rare_verdicts_only_when_there_are_some() -> None:
    rare = Report((judgement(1, Verdict.NONDETERMINISTIC), judgement(2, Verdict.NOT_COMPARABLE)))
    assert summary(rare) == "2 edits: 0 equivalent, 0 different, 0 not reached, 1 nondeterministic, 1 not comparable"
    assert summary(Report((DIFFERENT,))) == "1 edit: 0 equivalent, 1 different, 0 not reached"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_gets_the_same_words_within_its_width(width: int) -> None:
    text = render(REPORT, width=width)
    assert all(len(line) <= width for line in text.splitlines() if "again:" not in line)
    assert text.splitlines()[-1].strip()
    assert " ".join(text.split()).endswith("1 equivalent, 1 different, 1 not reached")
    assert "\x1b[" not in text
    assert "\x1b[" in render(REPORT, width=width, color=True)


def test_too_few_edits_reached() -> None:
    assert "2 of 3 edits were reached, 67 %; 100 % are required" in render(REPORT, require=100)
    assert "required" not in render(REPORT, require=60)


def test_nothing_reached_is_said() -> None:
    assert "nothing was verified" in render(Report((judgement(1, Verdict.NOT_REACHED),)))


def test_errors_and_a_program_that_differs() -> None:
    text = render(Report((judgement(1, Verdict.NOT_REACHED),), errors=("the original fails: ValueError: no",)))
    last = "1 edit: 0 equivalent, 0 different, 1 not reached"
    assert text == f"error: the original fails: ValueError: no\nnothing was verified\n{last}\n"
    assert "no single edit shows why" in render(Report((), program=("exit status: 0 before, 1 after",), program_differs=True))


def test_hostile_text_stays_on_its_line() -> None:
    odd = Judgement(edit(1, before="a\x1b[31m\nb", after="c"), Verdict.DIFFERENT, ("x\ny",))
    text = render(Report((odd,)))
    assert "\x1b" not in text
    assert "x\\ny" in text


def test_what_the_evidence_says_is_not_said_again() -> None:
    value = Difference("value", "True", "False")
    short = judgement(1, Verdict.DIFFERENT, "evaluation 1: value differs: True before, False after", differences=(value,))
    assert render(Report((short,))).count("True before, False after") == 1
    other = judgement(1, Verdict.DIFFERENT, "evaluation 1: something", differences=(value,))
    assert "    value: True before, False after\n" in render(Report((other,)))


def test_long_sources_are_cut() -> None:
    text = render(Report((Judgement(edit(1, before="\n".join("abcdefghij")), Verdict.DIFFERENT, ()),)))
    assert "- ... 4 more lines" in text


def test_pictures_of_copies_and_of_many_dimensions() -> None:
    assert placement.drawn(ROWS, COPIES)[1] == "0:2 | 0 |        0:8 | 0-3 |"
    cube = Placement(
        (2, 2, 2), tuple((d, ((d // 4, d // 4 + 1), (d // 2 % 2, d // 2 % 2 + 1), (d % 2, d % 2 + 1))) for d in range(8))
    )
    lines = placement.drawn(cube, Placement((2, 2, 2), ((0, ((0, 2), (0, 2), (0, 2))),)))
    assert lines[0].split() == ["device", "before", "(2,", "2,", "2)", "after", "(2,", "2,", "2)"]
    assert lines[2].split() == ["1", "[0:1,", "0:1,", "1:2]", "-"]


def test_scalars_have_a_picture_too() -> None:
    assert placement.drawn(Placement((), ((0, ()),)), Placement((), ((1, ()),)))


def test_narrow_terminals_get_the_pictures_below_each_other() -> None:
    lines = placement.drawn(ROWS, BLOCKS, width=30)
    assert "before (8, 4)" in lines
    assert "after (8, 4)" in lines
