"""The path of a toolset that takes a membership: closed without one, whatever tier, level and era."""

from typing import Any

import pytest

from commonplace.identity.authorization import Need, Verdict
from commonplace.identity.memberships import ChosenMembership, Membership
from commonplace.identity.principals import Principal
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.offer import denial, view_of
from tests.fakes.access_tokens import Realm
from tests.fakes.identity_stores import Clock
from tests.fakes.memberships import LEAD, MemoryMemberships, take_membership
from tests.unit.web.mcp.guarded import METADATA, Guarded, bearer, outcome, resource
from tests.unit.web.mcp.world import call, legacy, modern

PATH = "/mcp/memory"
ASKED = [("tools/list", {}), ("tools/call", call("about_memory")), ("resources/read", {"uri": "mcp://memory/log"})]


@pytest.fixture
def memberships(monkeypatch: pytest.MonkeyPatch) -> MemoryMemberships:
    take_membership(monkeypatch, "memory")
    return MemoryMemberships()


@pytest.mark.parametrize("era", [modern, legacy])
def test_nothing_is_answered_to_who_acts_for_no_member(memberships: MemoryMemberships, era: Any) -> None:
    here = Guarded(Realm(Clock(), memberships=memberships))
    here.realm.account("vibecoder")
    elsewhere = here.realm.token(resource(), "memory:admin")
    without = here.realm.token(resource(PATH), "memory:admin")
    for method, params in ASKED:
        told = here.ask(era(method, params, path=PATH))
        assert outcome(told) == "401"
        assert f'resource_metadata="{METADATA}{PATH}"' in told["headers"]["www-authenticate"]
        assert 'scope="memory:read"' in told["headers"]["www-authenticate"]
        assert outcome(here.ask(era(method, params, bearer(elsewhere), path=PATH))) == "401 invalid_token"
        assert outcome(here.ask(era(method, params, bearer(without), path=PATH))) == "401"


@pytest.mark.parametrize("era", [modern, legacy])
def test_who_acts_for_a_member_is_answered_until_the_member_is_gone(memberships: MemoryMemberships, era: Any) -> None:
    here = Guarded(Realm(Clock(), memberships=memberships))
    claims = here.realm.granted(resource(PATH), "memory:read", subject=here.realm.account("member"))
    member = memberships.join(here.realm.grant_of(claims).subject_hash, "acme", LEAD)
    here.realm.change(claims, membership=ChosenMembership(organisation="acme", member=member.member, roles=(LEAD.id,)))
    token = here.realm.sign(claims.as_claims() | {"gov_org": "acme", "gov_member": member.member})
    for method, params in ASKED:
        assert outcome(here.ask(era(method, params, bearer(token), path=PATH))) == "ok"
    memberships.leave(member)
    assert outcome(here.ask(era("tools/list", {}, bearer(token), path=PATH))) == "401 invalid_token"
    assert here.realm.refused[-1].reason == "member_gone"


def test_a_refusal_says_how_one_becomes_a_member() -> None:
    need = Need("public", "memory:read", membership=True)
    assert Caller(Principal(subject="laptop")).verdict(need) is Verdict.MEMBERSHIP
    assert "invited" in denial("tool", need, Verdict.MEMBERSHIP)


def test_lists_of_two_members_are_remembered_apart(memberships: MemoryMemberships) -> None:
    acts = [
        Membership(organisation=name, member="m", roles=frozenset(), expires_at=1, client="a")
        for name in ("acme", "zeta")
    ]
    first, second = (view_of(Caller(Principal(subject="0x1", membership=one))) for one in acts)
    assert first != second
