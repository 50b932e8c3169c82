"""`python -m service.entry.cli`: the command line without the installed script."""

import sys

from service.entry.cli import main

sys.exit(main())
