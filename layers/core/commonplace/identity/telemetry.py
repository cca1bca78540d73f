"""The log of the authorization server: one line per event with its outcome and reason. Never of whom, never a secret.

Alarms watch the metric `AuthEvents`, so events and outcomes are part of a contract.
"""

import logging
from typing import Literal

from commonplace.kernel.telemetry import count

logger = logging.getLogger(__name__)

Event = Literal["signin", "consent", "token", "refresh", "register", "revoke", "introspect", "denied", "reuse", "rpc"]
Outcome = Literal["ok", "denied", "failed"]

REUSED = ("code_replayed", "refresh_reused")
"""Reasons that point to a stolen secret, or of a client that is badly broken."""


def record(event: Event, outcome: Outcome = "ok", reason: str = "") -> None:
    """`reason` is a stable code. It is no dimension: each would be a metric of its own."""
    count("AuthEvents", Event=event, Outcome=outcome)
    level = logging.WARNING if outcome == "failed" else logging.INFO
    logger.log(level, "auth event", extra={"event": event, "outcome": outcome, "reason": reason})


def outcome_of(status: int) -> Outcome:
    """Return whose fault an answer is: nobody's, the caller's, ours."""
    if status < 400:
        return "ok"
    return "denied" if status < 500 else "failed"
