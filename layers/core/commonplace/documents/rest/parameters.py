"""Query parameters with their bounds, parsed once, and cursors of lexical searches."""

import math
import re
import struct
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode

from fastapi import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from commonplace.documents.content.document_index import Catalogue, Selection, Sort
from commonplace.documents.content.filter_values import MAX_VALUES, resolved
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.findings import MAX_HITS
from commonplace.documents.rest.models import ListedEntry
from commonplace.kernel.errors import BadRequest, InvalidInput
from commonplace.search.filters import Filters
from commonplace.search.model import Position, RecordId
from commonplace.web.sealed import opened, sealed

CONTENT_TYPES = list(ONTOLOGY.types)

_WORD = r"[^\s,\u0000-\u001f\u0085\ufeff]"
"""A character that says something: what ECMA-262 or Python takes for white space is left out in both."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})?")
MAX_LINK_CHARACTERS = 2_000
MAX_CURSOR_CHARACTERS = 1_000
MAX_PAGE = 100  # Results on a page of a search by words alone

Extra = Annotated[Literal["documents"], WithJsonSchema({"type": "string", "enum": ["documents"]})]
Body = Annotated[Literal["body"], WithJsonSchema({"type": "string", "enum": ["body"]})]
MEMBERS = {to_camel(name): name for name in ListedEntry.model_fields}
"""Fields of a document in a list, by their names outside."""

PathType = Annotated[
    str,
    Path(
        alias="contentType",
        max_length=100,
        description="Content type, as in `/ontology`.",
        examples=["pattern"],
        json_schema_extra={"enum": CONTENT_TYPES},
    ),
]
PathId = Annotated[
    str,
    Path(
        alias="id",
        max_length=300,
        description="Id of the document within its type: lower-case letters, digits and hyphens.",
        examples=["rotating-stewardship"],
    ),
]


def _known_type(value: str) -> str:
    try:
        ONTOLOGY.expand(value)
    except InvalidInput as error:
        raise ValueError(f"{error.message}; {error.hint}") from None
    return value


def _listed(value: Any) -> Any:
    """Return the values of a parameter that is repeated, or has commas between its values."""
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        return value
    return [part.strip() for text in texts for part in text.split(",")]


def _filled(value: str) -> str:
    if not re.search(_WORD, value):
        raise ValueError("must say something")
    return value


def _known_member(value: str) -> str:
    if value not in MEMBERS:
        raise ValueError(f"there is no such field; valid are {', '.join(MEMBERS)}")
    return value


def _folder(value: str | None) -> str | None:
    """Prefixes match at a `/` only: `docs` is the folder, and never `docs-old/`."""
    inside = (value or "").strip("/")
    return f"{inside}/" if inside and not inside.endswith(".md") else inside or None


def _day(value: Any) -> str:
    if isinstance(value, str) and _DAY.fullmatch(value):
        return date.fromisoformat(value).isoformat()
    raise ValueError("must be a day as YYYY-MM-DD")


def _moment(value: Any) -> datetime:
    if isinstance(value, str) and _DAY.fullmatch(value):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    # In a query an unescaped plus sign arrives as a space.
    text = re.sub(r" (\d{2}:\d{2})$", r"+\1", value) if isinstance(value, str) else ""
    if not _MOMENT.fullmatch(text):
        raise ValueError("must be a day as YYYY-MM-DD or a moment as 2026-01-31T09:30:00Z")
    moment = datetime.fromisoformat(text.upper())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


TypeName = Annotated[str, AfterValidator(_known_type), WithJsonSchema({"type": "string", "enum": CONTENT_TYPES})]
Types = Annotated[list[TypeName], BeforeValidator(_listed)]
Word = Annotated[str, AfterValidator(_filled), WithJsonSchema({"type": "string", "maxLength": 200, "pattern": _WORD})]
Words = Annotated[list[Annotated[Word, Field(max_length=200)]], Field(max_length=MAX_VALUES)]
Member = Annotated[str, AfterValidator(_known_member), WithJsonSchema({"type": "string", "enum": list(MEMBERS)})]
Day = Annotated[str, BeforeValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}),
]


class Parameters(BaseModel):
    """Base: camelCase outside. Unknown names are refused by `web.rest.parameters`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    def query(self, of: set[str] | None = None, **changed: Any) -> str:
        """The canonical query string: only what differs from the defaults (of these fields), in a fixed order."""
        told = self.model_dump(include=of, by_alias=True, exclude_defaults=True, mode="json") | changed
        spelt = {name: str(value).lower() if isinstance(value, bool) else value for name, value in told.items()}
        return urlencode(sorted(spelt.items()), doseq=True)


