"""The tools `define_term` and `search_lexicon`."""

from functools import partial
from typing import Literal, cast

from pydantic import Field

from commonplace.documents.content.document import Document, Entry
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.filter_values import shown
from commonplace.documents.content.lexicon import TERM, Lexicon, Match, lexicon_of
from commonplace.documents.tools import pagination
from commonplace.documents.tools.services import KnowledgeServices, link
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.kernel.terms import bare, key
from commonplace.search.query import Query
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, estimate_tokens, fitting, shortened
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Part, Tool

MAX_TERM_CHARACTERS = 200
LIST_TOKENS = 1_500  # Of a list's lines
DEFINITION_CHARACTERS = 1_200  # Of an entry's own description
DESCRIPTION_CHARACTERS = 240  # Of one in a list
NEAREST = 5
AMBIGUOUS = 8

MOST_NAMES = 30  # Aliases, and related terms, of one entry

Likened = Literal["exact", "prefix", "word", "substring", "fuzzy"]  # Names of `Likeness`


class TermArguments(Arguments):
    term: str = Field(min_length=1, max_length=MAX_TERM_CHARACTERS, description="Name, alias, #tag, or a question")


class KeywordArguments(Arguments):
    keyword: str = Field(min_length=1, max_length=MAX_TERM_CHARACTERS)
    limit: int = Field(10, ge=1, le=50)


class RelatedTerm(Part):
    title: str
    id: str | None = None


class Definition(Output):
    term: str
    content_type: str
    id: str
    definition: str | None = Field(None, description="In a sentence or two")
    text: str = Field(description="Markdown")
    truncated: bool
    next_cursor: str | None = Field(None, description="For get_document")
    aliases: list[str] | None = None
    related: list[RelatedTerm] | None = None
    documents: int = Field(description="That bear it as a tag")
    document_url: str = Field(description="To cite")


class FoundTerm(Part):
    term: str
    id: str | None = Field(None, description="Absent: a tag that nobody has defined")
    definition: str | None = None
    aliases: list[str] | None = None
    documents: int
    match: Likened


class FoundTerms(Output):
    results: list[FoundTerm]
    total: int


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="define_term",
            title="Define a term",
            description="What a term, pattern, practice … is: use it for 'what is X?'. A miss names the nearest.",
            arguments=TermArguments,
            output=Definition,
            run=partial(define_term, using),
        ),
        Tool(
            name="search_lexicon",
            title="Search the lexicon",
            description="Terms whose name or description contains a keyword, when a name is not known.",
            arguments=KeywordArguments,
            output=FoundTerms,
            run=partial(search_lexicon, using),
        ),
    )


def define_term(using: KnowledgeServices, _: Call, asked: TermArguments) -> Answer:
    def meant(catalogue: Catalogue) -> Entry | None:
        entries = lexicon_of(catalogue).meant(asked.term)
        if len(entries) > 1:
            named = ", ".join(f"{entry.title} ({entry.ref})" for entry in entries[:AMBIGUOUS])
            raise InvalidInput(f'Term "{shown(asked.term)}" has several entries.', hint=f"Ask for one of: {named}.")
        return entries[0] if entries else None

    found = using.library.find(meant)
    lexicon = lexicon_of(using.catalogue())
    if found is None:
        nearest = list(dict.fromkeys(term.name for term in lexicon.nearest_names(asked.term, NEAREST)))
        told = [f"Nearest terms: {', '.join(nearest)}."] if nearest else []
        if tags := lexicon.resolve(asked.term) or lexicon.resolve(Query.of(asked.term).subject):
            told.append(f"`{tags[0].name}` is a tag, used by {document_count(tags[0].documents)}, not defined.")
        told.append("search_knowledge finds documents that speak of it.")
        raise NotFound(f'Term "{shown(asked.term)}" not found in lexicon.', hint=" ".join(told), nearest=nearest)
    entry, stored = found
    document, body = Document.model_validate_json(stored.body), pagination.body_of(stored)
    bare = _answer(using, lexicon, entry, document, pagination.nothing(body))
    room = pagination.Room.beside(bare, DEFAULT_TOKENS)
    return _answer(using, lexicon, entry, document, pagination.excerpt(entry, body, 0, room))


