"""Where the program `commonplace` begins: from here on Ctrl-C ends it without a traceback."""

import sys

INTERRUPTED = 130
"""What a shell reports of a program that was ended by Ctrl-C."""


def main() -> None:
    """Runs the command line."""
    try:
        from local.cli import app

        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
