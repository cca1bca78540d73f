"""Which port a node takes."""

import socket
from pathlib import Path

from local.errors import CommandError
from local.opensearch.configuration import ANY_PORT
from local.opensearch.record import last_port


def choose_port(asked: int, state: Path) -> int:
    """The port that was asked for, else the last one if it is free, else any. Raises CommandError when it is taken."""
    if asked != ANY_PORT:
        if not is_free(asked):
            raise CommandError(f"Port {asked} is in use.", "Choose another, or leave --port out: a free one is taken.")
        return asked
    last = last_port(state)
    return last if last is not None and is_free(last) else ANY_PORT


def is_free(port: int) -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
