"""The front of the stand-in, a WSGI application: routes, credentials, rate limits, faults and a log of calls."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from local.github.endpoints import CommitStatus, Refused, json_response, not_found
from local.github.git import GitRepository
from local.github.proposals import GitWriter, ProposalEndpoints, PullRequests

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


LONGEST_CLAIM_SECONDS = 600
CLOCK_DRIFT_SECONDS = 60

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
NEEDS_CREDENTIAL = frozenset({"set_status", "graphql", "create_ref", "create_commit", "create_tree", "create_pull"})
NOT_COUNTED = frozenset({"archive"})
"""The download behind a tarball's redirect is another host's on GitHub: no API call."""


@dataclass(frozen=True, slots=True)
class AppKey:
    """A GitHub App, one installation of it, and the public half of its key (PEM)."""

    app_id: str
    installation_id: int
    public_key: str


class Credentials:
    """The tokens that are accepted: any, where there are neither tokens nor an App, as for a public repository."""

    def __init__(self, tokens: Iterable[str] = (), app: AppKey | None = None) -> None:
        self._tokens = set(tokens)
        self._app = app

    def check(self, request: Request, *, required: bool) -> bool:
        """Return True when there is a credential. Raises Refused 401 for a wrong or a missing one."""
        given = _bearer(request)
        if given is None:
            if required:
                raise Refused(401, "Requires authentication")
            return False
        known = any(hmac.compare_digest(given.encode(), token.encode()) for token in self._tokens)
        if (self._tokens or self._app) and not known:
            raise Refused(401, "Bad credentials")
        return True

    def installation_token(self, request: Request, installation: int) -> dict[str, Any]:
        """A new token for the installation (GitHub docs, "Generating an installation access token")."""
        app = self._app
        if app is None or installation != app.installation_id:
            raise Refused(404, "Not Found")
        try:  # a claim of RS256, issued by the App, alive, for at most ten minutes
            key = RSAKey.import_key(app.public_key)
            claims = jwt.decode(_bearer(request) or "", key, algorithms=["RS256"]).claims
            issued, ends, now = int(claims["iat"]), int(claims["exp"]), time.time()
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise Refused(401, "A JSON web token could not be decoded") from error
        if str(claims.get("iss")) != app.app_id:
            raise Refused(401, "'Issuer' claim ('iss') must be the App's id")
        latest = now + LONGEST_CLAIM_SECONDS + CLOCK_DRIFT_SECONDS
        if issued > now + CLOCK_DRIFT_SECONDS or not now < ends <= latest:
            raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
        token = f"ghs_{secrets.token_hex(18)}"
        self._tokens.add(token)
        expires = datetime.now(UTC) + timedelta(hours=1)
        return {"token": token, "expires_at": f"{expires:%Y-%m-%dT%H:%M:%SZ}", "repository_selection": "selected"}


def _bearer(request: Request) -> str | None:
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if scheme.lower() in {"bearer", "token"} and value.strip() else None


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
        writer = GitWriter(repository.git_dir) if writable else None
        self.proposals = ProposalEndpoints(repository, name, tree_limit, writer)
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
        limit = self._hourly_limit or USUAL_LIMIT
        with self._lock:
            if time.time() >= self._reset:
                self._spent, self._reset = 0, int(time.time()) + HOUR_SECONDS
            self._spent += response.status_code != 304 and endpoint not in NOT_COUNTED
            self._requests.append(
                Call(endpoint, request.method, request.path, response.status_code, time.monotonic() - began)
            )
            remaining, reset = max(0, limit - self._spent), self._reset
        response.headers.setdefault("X-RateLimit-Limit", str(limit))
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
            if self._hourly_limit is not None and self._spent >= self._hourly_limit and time.time() < self._reset:
                raise Refused(403, "API rate limit exceeded for user ID 1.")
            if endpoint == "access_token":
                response = json_response(self._credentials.installation_token(request, **arguments), 201)
            else:
                given = self._credentials.check(request, required=endpoint in NEEDS_CREDENTIAL)
                named = {key: arguments[key] for key in ("owner", "name") if key in arguments}
                absent = named and "/".join(named.values()).lower() != self.name.lower()
                if absent or (self._private and not given):
                    raise not_found()
                handler: Callable[..., Response] = getattr(self.proposals, endpoint)
                response = handler(request, **{key: arguments[key] for key in arguments.keys() - named.keys()})
        except Refused as error:
            return endpoint, error.response()
        if fault:
            return endpoint, _faulty(fault)
        return endpoint, response.make_conditional(request) if request.method == "GET" else response


def _faulty(fault: Fault) -> Response:
    response = Refused(fault.status, fault.message).response()
    response.headers.update(fault.headers)
    return response
