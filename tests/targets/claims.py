"""What the rewriter claims for a target: its result for each fixture, unless it says itself that this will not run there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jaxmigrate.model import Version
from tests.fixture_cases import EVERYTHING, Case, rewrite


@dataclass(frozen=True, slots=True)
class Claim:
    """A program that must run on a JAX."""

    case: Case
    program: bytes
    excluded: str
    """Why it need not, all the same; empty where it must."""


def claims(cases: Sequence[Case], target: Version) -> list[Claim]:
    """The programs that `rewrite --target` makes of the fixtures, without those that it calls unfinished or too new."""
    found = []
    for case in cases:
        result = rewrite(case.before, replace(case, settings=replace(case.settings, target=target)))
        unfinished = any(finding.outstanding for finding in result.findings)
        if not unfinished and not (result.requires and result.requires > target):
            found.append(Claim(case, result.after or case.before, _reason(case, target)))
    return found


def _reason(case: Case, target: Version) -> str:
    return next((why for version, why in case.not_on if Version.parse(version) == target), "")


def due(target: Version, claimed: Mapping[Version, Sequence[Claim]], verified: Version) -> list[Claim]:
    """The claims to be tested on a target: none whose very text is tested on an older and on a newer JAX, unless `EVERYTHING` is run.

    On JAX `verified` and the newest, tests/verify/test_fixtures.py runs after.py of each fixture.
    """
    if EVERYTHING:
        return list(claimed[target])
    older = {text for version, some in claimed.items() if version < target for text in _texts(some)}
    newer = {text for version, some in claimed.items() if version > target for text in _texts(some)}
    newer |= {claim.case.after for some in claimed.values() for claim in some if target < verified}
    ran = {claim.case.after for claim in claimed[target]} if target == verified else set()
    return [claim for claim in claimed[target] if claim.excluded or claim.program not in (older & newer) | ran]


def _texts(claimed: Sequence[Claim]) -> set[bytes]:
    return {claim.program for claim in claimed if not claim.excluded}
