"""What the command line says instead of a traceback."""


class CommandError(Exception):
    """A sentence that says what is wrong, and one that says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
