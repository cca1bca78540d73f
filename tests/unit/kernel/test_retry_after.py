from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.retry import retry_after

NOW = datetime(2026, 3, 24, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("0.5", 0.5),
        ("Tue, 24 Mar 2026 10:00:30 GMT", 30),
        ("Tue, 24 Mar 2026 10:00:30 -0000", 30),
        ("Tue, 24 Mar 2026 09:00:00 GMT", 0),
    ],
)
def test_a_number_or_a_date_is_so_many_seconds(header: str, seconds: float) -> None:
    assert retry_after(header, NOW) == seconds


@pytest.mark.parametrize("header", [None, "", "soon", "-5", "1e3", "٣", "9" * 20, "24 Mar"])
def test_anything_else_says_nothing(header: str | None) -> None:
    assert retry_after(header, NOW) is None


@given(st.text())
def test_whatever_is_sent_is_no_error(header: str) -> None:
    assert (retry_after(header, NOW) or 0) >= 0
