"""Memberships as identity reads them, the journal of grants, and names that cannot be founded."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.governance import structure
from commonplace.governance.capability import GOVERNANCE
from commonplace.governance.composition import reserved
from commonplace.governance.memberships import StoredMemberships
from commonplace.governance.model import KINDS, Decision
from commonplace.governance.settings import GovernanceSettings, GovernanceTables, memberships
from commonplace.governance.store import FEED, JOURNAL
from commonplace.identity.memberships import ChosenMembership, MemberNow, RoleHeld
from commonplace.identity.records import Grant
from commonplace.kernel.environment import SettingsError
from tests.fakes.governance import AT, Tide

TABLES = {"RECORDS_TABLE": "records", "ACTIVITY_TABLE": "activity", "IDENTITY_TABLE": "identity"}
IDENTITY = {
    "BASE_URL": "https://example.org",
    "ROLE_CACHE_TABLE": "cache",
    "IDENTITY_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:a",
    "RPC_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:b",
}


def grant(tide: Tide, who: str, **more: Any) -> Grant:
    member = tide.member(who)
    chosen = ChosenMembership(organisation="tide", member=member.id, roles=tuple(sorted(member.roles)))
    given: dict[str, Any] = {"membership": chosen, "resource_scopes": ("messages", "organisation")} | more
    return Grant(
        id="public-name",
        kind="person",
        subject_hash=member.account,
        client_id="client",
        client_name="Reader",
        resource="https://example.org/mcp/governance",
        scopes=("governance:read",),
        created_at=int(AT),
        expires_at=int(AT) + 86_400,
        **given,
    )


@pytest.fixture
def stored(tide: Tide) -> StoredMemberships:
    return StoredMemberships(tide.store)


def test_an_account_has_its_organisations_with_the_roles_of_each(tide: Tide, stored: StoredMemberships) -> None:
    tide.do("Vi", structure.found_organisation, slug="ebb", name="Ebb", firstname="Viola", surname="Reed")
    vi = tide.member("Vi")
    ebb, here = stored.of_account(vi.account)
    assert (ebb.organisation, ebb.organisation_name, ebb.name) == ("ebb", "Ebb", "Viola Reed")
    assert (here.organisation, here.organisation_name, here.member, here.name) == ("tide", "Tide", vi.id, "Vi")
    assert ebb.member != here.member
    titles = ("Leader", "Referee", "Secretary")
    assert here.roles == tuple(RoleHeld(id=tide.role("Watch", one).id, title=one, team="Watch") for one in titles)
    assert stored.of_account("stranger") == []


def test_roles_are_those_that_the_member_holds_now(tide: Tide, stored: StoredMemberships) -> None:
    vi, role = tide.member("Vi"), tide.role("Watch", "Referee")
    assert stored.of("tide", vi.id, vi.account) == MemberNow(roles=frozenset(vi.roles))
    guest = tide.member("Guest").id
    tide.do("Ada", structure.assign_role, role_id=role.id, revision=role.revision, member_id=guest)
    assert stored.of("tide", vi.id, vi.account) == MemberNow(roles=frozenset(vi.roles) - {role.id})


def test_who_is_no_member_has_no_roles(tide: Tide, stored: StoredMemberships) -> None:
    guest, vi = tide.member("Guest"), tide.member("Vi")
    assert stored.of("tide", guest.id, guest.account) == MemberNow(roles=frozenset())
    for asked in (("tide", guest.id, vi.account), ("ebb", guest.id, guest.account), ("tide", "mb_1", guest.account)):
        assert stored.of(*asked) is None
    tide.do("Guest", structure.leave_organisation)
    for account in (guest.account, ""):
        assert stored.of("tide", guest.id, account) is None
    assert stored.of_account(guest.account) == []


def test_the_journal_says_what_was_granted_and_what_is_over(tide: Tide, stored: StoredMemberships) -> None:
    given, feed = grant(tide, "Vi"), len(tide.all(FEED))
    tide.store.table.transact(stored.journal("granted", given, AT))
    tide.store.table.transact(stored.journal("revoked", given, AT + 60))
    first, last = (one for one in tide.all(JOURNAL) if isinstance(one, Decision) and one.type == "Grant")
    assert given.membership is not None
    assert first.after == {
        "client": "Reader",
        "roles": list(given.membership.roles),
        "kinds": ["organisation", "messages"],
        "expiresAt": "2026-11-19T11:06:40.000Z",
        "permission": "action",
    }
    assert (first.before, last.before, last.after) == ({}, first.after, {})
    assert {(one.name, one.team, one.target_type, one.target, one.client) for one in (first, last)} == {
        ("Vi", "Tide", "grants", "public-name", "Reader")
    }
    assert [one.names for one in tide.all(FEED)[feed:]] == [("decisions",), ("decisions", "grants/public-name")]


def test_a_grant_for_everything_names_every_kind_and_one_without_membership_nothing(
    tide: Tide, stored: StoredMemberships
) -> None:
    tide.store.table.transact(stored.journal("granted", grant(tide, "Guest", resource_scopes=None), AT))
    (told,) = (one for one in tide.all(JOURNAL) if one.type == "Grant")
    assert told.after["kinds"] == list(KINDS)
    assert stored.journal("granted", grant(tide, "Guest", membership=None), AT) == ()


def test_without_a_scheme_there_are_no_memberships() -> None:
    assert memberships(TABLES) is None
    assert GovernanceTables.where_governed({**TABLES, "GOVERNANCE_SCHEME": " "}) is None
    assert memberships({**TABLES, "GOVERNANCE_SCHEME": "swarmrise"}) is not None


def test_configuration_and_role_map_keep_their_names() -> None:
    environ = {
        **TABLES,
        "GOVERNANCE_SCHEME": "swarmrise",
        "ORGANISATION": "house",
        "ORGANISATION_NAMES": '{"acme": "Acme DAO"}',
        "ROLE_MAP": '{"hats": {"1.2": {"role": "member", "organisation": "hatters"}}}',
    }
    assert reserved({**environ, **IDENTITY}) >= {"house", "acme", "hatters", "public"}


@pytest.mark.parametrize("founded", ["0", "101", "many"])
def test_how_many_one_account_founds_is_bounded(founded: str) -> None:
    assert GovernanceSettings.from_environ(TABLES).founded_per_account == 3
    with pytest.raises(SettingsError):
        GovernanceSettings.from_environ({**TABLES, "GOVERNANCE_FOUNDED_PER_ACCOUNT": founded})


def test_the_declaration_says_what_the_model_says() -> None:
    scopes = GOVERNANCE.scopes
    assert scopes is not None
    levels = ("read", "write", "decide")
    assert (scopes.kinds, scopes.tiers, scopes.levels) == (KINDS, dict.fromkeys(levels, "public"), levels)
