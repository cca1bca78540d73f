"""The sample knowledge base with our own judgements: read by the code that publishes it, judged by having read it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.retrieval.judged import JudgedSet, judged_set
from bench.retrieval.trec import read_qrels, read_topics
from commonplace.documents.content.document import Document, reference
from commonplace.documents.content.paths import Exclusions, assign_ids
from commonplace.documents.index_source import record_from_document
from commonplace.documents.sync.publication import Source, compose, read
from commonplace.repository.blobs import git_blob_sha

ROOT = Path(__file__).parents[2] / "samples" / "knowledge-base"
FOLDER = Path(__file__).parent / "sample"
_SOURCE = Source("sample/knowledge-base", "0" * 40, datetime(2026, 1, 1, tzinfo=UTC), generation=1)


def sample_set() -> JudgedSet:
    """The sample's published documents, our topics and our grades."""
    topics = list(read_topics(FOLDER / "topics.tsv"))
    grades = read_qrels((FOLDER / "qrels.txt").read_text(encoding="utf-8").splitlines())
    return judged_set("sample", [record_from_document(document) for document in documents()], topics, grades)


def documents(root: Path = ROOT) -> Sequence[Document]:
    """What a folder of Markdown publishes, in the order of its paths."""
    exclusions = Exclusions()
    readings = {}
    for file in sorted(root.rglob("*.md")):
        path, raw = file.relative_to(root).as_posix(), file.read_bytes()
        if exclusions.is_content(path) and (reading := read(path, git_blob_sha(raw), raw)):
            readings[path] = reading
    types = {path: reading.fields.content_type for path, reading in readings.items()}
    ids = assign_ids(types)
    return [
        compose(reading, reference(types[path], ids[path]), _SOURCE, None) for path, reading in sorted(readings.items())
    ]
