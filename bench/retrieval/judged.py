"""A judged set: documents, queries with a category and filters, and grades; also as TREC has them.

SGML of old collections is not XML: tags are upper or lower case, unclosed where a topic is, and `&` stands for itself.
So tags are looked for, not parsed.
"""

import hashlib
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commonplace.search.chunks import chunk_body
from commonplace.search.filters import Filters
from commonplace.search.model import Chunk, Record, RecordId

_FILTERS = {
    "contentType": "content_types",
    "group": "groups",
    "release": "releases",
    "status": "statuses",
    "tag": "tags_all",
    "tagAny": "tags_any",
    "pathPrefix": "path_prefix",
    "dateFrom": "date_from",
    "dateTo": "date_to",
}
"""Names in a file of topics -> fields of the filters."""
_TEXTS = ("path_prefix", "date_from", "date_to")
"""Fields that hold one text, not several values."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A query as somebody would type it, what kind of query it is, and the filters that go with it."""

    id: str
    text: str
    category: str = "all"
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """`records` are unversioned: whoever indexes them does it once. Of topics without grades nothing is right."""

    name: str
    records: Sequence[Record]
    topics: Sequence[Topic]
    grades: Mapping[str, Mapping[str, int]]
    """Topic -> document -> grade from 0, not relevant, to 3, what was asked for."""

    @property
    def unanswerable(self) -> bool:
        """Whether nothing answers any of its topics, so that the right answer is none."""
        return not self.grades

    def for_tuning(self) -> "JudgedSet":
        """Without the topics that only a final table may measure."""
        return replace(self, topics=[topic for topic in self.topics if not is_locked(topic.id)])


def is_locked(topic_id: str) -> bool:
    """One topic in three, by its id alone: defaults are chosen on the others."""
    return int(hashlib.sha256(topic_id.encode()).hexdigest(), 16) % 3 == 0


def drawn(names: Iterable[str]) -> list[str]:
    """Return the names in an order that is the same every time and follows nothing in them."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def judged_set(
    name: str, records: Sequence[Record], topics: Sequence[Topic], grades: Mapping[str, Mapping[str, int]]
) -> JudgedSet:
    """The set with those topics that have something to find. Raises ValueError when none has."""
    answerable = [topic for topic in topics if any(grade > 0 for grade in grades.get(topic.id, {}).values())]
    if not answerable:
        raise ValueError(f"no topic of {name} has a relevant document: do topics and qrels belong together?")
    return JudgedSet(name, records, answerable, grades)


def parse_filters(text: str) -> Filters:
    """Filters written as a JSON object of search parameters. Raises ValueError for an unknown one."""
    stated: dict[str, Any] = json.loads(text) if text.strip() else {}
    if unknown := stated.keys() - _FILTERS.keys():
        raise ValueError(f"unknown filter {', '.join(sorted(unknown))}; there are {', '.join(_FILTERS)}")
    told = ((_FILTERS[name], value) for name, value in stated.items())
    fields: dict[str, Any] = {
        name: value if name in _TEXTS else tuple(value) if isinstance(value, list) else (value,) for name, value in told
    }
    return Filters(**fields)


_BLOCK = r"<{name}\b[^>]*>(.*?)</{name}\s*>"
_FIELD = r"<{name}\b[^>]*>(.*?)(?=</?[a-zA-Z][\w-]*\b[^>]*>|\Z)"
_LABEL = re.compile(r"^\s*(?:Number|Topic|Title|Description)\s*:", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")

TOPIC_FILES = ("topics", "queries", "query", "qry")
DOCUMENT_FILES = ("documents", "docs", "corpus", "collection", "cran.all")


@dataclass(frozen=True, slots=True)
class TrecDocument:
    id: str
    title: str
    text: str


def load_folder(folder: Path, *, renumber: bool = False) -> JudgedSet:
    """The set in a folder: one file of documents, one of topics, one of qrels, told by their names.

    `renumber` counts topics from 1 in file order, for sets whose qrels do (Cranfield). Raises ValueError when a file is
    missing or holds nothing.
    """
    documents = list(read_documents(_file(folder, DOCUMENT_FILES)))
    topics = list(read_topics(_file(folder, TOPIC_FILES)))
    if renumber:
        topics = [
            Topic(str(number), topic.text, topic.category, topic.filters) for number, topic in enumerate(topics, 1)
        ]
    qrels = read_qrels(_file(folder, ("qrel",)).read_text(encoding="utf-8").splitlines())
    grades = {
        topic: {record_id(document): grade for document, grade in found.items()} for topic, found in qrels.items()
    }
    return judged_set(folder.name, [record_of(document) for document in documents], topics, grades)


def read_documents(file: Path) -> Iterator[TrecDocument]:
    """Documents of JSON lines (`_id` or `id` or `docno`, `title`, `text`) or of SGML."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if _is_json(text):
        yield from (_json_document(json.loads(line)) for line in text.splitlines() if line.strip())
        return
    for block in _blocks(text, "doc"):
        title = _one(block, "title") or _one(block, "headline")
        yield TrecDocument(_one(block, "docno"), title, _plain(" ".join(_blocks(block, "text"))))


