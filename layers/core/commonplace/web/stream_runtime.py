"""A loop over the Lambda Runtime API that streams what a handler answers.

The client of AWS for Python has no streaming (awslambdaric 4.2); a function with `AWS_LAMBDA_EXEC_WRAPPER` runs this in
its place. An answer is a prelude of JSON, eight zero bytes and a body in chunks; what fails later can only be said in a
trailer. Source: AWS Lambda developer guide, "Building a custom runtime" and "Using response streaming".

A handler takes `(event, context, answer)`. It writes to `answer`, or returns an object as other handlers do.
"""

import base64
import http.client
import importlib
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger(__name__)

PREFIX = "/2018-06-01/runtime"
AGENT = "commonplace-stream-runtime"
WHOLE_SECONDS = 29.0
"""An event of an HTTP API has version 2.0, and its gateway waits so long for the whole answer."""

FAILED = {"errorMessage": "The function failed.", "errorType": "Runtime.Failed"}
"""What a caller learns of a defect; the log has more."""


@dataclass(frozen=True, slots=True)
class Context:
    """What handlers are told of a call, under the names that AWS has given it."""

    aws_request_id: str
    invoked_function_arn: str
    deadline: float
    """Epoch seconds."""
    function_name: str = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
    memory_limit_in_mb: int = int(os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "0"))

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.deadline - time.time()) * 1000))


class Answer:
    """The answer to one call, sent as it comes. `start` comes first, `end` last; not safe for threads."""

    def __init__(self, api: str, request_id: str, agent: str = AGENT) -> None:
        self._api, self._path, self._agent = api, f"{PREFIX}/invocation/{request_id}/response", agent
        self._connection: http.client.HTTPConnection | None = None

    @property
    def started(self) -> bool:
        return self._connection is not None

    def start(self, status: int, headers: Mapping[str, str], cookies: Sequence[str] = ()) -> None:
        self._connection = connection = http.client.HTTPConnection(self._api)
        connection.putrequest("POST", self._path, skip_accept_encoding=True)
        for name, value in {
            "User-Agent": self._agent,
            "Content-Type": "application/vnd.awslambda.http-integration-response",
            "Transfer-Encoding": "chunked",
            "Lambda-Runtime-Function-Response-Mode": "streaming",
            "Trailer": "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body",
        }.items():
            connection.putheader(name, value)
        connection.endheaders()
        prelude = {"statusCode": status, "headers": dict(headers), "cookies": list(cookies)}
        self.write(json.dumps(prelude).encode() + b"\0" * 8)

    def write(self, data: bytes) -> None:
        if data and self._connection is not None:
            self._connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self, *, failed: bool = False) -> None:
        if self._connection is None:
            return
        body = base64.b64encode(json.dumps(FAILED).encode())
        kind = FAILED["errorType"].encode()
        error = b"Lambda-Runtime-Function-Error-Type: %s\r\nLambda-Runtime-Function-Error-Body: %s\r\n" % (kind, body)
        self._connection.send(b"0\r\n%s\r\n" % (error if failed else b""))
        self._connection.getresponse().read()
        self._connection.close()


Handler = Callable[[Any, Context, Answer | None], Any]


class Runtime:
    """One execution environment: it takes calls one by one, for ever."""

    def __init__(self, api: str, agent: str = AGENT) -> None:
        self._api, self._agent = api, agent

    def run(self, spec: str) -> None:
        """Serve the handler `module.attribute`. Raises SystemExit where it cannot be loaded."""
        try:
            module, _, name = spec.rpartition(".")
            handler: Handler = getattr(importlib.import_module(module), name)
        except BaseException as error:
            told = {"errorMessage": str(error), "errorType": f"Runtime.{type(error).__name__}"}
            self._request("POST", "/init/error", json.dumps(told).encode())
            raise
        while True:
            self.serve(handler)

    def serve(self, handler: Handler) -> None:
        """Take one call and answer it."""
        headers, payload = self._request("GET", "/invocation/next")
        event, request_id = json.loads(payload), headers["Lambda-Runtime-Aws-Request-Id"]
        deadline = int(headers["Lambda-Runtime-Deadline-Ms"]) / 1000
        os.environ["_X_AMZN_TRACE_ID"] = headers.get("Lambda-Runtime-Trace-Id", "")
        whole = not isinstance(event, dict) or "requestContext" not in event or "version" in event
        context = Context(
            request_id,
            headers.get("Lambda-Runtime-Invoked-Function-Arn", ""),
            min(deadline, time.time() + WHOLE_SECONDS) if whole else deadline,
        )
        streamed = None if whole else Answer(self._api, request_id, self._agent)
        try:
            result = handler(event, context, streamed)
            failed = False
        except Exception as error:  # noqa: BLE001 - the boundary of a call: the next one is served all the same
            logger.error("a call failed", extra={"error": type(error).__name__})
            result, failed = FAILED, True
        if streamed is not None and streamed.started:
            streamed.end(failed=failed)
        else:
            kind = "error" if failed else "response"
            self._request("POST", f"/invocation/{request_id}/{kind}", json.dumps(result).encode())

    def _request(self, method: str, path: str, body: bytes | None = None) -> tuple[Any, bytes]:
        connection = http.client.HTTPConnection(self._api)
        try:
            headers = {"User-Agent": self._agent, "Content-Type": "application/json"}
            connection.request(method, f"{PREFIX}{path}", body, headers)
            answer = connection.getresponse()
            return answer.headers, answer.read()
        finally:
            connection.close()


if __name__ == "__main__":
    Runtime(os.environ["AWS_LAMBDA_RUNTIME_API"]).run(sys.argv[1])
