"""What members write in channels: messages, replies, reactions, direct messages. People do it, in the console."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from commonplace.governance.governance import BY_PERSON, Governance, InOrganisation, Text
from commonplace.governance.model import (
    MAX_EMOJI_BYTES,
    MAX_REACTIONS,
    MAX_TEXT,
    Channel,
    Message,
    new_id,
)
from commonplace.governance.rules import gone, only_in_person
from commonplace.governance.store import CARDS, CHANNELS, MEMBERS, NAMES, REACTIONS, Act, room_of
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput
from commonplace.web.mcp.rendering import is_emoji_sequence
from commonplace.web.operations import Actor, operation

EMOJI_NAMES = dict(
    zip(
        [
            "thumbsup",
            "+1",
            "thumbsdown",
            "-1",
            "heart",
            "smile",
            "joy",
            "thinking",
            "tada",
            "pray",
            "clap",
            "eyes",
            "white_check_mark",
            "x",
        ],
        ["👍", "👍", "👎", "👎", "❤️", "😄", "😂", "🤔", "🎉", "🙏", "👏", "👀", "✅", "❌"],
        strict=True,
    )
)
"""Names under which agents and people know the usual reactions."""

_PICTURES = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\U0001f3fb-\U0001f3ff]?")
"""Blocks of pictures, with a tone of skin. What of them is assigned has the category So."""
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_PRESENTATION = "\ufe0f"
"""Asks for a picture where a character can be a letter-like sign too."""

WRITABLE = "attribute_not_exists(#archivedAt)"


class DirectChannel(InOrganisation):
    member_id: str


class NewMessage(InOrganisation):
    channel_id: str
    text: Annotated[Text, Field(max_length=MAX_TEXT)]
    parent_id: str | None = Field(None, description="The message that it replies to.")


class Reaction(InOrganisation):
    message_id: str
    emoji: str = Field(description="An emoji, or the usual name of one such as thumbsup.")


class OneMessage(InOrganisation):
    message_id: str


@operation("governance", title="Write to a member", input=DirectChannel, **BY_PERSON)
def open_direct(governance: Governance, actor: Actor, asked: DirectChannel) -> Channel:
    """Return the direct channel with a member, which is opened the first time."""
    access = governance.access(actor, asked.orga_id)
    only_in_person(access)
    pair = tuple(sorted((access.member.id, asked.member_id)))
    name = f"dm.{'.'.join(pair)}"
    store = governance.store

    def decide(act: Act) -> Channel:
        other = store.get(access.organisation, MEMBERS, asked.member_id)
        if held := store.table.get(NAMES.at(access.organisation, name)):
            return store.get(access.organisation, CHANNELS, held["id"])
        if other.left_at is not None or other.id == access.member.id:
            raise Conflict(
                "Direct messages go to another member who is still here.",
                hint="The list of members has who is here.",
            )
        channel = Channel(id=new_id("dm"), kind="dm", members=pair)
        act.change.claim(NAMES, name, channel.id)
        act.add(CHANNELS, channel)
        act.authority(None)
        act.require(MEMBERS, other.id, "attribute_exists(pk) AND attribute_not_exists(#leftAt)")
        return channel

    return store.change(access, decide)


@operation("governance", title="Send a message", input=NewMessage, **BY_PERSON)
def send_message(governance: Governance, actor: Actor, asked: NewMessage) -> Message:
    """Write a message to a channel, or a reply, which is one to the first message of its thread."""
    access = governance.access(actor, asked.orga_id)
    only_in_person(access)

    def decide(act: Act) -> Message:
        channel = writable(governance.channel(access, asked.channel_id))
        within = channel.id
        if asked.parent_id is not None:
            parent = governance.store.message(access.organisation, asked.parent_id)
            if parent.channel != channel.id:
                raise gone()
            within = parent.parent or parent.id
        act.authority(access.role_in(channel.team))
        act.require(CHANNELS, channel.id, f"attribute_exists(pk) AND {WRITABLE}")
        return post(
            act, Message(id=f"{within}.{new_id('')}", author=access.member.id, text=asked.text, created_at=act.at)
        )

    return governance.store.change(access, decide)


def writable(channel: Channel) -> Channel:
    """Return a channel that takes something new. Raises Conflict for one that is archived."""
    if channel.archived_at is not None:
        raise Conflict("This channel is archived.", hint="It can be read; write in another one.")
    return channel


def post(act: Act, message: Message) -> Message:
    """Write a message, and count it beside its channel and the message that it replies to."""
    act.add(room_of(message.id, reply=message.parent is not None), message)
    organisation, table = act.access.organisation, act.change.table
    last = table.update(CARDS.at(organisation, message.channel), "SET #last = :last", last=message.created_at)
    act.change.writes.append(last)
    if message.parent is not None:
        act.change.count(CARDS, message.parent, replies=1)
    touch(act, message, "channels")
    return message


def touch(act: Act, message: Message, *further: str) -> None:
    """Name the addresses that show a message; those of direct channels have none."""
    if not message.channel.startswith("dm_"):
        messages = f"channels/{message.channel}/messages"
        act.touch(messages, f"{messages}/{message.parent or message.id}/thread", *further)


@operation("governance", title="React to a message", input=Reaction, **BY_PERSON)
def react_to_message(governance: Governance, actor: Actor, asked: Reaction) -> bool:
    """Add a reaction to a message, or take it back; return whether it is there now."""
    access = governance.access(actor, asked.orga_id)
    only_in_person(access)
    points = code_points(emoji_of(asked.emoji))
    counter, organisation, table = f"r_{points}", access.organisation, governance.store.table

    def decide(act: Act) -> bool:
        channel = writable(governance.channel(access, asked.message_id.partition(".")[0]))
        message = governance.store.message(organisation, asked.message_id)
        if message.deleted_at is not None:
            raise Conflict("This message was deleted.", hint="Reactions go to messages that are still there.")
        mine = REACTIONS.at(organisation, f"{message.id}.{access.member.id}.{points}")
        counted = governance.store.cards(organisation, [message.id]).get(message.id, {})
        there, present = table.get(mine) is not None, int(counted.get(counter, 0))
        card: dict[str, Any] = CARDS.at(organisation, message.id)
        if there:
            act.change.writes.append(table.delete(mine, "attribute_exists(pk)"))
        else:
            if not present and sum(name.startswith("r_") for name in counted) >= MAX_REACTIONS:
                raise Conflict(
                    f"A message has at most {MAX_REACTIONS} kinds of reactions.", hint="Take one that it already has."
                )
            act.change.writes.append(table.new(mine))
        # A counter at nothing is removed: otherwise the card would grow with every kind that was ever tried.
        last = there and present <= 1
        change = f"REMOVE #{counter}" if last else f"ADD #{counter} :one"
        condition = f"#{counter} = :one" if last else ""
        act.change.writes.append(table.update(card, change, condition, one=-1 if there and not last else 1))
        act.authority(access.role_in(channel.team))
        room = room_of(message.id, reply=message.parent is not None)
        act.require(room, message.id, "attribute_exists(pk) AND attribute_not_exists(#deletedAt)")
        touch(act, message)
        return not there

    return governance.store.change(access, decide)


def emoji_of(text: str) -> str:
    """Return an emoji in its one spelling. Raises InvalidInput for text, and for what cannot be seen."""
    emoji = EMOJI_NAMES.get(text.strip().strip(":"), text.strip())
    bare = emoji.removesuffix(_PRESENTATION)
    if _FLAG.fullmatch(emoji):
        return emoji
    if _PICTURES.fullmatch(bare) and unicodedata.category(bare[0]) == "So":
        # Most pictures need no selector; older signs do, or they are drawn as text.
        shown = bare + _PRESENTATION
        return shown if bare < "\U0001f000" and is_emoji_sequence(shown) else bare
    if len(emoji.encode(errors="replace")) <= MAX_EMOJI_BYTES and len(emoji) > 2 and is_emoji_sequence(emoji):
        return emoji
    raise InvalidInput(
        "A reaction is one emoji.", hint=f"An emoji, or one of: {', '.join(EMOJI_NAMES)}.", field="emoji"
    )


def code_points(emoji: str) -> str:
    """Return an emoji as part of a counter's name: `r_1f44d`."""
    return "_".join(f"{ord(one):x}" for one in emoji)


@operation("governance", title="Delete a message", input=OneMessage, destructive=True, **BY_PERSON)
def delete_message(governance: Governance, actor: Actor, asked: OneMessage) -> Message:
    """Delete a message of your own. That there was one stays, and so do its replies."""
    access = governance.access(actor, asked.orga_id)
    only_in_person(access)

    def decide(act: Act) -> Message:
        channel = governance.channel(access, asked.message_id.partition(".")[0])
        message = governance.store.message(access.organisation, asked.message_id)
        if message.author != access.member.id:
            raise Forbidden("This message is another member's.", hint="Its author can delete it.")
        if message.process is not None:
            raise Conflict("The message of a process is not deleted.", hint="A process ends with an outcome.")
        if message.deleted_at is not None:
            return message
        deleted = replace(message, text="", deleted_at=act.at)
        act.authority(access.role_in(channel.team))
        act.replace(room_of(message.id, reply=message.parent is not None), deleted, message)
        touch(act, message)
        return deleted

    return governance.store.change(access, decide)
