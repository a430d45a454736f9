"""Which old JAX a program was written for, from the names it uses and the arguments it passes."""

from __future__ import annotations

import ast
import io
import itertools
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SEPARATE = rb"\b(GlobalDeviceArray|ShardedDeviceArray|make_sharded_device_array|jax_parallel_functions_output_gda)\b"
"""Names of the time when each kind of array had a class of its own; `FROM_GDA` also took arrays of the one new class."""
NEWER = (
    rb"\b(in_shardings|out_shardings|jax\.sharding|make_array_from_callback|make_array_from_single_device_arrays"
    rb"|host_local_array_to_global_array|global_array_to_host_local_array|addressable_shards|addressable_data"
    rb"|is_fully_addressable)\b|from jax import (.*\W)?sharding\b"
)
"""Names of the time of the one new class."""
GLOBAL = (
    rb"\b(make_array_from_callback|make_array_from_single_device_arrays|host_local_array_to_global_array"
    rb"|global_array_to_host_local_array|addressable_shards|addressable_data|is_fully_addressable|jax\.Array)\b"
    rb"|update\(\s*['\"]jax_array['\"],\s*True"
)
"""Names of programs that make or take apart arrays of several processes themselves; others give pjit host-local ones."""
NEW_CLASS = rb"\bjax\.Array\b"
"""As evidence it yields to `DeviceArray`, beside which it is the other arm of a test."""
OLD_CLASS = rb"\bDeviceArray\b"
READS_FLAG = rb"(config|FLAGS)\.jax_array\b"
CONSTRUCTORS = frozenset({"GlobalDeviceArray", "from_callback", "from_batched_callback", "from_batched_callback_with_devices"})

_BEGINNINGS = (tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@dataclass(frozen=True, slots=True)
class Signs:
    """What the texts of a program say."""

    separate: bool
    newer: bool
    reads_flag: bool
    host_local: bool
    """Several processes run it, and nothing in it makes arrays of them all, so pjit did, which new arrays ended."""
    lists: bool
    """Specs or shapes of GlobalDeviceArrays are lists, which only the first releases took."""
    numbered: int
    """How many arguments of pjit after the third are numbers of arguments, which no spec can be."""

    @property
    def jax_array(self) -> bool:
        """Whether arrays are of the one new class."""
        if self.lists or self.host_local:
            return False
        if self.separate:
            return self.newer and self.reads_flag
        return self.newer or self.reads_flag

    @property
    def version(self) -> str:
        """A version in which all of it worked."""
        if self.lists:
            return "0.3.1"
        if not (self.newer or self.reads_flag):
            return "0.3.25"
        # The fourth was static_argnums until 0.4.3, the fifth donate_argnums until 0.4.1.
        return ("0.4.6", "0.4.3", "0.4.1")[self.numbered]


def guess(sources: Iterable[bytes], *, processes: int = 1) -> tuple[str, bool]:
    """The version that fits the texts of a program, and whether its arrays are of the one new class `jax.Array`."""
    texts = [_code(source) for source in sources]
    calls = [call for text in texts for call in _calls(text)]
    signs = Signs(
        separate=_any(SEPARATE, texts),
        newer=_any(NEWER, texts) or (_any(NEW_CLASS, texts) and not _any(OLD_CLASS, texts)),
        reads_flag=_any(READS_FLAG, texts),
        host_local=processes > 1 and not _any(GLOBAL, texts),
        lists=any(_gives_lists(call) for call in calls),
        numbered=max(map(_numbered, calls), default=0),
    )
    return signs.version, signs.jax_array


def _code(source: bytes) -> bytes:
    """A program without comments and docstrings, whose words say nothing."""
    lines = source.splitlines(keepends=True)
    begins = True
    try:
        for token in tokenize.tokenize(io.BytesIO(source).readline):
            if token.type == tokenize.COMMENT or (begins and token.type == tokenize.STRING):
                _blank(lines, token)
            elif token.type != tokenize.NL:
                begins = token.type in _BEGINNINGS
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return source
    return b"".join(lines)


def _blank(lines: list[bytes], token: tokenize.TokenInfo) -> None:
    """Empty the part of the lines that a token takes; columns count characters, of which a line has fewer than bytes."""
    (first, column), (last, end) = token.start, token.end
    for number in range(first, last + 1):
        text = lines[number - 1].decode("utf-8", "replace")
        left, right = column if number == first else 0, end if number == last else len(text.rstrip("\r\n"))
        lines[number - 1] = (text[:left] + text[right:]).encode()


def _any(pattern: bytes, texts: Iterable[bytes]) -> bool:
    return any(re.search(pattern, text) for text in texts)


def _calls(text: bytes) -> Iterator[ast.Call]:
    if not re.search(rb"\b(pjit|GlobalDeviceArray)\b", text):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _gives_lists(call: ast.Call) -> bool:
    if _name(call) not in CONSTRUCTORS:
        return False
    shape = call.args[:1] + [word.value for word in call.keywords if word.arg == "global_shape"]
    axes = call.args[2:3] + [word.value for word in call.keywords if word.arg == "mesh_axes"]
    return any(isinstance(node, ast.List) for node in shape) or any(isinstance(node, ast.List | ast.Tuple) for node in axes)


def _numbered(call: ast.Call) -> int:
    rest = call.args[3:5] if _name(call) == "pjit" else []
    return len(list(itertools.takewhile(_is_number, rest)))


def _is_number(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return all(isinstance(part, ast.Constant) and isinstance(part.value, int) for part in parts)
