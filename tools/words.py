"""Write the table WORDS of ``codemods/__init__.py`` anew from what the codemods declare, and ``codemods/quiet.txt``."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "codemods" / "__init__.py"


def main() -> None:
    """Replace what stands between the brackets of WORDS."""
    text = FILE.read_text("utf-8")
    modules = re.findall(r'^    "(\w+)",$', text.split("MODULES = (")[1].split("\n)")[0], re.MULTILINE)
    words = sorted({w for m in modules for w in import_module(f"jaxmigrate_codemods.{m}").codemod.words})
    lines, line = [], "   "
    for word in words:
        piece = ' "' + word.replace("\n", "\\n").replace("\r", "\\r") + '",'
        if len(line) + len(piece) > 128:
            lines.append(line)
            line = "   "
        line += piece
    table = "\n".join([*lines, line])
    FILE.write_text(re.sub(r"WORDS = \(\n.*?\n\)", lambda _: f"WORDS = (\n{table}\n)", text, flags=re.DOTALL), "utf-8")
    sys.path.insert(0, str(Path(__file__).parent))
    import_module("quiet").main()


if __name__ == "__main__":
    main()
