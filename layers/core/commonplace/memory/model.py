"""Values of the memory: entries, jobs, requests and answers, with the bounds of what callers send.

Sources: seed 001, "Database Schema", "Knowledge Entry Types", "Seed Strategy" and "Workflow Integration". The types of
fields normalise and bound raw values where `memory.validation` reads them; whoever makes a value in code is trusted.
"""

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, NewType, get_args

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.kernel.terms import compatible_length
from commonplace.search.model import Fit
from commonplace.search.text import clean_query

EntryId = NewType("EntryId", str)
"""A UUID (RFC 9562) in its usual form. Never used again, not even for the same content."""

EntryType = Literal["fact", "summary", "template"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)

Role = Literal["pm", "dev", "qa", "all"]
ROLES: tuple[Role, ...] = get_args(Role)
"""An entry with role `all` is meant for every role; a query for `all` asks for every entry."""

Phase = Literal["pm", "elab", "dev", "review", "qa"]
PHASES: tuple[Phase, ...] = get_args(Phase)
"""The phases of a story's life (seed 001, "Workflow Integration"): queries are counted by phase and role."""

MAX_CONTENT_BYTES = 32_768
"""In UTF-8: what one answer can still show whole."""
MAX_TAGS = 30
MAX_TAG_CHARACTERS = 64
MAX_SOURCE_CHARACTERS = 500
MAX_METADATA_BYTES = 8_192
"""As compact JSON."""
MAX_METADATA_DEPTH = 5
MAX_SEEN_IN = 10
MAX_RELEVANCE = 5
"""A vote on a hit is 0 (useless) to 5 (exactly what was needed); seed 001, "Success Metrics"."""
MAX_REFERENCE_CHARACTERS = 200
"""The bound of an idempotency key, and of a name within an import."""
MAX_QUERY_CHARACTERS = 1_000
MAX_OFFSET = 1_000_000
EXACT_INTEGER = 2**53 - 1
"""Beyond this, readers of JSON round."""

Kind = Literal["import", "rebuild"]
Status = Literal["in_progress", "complete", "failed"]

DEFAULT_LIMIT, MAX_LIMIT = 10, 50
"""The bounds of a search."""
DEFAULT_RELATED, MAX_RELATED = 5, 50
DEFAULT_LISTED, MAX_LISTED = 20, 100
DEFAULT_MIN_CONFIDENCE = 0.5
BATCH = 100
"""Entries that are embedded and written together."""
MAX_IMPORT = 10_000
"""Entries of one import."""

