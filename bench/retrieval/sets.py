"""Judged sets: ours over the sample knowledge base, those a clone yields by itself, and public ones, downloaded.

What a link says is a query, where it leads is what it should find. Nobody judged these as a search would be judged, so
they compare systems and say little of how good one is. The page that holds the link counts as of some use.
"""

import hashlib
import random
import re
import urllib.request
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice, zip_longest
from pathlib import Path

from bench.retrieval.judged import JudgedSet, Topic, drawn, judged_set, read_qrels, read_topics
from commonplace.documents.addresses import SITE_PAGE
from commonplace.documents.content.document import Document, reference
from commonplace.documents.content.graph import LinkResolver, ToDocument, names_of
from commonplace.documents.content.paths import Exclusions, assign_ids
from commonplace.documents.content.reader import Published, contents_of, judge
from commonplace.documents.index_source import record_from_document
from commonplace.documents.sync.publication import Source, compose, read
from commonplace.repository.blobs import git_blob_sha
from commonplace.search.model import Record
from commonplace.search.text import name_key, query_terms

ROOT = Path(__file__).parents[2] / "samples" / "knowledge-base"
HERE = Path(__file__).parent
LOCKED = HERE / "locked"
"""Topics and grades that are read for a final table alone."""
_SOURCE = Source("sample/knowledge-base", None, "0" * 40, datetime(2026, 1, 1, tzinfo=UTC), generation=1)


def sample_sets(*, final: bool = False) -> list[JudgedSet]:
    """All that is judged over the sample's published documents; with what is locked away only when `final`."""
    records = [record_from_document(document) for document in documents()]
    asked = [JudgedSet(name, records, *our_topics(name, final=final)) for name in ("sample", "asked", "lists")]
    return [*asked, unanswerable_set("sample", records, final=final), title_set("sample", records)]


def paraphrased_set(clone: Path, *, final: bool) -> JudgedSet:
    """Return our questions in other words for a public clone, whose folder's name says which they are."""
    published = documents(clone, plain=True)
    topics, grades = our_topics(clone.name, final=final)
    refs: dict[str, str] = {document.path.removesuffix(".md"): document.ref for document in published}
    by_ref = {topic: {refs[path]: grade for path, grade in found.items()} for topic, found in grades.items()}
    return judged_set(clone.name, [record_from_document(document) for document in published], topics, by_ref)


def our_topics(name: str, *, final: bool) -> tuple[list[Topic], Mapping[str, Mapping[str, int]]]:
    """Topics of one of our sets and their grades."""
    topics = list(read_topics(HERE / name / "topics.tsv"))
    lines = _lines(HERE / name / "qrels.txt")
    if final:
        topics += read_topics(LOCKED / f"{name}-topics.tsv")
        lines += _lines(LOCKED / f"{name}-qrels.txt")
    return topics, read_qrels(lines)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.is_file() else []


def unanswerable_set(base: str, records: Sequence[Record], *, final: bool) -> JudgedSet:
    """Questions that no document of the sample answers, nor one of any base about another subject than theirs."""
    topics = list(read_topics(HERE / "unanswerable" / "topics.tsv"))
    if final:
        topics += read_topics(LOCKED / "unanswerable-topics.tsv")
    return JudgedSet(f"unanswerable on {base}", records, topics, {})


WANTED, OF_USE = 3, 1
EXACT, TYPO = "exact title", "one typo"


def title_set(base: str, records: Sequence[Record]) -> JudgedSet:
    """Every title as it is, and with one typo; documents that share a title are equally right."""
    by_title: dict[str, dict[str, int]] = defaultdict(dict)
    for record in records:
        by_title[name_key(record.title)][record.id] = WANTED
    topics = [
        Topic(f"{kind}: {record.id}", text, kind)
        for kind, change in ((EXACT, str), (TYPO, misspelt))
        for record in records
        if (text := change(record.title))
    ]
    of: dict[str, Mapping[str, int]] = {record.id: by_title[name_key(record.title)] for record in records}
    return JudgedSet(
        f"titles of {base}", records, topics, {topic.id: of[topic.id.partition(": ")[2]] for topic in topics}
    )


AUTHORS, OTHER_NAMES = 60, 50


