"""How fresh the library is: the manifest, the last run, and whether the parts answer."""

import logging
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents.content.library import Edition
from commonplace.documents.rest import examples, shapes
from commonplace.documents.rest.examples import answers
from commonplace.documents.rest.parameters import Inventory, link_header
from commonplace.documents.rest.services import services
from commonplace.documents.rest.views import manifest_attachment, manifest_document
from commonplace.documents.views import moment
from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.web.rest.documentation import API_VERSION, example_content
from commonplace.web.rest.pages import API, JSON, NO_STORE, PAGE_BYTES, Page, encode, fitting, json_array, json_object

logger = logging.getLogger(__name__)

router = APIRouter(tags=["State"])
health_router = APIRouter(tags=["State"])


@router.get(
    "/manifest",
    operation_id="getManifest",
    summary="Get the manifest",
    tags=["For machines"],
    response_model=shapes.Manifest,
    responses=answers(examples.MANIFEST, 422, description="Every document and attachment, with what identifies it."),
)
async def get_manifest(request: Request, asked: Annotated[Inventory, Query()]) -> Response:
    """All that is published at one commit: for static builds and mirrors that fetch only what has changed."""
    using = services(request)
    edition = using.library.edition()
    page = using.pages.page(edition.etag, ("manifest", asked.query()), lambda: _manifest(edition, asked))
    return page.answer(request)


def _manifest(edition: Edition, asked: Inventory) -> Page:
    manifest = edition.manifest
    window = manifest.documents[asked.offset : asked.offset + asked.limit]
    documents = fitting(map(manifest_document, window), PAGE_BYTES * 3 // 4)
    attachments = fitting(map(manifest_attachment, manifest.attachments), PAGE_BYTES // 4)
    total, shown = len(manifest.documents), len(documents)
    more = asked.offset + shown < total or len(attachments) < len(manifest.attachments)
    body = json_object(
        schemaVersion=encode(manifest.schema_version),
        repository=encode(manifest.repository or None),
        branch=encode(manifest.branch or None),
        commitSha=encode(manifest.commit_sha or None),
        syncedAt=encode(moment(manifest.synced_at) if edition.etag else None),
        documents=json_array(documents),
        total=encode(total),
        attachments=json_array(attachments),
        attachmentsTotal=encode(len(manifest.attachments)),
        limit=encode(asked.limit),
        offset=encode(asked.offset),
        truncated=encode(more),
    )
    links = link_header(f"{API}/manifest", asked, limit=asked.limit, offset=asked.offset, shown=shown, total=total)
    return Page.of(body, headers=links)


@router.get(
    "/sync",
    operation_id="getSync",
    summary="Get the last sync",
    response_model=shapes.SyncSummary,
    responses=answers(examples.SYNC, 404, description="What the last run did.", conditional=False),
)
async def get_sync(request: Request) -> Response:
    """The last run from the repository: commit, times, counts, and what could be mended in published documents."""
    summary = services(request).library.sync_summary()
    if summary is None:
        raise NotFound("No sync has finished yet.", hint="Push to the repository, or run `commonplace sync run`.")
    return Response(summary, media_type=JSON, headers=NO_STORE)


_HEALTH = answers(examples.HEALTH, description="The store answers.", conditional=False) | {
    503: {
        "model": shapes.Health,
        "description": "The store does not answer.",
        "content": {JSON: example_content(examples.UNHEALTHY)},
    }
}
_HEALTH.pop(429)


@health_router.get(
    "/health",
    operation_id="getHealth",
    summary="Check health",
    response_model=shapes.Health,
    responses=_HEALTH,
)
async def get_health(request: Request) -> Response:
    """Whether store and index answer right now, and which commit is served. Not rate limited."""
    using = services(request)
    edition: Edition | None = None

    def reach_store() -> None:
        nonlocal edition
        edition = using.library.edition(fresh=True)

    store, index = _answers(reach_store), _answers(using.search.check)
    told: dict[str, Any] = {
        "status": "unavailable" if not store else "ok" if index else "degraded",
        "store": {"status": "ok" if store else "unavailable"},
        "index": {"status": "ok" if index else "unavailable"},
        "commitSha": None,
        "syncedAt": None,
        "lagSeconds": None,
        "documents": 0,
        "version": API_VERSION,
    }
    if edition is not None and edition.etag is not None:
        manifest = edition.manifest
        told["commitSha"], told["syncedAt"] = manifest.commit_sha, moment(manifest.synced_at)
        told["lagSeconds"] = max(0, int((using.clock() - manifest.synced_at).total_seconds()))
        told["documents"] = len(manifest.documents)
    return Response(encode(told), status_code=200 if store else 503, media_type=JSON, headers=NO_STORE)


def _answers(reach: Callable[[], None]) -> bool:
    try:
        reach()
    except Unavailable:
        return False
    except Exception as error:
        logger.exception("health check failed", extra={"error": type(error).__name__})
        return False
    return True
