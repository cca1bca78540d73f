"""Indexes, plans and differences as text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

NOUNS = {"documents": "documents", "memory": "entries", "reference": "entries"}
"""What the records of a collection are called."""

ROLES = ("current", "next", "previous")
FACTS = ("model", "chunker", "schema", "mapping")


def status_text(answer: Mapping[str, Any]) -> str:
    """One line a role, and what to look after."""
    return "\n".join([*_roles(answer), *_warnings(answer)])


def plan_text(answer: Mapping[str, Any]) -> str:
    """What there is, what differs, how much work it is, and the command to run next."""
    return "\n".join([*_roles(answer), "", *_wanted(answer), *_warnings(answer), *_next(answer)])


def differences_text(answer: Mapping[str, Any]) -> str:
    """The sum, then each difference that is known by name."""
    lines = [answer["message"]]
    for difference in answer["differences"]:
        record = difference["record"] or "the index"
        lines.append(f"- {difference['kind']}: {record}. {difference['sentence']}")
    untold = sum(answer["counts"].values()) - len(answer["differences"])
    return "\n".join(lines + ([f"- and {untold} more"] if untold > 0 else []))


def _roles(answer: Mapping[str, Any]) -> Iterator[str]:
    indexes, noun = answer["indexes"], _noun(answer)
    for role in ROLES:
        yield from (_line(role, index, noun) for index in indexes if index["role"] == role)
        if not any(index["role"] == role for index in indexes):
            yield f"{role.capitalize():9} none"
    yield from (_line("spare", index, noun) for index in indexes if index["role"] == "spare")


def _line(role: str, index: Mapping[str, Any], noun: str) -> str:
    return f"{role.capitalize():9} {index['name']}, {index['documents']} {noun}, {_facts(index['facts'])}"


def _noun(answer: Mapping[str, Any]) -> str:
    return NOUNS.get(answer.get("collection", "documents"), "records")


def _wanted(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"Wanted    {_facts(answer['wanted'])}"
    for name, change in answer["changes"].items():
        yield f"Differs   {name}: {change['from']}, wanted {change['to']}"
    yield answer["message"]
    if answer["command"]:
        about = f", about {answer['chunks']} chunks to embed" if answer["chunks"] else ", nothing to embed"
        yield f"To write  {answer['documents']} of {answer['published']} {_noun(answer)}{about}"


def _warnings(answer: Mapping[str, Any]) -> Iterator[str]:
    return (f"Note      {warning}" for warning in answer["warnings"])


def _next(answer: Mapping[str, Any]) -> Iterator[str]:
    if answer["command"]:
        yield f"Next      {answer['command']}"


def _facts(facts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {facts[name]}" for name in FACTS)
