"""Run a program before and after its migration and judge every edit by what the runs recorded (DESIGN section 6).

`verify` is the whole of it: plan the edits, copy the tree, run the original once and the result twice, judge.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from jaxmigrate.legacy import OLDEST_HOST
from jaxmigrate.model import Settings, Version
from jaxmigrate.verify.copy import Workspace, root_of
from jaxmigrate.verify.judge import judge
from jaxmigrate.verify.launch import probe, run_all
from jaxmigrate.verify.model import Edit, Job, Plan, Program, Report, Run, Tolerance, World
from jaxmigrate.verify.plan import PlanError, loaded_scope, only, plan_against, plan_rewrite


class WrongRequest(ValueError):
    """The request cannot be carried out as it stands; the message says why."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to verify, and how."""

    program: Program
    target: str
    """Path of the script or the tests, or name of the module, as the user gave it."""
    settings: Settings
    args: tuple[str, ...] = ()
    cwd: str = field(default_factory=os.getcwd)
    exclude: tuple[str, ...] = ()
    """Patterns of files that are not rewritten, relative to `exclude_base`."""
    exclude_base: str = "."
    paths: tuple[str, ...] = ()
    """Only files below these are rewritten; empty for all of the tree."""
    against: str | None = None
    """What the program was before somebody else migrated it: a file or a tree."""
    devices: int = 8
    processes: int = 1
    platform: str = "cpu"
    timeout: float = 600.0
    """Seconds for each run."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    inputs: tuple[str, ...] = ()
    python: str = sys.executable
    before_python: str | None = None
    legacy: str = "auto"
    edits: frozenset[int] = frozenset()
    """The ids of the only edits to record and judge; empty for all."""
    command: str = ""
    """How the user asked, for the command that shows a difference again."""


def verify(request: Request, say: Callable[[str], None] = lambda _: None) -> Report:
    """Judge every edit by running the program before and after; `say` is told what happens.

    Raises:
        WrongRequest: the request names something that is not there, or that does not fit together.
    """
    return verified(request, say)[1]


def verified(request: Request, say: Callable[[str], None] = lambda _: None) -> tuple[Plan, Report]:
    """The plan and what the runs say of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of the user's files, which are parsed again and again
        return _verified(request, say)


def _verified(request: Request, say: Callable[[str], None]) -> tuple[Plan, Report]:
    root = root_of_request(request)
    plan, scope = _plan(request, root)
    error = _unfit(request)
    if error or not plan.edits:
        return plan, Report((), errors=(error,) if error else (), notes=_notes(plan), command=request.command)
    with Workspace(root, plan, cwd=request.cwd, target=_script(request), inputs=request.inputs) as workspace:
        times = "once as it was and twice as it became"
        say(f"jaxmigrate executes {request.target} {times}, in copies of {_shown(root)} ({workspace.files} files)")
        runs = _run(request, plan, root, workspace, tuple(sorted(scope)))
        report = judge(
            plan, runs["before"], runs["after"], runs["again"], tolerance=request.tolerance, scope=scope, command=request.command
        )
    judgements = tuple(replace(j, edit=_as_seen(j.edit, root, request.cwd)) for j in report.judgements)
    return plan, replace(report, judgements=judgements, notes=(*report.notes, *_notes(plan), *_left_out(workspace)))


def _as_seen(edit: Edit, root: str, cwd: str) -> Edit:
    """The edit with its path as one would write it in the working directory."""
    path = os.path.relpath(os.path.join(root, edit.path), cwd)
    return edit if path.startswith("..") else replace(edit, path=path.replace(os.sep, "/"))


def root_of_request(request: Request) -> str:
    """The top of the tree that is copied, by which the paths in plans and reports are named."""
    script = _script(request)
    return root_of(os.path.abspath(os.path.join(request.cwd, script)) if script else None, request.cwd)


def _script(request: Request) -> str | None:
    """The path that the program is at; None for a module."""
    return None if request.program is Program.MODULE else request.target.partition("::")[0]


