"""The consent page where tokens act for a member: organisation, roles, kinds and how long."""

import pytest

from commonplace.identity.memberships import GRANT_SECONDS, RoleHeld
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.memberships import CLERK, LEAD, MemoryMemberships, take_membership
from tests.unit.identity.oauth.pages.conftest import ISSUER, World, fields, path, query

HOSTILE = "<b>Acme\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}</b>"
CLEAN = "&lt;b&gt;Acme&lt;/b&gt;"


@pytest.fixture
def memberships(monkeypatch: pytest.MonkeyPatch) -> MemoryMemberships:
    take_membership(monkeypatch, "hive")
    return MemoryMemberships()


@pytest.fixture
def here(memberships: MemoryMemberships) -> World:
    return World(AuthorizationServer(ISSUER, memberships=memberships))


def asked(here: World) -> str:
    return path(here.site, resource=f"{ISSUER}/mcp/hive", scope="hive:read")


def test_a_person_chooses_organisation_roles_kinds_and_how_long(here: World, memberships: MemoryMemberships) -> None:
    alice = here.browser()
    whose = here.server.services.subject_hash(alice.address)
    bad = RoleHeld(id="ro_bad", title=HOSTILE, team=HOSTILE)
    memberships.join(whose, "acme", LEAD, CLERK, bad, organisation_name=HOSTILE, name=HOSTILE)
    memberships.join(whose, "zeta", RoleHeld(id="ro_zeta", title="Host", team="Hall"))
    page = alice.consent_page(asked(here))
    assert page.text.count(CLEAN) == 5, "organisation twice, member, team and role"
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.text
    shown = [page.text.index(f">{one}</bdi>") for one in ("Garden", "Lead", "Kitchen", "Clerk")]
    assert shown == sorted(shown), "roles by their teams"
    assert ">only read<" in page.text
    assert "direct messages" in page.text
    assert all(f'<option value="{seconds}"' in page.text for seconds in GRANT_SECONDS)
    assert f'<option value="{GRANT_SECONDS[3]}" selected>30 days' in page.text
    sent = fields(page)
    assert ("role:zeta", "ro_zeta") in sent
    assert ("kind", "organisation") not in sent
    form = [one for one in sent if one != ("role:acme", CLERK.id) and one[0] != "organisation"]
    done = alice.post([*form, ("organisation", "acme"), ("expiry", str(GRANT_SECONDS[0])), ("decision", "allow")])
    assert "code" in dict(query(done.headers["location"]))
    (grant,) = here.server.grants.all()
    assert grant.membership is not None
    assert (grant.membership.organisation, grant.membership.roles) == ("acme", ("ro_bad", LEAD.id))
    assert (grant.scopes, grant.expires_at - grant.created_at) == (("hive:read",), GRANT_SECONDS[0])
    assert "<code>acme</code>" in alice.get("/account").text


def test_who_is_no_member_learns_how_to_become_one_and_can_only_decline(
    here: World, memberships: MemoryMemberships
) -> None:
    memberships.join("somebody else", "acme", LEAD)
    alice = here.browser()
    page = alice.consent_page(asked(here))
    assert "invitation" in page.text
    assert 'name="scope"' not in page.text
    assert 'value="allow" class="primary" disabled' in page.text
    form = [*fields(page), ("scope", "hive:read"), ("kind", "topics"), ("organisation", "acme")]
    assert alice.post([*form, ("decision", "allow")]).status_code == 403
    assert "error=access_denied" in alice.decide(alice.consent_page(asked(here)), "deny").headers["location"]
