"""Judged sets: ours over the sample knowledge base, those for a public clone, and those that a clone yields by itself.

What a link says is a query, where it leads is what it should find. Nobody judged these as a search would be judged, so
they compare systems and say little of how good one is. The page that holds the link counts as of some use.
"""

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commonplace.documents.content.document import Document, reference
from commonplace.documents.content.graph import LinkResolver, ToDocument, names_of
from commonplace.documents.content.paths import Exclusions, assign_ids
from commonplace.documents.content.reader import Published, contents_of, judge
from commonplace.documents.index_source import record_from_document
from commonplace.documents.sync.publication import Source, compose, read
from commonplace.repository.blobs import git_blob_sha
from commonplace.search.filters import Filters
from commonplace.search.model import Record
from commonplace.search.text import name_key, query_terms

ROOT = Path(__file__).parents[2] / "samples" / "knowledge-base"
HERE = Path(__file__).parent
LOCKED = HERE / "locked"
"""Topics and grades that are read for a final table alone."""
_SOURCE = Source("sample/knowledge-base", None, "0" * 40, datetime(2026, 1, 1, tzinfo=UTC), generation=1)
_TEXTS = {"pathPrefix": "path_prefix", "dateFrom": "date_from", "dateTo": "date_to"}
_VALUES = {"contentType": "content_types", "group": "groups", "release": "releases", "status": "statuses"}
_VALUES |= {"tag": "tags_all", "tagAny": "tags_any"}
"""Names in a file of topics -> fields of the filters: those that hold one text, and those of several values."""

Graded = Mapping[str, Mapping[str, int]]
"""Topic -> document -> grade from 0, not relevant, to 3, what the query looks for."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A query as somebody would type it, what kind of query it is, and the filters that go with it."""

    id: str
    text: str
    category: str = "all"
    filters: Filters = field(default_factory=Filters)

    @property
    def is_locked(self) -> bool:
        return is_locked(self.id)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Documents, queries and grades. Without any grades nothing is right, and the right answer is none."""

    name: str
    records: Sequence[Record]
    topics: Sequence[Topic]
    grades: Graded

    def for_tuning(self) -> "JudgedSet":
        """Return it without the topics that only a final table may measure."""
        return replace(self, topics=[topic for topic in self.topics if not topic.is_locked])


def is_locked(topic_id: str) -> bool:
    """Return true for one topic in three, by its id alone: defaults are chosen on the others."""
    return int(hashlib.sha256(topic_id.encode()).hexdigest(), 16) % 3 == 0


def read_topics(file: Path) -> Iterator[Topic]:
    """Read tab-separated columns: id and query, or id, category, query and, optionally, filters as JSON."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            id, *columns = line.split("\t")
            if not 1 <= len(columns) <= 3:
                raise ValueError(f"a topic has two to four columns, not {len(columns) + 1}: {line[:80]}")
            category, text, filters = ["all", *columns, ""] if len(columns) == 1 else [*columns, ""][:3]
            yield Topic(id, text, category, parse_filters(filters))


def parse_filters(text: str) -> Filters:
    """Read filters written as a JSON object of search parameters. Raises ValueError for an unknown one."""
    fields: dict[str, Any] = {}
    for name, value in (json.loads(text) if text.strip() else {}).items():
        if name in _TEXTS:
            fields[_TEXTS[name]] = value
        elif name in _VALUES:
            fields[_VALUES[name]] = tuple(value) if isinstance(value, list) else (value,)
        else:
            raise ValueError(f"unknown filter {name}; there are {', '.join([*_VALUES, *_TEXTS])}")
    return Filters(**fields)


def read_qrels(lines: Iterable[str]) -> Graded:
    """Read TREC's judgements, `topic iteration document grade` a line. Raises ValueError for another line."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, 1):
        columns = line.split()
        if columns and (len(columns) != 4 or not columns[3].isdigit()):
            raise ValueError(f"line {number} of the qrels is not `topic iteration document grade`")
        if columns:
            grades.setdefault(columns[0], {})[columns[2]] = int(columns[3])
    return grades


def our_topics(name: str, *, final: bool) -> tuple[list[Topic], Graded]:
    """Return the topics of one of our sets, and their grades; with what is locked away only when `final`."""
    topics, lines = list(read_topics(HERE / name / "topics.tsv")), list[str]()
    if final:
        topics += read_topics(LOCKED / f"{name}-topics.tsv")
    for file in (HERE / name / "qrels.txt", *([LOCKED / f"{name}-qrels.txt"] if final else [])):
        lines += file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return topics, read_qrels(lines)


def sample_sets(*, final: bool = False) -> list[JudgedSet]:
    """Return all that is judged over the sample's published documents."""
    records = [record_from_document(document) for document in documents()]
    ours = [JudgedSet(name, records, *our_topics(name, final=final)) for name in ("sample", "asked", "lists")]
    return [*ours, unanswerable_set("sample", records, final=final), title_set("sample", records)]


