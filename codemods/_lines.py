"""Arguments of a call that a codemod writes: on one line, or on a line each as they were."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmigrate.codemod import Site

_WIDTH = 115
"""Of the old text, which is longer than the new one."""


def is_long(site: Site) -> bool:
    """Whether the expression is spread over lines and would not fit into one."""
    text = site.text()
    return "\n" in text and site.node.col_offset + len(" ".join(text.split())) > _WIDTH  # type: ignore[attr-defined]


def spread(site: Site, arguments: Sequence[str]) -> str:
    """The arguments of a call that takes the place of the site's, each on a line of its own."""
    source = site.source
    start = source.offset(source.position(source.span(site.node)[0]).line, 0)
    line = source.utf8[start:].decode("utf-8")
    pad = line[: len(line) - len(line.lstrip(" \t"))]
    return "".join(f"\n{pad}{source.indent_unit}{argument}," for argument in arguments) + f"\n{pad}"
