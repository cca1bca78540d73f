"""The console's pages of the memory: search, one entry with its history, changes of it, figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.memory import validation
from commonplace.memory.model import ENTRY_TYPES, MAX_CONTENT_BYTES, MAX_QUERY_CHARACTERS, MAX_RELEVANCE, ROLES
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
from commonplace.web.operation_pages import action, actor
from commonplace.web.operations import Operation
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, View, Visit
from commonplace.web.pages.frame import PageContext

PATH, ENTRIES = "memory", "memory/entries"
MOVED = ("source_story", "source_file", "parent_id")

MESSAGES = {
    "saved": "Saved. The version before is in its history.",
    "moved": "Moved.",
    "rated": "Your vote is counted.",
    "deleted": "Deleted. For 30 days it can be restored here.",
    "restored": "It is there again, as it was.",
}


@dataclass(frozen=True, slots=True)
class MemoryPages:
    """The pages over these services."""

    using: MemoryServices

    def pages(self) -> list[ConsolePage]:
        change = partial(action, service=self.using, show=self.show_entry)
        return [
            ConsolePage(path=PATH, title="Team memory", show=self.show_entries, need=kb_search.need),
            ConsolePage(
                path=f"{ENTRIES}/{{id}}",
                title="An entry of the memory",
                show=partial(self.show_entry, problem=None),
                need=kb_get.need,
                messages=MESSAGES,
                actions={
                    "save": change(kb_update, done="saved", values=_edited),
                    "move": change(kb_update, done="moved", values=_moved),
                    "rate": change(kb_rate, done="rated"),
                    "delete": change(delete_entry, done="deleted", values=_sure),
                    "restore": change(restore_entry, done="restored"),
                },
            ),
            ConsolePage(
                path="memory/figures", title="Figures of the memory", show=self.show_figures, need=kb_stats.need
            ),
        ]

    async def show_entries(self, visit: Visit) -> View:
        names = ("q", "role", "entry_type", "source_story", "cursor")
        chosen = {name: visit.request.query_params.get(name, "").strip() for name in names}
        query = chosen["q"][:MAX_QUERY_CHARACTERS]
        filters = {name: value for name, value in chosen.items() if value and name not in ("q", "cursor")}
        if query:
            data = (await self._run(kb_search, visit, query=query, **filters)).data
            more = None
        else:
            data = (await self._run(kb_list, visit, **{**filters, "cursor": chosen["cursor"] or None})).data
            more = data.next_cursor and f"?{urlencode({**filters, 'cursor': data.next_cursor})}"
        values = {"data": data, "query": query, "chosen": chosen, "more": more}
        return View("memory_entries.html", COMMON | values)

    async def show_entry(self, visit: Visit, problem: CommonplaceError | None) -> View:
        id = validation.entry_id(visit.request.path_params["id"])
        memory, author = self.using.memory, actor(visit).author
        entry = gone = await run_in_threadpool(memory.deleted, author, id)
        versions, rated = [], None
        if gone is None:
            # Of one that is nowhere this raises NotFound.
            history = await run_in_threadpool(memory.history, author, id)
            entry, versions = history[-1], versions_of(history)
            rated = await run_in_threadpool(memory.relevance, author, id)
        names = ("content", "tags", "confidence", *MOVED)
        values = {
            "one": entry,
            "gone": gone is not None,
            "versions": versions,
            "rated": rated,
            "writer": visit.may(kb_update.need),
            "problem": problem,
            "given": {name: visit.value(name) if problem else "" for name in names},
        }
        return View("memory_entry.html", COMMON | values, problem.status if problem else 200)

    async def show_figures(self, visit: Visit) -> View:
        data = (await self._run(kb_stats, visit, metrics=True)).data
        return View("memory_figures.html", COMMON | {"data": data, "metrics": data.metrics})

    async def _run(self, called: Operation, visit: Visit, **given: Any) -> Any:
        accepted = called.accepted({name: value for name, value in given.items() if value is not None})
        return await run_in_threadpool(called.run, self.using, actor(visit), accepted)


COMMON = {
    "roles": ROLES,
    "types": ENTRY_TYPES,
    "votes": range(MAX_RELEVANCE + 1),
    "most": MAX_CONTENT_BYTES,
    "when": datetime.fromisoformat,
}


def _edited(visit: Visit) -> dict[str, Any]:
    tags = [tag for one in visit.value("tags").split(",") if (tag := one.strip())]
    return {"tags": tags, "roles": list(visit.fields.get("role", ()))}


def _moved(visit: Visit) -> dict[str, Any]:
    """Return which of the places of an entry the form leaves empty."""
    return {"remove": [name for name in MOVED if not visit.value(name).strip()]}


def _sure(visit: Visit) -> dict[str, Any]:
    if visit.value("sure") != "yes":
        raise InvalidInput("Nothing was deleted.", hint="Tick that you are sure first.")
    return {}


def memory_pages(using: MemoryServices) -> ConsolePages:
    """Return the pages over these services as the console takes them."""
    return ConsolePages(pages=MemoryPages(using).pages(), templates=Path(__file__).parent / "templates")


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without a table of records."""
    using = services_of(context.environ, context.settings, context.objects)
    return memory_pages(using) if using else None
