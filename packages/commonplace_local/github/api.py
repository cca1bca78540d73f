"""The front of the stand-in, a WSGI application: routes, credentials, rate limits, faults and a log of calls."""

import hmac
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from commonplace_local.github.endpoints import CommitStatus, Refused, not_found
from commonplace_local.github.git import GitRepository
from commonplace_local.github.proposals import GitWriter, ProposalEndpoints, PullRequests

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


HOUR_SECONDS = 3600
HOURLY_LIMIT = 5000
"""Announced as GitHub announces it, and not enforced."""
REPOSITORY = "/repos/<owner>/<name>"
ROUTES = Map(
    [
        Rule(f"{REPOSITORY}/commits/<path:ref>", endpoint="commit", methods=["GET"]),
        Rule(f"{REPOSITORY}/git/trees/<path:ref>", endpoint="tree", methods=["GET"]),
        Rule(f"{REPOSITORY}/git/blobs/<sha>", endpoint="blob", methods=["GET"]),
        Rule(f"{REPOSITORY}/tarball/<path:ref>", endpoint="tarball", methods=["GET"]),
        Rule("/codeload/<owner>/<name>/legacy.tar.gz/<sha>", endpoint="archive", methods=["GET"]),
        Rule(f"{REPOSITORY}/statuses/<sha>", endpoint="set_status", methods=["POST"]),
        Rule(f"{REPOSITORY}/git/ref/heads/<path:branch>", endpoint="ref", methods=["GET"]),
        Rule(f"{REPOSITORY}/git/refs", endpoint="create_ref", methods=["POST"]),
        Rule(f"{REPOSITORY}/git/commits/<sha>", endpoint="git_commit", methods=["GET"]),
        Rule(f"{REPOSITORY}/git/commits", endpoint="create_commit", methods=["POST"]),
        Rule(f"{REPOSITORY}/git/trees", endpoint="create_tree", methods=["POST"]),
        Rule(f"{REPOSITORY}/pulls", endpoint="pulls", methods=["GET"]),
        Rule(f"{REPOSITORY}/pulls", endpoint="create_pull", methods=["POST"]),
        Rule(f"{REPOSITORY}/pulls/<int:number>", endpoint="pull", methods=["GET"]),
        Rule("/graphql", endpoint="graphql", methods=["POST"]),
    ],
    merge_slashes=False,
)
NEEDS_CREDENTIAL = frozenset({"set_status", "graphql", "create_ref", "create_commit", "create_tree", "create_pull"})
NOT_COUNTED = frozenset({"archive"})
"""The download behind a tarball's redirect is another host's on GitHub: no API call."""


@dataclass(slots=True)
class Fault:
    """An answer in place of the usual one: how often, and to which requests."""

    status: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    matching: str = ""
    """A part of the path; empty matches every request."""
    method: str = ""
    """Empty matches every one."""
    afterwards: bool = False
    """The request is carried out, and its answer is lost on the way."""

    def meets(self, method: str, path: str) -> bool:
        return self.matching in path and self.method in ("", method)


class Faults:
    """Faults waiting to happen, oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []

    def fail(self, times: int = 1, *, status: int = 502, matching: str = "", method: str = "") -> None:
        """The next `times` matching requests are answered with `status`."""
        self._add(Fault(status, "Server Error", times=times, matching=matching, method=method))

    def lose(self, times: int = 1, *, matching: str = "", method: str = "") -> None:
        """The next `times` matching requests are carried out, and answered with 502 all the same."""
        self._add(Fault(502, "Server Error", times=times, matching=matching, method=method, afterwards=True))

    def limit(self, times: int = 1, *, retry_after_seconds: int = 1, status: int = 403, matching: str = "") -> None:
        """A secondary rate limit: 403 (or 429) with `Retry-After`, quota left."""
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        headers = {"Retry-After": str(retry_after_seconds)}
        self._add(Fault(status, message, headers, times, matching))

    def exhaust(self, times: int = 1, *, reset_epoch_seconds: int, matching: str = "") -> None:
        """The primary rate limit: 403 with nothing remaining until the reset."""
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset_epoch_seconds)}
        self._add(Fault(403, "API rate limit exceeded for user ID 1.", headers, times, matching))

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault that this request meets, used up by one."""
        with self._lock:
            fault = next((fault for fault in self._waiting if fault.meets(method, path)), None)
            if fault is None:
                return None
            fault.times -= 1
            if fault.times <= 0:
                self._waiting.remove(fault)
            return fault

    def _add(self, fault: Fault) -> None:
        with self._lock:
            self._waiting.append(fault)


