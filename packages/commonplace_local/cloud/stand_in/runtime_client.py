"""A replacement of awslambdaric's C extension, whose wheels exist for Linux only.

The same four functions, over `http.client`. awslambdaric finds it by its name, so it lives in a folder of its own that
`bootstrap.py` puts on the path of a worker where the extension is missing.
"""

import http.client
import os
from typing import Any

FORWARDED = [
    f"Lambda-Runtime-{name}"
    for name in ("Aws-Request-Id", "Trace-Id", "Invoked-Function-Arn", "Client-Context", "Cognito-Identity")
]
_agents: list[str] = []
_connections: dict[str, http.client.HTTPConnection] = {}
"""By the address of their Runtime API: a process that functions share has as many as there are environments."""


def initialize_client(user_agent: str) -> None:
    _agents[:] = [f"{user_agent} {os.environ['AWS_ACCESS_KEY_ID']}"]  # `bootstrap.py` brings the key to the extension


def _call(
    method: str, path: str, body: bytes | None = None, content_type: str | None = None
) -> tuple[http.client.HTTPResponse, bytes]:
    api = os.environ["AWS_LAMBDA_RUNTIME_API"]
    if api not in _connections:
        _connections[api] = http.client.HTTPConnection(api)  # without a timeout: the next event may come in hours
    connection = _connections[api]
    agent = _agents[0] + os.environ.get("COMMONPLACE_ENVIRONMENT", "")  # of one that shares its process
    headers = {"User-Agent": agent, **({"Content-Type": content_type} if content_type else {})}
    try:
        connection.request(method, "/2018-06-01/runtime/invocation/" + path, body, headers)
        response = connection.getresponse()
        return response, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise RuntimeError(f"Runtime API: {error!r}") from error


def next() -> tuple[bytes, dict[str, Any]]:
    response, body = _call("GET", "next")
    headers: dict[str, Any] = {name: response.getheader(name) for name in [*FORWARDED, "Content-Type"]}
    headers["Lambda-Runtime-Deadline-Ms"] = int(response.getheader("Lambda-Runtime-Deadline-Ms", "0"))
    return body, headers


def post_invocation_result(
    request_id: str,
    body: bytes,
    content_type: str,
    invocation_id: str | None = None,  # noqa: ARG001  part of the extension's signature
) -> None:
    _call("POST", f"{request_id}/response", body, content_type)


def post_error(
    request_id: str,
    body: str | bytes,
    xray_cause: str,  # noqa: ARG001
    invocation_id: str | None = None,  # noqa: ARG001
) -> None:
    _call("POST", f"{request_id}/error", body.encode() if isinstance(body, str) else body, "application/json")