def read_topics(file: Path) -> Iterator[Topic]:
    """Topics of SGML (`num`, `title`), of JSON lines (`_id`, `text`), or of tab-separated columns.

    Columns are id and query, or id, category, query and, optionally, filters as JSON.
    """
    text = file.read_text(encoding="utf-8", errors="replace")
    if _is_json(text):
        for line in filter(str.strip, text.splitlines()):
            told = json.loads(line)
            yield Topic(_id(told), " ".join(str(told.get("text") or told.get("title") or "").split()))
    elif re.search(r"<top\b", text, re.IGNORECASE):
        for block in _blocks(text, "top"):
            yield Topic(_unlabelled(_one(block, "num")), _unlabelled(_one(block, "title") or _one(block, "desc")))
    else:
        yield from (_columns(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))


def read_qrels(lines: Iterable[str]) -> Mapping[str, Mapping[str, int]]:
    """`topic iteration document grade` a line, or with a header and three columns as BEIR has it. Raises ValueError."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in enumerate(lines, 1):
        columns = line.split()
        if not columns or (number == 1 and not columns[-1].lstrip("-").isdigit()):
            continue
        if len(columns) not in (3, 4) or not columns[-1].lstrip("-").isdigit():
            raise ValueError(f"line {number} of the qrels is not `topic iteration document grade`")
        grades.setdefault(columns[0], {})[columns[-2]] = int(columns[-1])
    return grades


def record_id(document: str) -> str:
    """What a document of a set is called in the index."""
    return f"document/{document}"


def record_of(document: TrecDocument) -> Record:
    """A record with the document's title and text, and nothing else that a search could use."""
    text = _without_title(document)
    return Record(
        id=RecordId(record_id(document.id)),
        version=1,
        content_type="document",
        document_id=document.id,
        title=document.title or document.id,
        path=f"{document.id}.md",
        body=text,
        chunks=chunk_body(text) or (Chunk(0, (), ""),),
    )


def _without_title(document: TrecDocument) -> str:
    """Old collections repeat the title at the head of the text, where it would count twice."""
    words = map(re.escape, document.title.split())
    repeated = re.match(r"\s*" + r"\s+".join(words) + r"[\s.]*", document.text) if document.title else None
    return document.text[repeated.end() :] if repeated else document.text


def _file(folder: Path, names: tuple[str, ...]) -> Path:
    found = sorted(
        file for file in folder.iterdir() if file.is_file() and any(part in file.name.lower() for part in names)
    )
    # `cran.qry.xml` must not pass for the qrels, nor `cranqrel` for the queries.
    wanted = [file for file in found if ("qrel" in file.name.lower()) == (names == ("qrel",))]
    if not wanted:
        raise ValueError(f"{folder} has no file named like {' or '.join(names)}")
    return wanted[0]


def _columns(line: str) -> Topic:
    columns = line.split("\t")
    match len(columns):
        case 2:
            return Topic(columns[0], columns[1])
        case 3 | 4:
            return Topic(columns[0], columns[2], columns[1], parse_filters(columns[3] if len(columns) == 4 else ""))
    raise ValueError(f"a topic has two to four columns, not {len(columns)}: {line[:80]}")


def _json_document(told: Mapping[str, Any]) -> TrecDocument:
    return TrecDocument(_id(told), str(told.get("title") or ""), str(told.get("text") or told.get("contents") or ""))


def _id(told: Mapping[str, Any]) -> str:
    return str(next(told[name] for name in ("_id", "id", "docno", "query_id") if name in told))


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _blocks(text: str, name: str) -> list[str]:
    return re.findall(_BLOCK.format(name=name), text, re.IGNORECASE | re.DOTALL)


def _one(block: str, name: str) -> str:
    found = re.search(_FIELD.format(name=name), block, re.IGNORECASE | re.DOTALL)
    return " ".join(html.unescape(found[1]).split()) if found else ""


def _unlabelled(text: str) -> str:
    return " ".join(_LABEL.sub("", text).split())


def _plain(block: str) -> str:
    return html.unescape(_TAG.sub(" ", block)).strip()
