"""Who waits hears of what a read would show anew, of nothing else, and of nothing once the grant is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from ulid import ULID

from commonplace.governance import conversation, processes, structure
from commonplace.governance.model import Touched
from commonplace.governance.store import FEED
from commonplace.governance.toolset import governance_toolset
from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.limits import Slots
from commonplace.kernel.records import Change
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller, Happened, Watch
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.subscriptions import Pace, install_subscriptions
from tests.fakes.changes import FakeChanges
from tests.fakes.governance import agent
from tests.fakes.slots import FakeSlots
from tests.unit.web.mcp.over_http import connected, serving

if TYPE_CHECKING:
    from tests.fakes.governance import Tide

QUIET = Happened()
PLACE = "swarmrise://orgas/tide"


def caller(tide: Tide, who: str, roles: Sequence[str] = (), kinds: Sequence[str] | None = None) -> Caller:
    held = [tide.role("Watch", title).id for title in roles]
    return Caller(agent(tide.slug, tide.member(who), held, kinds).principal)


def watching(tide: Tide, who: Caller, *places: str, lists: bool = False) -> Watch:
    watch = governance_toolset(tide.governance, "swarmrise").watch
    assert watch is not None
    return watch(who, [f"{PLACE}{place}" for place in places], lists)


def messages(tide: Tide, team: str | None = None) -> str:
    return f"/channels/{tide.channel(team).id}/messages"


def say(tide: Tide, who: str, team: str | None = None, **more: Any) -> Any:
    return tide.do(who, conversation.send_message, channel_id=tide.channel(team).id, text="Hear.", **more)


def test_an_address_that_was_touched_and_reads_otherwise_is_told_and_no_other(tide: Tide) -> None:
    parent = say(tide, "Vi")
    thread = f"{messages(tide)}/{parent.id}/thread"
    watch = watching(tide, caller(tide, "Guest"), messages(tide), thread, "/decisions", "/topics")
    assert watch.uris == tuple(f"{PLACE}{one}" for one in (messages(tide), thread, "/decisions", "/topics"))
    assert watch.look() == QUIET
    say(tide, "Ada")
    assert watch.look() == Happened((f"{PLACE}{messages(tide)}",))
    say(tide, "Ada", parent_id=parent.id)
    assert set(watch.look().updated) == {f"{PLACE}{messages(tide)}", f"{PLACE}{thread}"}


def test_an_address_that_reads_as_before_is_not_told(tide: Tide) -> None:
    """A reaction that came and went, and a message of a page that nobody asked for."""
    message = say(tide, "Vi")
    for _ in range(2):
        say(tide, "Vi")
    watch = watching(tide, caller(tide, "Guest"), f"{messages(tide)}?limit=1", "/decisions")
    for _ in range(2):
        tide.do("Ada", conversation.react_to_message, message_id=message.id, emoji="tada")
        assert watch.look() == QUIET


def test_what_a_caller_cannot_read_is_not_granted_and_never_told(tide: Tide) -> None:
    watch = watching(tide, caller(tide, "Guest"), messages(tide, "Watch"), "/nothing", "/teams?colour=red", lists=True)
    assert watch.uris == ()
    say(tide, "Vi", "Watch")
    assert watch.look() == QUIET
    narrow = watching(tide, caller(tide, "Guest", kinds=("organisation",)), messages(tide), "/teams", "", lists=True)
    assert narrow.uris == (PLACE,)
    tide.do("Vi", structure.create_team, parent_team_id=tide.team("Tide").id, name="Net", mission="")
    assert narrow.look().listed is False


def test_direct_messages_are_heard_by_nobody(tide: Tide) -> None:
    direct = tide.do("Vi", conversation.open_direct, member_id=tide.member("Ada").id)
    everything = caller(tide, "Vi", ("Leader",))
    watch = watching(tide, everything, f"/channels/{direct.id}/messages", "/channels", lists=True)
    assert watch.uris == (f"{PLACE}/channels",)
    tide.do("Ada", conversation.send_message, channel_id=direct.id, text="Hush.")
    assert watch.look() == QUIET


def test_teams_roles_channels_and_members_change_lists(tide: Tide) -> None:
    watch = watching(tide, caller(tide, "Guest"), lists=True)
    say(tide, "Ada")
    say(tide, "Vi", "Watch")
    assert watch.look() == QUIET
    tide.do("Vi", structure.create_team, parent_team_id=tide.team("Tide").id, name="Net", mission="")
    assert watch.look() == Happened(listed=True)
    assert watching(tide, caller(tide, "Guest")).look() == QUIET


def test_a_deadline_that_passes_is_a_change_without_a_write(tide: Tide) -> None:
    given = {"channel_id": tide.channel().id, "title": "Soup?", "mode": "single", "options": ["Yes", "No"]}
    vote = tide.do("Ada", processes.open_vote, **given, deadline="2026-12-01T00:00:00Z")
    places = ("/governance-tools", messages(tide), f"{messages(tide)}/{vote.id}/thread")
    watch = watching(tide, caller(tide, "Guest"), *places, "/topics")
    assert watch.look() == QUIET
    tide.clock.now = 1_796_083_200.0
    assert set(watch.look().updated) == {f"{PLACE}{place}" for place in places}


def test_a_vote_elsewhere_that_ends_is_not_told(tide: Tide) -> None:
    given = {"channel_id": tide.channel("Watch").id, "title": "Soup?", "mode": "single", "options": ["Yes", "No"]}
    tide.do("Vi", processes.open_vote, **given, deadline="2026-12-01T00:00:00Z")
    watch = watching(tide, caller(tide, "Guest"), "/governance-tools")
    tide.clock.now = 1_796_083_200.0
    assert watch.look() == QUIET


def lose_role(tide: Tide) -> None:
    role = tide.role("Watch", "Leader")
    given = {"role_id": role.id, "member_id": tide.member("Ada").id, "revision": role.revision}
    tide.do("Vi", structure.assign_role, **given)


def test_a_role_that_is_lost_ends_its_addresses_without_a_word(tide: Tide) -> None:
    watch = watching(tide, caller(tide, "Vi", ("Leader",)), messages(tide, "Watch"), messages(tide))
    assert len(watch.uris) == 2
    lose_role(tide)
    say(tide, "Vi", "Watch")
    assert watch.look() == QUIET
    say(tide, "Vi")
    assert watch.look() == Happened((f"{PLACE}{messages(tide)}",))


def revoke(tide: Tide) -> None:
    change = Change(tide.store.table, tide.slug)
    tide.store.feed(change, ["decisions", "grants/grant"])
    tide.store.table.transact(change.writes)


def expire(tide: Tide) -> None:
    tide.clock.now *= 2


def leave(tide: Tide) -> None:
    tide.do("Guest", structure.leave_organisation)


@pytest.mark.parametrize("end", [revoke, expire, leave])
def test_a_watch_ends_with_its_grant_and_its_member(tide: Tide, end: Callable[[Tide], None]) -> None:
    watch = watching(tide, caller(tide, "Guest"), messages(tide), "/decisions", "/members", lists=True)
    assert len(watch.uris) == 3
    tide.do("Vi", structure.create_team, parent_team_id=tide.team("Tide").id, name="Net", mission="")
    assert watch.look() == Happened((f"{PLACE}/decisions", f"{PLACE}/members"), listed=True)
    end(tide)
    say(tide, "Ada")
    assert watch.look() == QUIET
    assert watch.look() == QUIET


def test_an_entry_of_a_clock_that_is_behind_is_not_missed_and_older_ones_are_not_news(tide: Tide) -> None:
    message = say(tide, "Ada")
    watch = watching(tide, caller(tide, "Guest"), messages(tide))
    assert watch.look() == QUIET
    tide.do("Ada", conversation.react_to_message, message_id=message.id, emoji="👍")
    for one in tide.all(FEED):
        tide.store.table.write(tide.store.table.delete(FEED.at(tide.slug, one.id)))
    behind = str(ULID.from_timestamp(ULID().timestamp - 3))
    change = Change(tide.store.table, tide.slug)
    change.add(FEED, Touched(id=behind, names=(messages(tide)[1:],), expires_at=2**40))
    tide.store.table.transact(change.writes)
    assert watch.look() == Happened((f"{PLACE}{messages(tide)}",))


def test_a_watch_takes_at_most_twenty_addresses(tide: Tide) -> None:
    places = [f"/teams?limit={number}" for number in range(1, 22)]
    assert len(watching(tide, caller(tide, "Guest"), *places[:20]).uris) == 20
    with pytest.raises(InvalidInput):
        watching(tide, caller(tide, "Guest"), *places)


def served(tide: Tide, during: Callable[[], object]) -> Any:
    """Return an app that serves the toolset to Guest, and in which something happens while somebody waits."""
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds
        await asyncio.to_thread(during)

    toolset = governance_toolset(tide.governance, "swarmrise")
    server, feed = build_server([toolset], Surface()), FakeChanges()
    slots = Slots(FakeSlots(), lambda: now[0], each=2, together=5)
    install_subscriptions(server, [toolset], feed, slots, Pace(clock=lambda: now[0], sleep=sleep))
    return serving(server, caller(tide, "Guest"))


def test_a_client_that_listens_hears_of_an_update_and_one_of_before_is_promised_nothing(tide: Tide) -> None:
    app, place = served(tide, lambda: say(tide, "Ada")), f"{PLACE}{messages(tide)}"

    async def main() -> tuple[Any, list[Any], Any]:
        async with (
            connected(app) as client,
            client.listen(resource_subscriptions=[place, f"{PLACE}/nothing"], resources_list_changed=True) as listening,
        ):
            granted, events = listening.honored, [event async for event in listening]
        async with connected(app, "legacy") as client:
            return granted, events, client.server_capabilities.resources

    granted, events, promised = asyncio.run(main())
    assert granted.resource_subscriptions == [place]
    assert [getattr(event, "uri", None) for event in events] == [place]
    assert promised.subscribe is False
