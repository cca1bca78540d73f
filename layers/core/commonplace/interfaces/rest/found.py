"""What a search found, as it is answered. The command line shows searches of its own under the same names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic.alias_generators import to_camel

from commonplace.interfaces.rest.highlighting import highlighted
from commonplace.interfaces.rest.pages import PAGE_BYTES, encode, json_array, json_object
from commonplace.search.model import Hit, SearchRequest, SearchResults

Json = dict[str, Any]


def answer(
    found: SearchResults,
    asked: SearchRequest,
    *,
    limit: int,
    published: Callable[[str], bool] = lambda _: True,
    highlight: bool = False,
    next_cursor: str | None = None,
) -> bytes:
    """The answer's body. What is not published any more is left out, whatever the index says.

    Whole documents are null where there is none, and where it would not fit; the latter are named.
    """
    live = [hit for hit in found.results if published(_ref(hit))]
    gone = len(found.results) - len(live)
    shown = live[:limit]
    hits = [
        _hit(hit, published) | ({"highlight": highlighted(hit.snippet, hit.marks)} if highlight else {})
        for hit in shown
    ]
    told: Json = {
        "total": max(found.total - gone, 0),
        "totalRelation": "exact" if asked.mode == "lexical" or found.fallback else "candidates",
        "nextCursor": next_cursor,
        # It was made from words of the index, and this index is behind the store.
        "suggestion": None if gone else found.suggestion,
        "fallback": found.fallback,
        "reranked": found.reranked,
        "tookMs": found.took_ms,
    }
    if found.explanation is not None:
        told["explanation"] = camel(found.explanation)
    encoded = [encode(hit) for hit in hits]
    members = {name: encode(value) for name, value in told.items()}
    query = encode(found.query)
    if asked.documents:
        spare = PAGE_BYTES - len(query) - sum(map(len, encoded)) - sum(map(len, members.values()))
        encoded, left_out = _with_documents(shown, encoded, spare)
        members["documentsLeftOut"] = encode(left_out)
    return json_object(query=query, results=json_array(encoded), **members)


def camel(value: Any) -> Any:
    """A value of the search as JSON: fields and keys in camelCase, and numbers as they are."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(field.name): camel(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {to_camel(str(name)): camel(one) for name, one in value.items()}
    if isinstance(value, Sequence | frozenset) and not isinstance(value, str):
        return [camel(one) for one in value]
    return value


def _with_documents(hits: Sequence[Hit], encoded: Sequence[bytes], spare: int) -> tuple[list[bytes], list[str]]:
    """The hits with their documents, best first as long as there is room; and whose document had none."""
    told, left_out = [], []
    for hit, body in zip(hits, encoded, strict=True):
        document = hit.document.to_json() if hit.document else b"null"
        spare -= len(b'"document":,') + len(_ref(hit).encode()) + 3
        if len(document) > spare and hit.document:
            left_out.append(_ref(hit))
            document = b"null"
        spare -= len(document)
        told.append(body[:-1] + b',"document":' + document + b"}")
    return told, left_out


def _hit(hit: Hit, published: Callable[[str], bool]) -> Json:
    return {
        "id": hit.id,
        "contentType": hit.content_type,
        "title": hit.title,
        "description": hit.description,
        "snippet": hit.snippet,
        "heading": hit.heading,
        "score": hit.score,
        "rerankScore": hit.rerank_score,
        "url": hit.url,
        "sourceUrl": hit.source_url,
        "path": hit.path,
        "group": hit.group,
        "tags": list(hit.tags),
        "date": hit.date,
        "duplicates": [record for record in hit.duplicates if published(record)],
    }


def _ref(hit: Hit) -> str:
    return f"{hit.content_type}/{hit.id}"
