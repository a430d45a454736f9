"""The patch is applied by Git itself, and must give exactly the bytes it was made from."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from jaxmigrate.model import FileResult, Status
from jaxmigrate.reports.diff import patch

LONG = [f"line {i}\n".encode() for i in range(40)]


def changed(before: bytes, after: bytes) -> FileResult:
    return FileResult("f.py", Status.REWRITTEN, before, after)


def git(directory: Path, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *arguments], cwd=directory, input=data, capture_output=True, check=False, timeout=60)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.autocrlf", "false")
    return tmp_path


def assert_applies(repository: Path, before: bytes, after: bytes, name: str = "f.py") -> None:
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(before)
    forward = git(repository, "apply", "-", data=patch(changed(before, after), name))
    assert forward.returncode == 0, forward.stderr
    assert file.read_bytes() == after
    backward = git(repository, "apply", "-R", "-", data=patch(changed(before, after), name))
    assert backward.returncode == 0, backward.stderr
    assert file.read_bytes() == before


CASES = {
    "lf": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    "mixed line ends": (b"a\r\nb\nc\r\nd\n", b"a\r\nB\nc\r\nD\n"),
    "carriage returns only, the whole file is one line": (b"a\rb\rc\r", b"a\rB\rc\r"),
    "no final newline, last line changed": (b"a\nb", b"a\nB"),
    "no final newline, first line changed, last one is context": (b"a\nb", b"A\nb"),
    "final newline added": (b"a\nb", b"a\nb\n"),
    "final newline removed": (b"a\nb\n", b"a\nb"),
    "byte-order mark kept": (b"\xef\xbb\xbfimport a\nb\n", b"\xef\xbb\xbfimport A\nb\n"),
    "latin-1": (b"# -*- coding: latin-1 -*-\ns = '\xe9'\nb\n", b"# -*- coding: latin-1 -*-\ns = '\xe9'\nB\n"),
    "form feed in a line": (b"a\n\x0c\nb\x0cc\n", b"a\n\x0c\nB\x0cc\n"),
    "line separator U+2028 in a string": ("s = '\u2028'\nb\n".encode(), "s = '\u2028'\nB\n".encode()),
    "next line U+0085, which str.splitlines would cut": ("s = '\x85'\nb\n".encode(), "t = '\x85'\nb\n".encode()),
    "lines that look like headers": (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\nb\n", b"--- a/x\n+++ b/x\n@@ -1 +1 @@\nB\n"),
    "line inserted at the top": (b"a\n", b"new\na\n"),
    "line removed at the top": (b"old\na\n", b"a\n"),
    "lines appended": (b"a\n", b"a\nb\nc\n"),
    "file emptied": (b"a\nb\n", b""),
    "two hunks far apart": (b"".join(LONG), b"".join([b"X\n", *LONG[1:39], b"Y\n"])),
    "changes seven lines apart get hunks that touch": (
        b"".join(LONG),
        b"".join([*LONG[:5], b"X\n", *LONG[6:13], b"Y\n", *LONG[14:]]),
    ),
    "changes six lines apart share a hunk": (b"".join(LONG), b"".join([*LONG[:5], b"X\n", *LONG[6:12], b"Y\n", *LONG[13:]])),
    "only blank lines": (b"\n\n\n\n", b"\n\n"),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES.keys())
def test_git_apply_gives_the_exact_bytes(repository: Path, before: bytes, after: bytes) -> None:
    assert_applies(repository, before, after)


@pytest.mark.parametrize(
    "name", ["a dir/f.py", "tab\there.py", 'quo"te.py', "back\\slash.py", "ü/näme.py", "new\nline.py"], ids=lambda n: repr(n)
)
def test_names_that_git_quotes(repository: Path, name: str) -> None:
    assert_applies(repository, b"a\n", b"b\n", name)


def test_random_edits_of_files_with_many_equal_lines(repository: Path) -> None:
    choice = random.Random(7)
    for _ in range(20):
        before = [choice.choice([b"\n", b"x\n", b"y\n", b"z\r\n", b"unique %d\n" % choice.randrange(99)]) for _ in range(60)]
        after = [line for line in before if choice.random() > 0.1]
        for _ in range(4):
            after.insert(choice.randrange(len(after) + 1), choice.choice([b"\n", b"x\n", b"new\n"]))
        assert_applies(repository, b"".join(before), b"".join(after))


def test_equal_bytes_give_no_patch() -> None:
    assert patch(changed(b"a\n", b"a\n"), "f.py") == b""


def test_context_is_three_lines_and_counts_are_right() -> None:
    after = b"".join([*LONG[:20], b"X\n", *LONG[21:]])
    lines = patch(changed(b"".join(LONG), after), "f.py").decode().splitlines()
    assert lines == [
        "--- a/f.py",
        "+++ b/f.py",
        "@@ -18,7 +18,7 @@",
        " line 17",
        " line 18",
        " line 19",
        "-line 20",
        "+X",
        " line 21",
        " line 22",
        " line 23",
    ]


def test_absolute_name_stays_under_the_prefix() -> None:
    assert patch(changed(b"a\n", b"b\n"), "/tmp/f.py").startswith(b"--- a/tmp/f.py\n+++ b/tmp/f.py\n")


def test_color_ends_before_the_newline() -> None:
    assert b"\x1b[31m-a\x1b[m\n\x1b[32m+b\x1b[m\n" in patch(changed(b"a\n", b"b\n"), "f.py", color=True)


def test_many_edits_in_a_huge_file_take_linear_time() -> None:
    before = [b"value_%d = f(%d)\n" % (i, i) if i % 3 else b"\n" for i in range(200_000)]
    after = [line.replace(b"f(", b"g(") if i % 50 == 1 else line for i, line in enumerate(before)]
    start = time.process_time()
    text = patch(changed(b"".join(before), b"".join(after)), "f.py")
    assert time.process_time() - start < 10
    assert text.count(b"\n+value_") == sum(map(bytes.__ne__, before, after))


def test_huge_repetitive_file_has_no_unique_lines_and_still_ends(repository: Path) -> None:
    before, after = b"x = f(1)\n\n" * 5_000, b"x = g(1)\n\n" * 5_000
    assert_applies(repository, before, after)
