"""Write the committed summary anew: ``python -m tests.corpus.update``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.corpus.rewriting import SUMMARY, originals, rewrite, summary


def main() -> None:
    """Rewrite the corpus in a temporary folder and store the counts."""
    with tempfile.TemporaryDirectory() as folder:
        SUMMARY.write_text(summary(rewrite(originals(), Path(folder)).first), "utf-8")


if __name__ == "__main__":
    main()
