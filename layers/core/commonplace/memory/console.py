"""The console's pages of the memory: search, one entry with its history, changes of it, figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool

from commonplace.kernel.errors import CommonplaceError
from commonplace.memory import validation
from commonplace.memory.model import MAX_QUERY_CHARACTERS, MAX_RELEVANCE, EntryType, Role
from commonplace.memory.operations import (
    MemoryServices,
    delete_entry,
    kb_get,
    kb_list,
    kb_rate,
    kb_search,
    kb_stats,
    kb_update,
    restore_entry,
    versions_of,
)
from commonplace.memory.services import services_of
from commonplace.web.operation_pages import Card, Cards, Form, action, actor, cards_page, tabs_of
from commonplace.web.operations import Actor, Input
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Link, View, Visit
from commonplace.web.pages.frame import PageContext

PATH, ENTRIES = "memory", "memory/entries"
TABS = (Link("/console/memory", "Entries"), Link("/console/memory/figures", "Statistics"))
TITLE_CHARACTERS = 160
"""The beginning of an entry that stands in a list."""

MESSAGES = {
    "saved": "Saved. The previous version is in the history.",
    "moved": "Moved.",
    "rated": "Your vote is counted.",
    "deleted": "Deleted. For 30 days it can be restored here.",
    "restored": "Restored.",
}

EDIT = Form(
    "save",
    kb_update,
    "Edit",
    "Save",
    {"content": "Text", "tags": "", "confidence": "Confidence, 0 to 1", "entry_type": "Type", "roles": ""},
    hidden=("expected_version",),
    kinds={"content": "long"},
    required=("content", "confidence", "entry_type"),
)
MOVE = Form(
    "move",
    kb_update,
    "Move",
    "Move",
    {"source_story": "Story", "source_file": "File", "parent_id": "Id of the entry it belongs to"},
    hidden=("expected_version",),
)
RATE = Form("rate", kb_rate, "Rate", "Rate", {"relevance": f"How relevant it was, 0 to {MAX_RELEVANCE}"})
DELETE = Form(
    "delete",
    delete_entry,
    "Delete",
    "Delete",
    about="For 30 days it can be restored on this page. What belongs to it stays, without a parent.",
    sure=True,
)


class EntryFilters(Input):
    """What is looked for, or which entries are listed."""

    q: str = Field("", max_length=MAX_QUERY_CHARACTERS)
    role: Role | None = None
    entry_type: EntryType | None = None
    source_story: str | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryPages:
    """The pages over these services."""

    using: MemoryServices

    def pages(self) -> list[ConsolePage]:
        def change(form: Form, done: str, **how: Any) -> Any:
            return form.action(self.using, self.show_entry, done=done, **how)

        return [
            cards_page(
                self.entries,
                EntryFilters,
                need=kb_search.need,
                path=PATH,
                title="Team memory",
                about="What agents of your organisation learned: facts, summaries of stories, templates.",
                labels={"q": "Search by words or meaning", "entry_type": "Type", "source_story": "Story"},
                kinds={"q": "search"},
                tabs=lambda _: TABS,
            ),
            ConsolePage(
                path=f"{ENTRIES}/{{id}}",
                title="An entry of the memory",
                show=partial(self.show_entry, problem=None),
                need=kb_get.need,
                messages=MESSAGES,
                actions={
                    "save": change(EDIT, "saved"),
                    "move": change(MOVE, "moved", values=_moved),
                    "rate": change(RATE, "rated"),
                    "delete": change(DELETE, "deleted"),
                    "restore": action(restore_entry, self.using, self.show_entry, done="restored"),
                },
            ),
            ConsolePage(path="memory/figures", title="Memory statistics", show=self.show_figures, need=kb_stats.need),
        ]

    def entries(self, who: Actor, given: EntryFilters) -> Cards:
        """Return what a search finds, or a page of all entries."""
        query = given.q.strip()
        called = kb_search if query else kb_list
        values = dict(given) | {"query": query, "cursor": given.cursor}
        values = {name: one for name, one in values.items() if one and name in called.input.model_fields}
        data = called.run(self.using, who, called.accepted(values)).data
        cards = [
            Card(
                title=one.content[:TITLE_CHARACTERS],
                url=f"/console/{ENTRIES}/{one.id}",
                badges=one.tags,
                facts=(
                    one.entry_type,
                    f"for {', '.join(one.roles)}",
                    *([one.source_story] if one.source_story else []),
                    datetime.fromisoformat(one.updated_at),
                ),
            )
            for one in data.entries
        ]
        if query:
            nothing = "No results. Try other words, or fewer filters."
            return Cards(cards=cards, hints=data.hints or (), nothing=nothing)
        least = " or more" if data.total_is_least else ""
        return Cards(cards=cards, cursor=data.next_cursor, hints=[f"{data.total:,}{least}, newest first."])

    async def show_entry(self, visit: Visit, problem: CommonplaceError | None) -> View:
        id = validation.entry_id(visit.request.path_params["id"])
        memory, author = self.using.memory, actor(visit).author
        gone = await run_in_threadpool(memory.deleted, author, id)
        versions, rated = [], None
        if (entry := gone) is None:
            # Of one that is nowhere this raises NotFound.
            history = await run_in_threadpool(memory.history, author, id)
            entry, versions = history[-1], versions_of(history)
            rated = await run_in_threadpool(memory.relevance, author, id)
        present = {name: getattr(entry, name) for name in (*EDIT.fields, *MOVE.fields)}
        present |= {"expected_version": entry.version, "relevance": MAX_RELEVANCE}
        values = {
            "one": entry,
            "gone": gone is not None,
            "versions": versions,
            "rated": rated,
            "writer": visit.may(kb_update.need),
            "when": datetime.fromisoformat,
            "problem": problem,
            "edit": EDIT.shown(visit, present, problem),
            "others": [form.shown(visit, present, problem) for form in (MOVE, RATE, DELETE)],
        }
        return View("memory_entry.html", values, problem.status if problem else 200)

    async def show_figures(self, visit: Visit) -> View:
        given = kb_stats.accepted({"metrics": True})
        data = (await run_in_threadpool(kb_stats.run, self.using, actor(visit), given)).data
        values = {"data": data, "metrics": data.metrics, "when": datetime.fromisoformat, "tabs": tabs_of(visit, TABS)}
        return View("memory_figures.html", values)


def _moved(visit: Visit) -> dict[str, Any]:
    """Return which of the places of an entry the form leaves empty, and what blank ones are."""
    gone = [name for name in MOVE.fields if not visit.value(name).strip()]
    return {"remove": gone, **dict.fromkeys(gone)}


def memory_pages(using: MemoryServices) -> ConsolePages:
    """Return the pages over these services as the console takes them."""
    return ConsolePages(pages=MemoryPages(using).pages(), templates=Path(__file__).parent / "templates")


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without a table of records."""
    using = services_of(context.environ, context.settings, context.objects)
    return memory_pages(using) if using else None