class Narrowing(Parameters):
    """Conditions that lists, searches and feeds share. Several values come repeated or with commas between them."""

    content_type: Types = Field(
        [],
        max_length=MAX_VALUES,
        description="Only these content types, in any letter case and number. A parent (`resource`, `story`, "
        "`reference`, `data`) includes its children.",
    )
    group: Words = Field([], description="Only documents of any of these groups.", examples=[["seed-library"]])
    release: Words = Field([], description="Only documents of any of these releases.")
    status: Words = Field([], description="Only documents of any of these statuses.", examples=[["active"]])
    author: Words = Field([], description="Only documents by any of these authors.")
    alias: Words = Field([], description="Only documents that also go by any of these names.")
    tags: Words = Field([], description="Only documents with all of these tags.")
    tags_any: Words = Field([], description="Only documents with any of these tags.")
    path_prefix: Annotated[str | None, Field(max_length=500), AfterValidator(_folder)] = Field(
        None, description="Only files of the repository in this folder and below it.", examples=["docs/"]
    )
    date_from: Day | None = Field(None, description="Only documents of this day or later; undated ones are left out.")
    date_to: Day | None = Field(None, description="Only documents of this day or earlier; undated ones are left out.")

    def filters(self, catalogue: Catalogue) -> Filters:
        """Return the conditions, with values as documents bear them. Raises InvalidInput for too many."""
        wanted = Filters(
            content_types=tuple(self.content_type),
            groups=tuple(self.group),
            releases=tuple(self.release),
            statuses=tuple(self.status),
            authors=tuple(self.author),
            aliases=tuple(self.alias),
            tags_all=tuple(self.tags),
            tags_any=tuple(self.tags_any),
            date_from=self.date_from,
            date_to=self.date_to,
            path_prefix=self.path_prefix,
        )
        return resolved(catalogue, wanted)


class Listing(Narrowing):
    """A page of documents."""

    updated_since: Moment | None = Field(
        None, description="Only documents whose file changed at this moment or later, as Git tells it."
    )
    sort: Sort = Field(
        "title",
        description=f"Order: {', '.join(f'`{name}`' for name in get_args(Sort))}. `-` turns it round. Documents "
        "without the value come last.",
    )
    fields: Annotated[list[Member], BeforeValidator(_listed)] = Field(
        [],
        max_length=50,
        description="Only these fields of each document, repeated or with commas: `id,title,documentUrl`.",
    )
    include: list[Body] = Field(
        [],
        max_length=5,
        description="`body` adds the text of each document as `content`; a page then ends where 4 MB are full.",
    )
    limit: int = Field(20, ge=1, le=100, description="Documents on a page.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Documents to pass over.")

    @property
    def body(self) -> bool:
        return "body" in self.include or "content" in self.fields

    @property
    def members(self) -> list[str]:
        """Fields of the answer that are asked for."""
        named = [MEMBERS[name] for name in self.fields] or [name for name in MEMBERS.values() if name != "content"]
        return [*named, "content"] if self.body else named

    def selection(self, catalogue: Catalogue) -> Selection:
        return Selection(self.filters(catalogue), updated_since=self.updated_since)


class Feed(Narrowing):
    """The latest changes."""

    limit: int = Field(20, ge=1, le=50, description="Documents in the feed.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Documents to pass over.")


class Counting(Parameters):
    """A page of groups, releases or tags."""

    limit: int = Field(1000, ge=1, le=1000, description="Values on a page.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Values to pass over.")


class Inventory(Parameters):
    """A page of the manifest."""

    limit: int = Field(10_000, ge=1, le=10_000, description="Documents on a page; a page is cut at 4 MB all the same.")
    offset: int = Field(0, ge=0, le=1_000_000, description="Documents to pass over.")


