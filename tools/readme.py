"""Refresh what README.md and CONTRIBUTING.md show of the tool itself: `python tools/readme.py`, or `--check` to only compare.

Each generated part stands between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from jaxmigrate.codemod import Codemod
from jaxmigrate.registry import load

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = "live-buffers"
"""The codemod that CONTRIBUTING.md shows."""
DEMO = ("rewrite", "--diff", "--exit-zero", "fixtures/demo")
SHOWN = 2
"""Files of the demo's patch that are shown at once; the rest is folded."""


def demo() -> str:
    """What the README's first command prints."""
    patch = _run(*DEMO)
    files = re.split(r"^(?=--- )", patch, flags=re.MULTILINE)[1:]
    # The training loop and the data first: that is where the reshaping is.
    files.sort(key=lambda text: [name in text.split("\n", 1)[0] for name in ("data.py", "train.py")], reverse=True)
    shown, folded = "".join(files[:SHOWN]), "".join(files[SHOWN:])
    return f"{_block('diff', shown)}\n{_folded(f'The other {len(files) - SHOWN} files', _block('diff', folded))}"


def report() -> str:
    """What the same command prints on standard error, when that is a terminal of 80 columns."""
    controller, terminal = os.openpty()
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    with subprocess.Popen(_command(*DEMO), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=terminal):
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux says that the other end of a terminal is closed
            while piece := os.read(controller, 65536):
                shown += piece
    os.close(controller)
    text = re.sub(r"\r.*?\x1b\[K", "", shown.decode().replace("\r\n", "\n"))
    return _folded("The report", _block("text", re.sub(r" in [0-9.]+ s:", ":", text)))


def codemods() -> str:
    """The table of codemods."""
    rows = [
        "| codemod | what it does | new API since | old deprecated | old removed | edits |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(rows + [_row(codemod) for codemod in load().codemods.values()]) + "\n"


def options() -> str:
    """The choices that codemods offer."""
    rows = ["| option | values, the default first |", "|---|---|"]
    for codemod in load().codemods.values():
        rows += [
            f"| `{codemod.name}.{name}` | {', '.join(f'`{v}`' for v in values)} |" for name, values in codemod.options.items()
        ]
    return "\n".join(rows) + "\n"


def example() -> str:
    """One codemod as the diff that adds it."""
    module = EXAMPLE.replace("-", "_")
    case = min(path.parent for path in (ROOT / "fixtures" / EXAMPLE).glob("*/before.py"))
    files = [ROOT / "codemods" / f"{module}.py", case / "before.py", case / "after.py", ROOT / f"tests/codemods/test_{module}.py"]
    return _block("diff", "".join(_added(file) for file in files if file.exists()))


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {"demo": demo, "report": report, "codemods": codemods, "options": options},
    "CONTRIBUTING.md": {"example": example},
}


def refreshed(name: str) -> str:
    """The file `name` as it should be."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for part, make in PARTS[name].items():
        pattern = rf"(<!-- begin: {part} -->\n).*?(<!-- end: {part} -->\n)"
        if not re.search(pattern, text, re.DOTALL):
            raise SystemExit(f"{name}: no place for the part {part!r}")
        body = make()
        text = re.sub(pattern, lambda match, body=body: f"{match[1]}{body}{match[2]}", text, flags=re.DOTALL)
    return text


def main() -> int:
    """Rewrite the files, or with --check tell which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is out of date")
    only_check = parser.parse_args().check
    fresh = {name: refreshed(name) for name in PARTS}
    stale = [name for name, text in fresh.items() if text != (ROOT / name).read_text(encoding="utf-8")]
    for name in stale:
        print(f"{name}: {'out of date, run python tools/readme.py' if only_check else 'refreshed'}")
        if not only_check:
            (ROOT / name).write_text(fresh[name], encoding="utf-8")
    return int(only_check and bool(stale))


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "jaxmigrate", *arguments]


def _run(*arguments: str) -> str:
    done = subprocess.run(_command(*arguments), cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"jaxmigrate {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def _block(language: str, text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}{fence}\n"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"


def _row(codemod: Codemod) -> str:
    summary = codemod.summary.replace("|", "\\|").rstrip(".")
    last = (codemod.since, codemod.deprecated or "", codemod.removed or "", _edits(codemod))
    return f"| [`{codemod.name}`]({codemod.link}) | {summary} | {' | '.join(last)} |"


def _edits(codemod: Codemod) -> str:
    return "safe" if str(codemod.applicability) == "safe" else f"up to {codemod.applicability}"


def _added(file: Path) -> str:
    lines = file.read_text(encoding="utf-8").splitlines()
    return "".join(
        f"{line}\n" for line in [f"+++ b/{file.relative_to(ROOT).as_posix()}", *(f"+{line}".rstrip() for line in lines)]
    )


if __name__ == "__main__":
    sys.exit(main())
