"""A request for a run of the sync, as operators make it: the webhook's function is called without its front door."""

import json
from typing import Any

from commonplace.kernel.errors import Unavailable

SOURCE = "commonplace.operator"


def request_run(client: Any, function: str, *, full: bool = False, only: str | None = None) -> dict[str, Any]:
    """Return the function's answer: the run, and whether it is new. `client` is one of AWS Lambda. Raises Unavailable.

    `only` is the name of a catalogue, or empty for the knowledge base; None asks for a run of everything.
    """
    event = {"source": SOURCE, "full": full} | ({} if only is None else {"only": only})
    answer = client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
    told: dict[str, Any] = json.loads(answer["Payload"].read() or b"{}") or {}
    if answer.get("FunctionError"):
        kind = told.get("errorType", "unknown error")
        raise Unavailable(f"The webhook function failed: {kind}.", hint="See its log.")
    return told
