"""When GitHub says "later": what its limits look like in an answer. Pure.

Sources: GitHub REST API documentation, "Rate limits" and "Best practices": primary limits answer 403 or 429 with
`x-ratelimit-remaining: 0` and `x-ratelimit-reset`; secondary ones 403 or 429, with `retry-after` or with neither.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

SECONDARY_LIMIT_SECONDS = 60
MOST_SECONDS = 2 * 3600
"""The longest wait that is believed: windows are an hour."""

_SECONDARY = re.compile(rb"secondary[ -]rate[ -]limit|abuse detection", re.IGNORECASE)


def limited_until(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime | None:
    """Until when to wait, or None when the answer is no rate limit. `headers` is case-insensitive."""
    told = _retry_after(headers, now)
    exhausted = headers.get("x-ratelimit-remaining") == "0"
    if status == 429 or (status == 403 and (told or exhausted or _SECONDARY.search(body))):
        return _believable(told or (_reset(headers) if exhausted else None), now)
    return None


def query_limited_until(headers: Mapping[str, str], now: datetime) -> datetime:
    """Until when to wait when a GraphQL answer of status 200 says RATE_LIMITED."""
    return _believable(_retry_after(headers, now) or _reset(headers), now)


def _retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Seconds, or an HTTP date (RFC 9110, section 10.2.3)."""
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return now + timedelta(seconds=int(text))
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _reset(headers: Mapping[str, str]) -> datetime | None:
    text = headers.get("x-ratelimit-reset", "").strip()
    return datetime.fromtimestamp(int(text) + 1, UTC) if re.fullmatch(r"[0-9]{1,11}", text) else None


def _believable(until: datetime | None, now: datetime) -> datetime:
    """At least a second, so that a clock that runs ahead does not turn waiting into hammering."""
    wanted = until or now + timedelta(seconds=SECONDARY_LIMIT_SECONDS)
    return min(max(wanted, now + timedelta(seconds=1)), now + timedelta(seconds=MOST_SECONDS))
