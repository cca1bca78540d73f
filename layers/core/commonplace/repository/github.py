"""A branch on GitHub: `repository.ports.Repository` over the REST and GraphQL APIs."""

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

from commonplace.repository.blobs import BlobSha
from commonplace.repository.github_client import Answer, GitHubClient, query_limited_until
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.ports import (
    BlobNotFound,
    Head,
    RepositoryRateLimited,
    RepositoryRefused,
    RepositoryUnavailable,
    TreeFile,
    UntrustedTree,
)
from commonplace.repository.sources import STATUS_CONTEXT

logger = logging.getLogger(__name__)

SHA_TYPE = "application/vnd.github.sha"
RAW_TYPE = "application/vnd.github.raw+json"
WORKING_COPY = "x-commonplace-working-copy"
"""A header of the laptop's stand-in, where a commit is none of the user's."""
STATUS_CHARACTERS = 140  # GitHub's bound on a commit status

MAX_TREE_BYTES = 32 * 1024 * 1024
MAX_BLOB_BYTES = 50 * 1024 * 1024
MAX_ARCHIVE_BYTES = 1536 * 1024 * 1024
MAX_SUBTREES = 500  # How many calls a truncated tree is worth before it counts as truncated beyond repair
PATHS_PER_QUERY = 100
FEWEST_PATHS = 25  # A query that GitHub does not manage in its ten seconds is halved down to this

_SHA = re.compile(r"[0-9a-f]{40}")
_REGULAR = ("100644", "100755")


