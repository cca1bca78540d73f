"""One judgement for every interface: what stands in the way, and what is worth showing."""

from typing import Any

import pytest

from commonplace.identity.authorization import Need, Verdict, judge, worth_showing
from commonplace.identity.principals import ANONYMOUS, Principal, Tier

READ, WRITE = "memory:read", "memory:write"


def account(tier: Tier = "member", *scopes: str, attainable: tuple[str, ...] = (), **more: Any) -> Principal:
    return Principal(subject="0xabc", tier=tier, scopes=frozenset(scopes), attainable=frozenset(attainable), **more)


@pytest.mark.parametrize(
    ("principal", "need", "verdict"),
    [
        # open to everybody
        (ANONYMOUS, Need("public", READ), Verdict.ALLOWED),
        (account("public"), Need("public", READ), Verdict.ALLOWED),
        (account(uncertain=True), Need("public", READ), Verdict.ALLOWED),
        (account(resource_scopes=frozenset()), Need("public", READ, "entries"), Verdict.ALLOWED),
        # writing is for who has signed in, whatever the tier
        (ANONYMOUS, Need("public", WRITE), Verdict.SIGN_IN),
        (ANONYMOUS, Need("member", READ), Verdict.SIGN_IN),
        (account("public"), Need("public", WRITE), Verdict.SCOPE),
        (account("public", READ, attainable=(WRITE,)), Need("public", WRITE), Verdict.CONSENT),
        (account("public", WRITE), Need("public", WRITE), Verdict.ALLOWED),
        # what is not known now, before what is not had
        (account("public", uncertain=True), Need("member", READ), Verdict.UNCERTAIN),
        (account("public", WRITE, uncertain=True), Need("public", WRITE), Verdict.UNCERTAIN),
        # the tier before the scope: a scope would not help
        (account("public", attainable=(WRITE,)), Need("member", WRITE), Verdict.TIER),
        (account("member", WRITE), Need("vibecoder", READ), Verdict.TIER),
        (account("vibecoder", READ), Need("member", READ), Verdict.ALLOWED),
        # the scope before the kind
        (account("member", attainable=(READ,)), Need("member", READ), Verdict.CONSENT),
        (account("member"), Need("member", READ), Verdict.SCOPE),
        (account("member", WRITE, permission="readonly"), Need("member", WRITE), Verdict.SCOPE),
        (account("member", WRITE, permission="readonly"), Need("member", READ), Verdict.ALLOWED),
        (account("member", READ, resource_scopes=frozenset({"teams"})), Need("member", READ, "entries"), Verdict.KIND),
        (account("member", READ, resource_scopes=frozenset({"teams"})), Need("member", READ), Verdict.KIND),
        (account("member", READ, resource_scopes=frozenset({"teams"})), Need("member", READ, "teams"), Verdict.ALLOWED),
    ],
)
def test_the_first_thing_that_stands_in_the_way_is_named(principal: Principal, need: Need, verdict: Verdict) -> None:
    assert judge(principal, need) is verdict


@pytest.mark.parametrize(
    ("principal", "need", "shown"),
    [
        (ANONYMOUS, Need("vibecoder", "memory:admin"), True),
        (account("public", uncertain=True), Need("vibecoder", "memory:admin"), True),
        (account("public"), Need("member", READ), False),
        (account("member", attainable=(WRITE,)), Need("member", WRITE), True),
        (account("member"), Need("member", WRITE), False),
        (account("member", READ), Need("member", READ), True),
        (account("public", resource_scopes=frozenset()), Need("public", READ, "entries"), True),
        (account("member", attainable=(READ,), resource_scopes=frozenset()), Need("member", READ, "entries"), False),
    ],
)
def test_what_an_account_may_ever_do_is_shown(principal: Principal, need: Need, shown: bool) -> None:
    assert worth_showing(principal, need) is shown
