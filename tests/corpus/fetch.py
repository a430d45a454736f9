"""Pinned packages of the package index, downloaded once by pip (which checks their hashes) and unpacked into a cache.

A pin file is a pip requirements file in which every line is ``name==version --hash=sha256:...``. Wheels only: nothing of a
package is built, installed or run. Only tests that a wheel lacks are taken from source distributions, of which pip asks the metadata. The cache is ``.corpus/`` in the repository, or the folder named by ``JAXMIGRATE_CORPUS``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PLATFORM = ("--platform=manylinux2014_x86_64", "--platform=manylinux_2_28_x86_64", "--python-version=3.11", "--implementation=cp")
"""Wheels with compiled parts are only read, so one platform serves every machine and the hashes stay the same; whatever Python a
package asks for."""


class Unavailable(Exception):
    """The packages could not be fetched; the message says why."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One line of a pin file."""

    name: str
    version: str
    line: str

    @property
    def folder(self) -> str:
        """The name of its unpacked tree."""
        return f"{self.name}-{self.version}"

    def is_wheel(self, filename: str) -> bool:
        """Whether a wheel of that file name is this package's."""
        name, version = filename.split("-")[:2]
        return _normal(name) == _normal(self.name) and version == self.version


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def cache() -> Path:
    """The folder that keeps wheels, trees and environments between runs."""
    return Path(os.environ.get("JAXMIGRATE_CORPUS") or ROOT / ".corpus")


def read_pins(path: Path) -> list[Pin]:
    """The pins of a requirements file, in its order."""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    pins = []
    for line in lines:
        if line and not line.startswith(("#", "--")):
            name, version = line.split()[0].split("==")
            pins.append(Pin(name, version, line))
    return pins


def fetch(pins: Sequence[Pin]) -> dict[str, Path]:
    """Package name -> folder of its unpacked wheel, downloading what the cache lacks.

    Raises:
        Unavailable: pip is missing, or it could not download the packages, or a hash differs.
    """
    trees = cache() / "trees"
    missing = [pin for pin in pins if not (trees / pin.folder).is_dir()]
    if missing:
        _unpack(missing, _download(missing), trees)
    return {pin.name: trees / pin.folder for pin in pins}


def fetch_tests(pins: Sequence[Pin], trees: Mapping[str, Path]) -> dict[str, Path]:
    """Package name -> a tree with the wheel's modules and the tests of the source distribution.

    Raises:
        Unavailable: pip could not download one of them, or a hash differs.
    """
    folder = cache() / "trees"
    for pin in pins:
        if not (folder / f"{pin.folder}+tests").is_dir():
            _add_tests(_source(pin), trees[pin.name], folder / f"{pin.folder}+tests")
    return {pin.name: folder / f"{pin.folder}+tests" for pin in pins}


def _source(pin: Pin) -> Path:
    """The downloaded source distribution."""
    sources = cache() / "sources" / pin.folder
    if not any(sources.glob("*.tar.gz")):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(pin.line)
            file.flush()
            options = ["--quiet", "--no-deps", "--require-hashes", "--ignore-requires-python", "--no-binary=:all:"]
            _pip("download", *options, "--dest", str(sources), "-r", file.name)
    return next(sources.glob("*.tar.gz"))


def _add_tests(source: Path, tree: Path, place: Path) -> None:
    partial = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    shutil.copytree(tree, partial, dirs_exist_ok=True)
    with tarfile.open(source) as archive:
        for member in archive.getmembers():
            inside = member.name.split("/")[1:]
            if inside and inside[0] in ("test", "tests") and member.isfile():
                archive.extract(member.replace(name="/".join(inside)), partial, filter="data")
    try:
        partial.rename(place)
    except OSError:
        shutil.rmtree(partial)


def _download(pins: Sequence[Pin]) -> Path:
    wheels = cache() / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    names = [path.name for path in wheels.glob("*.whl")]
    wanted = [pin for pin in pins if not any(pin.is_wheel(name) for name in names)]
    if wanted:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("\n".join(pin.line for pin in wanted))
            file.flush()
            _pip(
                "download",
                "--quiet",
                "--no-deps",
                "--require-hashes",
                "--ignore-requires-python",
                "--only-binary=:all:",
                *PLATFORM,
                "--dest",
                str(wheels),
                "-r",
                file.name,
            )
    return wheels


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"pip did not run: {error}") from error
    if done.returncode:
        raise Unavailable("pip could not fetch the pinned packages: " + " | ".join(done.stderr.strip().splitlines()[-3:]))


def _unpack(pins: Sequence[Pin], wheels: Path, trees: Path) -> None:
    trees.mkdir(parents=True, exist_ok=True)
    for pin in pins:
        wheel = next((path for path in wheels.glob("*.whl") if pin.is_wheel(path.name)), None)
        if wheel is None:
            raise Unavailable(f"pip said it downloaded {pin.name} {pin.version}, but no wheel of that name is in the cache")
        # A rename at the end, so that an interrupted run leaves no half tree and two runs at once do no harm.
        partial = Path(tempfile.mkdtemp(prefix=f".{pin.folder}-", dir=trees))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(partial, [name for name in archive.namelist() if name.endswith(".py")])
        try:
            partial.rename(trees / pin.folder)
        except OSError:
            shutil.rmtree(partial)