class GitHubRepository:
    """`name` is `owner/name`. One instance may be used by several threads."""

    def __init__(
        self,
        client: GitHubClient,
        name: str,
        branch: str,
        credentials: SecretCredentials,
        *,
        context: str = STATUS_CONTEXT,
    ) -> None:
        """`context` distinguishes the commit statuses of one source from those of another."""
        self._client = client
        self._context = context
        self.name = name
        self.branch = branch
        self.web_url = f"{client.web_url}/{name}" if client.web_url else None
        self._credentials = credentials
        self._base = "/repos/" + "/".join(quote(part, safe="") for part in name.split("/"))

    @property
    def calls(self) -> int:
        return self._client.calls

    def head(self, etag: str | None = None) -> Head | None:
        path = f"{self._base}/commits/{quote(self.branch, safe='')}"
        answer = self._get(path, accept=SHA_TYPE, etag=etag, max_bytes=4096)
        if answer.status == 304:
            return None
        commit_sha = answer.body.decode("ascii", "replace").strip()
        if not _SHA.fullmatch(commit_sha):
            raise RepositoryUnavailable("GitHub's answer is not a commit id")
        return Head(commit_sha, answer.headers.get("etag"), working_copy=WORKING_COPY in answer.headers)

    def tree(self, commit_sha: str) -> list[TreeFile]:
        files = sorted(self._walk(commit_sha), key=lambda file: file.path)
        if not files:
            raise UntrustedTree("the tree contains no files")
        return files

    def blob(self, blob_sha: BlobSha) -> bytes:
        path = f"{self._base}/git/blobs/{blob_sha}"
        raw = self._get(path, accept=RAW_TYPE, max_bytes=MAX_BLOB_BYTES, absent=BlobNotFound(blob_sha)).body
        told = hashlib.sha1(b"blob %d\0" % len(raw), usedforsecurity=False)
        told.update(raw)
        if told.hexdigest() != blob_sha:
            raise RepositoryUnavailable("GitHub's answer is a different blob")
        return raw

    def archive(self, commit_sha: str, into: BinaryIO) -> None:
        path = f"{self._base}/tarball/{commit_sha}"
        self._client.download(path, self._authorization(), into, max_bytes=MAX_ARCHIVE_BYTES)

    def last_changed(self, commit_sha: str, paths: Sequence[str]) -> dict[str, datetime]:
        """Without credentials GitHub answers no GraphQL, and nothing is known."""
        if not paths or self._authorization() is None:
            return {}
        dates: dict[str, datetime] = {}
        for start in range(0, len(paths), PATHS_PER_QUERY):
            dates |= self._dates(commit_sha, paths[start : start + PATHS_PER_QUERY])
        return dates

    def set_status(self, commit_sha: str, state: Literal["success", "failure", "pending"], description: str) -> None:
        body = {"state": state, "context": self._context, "description": description[:STATUS_CHARACTERS]}
        self._client.post(f"{self._base}/statuses/{commit_sha}", self._authorization(), body, max_bytes=1024 * 1024)

    def _authorization(self) -> str | None:
        return self._credentials.authorization(self._client)

    def _get(self, path: str, **how: Any) -> Answer:
        return self._client.get(path, self._authorization(), **how)

    def _walk(self, commit_sha: str) -> Iterator[TreeFile]:
        """Yield the whole tree in one call, or, where GitHub truncates, folder by folder."""
        waiting = [(commit_sha, "")]
        for _ in range(MAX_SUBTREES):
            if not waiting:
                return
            sha, prefix = waiting.pop()
            entries, truncated = self._tree(sha, recursive=True)
            if truncated:
                entries, truncated = self._tree(sha, recursive=False)
                waiting += [(entry["sha"], f"{prefix}{entry['path']}/") for entry in entries if entry["type"] == "tree"]
            if truncated:
                raise UntrustedTree("GitHub truncates a single folder")
            for entry in filter(_is_regular, entries):
                path = (prefix + entry["path"]).encode("utf-8", "replace").decode()
                yield TreeFile(path, BlobSha(entry["sha"]), entry["size"])
        raise UntrustedTree("the tree is too large to be read folder by folder")

    def _tree(self, sha: str, *, recursive: bool) -> tuple[list[dict[str, Any]], bool]:
        path = f"{self._base}/git/trees/{sha}" + ("?recursive=1" if recursive else "")
        absent = UntrustedTree("GitHub has no such tree")
        answer = _json(self._get(path, max_bytes=MAX_TREE_BYTES, absent=absent))
        entries, truncated = answer.get("tree"), answer.get("truncated")
        if isinstance(entries, list) and all(map(_is_entry, entries)) and isinstance(truncated, bool):
            return entries, truncated
        raise UntrustedTree("GitHub's answer is not a tree")

    def _dates(self, commit_sha: str, paths: Sequence[str]) -> dict[str, datetime]:
        try:
            owner, _, name = self.name.partition("/")
            variables = {f"p{index}": path for index, path in enumerate(paths)}
            body = {
                "query": last_changed_query(len(paths)),
                "variables": {"owner": owner, "name": name, "oid": commit_sha} | variables,
            }
            answer = self._client.post("/graphql", self._authorization(), body, max_bytes=4 * 1024 * 1024)
            told = _json(answer)
            errors = told.get("errors") or []
            if any(map(_is_limit, errors)):
                raise RepositoryRateLimited(query_limited_until(answer.headers, self._client.clock()))
            if errors and told.get("data") is None and len(paths) > FEWEST_PATHS:
                raise RepositoryUnavailable("GitHub did not manage the query")
            if errors:
                logger.warning("GitHub could not tell every time of last change", extra={"errors": len(errors)})
            dates = ((path, _committed(told, f"a{index}")) for index, path in enumerate(paths))
            return {path: date for path, date in dates if date is not None}
        except RepositoryUnavailable:
            if len(paths) <= FEWEST_PATHS:
                raise
        except RepositoryRefused as refusal:
            logger.warning("times of last change are not to be had", extra={"reason": str(refusal)})
            return {}
        half = len(paths) // 2
        return self._dates(commit_sha, paths[:half]) | self._dates(commit_sha, paths[half:])


def last_changed_query(count: int) -> str:
    """Asks for the last commit of `count` paths at once: variables `p0`..., answers `a0`..."""
    declared = "".join(f",$p{index}:String!" for index in range(count))
    asked = "".join(f" a{index}:history(first:1,path:$p{index}){{nodes{{committedDate}}}}" for index in range(count))
    return (
        f"query($owner:String!,$name:String!,$oid:GitObjectID!{declared})"
        f"{{repository(owner:$owner,name:$name){{object(oid:$oid){{... on Commit{{{asked}}}}}}}}}"
    )


def _json(answer: Answer) -> dict[str, Any]:
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RepositoryUnavailable("GitHub's answer is malformed")
    return value


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("path", "mode", "type", "sha"))
        and _SHA.fullmatch(entry["sha"]) is not None
        and (not _is_regular(entry) or isinstance(entry.get("size"), int))
    )


def _is_regular(entry: dict[str, Any]) -> bool:
    return entry["type"] == "blob" and entry["mode"] in _REGULAR


def _is_limit(error: object) -> bool:
    if not isinstance(error, dict):
        return False
    return error.get("type") == "RATE_LIMITED" or "secondary rate limit" in str(error.get("message")).lower()


def _committed(told: dict[str, Any], alias: str) -> datetime | None:
    try:
        text = told["data"]["repository"]["object"][alias]["nodes"][0]["committedDate"]
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        return None