def _answer(
    using: KnowledgeServices, lexicon: Lexicon, entry: Entry, document: Document, text: pagination.Excerpt
) -> Answer:
    # A name that means no single entry stays as it was authored.
    related: dict[str, RelatedTerm] = {}
    for name in document.metadata.get("relatedTerms", ())[:MOST_NAMES]:
        terms = lexicon.resolve(name)
        meant = terms[0].entry if len(terms) == 1 else None
        title = meant.title if meant else shown(bare(name))
        related.setdefault(title, RelatedTerm(title=title, id=meant.id if meant else None))
    definition = Definition(
        term=entry.title,
        content_type=entry.content_type,
        id=entry.id,
        definition=shortened(entry.description, DEFINITION_CHARACTERS) if entry.description else None,
        text=text.piece.text.strip(),
        truncated=text.cursor is not None,
        next_cursor=text.cursor,
        aliases=_aliases(entry),
        related=list(related.values()) or None,
        documents=lexicon.term(entry).documents,
        document_url=using.addresses.of(entry),
    )
    # Where it stands and how much is missing come first: a reader takes a page that looks full for all there is.
    tagged = f", a tag of {document_count(definition.documents)}" if definition.content_type == TERM else ""
    lines = [f"# {definition.term}", f"{definition.content_type}/{definition.id}{tagged}"]
    lines += [f"Also called: {', '.join(definition.aliases)}"] if definition.aliases else []
    named = [f"{term.title} ({TERM}/{term.id})" if term.id else term.title for term in related.values()]
    lines += [f"Related terms: {', '.join(named)}"] if named else []
    lines.append(f"Cite: <{definition.document_url}>")
    if text.cursor:
        onward = f'contentType "{definition.content_type}", id "{definition.id}", cursor `{text.cursor}`'
        lines.append(f"The text is cut, {text.place}; get_document goes on with {onward}.")
    parts = ("\n".join(lines), definition.definition, definition.text)
    return Answer("\n\n".join(filter(None, parts)), definition, (link(using, entry.ref, entry.title),))


def _aliases(entry: Entry) -> list[str] | None:
    """Without those that only spell the title, or each other, in another way."""
    told = {key(alias): alias for alias in reversed(entry.aliases)}
    told.pop(key(entry.title), None)
    return list(reversed(told.values()))[:MOST_NAMES] or None


def search_lexicon(using: KnowledgeServices, _: Call, asked: KeywordArguments) -> Answer:
    lexicon = lexicon_of(using.catalogue())
    every = lexicon.search(asked.keyword)
    found = fitting(map(_found, every[: asked.limit]), lambda one: estimate_tokens(_line(one)), LIST_TOKENS)
    total, keyword = len(every), shown(asked.keyword)
    if found:
        most = f", the best {len(found)} here" if len(found) < total else ""
        head = f'{total} term{"" if total == 1 else "s"} for "{keyword}"{most}. define_term tells more of each.'
        text = "\n".join([head, *map(_line, found)])
    else:
        nearest = ", ".join(term.name for term in lexicon.nearest(asked.keyword, NEAREST))
        near = f"Nearest terms: {nearest}." if nearest else f"The lexicon has {len(lexicon.defined)} entries."
        text = f'No term has or resembles "{keyword}". {near} search_knowledge finds documents.'
    return Answer(text, FoundTerms(results=found, total=total))


def _found(match: Match) -> FoundTerm:
    entry = match.term.entry
    description = entry.description if entry else None
    return FoundTerm(
        term=match.term.name,
        id=entry.id if entry else None,
        definition=shortened(description, DESCRIPTION_CHARACTERS) if description else None,
        aliases=_aliases(entry) if entry else None,
        documents=match.term.documents,
        match=cast(Likened, match.likeness.name.lower()),
    )


def _line(found: FoundTerm) -> str:
    if found.id is None:
        return f"- {found.term}: a tag, used by {document_count(found.documents)}, not defined"
    aliases = f" Also called {', '.join(found.aliases)}." if found.aliases else ""
    told = f"- {found.term} ({TERM}/{found.id}, {document_count(found.documents)})"
    return f"{told}: {sentence(found.definition)}{aliases}" if found.definition else f"{told}.{aliases}"


def document_count(count: int) -> str:
    return f"{count} document{'' if count == 1 else 's'}"


def sentence(text: str) -> str:
    """With an end, so that another can follow."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