class Question(Narrowing):
    """A search."""

    q: str = Field(
        "",
        max_length=1000,
        description="What to look for, in your own words or with the exact title. Nothing in it is syntax. Without it "
        "the documents of the filters are listed, newest first; so they are where it asks for a list in words.",
        examples=["how do circles pass on responsibility"],
    )
    limit: int = Field(
        5,
        ge=1,
        le=MAX_PAGE,
        description=f"Results, best first; more than {MAX_HITS} with `mode=lexical` or in a list, and without "
        "documents only.",
    )
    mode: Literal["hybrid", "lexical"] = Field(
        "hybrid",
        description="`hybrid` compares words and meaning and ends at its best candidates. `lexical` ranks by words "
        "alone, counts exactly, and can be paged through.",
    )
    cursor: Annotated[str, Field(min_length=1, max_length=MAX_CURSOR_CHARACTERS)] | None = Field(
        None,
        description="`nextCursor` of the page before, with the same `q` and filters. Only with `mode=lexical` or in a "
        "list.",
    )
    rerank: bool = Field(True, description="`false` keeps the order in which words and meaning found the documents.")
    collapse: bool = Field(True, description="`false` shows documents with nearly the same text one by one.")
    include: list[Extra] = Field(
        [], max_length=5, description="`documents` adds the whole document to each result, as far as 4 MB reach."
    )
    highlight: bool = Field(
        False, description="Adds `highlight` to each result: the snippet as HTML, with `<mark>` round what was found."
    )
    explain: bool = Field(
        False, description="Adds `explanation`: how the ranking came about. For operators, who send their key."
    )
    expect: Annotated[str, Field(max_length=400, pattern=r"^[^/\s]+/[^/\s]+$")] | None = Field(
        None,
        description="`contentType/id` of a document whose place or absence is to be explained. Only with `explain`.",
        examples=["pattern/rotating-stewardship"],
    )

    @property
    def documents(self) -> bool:
        return "documents" in self.include

    @property
    def question(self) -> str:
        """Return what a ranking by words depends on: `q` and the filters, in canonical form."""
        return self.query(of={"q", *Narrowing.model_fields})

    def check(self, *, listed: bool) -> None:
        """Raises InvalidInput where two parameters do not go together."""
        paged = listed or self.mode == "lexical"
        most = MAX_PAGE if paged and not self.documents else MAX_HITS
        if self.limit > most:
            raise _unfit("limit", f"must be at most {MAX_HITS}, or {MAX_PAGE} with mode=lexical and without documents")
        if self.cursor is not None and not paged:
            raise _unfit("cursor", "goes with mode=lexical: a hybrid search ends at its candidates")
        if self.expect is not None and not self.explain:
            raise _unfit("expect", "goes with explain=true")


class Place(Parameters):
    """Where to look at the graph from."""

    around: Annotated[str, Field(min_length=3, max_length=400)] | None = Field(
        None,
        description="`contentType/id` of a document: only what is near it.",
        examples=["pattern/rotating-stewardship"],
    )
    depth: int = Field(1, ge=1, le=5, description="How many links away, in either direction. Only with `around`.")


def link_header(path: str, asked: Listing | Counting | Inventory, shown: int, total: int) -> dict[str, str]:
    """Return `Link` to the next and the previous page (RFC 8288), relative to the requested host."""
    targets = {}
    if asked.offset + shown < total and shown:
        targets["next"] = asked.offset + shown
    if asked.offset > 0:
        targets["prev"] = max(0, min(asked.offset, total) - asked.limit)
    links = [f'<{path}?{asked.query(offset=start)}>; rel="{name}"' for name, start in targets.items()]
    links = [link for link in links if len(link) <= MAX_LINK_CHARACTERS]
    return {"link": ", ".join(links)} if links else {}


def next_link(path: str, asked: Question, cursor: str | None) -> dict[str, str]:
    """`Link` to the page where `cursor` goes on."""
    if cursor is None:
        return {}
    link = f'<{path}?{asked.query(cursor=cursor)}>; rel="next"'
    return {"link": link} if len(link) <= MAX_LINK_CHARACTERS else {}


def _unfit(field: str, message: str) -> InvalidInput:
    hint = "/api/v1/openapi.json describes every parameter."
    told = {"in": "query", "field": field, "message": message}
    return InvalidInput(f"{field}: {message}", fields=[told], hint=hint)


_PURPOSE = b"search-cursor"
_SCORE = struct.Struct(">d")


def cursor(position: Position, question: str) -> str:
    """Opaque. `question` is everything that the ranking depends on; a cursor of another question is refused."""
    return sealed(_SCORE.pack(position.score) + position.id.encode(), question, purpose=_PURPOSE)


def position(text: str, question: str) -> Position:
    """Return what `cursor` was made from. Raises BadRequest for a cursor of another question, or of nobody."""
    try:
        told = opened(text, question, purpose=_PURPOSE)
        (score,) = _SCORE.unpack_from(told)
        record = told[_SCORE.size :].decode()
        if not math.isfinite(score):
            raise ValueError("the score of a cursor is a number")
    except (ValueError, struct.error):
        raise BadRequest(
            "This cursor does not belong to this search.",
            hint="A cursor continues a page of the same q and filters. Omit it to start again.",
            field="cursor",
        ) from None
    return Position(score, RecordId(record))
