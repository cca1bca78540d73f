"""Stored conversations as people and clients see them: messages of the AI SDK, from the messages of the model.

Stored is what pydantic-ai writes as JSON; this reads it without that library, which the console does not have.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from commonplace.chat.model import APART, DRAFT, Citations, Owner, Source, sources_of

if TYPE_CHECKING:
    from commonplace.chat.store import ChatStore

Part = dict[str, Any]
Message = dict[str, Any]

ARGUMENTS = TypeAdapter(dict[str, Any])
MOST_TURNS = 100
"""Of a conversation that are shown: its last ones."""
INTERNAL = "__pydantic_ai__"
NOT_RUN, STOPPED, OPEN = "Not approved; nothing was done.", "Stopped.", "Stopped, or not approved."
BROKEN_OFF = "This answer ends before it is whole."


def conversation(store: ChatStore, owner: Owner, id: str) -> dict[str, Any] | None:
    """Return the messages of a conversation as the AI SDK has them, and whether an answer is being written."""
    stored, live = store.conversation(owner, id), store.live(owner, id)
    running = live is not None and live.running(store.clock())
    messages = ui_messages(stored.messages, pending_calls(stored.record)) if stored else []
    if live is not None and live.state == "running" and live.prompt:
        # The turn that is being answered is stored with its end, or with the next one where it has never ended.
        prompt = json.loads(live.prompt)
        messages += [prompt] if prompt["id"] not in {one["id"] for one in messages} else []
    if stored is None and not messages:
        return None
    starts = [number for number, one in enumerate(messages) if one["role"] == "user"]
    return {"messages": messages[starts[-MOST_TURNS] :] if len(starts) > MOST_TURNS else messages, "running": running}


def ui_messages(stored: Iterable[Mapping[str, Any]], pending: Iterable[str] = ()) -> list[Message]:
    """Return the messages of a conversation; `pending` are the calls that wait for a person's approval."""
    turns: list[Message] = []
    calls: dict[str, Part] = {}
    waiting, broken_off = frozenset(pending), set[str]()
    for number, message in enumerate(stored):
        for part in message["parts"]:
            match part["part_kind"]:
                case "user-prompt":
                    _settle(calls)
                    text = part["content"] if isinstance(part["content"], str) else _text_of(part["content"])
                    turns.append(_message("user", _id(message, number), [{"type": "text", "text": text}]))
                case "text" if part["content"]:
                    _assistant(turns, message, number)["parts"].append({"type": "text", "text": part["content"]})
                case "tool-call":
                    id = part["tool_call_id"]
                    call: Part = {"type": f"tool-{part['tool_name']}", "toolCallId": id, "input": _arguments(part)}
                    calls[id] = call | {"state": "input-available"}
                    _assistant(turns, message, number)["parts"].append(calls[id])
                case "tool-return" if part["tool_call_id"] in calls:
                    _answered(calls[part["tool_call_id"]], part)
        if message.get("state") == "interrupted" and turns and turns[-1]["role"] == "assistant":
            broken_off.add(turns[-1]["id"])
    _settle(calls, waiting)
    for turn in turns:
        if turn["role"] == "assistant":
            _finish(turn, broken_off=turn["id"] in broken_off)
    return turns


def _settle(calls: dict[str, Part], waiting: Container[str] = ()) -> None:
    """Note at the end of a turn that calls without an answer were not run, or wait for one; another turn's calls may
    have the same ids."""
    for id, call in calls.items():
        if call["state"] != "input-available":
            continue
        if id in waiting:
            call |= {"state": "approval-requested", "approval": {"id": id}}
        else:  # whoever wrote on has not approved
            usual = OPEN if APART in call["type"] else STOPPED
            call |= {"state": "output-error", "errorText": NOT_RUN if call["type"] == f"tool-{DRAFT}" else usual}
    calls.clear()


def _answered(call: Part, part: Mapping[str, Any]) -> None:
    """Note what became of a call. Texts of documents and partners are left out: the model has read them, and people
    have links."""
    match part.get("outcome"):
        case "denied":
            call |= {"state": "output-denied", "approval": {"id": call["toolCallId"], "approved": False}}
        case "failed" | "retried":
            call |= {"state": "output-error", "errorText": str(part["content"])}
        case _:
            output = part["content"]
            if isinstance(output, dict) and "results" in output:
                results = [{name: one[name] for name in one if name != "text"} for one in output["results"]]
                output = output | {"results": results}
            call |= {"state": "output-available", "output": output}


def _finish(turn: Message, *, broken_off: bool) -> None:
    """Add the sources of an answer, and what it has to say of itself once it is whole."""
    parts, sources = turn["parts"], sources_in(turn["parts"])
    drafted = any(part["type"] == f"tool-{DRAFT}" for part in parts)
    text = "\n\n".join(part["text"] for part in parts if part["type"] == "text")
    citations = Citations.of(text, sources)
    parts += [
        {"type": "source-url", "sourceId": str(one.number), "url": one.url, "title": one.title} for one in sources
    ]
    if text:
        parts.append({"type": "data-citations", "data": {"cited": citations.cited, "unknown": citations.unknown}})
        if broken_off or (not drafted and citations.notice):
            parts.append({"type": "text", "text": BROKEN_OFF if broken_off else citations.notice})


def sources_in(parts: Iterable[Mapping[str, Any]]) -> list[Source]:
    """Return the sources among the parts of an answer, by number."""
    found = {one.number: one for part in parts for one in sources_of(part.get("output"))}
    return [found[number] for number in sorted(found)]


def turn_sources(stored: Sequence[Mapping[str, Any]]) -> list[Source]:
    """Return the sources that the last turn has so far."""
    messages = ui_messages(stored)
    last: Message = messages[-1] if messages else _message("user", "", [])
    return sources_in(last["parts"]) if last["role"] == "assistant" else []


def pending_calls(record: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the calls that a stored conversation waits for a person's answer to: tool and arguments, by id."""
    asked = (record.get("deferred_tool_requests") or {}).get("approvals") or []
    return {part["tool_call_id"]: (part["tool_name"], _arguments(part)) for part in asked}


def _arguments(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a model gave a tool; nothing where that is no object, or cannot be written as JSON again."""
    args = part.get("args") or "{}"
    try:
        given = ARGUMENTS.validate_json(args) if isinstance(args, str) else ARGUMENTS.validate_python(args)
        found: dict[str, Any] = json.loads(ARGUMENTS.dump_json(given))
    except ValueError:
        return {}
    return found


def _text_of(content: Iterable[Any]) -> str:
    return "\n\n".join(one if isinstance(one, str) else str(one.get("content", "")) for one in content)


def _assistant(turns: list[Message], message: Mapping[str, Any], number: int) -> Message:
    """Return the answer that a part belongs to: one for all steps of a turn."""
    if not turns or turns[-1]["role"] != "assistant":
        turns.append(_message("assistant", _id(message, number), []))
    return turns[-1]


def _message(role: str, id: str, parts: list[Part]) -> Message:
    return {"id": id, "role": role, "parts": parts}


def _id(message: Mapping[str, Any], number: int) -> str:
    """Return the id that the client has given, or one that stays the same."""
    own = ((message.get("metadata") or {}).get(INTERNAL) or {}).get("ui_message_id")
    return str(own or f"{message.get('run_id') or 'message'}-{number}")
