"""Every error that leaves Commonplace, in one small tree.

CommonplaceError           what a caller may see: stable code, sentence, hint
├── InvalidInput      422  an argument is outside its bounds; the hint names valid values
├── BadRequest        400  the request itself cannot be read
├── Unauthorized      401  this needs a key, and none that is valid came
├── Forbidden         403  the caller may not do this
├── NotFound          404  nothing answers to this name; the hint names the nearest
├── Conflict          409  something else is there already; nothing was written
├── TooLarge          413  a body or an answer exceeds its bound
├── RateLimited       429  too many calls; details say when to come back
└── Unavailable       503  a part we depend on does not answer; details say when to come back
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class CommonplaceError(Exception):
    """An error whose text is part of the interface (seed 000, section 10)."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, Any] = details

    def envelope(self) -> dict[str, Any]:
        """The body every HTTP surface answers with: `{"error": {code, message, details}}`."""
        details = dict(self.details) | ({"hint": self.hint} if self.hint else {})
        return {"error": {"code": self.code, "message": self.message, "details": details}}


class InvalidInput(CommonplaceError):
    """An argument is outside its bounds."""

    code, status = "INVALID_INPUT", 422


class BadRequest(CommonplaceError):
    """The request cannot be read at all."""

    code, status = "BAD_REQUEST", 400


class Unauthorized(CommonplaceError):
    """This needs a key, and none that is valid came with the request."""

    code, status = "UNAUTHORIZED", 401


class Forbidden(CommonplaceError):
    """The caller may not do this."""

    code, status = "FORBIDDEN", 403


class NotFound(CommonplaceError):
    """Nothing answers to this name."""

    code, status = "NOT_FOUND", 404


class MethodNotAllowed(CommonplaceError):
    """Something else can be done at this address."""

    code, status = "METHOD_NOT_ALLOWED", 405


class Conflict(CommonplaceError):
    """Something else is there already, and it was left as it is."""

    code, status = "CONFLICT", 409


class TooLarge(CommonplaceError):
    """A body or an answer exceeds its bound."""

    code, status = "TOO_LARGE", 413


class RateLimited(CommonplaceError):
    """Too many calls; `retry_after_seconds` says when to come back."""

    code, status = "RATE_LIMITED", 429

    def __init__(self, message: str, *, retry_after_seconds: int, hint: str | None = None, **details: Any) -> None:
        super().__init__(message, hint=hint, retryAfterSeconds=retry_after_seconds, **details)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(CommonplaceError):
    """A part we depend on does not answer."""

    code, status = "UNAVAILABLE", 503

    def __init__(self, message: str, *, retry_after_seconds: int = 5, hint: str | None = None, **details: Any) -> None:
        super().__init__(message, hint=hint, retryAfterSeconds=retry_after_seconds, **details)
        self.retry_after_seconds = retry_after_seconds


class Reasoned(Exception):
    """An error between our own modules. `reason` is a stable code for records and logs, with nothing of a caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
