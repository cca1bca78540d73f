"""The error that the command line prints instead of a traceback."""

INTERRUPTED = 130
"""What a shell reports of a program that was ended by Ctrl-C."""


class CommandError(Exception):
    """A sentence that says what is wrong, and one that says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
