"""`DeviceLocalLayout` is `Layout`, and what was `Layout` is `Format`.

The names were exchanged in JAX 0.7.0, so ``Layout`` alone does not tell which one is meant: only a file that uses the old name of
the one, or fills in the other as only the old one could be, is taken to be old, and changed as a whole.
https://docs.jax.dev/en/latest/changelog.html (0.7.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxmigrate.codemod import REVIEW, Change, Codemod, FileSite, ReplaceExpr, ReplaceText, Report, Rewrite, Template, last_part

_HOME = "jax.experimental.layout"
_DEVICE_LOCAL, _LAYOUT, _FORMAT = (f"{_HOME}.{name}" for name in ("DeviceLocalLayout", "Layout", "Format"))
_FIELDS = ("device_local_layout", "dll")

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
    old = source.names(_DEVICE_LOCAL)
    fields = [node for name in _FIELDS for node in source.by_attribute.get(name, ()) if isinstance(node.ctx, ast.Load)]
    fields = [node for node in fields if source.resolve(node) is None]
    keywords = [k for name in (_LAYOUT, _FORMAT) for call in source.calls(name) for k in call.keywords if k.arg in _FIELDS]
    if not (old or keywords or any(node.attr == "device_local_layout" for node in fields)):
        yield from _of_compiled(site)
        return
    if not site.target_has("0.7.0"):
        for node in old:
            yield site.manual(f"{_MESSAGE}; no name serves that and the target {site.target}: choose by version", at=node)
        return
    changes: list[Change] = [ReplaceExpr(node, Template(f"{{{_LAYOUT}}}")) for node in old]
    changes += [ReplaceExpr(node, Template(f"{{{_FORMAT}}}")) for node in source.names(_LAYOUT)]
    changes += [_renamed(site, keyword, "layout") for keyword in keywords]
    private = [k for call in source.calls(_DEVICE_LOCAL) for k in call.keywords if (k.arg or "").startswith("_")]
    changes += [_renamed(site, k, (k.arg or "").lstrip("_")) for k in private if site.target_has("0.8.0")]
    changes += [_called(site, node, "layout") for node in fields]
    changes += [_called(site, node, "format") for node in _of_arrays(site)]
    first = next(iter([*old, *fields, *(k.value for k in keywords)]))
    yield Rewrite(_MESSAGE, REVIEW, tuple(changes), at=first, requires="0.8.0" if private else "0.7.0")
    yield from _of_compiled(site)


def _of_arrays(site: FileSite) -> Iterator[ast.Attribute]:
    """``array.layout``, which nothing else of JAX had as long as there was a DeviceLocalLayout."""
    for node in site.source.by_attribute.get("layout", ()):
        if (
            isinstance(node.ctx, ast.Load)
            and site.source.resolve(node) is None
            and site.source.infer(node.value) in (None, "jax.Array")
        ):
            yield node


def _called(site: FileSite, node: ast.Attribute, new: str) -> Change:
    """The attribute under another name; what it is read of may change, too."""
    _, end = site.source.span(node)
    return ReplaceText(end - len(node.attr), end, new)


def _renamed(site: FileSite, keyword: ast.keyword, new: str) -> Change:
    start = site.source.offset(keyword.lineno, keyword.col_offset)
    return ReplaceText(start, start + len(keyword.arg or ""), new)


def _of_compiled(site: FileSite) -> Iterator[Report]:
    """``compiled.input_layouts()``, a property from 0.4.31 on."""
    if not site.target_has("0.7.0"):
        return
    for name, new in _COMPILED.items():
        for node in site.source.by_attribute.get(name, ()):
            if (
                not isinstance(node.ctx, ast.Load)
                or site.source.infer(node.value) is not None
                or not _may_be_compiled(site, node)
            ):
                continue
            call = site.source.parent(node)
            called = isinstance(call, ast.Call) and call.func is node and not call.args and not call.keywords
            whole = call if called and isinstance(call, ast.expr) else node
            message = f"{name} of a compiled function is {new}; {site.text(node.value)} is taken to be one"
            change = ReplaceExpr(whole, Template(f"{{x}}.{new}", {"x": node.value}))
            yield Rewrite(message, REVIEW, (change,), at=node, requires="0.7.0")


def _may_be_compiled(site: FileSite, node: ast.Attribute) -> bool:
    """Whether a value of unknown class may be a compiled function: this file compiles, or calls it so, and no class has the name.

    A layout is a common word (``CustomCallArgs.output_layouts`` of a wrapper of custom calls).
    """
    source = site.source
    own = [n for n in source.by_attribute.get(node.attr, ()) if isinstance(n.ctx, ast.Store)]
    fields = [
        b for b in source.bindings() if b.name == node.attr and isinstance(source.parent(b.statement or b.node), ast.ClassDef)
    ]
    compiles = any(source.resolve(n) is None for n in source.by_attribute.get("compile", ()))  # not re.compile
    compiles = compiles or bool(source.names("jax.stages.Compiled"))
    return not own and not fields and (compiles or "compiled" in last_part(node.value).lower())
