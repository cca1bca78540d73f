"""The authorization server on Lambda."""

from typing import Any

ANSWER = {
    "statusCode": 503,
    "headers": {"content-type": "application/json", "cache-control": "no-store", "retry-after": "60"},
    "body": '{"error": "temporarily_unavailable", "error_description": "Nobody can sign in here yet."}',
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001
    """Says that there is nothing yet."""
    return ANSWER
