"""What groups of an OIDC provider give: the guard says what sign-in says, whatever the roles are called."""

import json
from typing import Any

import pytest

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.accounts import Profile
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oidc import ProviderTokens
from commonplace.identity.oidc_sessions import ProviderSessions
from commonplace.identity.principals import Principal
from commonplace.identity.roles import MappedStandings, RoleMap
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock
from tests.fakes.oidc_provider import CLIENT, ISSUER, FakeProvider
from tests.unit.identity.oauth.world import BASE, MCP, World

SOMEBODY = "oidc:https://id.example.org#1"


class Grouped(World):
    def __init__(self, groups: dict[str, Any]) -> None:
        roles = RoleMap.from_json(json.dumps({"hats": {}, "groups": groups}), organisation="default")
        self.mapped = MappedStandings(roles, FakeHats(Clock()))
        super().__init__(OIDC_ISSUER=ISSUER, OIDC_CLIENT_ID=CLIENT)

    def accounts(self) -> MappedStandings:
        return self.mapped


def called(groups: dict[str, Any], *claims: str, scope: str = "knowledge:write") -> tuple[Any, Principal]:
    """What sign-in says of an account with these claims, and what the guard says of a token that it got."""
    world = Grouped(groups)
    client = str(world.register()["client_id"])
    sessions = ProviderSessions(FakeProvider(world.clock), world.sign_ins, world.clock)
    profile = sessions.open(Profile(subject=SOMEBODY, kind="oidc", claims=claims), ProviderTokens(), {})
    answer = world.exchange(client, world.code(client, scope, profile=profile))
    assert answer.status == 200, answer.body

    class Published:
        def jwks(self) -> str:
            return world.send("GET", "/.well-known/jwks.json").body

    tokens = AccessTokens(BASE, RememberedKeys(Published(), world.clock))
    guard = TokenPrincipals(tokens, world.grants, world.mapped, world.clock)
    token = answer.json()["access_token"]
    return world.mapped.of(SOMEBODY, claims=claims), guard.identify({"authorization": f"Bearer {token}"}, MCP)


def test_a_role_of_one_name_in_two_rules_gives_no_more_than_the_rule_that_holds() -> None:
    groups = {
        "groups:junior": {"role": "editor", "tier": "member"},
        "groups:senior": {"role": "editor", "tier": "vibecoder"},
    }
    said, principal = called(groups, "groups:junior")
    assert (said.tier, principal.tier) == ("member", "member")
    assert principal.roles == {"editor"}
    said, principal = called(groups, "groups:senior")
    assert (said.tier, principal.tier) == ("vibecoder", "vibecoder")


@pytest.mark.parametrize("organisation", ["garden", "meadow"])
def test_roles_without_a_name_in_two_organisations_stay_each_in_its_own(organisation: str) -> None:
    groups = {f"groups:{name}": {"tier": "member", "organisation": name} for name in ("garden", "meadow")}
    said, principal = called(groups, f"groups:{organisation}")
    assert said.organisation == principal.organisation == organisation
    assert principal.member is not None


def test_scopes_of_another_rule_of_the_same_name_are_never_asked_for() -> None:
    """A client that is told to ask for what no consent gives asks for ever."""
    groups = {
        "groups:junior": {"role": "editor", "tier": "member"},
        "groups:senior": {"role": "editor", "tier": "member", "scopes": ["knowledge:admin"]},
    }
    said, principal = called(groups, "groups:junior", scope="knowledge:read")
    assert "knowledge:admin" not in said.scopes
    assert not principal.could("knowledge:admin")
    assert principal.could("knowledge:write")
