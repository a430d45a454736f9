"""The vocabulary every other room speaks: targets, findings, edits and results of a file; no logic beyond their invariants."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A JAX release such as ``0.4.13``, ordered by its numbers; ``0.12`` and ``0.12.0`` are equal."""

    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``0.4.13``; raise ValueError when `text` is not dotted numbers."""
        parts = text.strip().removeprefix("v").split(".")
        if not parts or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"not a JAX version: {text!r} (expected something like 0.4.13)")
        numbers = [int(part) for part in parts]
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers.pop()
        return cls(tuple(numbers))

    def __str__(self) -> str:
        numbers = self.numbers if len(self.numbers) > 2 else (*self.numbers, 0, 0)[:3]
        return ".".join(map(str, numbers))


class Applicability(enum.IntEnum):
    """How sure an edit is; the words are defined in DESIGN section 3."""

    SAFE = 0
    REVIEW = 1
    UNSAFE = 2
    MANUAL = 3

    def __str__(self) -> str:
        return self.name.lower()


class Outcome(enum.Enum):
    """What became of one finding in this run."""

    APPLIED = "applied"
    """Its edit is in the result."""
    HELD = "held"
    """It has an edit that the settings did not allow (``--safe-only``, unsafe without ``--unsafe``, or by name)."""
    MANUAL = "manual"
    """It has no edit: the message says what to do."""
    GUARDED = "guarded"
    """The old API is only the fallback of a guard, so it was left alone on purpose; nothing is left to do."""
    SUPPRESSED = "suppressed"
    """A comment in the source asked for it to be left alone."""


class Severity(enum.IntEnum):
    """How much a finding matters; reports show the gravest first."""

    URGENT = 0
    """The old API fails without a sound: a guard switches a feature off and nothing tells."""
    NORMAL = 1
    """The old API is gone, or means something else."""
    LOW = 2
    """The old API is only deprecated: listed, but not counted as left to do unless the run is strict."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the file as it was read: line from 1, column from 0 in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace the UTF-8 bytes ``[start, end)`` of a text by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a codemod recognised."""

    codemod: str
    position: Position
    end: Position
    message: str
    applicability: Applicability
    outcome: Outcome
    symbol: str = ""
    """The old API by its qualified name, e.g. ``jax.numpy.DeviceArray``."""
    before: str = ""
    """The source that the edit replaces (first splice)."""
    after: str = ""
    """What the edit puts there; empty when there is no edit."""
    requires: Version | None = None
    """The oldest JAX that has everything the edit emits."""
    held: str = ""
    """Why this very edit was held back, where the settings named it."""
    severity: Severity = Severity.NORMAL

    @property
    def outstanding(self) -> bool:
        """Whether this finding leaves something to do."""
        return self.is_left and self.severity is not Severity.LOW

    @property
    def is_left(self) -> bool:
        """Whether the old API is still there for no good reason, even if it is only deprecated."""
        return self.outcome in (Outcome.HELD, Outcome.MANUAL)


@dataclass(frozen=True, slots=True)
class Fact:
    """What a codemod noted about one place, for its look at the whole project after all files."""

    codemod: str
    value: str
    path: str
    position: Position
    end: Position


class Status(enum.Enum):
    """What became of one file."""

    UNCHANGED = "unchanged"
    REWRITTEN = "rewritten"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileResult:
    """The outcome for one file; `reason` is set for ``skipped`` and ``failed``."""

    path: str
    status: Status
    before: bytes = b""
    after: bytes = b""
    """Both are kept only for rewritten files."""
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    written: bool = False
    facts: tuple[Fact, ...] = ()
    """Kept for unchanged files too."""
    uses: Version | None = None
    """The oldest JAX that has every name of the library which the result uses and nothing guards, as far as is known."""

    @property
    def requires(self) -> Version | None:
        """The oldest JAX that the applied edits need."""
        versions = [f.requires for f in self.findings if f.outcome is Outcome.APPLIED and f.requires]
        return max(versions, default=None)

    @property
    def needs(self) -> Version | None:
        """The oldest JAX that has what the edits wrote and what the file uses besides."""
        return max((version for version in (self.requires, self.uses) if version is not None), default=None)


@dataclass(frozen=True, slots=True)
class Settings:
    """What one run was asked to do with a file; picklable, shared by all workers."""

    target: Version
    """The oldest JAX the result must run on."""
    select: frozenset[str] | None = None
    """Names of the codemods to run; None for all."""
    ignore: frozenset[str] = frozenset()
    allowed: Applicability = Applicability.REVIEW
    """The highest applicability that is applied: SAFE, REVIEW or UNSAFE."""
    options: tuple[tuple[str, str], ...] = ()
    """Choices a codemod offers, as ``codemod.option`` and value."""
    held: Mapping[tuple[str, str, Position], str] = field(default_factory=dict, hash=False)
    """Edits not to make, and why: path of the file, codemod, and where the finding lies."""
    origin: Version | None = None
    """The JAX that the program was written for, where known: what changed its behaviour since is reported."""
    strict: bool = False
    """Whether an API that is only deprecated counts as left to do."""

    def option(self, name: str, default: str) -> str:
        """The chosen value of a codemod's option such as ``global-device-array.isinstance``."""
        return dict(self.options).get(name, default)


@dataclass(frozen=True, slots=True)
class ProjectIndex:
    """What the first pass learned about the modules of the tree (DESIGN section 5)."""

    exports: dict[str, dict[str, str]] = field(default_factory=dict)
    """Module name -> public name -> qualified name of the JAX object it is bound to."""
    consumed: dict[str, frozenset[str]] = field(default_factory=dict)
    """Module name -> names that other modules of the tree import from it; ``*`` among them where one takes all."""
    patched: frozenset[str] = frozenset()
    """Names of the library to which some module of the tree assigns."""
    replaced: frozenset[str] = frozenset()
    """Those to which it assigns something that is not of the library."""
    by_name: dict[str, set[str]] = field(init=False, repr=False, compare=False)
    """The exports by their public name, whatever module has them."""

    def __post_init__(self) -> None:
        meanings: dict[str, set[str]] = {}
        for names in self.exports.values():
            for name, meaning in names.items():
                meanings.setdefault(name, set()).add(meaning)
        object.__setattr__(self, "by_name", meanings)
