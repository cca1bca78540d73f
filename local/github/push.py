"""The push event as GitHub sends it: body, signature, delivery."""

import hashlib
import hmac
import json
import uuid
from datetime import UTC, datetime
from typing import Any

import httpx

from local.github.repository import GitRepository

ZEROS = "0" * 40
LISTED_FILES = 3000
"""GitHub reports at most so many changed files per commit; the sync must not depend on the list."""

ANSWER_SECONDS = 10
"""GitHub gives a receiver ten seconds."""


def push_event(repository: GitRepository, name: str, branch: str, before: str | None, after: str) -> dict[str, Any]:
    """The body of the push that moved `branch` from `before` (None: it is new) to `after`."""
    owner, _, short = name.partition("/")
    files = repository.changed_paths(before, after)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    person = {"name": "Commonplace", "email": "noreply@localhost", "username": "commonplace"}
    commit = {
        "id": after,
        "tree_id": repository.tree_sha(after),
        "distinct": True,
        "message": "Working copy",
        "timestamp": now,
        "author": person,
        "committer": person,
        **{kind: paths[:LISTED_FILES] for kind, paths in files.items()},
    }
    return {
        "ref": f"refs/heads/{branch}",
        "before": before or ZEROS,
        "after": after,
        "created": before is None,
        "deleted": False,
        "forced": before is not None and not repository.is_ancestor(before, after),
        "base_ref": None,
        "compare": f"https://github.com/{name}/compare/{(before or ZEROS)[:12]}...{after[:12]}",
        "repository": {
            "id": 1,
            "name": short,
            "full_name": name,
            "private": False,
            "html_url": f"https://github.com/{name}",
            "default_branch": branch,
            "owner": {"name": owner, "login": owner},
        },
        "pusher": {"name": "commonplace", "email": "noreply@localhost"},
        "sender": {"login": "commonplace", "id": 1, "type": "User"},
        "commits": [commit],
        "head_commit": commit,
    }


def sign(secret: str, body: bytes) -> str:
    """`X-Hub-Signature-256`: HMAC-SHA256 over the raw body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def delivery_headers(secret: str, body: bytes, *, event: str = "push", delivery: str | None = None) -> dict[str, str]:
    """The headers of one delivery; a redelivery keeps its id."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/commonplace",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
        "X-Hub-Signature-256": sign(secret, body),
    }


def deliver(
    url: str, secret: str, event_body: dict[str, Any], *, event: str = "push", delivery: str | None = None
) -> dict[str, Any]:
    """Posts the event and returns the answer. Raises httpx.HTTPError when it is refused or unanswered."""
    body = json.dumps(event_body).encode()
    headers = delivery_headers(secret, body, event=event, delivery=delivery)
    response = httpx.post(url, content=body, headers=headers, timeout=ANSWER_SECONDS, trust_env=False)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer
