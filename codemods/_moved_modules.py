"""Modules that moved as a whole: a use of the module moves where its new home has the member that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Container

from jaxmigrate.codemod import Handler, NameSite, Reports
from jaxmigrate.history import History


def member_moves(new: str, besides: Container[str] = ()) -> Handler:
    """A handler for uses of an old module; members with a line of their own, and those `besides`, are no matter of the module."""

    def decide(site: NameSite) -> Reports:
        attribute = site.parent()
        if not isinstance(attribute, ast.Attribute):
            return None
        known = site.source.facts.history
        old = f"{site.symbol}.{attribute.attr}"
        if old in besides or has_own_line(known, old):
            return ()
        since = known.since(f"{new}.{attribute.attr}")
        if since is not None and since <= site.target:
            return None
        return site.manual(lost(known, old, new))

    return decide


def has_own_line(known: History, name: str) -> bool:
    """Whether the tables of successors speak of this very name, so that another site deals with it."""
    advice = known.advices.get(name)
    return advice is not None and bool(advice.successors or advice.verb != "none")


def lost(known: History, old: str, new: str) -> str:
    """What to say of a member that the new home of its module lacks."""
    advice = known.advice(old)
    text = advice.text.lstrip("?") if advice is not None and advice.symbol == old else ""
    return text or f"{old} has no public successor: {new} has no such name"
