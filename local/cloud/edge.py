"""The one address of every AWS service on this machine.

Who brings the access key of the run may call, and nobody else: a signature is not checked. Lambda's Invoke goes to our
host; everything else goes to moto, one request at a time, because moto has no locks. Two exceptions: Step Functions
calls back into this edge while it works, so it never holds the lock; and a long poll of SQS waits outside it.
"""

import contextlib
import hmac
import io
import json
import logging
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)

from local.cloud import moto_patches, moto_view
from local.cloud.lambda_host import LambdaHost
from local.cloud.runtime import MAX_PAYLOAD_BYTES
from local.cloud.servers import Loopback, LoopbackHandler

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RECURSION_LIMIT = 20_000  # a Map worker of moto takes its next item by recursion
MAX_EVENT_BYTES = 1_048_576  # asynchronous invocations
_CREDENTIAL = re.compile(r"\bCredential=([^/,\s]+)/")
_READS = ("Get", "List", "Describe", "Query", "Scan", "BatchGet", "Receive")


class _Dispatcher(DomainDispatcherApplication):
    """Remembers which service answers to a host; moto looks through its folders for it with every request."""

    def __init__(self) -> None:
        super().__init__(create_backend_app)
        self._known: dict[str | None, Any] = {}

    def get_backend_for_host(self, host: str | None) -> Any:
        if host not in self._known:
            self._known[host] = super().get_backend_for_host(host)
        return self._known[host]


