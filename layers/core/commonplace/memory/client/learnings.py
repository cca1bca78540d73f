"""Learnings of a story and their file LEARNINGS.yaml (seed 001, "Workflow Integration").

The file records what the memory already has. An entry that it does not have yet has a provisional name, `pending-N`,
by which its children refer to it. Roles, tags, confidence and parents stand in the file, so a later delivery loses
nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.memory.entry_files import Seed, tags
from commonplace.memory.lesson_words import CATEGORIES, Category
from commonplace.memory.model import ROLES, Role

PENDING = "pending-"
FILE_NAME = "LEARNINGS.yaml"

RECORD_HINT = "A record has a `story_id` and a list of `entries`."
RECORD_FIELDS = (
    *("story_id", "recorded_at", "synced_at", "server", "organisation", "kb_available", "pending_sync", "entries"),
)
ENTRY_FIELDS = (
    *("id", "type", "category", "content", "parent_id", "roles", "tags", "confidence", "source_file", "metadata"),
    *("error", "first_story"),
)

MIN_LEAD = 20
MAX_RECAP = 4_000
"""Characters. A summary is read whole; what it leaves out stands in its facts."""

_SENTENCE_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\bapprox)(?<!\bNo)(?<!\bDr)[.!?](?=\s+[^\sa-z]|\s*\Z)"
)

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

SUMMARY_ROLES: tuple[Role, ...] = ("pm", "dev", "qa")

OTHER_NAMES = {
    "reuse_discoveries": "reuse",
    "blockers_hit": "blockers",
    "verification_notes": "verification",
    "high_cost": "high_cost_operations",
    "story": "story_id",
}
"""Names of the sections of a LESSONS-LEARNED.md, and short forms that people use."""

KNOWN = (
    *("story_id", "title", "summary", "date", "roles", "tags", "source_file", "tokens_used"),
    *(one.key for one in CATEGORIES),
)

EXAMPLE = "A story's file begins: `story_id: WRKF-1021`, `summary: …`, `recommendations: [ … ]`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One entry of the file. `id` is the memory's, or begins with `pending-`; so does that of its parent."""

    id: str
    seed: Seed
    parent: str | None = None
    category: str | None = None
    error: str | None = None
    """Why the memory has refused it."""
    first: str | None = None
    """The story that learned it before, empty where that is not known."""

    @property
    def pending(self) -> bool:
        return self.id.startswith(PENDING)


