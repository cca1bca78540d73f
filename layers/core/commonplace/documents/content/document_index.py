"""An in-memory index of one manifest: lists, look-ups and suggestions over what is published.

A catalogue is immutable and built once per manifest; each of its indexes is built on first use, so that a process that
answers one document pays for none of them. Concurrent first uses may build one twice, with equal results.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cached_property, reduce, wraps
from typing import Any, Literal, TypeVar, cast

from commonplace.documents.content.document import Attachment, DocumentRef, Entry, Manifest, Summary, reference
from commonplace.documents.content.graph import LinkResolver, ToFile
from commonplace.repository.link import Link
from commonplace.repository.slugs import front_pages, slug
from commonplace.search.filters import Filters

Sort = Literal["title", "-title", "date", "-date", "updated", "-updated", "path", "-path"]

ALIKE = 0.6
"""From 0 to 1: how alike two ids must be for one to be suggested for the other."""

LAST = "\U0010ffff"
"""Sorts after every character: what begins with a text lies between it and it with this."""


NO_CONDITION = Filters()

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions on the documents of a list."""

    filters: Filters = NO_CONDITION
    updated_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    entry: Entry
    former: bool
    """True when the request used a former name of the document."""


class Catalogue:
    """The documents of one manifest, indexed by every name and property that requests use."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self._selected: dict[tuple[Selection, Sort], Sequence[Entry]] = {}
        self._orders: dict[Sort, Sequence[int]] = {}
        self._ranges: dict[str, tuple[list[Any], list[int]]] = {}
        self._made: dict[object, object] = {}

    def once(self, make: Callable[["Catalogue"], Made]) -> Made:
        """What `make` makes of this catalogue, made once and kept with it; two threads may both make it."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(Made, self._made[make])

    def resolve(self, content_type: str, document_id: str) -> Resolved | None:
        """The document of that name; a former name answers as long as no living document bears it."""
        ref = reference(content_type, document_id)
        if (entry := self.manifest.by_ref.get(ref)) is not None:
            return Resolved(entry, former=False)
        path = self.manifest.former_refs.get(ref)
        entry = self.manifest.by_path.get(path) if path else None
        return Resolved(entry, former=True) if entry else None

    def resolve_any(self, content_types: Iterable[str], document_id: str) -> Resolved | None:
        """The first document of that name among these types, as it is written or as ids are; living names first."""
        names = dict.fromkeys((document_id, document_id.removesuffix(".md"), slug(document_id)))
        types = tuple(content_types)
        resolved = (self.resolve(content_type, name) for name in names if name for content_type in types)
        return min(filter(None, resolved), key=lambda one: one.former, default=None)

    def at_path(self, path: str) -> Entry | None:
        """By source path (with or without `.md`), permalink, or folder (its front page), in this order."""
        by_path = self.manifest.by_path
        bare = path.strip("/")
        names = (path, bare, f"{bare}.md") if bare else (path,)
        exact = next((by_path[name] for name in names if name in by_path), None)
        return exact or self._permalinks.get(bare) or by_path.get(self.fronts.get(bare, ""))

    def attachment(self, name: str) -> Attachment | None:
        return self._attachments.get(name) or self._attachments.get(unicodedata.normalize("NFC", name))

    def attachment_at(self, path: str) -> Attachment | None:
        return self._attachments_by_path.get(path)

    def banner(self, document: Summary) -> Attachment | None:
        """The image above it, as far as the repository has it and it is served."""
        if document.banner is None:
            return None
        target = self._files.resolve(document.path, Link(document.banner, None, "image", "", 0))
        return self.attachment_at(target.path) if isinstance(target, ToFile) else None

    def nearest(self, content_type: str, document_id: str, count: int = 3) -> list[DocumentRef]:
        """Names most like the one that nobody bears: the same id under another type first, then similar ids."""
        wanted = document_id.casefold()[:200]
        same = [entry.ref for entry in self.entries if entry.id == wanted]
        matcher = SequenceMatcher(None, "", wanted)
        scored: list[tuple[float, DocumentRef]] = []
        for entry in self._alike(wanted):
            matcher.set_seq1(entry.id)
            if matcher.real_quick_ratio() >= ALIKE and matcher.quick_ratio() >= ALIKE:
                scored.append((-matcher.ratio() - (0.1 if entry.content_type == content_type else 0.0), entry.ref))
        similar = [ref for score, ref in sorted(scored) if -score >= ALIKE]
        return list(dict.fromkeys(same + similar))[:count]

    def select(self, selection: Selection, sort: Sort = "title") -> Sequence[Entry]:
        """Every matching document in order; ties and absent values come last, by title."""
        key = (selection, sort)
        if (known := self._selected.get(key)) is None:
            if len(self._selected) >= 256:
                self._selected.clear()
            known = self._selected[key] = self._select(selection, sort)
        return known

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """All documents by title. Positions in this sequence are what the indexes hold."""
        return sorted(self.manifest.documents, key=lambda entry: (entry.title.casefold(), entry.title, entry.ref))

    def _select(self, selection: Selection, sort: Sort) -> Sequence[Entry]:
        order = self._order(sort)
        conditions = list(self._conditions(selection))
        if not conditions:
            return [self.entries[position] for position in order]
        matching = reduce(frozenset.__and__, sorted(conditions, key=len))
        return [self.entries[position] for position in order if position in matching]

    def _conditions(self, selection: Selection) -> Iterable[frozenset[int]]:
        wanted = selection.filters
        alternatives = (
            ("content_type", wanted.content_types),
            ("group", wanted.groups),
            ("release", wanted.releases),
            ("status", wanted.statuses),
            ("author", wanted.authors),
            ("aliases", wanted.aliases),
            ("tags", wanted.tags_any),
        )
        for name, values in (*alternatives, *(("tags", (tag,)) for tag in wanted.tags_all)):
            if values:
                yield self._any(name, values)
        if wanted.path_prefix:
            yield self._below(wanted.path_prefix)
        if wanted.date_from or wanted.date_to:
            yield self._between("date", wanted.date_from or "", (wanted.date_to or "9999-12-31") + LAST)
        if (since := selection.updated_since) is not None:
            yield self._between("updated_at", since, datetime.max.replace(tzinfo=UTC))

    def _any(self, name: str, values: Iterable[str]) -> frozenset[int]:
        return frozenset[int]().union(*(self._values.get((name, value), ()) for value in values))

    def _below(self, prefix: str) -> frozenset[int]:
        return self._between("path", prefix, prefix + LAST)

    def _between(self, field: str, first: Any, last: Any) -> frozenset[int]:
        """Documents whose value lies between, both included; those without one do not."""
        values, positions = self._ascending(field)
        start = bisect_left(values, first)
        return frozenset(positions[start : bisect_right(values, last, lo=start)])

    def _ascending(self, field: str) -> tuple[list[Any], list[int]]:
        """Values of a property in order, and the documents that have them."""
        if (known := self._ranges.get(field)) is None:
            told = [
                (value, position) for position, entry in enumerate(self.entries) if (value := getattr(entry, field))
            ]
            told.sort()
            known = self._ranges[field] = ([value for value, _ in told], [position for _, position in told])
        return known

    def _order(self, sort: Sort) -> Sequence[int]:
        if (known := self._orders.get(sort)) is None:
            known = self._orders[sort] = self._sorted(sort)
        return known

    def _sorted(self, sort: Sort) -> Sequence[int]:
        name, backwards = sort.removeprefix("-"), sort.startswith("-")
        entries = self.entries
        if name == "title":
            return range(len(entries))[:: -1 if backwards else 1]
        field = {"date": "date", "updated": "updated_at", "path": "path"}[name]
        told = self._ascending(field)[1]
        untold = sorted(set(range(len(entries))).difference(told))
        if backwards:
            # Sorted again, not reversed: documents of one day stay in the order of their titles.
            told = sorted(sorted(told), key=lambda position: getattr(entries[position], field), reverse=True)
        return told + untold

    def _alike(self, wanted: str) -> Iterable[Entry]:
        """Candidates worth comparing letter by letter: they share a word, or the beginning, with what is wanted."""
        words = {word for word in wanted.split("-") if len(word) > 2}
        start = wanted[:3]
        found = [
            entry for entry in self.entries if entry.id.startswith(start) or words.intersection(entry.id.split("-"))
        ]
        return found[:500]

    @cached_property
    def _values(self) -> dict[tuple[str, str], set[int]]:
        found: dict[tuple[str, str], set[int]] = {}
        for position, entry in enumerate(self.entries):
            named = [("content_type", entry.content_type), ("group", entry.group), ("release", entry.release)]
            named += [("status", entry.status), *(("tags", tag) for tag in entry.tag_branches)]
            named += [*(("author", name) for name in entry.author), *(("aliases", name) for name in entry.aliases)]
            for name, value in named:
                if value is not None:
                    found.setdefault((name, value), set()).add(position)
        return found

    @cached_property
    def _permalinks(self) -> dict[str, Entry]:
        named = [(entry.permalink.strip("/"), entry) for entry in self.entries if entry.permalink]
        return {permalink: entry for permalink, entry in reversed(named) if permalink}

    @cached_property
    def fronts(self) -> dict[str, str]:
        """Folder -> the path of the page that stands for it."""
        return front_pages(self.manifest.by_path)

    @cached_property
    def _files(self) -> LinkResolver:
        return LinkResolver((), self._attachments_by_path)

    @cached_property
    def _attachments(self) -> dict[str, Attachment]:
        return {attachment.name: attachment for attachment in self.manifest.attachments}

    @cached_property
    def _attachments_by_path(self) -> dict[str, Attachment]:
        return {attachment.path: attachment for attachment in self.manifest.attachments}


def per_catalogue(make: Callable[[Catalogue], Made]) -> Callable[[Catalogue], Made]:
    """Return a function that makes something of a catalogue once for each."""
    return wraps(make)(lambda catalogue: catalogue.once(make))
