"""The official OpenSearch client with bounded waits, a circuit breaker, a retry budget and errors of this code base."""

import logging
import ssl
import time
from collections.abc import Callable, Mapping
from threading import BoundedSemaphore
from typing import Any, Literal
from urllib.parse import urlsplit

import orjson
from opensearchpy import OpenSearch, Transport, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import (
    ConnectionError,
    ConnectionTimeout,
    OpenSearchException,
    SerializationError,
    TransportError,
)
from opensearchpy.serializer import JSONSerializer
from urllib3 import Timeout

from commonplace.kernel.environment import is_loopback
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import CircuitBreaker, RetryBudget
from commonplace.search.model import Vector

Service = Literal["es", "aoss", "none"]

logger = logging.getLogger(__name__)

CONNECT_SECONDS = 1.0
SEARCH_SECONDS = 5.0
WRITE_SECONDS = 30.0
CONNECTIONS = 16

LEFT_ALONE_SECONDS = 5.0
"""How long a cluster that did not respond three times is not called: a refused connection costs little to try again."""

OVERLOADED = (429, 502, 503, 504)
"""What may go better a moment later, of a request or of one item in it."""

_RETRY_AFTER_SECONDS = 0.1


class Refused(Unavailable):
    """OpenSearch answered, and the answer is no: `kind` is its exception type, `status_code` that of HTTP.

    Where nobody expects it the index is unavailable for the caller, without the reason: it may quote text.
    """

    def __init__(self, status_code: int, kind: str, reason: str) -> None:
        super().__init__(f"The search index refused a request ({kind or status_code}).")
        self.status_code = status_code
        self.kind = kind
        self.reason = reason

    @property
    def is_gone(self) -> bool:
        """Return whether an index, or the alias used, is not there any more."""
        return self.status_code == 404

    def __str__(self) -> str:
        return f"{self.status_code} {self.kind}: {self.reason}"


class Numbers:
    """A vector, ready to be put into a request. Nine digits distinguish every 32-bit number from its neighbours."""

    __slots__ = ("fragment",)

    def __init__(self, vector: Vector) -> None:
        values = tuple(vector)
        self.fragment = orjson.Fragment("[" + ",".join(["%.9g"] * len(values)) % values + "]")


class OrjsonSerializer(JSONSerializer):
    """JSON of the client by orjson. What is bytes is JSON already."""

    def dumps(self, data: Any) -> str:
        if isinstance(data, str):
            return data
        return (data if isinstance(data, bytes) else encode(data)).decode()

    def loads(self, s: str | bytes) -> Any:
        try:
            return orjson.loads(s)
        except ValueError as error:
            raise SerializationError("the answer is not JSON", error) from None


class BoundedConnection(Urllib3HttpConnection):
    """At most `pool_maxsize` requests at a time; waiting too long for a place fails, as for an answer.

    Timeouts are in seconds without a byte. Nothing is logged here: bodies, and reasons that quote them, are content.
    """

    def __init__(self, *, pool_maxsize: int = CONNECTIONS, **given: Any) -> None:
        super().__init__(pool_maxsize=pool_maxsize, **given)
        self._places = BoundedSemaphore(pool_maxsize)

    def perform_request(self, *request: Any, **given: Any) -> Any:
        seconds = given.pop("timeout", None) or self.timeout
        if not self._places.acquire(timeout=seconds):
            raise ConnectionTimeout("TIMEOUT", "every connection is in use", None)
        bounds: Any = Timeout(connect=CONNECT_SECONDS, read=seconds)
        try:
            return super().perform_request(*request, **given | {"timeout": bounds})
        finally:
            self._places.release()

    def log_request_success(self, *_: Any, **__: Any) -> None: ...

    def log_request_fail(self, *_: Any, **__: Any) -> None: ...


class GuardedTransport(Transport):
    """Tries a request twice at most, out of a budget, and leaves a cluster alone that does not answer.

    The client's own retries know neither a pause nor a budget, so it has none.
    """

    def __init__(
        self, hosts: Any, *, breaker: CircuitBreaker, budget: RetryBudget, sleep: Callable[[float], None], **given: Any
    ) -> None:
        super().__init__(hosts, max_retries=0, serializer=OrjsonSerializer(), **given)
        self.breaker = breaker
        self.budget = budget
        self.sleep = sleep

    def perform_request(self, *request: Any, **given: Any) -> Any:
        """The answer to a request that may be repeated. Raises Refused for a no, else Unavailable."""
        self.budget.earn()
        if given.get("body") is not None:
            given["body"] = self.serializer.dumps(given["body"])
        try:
            try:
                return self._attempt(*request, **given)
            except TransportError as error:
                # A timeout is not tried again: whoever waits has waited long enough.
                again = isinstance(error, ConnectionError) or error.status_code in OVERLOADED
                if isinstance(error, ConnectionTimeout) or not again or not self.budget.spend():
                    raise
                if not isinstance(error, ConnectionError):
                    self.sleep(_RETRY_AFTER_SECONDS)
            return self._attempt(*request, **given)
        except ConnectionTimeout as error:
            raise Unavailable("The search index timed out.", retry_after_seconds=5) from error
        except ConnectionError as error:
            raise Unavailable("The search index does not answer.", retry_after_seconds=5) from error
        except OpenSearchException as error:
            # What the cluster says of a request may quote it.
            if not isinstance(error, TransportError):
                raise failure(500, "", "an answer that is not JSON") from None
            answer = error.info if isinstance(error.info, dict) else {"error": str(error.error)[:200]}
            reason = answer.get("error", answer.get("message", answer.get("Message", "")))
            raise item_failure(reason, int(error.status_code)) from None

    def _attempt(self, *request: Any, **given: Any) -> Any:
        self.breaker.check()
        try:
            # The client takes the time limit out of the parameters: each try has a copy of its own.
            answer = super().perform_request(*request, **given | {"params": dict(given.get("params") or {})})
        except TransportError as error:
            if isinstance(error, ConnectionError) or error.status_code in (502, 503, 504):
                self.breaker.failed()
            else:
                self.breaker.succeeded()
            raise
        self.breaker.succeeded()
        return answer


