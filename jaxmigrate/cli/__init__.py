"""The command line: parse options, call the core, hand results to a report."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence

import click

from jaxmigrate import __version__

COMMANDS = ("rewrite", "verify", "run", "codemods", "explain")
"""Each is the module of its name, imported when it is used, with the attribute ``command``."""

FAILED = 2
"""Exit status for usage, configuration, unreadable or unparsable files and internal errors (DESIGN section 7)."""


class _Lazy(click.Group):
    """A group that imports a command only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"jaxmigrate.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from jaxmigrate.config import did_you_mean

            ctx.fail(f"No command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="jaxmigrate")
def cli() -> None:
    """Move Python code written for any JAX since 0.2 to the JAX you target."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; the entry point of the ``jaxmigrate`` script."""
    gc.disable()  # the process is short, and the runner collects now and then
    try:
        status = cli.main(arguments, prog_name="jaxmigrate", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as request:
        return request.exit_code
    except click.ClickException as error:
        error.show()
    except (click.Abort, KeyboardInterrupt):
        click.echo("jaxmigrate: interrupted", err=True)
    except BrokenPipeError:
        # Whoever read our output has gone; keep Python from complaining about it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:
        if os.environ.get("JAXMIGRATE_DEBUG"):
            raise
        click.echo(f"jaxmigrate: internal error: {type(error).__name__}: {error} (JAXMIGRATE_DEBUG=1 shows where)", err=True)
    return FAILED
