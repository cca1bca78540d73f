"""A contribution on a terminal: the text with its redactions and marks, and similar items."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from commonplace.hive.model import Mark
from commonplace.hive.passages import ago, difference, pieces
from commonplace_local.terminal import clean

STYLES = {"placeholder": "bold magenta", "hidden": "bold red reverse"}
CHANGES = {"added": "green underline", "removed": "red strike", "gap": "dim", "same": ""}


def sheet_of(sheet: Mapping[str, Any], title: str = "") -> RenderableType:
    """Return what a reviewer is to know, as REST answers it, for a terminal."""
    one = sheet["contribution"]
    marks = [Mark(each["code"], each["sentence"], each["start"], each["end"]) for each in sheet["marks"]]
    parts: list[RenderableType] = []
    for mark in marks:
        parts.append(Text.assemble(("! ", "bold red"), (clean(mark.sentence), "bold"), (f" [{mark.code}]", "red")))
    for code in sorted(set(one["marks"]) - {mark.code for mark in marks}):
        parts.append(
            Text.assemble(("! ", "bold red"), ("Prompt injection? In another field.", "bold"), (f" [{code}]", "red"))
        )
    parts.append(Panel(text_of(one["content"], marks), title=clean(title) or None, title_align="left"))
    parts.append(Text(" · ".join(facts_of(one)), style="dim"))
    for near in sheet["near"]:
        head = f"{near['similarity']:.0%} similar by {near['by']}, {near['status']}: "
        parts.append(Text.assemble((head, "yellow"), text_of(near["title"]), (f"  {near['id']}", "dim")))
        parts.append(Padding(Text.assemble(*_changes(near["content"], one["content"])), (0, 0, 0, 4)))
    return Group(*parts)


def text_of(text: str, marks: Sequence[Mark] = ()) -> Text:
    """Return a text of which a terminal obeys nothing: what is not seen is written out."""
    shown = Text()
    for piece in pieces(text, marks):
        style = STYLES.get(piece.kind, "")
        shown.append(piece.text, style=f"{style} on dark_goldenrod".strip() if piece.code else style)
    return shown


def facts_of(one: Mapping[str, Any]) -> list[str]:
    taken = ", ".join(f"{number} {kind}" for kind, number in sorted(one["redactions"].items()))
    facts = [
        one["category"].replace("_", " "),
        one["agent"] or "an account",
        f"{ago(one['contributedAt'], datetime.now(UTC))} ago",
        f"confidence {one['confidence']}",
        f"redactions: {taken}" if taken else "no redactions",
        *(f"{name} {one[name]}" for name in ("framework", "language", "version") if one.get(name)),
        *(f"#{tag}" for tag in one["tags"]),
        *(["flagged"] if one["sensitive"] else []),
    ]
    return [clean(fact) for fact in facts]


def _changes(old: str, new: str) -> list[Text]:
    found = []
    for change in difference(old, new):
        shown = text_of(change.text)
        shown.stylize(CHANGES[change.kind])
        found.append(shown)
    return found
