"""The HTTP client of GitHub's API: bounded in size and time, counted, with rate limits and errors of the port.

Sources: GitHub REST API documentation, "Rate limits" and "Best practices": primary limits answer 403 or 429 with
`x-ratelimit-remaining: 0` and `x-ratelimit-reset`; secondary ones 403 or 429, with `retry-after` or with neither.

Neither the credentials nor what GitHub answered ever stands in an exception or a log record.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import httpx

from commonplace.kernel.environment import is_loopback
from commonplace.kernel.retry import retry_after
from commonplace.repository.ports import RepositoryRateLimited, RepositoryRefused, RepositoryUnavailable

SECONDARY_LIMIT_SECONDS = 60
MOST_SECONDS = 2 * 3600  # The longest wait that is believed: windows are an hour

_SECONDARY = re.compile(rb"secondary[ -]rate[ -]limit|abuse detection", re.IGNORECASE)

API_VERSION = "2022-11-28"
JSON_TYPE = "application/vnd.github+json"
MAX_REDIRECTS = 3
MAX_ERROR_BYTES = 64 * 1024
CALL_SECONDS = 60
DOWNLOAD_SECONDS = 540

_REASONS = {
    401: "it does not accept the credentials",
    403: "the credentials may not do this",
    404: "there is nothing of that name, or the credentials may not see it",
    409: "the repository is empty",
    422: "there is no such branch or commit",
}


def limited_until(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> datetime | None:
    """Return until when to wait, or None when the answer is no rate limit. `headers` is case-insensitive."""
    told = _told(headers, now)
    exhausted = headers.get("x-ratelimit-remaining") == "0"
    if status == 429 or (status == 403 and (told or exhausted or _SECONDARY.search(body))):
        return _believable(told or (_reset(headers) if exhausted else None), now)
    return None


def query_limited_until(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return until when to wait when a GraphQL answer of status 200 says RATE_LIMITED."""
    return _believable(_told(headers, now) or _reset(headers), now)


def _told(headers: Mapping[str, str], now: datetime) -> datetime | None:
    seconds = retry_after(headers.get("retry-after"), now)
    return None if seconds is None else now + timedelta(seconds=seconds)


def _reset(headers: Mapping[str, str]) -> datetime | None:
    text = headers.get("x-ratelimit-reset", "").strip()
    return datetime.fromtimestamp(int(text) + 1, UTC) if re.fullmatch(r"[0-9]{1,11}", text) else None


def _believable(until: datetime | None, now: datetime) -> datetime:
    """At least a second, so that a clock that runs ahead does not turn waiting into hammering."""
    wanted = until or now + timedelta(seconds=SECONDARY_LIMIT_SECONDS)
    return min(max(wanted, now + timedelta(seconds=1)), now + timedelta(seconds=MOST_SECONDS))


# httpx logs every address at INFO, and the address of a private archive is a secret.
logging.getLogger("httpx").setLevel(logging.WARNING)
logging.getLogger("httpcore").setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class _Ask:
    method: str
    path: str
    authorization: str | None
    accept: str = JSON_TYPE
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    elsewhere: bool = False  # Whether a redirect may leave GitHub's API
    absent: Exception | None = None


def http_client(api_url: str, *, connections: int = 20, seconds: float = 20) -> httpx.Client:
    """Return the client to reach GitHub with; a stand-in on this machine is reached past any proxy.

    `seconds` is the longest wait for any piece of an answer.
    """
    return httpx.Client(
        timeout=httpx.Timeout(seconds, connect=min(seconds, 5)),
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        follow_redirects=False,
        trust_env=not is_loopback(urlsplit(api_url).hostname),
    )


def web_url(api: httpx.URL) -> str | None:
    """Return where people see what this API serves: github.com, or a GitHub Enterprise. None for a stand-in."""
    return None if is_loopback(api.host) else f"https://{api.netloc.decode().removeprefix('api.')}"


