"""``jaxmigrate verify``: run a program before and after its migration, and give every edit a verdict."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

from jaxmigrate.cli.options import (
    Wishes,
    colored,
    configuration,
    merge,
    rewriting_options,
    settings_of,
    split_names,
    split_options,
)

if TYPE_CHECKING:
    from typing import TextIO

    from jaxmigrate.config import Config
    from jaxmigrate.model import Position, Settings
    from jaxmigrate.verify import Request
    from jaxmigrate.verify.model import Plan, Report

_PROGRAMS = ("-m", "--pytest")
_ARGUMENTS = f"{__name__}.arguments"


class _ProgramLast(click.Command):
    """A command whose own options end where the user's program begins: SCRIPT, or ``-m MODULE``, ``--pytest PATH``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        valued = {o for p in self.get_params(ctx) if isinstance(p, click.Option) and not p.is_flag for o in p.opts}
        position = 0
        while position < len(args) and args[position].startswith("-") and args[position] != "--":
            name, equals, _ = args[position].partition("=")
            takes_next = name in valued and not equals
            position += 2 if takes_next else 1
            if name in _PROGRAMS or (name.startswith("-m") and not name.startswith("--")):
                break
        head, tail = args[:position], args[position:]
        return super().parse_args(ctx, [*head, "--", *(tail[1:] if tail[:1] == ["--"] else tail)])


