"""Summaries of documents for tests of the graph."""

from collections.abc import Sequence
from datetime import UTC, datetime

from commonplace.documents.content.document import Summary
from commonplace.repository.slugs import slug, stem


def summary(path: str, content_type: str = "file", *, title: str | None = None, tags: Sequence[str] = ()) -> Summary:
    return Summary(
        id=slug(stem(path)),
        content_type=content_type,
        title=title or stem(path),
        path=path,
        tags=list(tags),
        commit_sha="0" * 40,
        synced_at=datetime(2025, 1, 1, tzinfo=UTC),
    )
