"""The values of the Lambda host: what a function is, what one call of it is, and the errors that AWS itself reports."""

import json
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.cloud.environment import ACCOUNT, REGION

MAX_PAYLOAD_BYTES = 6_291_456  # synchronous, both ways (AWS Lambda quotas)


class FunctionFailed(Exception):
    """An invoked function raised, timed out or died; `kind` is the name of its error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.kind, self.message = str(error.get("errorType", "")), str(error.get("errorMessage", ""))
        super().__init__(f"{self.kind}: {self.message}")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the template. `path` are the folders that AWS would unpack to /var/task and /opt/python."""

    name: str
    handler: str
    path: tuple[Path, ...]
    variables: Mapping[str, str]
    timeout_seconds: float = 3
    memory_mb: int = 128
    concurrency: int = 4
    log_format: str = "Text"
    log_level: str | None = None

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an invocation came to: the function's JSON, or the error object that AWS puts in its place."""

    payload: bytes
    failed: bool = False


@dataclass(eq=False, slots=True)
class Call:
    """One invocation on its way. The first `finish` wins: an answer, a timeout and a crash may race."""

    payload: bytes
    arn: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    deadline: float = 0.0  # epoch seconds, set when an environment takes the call
    outcome: Outcome | None = None
    taken: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def trace(self) -> str:
        return f"Root=1-{int(time.time()):08x}-{self.id.replace('-', '')[:24]};Sampled=0"

    def finish(self, outcome: Outcome) -> bool:
        """Whether this outcome is the one that counts."""
        with self._lock:
            if self.outcome is not None:
                return False
            self.outcome = outcome
        self.taken.set()
        self.done.set()
        return True


def platform_error(kind: str, message: str) -> Outcome:
    """An error that comes from the platform, not from the handler."""
    return Outcome(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)


def timed_out(call: Call, seconds: float) -> Outcome:
    return platform_error("Sandbox.Timedout", f"RequestId: {call.id} Error: Task timed out after {seconds:.2f} seconds")


def exited(call: Call, status: int) -> Outcome:
    how = f"signal: {-status}" if status < 0 else f"exit status {status}"
    return platform_error("Runtime.ExitError", f"RequestId: {call.id} Error: Runtime exited with error: {how}")


def too_large(size: int) -> Outcome:
    message = f"Response payload size ({size} bytes) exceeded maximum allowed payload size ({MAX_PAYLOAD_BYTES} bytes)."
    return platform_error("Function.ResponseSizeTooLarge", message)


def stopped() -> Outcome:
    return platform_error("Lambda.ServiceException", "The laptop cloud is stopping.")