def _plan(request: Request, root: str) -> tuple[Plan, frozenset[str]]:
    """The edits to judge, and the files that the program may load; the edits in these are numbered first."""
    if request.against is not None:
        if not os.path.exists(request.against):
            raise WrongRequest(f"--against: {request.against!r} does not exist")
        try:
            plan = plan_against(request.against, root, _script(request))
        except PlanError as error:
            raise WrongRequest(str(error)) from None
    else:
        plan = plan_rewrite(root, request.settings, paths=request.paths, exclude=request.exclude, base=request.exclude_base)
    scope = loaded_scope(plan, root, request.program, request.target, request.cwd)
    edits = sorted(plan.edits, key=lambda edit: edit.path not in scope)
    plan = replace(plan, edits=tuple(replace(edit, id=number) for number, edit in enumerate(edits, 1)))
    unknown = request.edits - {edit.id for edit in plan.edits}
    if unknown:
        ids = ", ".join(map(str, sorted(unknown)))
        raise WrongRequest(f"--edit: there is no edit {ids}; the report numbers them from 1 to {len(plan.edits)}")
    return (only(plan, request.edits) if request.edits else plan), scope


def _unfit(request: Request) -> str:
    """Why the interpreters cannot run this; empty if they can."""
    found = probe(request.python)
    if found.error:
        return found.error
    if request.before_python is not None:
        return probe(request.before_python).error
    if Version.parse(found.jax) < Version.parse(OLDEST_HOST):
        return (
            f"{request.python} has JAX {found.jax}; the old JAX is emulated on {OLDEST_HOST} and newer: "
            "take a newer one, or give an old one for the original with --before-python"
        )
    return ""


def _run(request: Request, plan: Plan, root: str, workspace: Workspace, scope: tuple[str, ...]) -> Mapping[str, Run]:
    def job(name: str, side: str, world: World, python: str) -> Job:
        return Job(
            name=name,
            program=request.program,
            target=_target(request, workspace, name),
            args=request.args,
            root=workspace.root(name),
            cwd=workspace.cwd(name),
            search=workspace.search(name),
            world=world,
            sites=plan.sites,
            side=side,
            python=python,
            devices=request.devices,
            platform=request.platform,
            processes=request.processes,
            timeout=request.timeout,
            legacy=request.legacy,
            scope=scope,
            environment=_search_in_copy(root, workspace.root(name)),
        )

    old = World.LEGACY if request.before_python is None else World.PLAIN
    jobs = [
        job("before", "before", old, request.before_python or request.python),
        job("after", "after", World.PLAIN, request.python),
        job("again", "after", World.PLAIN, request.python),
    ]
    with tempfile.TemporaryDirectory(prefix="jaxmigrate-") as folder:
        return run_all(jobs, Path(folder))


def _target(request: Request, workspace: Workspace, name: str) -> str:
    """What the run of this name starts: the path in its copy, with the ``::test`` that a path of tests may end in."""
    if request.program is Program.MODULE:
        return request.target
    _, colons, test = request.target.partition("::")
    return f"{workspace.target(name)}{colons}{test}"


def _search_in_copy(root: str, copy: str) -> tuple[tuple[str, str], ...]:
    """``PYTHONPATH`` with what lies in the tree replaced by the copy: else the original would be imported."""
    top = os.path.realpath(root)
    paths = [os.path.realpath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    mapped = [os.path.normpath(os.path.join(copy, os.path.relpath(p, top))) if _below(p, top) else p for p in paths]
    return (("PYTHONPATH", os.pathsep.join(mapped)),) if paths else ()


def _below(path: str, root: str) -> bool:
    return os.path.commonpath([path, root]) == root


def _notes(plan: Plan) -> tuple[str, ...]:
    return tuple(f"{path}: {reason}" for path, reason in plan.problems)


def _left_out(workspace: Workspace) -> tuple[str, ...]:
    left = workspace.left_out
    if not left:
        return ()
    some = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    return (f"not copied because of its size: {some}; link what the program reads with --input",)


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else "this folder" if relative == "." else relative
