"""One line of log for each call: what was called, how it ended, how long it took. Nothing that anybody said.

The function's metrics are counted from these lines. Python's logging keeps `name` for itself, so what is called is
told as `target`.
"""

import logging

from commonplace.web.mcp.surface import CallRecord

logger = logging.getLogger(__name__)

MESSAGE = "mcp call"
"""Of every such line: what a metric filter looks for."""


def record(call: CallRecord) -> None:
    """Writes the line; a runtime that logs JSON writes the fields beside the message."""
    logger.info(
        MESSAGE,
        extra={
            "method": call.method,
            "target": call.name,
            "outcome": call.outcome,
            "milliseconds": round(call.milliseconds, 1),
            "answerTokens": call.answer_tokens,
            "era": call.era,
            "tier": call.tier,
            "client": call.client,
        },
    )
