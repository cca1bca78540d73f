"""Entry point of the program `commonplace`, which ends on Ctrl-C without a traceback."""

import sys

from local.errors import INTERRUPTED


def main() -> None:
    """Runs the command line."""
    try:
        from local.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
