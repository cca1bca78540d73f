"""Settings of the REST API."""

from typing import Literal

from commonplace.kernel.configuration import COUNT, URL, matching, one_of, setting
from commonplace.web.settings import ReaderSettings

Audience = Literal["operators", "anyone"]


class RestSettings(ReaderSettings):
    explain: Audience = setting(one_of("operators", "anyone"), "EXPLAIN", default="operators")
    """Who may ask why a search answers as it does: `operators` or `anyone`."""
    operator_key_hash: str | None = setting(
        matching(r"[0-9a-f]{64}", "the sha256 of the operators' key, 64 hexadecimal digits"),
        "OPERATOR_KEY_HASH",
        key="operatorKeyHash",
        default=None,
    )
    """SHA-256 of the operators' key, 64 hexadecimal digits; with it explanations can be asked for."""
    base_url: str | None = setting(URL, "BASE_URL", default=None)
    """Public origin, which tokens name as their issuer. Without identity it may be empty for rest: as the request's
    `Host` says. mcp and auth need it, and mcp answers to no other host."""
    reads_per_minute: int = setting(COUNT, "RATE_LIMIT_READS", key="rateLimitReads", default=600)
    """Requests for each client address and minute, and for each account where a token is taken; 0 switches it off."""
    searches_per_minute: int = setting(COUNT, "RATE_LIMIT_SEARCHES", key="rateLimitSearches", default=60)
    """The same for searches."""