class GitHubClient:
    """Sends requests under one API address. Redirects stay there, but for downloads."""

    def __init__(
        self,
        http: httpx.Client,
        api_url: str,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = http
        self._api = httpx.URL(api_url.rstrip("/") + "/")
        self.web_url = web_url(self._api)
        self.clock = clock
        self._monotonic = monotonic
        self.calls = 0
        self._lock = threading.Lock()

    def get(
        self,
        path: str,
        authorization: str | None,
        *,
        max_bytes: int,
        accept: str = JSON_TYPE,
        etag: str | None = None,
        absent: Exception | None = None,
    ) -> Answer:
        """Return the answer, of status 2xx or, if `etag` is given, 304.

        Raises the port's errors, and `absent` in place of a refusal when GitHub says that there is no such thing.
        """
        condition = {"If-None-Match": etag} if etag else {}
        with self._open(_Ask("GET", path, authorization, accept, condition, absent=absent)) as response:
            return self._read(response, max_bytes)

    def post(
        self, path: str, authorization: str | None, body: object, *, max_bytes: int, absent: Exception | None = None
    ) -> Answer:
        """Post as `get` gets; `absent` is also raised when GitHub says that what is to be made is there already."""
        with self._open(_Ask("POST", path, authorization, body=body, absent=absent)) as response:
            return self._read(response, max_bytes)

    def download(self, path: str, authorization: str | None, into: BinaryIO, *, max_bytes: int) -> None:
        """Streams the body into the file as it is sent. The redirect it begins with may leave GitHub's API."""
        # Identity: the archive is compressed already, and its bytes are counted as they come.
        identity = {"Accept-Encoding": "identity"}
        with self._open(_Ask("GET", path, authorization, headers=identity, elsewhere=True)) as response:
            for piece in self._pieces(response.iter_raw(), max_bytes, DOWNLOAD_SECONDS):
                into.write(piece)

    @contextmanager
    def _open(self, ask: _Ask) -> Iterator[httpx.Response]:
        """Return an answer that may be used, its body not yet read."""
        try:
            response = self._final(ask)
            try:
                self._check(response, ask.absent)
                yield response
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise RepositoryUnavailable(f"GitHub does not answer ({type(error).__name__})") from None

    def _final(self, ask: _Ask) -> httpx.Response:
        """Return the answer at the end of the redirects. Credentials go to the API alone."""
        url = self._api.join(ask.path.lstrip("/"))
        for _ in range(MAX_REDIRECTS + 1):
            with self._lock:
                self.calls += 1
            sent = {
                "User-Agent": "commonplace",
                "X-GitHub-Api-Version": API_VERSION,
                "Accept": ask.accept,
                **ask.headers,
            }
            if ask.authorization and self._is_api(url):
                sent["Authorization"] = ask.authorization
            content: dict[str, Any] = {} if ask.body is None else {"json": ask.body}
            request = self._http.build_request(ask.method, url, headers=sent, **content)
            response = self._http.send(request, stream=True, follow_redirects=False)
            location = response.headers.get("location")
            if response.status_code not in (301, 302, 303, 307, 308) or location is None:
                return response
            response.close()
            url = url.join(location)
            trusted = url.scheme == "https" or (url.scheme == "http" and is_loopback(url.host))
            if ask.method != "GET" or not trusted or not (ask.elsewhere or self._is_api(url)):
                raise RepositoryRefused("GitHub sends the request elsewhere: was the repository renamed?")
        raise RepositoryRefused("GitHub redirects without end")

    def _is_api(self, url: httpx.URL) -> bool:
        return (url.scheme, url.host, url.port) == (self._api.scheme, self._api.host, self._api.port)

    def _check(self, response: httpx.Response, absent: Exception | None) -> None:
        status = response.status_code
        if response.is_success or status == 304:
            return
        if status >= 500 or status == 408:
            raise RepositoryUnavailable(f"GitHub answers {status}")
        try:
            body = self._read(response, MAX_ERROR_BYTES).body
        except RepositoryRefused:
            body = b""
        if until := limited_until(status, response.headers, body, self.clock()):
            raise RepositoryRateLimited(until)
        if absent is not None and status in (404, 409, 422):
            raise absent
        raise RepositoryRefused(f"GitHub answers {status}: {_REASONS.get(status, 'without a reason')}")

    def _read(self, response: httpx.Response, max_bytes: int) -> Answer:
        body = b"".join(self._pieces(response.iter_bytes(), max_bytes, CALL_SECONDS))
        return Answer(response.status_code, response.headers, body)

    def _pieces(self, pieces: Iterator[bytes], max_bytes: int, max_seconds: float) -> Iterator[bytes]:
        """Yield the pieces, until they are too many or take too long: httpx bounds the wait for each, not for all."""
        received, started = 0, self._monotonic()
        for piece in pieces:
            received += len(piece)
            if received > max_bytes:
                raise RepositoryRefused(f"GitHub's answer is larger than {max_bytes} bytes")
            if self._monotonic() - started > max_seconds:
                raise RepositoryUnavailable(f"GitHub's answer takes longer than {max_seconds} seconds")
            yield piece