@click.command("verify", cls=_ProgramLast, short_help="Run a program before and after, and judge every edit.")
@click.argument("program", nargs=-1, metavar="(SCRIPT | -m MODULE | --pytest PATH) [ARGS]...")
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does; what follows are its arguments.")
@click.option("--pytest", "tests", metavar="PATH", help="Run tests both ways and judge across them; what follows goes to pytest.")
@click.option(
    "--against",
    metavar="ORIGINAL",
    help="Judge a migration made elsewhere: the program is its result, ORIGINAL the file or tree it was made of.",
)
@click.option("--devices", type=click.IntRange(1), default=8, show_default=True, metavar="N", help="Devices of all processes.")
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="M",
    help="Real processes, joined by jax.distributed, that share the devices.",
)
@click.option(
    "--platform",
    type=click.Choice(["cpu", "gpu", "tpu", "auto"]),
    default="cpu",
    show_default=True,
    help="What to run on; cpu simulates the devices.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Limit of one run.",
)
@click.option("--rtol", type=click.FloatRange(0), metavar="X", help="Relative tolerance of floats. [default: by dtype]")
@click.option("--atol", type=click.FloatRange(0), metavar="X", help="Absolute tolerance of floats. [default: by dtype]")
@click.option(
    "--require",
    type=click.FloatRange(0, 100),
    default=0.0,
    metavar="PERCENT",
    help="Fail unless that much of the edits was reached.",
)
@click.option(
    "--report",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    help="Form of what is printed. [default: text]",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report there.")
@click.option("--input", "inputs", multiple=True, metavar="PATH", help="Data to link into the copy (repeatable).")
@click.option("--edit", "edits", multiple=True, type=click.IntRange(1), metavar="ID", help="Judge only this edit (repeatable).")
@click.option("--python", metavar="PATH", help="The Python to run with. [default: the one that runs jaxmigrate]")
@click.option("--before-python", metavar="PATH", help="A Python with a real old JAX for the original, instead of the emulation.")
@click.option("--legacy-jax", metavar="VERSION", help="The old JAX to emulate, 0.3.0 to 0.4.6. [default: what fits]")
@rewriting_options
@click.option("--color/--no-color", default=None, help="Use colours. [default: on a terminal]")
@click.pass_context
def command(ctx: click.Context, /, **_: object) -> None:
    """Run a program as it is, on the old JAX, and as `rewrite` would leave it, and compare what every edited place gives.

    This EXECUTES the program: the original once and the result twice, in copies of its folder, with standard input closed.
    Values, shapes, dtypes and shardings must agree. Nothing is written to your files.

    \b
    Exit status:
      0  no edit behaves differently, and enough of them were reached (--require)
      1  one does, too few were reached, or none at all: nothing was verified
      2  the program could not be run, or wrong usage
    """
    given = ctx.params
    if given["safe_only"] and given["unsafe"]:
        raise click.UsageError("--safe-only and --unsafe exclude each other.")
    program = _program(given["program"], given["module"], given["tests"])
    project = configuration((program[1] if program[0] != "module" else ".",), given["config"])
    wishes = Wishes(
        given["target"],
        split_names(given["select"]),
        split_names(given["ignore"]),
        split_options(given["options"]),
        given["safe_only"],
        given["unsafe"],
        given["origin"],
    )
    request = _request(ctx, settings_of(merge(wishes, project)), project)
    report = _verified(request)[1]
    show(report, Shape(given["report"], given["output"], given["color"], given["require"]))
    ctx.exit(report.status(given["require"]))


def _request(ctx: click.Context, settings: Settings, project: Config, paths: tuple[str, ...] = ()) -> Request:
    """What the parsed options ask for."""
    from importlib.util import find_spec

    if find_spec("numpy") is None or find_spec("ml_dtypes") is None:
        raise click.UsageError("verify needs JAX and what comes with it; pip install 'jaxmigrate[verify]'")
    from jaxmigrate.verify import Request
    from jaxmigrate.verify.model import Program, Tolerance

    given = ctx.params
    devices, processes = given["devices"], given["processes"]
    if devices % processes:
        raise click.BadParameter(f"{devices} devices cannot be shared evenly by {processes} processes", param_hint="'--devices'")
    kind, what, arguments = _program(given["program"], given["module"], given["tests"])
    return Request(
        program=Program(kind),
        target=what,
        args=arguments,
        settings=settings,
        exclude=project.exclude,
        exclude_base=project.base,
        paths=paths,
        against=given["against"],
        devices=devices,
        processes=processes,
        platform=given["platform"],
        timeout=given["timeout"],
        tolerance=Tolerance(given["rtol"], given["atol"]),
        inputs=given["inputs"],
        python=given["python"] or sys.executable,
        before_python=given["before_python"],
        legacy=given["legacy_jax"] or "auto",
        edits=frozenset(given["edits"]),
        command=f"jaxmigrate verify {shlex.join(ctx.meta[_ARGUMENTS])}",
    )


class Shape(NamedTuple):
    """How a report is shown."""

    form: str = "text"
    output: str | None = None
    color: bool | None = None
    require: float = 0.0
    to_stderr: bool = False
    """Standard output belongs to something else."""


def _program(program: tuple[str, ...], module: str | None, tests: str | None) -> tuple[str, str, tuple[str, ...]]:
    if module is not None and tests is not None:
        raise click.UsageError("-m and --pytest exclude each other.")
    if module is not None:
        return "module", module, program
    if tests is not None:
        if not os.path.exists(tests.partition("::")[0]):
            raise click.BadParameter(f"{tests!r} does not exist", param_hint="'--pytest'")
        return "pytest", tests, program
    if not program:
        raise click.UsageError("Name the program to run: a SCRIPT, -m MODULE or --pytest PATH.")
    script, *arguments = program
    if not os.path.isfile(script):
        raise click.UsageError(f"{script!r} is not a file.")
    return "script", script, tuple(arguments)


def _verified(request: Request) -> tuple[Plan, Report]:
    from jaxmigrate.verify import WrongRequest, verified

    try:
        return verified(request, lambda text: click.echo(text, err=True))
    except WrongRequest as error:
        raise click.UsageError(str(error)) from None


def held_back(
    wanted: str, settings: Settings, project: Config, paths: tuple[str, ...], keep_unreached: bool
) -> tuple[int, dict[tuple[str, str, Position], str]]:
    """Verify what `rewrite` would do below `paths`, print the report on standard error, and name the edits not to make.

    `wanted` is what one would write behind ``jaxmigrate verify``. Paths in the result are absolute. The number is 2 when the
    program could not be run, 1 when it does something else without any edit showing why, else 0.
    """
    from jaxmigrate.model import Position
    from jaxmigrate.verify import root_of_request
    from jaxmigrate.verify.model import Verdict

    try:
        arguments = shlex.split(wanted)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--verify'") from None
    request = _request(command.make_context("verify", arguments), settings, project, paths)
    plan, report = _verified(request)
    show(report, Shape(to_stderr=True))
    good = {Verdict.EQUIVALENT, Verdict.NOT_REACHED} if keep_unreached else {Verdict.EQUIVALENT}
    verdicts = {judgement.edit.id: judgement.verdict for judgement in report.judgements}
    root = root_of_request(request)
    held: dict[tuple[str, str, Position], str] = {}
    for edit in plan.edits:
        verdict = verdicts.get(edit.id, Verdict.NOT_REACHED)
        if verdict not in good:
            held[os.path.join(root, edit.path), edit.codemod, Position(edit.line, edit.column)] = verdict.value
    return 2 if report.errors else int(report.program_differs), held


def show(report: Report, shape: Shape) -> None:
    """Write a report in the form that was asked for."""
    stream = sys.stderr if shape.to_stderr else sys.stdout
    text = _rendered(report, shape, stream)
    if shape.output is None:
        click.echo(text, nl=False, file=stream, color=True)
        return
    with open(shape.output, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    click.echo(f"report written to {shape.output}", err=True)


def _rendered(report: Report, shape: Shape, stream: TextIO) -> str:
    if shape.form == "json":
        from jaxmigrate.reports import verify_json

        return verify_json.render(report, require=shape.require)
    if shape.form == "html":
        try:
            from jaxmigrate.reports import verify_html
        except ImportError:
            raise click.ClickException("--report html needs jinja2: pip install 'jaxmigrate[verify]'") from None

        return verify_html.render(report, require=shape.require)
    from shutil import get_terminal_size

    from jaxmigrate.reports import verify_text

    on_screen = shape.output is None
    color = bool(shape.color) if not on_screen else colored(shape.color, stream)
    for_screen = on_screen and (stream.isatty() or color)
    width = get_terminal_size((100, 24)).columns if for_screen else None
    return verify_text.render(report, width=width, color=color, require=shape.require)
