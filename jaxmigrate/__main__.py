"""``python -m jaxmigrate``."""

import sys

from jaxmigrate.cli import main

sys.exit(main())
