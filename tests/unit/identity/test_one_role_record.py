"""The guard of a call and introspection judge an account by one stored record of its roles, of one age."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.keyring import public_jwks
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings, Role, RoleMap
from tests.aws_fixture import TABLE
from tests.fakes.authority import AGENT, ALICE, BASE, KEY, MCP, Authority
from tests.fakes.ethereum import FakeHats

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HAT = "30.3.5"
OPERATOR = replace(AGENT, organisation=None)


@dataclass
class Told:
    """What each of the two says of a token."""

    guard: str
    introspection: str


class Deployment:
    """Two functions, each with a memory of its own, before one table and one chain."""

    def __init__(self, table: "DynamoDBClient") -> None:
        self.authority = Authority()
        self.hats = FakeHats(self.authority.clock, {ALICE.lower(): {HAT}})
        self.table = table
        held, self.authority.accounts = self.authority.accounts, cast(Any, self.standings())
        self.endpoint = self.authority.token_endpoint_over(self.authority.grants)
        self.authority.accounts = held
        keys = RememberedKeys(self, self.authority.clock)
        self.guard = TokenPrincipals(
            AccessTokens(BASE, keys), self.authority.memory, self.standings(), self.authority.clock
        )

    def jwks(self) -> str:
        return public_jwks([self.authority.ring.signing(0)], 0)

    def standings(self) -> MappedStandings:
        roles = RoleMap(hats={HAT: Role(name="member", tier="member")}, organisation="default")
        remembered = RememberedHats(
            self.hats,
            self.table,
            TABLE,
            key=lambda: KEY,
            chain_id=10,
            contract="0x3bc1A0Ad72417f2d411118085256fC53CBdDd137",
            paths=(HAT,),
            clock=self.authority.clock,
        )
        return MappedStandings(roles, remembered)

    def told(self, token: str) -> Told:
        principal = self.guard.identify({"authorization": f"Bearer {token}"}, MCP)
        said: dict[str, Any] = self.endpoint.introspect(token, OPERATOR)
        return Told(principal.tier, said["tier"])


@pytest.fixture
def here(dynamodb: "DynamoDBClient") -> Deployment:
    return Deployment(dynamodb)


def test_a_lost_role_counts_for_both_until_the_record_is_five_minutes_old(here: Deployment) -> None:
    token = here.authority.tokens()["access_token"]
    assert here.told(token) == Told("member", "member")
    here.hats.held.clear()
    here.authority.clock.forward(299)
    assert here.told(token) == Told("member", "member")
    here.authority.clock.forward(1)
    assert here.told(token) == Told("public", "public")
    assert here.hats.asked == 2


@pytest.mark.parametrize("gains", [False, True])
def test_a_reading_by_one_function_within_the_five_minutes_counts_for_both(here: Deployment, *, gains: bool) -> None:
    if gains:
        here.hats.held.clear()
    token = here.authority.tokens()["access_token"]
    first = "public" if gains else "member"
    assert here.told(token) == Told(first, first)
    here.hats.held.clear()
    if gains:
        here.hats.held[ALICE.lower()] = {HAT}
    here.authority.clock.forward(60)
    here.standings().of(ALICE, fresh=True)  # as at a sign-in or a refresh, in a third process
    now = "member" if gains else "public"
    assert here.told(token) == Told(now, now)


def test_while_the_chain_is_away_both_judge_by_the_record_and_then_by_none(here: Deployment) -> None:
    token = here.authority.tokens()["access_token"]
    assert here.told(token) == Told("member", "member")
    here.hats.down = True
    here.authority.clock.forward(299)
    assert here.told(token) == Told("member", "member")
    here.authority.clock.forward(1)
    assert here.guard.identify({"authorization": f"Bearer {token}"}, MCP).uncertain
    with pytest.raises(Exception, match="temporarily_unavailable"):
        here.endpoint.introspect(token, OPERATOR)
