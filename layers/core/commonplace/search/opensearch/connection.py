"""Requests to one OpenSearch: bounded waits and connections, signed where AWS wants it, with a breaker and a budget."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from commonplace.kernel.environment import is_loopback
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import CircuitBreaker, RetryBudget
from commonplace.search.opensearch import wire
from commonplace.search.opensearch.transport import HttpTransport, Lost, Sign

Service = Literal["es", "aoss", "none"]

logger = logging.getLogger(__name__)

SEARCH_SECONDS = 5.0
WRITE_SECONDS = 30.0
CONNECTIONS = 16

LEFT_ALONE_SECONDS = 5.0
"""How long a cluster that did not answer three times is not asked: a refused connection costs little to try again."""

OVERLOADED = (429, 502, 503, 504)
"""What may go better a moment later, of a request or of one item in it."""

_RETRY_AFTER_SECONDS = 0.1


class Refused(Unavailable):
    """OpenSearch answered, and the answer is no: `kind` is its exception type, `status_code` that of HTTP.

    Where nobody expects it the index is unavailable for the caller, who is not told the reason: it may quote text.
    """

    def __init__(self, status_code: int, kind: str, reason: str) -> None:
        super().__init__(f"The search index refused a request ({kind or status_code}).")
        self.status_code = status_code
        self.kind = kind
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.status_code} {self.kind}: {self.reason}"


class Transport(Protocol):
    """What carries requests: `HttpTransport`, or a script."""

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None, body: bytes | None, timeout: float
    ) -> tuple[int, bytes]:
        """Status and body of the answer. Raises `transport.Lost`."""
        ...

    def close(self) -> None: ...


class Connection:
    """One cluster or collection. Safe for threads; made once per process, so that breaker and budget are shared.

    `local` is true for a node of this machine, which lacks faiss; `serverless` for a collection.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        local: bool = False,
        serverless: bool = False,
        breaker: CircuitBreaker | None = None,
        budget: RetryBudget | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.local = local
        self.serverless = serverless
        self.sleep = sleep
        self.budget = budget or RetryBudget()
        self._transport = transport
        self._breaker = breaker or CircuitBreaker("OpenSearch", open_seconds=LEFT_ALONE_SECONDS)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout: float = SEARCH_SECONDS,
        params: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The answer to one request, tried twice at most. Raises Refused for a no, Unavailable for no answer.

        `body` is bytes that are ready, or anything JSON can say. Every request must be one that may be repeated.
        """
        data = body if body is None or isinstance(body, bytes) else wire.encode(body)
        self.budget.earn()
        status, text = self._patiently(method, path, data, timeout, params)
        answer = _parsed(text)
        if 200 <= status < 300:
            return answer
        raise _refusal(status, answer)

    def close(self) -> None:
        """Closes what is idle."""
        self._transport.close()

    def _patiently(
        self, method: str, path: str, data: bytes | None, timeout: float, params: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        try:
            status, text = self._once(method, path, data, timeout, params)
        except Lost as lost:
            # A timeout is not tried again: whoever waits has waited long enough.
            if lost.timed_out or not self.budget.spend():
                raise _unanswered(lost) from lost
            status, text = self._last(method, path, data, timeout, params)
        else:
            if status in OVERLOADED and self.budget.spend():
                self.sleep(_RETRY_AFTER_SECONDS)
                status, text = self._last(method, path, data, timeout, params)
        return status, text

    def _last(
        self, method: str, path: str, data: bytes | None, timeout: float, params: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        try:
            return self._once(method, path, data, timeout, params)
        except Lost as lost:
            raise _unanswered(lost) from lost

    def _once(
        self, method: str, path: str, data: bytes | None, timeout: float, params: Mapping[str, str] | None
    ) -> tuple[int, bytes]:
        self._breaker.check()
        try:
            status, text = self._transport.request(method, path, params=params, body=data, timeout=timeout)
        except Lost:
            self._breaker.failed()
            raise
        if status in (502, 503, 504):
            self._breaker.failed()
        else:
            self._breaker.succeeded()
        return status, text


def _unanswered(lost: Lost) -> Unavailable:
    said = "takes too long" if lost.timed_out else "does not answer"
    return Unavailable(f"The search index {said}.", retry_after_seconds=5)


def connect(
    endpoint: str,
    service: Service,
    *,
    credentials: Any = None,
    region: str | None = None,
    connections: int = CONNECTIONS,
    breaker: CircuitBreaker | None = None,
) -> Connection:
    """A connection to the cluster at this URL. `credentials` are botocore's and may refresh themselves.

    `service` names whose signature it is: `es` for a domain, `aoss` for a serverless collection, `none` without one.
    Nothing is sent yet. Raises ValueError when a signature is wanted and credentials or region are missing.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the endpoint of OpenSearch is an https:// URL, or an http:// URL of this machine")
    if service != "none" and not (credentials and region):
        raise ValueError(f"requests to {service} are signed: credentials and a region are needed")
    secure = parts.scheme == "https"
    local = is_loopback(parts.hostname)
    transport = HttpTransport(
        parts.hostname,
        parts.port or (443 if secure else 80),
        secure=secure,
        prefix=parts.path,
        sign=_signer(credentials, region or "", service) if service != "none" else None,
        connections=connections,
    )
    return Connection(transport, local=local, serverless=service == "aoss", breaker=breaker)


def _signer(credentials: Any, region: str, service: str) -> Sign:
    """SigV4 over method, URL, body and headers; refreshed credentials are used as they come."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    def sign(method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Mapping[str, str]:
        request = AWSRequest(method, url, headers=dict(headers), data=body or b"")
        # A collection refuses requests that do not state what they hash.
        request.headers["X-Amz-Content-SHA256"] = sha256(body or b"").hexdigest()
        SigV4Auth(credentials.get_frozen_credentials(), service, region).add_auth(request)
        return dict(request.headers.items())

    return sign


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        answer = wire.decode(text) if text else {}
    except ValueError:
        return {"error": text[:200].decode("utf-8", "replace")}
    return answer if isinstance(answer, dict) else {"answer": answer}


def failure(status: int, kind: str, reason: str) -> Unavailable:
    """What an error of a request, or of one item in it, means for the caller."""
    if status in OVERLOADED:
        return Unavailable("The search index is overloaded or starting.", retry_after_seconds=5)
    if status in (401, 403):
        logger.error("OpenSearch does not let this function in", extra={"kind": kind, "reason": reason[:500]})
        return Unavailable(
            f"OpenSearch does not allow this ({kind or status}).",
            hint="Map the function's role to the roles of the index (docs/deploy.md).",
            retry_after_seconds=60,
        )
    if status >= 500:
        logger.error("OpenSearch failed", extra={"status": status, "kind": kind, "reason": reason[:500]})
        return Unavailable(f"The search index failed ({kind or status}).", retry_after_seconds=5)
    return Refused(status, kind, reason)


def item_failure(error: Any, status: int) -> Unavailable:
    """As `failure`, for the `error` of an item of `_msearch` or `_bulk`; its root cause tells more than itself."""
    if not isinstance(error, dict):
        return failure(status, "", str(error))
    causes = error.get("root_cause") or [error]
    return failure(status, str(causes[0].get("type", "")), str(causes[0].get("reason", "")))


def _refusal(status: int, answer: Mapping[str, Any]) -> Unavailable:
    error = answer.get("error", answer.get("message", answer.get("Message", "")))
    return item_failure(error, status)
