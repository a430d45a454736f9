"""`DeviceLocalLayout` is `Layout`, and what was `Layout` is `Format`.

The names were exchanged in JAX 0.7.0, so ``Layout`` alone does not tell which one is meant: only a file that uses the old name of
the one, or fills in the other as only the old one could be, is taken to be old, and changed as a whole.
https://docs.jax.dev/en/latest/changelog.html (0.7.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import REVIEW, Change, Codemod, FileSite, ReplaceExpr, ReplaceText, Report, Rewrite, Template

_HOME = "jax.experimental.layout"
_DEVICE_LOCAL, _LAYOUT = f"{_HOME}.DeviceLocalLayout", f"{_HOME}.Layout"

codemod = Codemod(
    "layout-format",
    summary="DeviceLocalLayout is Layout, and what was Layout is Format",
    since="0.7.0",
    deprecated=None,
    removed="0.7.0",
    link="https://docs.jax.dev/en/latest/changelog.html",
    words=frozenset({"DeviceLocalLayout", "device_local_layout", "input_layouts", "output_layouts"}),
    applicability=REVIEW,
)
_MESSAGE = "the names of layouts were exchanged in JAX 0.7.0: DeviceLocalLayout is Layout, and the old Layout is Format"
_COMPILED = {"input_layouts": "input_formats", "output_layouts": "output_formats"}


@codemod.file
def layouts(site: FileSite) -> Iterator[Report]:
    """All uses of a file at once, since the new name of one is the old name of the other."""
    source = site.source
    old = [node for node in source.names(_DEVICE_LOCAL) if isinstance(getattr(node, "ctx", ast.Load()), ast.Load)]
    fields = [node for node in source.by_attribute.get("device_local_layout", ()) if isinstance(node.ctx, ast.Load)]
    if (
        not old
        and not fields
        and not any(k.arg == "device_local_layout" for call in source.calls(_LAYOUT) for k in call.keywords)
    ):
        yield from _of_compiled(site)
        return
    if not site.target_has("0.7.0"):
        for node in old:
            yield site.manual(f"{_MESSAGE}; no name serves that and the target {site.target}: choose by version", at=node)
        return
    changes: list[Change] = [ReplaceExpr(node, Template(f"{{{_LAYOUT}}}")) for node in old]
    changes += [ReplaceExpr(node, Template(f"{{{_HOME}.Format}}")) for node in source.names(_LAYOUT)]
    for call in source.calls(_LAYOUT):
        changes += [_renamed(site, k) for k in call.keywords if k.arg == "device_local_layout"]
    changes += [ReplaceExpr(node, Template("{x}.layout", {"x": node.value})) for node in fields]
    first = (old or fields or source.names(_LAYOUT))[0]
    yield Rewrite(_MESSAGE, REVIEW, tuple(changes), at=first, requires="0.7.0")
    yield from _of_compiled(site)


def _renamed(site: FileSite, keyword: ast.keyword) -> Change:
    start = site.source.offset(keyword.lineno, keyword.col_offset)
    return ReplaceText(start, start + len("device_local_layout"), "layout")


def _of_compiled(site: FileSite) -> Iterator[Report]:
    """``compiled.input_layouts()``, a property from 0.4.31 on."""
    if not site.target_has("0.7.0"):
        return
    for name, new in _COMPILED.items():
        for node in site.source.by_attribute.get(name, ()):
            if not isinstance(node.ctx, ast.Load) or site.source.infer(node.value) is not None:
                continue
            call = site.source.parent(node)
            called = isinstance(call, ast.Call) and call.func is node and not call.args and not call.keywords
            whole = call if called and isinstance(call, ast.expr) else node
            message = f"{name} of a compiled function is {new}; {site.text(node.value)} is taken to be one"
            change = ReplaceExpr(whole, Template(f"{{x}}.{new}", {"x": node.value}))
            yield Rewrite(message, REVIEW, (change,), at=node, requires="0.7.0")
