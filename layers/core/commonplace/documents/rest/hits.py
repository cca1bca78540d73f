"""Search results as the REST answer, with snippets as escaped HTML where wanted.

The command line prints the same fields.
"""

from collections.abc import Callable, Mapping, Sequence

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import DocumentRef, Entry, reference
from commonplace.documents.findings import settle
from commonplace.documents.rest import models
from commonplace.documents.views import highlighted
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.web.representations import PAGE_BYTES
from commonplace.web.rest.models import json_bytes

FOUND = models.SearchHit.model_fields.keys() - {"document_url", "highlight", "document"}
"""What the search says of every hit."""


def answer(
    found: SearchResults,
    asked: SearchRequest,
    addresses: DocumentAddresses,
    *,
    limit: int,
    published: Mapping[DocumentRef, Entry] | None = None,
    banner_url: Callable[[DocumentRef], str | None] = lambda _: None,
    highlight: bool = False,
    next_cursor: str | None = None,
    hints: Sequence[str] = (),
    max_bytes: int = PAGE_BYTES,
) -> bytes:
    """The answer's body. What is not `published` is left out, whatever the index says; None means that all of it is.

    Whole documents are null where there is none, and where it would make the body exceed `max_bytes`; the latter are
    named. Nothing else is ever left out for its size.
    """
    settled = settle(found, asked, published, limit=limit)
    results: list[models.SearchHit] = []
    for hit in settled.hits:
        facts = {name: getattr(hit, name) for name in FOUND}
        result = models.SearchHit.model_validate(facts | {"document_url": addresses.of(hit)})
        if highlight:
            result.highlight = highlighted(hit.snippet, hit.marks)
        results.append(result)
    told = models.SearchAnswer(
        query=found.query,
        results=results,
        total=settled.total,
        total_relation=settled.relation,
        next_cursor=next_cursor,
        suggestion=settled.suggestion,
        fallback=found.fallback,
        reranked=found.reranked,
        took_ms=found.took_ms,
    )
    if said := [*filter(None, [found.hint]), *hints]:
        told.hints = said
    if found.explanation is not None:
        told.explanation = models.Explanation.model_validate(found.explanation)
    if asked.documents:
        # Best first, as long as there is room; those for which there was none are named.
        for one in told.results:
            one.document = None
        # As long as the rest can be: every document left out, and named.
        refs = [reference(hit.content_type, hit.id) for hit in settled.hits]
        told.documents_left_out = list(refs)
        room = max_bytes - json_bytes(told)
        told.documents_left_out = []
        for one, hit, ref in zip(told.results, settled.hits, refs, strict=True):
            if hit.document is None:
                continue
            computed = {"document_url": one.document_url, "banner_url": banner_url(ref)}
            document = models.Entry.model_validate(vars(hit.document) | computed)
            if (more := json_bytes(document) - len(b"null")) > room:
                told.documents_left_out.append(ref)
                continue
            one.document = document
            room -= more
    return told.to_json()