def named_set(base: str, records: Sequence[Record]) -> JudgedSet:
    """Return the set of names that are no plain title: authors first, the other kinds by turns; the same every time."""
    kinds = ("author", "stem", "path", "address", "type/id", "tag", "parenthesis")
    found: dict[str, dict[str, dict[str, int]]] = {kind: defaultdict(dict) for kind in kinds}
    for record in records:
        tags = {*record.tags, *([record.document_id] if record.content_type == "tag" else [])}
        address = SITE_PAGE.format(type=record.content_type, id=record.document_id)
        names = [("stem", Path(record.path).stem), ("path", record.path), ("address", address), ("type/id", record.id)]
        names += [("parenthesis", record.title)] if "(" in record.title else []
        names += [("author", author) for author in record.authors] + [("tag", f"tag:{tag}") for tag in tags]
        for kind, name in names:
            found[kind][name][record.id] = WANTED
    for record in records:
        if record.title in found["author"]:  # the page about somebody is as right as what they wrote
            found["author"][record.title][record.id] = WANTED
    author, *others = ([Topic(f"{kind}: {name}", name, kind) for name in drawn(found[kind])] for kind in kinds)
    topics = [*author[:AUTHORS], *islice(filter(None, chain(*zip_longest(*others))), OTHER_NAMES)]
    grades = {topic.id: found[topic.category][topic.text] for topic in topics}
    return JudgedSet(f"names of {base}", records, topics, grades)


_LETTERS = re.compile(r"[^\W\d_]{4,}")


def misspelt(title: str) -> str:
    """The title with a letter of one of its words left out, doubled, replaced, or swapped with the next.

    Always the same for the same title; nothing when no word has four letters. Any letter may be wrong, the first too.
    """
    chance = random.Random(title)
    found = list(_LETTERS.finditer(title))
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


MIN_WORDS = 2
"""Below that a link's text says nothing that could be searched for (`here`)."""


def clone_sets(
    clone: Path, *, links: bool = False, titles: bool = False, names: bool = False, final: bool = False
) -> list[JudgedSet]:
    """What a clone yields without a judge. Raises ValueError when it was to have links and has none."""
    published = documents(clone)
    records = [record_from_document(document) for document in published]
    found = [anchored_set(clone, published, records)] if links else []
    if titles:
        found += [title_set(clone.name, records), unanswerable_set(clone.name, records, final=final)]
    return [*found, named_set(clone.name, records)] if names else found


def anchored_set(clone: Path, published: Sequence[Document], records: Sequence[Record]) -> JudgedSet:
    """The published documents of a clone, and texts of links that are no name of where they lead.

    Raises ValueError when there is none.
    """
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
    topics = [Topic(str(number), text) for number, text in enumerate(found, 1)]
    grades = {topic.id: found[topic.text] for topic in topics}
    return judged_set(f"links of {clone.name}", records, topics, grades)


DOWNLOADS = Path(__file__).parents[2] / ".data" / "retrieval"
TIMEOUT_SECONDS = 60
MAX_BYTES = 50_000_000


class Unreachable(Exception):
    """The set cannot be had now; the text says why."""


@dataclass(frozen=True, slots=True)
class PublicSet:
    """Where a set's files are, their sha256, and how its topics are numbered."""

    base: str
    files: Mapping[str, str]
    about: str
    renumber: bool = False


SETS = {
    "cranfield": PublicSet(
        base="https://raw.githubusercontent.com/oussbenk/cranfield-trec-dataset/1208e6edfb6cb2527b2c44398d3d8fefd3249144/",
        files={
            "cran.all.1400.xml": "369eb64e59d855b62463832f1338f471cede578571ee7fb33e3592a2a138ff47",
            "cran.qry.xml": "b609a59e980857ba59d098f33433822a5c200bcf6836a320babf2b1a5e7545eb",
            "cranqrel.trec.txt": "98a13b4913d61a02690725aee7ac4f6a1979c13fc9088ad9b4a81be58b1a6f11",
        },
        about="1,400 abstracts on aerodynamics, 225 questions, every pair judged (1967)",
        renumber=True,  # its qrels count the questions in the order of the file, the file numbers them otherwise
    )
}


def fetch(name: str, folder: Path = DOWNLOADS) -> Path:
    """The folder with the set's files, downloaded where they are not there yet. Raises Unreachable, and ValueError."""
    if name not in SETS:
        raise ValueError(f"there is no public set {name}; there are {', '.join(SETS)}")
    wanted, target = SETS[name], folder / name
    target.mkdir(parents=True, exist_ok=True)
    for file, digest in wanted.files.items():
        if not _is(target / file, digest):
            (target / file).write_bytes(_download(wanted.base + file, digest))
    return target


def _is(file: Path, digest: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


def _download(url: str, digest: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read(MAX_BYTES)
    except OSError as error:
        raise Unreachable(f"{url} cannot be had: {error}") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise Unreachable(f"{url} is not what it was: its sha256 differs")
    return content