Order = Literal["created_at", "updated_at", "confidence"]
Direction = Literal["asc", "desc"]
Relation = Literal["sibling", "parent", "child", "tags"]

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BLANK = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_BLANKS_AT_END = re.compile(r"[ \t]+\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AROUND = re.compile(r"\A(?:\ufeff|[ \t]*\n)+")
"""A byte order mark, and empty lines before the first."""
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def content_hash(content: str) -> str:
    """Return the SHA-256 of the folded content in UTF-8, 64 hex digits: two entries of an organisation never share it.

    Folded are the form of Unicode (NFC), characters that take no room, kinds of blanks and line ends, blanks at the
    ends of lines and before the first word. The content itself stays as it was written.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFC", content))
    folded = _BLANKS_AT_END.sub("\n", _BLANK.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))).strip()
    return hashlib.sha256(folded.encode("utf-8")).hexdigest()


def content_of(text: str) -> str:
    """Return the text as it is stored and hashed: lines ended by LF, no empty lines before or after it."""
    too_large = TooLarge(
        f"`content` is larger than {MAX_CONTENT_BYTES:,} bytes.",
        hint="Keep a summary, and its parts as entries of their own.",
        field="content",
    )
    # Before anything is made of it: a text far too large is not worth a copy.
    if len(text) > 2 * MAX_CONTENT_BYTES:
        raise too_large
    content = _AROUND.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).rstrip()
    if not any(char.isprintable() and not char.isspace() for char in content):
        raise InvalidInput(
            "`content` is empty.", hint="Say what is worth knowing later, in a sentence or more.", field="content"
        )
    if len(content.encode()) > MAX_CONTENT_BYTES or compatible_length(content) > MAX_CONTENT_BYTES:
        raise too_large
    if _CONTROL.search(content):
        raise InvalidInput("`content` contains control characters.", hint="Send text or Markdown.", field="content")
    return content


def merged_metadata(metadata: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata with these keys in their new values; a null removes its key. Raises TooLarge."""
    result = {key: value for key, value in {**metadata, **changes}.items() if value is not None}
    _check_metadata_size(result)
    return result


def metadata_too_deep() -> InvalidInput:
    hint = f"Nest lists and objects at most {MAX_METADATA_DEPTH} deep."
    return InvalidInput("`metadata` is nested too deeply.", hint=hint, field="metadata")


def _check_metadata_size(value: Mapping[str, Any]) -> None:
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_METADATA_BYTES:
        raise TooLarge(
            f"`metadata` is larger than {MAX_METADATA_BYTES} bytes.",
            hint="Keep names and figures; text is `content`.",
            field="metadata",
        )


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    level: list[Any] = [value]
    for _ in range(MAX_METADATA_DEPTH + 1):
        for one in level:
            if isinstance(one, float) and not math.isfinite(one):
                raise InvalidInput(
                    "`metadata` contains a number that is not finite.", hint="Give digits.", field="metadata"
                )
            if isinstance(one, int) and abs(one) > EXACT_INTEGER:
                raise InvalidInput(
                    "`metadata` contains a number that readers would round.", hint="Give it as text.", field="metadata"
                )
        inner = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [one for values in inner for one in values]
    if level:
        raise metadata_too_deep()
    _check_metadata_size(value)
    return value


def _tag(text: str) -> str:
    tag = " ".join(unicodedata.normalize("NFC", text).lower().split())
    if not tag or not tag.isprintable():
        raise InvalidInput(
            "`tags` contains an empty tag.", hint="Give words, such as: routing, database, failure.", field="tags"
        )
    if len(tag) > MAX_TAG_CHARACTERS:
        raise InvalidInput(
            f"`tags` contains one of more than {MAX_TAG_CHARACTERS} characters.", hint="Shorten it.", field="tags"
        )
    return tag


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    tags = tuple(dict.fromkeys(tags))
    if len(tags) > MAX_TAGS:
        raise InvalidInput(f"`tags` are more than {MAX_TAGS}.", hint="Keep those that others use too.", field="tags")
    return tags


def _roles(given: tuple[Role, ...]) -> tuple[Role, ...]:
    if not given:
        raise InvalidInput("`roles` is empty.", hint=f"Name one or more of: {', '.join(ROLES)}.", field="roles")
    return tuple(role for role in ROLES if role in given)


def _line(most: int) -> AfterValidator:
    """One line of text; None when there is nothing in it."""

    def line_of(text: str) -> str | None:
        line = " ".join(unicodedata.normalize("NFC", text).split())
        if len(line) > most:
            raise ValueError(f"is longer than {most} characters", "Shorten it.")
        if not line.isprintable():
            raise ValueError("contains control characters", "Give plain text.")
        return line or None

    return AfterValidator(line_of)


def _whole(least: int, most: int) -> BeforeValidator:
    """A whole number within bounds. Nothing is cut to size: 0 and one too many are both refused."""

    def whole_of(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"has to be a whole number from {least} to {most}", f"Give {least} to {most}.")
        return value

    return BeforeValidator(whole_of)


def _query(text: str) -> str:
    if not clean_query(text[: MAX_QUERY_CHARACTERS + 1]):
        raise InvalidInput(
            "`query` is empty.", hint="Ask in a sentence or a few words; kb_list lists without a query.", field="query"
        )
    if compatible_length(text[: MAX_QUERY_CHARACTERS + 1]) > MAX_QUERY_CHARACTERS:
        hint = "Ask for the subject in a sentence or a few words."
        raise InvalidInput(f"`query` is longer than {MAX_QUERY_CHARACTERS} characters.", hint=hint, field="query")
    return text


def _encodable(text: str) -> str:
    """Raises UnicodeError, which is a ValueError, for half a character."""
    text.encode()
    return text


def _moment(value: Any) -> Any:
    """An ISO date, or a time in UTC as entries have it; without a zone it is UTC."""
    given = value.isoformat() if isinstance(value, date) else value
    if not isinstance(given, str) or not given.strip():
        return given or None
    text = given.strip()
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        time = datetime.fromisoformat(text)
        moment = time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a date or time", "Give 2026-11-24, or 2026-11-24T08:30:00Z.") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


_LOWER = BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value)
_LISTED = BeforeValidator(lambda value: () if value is None else (value,) if isinstance(value, str) else value)
"""One value stands for a list of it."""

