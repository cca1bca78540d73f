"""Asks a search, over HTTP where a Commonplace runs, or of an index file; either way the answer is that of REST."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from local.errors import CommandError

if TYPE_CHECKING:
    import httpx

Answer = dict[str, Any]

KEY_VARIABLE = "COMMONPLACE_OPERATOR_KEY"
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Question:
    """What the command line asks for."""

    query: str
    content_types: tuple[str, ...] = ()
    group: str | None = None
    tags: tuple[str, ...] = ()
    limit: int = 5
    mode: Literal["hybrid", "lexical"] = "hybrid"
    documents: bool = False
    explain: bool = False
    expect: str | None = None
    rerank: bool = True
    collapse: bool = True

    def parameters(self) -> dict[str, Any]:
        """Those of `GET /api/v1/search`, without the ones that say nothing."""
        told: dict[str, Any] = {
            "q": self.query,
            "contentType": list(self.content_types),
            "group": self.group,
            "tag": list(self.tags),
            "limit": self.limit,
            "mode": self.mode,
            "include": ["documents"] if self.documents else [],
            "explain": "true" if self.explain else None,
            "expect": self.expect,
            "rerank": None if self.rerank else "false",
            "collapse": None if self.collapse else "false",
        }
        return {name: value for name, value in told.items() if value not in (None, [])}


def ask_deployment(base_url: str, question: Question, transport: "httpx.BaseTransport | None" = None) -> Answer:
    """The answer of a running REST API. The operators' key goes with a question for an explanation only."""
    import httpx

    from commonplace.kernel.environment import is_loopback

    key = os.environ.get(KEY_VARIABLE, "").strip() if question.explain else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    address = urlsplit(base_url)
    local = is_loopback(address.hostname)
    if key and not local and address.scheme != "https":
        raise CommandError(f"{base_url} is not https.", "The operators' key is not sent where others could read it.")
    try:
        with httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=not local, transport=transport) as client:
            answer = client.get(f"{base_url}/api/v1/search", params=question.parameters(), headers=headers)
    except httpx.HTTPError as error:
        raise CommandError(
            f"{base_url} does not answer: {type(error).__name__}.", "Is it running? Try its /health."
        ) from error
    try:
        told: Answer = answer.json()
    except ValueError as error:
        raise CommandError(f"{base_url} answered {answer.status_code} with no JSON.") from error
    if answer.status_code != httpx.codes.OK:
        raise _refused(answer.status_code, told)
    return told


def ask_file(index: Path, question: Question) -> Answer:
    """The answer of an index file of the embedded engine. Documents and what is published are not in it."""
    from commonplace.documents.content.ontology import ONTOLOGY
    from commonplace.documents.rest import hits
    from commonplace.search.embedded.published import open_index
    from commonplace.search.filters import Filters
    from commonplace.search.model import RecordId, SearchRequest
    from commonplace.search.models.local import LocalEmbeddings
    from commonplace.search.service import SearchService

    if question.documents:
        raise CommandError(
            "An index file holds no whole documents.", "Ask a running Commonplace: start one with `commonplace dev`."
        )
    leaves = tuple(dict.fromkeys(leaf for name in question.content_types for leaf in ONTOLOGY.expand(name)))
    request = SearchRequest(
        question.query,
        Filters(content_types=leaves, group=question.group, tags_all=question.tags),
        question.limit,
        mode=question.mode,
        explain=question.explain,
        expect=RecordId(question.expect) if question.expect else None,
        rerank=question.rerank,
        collapse=question.collapse,
    )
    embeddings = LocalEmbeddings()
    engine = open_index(index.resolve().as_uri(), None, embeddings, read_only=True)
    try:
        results = SearchService(engine, embeddings).search(request)
    finally:
        engine.close()
    told: Answer = json.loads(hits.answer(results, request, limit=question.limit))
    return told


def _refused(status: int, told: Answer) -> CommandError:
    error = told.get("error") or {}
    message = str(error.get("message") or f"The search answered {status}.")
    if status == 401:
        return CommandError(message, f"Set {KEY_VARIABLE} to the operators' key of this deployment.")
    return CommandError(message, str((error.get("details") or {}).get("hint") or ""))
