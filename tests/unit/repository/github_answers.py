"""GitHub behind an httpx transport: answers in the shapes that its documentation records, without a network."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_client import GitHubClient
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret

API = "https://api.github.com"
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
COMMIT = "c0" * 20
TOKEN = "ghp_a_token_that_stays_private"

Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class GitHub:
    """Answers by method and path (with its query); every request is kept."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.requests: list[httpx.Request] = []
        self.now = NOW
        self.seconds = 0.0

    def on(self, target: str, *answers: Answer) -> None:
        """`target` is like `GET /repos/octo/notes`. The last answer is given again and again."""
        self.answers[target] = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        where = request.url.raw_path.decode()
        if request.url.host != "api.github.com":
            where = f"{request.url.scheme}://{request.url.host}{where}"
        answers = self.answers.get(f"{request.method} {where}")
        if not answers:
            return refuse(404, "Not Found")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    def client(self) -> GitHubClient:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return GitHubClient(http, API, clock=lambda: self.now, monotonic=lambda: self.seconds)

    def repository(self, *, token: str | None = TOKEN, branch: str = "main") -> GitHubRepository:
        credentials = SecretCredentials(lambda: GitHubSecret("s", token=token))
        return GitHubRepository(self.client(), "octo/notes", branch, credentials)


def answer(body: Any, status: int = 200, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json=body, headers=named)


def refuse(status: int, message: str, **headers: str) -> httpx.Response:
    return answer({"message": message, "documentation_url": "https://docs.github.com/rest"}, status, **headers)


def blob_sha(raw: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


def entry(
    path: str, *, mode: str = "100644", kind: str = "blob", sha: str | None = None, size: int = 3
) -> dict[str, Any]:
    found = {"path": path, "mode": mode, "type": kind, "sha": sha or blob_sha(path.encode()), "url": f"{API}/..."}
    return found | ({"size": size} if kind == "blob" else {})


def tree(*entries: dict[str, Any], truncated: bool = False) -> httpx.Response:
    return answer({"sha": "7e" * 20, "url": f"{API}/...", "tree": list(entries), "truncated": truncated})


def body_of(request: httpx.Request) -> Any:
    return json.loads(request.content)
