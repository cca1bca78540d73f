"""What members write in channels: messages, replies, reactions, direct messages. People do it, in the console."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from commonplace.governance.inputs import Id, change, filled
from commonplace.governance.model import MAX_EMOJI_BYTES, MAX_REACTIONS, MAX_TEXT, Channel, Message, new_id
from commonplace.governance.rules import gone
from commonplace.governance.store import CARDS, CHANNELS, MEMBERS, NAMES, REACTIONS, Act, room_of
from commonplace.kernel.errors import Conflict, InvalidInput
from commonplace.web.mcp.rendering import is_emoji_sequence

EMOJI_NAMES: Mapping[str, str] = dict(
    re.findall(
        r"(\S+) (\S+)",
        "thumbsup 👍 +1 👍 thumbsdown 👎 -1 👎 heart ❤️ smile 😄 joy 😂 thinking 🤔 tada 🎉 pray 🙏 clap 👏 eyes 👀"
        " white_check_mark ✅ x ❌",
    )
)
"""The usual reactions under the names that other programs give them."""

PICTURES = re.compile("[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff][\U0001f3fb-\U0001f3ff]?")
"""Blocks of pictures, with a tone of skin. What is assigned in them has the category So."""
FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
SELECTOR = "\ufe0f"
"""Asks for a picture where a character can be drawn as a sign of text too."""

Text = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(filled)]
Emoji = Annotated[str, Field(max_length=100, description="An emoji, or the usual name of one such as thumbsup.")]


@change("Write to a member")
def open_direct(act: Act, member_id: Id) -> Channel:
    """Return the direct channel with a member, which is opened the first time."""
    pair = tuple(sorted((act.access.member.id, member_id)))
    name = f"dm.{'.'.join(pair)}"
    other = act.get(MEMBERS, member_id)
    if held := act.store.table.get(NAMES.at(act.access.organisation, name)):
        return act.get(CHANNELS, held["id"])
    if other.id == act.access.member.id:
        raise Conflict("Direct messages go to another member.", hint="The list of members has who is here.")
    channel = Channel(id=new_id("dm"), kind="dm", members=pair)
    # The other way round as well: each of the two finds it among the own ones.
    for one in (name, f"dm.{'.'.join(reversed(pair))}"):
        act.change.claim(NAMES, one, channel.id)
    act.add(CHANNELS, channel)
    require_present(act, other.id)
    return channel


@change("Send a message")
def send_message(act: Act, channel_id: Id, text: Text, parent_id: Id | None = None) -> Message:
    """Write a message to a channel, or a reply, which is one to the first message of its thread."""
    channel = channel_to_write(act, channel_id)
    within = channel.id
    if parent_id is not None:
        parent = act.store.message(act.access.organisation, parent_id)
        if parent.channel != within:
            raise gone()
        within = parent.parent or parent.id
    access, id = act.access, f"{within}.{new_id()}"
    message = Message(id=id, author=access.member.id, text=text, created_at=act.at, client=access.client)
    post(act, message)
    act.answered("Message", "messages", message.id, channel.team)
    return message


@change("React to a message")
def react_to_message(act: Act, message_id: Id, emoji: Emoji) -> bool:
    """Add a reaction to a message, or take it back, which no agent does; return whether it is there now."""
    organisation, table, client = act.access.organisation, act.store.table, act.access.client
    points = "_".join(f"{ord(one):x}" for one in emoji_of(emoji))
    channel = channel_to_write(act, message_id.partition(".")[0])
    message = act.store.message(organisation, message_id)
    mine = REACTIONS.at(organisation, f"{message.id}.{act.access.member.id}.{points}")
    held = table.get(mine)
    there = held is not None
    if there and act.access.agent:
        act.change.writes.clear()  # the checks too: nothing is written
        return True
    counts = act.store.cards(organisation, [message.id]).get(message.id, {})
    counter = f"r_{points}"
    if not there and counter not in counts and sum(name.startswith("r_") for name in counts) >= MAX_REACTIONS:
        raise Conflict(f"A message has at most {MAX_REACTIONS} kinds of reactions.", hint="Take one that it has.")
    values: dict[str, int] = {"step": -1, "one": 1} if there else {"step": 1}
    by_agent = bool((held or {}).get("client") if there else client)
    counted = [f"#{counter}", *([f"#a_{points}"] if by_agent else [])]
    update, condition = f"ADD {', '.join(f'{one} :step' for one in counted)}", f"#{counter} > :one" if there else ""
    if there and counts.get(counter) == 1:
        # A counter at nothing is removed: the card would grow with every kind that was ever tried.
        update, condition, values = f"REMOVE {', '.join(counted)}", f"#{counter} = :one", {"one": 1}
    # Who takes a reaction back takes back the one that was read: an agent's, or one given in person.
    was = "attribute_exists(pk) AND " + ("#client = :was" if by_agent else "attribute_not_exists(#client)")
    undone = table.delete(mine, was, **({"was": held["client"]} if held and by_agent else {}))
    toggle = undone if there else table.new(mine, {"client": client} if client else {})
    act.change.writes += [toggle, table.update(CARDS.at(organisation, message.id), update, condition, **values)]
    act.answered("Reaction", "messages", message.id, channel.team)
    touch(act, message.id)
    return not there


def channel_to_write(act: Act, id: str, *, touched: bool = False) -> Channel:
    """Return a channel, and commit only if the member still reaches it and it still takes something new.

    With `touched` its revision changes. Raises NotFound, and Conflict for a channel that is archived.
    """
    channel = act.store.channel(act.access, id)
    if channel.archived_at is not None:
        raise Conflict("This channel is archived.", hint="It can be read; write in another one.")
    act.authority(act.access.role_in(channel.team))
    checked = act.change.touch if touched else act.change.require
    checked(CHANNELS, id, "attribute_exists(pk) AND attribute_not_exists(#archivedAt)")
    return channel


def require_present(act: Act, id: str) -> None:
    """Commit only if this member has not left. Raises Conflict."""
    if act.get(MEMBERS, id).left_at is not None:
        raise Conflict("This member has left.", hint="The list of members has who is here.")
    act.require(MEMBERS, id, "attribute_exists(pk) AND attribute_not_exists(#leftAt)")


def post(act: Act, message: Message) -> None:
    """Write a message, and count it beside its channel and the message that it replies to."""
    act.add(room_of(message.id), message)
    card = CARDS.at(act.access.organisation, message.channel)
    act.change.writes.append(act.store.table.update(card, "SET #last = :last", last=message.created_at))
    if message.parent is not None:
        act.change.count(CARDS, message.parent, replies=1)
    touch(act, message.id, "channels")


def touch(act: Act, id: str, *further: str) -> None:
    """Name the addresses that show a message, unless it is direct: nothing outside follows that."""
    channel, _, rest = id.partition(".")
    if not channel.startswith("dm_"):
        messages = f"channels/{channel}/messages"
        act.touch(messages, f"{messages}/{channel}.{rest.partition('.')[0]}/thread", *further)


def emoji_of(text: str) -> str:
    """Return an emoji in its one spelling. Raises InvalidInput for text, and for what cannot be seen."""
    emoji = EMOJI_NAMES.get(text.strip().strip(":"), text.strip())
    bare = emoji.removesuffix(SELECTOR)
    if PICTURES.fullmatch(bare) and unicodedata.category(bare[0]) == "So":
        # Older signs need the selector, or they are drawn as text.
        return bare + SELECTOR if bare < "\U0001f000" and is_emoji_sequence(bare + SELECTOR) else bare
    sequence = len(emoji) > 2 and len(emoji.encode()) <= MAX_EMOJI_BYTES and is_emoji_sequence(emoji)
    if sequence or FLAG.fullmatch(emoji):
        return emoji
    hint = f"An emoji, or one of: {', '.join(EMOJI_NAMES)}."
    raise InvalidInput("A reaction is one emoji.", hint=hint, field="emoji")
