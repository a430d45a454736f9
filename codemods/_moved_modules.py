"""Modules that moved as a whole: a use of the module moves where its new home has the member that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping

from jaxmigrate.codemod import Codemod, Handler, NameSite, Reports
from jaxmigrate.history import History, Successor

_PATCHED = "the module only passes its names on today: patch the one that the code under test reads them from"
Moves = Mapping[str, tuple[Successor, ...]]


def move_module(codemod: Codemod, old: str, new: str, moves: Moves, besides: Container[str] = ()) -> None:
    """Move a module and its members; those that went elsewhere than `new` are moved one by one."""
    members = {name: found for name, found in moves.items() if name.startswith(f"{old}.")}
    along = {name: found for name, found in members.items() if _goes_along(found, new + name.removeprefix(old))}
    codemod.rename(along, handler=_follows)
    codemod.rename({name: found for name, found in members.items() if name not in along})
    codemod.rename({old: moves.get(old, new)}, handler=member_moves(new, besides))


def _goes_along(found: tuple[Successor, ...], new: str) -> bool:
    """Whether a member keeps its name in the new home."""
    return bool(found) and found[0].name == new


def _follows(site: NameSite) -> Reports:
    """``stax.Dense`` follows its module; only names imported by themselves are moved one by one."""
    return () if isinstance(site.node, ast.Attribute) else None


def member_moves(new: str, besides: Container[str] = (), *, quiet: bool = False) -> Handler:
    """A handler for uses of an old module; members that went elsewhere, and those `besides`, are no matter of the module.

    A `quiet` one leaves members without a new home to other codemods.
    """

    def decide(site: NameSite) -> Reports:
        attribute = site.parent()
        if not isinstance(attribute, ast.Attribute):
            return site.manual(_PATCHED) if _is_patched(site) else None
        known = site.source.facts.history
        member = _member(site, attribute, new)
        old = f"{site.symbol}.{member}"
        if old in besides or _went_elsewhere(known, old, f"{new}.{member}"):
            return ()
        since = known.since(f"{new}.{member}")
        if since is not None and since > site.target:
            return site.manual(f"{old} is {new}.{member} since {since}, after the target {site.target}: choose by version")
        if since is not None:
            return None
        return () if quiet else site.manual(_lost(known, old, new))

    return decide


def _is_patched(site: NameSite) -> bool:
    """Whether the module is handed over for one of its names to be replaced."""
    call = site.parent()
    if not isinstance(call, ast.Call) or site.node not in call.args:
        return False
    return site.text(call.func).rpartition(".")[2] in ("object", "setattr", "delattr", "multiple")


def _member(site: NameSite, attribute: ast.Attribute, new: str) -> str:
    """The name that is asked for, through submodules: ``linalg.norm``."""
    name, around = attribute.attr, site.source.parent(attribute)
    while site.source.facts.history.is_module(f"{new}.{name}") and isinstance(around, ast.Attribute):
        name, around = f"{name}.{around.attr}", site.source.parent(around)
    return name


def _went_elsewhere(known: History, name: str, new: str) -> bool:
    """Whether the tables of successors speak of this very name, and of another place than `new`."""
    advice = known.advices.get(name)
    if advice is None or (advice.verb == "none" and not advice.successors):
        return False
    return not _goes_along(advice.successors, new)


def _lost(known: History, old: str, new: str) -> str:
    """What to say of a member that the new home of its module lacks."""
    advice = known.advice(old)
    text = advice.text.lstrip("?") if advice is not None and advice.symbol == old else ""
    return text or f"{old} has no public successor: {new} has no such name"