class Edge:
    """The WSGI application. `key` is the access key; `writes` counts the requests that may have changed something."""

    def __init__(self, lambdas: LambdaHost, key: str) -> None:
        moto_patches.apply()
        default_user_config["stepfunctions"] = {"execute_state_machine": True}  # else executions are canned
        logging.getLogger("moto").setLevel(logging.CRITICAL)  # it logs the data of failing states
        sys.setrecursionlimit(max(RECURSION_LIMIT, sys.getrecursionlimit()))
        self._lambdas, self._key = lambdas, key.encode()
        self._moto = _Dispatcher()
        self._lock, self._start_lock = threading.RLock(), threading.Lock()
        self.changed = threading.Condition()
        self.writes = 0
        self.stopping = False

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        body = _read(environ)
        if not hmac.compare_digest(_access_key(environ), self._key):
            message = "The access key is not that of this run. endpoint.json in the data folder has it."
            return _refuse(start_response, "403 Forbidden", "UnrecognizedClientException", message)
        path, target = environ["PATH_INFO"], environ.get("HTTP_X_AMZ_TARGET", "")
        if path.startswith("/2015-03-31/functions/") and path.endswith("/invocations"):
            return self._invoke(unquote(path.split("/")[3]), body, environ, start_response)
        if target == "AmazonSQS.ReceiveMessage":
            return self._receive(body, environ, start_response)
        answer = self._ask_moto(body, environ, start_response, self._lock_for(target))
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD") and not target.rpartition(".")[2].startswith(_READS):
            self._note_write()
        return answer

    def _lock_for(self, target: str) -> contextlib.AbstractContextManager[Any]:
        if not target.startswith("AWSStepFunctions."):
            return self._lock
        # Its check of the name and its start are two steps; no other operation needs to be alone.
        return self._start_lock if target.endswith(".StartExecution") else contextlib.nullcontext()

    def _ask_moto(
        self,
        body: bytes,
        environ: "WSGIEnvironment",
        start_response: "StartResponse",
        lock: contextlib.AbstractContextManager[Any],
    ) -> list[bytes]:
        request = environ | {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        with lock:
            return list(self._moto(request, start_response))

    def _note_write(self) -> None:
        with self.changed:
            self.writes += 1
            self.changed.notify_all()

    def wait_for_change(self, seconds: float) -> None:
        """Wait for the next write, at most this long."""
        with self.changed:
            self.changed.wait(seconds)

    def wait_until(self, look: Callable[[], bool], seconds: float) -> bool:
        """Wait for a write after which `look` is true, at most this long. False at the end and when stopping."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not self.stopping:
                if look():
                    return True
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                self.changed.wait(remaining)
        return False

    def stop_waiting(self) -> None:
        """End every wait for a message or a record, now and from now on."""
        with self.changed:
            self.stopping = True
            self.changed.notify_all()

    def wait_for_message(self, queue: str, seconds: float) -> bool:
        """Wait until the queue has a message to give, at most this long. False at the end and when stopping."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not self.stopping:
                due = moto_view.seconds_until_a_message(queue)
                if due == 0:
                    return True
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                # A message that comes back does so at the end of a millisecond, and only then can be received.
                self.changed.wait(remaining if due is None else min(remaining, due + 0.002))
        return False

    def _receive(self, body: bytes, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        request = json.loads(body)
        end = time.monotonic() + min(20, int(request.get("WaitTimeSeconds") or 0))
        queue = str(request.get("QueueUrl", "")).rpartition("/")[2]
        once = json.dumps(request | {"WaitTimeSeconds": 0}).encode()
        while True:
            self.wait_for_message(queue, end - time.monotonic())
            head: list[Any] = []

            def keep(status: str, headers: Any, error: Any = None, head: list[Any] = head) -> Any:  # noqa: ARG001
                head[:] = [status, headers]

            answer = b"".join(self._ask_moto(once, environ, keep, self._lock))
            empty = head[0].startswith("200") and not json.loads(answer).get("Messages")
            if not empty or time.monotonic() >= end or self.stopping:  # else somebody else was quicker
                start_response(head[0], head[1])
                return [answer]

    def _invoke(
        self, name: str, payload: bytes, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        later = environ.get("HTTP_X_AMZ_INVOCATION_TYPE") == "Event"
        limit = MAX_EVENT_BYTES if later else MAX_PAYLOAD_BYTES
        qualifier = parse_qs(environ.get("QUERY_STRING", "")).get("Qualifier")
        name = f"{name}:{qualifier[0]}" if qualifier and name.count(":") in (0, 6) else name
        if len(payload) > limit:
            message = f"{len(payload)} byte payload is too large for this invocation type (limit {limit} bytes)"
            return _refuse(start_response, "413 Payload Too Large", "RequestTooLargeException", message)
        try:
            if later:
                self._lambdas.invoke_later(name, payload or b"{}")
                return _answer(start_response, "202 Accepted", b"", {})
            outcome = self._lambdas.invoke(name, payload or b"{}")
        except LookupError as error:
            return _refuse(start_response, "404 Not Found", "ResourceNotFoundException", str(error))
        headers = {"X-Amz-Executed-Version": "$LATEST"}
        if outcome.failed:
            headers["X-Amz-Function-Error"] = "Unhandled"
        return _answer(start_response, "200 OK", outcome.payload, headers)


def _access_key(environ: "WSGIEnvironment") -> bytes:
    """As Signature Version 4 sends it: in the Authorization header, or in the query of a presigned URL."""
    signed = _CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
    if signed:
        return str(signed[1]).encode("latin-1")
    given = parse_qs(environ.get("QUERY_STRING", "")).get("X-Amz-Credential", [""])
    return str(given[0]).partition("/")[0].encode()


def _read(environ: "WSGIEnvironment") -> bytes:
    """The whole body, read before any lock is taken: a slow sender must not hold up the others."""
    stream = environ["wsgi.input"]
    if environ.get("wsgi.input_terminated"):
        return bytes(stream.read())
    return bytes(stream.read(int(environ.get("CONTENT_LENGTH") or 0)))


def _answer(start_response: "StartResponse", status: str, body: bytes, headers: Mapping[str, str]) -> Iterable[bytes]:
    always = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "X-Amzn-RequestId": str(uuid.uuid4()),
    }
    start_response(status, [*always.items(), *headers.items()])
    return [body]


def _refuse(start_response: "StartResponse", status: str, kind: str, message: str) -> Iterable[bytes]:
    body = json.dumps({"Type": "User", "Message": message}).encode()
    return _answer(start_response, status, body, {"X-Amzn-ErrorType": kind})


class _Handler(LoopbackHandler, MotoRequestHandler):
    """Headers as S3 needs them."""


def edge_server() -> Loopback:
    """For an edge, on a free port. The port is known before the edge, which needs it, is set as `app`."""
    return Loopback(_Handler, app=_not_ready)


def _not_ready(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:  # noqa: ARG001
    return _refuse(start_response, "503 Service Unavailable", "ServiceUnavailable", "The laptop cloud is starting.")
