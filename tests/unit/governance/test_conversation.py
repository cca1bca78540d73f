"""Messages, replies, reactions and direct messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import structure
from commonplace.governance.conversation import EMOJI_NAMES, emoji_of, open_direct, react_to_message, send_message
from commonplace.governance.model import MAX_REACTIONS, MAX_TEXT
from commonplace.governance.processes import open_topic
from commonplace.governance.store import CHANNELS, FEED, MESSAGES, REACTIONS, REPLIES
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from commonplace.governance.model import Message
    from tests.fakes.governance import Tide


def say(tide: Tide, who: str, text: str = "Who comes?", channel: str = "", **more: Any) -> Any:
    return tide.do(who, send_message, channel_id=channel or tide.channel().id, text=text, **more)


def react(tide: Tide, who: str, message: Message, emoji: str = "👍") -> Any:
    return tide.do(who, react_to_message, message_id=message.id, emoji=emoji)


def counts(tide: Tide, message: Message) -> dict[str, int]:
    card = tide.store.cards(tide.slug, [message.id]).get(message.id, {})
    return {name: count for name, count in card.items() if name not in ("pk", "sk", "last")}


def touched(tide: Tide, before: int = 0) -> list[str]:
    return [name for one in tide.all(FEED)[before:] for name in one.names]


def test_replies_attach_to_the_first_message_of_their_thread(tide: Tide) -> None:
    before = len(tide.all(FEED))
    root = say(tide, "Ada", "  Who comes?\r\nI do.  ")
    messages = f"channels/{root.channel}/messages"
    assert set(touched(tide, before)) == {"channels", messages, f"{messages}/{root.id}/thread"}
    reply = say(tide, "Vi", parent_id=root.id)
    deeper = say(tide, "Guest", "I come.", parent_id=reply.id)

    assert root.text == "Who comes?\nI do."
    assert reply.parent == deeper.parent == root.id
    assert tide.all(MESSAGES) == [root]
    assert {one.id for one in tide.all(REPLIES)} == {reply.id, deeper.id}
    assert counts(tide, root) == {"replies": 2}
    assert tide.store.cards(tide.slug, [root.channel])[root.channel]["last"] == deeper.created_at


@pytest.mark.parametrize("text", ["", " \n\t", "\u200d", "x" * (MAX_TEXT + 1), "bell\x07"])
def test_a_text_that_is_empty_long_or_has_control_characters_is_no_message(tide: Tide, text: str) -> None:
    with pytest.raises(InvalidInput):
        say(tide, "Ada", text)


def test_who_has_no_role_in_a_team_neither_writes_nor_reacts_there(tide: Tide) -> None:
    message = say(tide, "Vi", channel=tide.channel("Watch").id)
    attempts: list[tuple[Any, dict[str, str]]] = [
        (send_message, {"channel_id": message.channel, "text": "I do."}),
        (send_message, {"channel_id": tide.channel().id, "text": "I do.", "parent_id": message.id}),
        (react_to_message, {"message_id": message.id, "emoji": "👍"}),
    ]
    for operation, given in attempts:
        with pytest.raises(NotFound):
            tide.do("Guest", operation, **given)


def test_an_archived_channel_takes_nothing_new(tide: Tide) -> None:
    channel = tide.channel()
    message = say(tide, "Ada")
    archived = replace(channel, archived_at=tide.store.now())
    tide.store.change(tide.access("Ada"), lambda act: act.replace(CHANNELS, archived, channel))
    with pytest.raises(Conflict):
        say(tide, "Ada")
    with pytest.raises(Conflict):
        react(tide, "Ada", message)


def test_a_reaction_counts_once_a_member_and_is_taken_back(tide: Tide) -> None:
    message = say(tide, "Ada")
    assert [react(tide, who, message, "thumbsup") for who in ("Ada", "Vi")] == [True, True]
    assert counts(tide, message) == {"r_1f44d": 2}
    assert react(tide, "Vi", message) is False
    assert counts(tide, message) == {"r_1f44d": 1}
    assert react(tide, "Ada", message, "👍\ufe0f") is False
    assert counts(tide, message) == {}
    assert tide.store.table.get(REACTIONS.at(tide.slug, f"{message.id}.{message.author}.1f44d")) is None


def test_a_message_has_so_many_kinds_of_reactions(tide: Tide) -> None:
    message = say(tide, "Ada")
    for number in range(MAX_REACTIONS):
        react(tide, "Ada", message, chr(0x1F600 + number))
    with pytest.raises(Conflict):
        react(tide, "Ada", message, "🎉")
    assert react(tide, "Vi", message, "\U0001f600") is True


@pytest.mark.parametrize(
    "emoji", [*EMOJI_NAMES, *EMOJI_NAMES.values(), ":tada:", "👍🏽", "🇫🇷", "👩‍👩‍👧", "👩🏽‍❤️‍💋‍👨🏿", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
)
def test_an_emoji_has_one_spelling(emoji: str) -> None:
    assert emoji_of(emoji_of(emoji)) == emoji_of(emoji)
    assert emoji_of("❤") == emoji_of("heart") == "❤️"


@pytest.mark.parametrize(
    "text", ["", "ok", "a", "1", "👍👍", "\u200b", "\u200d", "\ufe0f", "1\ufe0f", "\u2800", "é", "👍" * 40]
)
def test_text_and_what_cannot_be_seen_is_no_reaction(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        emoji_of(text)
    assert "thumbsup" in (refused.value.hint or "")


def test_a_direct_channel_is_its_two_members_and_no_feed_names_it(tide: Tide) -> None:
    vi, guest, before = tide.member("Vi"), tide.member("Guest"), len(tide.all(FEED))
    direct = tide.do("Vi", open_direct, member_id=guest.id)
    assert tide.do("Guest", open_direct, member_id=vi.id) == direct
    message = say(tide, "Vi", "Psst.", direct.id)
    say(tide, "Guest", "Yes?", direct.id, parent_id=message.id)
    react(tide, "Guest", message, "👀")
    assert touched(tide, before) == []
    with pytest.raises(NotFound):
        say(tide, "Ada", channel=direct.id)
    with pytest.raises(Conflict):
        tide.do("Vi", open_direct, member_id=vi.id)
    assert counts(tide, message) == {"replies": 1, "r_1f440": 1}
    with pytest.raises(Conflict):
        tide.do("Vi", open_topic, channel_id=direct.id, title="Paint", description="Blue.")


def test_nobody_writes_to_a_member_who_left(tide: Tide) -> None:
    guest = tide.member("Guest").id
    tide.do("Guest", structure.leave_organisation)
    with pytest.raises(Conflict):
        tide.do("Vi", open_direct, member_id=guest)
    with pytest.raises(NotFound):
        say(tide, "Guest")
