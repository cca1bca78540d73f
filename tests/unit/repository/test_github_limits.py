from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.repository.github_client import limited_until

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
RESET = NOW + timedelta(minutes=20)
SECONDARY = b'{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}'


def until(status: int, body: bytes = b"", **headers: str) -> datetime | None:
    named = httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()})
    return limited_until(status, named, body, NOW)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"retry_after": "90"}, NOW + timedelta(seconds=90)),
        ({"Retry_After": "Wed, 04 Mar 2026 05:10:00 GMT"}, datetime(2026, 3, 4, 5, 10, tzinfo=UTC)),
        (
            {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(RESET.timestamp()))},
            RESET + timedelta(seconds=1),
        ),
        (
            {"retry_after": "5", "x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(RESET.timestamp()))},
            NOW + timedelta(seconds=5),
        ),
        ({"x_ratelimit_remaining": "0"}, NOW + timedelta(seconds=60)),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "soon"}, NOW + timedelta(seconds=60)),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "0"}, NOW + timedelta(seconds=1)),
        ({"retry_after": "0"}, NOW + timedelta(seconds=1)),
        ({"retry_after": "999999999"}, NOW + timedelta(hours=2)),
    ],
)
def test_a_limit_says_until_when(status: int, headers: dict[str, Any], wanted: datetime) -> None:
    assert until(status, **headers) == wanted


@pytest.mark.parametrize("body", [SECONDARY, b"You have triggered an abuse detection mechanism"])
def test_a_secondary_limit_without_headers_is_a_minute(body: bytes) -> None:
    assert until(403, body, x_ratelimit_remaining="4999") == NOW + timedelta(seconds=60)


def test_too_many_requests_without_headers_is_a_minute() -> None:
    assert until(429) == NOW + timedelta(seconds=60)


def test_the_primary_reset_does_not_stand_for_a_secondary_limit() -> None:
    reset = str(int(RESET.timestamp()))
    assert until(429, x_ratelimit_remaining="100", x_ratelimit_reset=reset) == NOW + timedelta(seconds=60)


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_an_ordinary_refusal_is_no_limit(status: int) -> None:
    assert until(status, b"Must have admin rights", x_ratelimit_remaining="10", x_ratelimit_reset="1") is None


@given(status=st.sampled_from([403, 429]), told=st.text(), reset=st.text(), body=st.binary(max_size=50))
def test_whatever_the_headers_say_the_wait_is_believable(status: int, told: str, reset: str, body: bytes) -> None:
    headers = {"retry-after": told, "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    found = limited_until(status, headers, body, NOW)
    assert found is not None
    assert timedelta(seconds=1) <= found - NOW <= timedelta(hours=2)
