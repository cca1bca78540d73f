"""Roles on a real chain: they come and go, tiers follow within five minutes and at each refresh; without it none rises.

The chain's stand-in for Hats Protocol is at the contract's real address; table, tokens and guard are the product's own.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.ethereum.hats import ChainHats
from commonplace.identity.ethereum.rpc import PAUSE_SECONDS, Rpc
from commonplace.identity.keyring import public_jwks
from commonplace.identity.principals import ANONYMOUS, Principal
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings, RoleMap, hat_id
from commonplace.identity.settings import HATS_CONTRACT
from commonplace.kernel.errors import Unavailable
from tests.chain.node import HATS, Chain
from tests.fakes.identity_stores import Clock
from tests.integration.chain.signing import rpc_of
from tests.unit.identity.oauth.world import ALICE, BASE, KEY, MCP, World

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.node

PATHS = ("30.3.1", "30.3.5")


@pytest.fixture
def table() -> Iterator["DynamoDBClient"]:
    with mock_aws():
        client = boto3.session.Session("123456789012", "x", region_name="us-east-1").client("dynamodb")
        client.create_table(
            TableName="cache",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client


class Deployment(World):
    """An authorization server and a guard, each with a memory of roles of its own before the table of both."""

    def __init__(self, chain: Chain, table: "DynamoDBClient") -> None:
        self.chain, self.table, self.monotonic = chain, table, Clock(0)
        super().__init__()
        self.client_id = str(self.register()["client_id"])

    def accounts(self) -> MappedStandings:
        return self.standings()

    def standings(self) -> MappedStandings:
        """As one function has them."""
        rpc = Rpc(lambda: [self.chain.url], 10, monotonic=self.monotonic)
        remembered = RememberedHats(
            ChainHats(rpc, HATS_CONTRACT, PATHS, clock=self.clock),
            self.table,
            "cache",
            key=lambda: KEY,
            chain_id=10,
            contract=HATS_CONTRACT,
            paths=PATHS,
            clock=self.clock,
        )
        return MappedStandings(RoleMap(organisation="default"), remembered)

    def guard(self) -> TokenPrincipals:
        """Of another function."""
        tokens = AccessTokens(BASE, RememberedKeys(_Published(self), self.clock))
        return TokenPrincipals(tokens, self.grants, self.standings(), self.clock)


class _Published:
    """`verifying.KeyStore` over the world's ring."""

    def __init__(self, world: World) -> None:
        self._world = world

    def jwks(self) -> str:
        return public_jwks(self._world.ring.keys, self._world.clock())


def _who(guard: TokenPrincipals, tokens: dict[str, Any]) -> Principal:
    return guard.identify({"authorization": f"Bearer {tokens['access_token']}"}, MCP)


@pytest.mark.parametrize(
    ("path", "decimal"),
    [
        ("30.3.1", 808799634149214286479928749601311627645200736144218755062469853446144),
        ("30.3.5", 808799634174322693421475472656654785338031401808628176840325991497728),
    ],
)
def test_the_hats_of_the_product_are_worn_under_the_ids_of_the_tree(path: str, decimal: int, chain: Chain) -> None:
    assert hat_id(path) == decimal
    chain.send(HATS, "give(uint256,address)", decimal, ALICE)
    assert ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS).worn(ALICE).hats == {path}


def test_a_hat_that_is_off_or_whose_wearer_is_not_eligible_is_no_role_until_it_is_again(chain: Chain) -> None:
    hats = ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS)
    chain.give_hat("30.3.1", ALICE)
    for function, wearer in (("setActive(uint256,bool)", ()), ("setEligible(uint256,address,bool)", (ALICE,))):
        chain.send(HATS, function, hat_id("30.3.1"), *wearer, False)
        assert hats.worn(ALICE).hats == frozenset()
        chain.send(HATS, function, hat_id("30.3.1"), *wearer, True)
        assert hats.worn(ALICE).hats == {"30.3.1"}


@pytest.mark.parametrize("path", ["30", "30.3", "31.3.1", "30.3.1.1", "30.3.2"])
def test_a_hat_above_below_beside_or_of_another_tree_is_no_role(path: str, chain: Chain) -> None:
    chain.give_hat(path, ALICE)
    assert ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS).worn(ALICE).hats == frozenset()


def test_somebody_elses_hat_is_no_role(chain: Chain) -> None:
    chain.give_hat("30.3.1", chain.accounts()[1])
    assert ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS).worn(ALICE).hats == frozenset()


def test_without_a_contract_at_the_address_roles_are_unavailable(chain: Chain) -> None:
    chain.remove(HATS)
    with pytest.raises(Unavailable):
        ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS).worn(ALICE)


