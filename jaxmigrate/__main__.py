"""``python -m jaxmigrate``."""

import os
import sys

# -m puts the current folder first on the path: a file of the user's called like a module of ours or of Python must not be run.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from jaxmigrate.cli import main

sys.exit(main())
