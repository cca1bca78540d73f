"""Programs that an operator named, run to be read: without a shell, for a bounded time, to a bounded length."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_OUTPUT_BYTES = 1_000_000
PLAIN = {
    "COLUMNS": "120",
    "LINES": "50",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}
"""So that the same program says the same on every terminal."""
_COLOURING = {"FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE"}


@dataclass(frozen=True, slots=True)
class Ran:
    status: int | None
    """None where it was ended: it took too long, or said too much."""
    said: bytes
    """Both its outputs, up to the bound."""
    why: str = ""
    """It was ended."""


def ran(
    command: Sequence[str], *, folder: Path, timeout_seconds: float, environment: Mapping[str, str] | None = None
) -> Ran:
    """Raises OSError where it cannot be started. Everything that it started ends with it."""
    wanted = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    process = subprocess.Popen(
        list(command),
        cwd=folder,
        env={**wanted, **PLAIN, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, why = _read(process, time.monotonic() + timeout_seconds)
        if why:
            return Ran(None, said, why)
        return Ran(process.wait(timeout=timeout_seconds), said)
    except subprocess.TimeoutExpired:
        return Ran(None, b"", f"It was still running after {timeout_seconds:g} seconds.")
    finally:
        _end(process)


def _read(process: "subprocess.Popen[bytes]", until: float) -> tuple[bytes, str]:
    if process.stdout is None:
        return b"", ""
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, until - time.monotonic())):
                return bytes(said), "It was still running when its time was over."
            part = os.read(process.stdout.fileno(), 65_536)
            if not part:
                return bytes(said), ""
            said += part
            if len(said) > MAX_OUTPUT_BYTES:
                return bytes(said[:MAX_OUTPUT_BYTES]), f"It said more than {MAX_OUTPUT_BYTES:,} bytes."


def _end(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
