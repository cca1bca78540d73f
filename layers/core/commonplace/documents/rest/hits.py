"""Snippets as HTML: everything escaped, and `<mark>` round the words that were found.

What a search found, as it is answered. The command line shows searches of its own under the same names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from pydantic.alias_generators import to_camel

from commonplace.documents.content.document import DocumentRef, Entry
from commonplace.documents.findings import Findings, settle
from commonplace.search.model import Hit, SearchRequest, SearchResults
from commonplace.web.rest.pages import PAGE_BYTES, encode, json_array, json_object


def highlighted(snippet: str, marks: Iterable[tuple[int, int]]) -> str:
    """The snippet for a web page. `marks` are spans in characters; those that overlap or touch become one."""
    told, place = "", 0
    for start, end in _joined(marks, len(snippet)):
        told += f"{escape(snippet[place:start])}<mark>{escape(snippet[start:end])}</mark>"
        place = end
    return told + escape(snippet[place:])


def _joined(marks: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans inside the text, in order and apart: an engine that errs costs a mark, never a broken page."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in marks):
        if start >= end:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


Json = dict[str, Any]

NULL = b"null"


def answer(
    found: SearchResults,
    asked: SearchRequest,
    *,
    limit: int,
    published: Mapping[DocumentRef, Entry] | None = None,
    highlight: bool = False,
    next_cursor: str | None = None,
    max_bytes: int = PAGE_BYTES,
) -> bytes:
    """The answer's body. What is not `published` is left out, whatever the index says; None means that all of it is.

    Whole documents are null where there is none, and where it would make the body exceed `max_bytes`; the latter are
    named. Nothing else is ever left out for its size.
    """
    settled = settle(found, asked, published, limit=limit)
    shown = settled.hits
    hits = [_hit(hit, highlight=highlight) for hit in shown]
    members = {name: encode(value) for name, value in _whole(found, settled, next_cursor).items()}
    query = encode(found.query)
    if not asked.documents:
        return json_object(query=query, results=json_array(map(encode, hits)), **members)

    def body(documents: Sequence[bytes], left_out: Sequence[str]) -> bytes:
        whole = [_with_document(hit, document) for hit, document in zip(hits, documents, strict=True)]
        return json_object(query=query, results=json_array(whole), **members, documentsLeftOut=encode(left_out))

    # As long as the rest can be: every document left out, and named.
    bare = body([NULL] * len(shown), [_ref(hit) for hit in shown])
    return body(*_fitting(shown, max_bytes - len(bare)))


def camel(value: Any) -> Any:
    """A value of the search as JSON: fields and keys in camelCase, and numbers as they are."""
    if is_dataclass(value) and not isinstance(value, type):
        return {to_camel(field.name): camel(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {to_camel(str(name)): camel(one) for name, one in value.items()}
    if isinstance(value, Sequence | frozenset) and not isinstance(value, str):
        return [camel(one) for one in value]
    return value


def _whole(found: SearchResults, settled: Findings, next_cursor: str | None) -> Json:
    """What is told of the search as a whole."""
    told: Json = {
        "total": settled.total,
        "totalRelation": settled.relation,
        "nextCursor": next_cursor,
        "suggestion": settled.suggestion,
        "fallback": found.fallback,
        "reranked": found.reranked,
        "tookMs": found.took_ms,
    }
    return told if found.explanation is None else told | {"explanation": camel(found.explanation)}


def _fitting(hits: Sequence[Hit], room: int) -> tuple[list[bytes], list[str]]:
    """The documents, best first as long as there is room; and whose document had none."""
    documents, left_out = [], []
    for hit in hits:
        document = hit.document.to_json() if hit.document else NULL
        if hit.document and len(document) - len(NULL) > room:
            left_out.append(_ref(hit))
            document = NULL
        room -= len(document) - len(NULL)
        documents.append(document)
    return documents, left_out


def _with_document(hit: Json, document: bytes) -> bytes:
    return encode(hit)[:-1] + b',"document":' + document + b"}"


def _hit(hit: Hit, *, highlight: bool) -> Json:
    told: Json = {
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
        "duplicates": list(hit.duplicates),
    }
    return told | {"highlight": highlighted(hit.snippet, hit.marks)} if highlight else told


def _ref(hit: Hit) -> str:
    return f"{hit.content_type}/{hit.id}"
