"""The endpoint of every AWS service on this machine.

Requests need the access key of this start; signatures are not checked. Lambda's Invoke goes to our host; everything
else goes to moto, one request at a time, because moto has no locks. Two exceptions: Step Functions calls back into this
edge while it works, so it never holds the lock; and a long poll of SQS waits outside it.
"""

import contextlib
import hmac
import io
import json
import logging
import re
import sqlite3
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.wrappers import Request, Response

from commonplace_local.cloud import moto_patches, moto_view
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.runtime import MAX_PAYLOAD_BYTES
from commonplace_local.cloud.servers import Loopback, LoopbackHandler

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

logger = logging.getLogger(__name__)

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
        self.settle: Callable[[], None] = lambda: None
        """Called after each request and before its answer, while no other runs. Raises sqlite3.Error."""

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        return self._answer(Request(environ, populate_request=False))(environ, start_response)

    def _answer(self, request: Request) -> Response:
        body = request.get_data()  # before any lock is taken: a slow sender must not hold up the others
        # As Signature Version 4 sends it: in the Authorization header, or in the query of a presigned URL.
        signed = _CREDENTIAL.search(request.headers.get("Authorization", ""))
        key = signed[1] if signed else request.args.get("X-Amz-Credential", "").partition("/")[0]
        if not hmac.compare_digest(key.encode(), self._key):
            message = "The access key is not that of this run. endpoint.json in the data folder has it."
            return _refusal(403, "UnrecognizedClientException", message)
        target = request.headers.get("X-Amz-Target", "")
        if request.path.startswith("/2015-03-31/functions/") and request.path.endswith("/invocations"):
            return self._invoke(request, body)
        if target == "AmazonSQS.ReceiveMessage":
            return self._receive(request, body)
        lock: contextlib.AbstractContextManager[Any] = self._lock
        if target.startswith("AWSStepFunctions."):
            # Its check of the name and its start are two steps; no other operation needs to be alone.
            lock = self._start_lock if target.endswith(".StartExecution") else contextlib.nullcontext()
        answer = self._ask_moto(request, body, lock)
        if request.method not in ("GET", "HEAD") and not target.rpartition(".")[2].startswith(_READS):
            with self.changed:
                self.writes += 1
                self.changed.notify_all()
        return answer

    def _ask_moto(self, request: Request, body: bytes, lock: contextlib.AbstractContextManager[Any]) -> Response:
        environ = request.environ | {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        with lock:
            answer = Response.from_app(self._moto, environ, buffered=True)
            if lock is self._lock:
                try:
                    self.settle()
                except sqlite3.Error as error:
                    logger.exception("The state of the laptop cloud could not be saved")
                    return _refusal(500, "InternalFailure", f"The change may be lost, for it was not saved: {error}")
        return answer

    def wait_for_change(self, seconds: float) -> None:
        """Wait for the next write, at most this long."""
        with self.changed:
            self.changed.wait(seconds)

    def wait_for_message(self, queue: str, seconds: float) -> bool:
        """Wait until the queue has a message to give, at most this long. False at the end and when stopping."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while not self.stopping:
                after = moto_view.seconds_until_a_message(queue)
                if after == 0:
                    return True
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return False
                # A message that comes back does so at the end of a millisecond, and only then can be received.
                self.changed.wait(remaining if after is None else min(remaining, after + 0.002))
        return False

    def stop_waiting(self) -> None:
        """End every wait for a message or a record, now and from now on."""
        with self.changed:
            self.stopping = True
            self.changed.notify_all()

    def _receive(self, request: Request, body: bytes) -> Response:
        asked = json.loads(body)
        end = time.monotonic() + min(20, int(asked.get("WaitTimeSeconds") or 0))
        queue = str(asked.get("QueueUrl", "")).rpartition("/")[2]
        once = json.dumps(asked | {"WaitTimeSeconds": 0}).encode()
        while True:
            self.wait_for_message(queue, end - time.monotonic())
            answer = self._ask_moto(request, once, self._lock)
            empty = answer.status_code == 200 and not json.loads(answer.data).get("Messages")
            if not empty or time.monotonic() >= end or self.stopping:  # else somebody else was quicker
                return answer

    def _invoke(self, request: Request, payload: bytes) -> Response:
        later = request.headers.get("X-Amz-Invocation-Type") == "Event"
        limit = MAX_EVENT_BYTES if later else MAX_PAYLOAD_BYTES
        name, qualifier = unquote(request.path.split("/")[3]), request.args.get("Qualifier")
        name = f"{name}:{qualifier}" if qualifier and name.count(":") in (0, 6) else name
        if len(payload) > limit:
            message = f"{len(payload)} byte payload is too large for this invocation type (limit {limit} bytes)"
            return _refusal(413, "RequestTooLargeException", message)
        try:
            if later:
                self._lambdas.invoke_later(name, payload or b"{}")
                return _response(202, b"")
            outcome = self._lambdas.invoke(name, payload or b"{}")
        except LookupError as error:
            return _refusal(404, "ResourceNotFoundException", str(error))
        failed = {"X-Amz-Function-Error": "Unhandled"} if outcome.failed else {}
        return _response(200, outcome.payload, {"X-Amz-Executed-Version": "$LATEST", **failed})


def _response(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    always = {"X-Amzn-RequestId": str(uuid.uuid4())}
    return Response(body, status, always | (headers or {}), content_type="application/json")


def _refusal(status: int, kind: str, message: str) -> Response:
    return _response(status, json.dumps({"Type": "User", "Message": message}).encode(), {"X-Amzn-ErrorType": kind})


class _Handler(LoopbackHandler, MotoRequestHandler):
    """Headers as S3 needs them."""


def edge_server() -> Loopback:
    """Return the server of an edge, on a free port. The port is known before the edge is set as `app`."""
    return Loopback(_Handler, app=_refusal(503, "ServiceUnavailable", "The laptop cloud is starting."))
