"""Agents that nobody is asked for: client credentials, and tokens that operators mint."""

from dataclasses import replace
from typing import Any

import pytest

from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.records import Client
from commonplace.kernel.errors import InvalidInput, RateLimited
from tests.fakes.authority import AGENT, APP, BASE, KEY, MCP, Authority, stored


@pytest.fixture
def authority() -> Authority:
    return Authority()


def token(authority: Authority, client: Client = AGENT, **form: str) -> dict[str, Any]:
    return authority.token_endpoint.client_credentials(form, client, "192.0.2.6")


def refusal(authority: Authority, client: Client = AGENT, **form: str) -> str:
    with pytest.raises(OAuthError) as caught:
        token(authority, client, **form)
    return caught.value.code


def test_an_agent_gets_a_token_for_what_its_operator_gave_it(authority: Authority) -> None:
    answer = token(authority, resource=MCP)
    claims = authority.claims(answer)

    assert set(answer) == {"access_token", "token_type", "expires_in", "scope"}, "no refresh token"
    assert (answer["expires_in"], answer["scope"]) == (3_600, "knowledge:write memory:read")
    assert (claims.subject, claims.organisation, claims.tier) == ("agent:gardener", "default", "member")
    assert (claims.audience, claims.client_id, claims.permission) == (MCP, "agent", "action")
    assert authority.active(answer)
    (grant,) = authority.memory.grants.values()
    assert (grant.kind, grant.organisation) == ("agent", "default")
    assert grant.subject_hash == subject_hash(KEY, "agent:gardener", "default")


def test_an_agent_may_ask_for_less_and_not_for_more(authority: Authority) -> None:
    assert token(authority, scope="knowledge:read")["scope"] == "knowledge:read"
    assert token(authority, resource=f"{BASE}/mcp/knowledge")["scope"] == "knowledge:write"
    for scope in ("knowledge:admin", "memory:write", "x", '"'):
        assert refusal(authority, scope=scope) == "invalid_scope"
    assert refusal(authority, scope="memory:read", resource=f"{BASE}/mcp/knowledge") == "invalid_scope"
    assert refusal(authority, resource=f"{BASE}/mcp/hive") == "invalid_scope"
    assert refusal(authority, resource="https://else.example/mcp") == "invalid_target"


@pytest.mark.parametrize(
    "client",
    [
        APP,
        replace(AGENT, grant_types=("authorization_code",)),
        replace(AGENT, source="registered"),
        replace(AGENT, auth_method="none"),
        replace(AGENT, organisation=None),
        replace(AGENT, agent=None),
    ],
    ids=["a person's", "other grant type", "registered itself", "public", "no organisation", "no name"],
)
def test_p10_nobody_else_gets_a_token_this_way(authority: Authority, client: Client) -> None:
    assert refusal(authority, client) == "unauthorized_client"
    assert authority.memory.grants == {}


def test_l6_an_agents_tokens_are_limited(authority: Authority) -> None:
    for _ in range(60):
        token(authority)
    with pytest.raises(RateLimited):
        token(authority)
    token(authority, replace(AGENT, id="another"))

    authority.clock.forward(3_600)
    token(authority)


def test_l5_an_agents_grant_ends_with_its_token(authority: Authority) -> None:
    token(authority)
    authority.clock.forward(3_600)

    assert list(authority.memory.all()) == []


def test_agents_do_not_depend_on_the_chain(authority: Authority) -> None:
    authority.accounts.down = True

    assert authority.active(token(authority))


def minted(authority: Authority, **changes: Any) -> str:
    values: dict[str, Any] = {
        "organisation": "garden",
        "agent": "robin",
        "scopes": ("memory:write", "knowledge:read"),
        "tier": "member",
        "resource": MCP,
        "days": 90,
    }
    return authority.token_endpoint.mint(**values | changes)


def test_an_operator_mints_a_token_that_lasts(authority: Authority) -> None:
    answer = {"access_token": minted(authority)}
    claims = authority.claims(answer)

    assert (claims.subject, claims.organisation, claims.tier) == ("agent:robin", "garden", "member")
    assert claims.scopes == ("knowledge:read", "memory:write")
    assert (claims.audience, claims.client_id) == (MCP, "operator:robin")
    assert claims.expires_at - claims.issued_at == 90 * 86_400
    assert authority.memory.audit.events() == [("mint", "ok", "")]
    assert authority.memory.audit.records[0].organisation == "garden"
    authority.clock.forward(90 * 86_400 - 1)
    assert authority.active(answer)
    authority.clock.forward(1)
    assert not authority.active(answer)


def test_a_minted_token_ends_when_its_operator_says_so(authority: Authority) -> None:
    answer = {"access_token": minted(authority)}
    (grant,) = authority.memory.all()
    authority.connections.revoke_for_operator(grant.id)

    assert not authority.active(answer)


@pytest.mark.parametrize(
    "changes",
    [
        {"organisation": "Not One"},
        {"organisation": ""},
        {"agent": ""},
        {"agent": "a b"},
        {"agent": "x" * 65},
        {"scopes": ()},
        {"scopes": ("x",)},
        {"scopes": ("hive:read",)},
        {"tier": "king"},
        {"resource": "https://else.example/mcp"},
        {"days": 0},
        {"days": 366},
    ],
    ids=str,
)
def test_a_token_is_not_minted_for_nonsense(authority: Authority, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        minted(authority, **changes)
    assert authority.memory.grants == {}


def test_l1_minted_tokens_are_not_kept(authority: Authority) -> None:
    answer = {"access_token": minted(authority)}

    assert answer["access_token"] not in stored(authority)
    assert authority.claims(answer).grant not in stored(authority)


def test_l4_agents_of_one_name_in_two_organisations_share_nothing(authority: Authority) -> None:
    one = authority.claims({"access_token": minted(authority)})
    two = authority.claims({"access_token": minted(authority, organisation="default")})

    assert one.member != two.member
    assert one.grant != two.grant
    assert len({grant.subject_hash for grant in authority.memory.grants.values()}) == 2
