"""The endpoint of attachments: images and files that published documents embed or link, and nothing else."""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from commonplace.documents.rest.examples import answers
from commonplace.documents.rest.services import services
from commonplace.kernel.errors import NotFound
from commonplace.web.representations import unchanged

router = APIRouter(tags=["Connections"])

IMMUTABLE = "public, max-age=31536000, immutable"
SHOWN = ("image/", "audio/", "video/", "text/plain", "application/pdf")
"""Types that browsers show in place; every other is offered for saving."""
PASSIVE = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "application/pdf", "audio/", "video/")
"""Types that cannot run scripts. Every other is confined to a sandbox without an origin, should a browser open it."""
CONFINED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@router.get(
    "/attachments/{name:path}",
    operation_id="getAttachment",
    summary="Get an attachment",
    response_class=Response,
    responses=answers(
        "(the bytes of the file)",
        404,
        413,
        422,
        description="The file, with its type and length.",
        media_type="*/*",
        schema={"type": "string", "format": "binary"},
    ),
)
async def get_attachment(
    request: Request,
    name: Annotated[
        str,
        Path(
            max_length=1000,
            description="The file's own name; with folders before it where several files share it. As in `/manifest`.",
            examples=["Seedlings.png"],
        ),
    ],
    v: Annotated[
        str | None,
        Query(max_length=100, description="The `blobSha` of the manifest: the answer may then be kept for ever."),
    ] = None,
) -> Response:
    """A file as it is in the repository. What could run scripts in a browser is confined."""
    library = services(request).library
    attachment = library.edition().catalogue.attachment(name)
    if attachment is None:
        raise NotFound("There is no such attachment.", hint="/api/v1/manifest lists them all.")
    headers = {"etag": f'"{attachment.blob_sha}"'}
    if v == attachment.blob_sha:
        headers["cache-control"] = IMMUTABLE
    if unchanged(request, attachment.blob_sha):
        return Response(status_code=304, headers=headers)
    kind = attachment.media_type
    if not kind.startswith(PASSIVE):
        headers["content-security-policy"] = CONFINED
    placing = "inline" if kind.startswith(SHOWN) else "attachment"
    headers["content-disposition"] = f"{placing}; filename*=UTF-8''{quote(attachment.name.rpartition('/')[2], safe='')}"
    return Response(library.attachment(attachment).body, media_type=kind, headers=headers)
