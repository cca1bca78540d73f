"""Endpoints of freshness and health: the manifest, the last run, and whether the parts respond."""

import logging
from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace import __version__
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.library import Edition
from commonplace.documents.rest import models
from commonplace.documents.rest.examples import EXAMPLES, answers
from commonplace.documents.rest.parameters import Inventory, link_header
from commonplace.documents.rest.services import computed, etag, services
from commonplace.documents.views import in_utc
from commonplace.kernel.errors import NotFound, Unavailable
from commonplace.web.representations import API, JSON, NO_STORE, PAGE_BYTES, Page
from commonplace.web.rest.documentation import example_content
from commonplace.web.rest.models import leading
from commonplace.web.stack import admitted

logger = logging.getLogger(__name__)

router = APIRouter(tags=["State"])
health_router = APIRouter(tags=["State"])

_HEALTH = answers(EXAMPLES["health"], description="The store answers.", conditional=False) | {
    503: {
        "model": models.Health,
        "description": "The store does not answer.",
        "content": {JSON: example_content(EXAMPLES["unhealthy"])},
    }
}


@router.get(
    "/manifest",
    operation_id="getManifest",
    summary="Get the manifest",
    tags=["For machines"],
    response_model=models.Manifest,
    responses=answers(EXAMPLES["manifest"], 422, description="Every document and attachment, with what identifies it."),
)
async def get_manifest(request: Request, asked: Annotated[Inventory, Query()]) -> Response:
    """All that is published at one commit: for static builds and mirrors that fetch only what has changed."""
    using = services(request)
    edition = using.library.edition()

    def build() -> Page:
        manifest = edition.manifest
        window = manifest.documents[asked.offset : asked.offset + asked.limit]

        def rows() -> Iterator[models.ManifestDocument]:
            for entry in window:
                facts = {
                    "etag": etag(entry.etag, computed(using, entry)),
                    "updated_at": in_utc(entry.updated_at),
                    "url": models.entry_url(entry),
                    "document_url": using.addresses.of(entry),
                }
                yield models.ManifestDocument.model_validate(vars(entry) | facts | {"ref": entry.ref})

        documents = leading(rows(), PAGE_BYTES * 3 // 4)
        urls = DocumentAddresses()
        files = (
            models.ManifestAttachment.model_validate(vars(one) | {"url": urls.of_attachment(one)})
            for one in manifest.attachments
        )
        attachments = leading(files, PAGE_BYTES // 4)
        total, shown = len(manifest.documents), len(documents)
        told = models.Manifest(
            schema_version=manifest.schema_version,
            repository=manifest.repository or None,
            branch=manifest.branch or None,
            commit_sha=manifest.commit_sha or None,
            synced_at=in_utc(manifest.synced_at) if edition.etag else None,
            everything=manifest.everything,
            documents=documents,
            total=total,
            attachments=attachments,
            attachments_total=len(manifest.attachments),
            limit=asked.limit,
            offset=asked.offset,
            truncated=asked.offset + shown < total or len(attachments) < len(manifest.attachments),
        )
        return Page.of(told.to_json(), headers=link_header(f"{API}/manifest", asked, shown, total))

    return using.pages.page(edition.etag, ("manifest", asked.query()), build).answer(request)


@router.get(
    "/sync",
    operation_id="getSync",
    summary="Get the last sync",
    response_model=models.SyncSummary,
    responses=answers(EXAMPLES["sync"], 404, description="What the last run did.", conditional=False),
)
async def get_sync(request: Request) -> Response:
    """The last run from the repository: commit, times, counts, and what could be mended in published documents."""
    summary = services(request).library.sync_summary()
    if summary is None:
        raise NotFound("No sync has finished yet.", hint="Push to the repository, or have an operator start a run.")
    return Response(summary, media_type=JSON, headers=NO_STORE)


_HEALTH.pop(429)


@health_router.get(
    "/health", operation_id="getHealth", summary="Check health", response_model=models.Health, responses=_HEALTH
)
async def get_health(request: Request) -> Response:
    """Whether store and index answer right now, and which commit is served. Not rate limited.

    In a private deployment the status alone, and the rest with a token of an account that may read.
    """
    using = services(request)
    edition: Edition | None = None

    def reach_store() -> None:
        nonlocal edition
        edition = using.library.edition(fresh=True)

    store, index = _answers(reach_store), _answers(using.search.check)
    told = models.Health(status="unavailable" if not store else "ok" if index else "degraded")
    if admitted(request.scope):
        told.store = models.Part(status="ok" if store else "unavailable")
        told.index = models.Part(status="ok" if index else "unavailable")
        told.commit_sha = told.synced_at = told.lag_seconds = None
        told.documents, told.version = 0, __version__
        if edition is not None and edition.etag is not None:
            manifest = edition.manifest
            told.commit_sha, told.synced_at = manifest.commit_sha, in_utc(manifest.synced_at)
            told.lag_seconds = max(0, int((using.clock() - manifest.synced_at).total_seconds()))
            told.documents, told.everything = len(manifest.documents), manifest.everything
    return Response(told.to_json(), status_code=200 if store else 503, media_type=JSON, headers=NO_STORE)


def _answers(reach: Callable[[], None]) -> bool:
    try:
        reach()
    except Unavailable:
        return False
    except Exception as error:
        logger.exception("health check failed", extra={"error": type(error).__name__})
        return False
    return True