@dataclass(frozen=True, slots=True)
class Call:
    """One answered request, for benchmarks and tests."""

    endpoint: str
    method: str
    path: str
    status: int
    seconds: float


class GitHubApi:
    """Serves `name` (`owner/repository`). Without `tokens` any credential is good, as for a public repository.

    A `private` one is not there for who brings no credential. Only a `writable` one takes branches and pull requests:
    one that is this machine's own, never a user's.
    """

    def __init__(
        self,
        repository: GitRepository,
        name: str,
        *,
        tree_limit: int = 100_000,
        tokens: Iterable[str] = (),
        private: bool = False,
        writable: bool = False,
    ) -> None:
        self.repository, self.name, self._private = repository, name, private
        self.faults = Faults()
        self._tokens = frozenset(tokens)
        writer = GitWriter(repository.git_dir) if writable else None
        self.proposals = ProposalEndpoints(repository, name, tree_limit, writer)
        self._lock = threading.Lock()
        self._requests: list[Call] = []
        self._spent, self._reset = 0, int(time.time()) + HOUR_SECONDS

    @property
    def requests(self) -> tuple[Call, ...]:
        """Every call to the API so far, in the order of the answers."""
        with self._lock:
            return tuple(call for call in self._requests if call.endpoint not in NOT_COUNTED)

    @property
    def statuses(self) -> tuple[CommitStatus, ...]:
        """Commit statuses, newest last."""
        return self.proposals.given

    @property
    def pull_requests(self) -> PullRequests:
        return self.proposals.pull_requests

    def close(self) -> None:
        """Ends the `git` processes."""
        self.repository.close()

    def forget_requests(self) -> None:
        with self._lock:
            self._requests.clear()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        began = time.monotonic()
        request = Request(environ)
        endpoint, response = self._answer(request)
        # A 304 costs nothing of the hour's quota, as on GitHub.
        with self._lock:
            if time.time() >= self._reset:
                self._spent, self._reset = 0, int(time.time()) + HOUR_SECONDS
            self._spent += response.status_code != 304 and endpoint not in NOT_COUNTED
            self._requests.append(
                Call(endpoint, request.method, request.path, response.status_code, time.monotonic() - began)
            )
            remaining, reset = max(0, HOURLY_LIMIT - self._spent), self._reset
        response.headers.setdefault("X-RateLimit-Limit", str(HOURLY_LIMIT))
        response.headers.setdefault("X-RateLimit-Remaining", str(remaining))
        response.headers.setdefault("X-RateLimit-Reset", str(reset))
        return response(environ, start_response)

    def _answer(self, request: Request) -> tuple[str, Response]:
        try:
            endpoint, arguments = ROUTES.bind_to_environ(request.environ).match()
        except HTTPException:
            return "unknown", not_found().response()
        fault = self.faults.take(request.method, request.path)
        if fault and not fault.afterwards:
            return endpoint, _faulty(fault)
        try:
            given = self._credential(request, required=endpoint in NEEDS_CREDENTIAL)
            named = {key: arguments[key] for key in ("owner", "name") if key in arguments}
            absent = named and "/".join(named.values()).lower() != self.name.lower()
            if absent or (self._private and given is None):
                raise not_found()
            handler: Callable[..., Response] = getattr(self.proposals, endpoint)
            response = handler(request, **{key: arguments[key] for key in arguments.keys() - named.keys()})
        except Refused as error:
            return endpoint, error.response()
        if fault:
            return endpoint, _faulty(fault)
        return endpoint, response.make_conditional(request) if request.method == "GET" else response

    def _credential(self, request: Request, *, required: bool) -> str | None:
        """Return what the request brings. Raises Refused 401 for a wrong one, and for none where one is required."""
        scheme, _, value = request.headers.get("Authorization", "").partition(" ")
        given = value.strip() if scheme.lower() in {"bearer", "token"} else ""
        if not given:
            if required:
                raise Refused(401, "Requires authentication")
            return None
        known = any(hmac.compare_digest(given.encode(), token.encode()) for token in self._tokens)
        if self._tokens and not known:
            raise Refused(401, "Bad credentials")
        return given


def _faulty(fault: Fault) -> Response:
    response = Refused(fault.status, fault.message).response()
    response.headers.update(fault.headers)
    return response
