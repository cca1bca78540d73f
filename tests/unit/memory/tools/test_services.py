"""On whose behalf a call is made, and for how long it works."""

import pytest

from commonplace.identity.principals import Principal
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Forbidden
from commonplace.memory.operations import WORK_SECONDS, MemoryServices
from commonplace.web.mcp.declaration import Call, Caller


def test_an_author_is_what_the_token_says_and_where_the_call_comes_from() -> None:
    principal = Principal(
        subject="agent:builder",
        organisation="acme",
        account="f" * 32,
        client="c-1",
        grant="g-1",
        display_name="Builder",
        tier="member",
    )
    told = Call(Caller(principal, "2001:db8::1:2:3:4")).author
    assert told == Author(
        organisation="acme",
        account="f" * 32,
        client="c-1",
        grant="g-1",
        network="2001:db8::/64",
        name="agent:builder",
    )


def test_whoever_is_of_no_organisation_has_no_memory() -> None:
    with pytest.raises(Forbidden) as refused:
        _ = Call(Caller(Principal(subject="0xabc", tier="vibecoder"))).author
    assert refused.value.hint


@pytest.mark.parametrize(
    ("laps", "told"),
    [
        ([1, 1, 1], [False, False, False]),
        ([WORK_SECONDS], [True]),
        ([WORK_SECONDS * 0.6], [True]),  # a second batch like the first would take too long
        ([5, 4, 4], [False, False, True]),
    ],
)
def test_a_call_stops_before_a_batch_that_would_be_too_late(laps: list[float], told: list[bool]) -> None:
    moments = iter([0.0, *(sum(laps[: at + 1]) for at in range(len(laps)))])
    nothing: object = None
    enough = MemoryServices(memory=nothing, monotonic=lambda: next(moments)).enough()  # type: ignore[arg-type]
    assert [enough() for _ in laps] == told
