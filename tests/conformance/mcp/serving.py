"""A handler behind an HTTP API of payload format 2.0, without the rest of the laptop cloud."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from commonplace_local.cloud.http_api import HttpApi, Route
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.runtime import Function

ROOT = Path(__file__).parents[3]
NAME = "mcp"
TIMEOUT_SECONDS = 29
NOWHERE = "http://127.0.0.1:9"
"""In place of AWS: a handler of a test that calls it has lost its way."""


@contextmanager
def served(handler: str, folder: Path, variables: Mapping[str, str] | None = None) -> Iterator[str]:
    """`module.function`, in real execution environments; yields the origin. `BASE_URL` tells the handler of it.

    More than one environment answers, so what a client is given by one must be good for another.
    """
    host = LambdaHost({"AWS_ENDPOINT_URL": NOWHERE, "AWS_ACCESS_KEY_ID": "nobodys"}, folder)
    api = HttpApi(host.invoke_within)
    api.routes.append(Route("$default", NAME))
    host.add(
        Function(
            name=NAME,
            handler=handler,
            path=(ROOT, ROOT / "layers" / "core"),
            variables={"BASE_URL": api.url, **(variables or {})},
            timeout_seconds=TIMEOUT_SECONDS,
            memory_mb=1769,
        ),
        NAME,
    )
    try:
        api.start()
        host.prewarm()
        yield api.url
    finally:
        api.stop()
        host.stop()
