"""A search that finds what a test wants found."""

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Hit, SearchRequest, SearchResults


def hit(content_type: str, document_id: str, **told: object) -> Hit:
    facts: dict[str, object] = {
        "title": document_id,
        "description": None,
        "snippet": "Every season the circle asks who carries what.",
        "heading": "Rotating stewardship › Seasons",
        "score": 0.75,
        "rerank_score": None,
        "url": None,
        "source_url": None,
        "path": f"{document_id}.md",
        "group": None,
        "tags": (),
        "date": None,
    }
    return Hit(id=document_id, content_type=content_type, **(facts | told))  # type: ignore[arg-type]


class FakeSearch:
    def __init__(self, *hits: Hit) -> None:
        self.hits = hits
        self.total = len(hits)
        self.hint: str | None = None
        self.unreachable = False
        self.asked: list[SearchRequest] = []

    def search(self, request: SearchRequest) -> SearchResults:
        self.check()
        self.asked.append(request)
        found = self.hits[: request.limit]
        return SearchResults(
            request.query, found, self.total, fallback=False, reranked=False, took_ms=3, hint=self.hint
        )

    def check(self) -> None:
        if self.unreachable:
            raise Unavailable("The index does not answer.", retry_after_seconds=7)
