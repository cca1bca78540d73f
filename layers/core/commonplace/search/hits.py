"""What was found, as a result shows it."""

from collections.abc import Sequence

from commonplace.search.fusion import RELEVANCE_SHARE
from commonplace.search.model import Found, Hit, RecordId, WholeDocument
from commonplace.search.snippets import Snippet, snippet

HALF_SCORE = 10.0
"""The score by words that is shown as half of what relevance can reach, where there is no best one to compare with."""


def to_hit(
    query: str,
    found: Found,
    score: float,
    *,
    rerank_score: float | None = None,
    duplicates: Sequence[RecordId] = (),
    document: WholeDocument | None = None,
) -> Hit:
    """A result with the part of its chunk that shows why it was found, or its description where there is no text."""
    record, chunk = found.record, found.chunk
    shown = snippet(chunk.text, query, found.matched) if chunk else Snippet("")
    return Hit(
        id=record.document_id,
        content_type=record.content_type,
        title=record.title,
        description=record.description,
        snippet=shown.text or record.description or "",
        heading=(" › ".join(chunk.heading_path) or None) if chunk else None,
        score=round(score, 6),
        rerank_score=rerank_score,
        url=record.url,
        source_url=record.source_url,
        path=record.path,
        group=record.group,
        tags=record.tags,
        date=record.date,
        marks=shown.marks,
        duplicates=tuple(duplicates),
        document=document,
    )


def lexical_score(raw: float) -> float:
    """An engine's score of words, between 0 and the share of relevance: the same on every page, and in its order."""
    return RELEVANCE_SHARE * raw / (raw + HALF_SCORE) if raw > 0 else 0.0
