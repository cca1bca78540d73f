"""Entries as a terminal shows them."""

from collections.abc import Mapping
from typing import Any

from local.terminal import clean

MAX_LINES = 6
"""Of an entry in a list of results."""
MAX_BEGINNING = 90


def beginning(content: str) -> str:
    """As much of an entry as stands in a line with others."""
    return clean(content.strip().splitlines()[0][:MAX_BEGINNING])


def entry_text(place: int, entry: Mapping[str, Any]) -> str:
    """A line of facts, the text indented, and a line that names it."""
    facts = [str(entry.get("entry_type", "")), "for " + ", ".join(entry.get("roles") or [])]
    facts += [f"{entry['confidence']:.2f} sure"] if isinstance(entry.get("confidence"), int | float) else []
    facts += [str(entry["source_story"])] if entry.get("source_story") else []
    facts += ["#" + " #".join(entry["tags"])] if entry.get("tags") else []
    facts += [f"seen again in {', '.join(entry.get('seen_in') or ())}{_more(entry)}"] if entry.get("seen") else []
    text = str(entry.get("content") or "")
    lines = [clean(line).rstrip() for line in text.splitlines()]
    shown = [f"   {line}" for line in lines[:MAX_LINES]] + (["   …"] if len(lines) > MAX_LINES else [])
    return "\n".join([f"{place}. {clean(' · '.join(facts))}", *shown, f"   {clean(str(entry.get('id', '')))}"])


def _more(entry: Mapping[str, Any]) -> str:
    """The newest stories are named, all are counted."""
    more = int(entry["seen"]) - len(entry.get("seen_in") or ())
    return f" and {more:,} more" if more > 0 else ""
