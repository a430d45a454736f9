"""What devices, shardings and abstract values print: code and tests that compare or take apart such text.

https://docs.jax.dev/en/latest/changelog.html (0.6.1, 0.9.1, 0.10.0)
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from jaxmigrate.codemod import MANUAL, Codemod, FileSite, Manual, Reports, StringSite, last_part

from ._arrays import uses_jax
from ._changes import before, builtin_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxmigrate.names import Source

codemod = Codemod(
    "printed-forms",
    summary="devices, PartitionSpecs and abstract values print otherwise",
    since="0.6.1",
    deprecated=None,
    removed=None,
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"jax"}),
    applicability=MANUAL,
)

_FORMS = {
    "TFRT_CPU": (
        "0.10.0",
        re.compile(r"TFRT_CPU"),
        'str of a CPU device is "cpu:0" since 0.10.0, and was "TFRT_CPU_0": ask for its id',
    ),
    "ShapedArray": (
        "0.6.1",
        re.compile(r"ShapedArray\\?\("),
        'str of an abstract value is "float32[2]" since 0.6.1, and was "ShapedArray(float32[2])": ask for shape and dtype',
    ),
    "PartitionSpec": (
        "0.9.1",
        re.compile(r"PartitionSpec\((?:'|None|\(|$)|PartitionSpec\\\("),
        "a PartitionSpec prints as P('x',) since 0.9.1, and as PartitionSpec('x',) before: compare the spec itself",
    ),
}

_TAKEN_APART = frozenset({"split", "rsplit", "partition", "rpartition", "startswith", "endswith", "replace", "index", "find"})


@codemod.file
@before("0.10.0")
def name_of_device(site: FileSite) -> Iterator[Manual]:
    """``str(device).split("_")``."""
    for call in builtin_calls(site.source, "str"):
        around = site.source.parent(call)
        whole = site.source.parent(around) if isinstance(around, ast.Attribute) else None
        taken = isinstance(around, ast.Attribute) and around.attr in _TAKEN_APART and isinstance(whole, ast.Call)
        if not taken and not (isinstance(around, ast.Subscript) and around.value is call):
            continue
        named = isinstance(whole, ast.Call) and any("TFRT_CPU" in site.text(a) for a in whole.args)
        if len(call.args) == 1 and site.source.infer(call.args[0]) == "jax.Device" and not named:
            yield site.manual(_FORMS["TFRT_CPU"][2], call)


_SEARCHES = frozenset({
    "startswith", "endswith", "replace", "removeprefix", "match", "search", "fullmatch", "find", "index", "split", "count", "sub",
})  # fmt: skip


@codemod.string(*_FORMS)
@before("0.10.0")
def text(site: StringSite) -> Reports:
    """A string that is compared, searched for or expected."""
    release, form, message = _FORMS[site.symbol]
    if not site.is_older_than(release) or not form.search(site.value) or not uses_jax(site.source):
        return None
    return site.manual(message) if _is_expected(site.source, site.node) else None


def _is_expected(source: Source, node: ast.AST) -> bool:
    """Whether the text is one side of a comparison, or an argument of an assertion or of a search."""
    parent = source.parent(node)
    if isinstance(parent, ast.Compare):
        return True
    if isinstance(parent, (ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.BinOp)):
        return _is_expected(source, parent)
    if not isinstance(parent, ast.Call):
        return False
    called = last_part(parent.func)
    return called.startswith(("assert", "raises")) or called in _SEARCHES
