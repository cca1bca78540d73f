"""Entry point of the program `commonplace`, which ends on Ctrl-C without a traceback."""

import sys

from commonplace_local.errors import INTERRUPTED


def main() -> None:
    """Runs the command line."""
    try:
        from commonplace_local.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
