"""The front of the stand-in, a WSGI application: routes, credentials, rate limits, faults, and a log of calls."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from local.github.answers import Refused, json_response, not_found
from local.github.credentials import AppKey, Credentials
from local.github.endpoints import CommitStatus, Endpoints
from local.github.faults import Fault, Faults
from local.github.proposing import ProposalEndpoints
from local.github.repository import GitRepository
from local.github.writing import GitWriter, PullRequests

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

HOUR_SECONDS = 3600
USUAL_LIMIT = 5000
REPOSITORY = "/repos/<owner>/<name>"
ROUTES = Map(
    [
        Rule(REPOSITORY, endpoint="about", methods=["GET"]),
        Rule(f"{REPOSITORY}/commits/<path:ref>", endpoint="commit", methods=["GET"]),
        Rule(f"{REPOSITORY}/commits/<path:ref>/statuses", endpoint="statuses", methods=["GET"]),
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
        Rule("/app/installations/<int:installation>/access_tokens", endpoint="access_token", methods=["POST"]),
    ],
    merge_slashes=False,
)
PROPOSING = frozenset(
    {"ref", "create_ref", "git_commit", "create_commit", "create_tree", "pulls", "create_pull", "pull"}
)
NEEDS_CREDENTIAL = frozenset({"set_status", "graphql", "create_ref", "create_commit", "create_tree", "create_pull"})
NOT_COUNTED = frozenset({"archive"})
"""The download behind a tarball's redirect is another host's on GitHub: no API call."""


@dataclass(frozen=True, slots=True)
class Call:
    """One answered request, for benchmarks and tests."""

    endpoint: str
    method: str
    path: str
    status: int
    seconds: float


class GitHubApi:
    """Serves `name` (`owner/repository`). `hourly_limit` is enforced only when given.

    A `private` one is not there for who brings no credential. Only a `writable` one takes branches and pull requests:
    one that is this machine's own, never a user's.
    """

    def __init__(
        self,
        repository: GitRepository,
        name: str,
        *,
        tree_limit: int = 100_000,
        hourly_limit: int | None = None,
        tokens: Iterable[str] = (),
        app: AppKey | None = None,
        private: bool = False,
        writable: bool = False,
    ) -> None:
        self.repository, self.name, self._private = repository, name, private
        self.faults = Faults()
        self._credentials = Credentials(tokens, app)
        self._endpoints = Endpoints(repository, name, tree_limit)
        self._proposing = ProposalEndpoints(repository, name, GitWriter(repository.git_dir) if writable else None)
        self._hourly_limit = hourly_limit
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
        return self._endpoints.given

    @property
    def pull_requests(self) -> PullRequests:
        return self._proposing.pull_requests

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
        self._log(endpoint, request, response, time.monotonic() - began)
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
            self._within_limit()
            response = self._dispatch(endpoint, request, arguments)
        except Refused as error:
            return endpoint, error.response()
        if fault:
            return endpoint, _faulty(fault)
        return endpoint, response.make_conditional(request) if request.method == "GET" else response

    def _dispatch(self, endpoint: str, request: Request, arguments: Mapping[str, Any]) -> Response:
        if endpoint == "access_token":
            return json_response(self._credentials.installation_token(request, **arguments), 201)
        given = self._credentials.check(request, required=endpoint in NEEDS_CREDENTIAL)
        if self._private and not given:
            raise not_found()
        named = {key: arguments[key] for key in ("owner", "name") if key in arguments}
        if named and "/".join(named.values()).lower() != self.name.lower():
            raise not_found()
        endpoints = self._proposing if endpoint in PROPOSING else self._endpoints
        handler: Callable[..., Response] = getattr(endpoints, endpoint)
        return handler(request, **{key: value for key, value in arguments.items() if key not in named})

    def _within_limit(self) -> None:
        if self._hourly_limit is not None and self._spent >= self._hourly_limit and time.time() < self._reset:
            raise Refused(403, "API rate limit exceeded for user ID 1.")

    def _log(self, endpoint: str, request: Request, response: Response, seconds: float) -> None:
        """A 304 costs nothing of the hour's quota, as on GitHub."""
        limit = self._hourly_limit or USUAL_LIMIT
        with self._lock:
            if time.time() >= self._reset:
                self._spent, self._reset = 0, int(time.time()) + HOUR_SECONDS
            self._spent += response.status_code != 304 and endpoint not in NOT_COUNTED
            self._requests.append(Call(endpoint, request.method, request.path, response.status_code, seconds))
            remaining, reset = max(0, limit - self._spent), self._reset
        response.headers.setdefault("X-RateLimit-Limit", str(limit))
        response.headers.setdefault("X-RateLimit-Remaining", str(remaining))
        response.headers.setdefault("X-RateLimit-Reset", str(reset))


def _faulty(fault: Fault) -> Response:
    response = Refused(fault.status, fault.message).response()
    response.headers.update(fault.headers)
    return response
