"""Style sheets and scripts of the pages, as they are in the code."""

from functools import cache
from hashlib import blake2b
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.identity.oauth.pages.rendering import GUARDED

FOLDER = Path(__file__).with_name("assets")
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


async def asset(request: Request) -> Response:
    """A file of the folder, by its name; no other is served."""
    name = request.path_params["name"]
    if name not in _names():
        return Response("There is nothing at this address.\n", 404, {"cache-control": "no-store"}, "text/plain")
    body, tag = _file(name)
    # Asked again each time: pages and scripts of two versions must not meet.
    headers = GUARDED | {"etag": tag, "cache-control": "no-cache", "cross-origin-resource-policy": "same-origin"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, TYPES[Path(name).suffix])


def routes() -> list[Route]:
    return [Route("/auth/assets/{name}", asset, methods=["GET"])]


@cache
def _names() -> frozenset[str]:
    return frozenset(file.name for file in FOLDER.iterdir() if file.suffix in TYPES)


@cache
def _file(name: str) -> tuple[bytes, str]:
    body = (FOLDER / name).read_bytes()
    return body, f'"{blake2b(body, digest_size=12).hexdigest()}"'
