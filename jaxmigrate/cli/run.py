"""``jaxmigrate run SCRIPT [ARGS]``: an unmodified program of the old array world on the installed JAX.

The program gets a fresh interpreter in place of this one, called as ``python SCRIPT ARGS``, so that its arguments, its
``sys.path``, its standard streams, its tracebacks, its signals, its exit status and its children are those of any program.
All that is added is an environment in which Python finds `jaxmigrate.cli.startup.sitecustomize`.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import itertools
import os
import sys
from collections.abc import Iterable, Iterator

import click

from jaxmigrate.legacy import OLDEST_HOST
from jaxmigrate.model import Version

STARTUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder of the file that installs the emulation in the program's process."""

DEVICE_COUNT = "--xla_force_host_platform_device_count"

PLATFORMS = {"cpu": "cpu", "gpu": "rocm,cpu" if os.path.exists("/dev/kfd") else "cuda,cpu", "tpu": "tpu,cpu"}
"""What JAX is told; the CPU is always there as well, as it is where JAX chooses."""

MOST_SOURCES = 500
"""So many files of a program are looked into to guess what JAX it was written for."""


@click.command(
    "run",
    short_help="Run an unmodified legacy program on today's JAX.",
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "as_module", is_flag=True, help="SCRIPT is the name of a module, as for python -m.")
@click.option("--devices", type=click.IntRange(1), metavar="N", help="Simulate N devices on the CPU.")
@click.option(
    "--platform",
    type=click.Choice(["cpu", "gpu", "tpu", "auto"]),
    help="Where to run; auto leaves it to JAX. [default: as the environment says; cpu with --devices]",
)
@click.option("--legacy-jax", metavar="VERSION", help="The JAX to emulate. [default: guessed from the program]")
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    as_module: bool, devices: int | None, platform: str | None, legacy_jax: str | None, script: str, args: tuple[str, ...]
) -> None:
    """Run an unmodified legacy program on the installed JAX, as `python SCRIPT ARGS` would on the JAX of 2021 to 2023.

    GlobalDeviceArray, ShardedDeviceArray, DeviceArray, pjit with axis resources and host-local inputs and the rest of the old
    array world are emulated by jaxmigrate.legacy. Options after SCRIPT belong to the script.

    This is a stop-gap: it keeps a program alive until it is migrated with `jaxmigrate rewrite`. It is slower than JAX's own
    arrays, knows public APIs rather than JAX's internals, and follows old JAX in what it computes, not in every message.
    """
    if devices and platform not in (None, "cpu"):
        raise click.UsageError("--devices simulates devices on the CPU; it does not go with --platform " + str(platform))
    check_jax()
    entry = _entry(script, as_module)
    entries = [entry] if entry else list(_files(args))
    sources = list(_sources(entries, os.getcwd() if as_module else _folder(script)))
    environment = _environment(devices, platform, *_legacy(legacy_jax, sources))
    _become([sys.executable, *(["-m"] if as_module else []), script, *args], environment)


def check_jax() -> None:
    """Refuse to go on without a JAX that can be emulated on.

    Raises:
        click.UsageError: there is no JAX, or it is too old.
    """
    if importlib.util.find_spec("jax") is None:
        raise click.UsageError("jax is not installed beside jaxmigrate; pip install 'jaxmigrate[verify]'")
    try:
        installed = importlib.metadata.version("jax")
        too_old = Version.parse(".".join(installed.split(".")[:2])) < Version.parse(OLDEST_HOST)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return  # a source checkout or the like: the installation itself will tell
    if too_old:
        raise click.UsageError(f"jax {installed} is too old to emulate older ones on: {OLDEST_HOST} or newer is needed")


def _entry(script: str, as_module: bool) -> str | None:
    """The file that will run; None if that is no Python file."""
    if script == "-" and not as_module:
        return None
    if not as_module:
        path = os.path.join(script, "__main__.py") if os.path.isdir(script) else script
        if not os.path.isfile(path):
            raise click.BadParameter(f"there is no file {path!r}", param_hint="'SCRIPT'")
        return path
    found = _find_module(script, _search(os.getcwd()))
    if found is None and not _importable(script.partition(".")[0]):
        raise click.BadParameter(f"there is no module {script!r}", param_hint="'SCRIPT'")
    if found is not None and os.path.basename(found) == "__init__.py":
        return os.path.join(os.path.dirname(found), "__main__.py")
    return found


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _folder(script: str) -> str:
    path = os.path.realpath(script)
    return path if os.path.isdir(path) else os.path.dirname(path)


def _search(first: str) -> list[str]:
    """The places of the program's own modules."""
    return [first, *(entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry)]


def _find_module(name: str, search: list[str]) -> str | None:
    relative = os.path.join(*name.split(".")) if name else ""
    for folder in search:
        for path in (os.path.join(folder, relative, "__init__.py"), os.path.join(folder, f"{relative}.py")):
            if relative and os.path.isfile(path):
                return path
    return None


def _files(args: Iterable[str]) -> Iterator[str]:
    """The Python files that an installed program, pytest for one, is told to work on."""
    for arg in args:
        path = arg.partition("::")[0]
        if os.path.isdir(path):
            for folder, _, names in itertools.islice(os.walk(path), MOST_SOURCES):
                yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))
        elif path.endswith(".py") and os.path.isfile(path):
            yield path


def _sources(entries: Iterable[str], first: str) -> Iterator[bytes]:
    """The text of the program and of those of its own modules that its imports lead to."""
    search, waiting, seen = _search(first), list(entries), set[str]()
    while waiting and len(seen) < MOST_SOURCES:
        path = os.path.realpath(waiting.pop())
        if path in seen:
            continue
        seen.add(path)
        try:
            with open(path, "rb") as file:
                text = file.read()
            names = list(_imports(ast.parse(text)))
        except (OSError, ValueError, SyntaxError, RecursionError):
            continue
        yield text
        places = [os.path.dirname(path), *search]
        waiting += [found for name in names if (found := _find_module(name, places)) is not None]


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (".".join(filter(None, (node.module, alias.name))) for alias in node.names)
            yield node.module or ""


def _legacy(version: str | None, sources: list[bytes]) -> tuple[str, bool | None]:
    """The version to emulate and whether its `jax_array` flag starts on (None: as was the default of that version)."""
    from jaxmigrate import legacy

    guessed, jax_array = legacy.guess(sources)
    if version is None:
        return guessed, jax_array
    if version not in legacy.VERSIONS:
        from jaxmigrate.config import did_you_mean

        known = f"{legacy.VERSIONS[0]} to {legacy.VERSIONS[-1]}"
        hint = did_you_mean(version, legacy.VERSIONS)
        raise click.BadParameter(f"{version!r} is no JAX that can be emulated ({known}){hint}", param_hint="'--legacy-jax'")
    return version, None


def _environment(devices: int | None, platform: str | None, version: str, jax_array: bool | None) -> dict[str, str]:
    environment = {**os.environ, **environment_of(version, jax_array)}
    if devices:
        kept = [flag for flag in environment.get("XLA_FLAGS", "").split() if not flag.startswith(f"{DEVICE_COUNT}=")]
        environment["XLA_FLAGS"] = " ".join([*kept, f"{DEVICE_COUNT}={devices}"])
        environment["JAXMIGRATE_DEVICES"] = str(devices)
        environment.pop("JAX_NUM_CPU_DEVICES", None)  # which JAX would prefer
    if platform or devices:
        environment.pop("JAX_PLATFORMS", None)
        environment.pop("JAX_PLATFORM_NAME", None)
    if platform != "auto" and (platform or devices):
        environment["JAX_PLATFORMS"] = PLATFORMS[platform or "cpu"]
    return environment


def environment_of(version: str, jax_array: bool | None) -> dict[str, str]:
    """What a Python must find in its environment to run a program on an old JAX."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, (STARTUP, os.environ.get("PYTHONPATH")))),
        "JAXMIGRATE_LEGACY": version,
        "JAXMIGRATE_LEGACY_ARRAY": "" if jax_array is None else str(int(jax_array)),
    }


def _become(arguments: list[str], environment: dict[str, str]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # there, exec would return to the shell before the program has ended
        import subprocess

        raise click.exceptions.Exit(subprocess.call(arguments, env=environment))
    os.execve(arguments[0], arguments, environment)
