"""What people change in an organisation, and what the journal says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import model, store, structure
from commonplace.governance.model import MAX_ROLES, Member, Policy, Team, new_id, roles_of
from commonplace.governance.store import CHANNELS, FEED, INVITATIONS, JOURNAL, MEMBERS, POLICIES, ROLES, TEAMS, TEXTS
from commonplace.kernel.errors import CommonplaceError, Conflict, Forbidden, InvalidInput, NotFound
from commonplace.kernel.records import Change
from commonplace.kernel.table import Table
from tests.fakes.governance import agent

if TYPE_CHECKING:
    from commonplace.web.operations import Operation
    from tests.fakes.governance import Tide

ABOUT = {"title": "Lamps", "abstract": "When they burn.", "text": "# At night"}


def journal(tide: Tide) -> list[model.Decision]:
    return sorted(tide.store.records.list("tide", JOURNAL), key=lambda one: one.at)


def touched(tide: Tide) -> set[str]:
    """Return the addresses that the last change named."""
    return set(max(tide.store.records.list("tide", FEED), key=lambda one: one.expires_at).names)


def state(tide: Tide) -> list[Any]:
    """Return all items of the deployment."""
    return sorted(tide.store.table.scan("attribute_exists(pk)"), key=lambda item: (item["pk"], item["sk"]))


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[], Any]) -> list[Any]:
    """Have something else happen between the reading and the writing of the next change; return what it returns."""
    transact, done = Table.transact, []

    def interrupted(self: Table, writes: Any) -> None:
        monkeypatch.setattr(Table, "transact", transact)
        done.append(change())
        transact(self, writes)

    monkeypatch.setattr(Table, "transact", interrupted)
    return done


def team(tide: Tide, name: str, below: str = "Tide", by: str = "Ada") -> Team:
    made: Team = tide.do(by, structure.create_team, parent_team_id=tide.team(below).id, name=name)
    return made


def renamed(tide: Tide, which: str, by: str = "Ada", **new: Any) -> Team:
    """Change a team in what is given."""
    was = tide.team(which)
    values = {"team_id": was.id, "revision": was.revision, "name": was.name} | new
    changed: Team = tide.do(by, structure.change_team, **values)
    return changed


def delete(tide: Tide, which: str, by: str = "Guest") -> Any:
    was = tide.team(which)
    return tide.do(by, structure.delete_team, team_id=was.id, revision=was.revision)


def assign(tide: Tide, within: str, title: str, to: str, by: str = "Guest") -> Any:
    role = tide.role(within, title)
    given = {"role_id": role.id, "revision": role.revision, "member_id": tide.member(to).id}
    return tide.do(by, structure.assign_role, **given)


def policy(tide: Tide, by: str = "Vi", within: str = "Watch", title: str = "Leader", **new: Any) -> Policy:
    made: Policy = tide.do(by, structure.create_policy, role_id=tide.role(within, title).id, **(ABOUT | new))
    return made


def test_whoever_founds_an_organisation_owns_it_and_holds_its_first_roles(tide: Tide) -> None:
    ada = tide.member("Ada")
    assert tide.store.organisation("tide").owner == ada.id
    assert {tide.role("Tide", title).member for title in ("Leader", "Secretary", "Referee")} == {ada.id}
    assert ada.roles == {one.id: one.team for one in tide.all(ROLES) if one.member == ada.id}
    channels = [(one.kind, one.name) for one in sorted(tide.all(CHANNELS), key=lambda one: one.id)]
    assert channels == [("orga", "Tide"), ("team", "Tide"), ("team", "Watch")]
    first = journal(tide)[0]
    assert (first.type, first.target_type, first.target, first.name) == ("Organization", "orgas", "tide", "Ada")
    assert [one.id for one in tide.store.memberships("account-ada")] == ["tide"]


def found(tide: Tide, who: str = "Vi", slug: str = "reef") -> Any:
    return tide.do(who, structure.found_organisation, slug=slug, name="Reef", firstname=who)


@pytest.mark.parametrize(
    ("slug", "error"),
    [("tide", Conflict), ("house", Conflict), ("Tide", InvalidInput), ("public", InvalidInput), ("a#b", InvalidInput)],
)
def test_a_name_that_is_taken_reserved_or_no_name_founds_nothing(
    tide: Tide, slug: str, error: type[CommonplaceError]
) -> None:
    before = state(tide)
    with pytest.raises(error) as refused:
        found(tide, slug=slug)
    assert refused.value.details["field"] == "slug"
    assert state(tide) == before


def test_an_account_founds_so_many_organisations_and_no_more(tide: Tide) -> None:
    for number in range(2):
        found(tide, "Ada", f"tide-{number}")
    with pytest.raises(Forbidden):
        found(tide, "Ada")
    assert len(tide.store.memberships("account-ada")) == 3


def one_role(tide: Tide) -> dict[str, Any]:
    return {"role_id": tide.role("Watch", "Referee").id, "revision": 1}


def one_team(tide: Tide) -> dict[str, Any]:
    return {"team_id": tide.team("Watch").id, "revision": 1}


def one_policy(tide: Tide) -> dict[str, Any]:
    return {"policy_id": policy(tide).id, "revision": 1}


CHANGES: list[tuple[Operation, str, Callable[[Tide], dict[str, Any]]]] = [
    (structure.change_settings, "Ada", lambda _: {"revision": 1, "name": "Ebb"}),
    (structure.transfer_ownership, "Ada", lambda tide: {"member_id": tide.member("Vi").id}),
    (structure.remove_member, "Ada", lambda tide: {"member_id": tide.member("Guest").id}),
    (structure.leave_organisation, "Guest", lambda _: {}),
    (structure.change_profile, "Guest", lambda _: {"firstname": "Gast"}),
    (structure.create_team, "Guest", lambda tide: {"parent_team_id": tide.team("Watch").id, "name": "Lamp"}),
    (structure.change_team, "Guest", lambda tide: one_team(tide) | {"name": "Look"}),
    (structure.delete_team, "Guest", one_team),
    (structure.create_role, "Guest", lambda tide: {"team_id": tide.team("Watch").id, "title": "Bell"}),
    (structure.change_role, "Guest", lambda tide: one_role(tide) | {"title": "Judge"}),
    (structure.assign_role, "Guest", lambda tide: one_role(tide) | {"member_id": tide.member("Guest").id}),
    (structure.delete_role, "Guest", one_role),
    (structure.create_policy, "Vi", lambda tide: {"role_id": tide.role("Watch", "Leader").id, **ABOUT}),
    (structure.change_policy, "Vi", lambda tide: one_policy(tide) | ABOUT | {"title": "Light"}),
    (structure.delete_policy, "Vi", one_policy),
    (structure.invite, "Vi", lambda _: {"note": "for Kim"}),
]


@pytest.mark.parametrize(("operation", "who", "given"), CHANGES, ids=[one.name for one, *_ in CHANGES])
def test_a_change_writes_one_record_of_the_journal_and_refused_ones_write_nothing(
    tide: Tide, operation: Operation, who: str, given: Callable[[Tide], dict[str, Any]]
) -> None:
    values, member, before = given(tide), tide.member(who), state(tide)
    asked = operation.accepted({"orga_id": "tide", **values})
    for error, actor, orga in (
        (Forbidden, agent("tide", member, member.roles), "tide"),
        (NotFound, tide.person("Stranger"), "tide"),
        (NotFound, tide.person(who), "a#b"),
    ):
        with pytest.raises(error):
            operation.run(tide.governance, actor, asked.model_copy(update={"orga_id": orga}))
    if "revision" in values:
        with pytest.raises(Conflict, match="in the meantime"):
            tide.do(who, operation, **(values | {"revision": 7}))
    assert state(tide) == before
    records = len(journal(tide))
    done = tide.do(who, operation, **values)
    assert len(journal(tide)) == records + 1
    if "revision" in values and operation.name.startswith("change"):
        assert done.revision == values["revision"] + 1
    record = journal(tide)[-1]
    assert (record.member, record.name) == (member.id, member.name)
    assert record.before or record.after
    assert not any("account-" in str(one) or "for Kim" in str(one) for one in (record.before, record.after))
    assert "decisions" in touched(tide)


def test_a_change_that_changes_nothing_writes_nothing(tide: Tide) -> None:
    made = policy(tide)
    before = state(tide)
    renamed(tide, "Watch")
    assign(tide, "Watch", "Leader", "Vi")
    tide.do("Vi", structure.change_policy, policy_id=made.id, revision=1, **ABOUT)
    tide.do("Ada", structure.change_settings, revision=tide.store.organisation("tide").revision, name="Tide")
    tide.do("Ada", structure.change_profile, firstname="Ada")
    assert state(tide) == before


def test_two_teams_never_have_one_name_and_a_name_given_up_is_free(tide: Tide) -> None:
    for name in ("watch", "WATCH ", "Ｗatch", "Wat\u200dch"):
        with pytest.raises(Conflict) as refused:
            team(tide, name)
        assert refused.value.details["field"] == "name"
    renamed(tide, "Watch", name="WATCH")
    renamed(tide, "WATCH", name="Lookout")
    assert tide.channel("Lookout").name == "Lookout"
    team(tide, "Watch")
    delete(tide, "Watch")
    team(tide, "watch")
    with pytest.raises(Conflict):
        renamed(tide, "Lookout", name="Watch")


def bell(tide: Tide, who: str = "Guest") -> Any:
    return tide.do(who, structure.create_role, team_id=tide.team("Watch").id, title="Bell", type="secretary")


def move(tide: Tide, which: str, below: str) -> Team:
    return renamed(tide, which, parent_team_id=tide.team(below).id)


RACES: dict[str, tuple[Any, ...]] = {
    "one slug is founded twice": (
        *(lambda tide: found(tide, "Ada"), found, Conflict),
        *(lambda tide: [one.name for one in tide.store.all("reef", MEMBERS)], ["Ada"]),
    ),
    "two teams get one name": (
        *(lambda tide: team(tide, "Lamp", by="Vi"), lambda tide: team(tide, "lamp"), Conflict),
        *(lambda tide: [one.name for one in tide.all(TEAMS)].count("Lamp"), 1),
    ),
    "a role goes to two members": (
        *(lambda tide: assign(tide, "Watch", "Leader", "Ada"), lambda tide: assign(tide, "Watch", "Leader", "Guest")),
        *(Conflict, lambda tide: tide.role("Watch", "Leader").id in tide.member("Ada").roles, True),
    ),
    "who writes a policy loses the role": (
        *(lambda tide: assign(tide, "Watch", "Leader", "Guest"), policy, Forbidden),
        *(lambda tide: tide.all(POLICIES), []),
    ),
    "a role that ends gets a policy": (
        lambda tide: policy(tide, title="Referee"),
        lambda tide: tide.do("Vi", structure.delete_role, **one_role(tide)),
        *(Conflict, lambda tide: len(tide.all(POLICIES)), 1),
    ),
    "who changes something is removed": (
        lambda tide: tide.do("Ada", structure.remove_member, member_id=tide.member("Guest").id),
        *(bell, NotFound, lambda tide: [one for one in tide.all(ROLES) if one.title == "Bell"], []),
    ),
    "one account accepts two invitations": (
        *(lambda tide: tide.join("Kim"), lambda tide: tide.join("Kim"), Conflict),
        *(lambda tide: len(tide.all(MEMBERS)), 4),
    ),
}


@pytest.mark.parametrize("race", RACES)
def test_of_two_changes_at_once_one_is_refused(tide: Tide, monkeypatch: pytest.MonkeyPatch, race: str) -> None:
    first, then, error, seen, expected = RACES[race]
    meanwhile(monkeypatch, lambda: first(tide))
    with pytest.raises(error):
        then(tide)
    assert seen(tide) == expected


def test_a_team_never_stands_below_itself(tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    team(tide, "Lamp", below="Watch")
    team(tide, "Bell")
    for which, below in (("Watch", "Lamp"), ("Watch", "Watch"), ("Tide", "Bell")):
        with pytest.raises(Conflict):
            move(tide, which, below)
    with pytest.raises(NotFound):
        renamed(tide, "Bell", parent_team_id="te_unknown")
    meanwhile(monkeypatch, lambda: move(tide, "Bell", "Lamp"))
    with pytest.raises(Conflict):
        move(tide, "Lamp", "Bell")


def in_use(tide: Tide) -> dict[str, Callable[[], Any]]:
    pointer = model.Active(id=f"{tide.team('Watch').channel}.{new_id()}", kind="topic")
    records = tide.store.records
    return {
        "teams stand below it": lambda: team(tide, "Lamp", below="Watch"),
        "further roles": lambda: bell(tide),
        "it has policies": lambda: policy(tide),
        "a process is open": lambda: records.change("tide", lambda change: change.add(store.ACTIVE, pointer)),
    }


@pytest.mark.parametrize("use", ["teams stand below it", "further roles", "it has policies", "a process is open"])
@pytest.mark.parametrize("late", [False, True])
def test_a_team_in_use_is_not_deleted(tide: Tide, monkeypatch: pytest.MonkeyPatch, use: str, *, late: bool) -> None:
    if late and use != "a process is open":  # that is written with a condition on the channel
        meanwhile(monkeypatch, in_use(tide)[use])
    else:
        in_use(tide)[use]()
    with pytest.raises(Conflict, match=use):
        delete(tide, "Watch")
    assert tide.channel("Watch").archived_at is None


def test_a_role_of_a_deleted_team_gives_nobody_anything(tide: Tide) -> None:
    watch, vi = tide.team("Watch"), tide.member("Vi")
    assign(tide, "Watch", "Referee", "Guest")
    delete(tide, "Watch")
    assert tide.member("Vi").roles == tide.member("Guest").roles == {}
    assert not tide.access("Vi").teams
    assert not tide.governance.access(agent("tide", vi, vi.roles), "tide").roles
    channel = tide.store.get("tide", CHANNELS, watch.channel)
    assert channel.archived_at == tide.store.now()
    assert not any(tide.access(name).reaches(channel) for name in ("Ada", "Vi", "Guest"))
    assert {"teams", f"teams/{watch.id}", f"members/{vi.id}", f"channels/{channel.id}/messages"} <= touched(tide)
    with pytest.raises(Conflict, match="first team"):
        delete(tide, "Tide")


def test_a_role_goes_from_one_member_to_another_at_once(tide: Tide) -> None:
    made, role = policy(tide), tide.role("Watch", "Leader")
    assign(tide, "Watch", "Leader", "Guest")
    assert role.id in tide.member("Guest").roles
    assert role.id not in tide.member("Vi").roles
    assert tide.role("Watch", "Leader").member == tide.member("Guest").id
    record = journal(tide)[-1]
    assert [record.before, record.after] == [{"member": tide.member(name).id} for name in ("Vi", "Guest")]
    assert {f"members/{role.member}", f"policies/{made.id}", "topics", "channels"} <= touched(tide)
    with pytest.raises(NotFound):
        role = tide.role("Watch", "Leader")
        tide.do("Ada", structure.assign_role, role_id=role.id, revision=role.revision, member_id="mb_unknown")


def test_a_leaders_role_stays_one_and_who_leads_gets_roles_without_a_member(tide: Tide) -> None:
    role = tide.role("Watch", "Leader")
    with pytest.raises(Conflict):
        tide.do("Ada", structure.delete_role, role_id=role.id, revision=1)
    with pytest.raises(Conflict):
        tide.do("Ada", structure.change_role, role_id=role.id, revision=1, title="Leader", type="referee")
    with pytest.raises(InvalidInput):
        tide.do("Ada", structure.create_role, team_id=role.team, title="Leader", type="leader")
    tide.do("Ada", structure.change_role, role_id=role.id, revision=1, title="Head", mission="Lead.", duties=["See"])
    head = tide.role("Watch", "Head")
    assert (head.type, head.mission, head.duties) == ("leader", "Lead.", ("See",))
    assert bell(tide).member == head.member


def test_a_member_holds_so_many_roles_and_no_more(tide: Tide) -> None:
    watch, vi = tide.team("Watch").id, tide.member("Vi")
    more = {roles_of(watch) + new_id(): watch for _ in range(MAX_ROLES - 3)}
    many = replace(vi, roles={**vi.roles, **more})
    tide.store.records.change("tide", lambda change: change.replace(MEMBERS, many, vi))
    before = state(tide)
    for refused in (
        lambda: tide.do("Ada", structure.create_role, team_id=watch, title="One more"),
        lambda: team(tide, "Lamp", by="Vi"),
        lambda: assign(tide, "Tide", "Referee", "Vi"),
    ):
        with pytest.raises(Conflict, match=f"more than {MAX_ROLES}"):
            refused()
    assert state(tide) == before


def test_a_policy_is_its_holders_and_its_number_is_never_given_again(
    tide: Tide, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = policy(tide)
    with pytest.raises(Forbidden):
        policy(tide, by="Ada")
    for operation, more in ((structure.change_policy, ABOUT), (structure.delete_policy, {})):
        with pytest.raises(Forbidden):
            tide.do("Ada", operation, policy_id=one.id, revision=1, **more)
    tide.do("Vi", structure.change_policy, policy_id=one.id, revision=1, **(ABOUT | {"text": "By day"}))
    record = journal(tide)[-1]
    assert (record.role, record.team) == ("Leader", "Watch")
    assert (record.before, record.after) == ({"text": "# At night"}, {"text": "By day"})
    tide.do("Vi", structure.delete_policy, policy_id=one.id, revision=2)
    assert journal(tide)[-1].before["text"] == "By day"
    meanwhile(monkeypatch, lambda: policy(tide, "Ada", "Tide", title="Leader"))
    assert [policy(tide).number, one.number] == [3, 1]
    assert sorted(one.id for one in tide.all(TEXTS)) == ["pol_000002", "pol_000003"]


def test_who_holds_roles_does_not_leave_and_the_owner_never_does(tide: Tide) -> None:
    with pytest.raises(Conflict) as refused:
        tide.do("Vi", structure.leave_organisation)
    assert refused.value.hint == "Assign: Leader (Watch), Referee (Watch), Secretary (Watch)."
    for title in ("Leader", "Secretary", "Referee"):
        assign(tide, "Watch", title, "Guest")
        assign(tide, "Tide", title, "Vi")
        assign(tide, "Tide", title, "Guest")
    with pytest.raises(Conflict, match="owner"):
        tide.do("Ada", structure.leave_organisation)
    tide.do("Vi", structure.leave_organisation)
    left = tide.member("Vi")
    assert (left.account, left.roles, left.left_at) == ("", {}, tide.store.now())
    with pytest.raises(NotFound):
        tide.access("Vi")
    tide.do("Ada", structure.transfer_ownership, member_id=tide.member("Guest").id)
    tide.do("Ada", structure.leave_organisation)
    assert tide.join("Vi", by="Guest").id != left.id


def test_only_the_owner_changes_settings_removes_members_and_transfers(tide: Tide) -> None:
    guest = tide.member("Guest").id
    for operation, given in (
        (structure.change_settings, {"revision": 1, "name": "Ebb"}),
        (structure.remove_member, {"member_id": guest}),
        (structure.transfer_ownership, {"member_id": guest}),
    ):
        with pytest.raises(Forbidden):
            tide.do("Vi", operation, **given)
    tide.do("Ada", structure.change_settings, revision=1, name="Ebb", color="#224466")
    assert (tide.store.organisation("tide").color, tide.channel().name) == ("#224466", "Ebb")
    tide.do("Ada", structure.remove_member, member_id=guest)
    with pytest.raises(NotFound):
        tide.access("Guest")


def test_who_becomes_owner_while_leaving_stays(tide: Tide, monkeypatch: pytest.MonkeyPatch) -> None:
    guest = tide.member("Guest").id
    meanwhile(monkeypatch, lambda: tide.do("Ada", structure.transfer_ownership, member_id=guest))
    with pytest.raises(Conflict, match="owner"):
        tide.do("Guest", structure.leave_organisation)
    tide.do("Guest", structure.transfer_ownership, member_id=tide.member("Ada").id)
    meanwhile(monkeypatch, lambda: tide.do("Guest", structure.leave_organisation))
    with pytest.raises(NotFound):
        tide.do("Ada", structure.transfer_ownership, member_id=guest)


def test_an_invitation_counts_once_and_its_secret_is_stored_nowhere(
    tide: Tide, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = tide.do("Vi", structure.invite, note="for Kim")
    assert secret not in str(state(tide))
    given = {"secret": secret, "firstname": "Kim"}
    meanwhile(monkeypatch, lambda: tide.do("Kim", structure.accept_invitation, **given))
    with pytest.raises(NotFound):
        tide.do("Mallory", structure.accept_invitation, **given)
    assert tide.access("Kim").member.name == "Kim"
    assert journal(tide)[-1].after["invitedBy"] == tide.member("Vi").id
    _, another = tide.do("Vi", structure.invite)
    with pytest.raises(Conflict, match="member"):
        tide.do("Kim", structure.accept_invitation, secret=another, firstname="Kim")
    assert len(tide.all(INVITATIONS)) == 1


def test_an_invitation_ends_by_time_by_who_sent_it_and_by_the_owner(tide: Tide) -> None:
    (first, late), (second, _), (third, _) = (tide.do("Vi", structure.invite) for _ in range(3))
    with pytest.raises(Forbidden):
        tide.do("Guest", structure.withdraw_invitation, invitation_id=second.id)
    tide.do("Vi", structure.withdraw_invitation, invitation_id=second.id)
    tide.do("Ada", structure.withdraw_invitation, invitation_id=third.id)
    tide.clock.now += model.INVITATION_DAYS * 86_400
    for orga, secret in (("tide", late), ("tide", "unknown"), ("reef", late), ("a#b", late)):
        with pytest.raises(NotFound, match="no longer valid"):
            tide.do("Kim", structure.accept_invitation, orga_id=orga, secret=secret, firstname="Kim")
    assert [one.id for one in tide.all(INVITATIONS)] == [first.id]


def test_an_invitation_can_make_an_account_a_member_who_is_known_by_name(tide: Tide) -> None:
    known = Member(id="mb_known", firstname="Noor", joined_at=tide.store.now())
    tide.store.records.change("tide", lambda change: change.add(MEMBERS, known))
    assign(tide, "Watch", "Referee", "Noor")
    with pytest.raises(Conflict):
        tide.do("Ada", structure.transfer_ownership, member_id="mb_known")
    with pytest.raises(Conflict):
        tide.do("Ada", structure.invite, member_id=tide.member("Vi").id)
    (_, one), (_, other) = (tide.do("Ada", structure.invite, member_id="mb_known") for _ in range(2))
    tide.do("Noor", structure.accept_invitation, secret=one, firstname="Noor", surname="Reyes")
    access = tide.access("Noor")
    assert (access.member.id, access.member.name) == ("mb_known", "Noor Reyes")
    assert access.teams == {tide.team("Watch").id}
    with pytest.raises(NotFound):
        tide.do("Mallory", structure.accept_invitation, secret=other, firstname="Noor")


def test_a_member_has_so_many_open_invitations_and_no_more(tide: Tide) -> None:
    vi = tide.member("Vi").id

    def pending(change: Change) -> None:
        for number in range(model.MAX_INVITATIONS):
            change.add(INVITATIONS, model.Invitation(id=f"{number}", member=vi, created_at="", expires_at=1))

    tide.store.records.change("tide", pending)
    with pytest.raises(Conflict):
        tide.do("Vi", structure.invite)
    tide.do("Ada", structure.invite)


@pytest.mark.parametrize("name", ["", " \n", "\u200d", "a\x00b", "Vi\u202eada", "\u200bVi", "n" * 121])
def test_a_name_shows_what_it_is(tide: Tide, name: str) -> None:
    for operation, field in ((structure.change_profile, "firstname"), (structure.create_team, "name")):
        with pytest.raises(InvalidInput) as refused:
            tide.do("Ada", operation, **({"parent_team_id": "te_x"} if field == "name" else {}), **{field: name})
        assert [one["field"] for one in refused.value.details["fields"]] == [field]


def test_another_name_of_a_member_is_named_wherever_it_stands(tide: Tide) -> None:
    made = policy(tide)
    picture = "https://a.example/v.png"
    tide.do("Vi", structure.change_profile, firstname="  Viola  ", surname="Marsh", picture_url=picture)
    vi = tide.member("Viola Marsh")
    assert touched(tide) >= {
        "",
        f"members/{vi.id}",
        f"teams/{tide.team('Watch').id}",
        f"policies/{made.id}",
        f"channels/{tide.channel().id}/messages",
        f"channels/{tide.channel('Watch').id}/messages",
    }
    assert journal(tide)[-1].after == {"firstname": "Viola", "surname": "Marsh", "pictureUrl": picture}