@dataclass(frozen=True, slots=True)
class Address:
    """A memory: the URL of its server, and the organisation where a token says it."""

    server: str
    organisation: str | None = None

    def __str__(self) -> str:
        return f"{self.server}, organisation {self.organisation}" if self.organisation else self.server


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnings:
    """One LEARNINGS.yaml. Times are ISO 8601 in UTC."""

    story: str
    recorded_at: str
    entries: tuple[Learned, ...] = ()
    available: bool = False
    synced_at: str | None = None
    address: Address | None = None
    """The memory that gave the ids; None before the first delivery."""

    @property
    def pending(self) -> tuple[Learned, ...]:
        """The entries to be delivered, in the order of the file, where a parent stands before its children."""
        return tuple(one for one in self.entries if one.pending)

    def imports(self, *, whole: bool = False) -> list[dict[str, Any]]:
        """Return what is to be delivered, as `kb_bulk_import` takes it.

        With `whole` it is everything, for another memory.
        """
        told = []
        sent = self.entries if whole else self.pending
        names = {one.id for one in sent}
        for one in sent:
            below = {"parent_ref": one.parent} if one.parent in names else {"parent_id": one.parent}
            told.append(replace(one.seed, ref=one.id, source_story=self.story, **below).as_import())
        return told

    def without(self, lost: Collection[str]) -> "Learnings":
        """Return the learnings with the entries of these ids to be delivered again."""
        taken = [int(one.id.removeprefix(PENDING)) for one in self.pending if one.id.removeprefix(PENDING).isdecimal()]
        ids = (one.id for one in self.entries if one.id in lost)
        names = {id: f"{PENDING}{number}" for number, id in enumerate(ids, start=max(taken, default=0) + 1)}
        entries = tuple(
            replace(one, id=names.get(one.id, one.id), parent=names.get(one.parent or "", one.parent))
            for one in self.entries
        )
        return replace(self, entries=entries)

    def delivered(
        self, ids: Mapping[str, str], errors: Mapping[str, str], first: Mapping[str, str], at: str, address: Address
    ) -> "Learnings":
        """Return the learnings with the ids that the memory has given, by pending name.

        `errors` are its reasons against the others; `first` has the stories that learned entries before, by id.
        """
        entries = tuple(
            replace(
                one,
                id=ids.get(one.id, one.id),
                parent=ids.get(one.parent or "", one.parent),
                error=errors.get(one.id) if one.pending else None,
                first=first.get(ids.get(one.id, one.id), None if one.pending else one.first),
            )
            for one in self.entries
        )
        return replace(self, entries=entries, available=True, synced_at=at, address=address)

    def joined(self, earlier: "Learnings") -> "Learnings":
        """Return these with what an earlier file of the same story knows.

        It knows the ids of what was delivered, and entries that are not among these any more.
        """
        known = {one.seed.hash: one for one in earlier.entries}
        names: dict[str, str] = {}
        entries: list[Learned] = []
        for one in self.entries:
            before = known.pop(one.seed.hash, None)
            kept = replace(before, error=None) if before is not None and not before.pending else one
            names[one.id] = kept.id
            if before is not None:
                names[f"earlier {before.id}"] = kept.id
            entries.append(kept if kept is not one else replace(one, parent=names.get(one.parent or "", one.parent)))
        left = [one for one in earlier.entries if one.seed.hash in known]
        taken = sum(one.pending for one in self.entries)
        for one in left:
            names[f"earlier {one.id}"] = f"{PENDING}{taken + len(names) + 1}" if one.pending else one.id
        entries += [
            replace(one, id=names[f"earlier {one.id}"], parent=names.get(f"earlier {one.parent}", one.parent))
            for one in left
        ]
        return replace(self, entries=tuple(entries), synced_at=earlier.synced_at, address=earlier.address)

    def as_mapping(self) -> dict[str, Any]:
        """Return the learnings as they stand in the file."""
        told: dict[str, Any] = {"story_id": self.story, "recorded_at": self.recorded_at}
        if self.synced_at:
            told["synced_at"] = self.synced_at
        if self.address:
            told["server"] = self.address.server
            told |= {"organisation": self.address.organisation} if self.address.organisation else {}
        told["kb_available"] = self.available
        if self.pending:
            told["pending_sync"] = True
        return told | {"entries": [_entry(one) for one in self.entries]}


def from_mapping(value: Any) -> Learnings:
    """Return what a file holds. Raises InvalidInput, which names the field."""
    if not isinstance(value, Mapping) or not isinstance(value.get("story_id"), str):
        raise InvalidInput("This is not a LEARNINGS.yaml: it has no `story_id`.", hint=RECORD_HINT)
    _check_fields("The record", value, RECORD_FIELDS)
    entries = value.get("entries")
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise InvalidInput("`entries` has to be a list.", hint=RECORD_HINT)
    read = tuple(_learned(one, place) for place, one in enumerate(entries))
    # What has a name of its own in place of the memory's id was never delivered.
    own = {one.id: f"{PENDING}{one.id}" for one in read if not one.pending and not _ID.fullmatch(one.id)}
    read = tuple(replace(one, id=own.get(one.id, one.id), parent=own.get(one.parent or "", one.parent)) for one in read)
    names = {one.id for one in read}
    for place, one in enumerate(read):
        if one.parent and one.parent.startswith(PENDING) and one.parent not in names:
            raise InvalidInput(
                f"entries[{place}]: its parent {one.parent} is not in the file.", hint="Name one that is."
            )
    if len(names) < len(read):
        raise InvalidInput("Two entries have the same `id`.", hint="Give each a name of its own: pending-1, pending-2.")
    return Learnings(
        story=value["story_id"],
        recorded_at=str(value.get("recorded_at") or ""),
        entries=read,
        available=value.get("kb_available") is True,
        synced_at=str(value["synced_at"]) if value.get("synced_at") else None,
        address=Address(str(value["server"]), _text(value.get("organisation"))) if value.get("server") else None,
    )


