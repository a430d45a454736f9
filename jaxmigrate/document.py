"""Bytes and text of one file: decoding as Python does it, encoding without loss, a write that happens whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import stat
from dataclasses import dataclass

_UTF8_BOM = codecs.BOM_UTF8
_FOREIGN_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"[ \t\f]*(?:#|\Z)")
_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n|\Z)")


@dataclass(frozen=True, slots=True)
class DocumentError:
    """Why the bytes cannot be read as Python source, or why the file could not be written."""

    message: str


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file as UTF-8, and what is needed to get its own bytes back.

    Parse ``text``, not ``utf8``: the latter may still hold a coding cookie that is not true of it.
    """

    utf8: bytes
    """The text in UTF-8, without byte-order mark; the very bytes of the file where those are plain UTF-8."""
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def decode(cls, data: bytes) -> Document | DocumentError:
        """Read `data` the way Python would: byte-order mark, then coding cookie, then UTF-8."""
        for mark, name in _FOREIGN_BOMS:
            if data.startswith(mark):
                return DocumentError(f"is {name}, which Python cannot read as source")
        if 0 in data:
            return DocumentError(f"contains a null byte (line {_line_of(data, data.index(0))})")
        bom = data.startswith(_UTF8_BOM)
        body = data[len(_UTF8_BOM) :] if bom else data
        declared = _cookie(body)
        encoding = _normalised(declared)
        if encoding is None:
            return DocumentError(f"declares the unknown encoding {declared!r}")
        if bom and encoding != "utf-8":
            return DocumentError(f"declares the encoding {declared!r} but starts with a UTF-8 byte-order mark")
        return _utf8(body, bom) if encoding == "utf-8" else _other(body, encoding)

    @property
    def text(self) -> str:
        """The text, line endings as they are in the file."""
        return self.utf8.decode("utf-8")

    @property
    def newline(self) -> str:
        r"""The line ending that most lines have, for lines that are added: ``\n``, ``\r\n`` or ``\r``."""
        if b"\r" not in self.utf8:
            return "\n"
        both = self.utf8.count(b"\r\n")
        counts = {"\n": self.utf8.count(b"\n") - both, "\r\n": both, "\r": self.utf8.count(b"\r") - both}
        return max(counts, key=lambda style: counts[style])

    def encode_utf8(self, new: bytes) -> bytes:
        """The bytes of the file whose text is `new` (UTF-8); text that did not change gives the bytes it had.

        Raises:
            UnicodeError: the encoding of the file lacks a character of the new text.
        """
        if self.encoding != "utf-8":
            return new.decode("utf-8").encode(self.encoding)
        return _UTF8_BOM + new if self.bom else new

    def encode(self, text: str) -> bytes:
        """`encode_utf8` for a string."""
        return self.encode_utf8(text.encode("utf-8"))


def _cookie(body: bytes) -> str:
    """The encoding declared in the first two lines; the second counts only after a blank line or a comment."""
    end = 0
    for _ in range(2):
        match = _LINE.match(body, end)
        assert match is not None
        line = body[end : match.start(1)]
        cookie = _COOKIE.match(line)
        if cookie:
            return cookie[1].decode("ascii", "replace")
        if not _BLANK.match(line):
            break
        end = match.end()
    return "utf-8"


def _normalised(name: str) -> str | None:
    """The codec's own name, or None for an encoding of text that Python does not know."""
    lower = name[:12].lower().replace("_", "-")
    if lower == "utf-8" or lower.startswith("utf-8-"):
        return "utf-8"
    if lower.startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-")):
        name = "latin-1"  # Emacs adds the line ending: latin-1-unix
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    is_text = getattr(info, "_is_text_encoding", True)
    return info.name if is_text else None


def _utf8(body: bytes, bom: bool) -> Document | DocumentError:
    if not body.isascii():
        try:
            body.decode("utf-8")
        except UnicodeDecodeError as error:
            line = _line_of(body, error.start)
            return DocumentError(f"is not UTF-8 and declares no other encoding (line {line}, byte 0x{body[error.start]:02x})")
    return Document(body, bom=bom)


def _other(body: bytes, encoding: str) -> Document | DocumentError:
    try:
        text = body.decode(encoding)
        same = text.encode(encoding) == body
    except UnicodeDecodeError as error:
        return DocumentError(f"is not {encoding}, the encoding it declares (line {_line_of(body, error.start)})")
    except UnicodeError:
        return DocumentError(f"is not {encoding}, the encoding it declares")
    if not same or "\0" in text:
        return DocumentError(f"does not survive decoding and encoding in {encoding}")
    return Document(text.encode("utf-8"), encoding=encoding)


def _line_of(data: bytes, offset: int) -> int:
    return 1 + len(re.findall(rb"\r\n?|\n", data[:offset]))


def read(path: str) -> bytes | DocumentError:
    """Read a whole file, and make sure that nobody wrote to it meanwhile."""
    try:
        with open(path, "rb", buffering=0) as file:
            before = os.fstat(file.fileno())
            data = file.read()
            after = os.fstat(file.fileno())
    except OSError as error:
        return DocumentError(f"cannot be read: {describe(error)}")
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        return DocumentError("changed while it was read")
    return data


def write_atomically(path: str, before: bytes, after: bytes) -> DocumentError | None:
    """Replace the content `before` of a file by `after`: the file has either, never a part of it.

    Mode bits stay; a symlink stays one, its target is written. A file that is read-only or no longer holds `before` is refused.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
        if not stat.S_ISREG(status.st_mode):
            return DocumentError("was not written: it is not a regular file")
        # Renaming over a file needs no permission on the file, and root may write anything: its mode says what its owner wants.
        if not status.st_mode & 0o222 or not os.access(target, os.W_OK):
            return DocumentError("was not written: it is read-only")
        return _replace(target, status, before, after)
    except OSError as error:
        return DocumentError(f"was not written: {describe(error)}")


def _replace(target: str, status: os.stat_result, before: bytes, after: bytes) -> DocumentError | None:
    temporary = os.path.join(os.path.dirname(target), f".jaxmigrate-{os.urandom(8).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        try:
            _write_all(descriptor, after)
            _keep_owner_and_mode(descriptor, temporary, status)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        with open(target, "rb") as file:
            if file.read() != before:
                os.unlink(temporary)
                return DocumentError("was not written: it changed since it was read")
        os.replace(temporary, target)
    except BaseException:
        # Ctrl-C included: whatever ends the write leaves nothing behind.
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _keep_owner_and_mode(descriptor: int, temporary: str, status: os.stat_result) -> None:
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        # A file of somebody else that we may write becomes ours.
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    # After the owner, since changing that clears the set-id bits.
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def describe(error: OSError) -> str:
    """The reason in lower-case words, without error number and path."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
