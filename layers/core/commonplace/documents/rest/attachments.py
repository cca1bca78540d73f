"""The endpoint of attachments: images and files that published documents embed or link, and nothing else."""

import re
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
OCTETS = "application/octet-stream"
SHOWN = ("image/", "audio/", "video/", "text/plain", "application/pdf")
"""Types that browsers show in place; every other is offered for saving."""
PASSIVE = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "application/pdf", "audio/", "video/")
"""Types that cannot run scripts. Every other is confined to a sandbox without an origin, should a browser open it."""
INERT = re.compile(
    r"(image|audio|video|font)/[\w.+-]+|text/(plain|csv|tab-separated-values|markdown|yaml)|"
    r"application/(pdf|json|zip|gzip|x-tar|rtf|epub\+zip|msword|"
    r"vnd\.(openxmlformats-officedocument|oasis\.opendocument|ms-)[\w.-]+)"
)
"""Types that a page can neither run nor apply as script, module, style sheet or document. A file of any other type is
served as bytes, which with `nosniff` no browser takes for one of those (Fetch Standard, section 3.6)."""
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
    """A file as it is in the repository. What a browser could run or apply has no type of its own, or is confined."""
    library = services(request).library
    attachment = library.edition().catalogue.attachment(name)
    if attachment is None:
        raise NotFound("There is no such attachment.", hint="/api/v1/manifest lists them all.")
    headers = {"etag": f'"{attachment.blob_sha}"'}
    if v == attachment.blob_sha:
        headers["cache-control"] = IMMUTABLE
    if unchanged(request, attachment.blob_sha):
        return Response(status_code=304, headers=headers)
    kind = attachment.media_type if INERT.fullmatch(attachment.media_type) else OCTETS
    if not kind.startswith(PASSIVE):
        headers["content-security-policy"] = CONFINED
    placing = "inline" if kind.startswith(SHOWN) else "attachment"
    headers["content-disposition"] = f"{placing}; filename*=UTF-8''{quote(attachment.name.rpartition('/')[2], safe='')}"
    return Response(library.attachment(attachment).body, media_type=kind, headers=headers)
