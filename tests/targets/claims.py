"""What the rewriter claims for a target: its result for each fixture, unless it says itself that this will not run there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from jaxmigrate.model import Version
from tests.fixture_cases import Case, rewrite


@dataclass(frozen=True, slots=True)
class Claim:
    """A program that must run on a JAX."""

    case: Case
    program: bytes
    excluded: str
    """Why it need not, all the same; empty where it must."""


def claims(cases: Iterable[Case], target: Version) -> list[Claim]:
    """The programs that `rewrite --target` makes of the fixtures, without those that it calls unfinished or too new."""
    found = []
    for case in cases:
        result = rewrite(case.before, replace(case, settings=replace(case.settings, target=target)))
        unfinished = any(finding.outstanding for finding in result.findings)
        if not unfinished and not (result.requires and result.requires > target):
            found.append(Claim(case, result.after or case.before, _reason(case.not_on, target)))
    return found


def _reason(not_on: Mapping[str, str], target: Version) -> str:
    return next((why for version, why in not_on.items() if Version.parse(version) == target), "")
