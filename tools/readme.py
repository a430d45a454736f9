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
from jaxmigrate.model import FileResult, Status
from jaxmigrate.registry import load
from jaxmigrate.reports.diff import patch

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = {
    "deg2rad.py": "codemods/deg2rad.py",
    "before.py": "fixtures/deg2rad/basic/before.py",
    "after.py": "fixtures/deg2rad/basic/after.py",
    "test_deg2rad.py": "tests/codemods/test_deg2rad.py",
}
"""The codemod that CONTRIBUTING.md adds; not one of ours yet. A test applies the patch to a copy and runs its tests."""
DEMO = ("rewrite", "--diff", "--exit-zero", "fixtures/demo")
DEMO_RUN = ("verify", "-m", "petrel.train")
WRONG = ("verify", "--against", "fixtures/global-device-array/from-callback/before.py", "tests/verify/mutants/axes-swapped-1.py")
VARIES = re.compile(r"(?<=JAX )\d+\.\d+[.\d]*|(?<=Python )\d+\.\d+[.\d]*|^note: \d+ edits in .*", re.MULTILINE)
"""What differs between installations and checkouts in what `verify` prints."""
SHOWN = 2
"""Files of the demo's patch that are shown at once; the rest is folded."""


def demo() -> str:
    """What the README's first command prints."""
    files = re.split(r"^(?=--- )", _run(*DEMO), flags=re.MULTILINE)[1:]
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
    # What a slow run overwrites on the screen (its progress) is not part of the report.
    lines = [line.rpartition("\r")[2] for line in shown.decode().replace("\r\n", "\n").replace("\x1b[K", "").split("\n")]
    text = "\n".join(lines)
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


def knowledge() -> str:
    """What became of the names that JAX lost."""
    sys.path.insert(0, str(ROOT / "tools"))
    from knowledge import table

    return table()


def example() -> str:
    """The patch that adds a codemod: the files of tools/example in their places, and its lines in the lists of codemods/."""
    patches = [_patch("codemods/__init__.py", *_with_example())]
    for name, place in EXAMPLE.items():
        patches.append(_patch(place, "", (ROOT / "tools" / "example" / name).read_text(encoding="utf-8")))
    return _block("diff", "".join(patches))


def _with_example() -> tuple[str, str]:
    """codemods/__init__.py as it is, and with the example in its two lists."""
    text = (ROOT / "codemods" / "__init__.py").read_text(encoding="utf-8")
    head, words = text.split("WORDS = (")
    last = re.findall(r'^    "\w+",\n\)', head, re.MULTILINE)[0]
    head = head.replace(last, last[:-1] + '    "deg2rad",\n)', 1)
    after = min(word for word in re.findall(r'"([^"]+)"', words.split("\n)")[0]) if word > "deg2rad")
    return text, head + "WORDS = (" + words.replace(f'"{after}"', f'"deg2rad", "{after}"', 1)


def _patch(place: str, old: str, new: str) -> str:
    text = patch(FileResult(place, Status.REWRITTEN, old.encode(), new.encode()), place).decode()
    return text if old else text.replace(f"--- a/{place}", "--- /dev/null", 1)


def verified() -> str:
    """What ``verify`` prints of the demo: two of its files and the end, the whole of it folded."""
    text = _run(*DEMO_RUN, folder="fixtures/demo")
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    chosen = [entry for entry in entries if entry.startswith(("petrel/data.py", "petrel/memory.py"))]
    shown = _block("text", "".join([*chosen, "...\n", entries[-1]]))
    return f"{shown}\n{_folded('All of it', _block('text', text))}"


def different() -> str:
    """What ``verify`` prints of a migration that swaps two axes."""
    command = _block("sh", f"jaxmigrate {' '.join(WRONG)}\n")
    return f"{command}\n{_block('text', _run(*WRONG))}"


def same(old: str, new: str) -> bool:
    """Whether two states of a document differ in nothing but versions and the like."""
    return VARIES.sub("", old) == VARIES.sub("", new)


PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {
        "demo": demo,
        "report": report,
        "codemods": codemods,
        "options": options,
        "knowledge": knowledge,
        "verify": verified,
        "verify-different": different,
    },
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
    stale = [name for name, text in fresh.items() if not same(text, (ROOT / name).read_text(encoding="utf-8"))]
    for name in stale:
        print(f"{name}: {'out of date, run python tools/readme.py' if only_check else 'refreshed'}")
        if not only_check:
            (ROOT / name).write_text(fresh[name], encoding="utf-8")
    return int(only_check and bool(stale))


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "jaxmigrate", *arguments]


def _run(*arguments: str, folder: str = ".") -> str:
    done = subprocess.run(_command(*arguments), cwd=ROOT / folder, capture_output=True, check=False)
    if done.returncode > (1 if arguments[0] == "verify" else 0):
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


if __name__ == "__main__":
    sys.exit(main())