def paraphrased_set(clone: Path, *, final: bool) -> JudgedSet:
    """Return questions in other words for a clone: those that lie in it, else ours, which its folder's name says."""
    own = (clone / "topics.tsv").is_file()
    published = documents(clone, plain=not own)
    if own:
        topics = list(read_topics(clone / "topics.tsv"))
        grades = read_qrels((clone / "qrels.txt").read_text(encoding="utf-8").splitlines())
    else:
        topics, grades = our_topics(clone.name, final=final)
    refs: dict[str, str] = {document.path.removesuffix(".md"): document.ref for document in published}
    by_ref = {topic: {refs[path]: grade for path, grade in found.items()} for topic, found in grades.items()}
    return JudgedSet(clone.name, [record_from_document(document) for document in published], topics, by_ref)


def unanswerable_set(base: str, records: Sequence[Record], *, final: bool) -> JudgedSet:
    """Return questions that no document of the sample answers, nor one of any base about another subject."""
    return JudgedSet(f"unanswerable on {base}", records, our_topics("unanswerable", final=final)[0], {})


WANTED, OF_USE = 3, 1
EXACT, TYPO = "exact title", "one typo"


def title_set(base: str, records: Sequence[Record]) -> JudgedSet:
    """Return every title as it is, and with one typo; documents that share a title are equally right."""
    by_title: dict[str, dict[str, int]] = defaultdict(dict)
    for record in records:
        by_title[name_key(record.title)][record.id] = WANTED
    topics: list[Topic] = []
    grades: dict[str, Mapping[str, int]] = {}
    for kind, change in ((EXACT, str), (TYPO, misspelt)):
        for record in records:
            if text := change(record.title):
                topics.append(Topic(f"{kind}: {record.id}", text, kind))
                grades[topics[-1].id] = by_title[name_key(record.title)]
    return JudgedSet(f"titles of {base}", records, topics, grades)


def misspelt(title: str) -> str:
    """Return the title with a letter of one of its words left out, doubled, replaced, or swapped with the next.

    Always the same for the same title; nothing when no word has four letters. Any letter may be wrong, the first too.
    """
    chance = random.Random(title)
    found = list(re.finditer(r"[^\W\d_]{4,}", title))
    if not found:
        return ""
    word = chance.choice(found)
    while True:
        at = chance.randrange(word.start(), word.end() - 1)
        letter, following = title[at], title[at + 1]
        other = chance.choice("abcdefghijklmnopqrstuvwxyz")
        wrong = chance.choice((following, letter * 2 + following, other + following, following + letter))
        made = title[:at] + wrong + title[at + 2 :]
        if made.casefold() != title.casefold():
            return made


MIN_WORDS = 2
"""Below that a link's text says nothing that could be searched for (`here`)."""


def anchored_set(clone: Path, published: Sequence[Document], records: Sequence[Record]) -> JudgedSet:
    """Return texts of links that are no name of where they lead. Raises ValueError when there is none."""
    by_path = {document.path: document for document in published}
    names = names_of((document.path, document.title, document.aliases) for document in published)
    resolver = LinkResolver(by_path, [], names)
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for source in published:
        verdict = judge((clone / source.path).read_bytes())
        for link in contents_of(verdict.file).links if isinstance(verdict, Published) else ():
            resolution = resolver.resolve(source.path, link)
            text = " ".join(link.text.split())
            if not isinstance(resolution, ToDocument) or len(query_terms(text)) < MIN_WORDS:
                continue
            target = by_path[resolution.path]
            if target.ref == source.ref or name_key(text) in map(name_key, (target.title, *target.aliases)):
                continue
            useful = found[text.casefold()]
            useful[target.ref] = WANTED
            useful.setdefault(source.ref, OF_USE)
    if not found:
        raise ValueError(f"no link of {clone.name} says more than a name")
    topics = [Topic(str(number), text) for number, text in enumerate(found, 1)]
    return JudgedSet(f"links of {clone.name}", records, topics, {topic.id: found[topic.text] for topic in topics})


def clone_sets(clone: Path, *, links: bool = False, titles: bool = False, final: bool = False) -> list[JudgedSet]:
    """Return what a clone yields without a judge. Raises ValueError when it was to have links and has none."""
    published = documents(clone)
    records = [record_from_document(document) for document in published]
    found = [anchored_set(clone, published, records)] if links else []
    if titles:
        found += [title_set(clone.name, records), unanswerable_set(clone.name, records, final=final)]
    return found


def documents(root: Path = ROOT, *, plain: bool = False) -> Sequence[Document]:
    """Return what a folder of Markdown publishes, in the order of its paths: all files when they are `plain`."""
    exclusions = Exclusions()
    readings = {}
    for file in sorted(root.rglob("*.md")):
        path, raw = file.relative_to(root).as_posix(), file.read_bytes()
        if plain:
            raw = b"---\npublish: true\n" + (raw[4:] if raw.startswith(b"---\n") else b"---\n" + raw)
        if exclusions.is_content(path) and (reading := read(path, git_blob_sha(raw), raw)):
            readings[path] = reading
    types = {path: reading.fields.content_type for path, reading in readings.items()}
    ids = assign_ids(types)
    return [
        compose(reading, reference(types[path], ids[path]), _SOURCE, None) for path, reading in sorted(readings.items())
    ]
