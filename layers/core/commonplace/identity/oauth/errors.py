"""Errors of the OAuth endpoints: the codes of RFC 6749, 7009, 7591 and 8707, as JSON and not as our envelope."""

from collections.abc import Mapping

from commonplace.kernel.errors import Unavailable


class OAuthError(Exception):
    """`{"error": code, "error_description": description}`. The description is a sentence of ours, never input."""

    def __init__(
        self,
        code: str,
        description: str,
        *,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
        reason: str = "",
        grant: str = "",
    ) -> None:
        """`reason` is for the log and for metrics: a stable code that may say more than the answer does.

        `grant` is the public name of a grant that somebody tried to use and may not: such a try is recorded.
        """
        super().__init__(code)
        self.code = code
        self.description = description
        self.status = status
        self.headers: Mapping[str, str] = dict(headers or {})
        self.reason = reason or code
        self.grant = grant

    def body(self) -> dict[str, str]:
        """Return what is answered."""
        return {"error": self.code, "error_description": self.description}


def invalid_grant(reason: str, grant: str = "") -> OAuthError:
    """The same words whatever is wrong with a code or a refresh token, so that a thief learns nothing."""
    description = "This code or token is not valid any more, or not valid here. Start the sign-in again."
    return OAuthError("invalid_grant", description, reason=reason, grant=grant)


def temporarily_unavailable(error: Unavailable) -> OAuthError:
    """Something we depend on does not answer: nothing was changed, and the same request may be sent again."""
    return OAuthError(
        "temporarily_unavailable",
        "Something this sign-in depends on does not answer just now. Nothing was changed; send the same again later.",
        status=503,
        headers={"Retry-After": str(error.details.get("retryAfterSeconds", 5))},
        reason="unavailable",
    )