class OpenSearchClient(OpenSearch):
    """One cluster or collection. Safe for threads; made once per process, so that breaker and budget are shared.

    `local` is true for a node of this machine, which lacks faiss; `serverless` for a collection.
    """

    transport: GuardedTransport

    def __init__(
        self,
        host: Mapping[str, Any],
        *,
        local: bool = False,
        serverless: bool = False,
        breaker: CircuitBreaker | None = None,
        budget: RetryBudget | None = None,
        sleep: Callable[[float], None] = time.sleep,
        **given: Any,
    ) -> None:
        super().__init__(
            [dict(host)],
            GuardedTransport,
            breaker=breaker or CircuitBreaker("OpenSearch", open_seconds=LEFT_ALONE_SECONDS),
            budget=budget or RetryBudget(),
            sleep=sleep,
            **{"connection_class": BoundedConnection, "timeout": SEARCH_SECONDS} | given,
        )
        self.local = local
        self.serverless = serverless


def connect(
    endpoint: str,
    service: Service,
    *,
    credentials: Any = None,
    region: str | None = None,
    connections: int = CONNECTIONS,
    breaker: CircuitBreaker | None = None,
) -> OpenSearchClient:
    """A client of the cluster at this URL. `credentials` are botocore's and may refresh themselves.

    `service` names whose signature it is: `es` for a domain, `aoss` for a serverless collection, `none` without one.
    Nothing is sent yet. Raises ValueError when a signature is wanted and credentials or region are missing.
    """
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the endpoint of OpenSearch is an https:// URL, or an http:// URL of this machine")
    if service != "none" and not (credentials and region):
        raise ValueError(f"requests to {service} are signed: credentials and a region are needed")
    secure = parts.scheme == "https"
    host = {"host": parts.hostname, "port": parts.port or (443 if secure else 80), "url_prefix": parts.path.strip("/")}
    return OpenSearchClient(
        host,
        local=is_loopback(parts.hostname),
        serverless=service == "aoss",
        breaker=breaker,
        use_ssl=secure,
        # What this machine trusts, as every other client of the house, and not a list that came with a package.
        ssl_context=ssl.create_default_context() if secure else None,
        http_auth=Urllib3AWSV4SignerAuth(credentials, region, service) if service != "none" else None,
        pool_maxsize=connections,
    )


def encode(body: Any) -> bytes:
    """A body as JSON in UTF-8. Halves of characters, which no encoding has, become question marks."""
    try:
        return orjson.dumps(body, default=_fragment)
    except TypeError:
        return orjson.dumps(_whole(body), default=_fragment)


def _fragment(value: object) -> orjson.Fragment:
    if not isinstance(value, Numbers):
        raise TypeError(f"{type(value).__name__} cannot be sent")
    return value.fragment


def _whole(value: Any) -> Any:
    """The same with every half of a character replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(name): _whole(part) for name, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list | tuple) else value


def failure(status: int, kind: str, reason: str) -> Unavailable:
    """Return what an error of a request, or of one item in it, means for the caller."""
    if status in OVERLOADED:
        return Unavailable("The search index is overloaded or starting.", retry_after_seconds=5)
    if status in (401, 403):
        logger.error("OpenSearch does not let this function in", extra={"kind": kind, "reason": reason[:500]})
        return Unavailable(
            f"OpenSearch does not allow this ({kind or status}).",
            hint="Map the function's role to the roles of the index (docs/operate/deploy.md).",
            retry_after_seconds=60,
        )
    if status >= 500:
        logger.error("OpenSearch failed", extra={"status": status, "kind": kind, "reason": reason[:500]})
        return Unavailable(f"The search index failed ({kind or status}).", retry_after_seconds=5)
    return Refused(status, kind, reason)


def item_failure(error: Any, status: int) -> Unavailable:
    """Return `failure` for the `error` of an item of `_msearch` or `_bulk`; its root cause says more than itself."""
    if not isinstance(error, dict):
        return failure(status, "", str(error))
    causes = error.get("root_cause") or [error]
    return failure(status, str(causes[0].get("type", "")), str(causes[0].get("reason", "")))
