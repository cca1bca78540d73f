"""Where the program `commonplace` begins: from here on Ctrl-C ends it without a traceback."""

import sys

from local.errors import INTERRUPTED


def main() -> None:
    """Runs the command line."""
    try:
        from local.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
