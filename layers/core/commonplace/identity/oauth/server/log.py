"""One line of log for each thing that happens: what, how it ended, and why. Never of whom, never a secret.

The function's metrics are counted from these lines, so `MESSAGE`, the events and the outcomes are part of a contract.
"""

import logging
from typing import Literal

logger = logging.getLogger(__name__)

MESSAGE = "auth event"
"""Of every such line: what a metric filter looks for."""

Event = Literal["signin", "consent", "token", "refresh", "register", "revoke", "introspect", "denied", "reuse", "rpc"]
Outcome = Literal["ok", "denied", "failed"]

REUSED = ("code_replayed", "refresh_reused")
"""Reasons that tell of a stolen secret, or of a client that is badly broken."""


def record(event: Event, outcome: Outcome = "ok", reason: str = "") -> None:
    """`reason` is a stable code; a runtime that logs JSON writes the fields beside the message."""
    logger.info(MESSAGE, extra={"event": event, "outcome": outcome, "reason": reason})


def outcome_of(status: int) -> Outcome:
    """Whose fault an answer is: nobody's, the caller's, ours."""
    if status < 400:
        return "ok"
    return "denied" if status < 500 else "failed"