@pytest.mark.parametrize(
    ("answer", "reverts"),
    [(b"\0" * 32, False), (b"", False), (b"\0" * 128, False), (b"", True)],
    ids=["32 zero bytes", "nothing", "four words", "a revert"],
)
def test_another_contract_at_the_address_makes_roles_unavailable(answer: bytes, reverts: bool, chain: Chain) -> None:
    chain.put("Answers", HATS)
    chain.send(HATS, "tell(bytes,bool)", answer, reverts)
    with pytest.raises(Unavailable):
        ChainHats(rpc_of(chain), HATS_CONTRACT, PATHS).worn(ALICE)


def test_a_tier_follows_its_hat_within_five_minutes(chain: Chain, table: "DynamoDBClient") -> None:
    world = Deployment(chain, table)
    chain.give_hat("30.3.1", ALICE)
    tokens, guard, other = world.tokens(world.client_id), world.guard(), world.guard()
    assert _who(guard, tokens).tier == _who(other, tokens).tier == "vibecoder"
    chain.take_hat("30.3.1", ALICE)
    chain.give_hat("30.3.5", ALICE)
    world.clock.forward(299)
    assert _who(guard, tokens).tier == "vibecoder"
    world.clock.forward(1)
    for now in (_who(guard, tokens), _who(other, tokens)):
        assert (now.tier, sorted(now.roles)) == ("member", ["member"])
    chain.take_hat("30.3.5", ALICE)
    world.clock.forward(300)
    now = _who(other, tokens)
    assert (now.tier, now.may("knowledge:read"), now.may("knowledge:write")) == ("public", True, False)


def test_a_tier_follows_its_hat_at_once_when_a_token_is_refreshed(chain: Chain, table: "DynamoDBClient") -> None:
    world = Deployment(chain, table)
    chain.give_hat("30.3.5", ALICE)
    tokens = world.tokens(world.client_id)
    guard = world.guard()
    assert (_who(guard, tokens).tier, tokens["scope"]) == ("member", "knowledge:read knowledge:write")
    chain.take_hat("30.3.5", ALICE)
    tokens = world.refresh(world.client_id, tokens["refresh_token"]).json()
    assert tokens["scope"] == "knowledge:read"
    # The guard of a function that has not looked yet finds what the refresh has read.
    assert (_who(world.guard(), tokens).tier, _who(guard, tokens).may("knowledge:write")) == ("public", False)
    chain.give_hat("30.3.1", ALICE)
    tokens = world.refresh(world.client_id, tokens["refresh_token"]).json()
    assert (tokens["scope"], _who(world.guard(), tokens).tier) == ("knowledge:read knowledge:write", "vibecoder")


def test_without_the_chain_nobody_rises_and_nothing_is_rotated(own_chain: Chain, table: "DynamoDBClient") -> None:
    world = Deployment(own_chain, table)
    own_chain.give_hat("30.3.1", ALICE)
    tokens, guard = world.tokens(world.client_id), world.guard()
    assert _who(guard, tokens).tier == "vibecoder"
    own_chain.stop()

    # What was read is believed for its five minutes, and no longer.
    assert _who(guard, tokens).tier == "vibecoder"
    answer = world.refresh(world.client_id, tokens["refresh_token"])
    assert (answer.status, int(answer.headers["retry-after"]) > 0) == (503, True)
    world.clock.forward(300)
    unsure = _who(guard, tokens)
    assert (unsure.uncertain, unsure.tier) == (True, "public")
    assert not unsure.scopes | unsure.attainable
    assert guard.identify({}, MCP) is ANONYMOUS

    own_chain.start()
    own_chain.put("StandInHats", HATS)
    own_chain.give_hat("30.3.5", ALICE)
    world.monotonic.forward(PAUSE_SECONDS)
    assert _who(guard, tokens).tier == "member"
    assert world.refresh(world.client_id, tokens["refresh_token"]).status == 200


def test_an_account_without_a_hat_is_remembered_without_one_and_gets_its_hat_at_a_refresh(
    chain: Chain, table: "DynamoDBClient"
) -> None:
    world = Deployment(chain, table)
    chain.give_hat("30.3.5", ALICE)
    tokens = world.tokens(world.client_id)
    chain.take_hat("30.3.5", ALICE)
    world.clock.forward(300)
    guard = world.guard()
    assert _who(guard, tokens).tier == "public"
    chain.give_hat("30.3.5", ALICE)
    assert _who(guard, tokens).tier == "public"
    tokens = world.refresh(world.client_id, tokens["refresh_token"]).json()
    assert _who(world.guard(), tokens).tier == "member"
