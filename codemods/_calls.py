"""Calls whose function has another name, and arguments with other names, today."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from jaxmigrate.codemod import REVIEW, CallSite, Codemod, EditCall, NameSite, Reports, Rewrite, Template
from jaxmigrate.model import Version


def no_common_spelling(site: CallSite, new: str) -> str:
    """Why no name serves both the target and the newest release, where the target still has the old one; empty if one does."""
    since = site.source.facts.since_of(new)
    old = site.source.facts.history.entry(site.symbol)
    if since is None or since <= site.target or old is None or not old.at(site.target):
        return ""
    return f"{site.symbol} is {new} now, but that came with JAX {since}, after the target {site.target}: choose by version"


def renamed_partial(site: CallSite, new: str, **added: str) -> EditCall:
    """``partial(old, ...)`` with another function and further keyword arguments."""
    function = site.replace(f"{{{new}}}", site.node.args[0])
    return EditCall(site.node, values={0: function.new}, append=tuple((k, Template(v)) for k, v in added.items()))


def partial_of(site: CallSite, function: str) -> Rewrite:
    """``partial(old, ...)`` with the template of a lambda that has the parameters of the old function."""
    edit = EditCall(site.node, values={0: site.replace(function, site.node.args[0]).new})
    return Rewrite(f"{site.symbol} is gone; a lambda does the same", REVIEW, (edit,))


def needed(*versions: str) -> str:
    """The newest of some releases."""
    return str(max(map(Version.parse, versions)))


def rewritten(site: CallSite, template: str, rename: Mapping[str, str]) -> Template:
    """The arguments of a call as they stand, comments and all, in the hole `{arguments}` of a template."""
    start, end = site.source.span(site.node.func)[1], site.source.span(site.node)[1]
    text = site.source.unix(start, end)
    shift = 0
    for keyword in site.node.keywords:
        if keyword.arg is not None and keyword.arg in rename:
            at = len(site.source.unix(start, site.source.span(keyword)[0])) + shift
            text = text[:at] + rename[keyword.arg] + text[at + len(keyword.arg) :]
            shift += len(rename[keyword.arg]) - len(keyword.arg)
    return Template(template.replace("{arguments}", text.lstrip().replace("{", "{{").replace("}", "}}")))


def argument(site: CallSite, position: int, name: str) -> ast.expr | None:
    """An argument by its place or its name; None where it is not given."""
    positional, found = site.positional(), site.keyword(name)
    if len(positional) > position:
        return positional[position]
    return found.value if found else None


def passed_on(codemod: Codemod, table: Mapping[str, str], since: Mapping[str, str] | None = None) -> None:
    """Let a codemod of calls write functions for its names where they are passed on: old name -> template.

    `since` tells from which release on the arguments that a template gives are taken, where that is later than the function.
    """

    @codemod.name_(*table)
    def value(site: NameSite) -> Reports:
        template, parent = table[site.symbol], site.parent()
        if site.quoted or not site.direct or site.role not in ("value", "alias"):
            return None
        if isinstance(parent, ast.Call) and parent.args[:1] == [site.node] and _is_partial(site, parent):
            return None
        new = _names(template)[-1:]
        first = site.source.facts.since_of(new[0]) if new else None
        needs = (since or {}).get(site.symbol)
        if any(v is not None and v > site.target for v in (first, Version.parse(needs) if needs else None)):
            return None
        same = f"this does the same with {new[0]}" if new else "this does the same"
        return Rewrite(f"{site.symbol} is gone; {same}", REVIEW, (site.replace(template),), requires=needs or "")


def _is_partial(site: NameSite, call: ast.Call) -> bool:
    return site.source.resolve(call.func) == "functools.partial"


def _names(template: str) -> list[str]:
    """The names that a template spells."""
    return re.findall(r"\{([\w.]+)\}", template)
