"""How errors leave the authorization server: OAuth's JSON at OAuth's endpoints, our envelope everywhere else."""

import json
import re
import traceback
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from commonplace.identity.oauth.errors import OAuthError
from commonplace.kernel.errors import CommonplaceError

JSON = "application/json"
NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}

_UNSAYABLE = re.compile(r"[^\x20\x21\x23-\x5b\x5d-\x7e]")  # RFC 6749, section 5.2


def json_answer(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON that no cache keeps."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(text, status, media_type=JSON, headers=NO_STORE | dict(headers or {}))


def oauth_answer(error: OAuthError) -> Response:
    """As RFC 6749, section 5.2, writes it."""
    body = {name: _UNSAYABLE.sub("'", text) for name, text in error.body().items()}
    return json_answer(body, error.status, error.headers)


def server_error() -> OAuthError:
    """What a client sees of a defect: nothing of it."""
    return OAuthError("server_error", "Something went wrong here. It has been noted.", status=500)


def as_oauth(error: CommonplaceError) -> OAuthError:
    """An error of our own in OAuth's words: what says when to come back keeps saying it, the rest is a bad request."""
    seconds = getattr(error, "retry_after_seconds", None)
    headers = {} if seconds is None else {"retry-after": str(seconds)}
    if error.status in (429, 503):
        sentence = "Too many requests." if error.status == 429 else "A part that this depends on does not answer."
        description = f"{sentence} Send the same again in {seconds} seconds."
        return OAuthError("temporarily_unavailable", description, status=error.status, headers=headers)
    if error.status >= 500:
        return server_error()
    status = 413 if error.status == 413 else 400
    return OAuthError("invalid_request", error.message, status=status, reason=error.code.lower())


def envelope(error: CommonplaceError, headers: Mapping[str, str] | None = None) -> Response:
    """As every other surface of ours answers (seed 000, section 10)."""
    seconds = getattr(error, "retry_after_seconds", None)
    retry = {} if seconds is None else {"retry-after": str(seconds)}
    return json_answer(error.envelope(), error.status, retry | dict(headers or {}))


def told(error: BaseException) -> dict[str, str]:
    """A defect for the log: its kind and where it happened. Never its text, which may quote what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    where = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in reversed(frames))
    return {"error": type(error).__name__, "where": where}
