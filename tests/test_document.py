"""Bytes in, bytes out; a write happens whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import tokenize
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from jaxmigrate.document import Document, DocumentError, read, write_atomically

SAME_BYTES = {
    "lf": b"a = 1\nb = 2\n",
    "crlf": b"a = 1\r\nb = 2\r\n",
    "cr only": b"a = 1\rb = 2\r",
    "mixed": b"a = 1\r\nb = 2\nc = 3\rd = 4\n",
    "no final newline": b"a = 1\nb = 2",
    "empty": b"",
    "form feed": b"a = 1\n\x0c\nb = 2\n\x0bc = 3",
    "trailing spaces and tabs": b"a = 1  \t\n\tb\n   ",
    "utf-8": "é = 'ü☃😀'\n".encode(),
    "bom": b"\xef\xbb\xbfa = 1\n",
    "bom and cookie": b"\xef\xbb\xbf# coding: utf-8\na = 1\n",
    "latin-1 cookie": b"# -*- coding: latin-1 -*-\na = '\xe9'\r\n",
    "emacs latin-1": b"# -*- coding: latin-1-unix -*-\na = '\xe9'\n",
    "cookie on line 2": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\na = '\x80'\n",
    "cookie after cr": b"#!/usr/bin/python\r# coding: latin-1\ra = '\xe9'\r",
    "utf8 spelled otherwise": "# coding: UTF_8\na = 'é'\n".encode(),
    "utf-8-unix": "# coding: utf-8-unix\na = 'é'\n".encode(),
    "shift-jis": "# coding: shift_jis\na = '日本'\n".encode("shift_jis"),
}

REFUSED = {
    "null byte": (b"a = 1\n\0b = 2\n", "null byte (line 2)"),
    "utf-16": ("a = 1\n".encode("utf-16"), "UTF-16"),
    "utf-32": ("a = 1\n".encode("utf-32"), "UTF-32"),
    "latin-1 without cookie": (b"a = 1\nb = '\xe9'\n", "line 2, byte 0xe9"),
    "wrong cookie": (b"# coding: ascii\na = '\xe9'\n", "is not ascii, the encoding it declares (line 2)"),
    "unknown cookie": (b"# coding: klingon\n", "unknown encoding 'klingon'"),
    "cookie of no text": (b"# coding: rot13\n", "unknown encoding 'rot13'"),
    "bom against cookie": (b"\xef\xbb\xbf# coding: latin-1\n", "byte-order mark"),
    "half a utf-8 sequence": (b"a = '\xc3'\n", "not UTF-8"),
}


def decoded(data: bytes) -> Document:
    document = Document.decode(data)
    assert isinstance(document, Document), document
    return document


@pytest.mark.parametrize("data", SAME_BYTES.values(), ids=SAME_BYTES)
def test_unchanged_text_gives_the_same_bytes(data: bytes) -> None:
    document = decoded(data)
    assert document.encode_utf8(document.utf8) == data
    assert document.encode(document.text) == data


@pytest.mark.parametrize("data", SAME_BYTES.values(), ids=SAME_BYTES)
def test_encoding_is_the_one_python_detects(data: bytes) -> None:
    if b"\r#" not in data:  # tokenize.detect_encoding knows no lone carriage return, the compiler does
        theirs, _ = tokenize.detect_encoding(BytesIO(data).readline)
        assert data.decode(theirs) == decoded(data).text


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED)
def test_refusal_names_the_reason(data: bytes, message: str) -> None:
    error = Document.decode(data)
    assert isinstance(error, DocumentError)
    assert message in error.message


def test_plain_utf8_is_not_copied() -> None:
    data = "x = 'é'\n".encode()
    document = decoded(data)
    assert document.utf8 is data
    assert document.encode_utf8(data) is data


def test_cookie_in_a_string_on_line_2_counts_only_after_comment_or_blank() -> None:
    assert decoded("x = 1\n# coding: latin-1\ny = 'é'\n".encode()).encoding == "utf-8"
    assert decoded(b"\x0c \n# coding: latin-1\ny = '\xe9'\n").encoding == "iso8859-1"


def test_cookie_on_line_3_is_no_cookie() -> None:
    assert decoded("#\n#\n# coding: latin-1\n'é'\n".encode()).encoding == "utf-8"


@pytest.mark.parametrize(
    ("data", "newline"),
    [(b"", "\n"), (b"a\nb\r\nc\r\n", "\r\n"), (b"a\r\nb\nc\n", "\n"), (b"a\rb\r", "\r"), (b"a", "\n"), (b"a\r\n", "\r\n")],
)
def test_newline_is_the_dominant_one(data: bytes, newline: str) -> None:
    assert decoded(data).newline == newline


def test_new_text_is_written_in_the_encoding_of_the_file() -> None:
    document = decoded(b"# coding: latin-1\nx = '\xe9'\n")
    assert document.encode_utf8(document.utf8.replace(b"x", b"yy")) == b"# coding: latin-1\nyy = '\xe9'\n"


def test_text_the_encoding_lacks_is_not_written_as_something_else() -> None:
    with pytest.raises(UnicodeError):
        decoded(b"# coding: latin-1\n").encode("☃")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    yield path
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_write(file: Path) -> None:
    assert write_atomically(str(file), b"old", b"new") is None
    assert file.read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o4755, 0o664])
def test_mode_bits_are_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert write_atomically(str(file), b"old", b"new") is None
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_symlink_stays_and_its_target_is_written(file: Path) -> None:
    (file.parent / "sub").mkdir()
    link = file.parent / "sub" / "link.py"
    link.symlink_to("../a.py")
    assert write_atomically(str(link), b"old", b"new") is None
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert sorted(p.name for p in link.parent.iterdir()) == ["link.py"]


def refused(file: Path, message: str, content: bytes = b"old") -> None:
    error = write_atomically(str(file), b"old", b"new")
    assert error is not None
    assert message in error.message
    assert file.read_bytes() == content


def test_read_only_file_is_refused_even_for_root(file: Path) -> None:
    file.chmod(0o444)
    refused(file, "read-only")


def test_file_that_changed_since_is_refused(file: Path) -> None:
    file.write_bytes(b"someone else's")
    refused(file, "changed since it was read", b"someone else's")


def test_file_that_went_away_is_refused_and_not_made(file: Path) -> None:
    file.unlink()
    error = write_atomically(str(file), b"old", b"new")
    assert error == DocumentError("was not written: no such file or directory")
    assert not file.exists()


def test_full_disk_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(descriptor: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    refused(file, "no space left on device")


def test_disk_that_fills_up_at_the_flush(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    refused(file, "no space left on device")


def test_short_writes_are_continued(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1]))
    assert write_atomically(str(file), b"old", b"new content") is None
    assert file.read_bytes() == b"new content"


def test_ctrl_c_while_writing_leaves_the_old_file_and_nothing_else(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(file), b"old", b"new")
    assert file.read_bytes() == b"old"


def test_read_refuses_a_file_that_changes_meanwhile(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fstat = os.fstat
    calls: list[int] = []

    def changing(descriptor: int) -> os.stat_result:
        calls.append(descriptor)
        if len(calls) == 2:
            file.write_bytes(b"longer than before")
        return fstat(descriptor)

    monkeypatch.setattr(os, "fstat", changing)
    assert read(str(file)) == DocumentError("changed while it was read")


def test_read_says_why_it_could_not(tmp_path: Path) -> None:
    assert read(str(tmp_path / "x.py")) == DocumentError("cannot be read: no such file or directory")
    assert read(str(tmp_path)) == DocumentError("cannot be read: is a directory")