def _entry(one: Learned) -> dict[str, Any]:
    seed = one.seed
    told: dict[str, Any] = {"id": one.id, "type": seed.entry_type}
    told |= {"category": one.category} if one.category else {}
    told["content"] = seed.content
    told |= {"parent_id": one.parent} if one.parent else {}
    told |= {"roles": list(seed.roles), "tags": list(seed.tags), "confidence": seed.confidence}
    told |= {"source_file": seed.source_file} if seed.source_file else {}
    told |= {"metadata": dict(seed.metadata)} if seed.metadata else {}
    told |= {"first_story": one.first} if one.first is not None else {}
    return told | ({"error": one.error} if one.error else {})


def _learned(value: Any, place: int) -> Learned:
    """Return an entry of a file.

    Roles, tags and confidence are those of its category where it names none; the category is always a tag.
    """
    wrong = f"entries[{place}]"
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), str):
        raise InvalidInput(f"{wrong} has no `content`.", hint="Remove the entry, or state what was learned.")
    _check_fields(wrong, value, ENTRY_FIELDS)
    category = _text(value.get("category"))
    kind = next((one for one in CATEGORIES if one.category == category), None)
    confidence = value.get("confidence", kind.confidence if kind else 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise InvalidInput(f"{wrong}: `confidence` has to be a number from 0 to 1.", hint="1 is certain.")
    roles: tuple[Role, ...] = kind.roles if kind else SUMMARY_ROLES if value.get("type") == "summary" else ("all",)
    if named := _roles(f"{wrong}.roles", value.get("roles")):
        roles = tuple(sorted(named, key=value["roles"].index))
    given = _tags(f"{wrong}.tags", value.get("tags"))
    implied = kind.tags if kind and value.get("tags") is None else tags([category or ""])
    seed = Seed(
        content=value["content"],
        entry_type=value.get("type", "fact"),
        roles=roles,
        tags=tuple(dict.fromkeys((*given, *implied))),
        source_file=_text(value.get("source_file")),
        confidence=float(confidence),
        metadata=_metadata(wrong, value.get("metadata")),
    )
    return Learned(
        id=_text(value.get("id")) or f"{PENDING}{place + 1}",
        seed=seed,
        parent=_text(value.get("parent_id")),
        category=category,
        error=_text(value.get("error")),
        first=_text(value.get("first_story")),
    )


def _check_fields(what: str, value: Mapping[Any, Any], known: Sequence[str]) -> None:
    if unknown := [str(name) for name in value if name not in known]:
        raise InvalidInput(f"{what} has no field {unknown[0][:60]!r}.", hint=f"Its fields are: {', '.join(known)}.")


def _text(value: Any) -> str | None:
    return str(value) if value is not None else None


def recap(
    story: str, title: str, date: str, about: Iterable[str], sections: Sequence[tuple[str, Sequence[str]]]
) -> str:
    """Return `STORY-016 (File upload): …`, then a line for each section with content, as many as fit, each whole."""
    head = f"{story} ({title})" if title else story
    lines = [f"{head}, {date}." if date else f"{head}."]
    lines += about
    lines += [f"{name.rstrip(':')}: {'; '.join(map(lead, texts))}." for name, texts in sections if texts]
    kept, room = lines[:1], MAX_RECAP - len(lines[0])
    for line in lines[1:]:
        if len(line) < room:
            kept.append(line)
            room -= len(line) + 1
    return "\n".join(kept) + ("\nMore stands in its facts." if len(kept) < len(lines) else "")


def lead(text: str) -> str:
    """Return the first sentence of a text, whole, without its full stop."""
    line = text.partition("\n")[0].strip()
    ends = (one.end() for one in _SENTENCE_END.finditer(line) if one.end() >= MIN_LEAD)
    return line[: next(ends, len(line))].rstrip(".:; ")


def learnings_of(value: Any, at: str) -> Learnings:
    """Return the learnings of a story's file, all of them to be delivered. Raises InvalidInput with the field."""
    if not isinstance(value, Mapping):
        raise InvalidInput("This is not a story's file.", hint=EXAMPLE)
    told = {OTHER_NAMES.get(str(name), str(name)): one for name, one in value.items()}
    _check_fields("A story", told, KNOWN)
    story = _line(told, "story_id")
    if not story:
        raise InvalidInput("`story_id` is missing.", hint=EXAMPLE)
    facts = [(kind, seed) for kind in CATEGORIES for seed in _facts(told, kind)]
    seen: dict[str, tuple[Category, Seed]] = {}
    for kind, seed in facts:
        seen.setdefault(seed.hash, (kind, seed))
    summary = _summary(told, story, list(seen.values()))
    seen.pop(summary.hash, None)
    top = Learned(id=f"{PENDING}1", seed=summary)
    below = [
        Learned(id=f"{PENDING}{number}", seed=seed, parent=top.id, category=kind.category)
        for number, (kind, seed) in enumerate(seen.values(), start=2)
    ]
    return Learnings(story=story, recorded_at=at, entries=(top, *below))


def _summary(told: Mapping[str, Any], story: str, facts: list[tuple[Category, Seed]]) -> Seed:
    """Return the summary as it is written, after the story's name and title; without one, it is made of the facts."""
    title, said = _line(told, "title"), told.get("summary")
    if said is None:
        sections: dict[str, list[str]] = {}
        for kind, seed in facts:
            sections.setdefault(kind.title, []).append(seed.content)
        content = recap(story, title, _line(told, "date"), (), list(sections.items()))
    else:
        text = _text_of("summary", said)
        begun = f"{story}: {title} - " if title else f"{story}: "
        content = text if text.startswith(story) else begun + text
    metadata: dict[str, Any] = {name: text for name in ("title", "date") if (text := _line(told, name))}
    if (took := told.get("tokens_used")) is not None:
        if isinstance(took, bool) or not isinstance(took, int) or took < 0:
            hint = "What the whole story took, such as 48000."
            raise InvalidInput("`tokens_used` has to be a whole number.", hint=hint)
        metadata["tokens_used"] = took
    return Seed(
        content=content,
        entry_type="summary",
        roles=_roles("roles", told.get("roles")) or SUMMARY_ROLES,
        tags=tags(_tags("tags", told.get("tags"))),
        source_file=_line(told, "source_file") or None,
        metadata=metadata,
    )


def _facts(told: Mapping[str, Any], kind: Category) -> Iterator[Seed]:
    given = told.get(kind.key)
    listed = [given] if isinstance(given, str | Mapping) else given
    if listed is None:
        return
    if not isinstance(listed, list):
        raise InvalidInput(f"`{kind.key}` has to be a list.", hint="Write `- ` before each thing that was learned.")
    title = _line(told, "title")
    subject = ({"title": title} if title else {}) | {"section": kind.title}
    for place, one in enumerate(listed):
        where = f"{kind.key}[{place}]"
        fact = {"content": one} if isinstance(one, str) else one
        if not isinstance(fact, Mapping):
            raise InvalidInput(f"`{where}` has to be text, or an entry with `content`.", hint="Put text in quotes.")
        if unknown := set(fact) - {"content", "tags", "roles", "confidence", "metadata"}:
            hint = "It has: content, tags, roles, confidence, metadata."
            raise InvalidInput(f"`{where}` has no field {min(map(str, unknown))[:60]!r}.", hint=hint)
        sure = fact.get("confidence", kind.confidence)
        if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
            raise InvalidInput(f"`{where}.confidence` has to be a number from 0 to 1.", hint="1 is certain.")
        yield Seed(
            content=_text_of(where, fact.get("content")),
            entry_type="fact",
            roles=_roles(f"{where}.roles", fact.get("roles")) or kind.roles,
            tags=tags((*kind.tags, *_tags(f"{where}.tags", fact.get("tags")), *_tags("tags", told.get("tags")))),
            source_file=_line(told, "source_file") or None,
            confidence=float(sure),
            metadata=subject | _metadata(where, fact.get("metadata")),
        )


def _line(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return "" if value is None else " ".join(str(value).split())


def _text_of(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"`{where}` says nothing.", hint="Say in a sentence what is worth knowing later.")
    return value.strip()


def _tags(where: str, value: Any) -> list[str]:
    listed = value.replace(",", " ").split() if isinstance(value, str) else value
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise InvalidInput(f"`{where}` has to be a list.", hint="For instance tags: [routing, vercel].")
    return [str(one) for one in listed]


def _roles(where: str, value: Any) -> tuple[Role, ...]:
    listed = [value] if isinstance(value, str) else value
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(one in ROLES for one in listed):
        raise InvalidInput(f"`{where}` has to name roles.", hint=f"There are: {', '.join(ROLES)}.")
    return tuple(role for role in ROLES if role in listed)


def _metadata(where: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"`{where}.metadata` has to be a mapping.", hint="For instance metadata: {phase: review}.")
    return dict(value)
