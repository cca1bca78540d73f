"""The tool `get_document`: a whole document, a page at a time."""

from functools import partial

from pydantic import Field

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Resolved
from commonplace.documents.tools import pagination
from commonplace.documents.tools.names import locate
from commonplace.documents.tools.services import KnowledgeServices, link
from commonplace.documents.views import moment
from commonplace.kernel.errors import NotFound
from commonplace.web.mcp.budgets import MAX_TOKENS, shortened
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Tool

DESCRIPTION_CHARACTERS = 500
MAX_TAGS = 30
SAME = ("content_type", "id", "title", "date", "group", "release", "status", "source_url")  # Fields as they are stored


class DocumentArguments(Arguments):
    content_type: str | None = Field(None, description="pattern, tag, article ...")
    id: str = Field(description="Id, type/id, title, path or address")
    cursor: str | None = Field(None, description="nextCursor, or the number of a page")
    max_tokens: int | None = Field(None, ge=pagination.LEAST_TOKENS, le=MAX_TOKENS)


class DocumentPage(Output):
    content_type: str
    id: str
    title: str
    description: str | None = None
    date: str | None = None
    updated_at: str | None = None
    group: str | None = None
    release: str | None = None
    status: str | None = None
    tags: list[str] | None = None
    document_url: str = Field(description="To cite")
    source_url: str | None = Field(None, description="Its file, at the commit read")
    link: str | None = Field(None, description="What it is about")
    former_id: str | None = Field(None, description="Its name earlier")
    content: str = Field(description="Markdown")
    characters: int = Field(description="Of the whole")
    truncated: bool
    next_cursor: str | None = None


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="get_document",
            title="Get a document",
            description="The text and metadata of a document, a page at a time.",
            arguments=DocumentArguments,
            output=DocumentPage,
            run=partial(get_document, using),
            tier=using.full_text_tier,
            page=lambda asked: page(using, asked.content_type, asked.id),
        ),
    )


def page(using: KnowledgeServices, content_type: str | None, name: str) -> str:
    """Return the address where people read the document that is meant. Raises NotFound, InvalidInput, Unavailable."""
    return using.addresses.of(locate(using.catalogue(), using.addresses, content_type, name).entry)


def get_document(using: KnowledgeServices, _: Call, asked: DocumentArguments) -> Answer:
    resolved, body = read(using, asked.content_type, asked.id)
    bare = _answer(using, resolved, asked.id, pagination.nothing(body))
    room = pagination.Room.beside(bare, pagination.budget(asked.max_tokens or using.document_tokens))
    start = pagination.position(resolved.entry, body, asked.cursor, room)
    return _answer(using, resolved, asked.id, pagination.excerpt(resolved.entry, body, start, room))


def read(using: KnowledgeServices, content_type: str | None, name: str) -> tuple[Resolved, str]:
    """Return the document that is meant, and its body. Raises NotFound, naming the nearest."""
    resolved = locate(using.catalogue(), using.addresses, content_type, name)

    def choose(catalogue: Catalogue) -> Entry | None:
        found = catalogue.resolve(resolved.entry.content_type, resolved.entry.id)
        return found.entry if found else None

    found = using.library.find(choose)
    if found is None:
        raise NotFound("This document has just been removed.", hint="Find another with search_knowledge.")
    entry, stored = found
    return Resolved(entry, resolved.former), pagination.body_of(stored)


def _answer(using: KnowledgeServices, resolved: Resolved, name: str, excerpt: pagination.Excerpt) -> Answer:
    entry = resolved.entry
    data = DocumentPage(
        **{name: getattr(entry, name) for name in SAME},
        description=shortened(entry.description, DESCRIPTION_CHARACTERS) if entry.description else None,
        updated_at=moment(entry.updated_at),
        tags=entry.tags[:MAX_TAGS] or None,
        document_url=using.addresses.of(entry),
        link=entry.url,
        former_id=name if resolved.former else None,
        content=excerpt.piece.text,
        characters=excerpt.piece.whole,
        truncated=not excerpt.complete,
        next_cursor=excerpt.cursor,
    )
    named = (("group", data.group), ("release", data.release), ("status", data.status))
    said = [data.date, *(f"{name} {value}" for name, value in named if value)]
    said += [f"tags {', '.join(data.tags)}"] if data.tags else []
    lines = [f"**{data.title}** (`{data.content_type}/{data.id}`)", "; ".join(fact for fact in said if fact)]
    addresses = (("Cite", data.document_url), ("File", data.source_url), ("About", data.link))
    lines += [data.description or "", *(f"{name}: <{address}>" for name, address in addresses if address)]
    if data.former_id:
        lines.append(f"It was asked for as `{data.former_id}`, a name it had earlier.")
    if excerpt.cursor:
        lines.append(f"These are {excerpt.place}. More: get_document with cursor `{excerpt.cursor}`.")
    elif excerpt.piece.start:
        lines.append(f"These are {excerpt.place}, the end.")
    head = "\n".join(line for line in lines if line)
    return Answer(f"{head}\n\n---\n\n{excerpt.piece.text}", data, (link(using, entry.ref, entry.title),))
