"""The vocabulary of verify: sites and edits of a plan, the runs of a program, verdicts; no logic beyond their invariants."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

Json = dict[str, object]
"""A record as the recorder wrote it; its keys are listed in `jaxmigrate.verify.recorder`."""


class Verdict(enum.Enum):
    """What the runs say of one edit (DESIGN section 3)."""

    EQUIVALENT = "equivalent"
    DIFFERENT = "different"
    NOT_REACHED = "not reached"
    NONDETERMINISTIC = "nondeterministic"
    NOT_COMPARABLE = "not comparable"


class Kind(enum.Enum):
    """What can be recorded at a site."""

    VALUE = "value"
    """An expression: its value, or the values of the calls of the callable it gives."""
    STATEMENT = "statement"
    """Statements: whether they ran, and the values of the names that both versions bind in them."""
    CONTEXT = "context"
    """The context expression of a ``with``: whether it was entered."""
    ANNOTATION = "annotation"
    """A type expression: whether the function or assignment that carries it was executed."""
    WATCH = "watch"
    """No edit: a call whose callable holds edited places in its body, watched for the values that come out of it."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A piece of a file in the coordinates of `ast`: lines from 1, columns from 0 in UTF-8 bytes."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Site:
    """One place in which the two versions of a file differ; `before` or `after` is None where only one version has it."""

    id: int
    path: str
    """Relative to the root of the tree, with ``/``."""
    kind: Kind
    before: Span | None
    after: Span | None
    before_text: str = ""
    after_text: str = ""
    names: tuple[str, ...] = ()
    """Names that both versions bind in these statements."""
    function: str = ""
    """Qualified name of the enclosing function, empty at module level."""
    watched_by: tuple[int, ...] = ()
    """The watches of the calls into whose bodies this site falls."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What the user reads a verdict on: an edit of a codemod, or, with ``--against``, one place that differs."""

    id: int
    path: str
    line: int
    """In the original; in the migrated file if the original has nothing there."""
    column: int
    """From 0, in characters."""
    codemod: str
    """Empty for an edit that somebody else made."""
    message: str
    before: str
    after: str
    sites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Two versions of a tree and the places in which they differ."""

    sites: tuple[Site, ...]
    edits: tuple[Edit, ...]
    before: dict[str, bytes] = field(default_factory=dict)
    """Files that differ from the tree on disk in the world before: relative path -> content (``--against`` only)."""
    after: dict[str, bytes] = field(default_factory=dict)
    """The rewritten files: relative path -> content."""
    problems: tuple[tuple[str, str], ...] = ()
    """Files that could not be rewritten or compared, and why."""


class World(enum.Enum):
    """What a program runs on."""

    LEGACY = "legacy"
    """The old JAX, emulated by `jaxmigrate.legacy` on the installed one."""
    PLAIN = "plain"
    """The JAX of the interpreter as it is."""


class Program(enum.Enum):
    """How the user named what to run."""

    SCRIPT = "script"
    MODULE = "module"
    PYTEST = "pytest"


@dataclass(frozen=True, slots=True)
class Job:
    """One run of one version of a program."""

    name: str
    """``before``, ``after`` or ``again``; names the files that the run leaves."""
    program: Program
    target: str
    """Path of the script or tests relative to `cwd`, or the name of the module."""
    args: tuple[str, ...]
    root: str
    """Absolute path of the copy of the tree."""
    cwd: str
    """Working directory, inside the copy."""
    search: tuple[str, ...]
    """Absolute paths that go before all others on ``sys.path``, inside the copy."""
    world: World
    sites: tuple[Site, ...]
    side: str
    """``before`` or ``after``: which of a site's spans applies."""
    python: str
    devices: int = 8
    """Of all processes together."""
    platform: str = "cpu"
    """``cpu``, ``gpu``, ``tpu`` or ``auto``."""
    processes: int = 1
    timeout: float = 600.0
    """Seconds for the whole run."""
    legacy: str = "auto"
    """The version that `jaxmigrate.legacy` emulates, or ``auto``."""
    scope: tuple[str, ...] = ()
    """Files of the program relative to `root`: their text tells which version ``auto`` is; empty for all below `root`."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables to set besides those of the caller."""


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """What one process of a run left."""

    process: int
    status: int | None
    """Exit status; minus the signal's number if a signal ended it; None if it was still running at the time limit."""
    records: tuple[Json, ...]
    """In the order in which they were written; the last is ``end`` if the program came to its end."""
    stdout: str = ""
    stderr: str = ""
    """Both cut in the middle when large."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of one version left."""

    name: str
    processes: tuple[ProcessRun, ...]
    timed_out: bool = False
    seconds: float = 0.0
    error: str = ""
    """Why it could not be started at all."""
    notes: tuple[str, ...] = ()
    """How the processes ended, where that needs words: which one died, which were ended because they waited for it."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far floats may differ: ``|a - b| <= atol + rtol * max(|a|, |b|)``; None takes the dtype's own (see `compare`)."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True, slots=True)
class Placement:
    """Which device holds which index of an array, for the picture of a difference."""

    shape: tuple[int, ...]
    shards: tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
    """Device id and (start, stop) of each dimension."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One aspect in which two recorded values differ."""

    aspect: str
    """``shape``, ``dtype``, ``weak type``, ``devices``, ``placement``, ``values``, ``committed``, ``type``, ``exception`` ..."""
    before: str
    after: str
    where: str = ""
    """The part of the value, such as ``[0].data``; empty for the value itself."""
    placements: tuple[Placement, Placement] | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one edit, and what it rests on."""

    edit: Edit
    verdict: Verdict
    evidence: tuple[str, ...]
    """Sentences: what was compared, how often, where it differed."""
    differences: tuple[Difference, ...] = ()
    process: int | None = None
    """Of the first difference, in a run of several processes."""
    hint: str = ""
    """For ``nondeterministic``: what the values probably hang on."""
    reproduce: str = ""
    """For ``different``: a command that shows it again, with this edit alone where that is possible."""


@dataclass(frozen=True, slots=True)
class Report:
    """All that a verification found."""

    judgements: tuple[Judgement, ...]
    hazards: tuple[str, ...] = ()
    """Undefined behaviour of the original, named before anything else: replicated inputs that differ between processes,
    meshes in which a process's devices are no contiguous block."""
    program: tuple[str, ...] = ()
    """What is to be said of the program as a whole: how it ended, what of its output or final values differs."""
    program_differs: bool = False
    """Whether the program as a whole ended or computed something else, which no single edit shows."""
    errors: tuple[str, ...] = ()
    """Why a version could not be run; then nothing was verified."""
    notes: tuple[str, ...] = ()
    """Circumstances: versions, devices, tolerances, places that were not looked at."""
    runs: tuple[Run, ...] = ()
    command: str = ""

    def count(self, verdict: Verdict) -> int:
        """How many edits got this verdict."""
        return sum(j.verdict is verdict for j in self.judgements)

    @property
    def reached(self) -> int:
        """How many edits were executed in both versions."""
        return len(self.judgements) - self.count(Verdict.NOT_REACHED)

    def status(self, require: float = 0.0) -> int:
        """The exit status: 0 nothing differs and `require` percent of the edits were reached, 1 otherwise, 2 not run."""
        if self.errors:
            return 2
        different = self.count(Verdict.DIFFERENT) or self.program_differs
        enough = self.reached and 100.0 * self.reached >= require * len(self.judgements)
        return 0 if enough and not different else 1
