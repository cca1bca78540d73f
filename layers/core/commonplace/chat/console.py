"""The console's page of the chat: an account's conversations, the one that is open, and where the next message goes.

Everything is read and rendered here; asking, approving, stopping and deleting go to the endpoints of the chat, by a
module of the page.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from commonplace.chat.history import Message, conversation, sources_in
from commonplace.chat.markup import rendered
from commonplace.chat.model import APART, DRAFT, ID, MAX_PROMPT_CHARACTERS, READ, SEARCH, SEARCH_ALL, Owner
from commonplace.chat.settings import ChatTables
from commonplace.identity.authorization import Need
from commonplace.kernel.deferred import deferred
from commonplace.kernel.errors import NotFound
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, View, Visit
from commonplace.web.representations import API

if TYPE_CHECKING:
    from commonplace.chat.store import ChatStore
    from commonplace.web.pages.frame import PageContext

FOLDER = Path(__file__).parent
MEMBER = Need("member", "knowledge:read", "documents")


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer as the page shows it."""

    kind: str
    """`text`, `notice`, `step`, `sign-in`, `draft` or `call`."""
    html: str = ""
    text: str = ""
    """Of a call which tool of which partner it is."""
    part: dict[str, Any] | None = None
    given: str = ""
    """The arguments of a call, as JSON that people read."""
    url: str = ""


def pages(context: PageContext) -> ConsolePages:
    """As the capability declares them."""
    settings = ChatTables.from_environ(context.environ)
    store: ChatStore = deferred(settings.store)
    model = settings.chat_model
    partners = bool(context.environ.get("FEDERATION", "").strip())
    show = partial(show_chat, store, model is not None and model.kind != "none", partners)
    return ConsolePages(
        pages=[
            ConsolePage(path="chat", title="Chat", show=show, need=MEMBER),
            ConsolePage(path="chat/{id}", title="Chat", show=show, need=MEMBER),
        ],
        templates=FOLDER / "templates",
        assets=FOLDER / "assets",
    )


async def show_chat(store: ChatStore, generative: bool, partners: bool, visit: Visit) -> View:
    principal, id = visit.principal, visit.request.path_params.get("id")
    values: dict[str, Any] = {
        "api": f"{API}/chat",
        "id": id or uuid.uuid4().hex,
        "generative": generative,
        "partners": partners,
        "most": MAX_PROMPT_CHARACTERS,
        "rows": [],
        "turns": [],
        "running": False,
        "title": "",
        "owner": principal.organisation is not None and principal.account is not None,
    }
    if not values["owner"]:
        return View("chat.html", values)
    owner = Owner(principal.organisation or "", principal.account or "")
    rows = await run_in_threadpool(store.rows, owner)
    values["rows"] = rows
    if id is not None:
        found = await run_in_threadpool(conversation, store, owner, id) if ID.fullmatch(id) else None
        if found is None:
            raise NotFound("You have no conversation at this address.", hint="/console/chat lists yours.")
        values |= {"turns": [turn(one) for one in found["messages"]], "running": found["running"]}
        values["title"] = next((row.title for row in rows if row.id == id), "")
    return View("chat.html", values)


def turn(message: Message) -> dict[str, Any]:
    """Return a message as the template shows it."""
    if message["role"] == "user":
        return {"role": "user", "id": message["id"], "text": "\n\n".join(part["text"] for part in message["parts"])}
    sources = sources_in(message["parts"])
    blocks: list[Block] = []
    judged = False
    for part in message["parts"]:
        match part["type"]:
            case "text":
                blocks.append(Block("notice" if judged else "text", rendered(part["text"], sources)))
            case "data-citations":
                judged = True
                cited = part["data"]["cited"]
                sources = [one for one in sources if one.number in cited] if cited else []
            case kind if kind == f"tool-{SEARCH}":
                blocks.append(Block("step", text=f"Searched for “{part['input'].get('query', '')}”"))
            case kind if kind == f"tool-{SEARCH_ALL}":
                blocks.append(Block("step", text=f"Searched all sources for “{part['input'].get('query', '')}”"))
                output = part.get("output")
                silent = output.get("unanswered", ()) if isinstance(output, dict) else ()
                blocks += [Block("sign-in", text=one["source"], url=one["signIn"]) for one in silent if "signIn" in one]
            case kind if kind == f"tool-{READ}":
                blocks.append(Block("step", text=f"Read {part['input'].get('id', 'a document')}"))
            case kind if kind == f"tool-{DRAFT}":
                blocks.append(Block("draft", part=part))
            case kind if kind.startswith("tool-") and APART in kind:
                partner, _, tool = kind.removeprefix("tool-").partition(APART)
                given = json.dumps(part["input"], indent=2, ensure_ascii=False)
                # Whoever decides sees every character.
                given = "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in given)
                blocks.append(Block("call", text=f"{tool} of {partner}", part=part, given=given))
    return {"role": "assistant", "id": message["id"], "blocks": blocks, "sources": sources}
