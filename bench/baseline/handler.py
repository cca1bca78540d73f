"""What the REST function is held against, in the same Lambda host, answering the same bytes.

`/bare/{name}` is a bare Starlette route behind Mangum; `/host/{name}` has no framework at all, so it costs what the
host costs. The bytes are the files of the folder `BARE_BODIES`.
"""

import logging
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mangum import Mangum
from mangum.types import LambdaContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

logging.getLogger("mangum").setLevel(logging.WARNING)  # as in the function it stands beside

BODIES = Path(os.environ["BARE_BODIES"])
JSON = "application/json"


@cache
def body(name: str) -> bytes:
    return (BODIES / name).read_bytes()


async def bare(request: Request) -> Response:
    return Response(body(request.path_params["name"]), media_type=JSON)


ADAPTER = Mangum(Starlette(routes=[Route("/bare/{name}", bare)]), lifespan="off")


def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
    name = event["rawPath"].removeprefix("/host/")
    if name == event["rawPath"]:
        return ADAPTER(dict(event), context)
    return {"statusCode": 200, "headers": {"content-type": JSON}, "body": body(name).decode()}