Text = Annotated[str, AfterValidator(_encodable)]
Content = Annotated[Text, AfterValidator(content_of)]
Type = Annotated[EntryType, _LOWER]
Roles = Annotated[tuple[Annotated[Role, _LOWER], ...], _LISTED, AfterValidator(_roles)]
"""One role or more, each once, in their usual order."""
Tags = Annotated[tuple[Annotated[Text, AfterValidator(_tag)], ...], _LISTED, AfterValidator(_tags)]
"""In lower case, each once, in the order given."""
Metadata = Annotated[dict[str, JsonValue], AfterValidator(_metadata)]
"""Nulls stay: their meaning is the caller's."""
Confidence = Annotated[float, Field(strict=True, ge=0, le=1), AfterValidator(lambda value: value + 0.0)]
Id = Annotated[EntryId, _LOWER, Field(pattern=f"^{_UUID}$")]
Source = Annotated[Text, _line(MAX_SOURCE_CHARACTERS)]
NewSource = Annotated[Source, AfterValidator(lambda line: line or "")]
"""Empty where it is to be removed; `NewParent` likewise."""
NewParent = Annotated[EntryId, _LOWER, Field(pattern=f"^(?:{_UUID})?$")]
Reference = Annotated[Text, _line(MAX_REFERENCE_CHARACTERS)]
Moment = Annotated[str, BeforeValidator(_moment)]
"""A day, or a moment in the form of `Entry.created_at`."""
Version = Annotated[int, _whole(1, EXACT_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """An entry that is to be."""

    content: Content
    entry_type: Type
    roles: Roles
    tags: Tags = ()
    source_file: Source | None = None
    source_story: Source | None = None
    parent_id: Id | None = None
    confidence: Confidence = 1.0
    metadata: Metadata = field(default_factory=dict)
    supersedes: Id | None = None
    """An entry in whose place it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of an update; None leaves a field as it is, an empty text removes parent, file or story.

    In `metadata` a null removes its key.
    """

    content: Content | None = None
    entry_type: Type | None = None
    roles: Roles | None = None
    tags: Tags | None = None
    confidence: Confidence | None = None
    source_file: NewSource | None = None
    source_story: NewSource | None = None
    parent_id: NewParent | None = None
    superseded_by: NewParent | None = None
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An entry without its text: a few hundred bytes, stored beside it and written with it.

    Times are ISO 8601, UTC, with microseconds and `Z`: text order is time order.
    """

    id: EntryId
    content_hash: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...]
    confidence: float
    created_at: str
    updated_at: str
    version: int = 1
    """Grows with each change that somebody asks for."""
    revision: int = 1
    """Orders writes of the index: grows with each change, and when vectors are made anew."""
    parent_id: EntryId | None = None
    source_file: str | None = None
    source_story: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Card):
    """One entry, whole."""

    organisation: str
    content: str
    supersedes: EntryId | None = None
    superseded_by: EntryId | None = None
    """The entry that stands in its place: searches do not find this one."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    seen: int = 0
    """How many stories learned it again after the first."""
    seen_in: tuple[str, ...] = ()
    """Those stories, the newest last, at most `MAX_SEEN_IN`."""

    @property
    def card(self) -> Card:
        """What lists, relations and figures need of it."""
        return Card(**{one.name: getattr(self, one.name) for one in fields(Card)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that takes longer than one call, and how far it has come. Finished ones are stored for a week."""

    organisation: str
    id: str
    kind: Kind
    created_at: str
    updated_at: str
    status: Status = "in_progress"
    total: int = 0
    processed: int = 0
    step: int = 0
    """Grows with each write: two workers never both go on from the same one."""
    position: str = ""
    """Where to go on: of an import the number of the piece, of a rebuild the last id done."""
    batch_size: int = 100
    skip_existing: bool = True
    imported: int = 0
    skipped: int = 0
    errors: tuple[str, ...] = field(default=())
    account: str = ""
    client: str = ""
    grant: str = ""
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions that searches and lists share."""

    role: Annotated[Role, _LOWER] | None = None
    """Entries of this role, and those of role `all`; `all` is no condition."""
    tags: Tags = ()
    """A search takes entries with any of them, a list those with all."""
    entry_type: Type | None = None
    source_story: Source | None = None
    source_file: Source | None = None
    since: Moment | None = None
    until: Moment | None = None
    """Bounds of `created_at`, both included: the beginning of a time, such as a day, is that whole stretch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Conditions):
    """A search: what passes every condition, ranked by words and meaning."""

    query: Annotated[str, AfterValidator(_query)]
    limit: Annotated[int, _whole(1, MAX_LIMIT)] = DEFAULT_LIMIT
    min_confidence: Confidence = DEFAULT_MIN_CONFIDENCE
    phase: Annotated[Phase, _LOWER] | None = None
    """Only counted."""
    story: Source | None = None
    """Only counted."""
    collapse: bool = True
    """Shows one of several entries that are nearly equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Conditions):
    """A list without a search."""

    limit: Annotated[int, _whole(1, MAX_LISTED)] = DEFAULT_LISTED
    offset: Annotated[int, _whole(0, MAX_OFFSET)] = 0
    order_by: Annotated[Order, _LOWER] = "created_at"
    order: Annotated[Direction, _LOWER] = "desc"
    after: str = ""
    """A position (`memory.facets`): the list goes on behind it, and `offset` counts from there."""
    total: int | None = None
    """How many pass the filters, by the page before: they are not counted again where that takes reading them."""
    whole: bool = True
    """Whether these are all."""


@dataclass(frozen=True, slots=True)
class Found:
    """One entry that was found. `excerpt` is its part nearest to the query, the whole of a short one."""

    entry: Entry
    score: float
    excerpt: str
    fit: Fit
    duplicates: tuple[EntryId, ...] = ()
    """Entries with nearly the same text, which this one stands for."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """`fallback` is true when no embedding could be had, and words alone were compared. `hint` says that nothing fits:
    then all that was found is weak."""

    found: tuple[Found, ...]
    fallback: bool
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """An entry beside another. `shared` are the tags that both have."""

    entry: Entry
    relation: Relation
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListAnswer:
    entries: tuple[Entry, ...]
    total: int
    whole: bool = True
    """False: more may pass than `total`."""
    places: tuple[str, ...] = ()
    """The position of each entry, by which it was found."""
    last: str = ""
    """The position behind which the list goes on: also where the entries there were deleted meanwhile."""
    more: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """An entry that resembles another text, with its cosine similarity."""

    id: EntryId
    similarity: float
    excerpt: str


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A lesson that a further story learned again. `first` learned it first, `seen` says how often it was since."""

    id: EntryId
    first: str
    story: str
    at: str
    seen: int


@dataclass(frozen=True, slots=True)
class Added:
    """`duplicate`: an entry with this content was there already, and `id` is its own. `replayed`: the same request,
    with the same key, was answered before."""

    id: EntryId
    duplicate: bool = False
    replayed: bool = False
    embedded: bool = True
    """False when the text waits for its vectors: it is found by its words meanwhile."""
    recurrence: Recurrence | None = None
    """Where another story learned it before; also when that is noted already."""
    nearest: tuple[Near, ...] = ()


@dataclass(frozen=True, slots=True)
class Updated:
    entry: Entry
    re_embedded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """What an entry had that is brought back as it was."""

    id: Id
    created_at: Moment
    updated_at: Moment
    version: Version
    supersedes: Id | None = None
    superseded_by: Id | None = None
    seen: Annotated[int, _whole(0, EXACT_INTEGER)] = 0
    seen_in: Annotated[tuple[Source, ...], _LISTED, Field(max_length=MAX_SEEN_IN)] = ()


FORMER = tuple(one.name for one in fields(Former))
FORMER_NEEDED = tuple(one.name for one in fields(Former) if one.default is MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One entry of an import. `ref` names it within the import; `parent_ref` its parent, `superseded_by_ref` what
    replaces it."""

    entry: NewEntry
    former: Former | None = None
    ref: str | None = None
    parent_ref: str | None = None
    superseded_by_ref: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The progress of an import. `handle` is there while it goes on, for further calls."""

    total: int
    processed: int
    imported: int
    skipped: int
    errors: tuple[str, ...] = ()
    """Each begins with `entries[N]: `, its place in the import from 0."""
    status: Status = "complete"
    handle: str | None = None
    ids: Mapping[str, EntryId] | None = None
    """By `ref`, or by place as text where an entry has none; None for an import that was carried on by a handle."""
    recurrences: tuple[Recurrence, ...] = ()
    """Those of this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The progress of new vectors for all entries. `handle` as in `Imported`."""

    total: int
    processed: int
    status: Status
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The figures of one organisation's memory."""

    total_entries: int
    by_type: Mapping[EntryType, int]
    by_role: Mapping[Role, int]
    avg_confidence: float
    """0 when there are no entries."""
    last_updated: str | None
    cache_size: int
    """Stored vectors of this organisation's texts."""
    queries: Mapping[tuple[str, Role], int]
    """Searches by (phase, or `none`, and role)."""
    recurrences: int = 0
    """How often a story learned again what another had learned."""


@dataclass(frozen=True, slots=True)
class StoryUse:
    """What is known of one story: searches made for it, tokens of their answers, and what the whole story took."""

    story: str
    searches: int = 0
    answer_tokens: int = 0
    tokens_used: int | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """All votes on one entry."""

    id: EntryId
    votes: int = 0
    total: int = 0

    @property
    def mean(self) -> "Mean":
        return Mean.of(self.votes, self.total)


@dataclass(frozen=True, slots=True)
class Vote:
    """How relevant an entry was that a search of a story found; `story` may be empty."""

    id: EntryId
    story: str
    voter: str
    relevance: int


@dataclass(frozen=True, slots=True)
class Mean:
    """None of none."""

    n: int
    mean: float | None

    @classmethod
    def of(cls, n: int, total: int) -> "Mean":
        return cls(n, round(total / n, 2) if n else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The four of seed 001, "Success Metrics"."""

    tokens_with_searches: Mean
    """Tokens that a story took, of those that searched the memory."""
    tokens_without: Mean
    answer_tokens: Mean
    """Of the memory's answers, by story that searched."""
    recurrences: int
    most: tuple[Recurrence, ...]
    """What was learned again most often, the last recurrence of each."""
    relevance: Mean
    votes: Mapping[int, int]
    """How many there are of each relevance."""
    lowest: tuple[Rating, ...]
    """The entries with the lowest mean."""
    searches: Mean
    """By story, of all that are known."""
    stories_that_searched: int
