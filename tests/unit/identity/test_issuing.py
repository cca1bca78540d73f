"""What goes into an access token, and that every guard takes what is issued."""

import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest

from commonplace.identity import keyring
from commonplace.identity.access_tokens import AccessTokens, Issuer, claims_for, member_id
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.memberships import ChosenMembership
from commonplace.identity.oauth.grants import Terms, new_grant
from commonplace.identity.principals import APART, CATALOGUE, TOGETHER, kinds_of
from commonplace.identity.roles import MAX_GROUPS, rule_id
from commonplace.identity.tokens import MAX_TOKEN_CHARACTERS, AccessClaims, BadToken, SigningKey
from tests.fakes.authority import ALICE, BASE, KEY, MCP, Authority, Ring
from tests.fakes.identity_stores import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


def claims(
    clock: Clock, standing: Standing, *, subject: str = ALICE, client: str = "app", seconds: int = 3_600, **terms: Any
) -> AccessClaims:
    values: dict[str, Any] = {"scopes": ("knowledge:read",), "resource": MCP, "seconds": 86_400}
    now = int(clock.now)
    grant, secret = new_grant(
        "person",
        Profile(subject=subject, kind="wallet"),
        Terms(client_id=client, client_name="x", **values | terms),
        key=KEY,
        now=now,
        network="",
    )
    return claims_for(
        grant, secret, subject, standing, scopes=grant.scopes, issuer=BASE, key=KEY, now=now, seconds=seconds
    )


def test_a_token_says_its_algorithm_its_type_and_its_key_and_no_more(clock: Clock) -> None:
    token = Issuer(BASE, Ring(), clock).sign(claims(clock, Standing()))
    header = json.loads(urlsafe_b64decode(token.split(".")[0] + "=="))

    assert header == {"alg": "ES256", "typ": "at+jwt", "kid": Ring().signing(0).kid}


@pytest.mark.parametrize("toolsets", [TOGETHER, *((one,) for one in APART)])
def test_the_longest_token_there_can_be_is_taken(clock: Clock, toolsets: tuple[str, ...]) -> None:
    scopes = tuple(one for one in CATALOGUE if one.partition(":")[0] in toolsets)
    member = ChosenMembership(organisation="g" * 64, member=f"mb_{'m' * 26}")
    roles = tuple(f"{number:02}{'r' * 62}" for number in range(40))
    rules = tuple(rule_id(f"groups:{number}") for number in range(MAX_GROUPS))
    longest = claims(
        clock,
        Standing(tier="vibecoder", roles=roles, rules=rules, scopes=frozenset(scopes), organisation="o" * 64),
        subject=f"oidc:https://{'i' * 100}.example#{'s' * 255}",
        client="https://c.example/" + "c" * 2_030,
        scopes=scopes,
        resource_scopes=kinds_of(toolsets),
        membership=member if toolsets != TOGETHER else None,
    )
    token = Issuer(BASE, Ring(), clock).sign(longest)

    assert len(token) < MAX_TOKEN_CHARACTERS
    assert Issuer(BASE, Ring(), clock).read(token) == longest
    assert longest.roles == roles[: len(longest.roles)]
    assert longest.rules == rules, "names are for people; what is judged by is whole"


def test_a_token_never_outlives_its_grant(clock: Clock) -> None:
    found = claims(clock, Standing(), seconds=86_401)

    assert found.expires_at - found.issued_at == 86_400


def test_a_members_name_is_the_organisations_own() -> None:
    names = {member_id(KEY, "one", ALICE), member_id(KEY, "two", ALICE), member_id(b"other", "one", ALICE)}

    assert len(names) == 3
    assert all(name.startswith("mem_") and len(name) == 28 for name in names)
    assert member_id(KEY, "one", ALICE) == member_id(KEY, "one", ALICE)


def test_the_key_that_signs_changes_with_the_ring(clock: Clock) -> None:
    ring = list(keyring.next_ring((), int(clock.now)))

    class Rotating:
        def signing(self, now: float) -> SigningKey:
            found = keyring.signer(ring, now)
            assert found is not None
            return found

        def published(self, now: float) -> Any:
            return keyring.published(ring, now)

    issuer = Issuer(BASE, Rotating(), clock)
    first = issuer.sign(claims(clock, Standing()))
    ring[:] = keyring.next_ring(ring, int(clock.now))
    clock.forward(keyring.LEAD_SECONDS)
    second = issuer.sign(claims(clock, Standing()))

    kids = [json.loads(urlsafe_b64decode(token.split(".")[0] + "=="))["kid"] for token in (first, second)]
    assert kids[0] != kids[1]
    assert issuer.read(first).jti != issuer.read(second).jti
    ring[:] = keyring.next_ring(ring, int(clock.now), at_once=True)
    for token in (first, second):
        with pytest.raises(BadToken):
            issuer.read(token)


def test_what_the_authority_issues_a_guard_takes(clock: Clock) -> None:
    authority = Authority(clock=clock)
    answer = authority.tokens()
    keys = {key["kid"]: key for key in Ring().published(clock.now)}

    class Published:
        def find(self, kid: str) -> Any:
            return keys.get(kid)

    found = AccessTokens(BASE, Published()).verify(answer["access_token"], MCP, clock.now)
    assert found == authority.claims(answer)
