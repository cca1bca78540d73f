"""The sync's own GitHub adapter against the stand-in: both must mean the same API."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.repository.blobs import BlobSha
from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret
from commonplace.repository.ports import (
    BlobNotFound,
    RepositoryRateLimited,
    RepositoryRefused,
    RepositoryUnavailable,
    UntrustedTree,
)
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository
from commonplace_local.github.server import GitHubServer
from tests.integration.repositories import Clone, client_of, document

SECRET = GitHubSecret("webhook", token="token-of-a-test")


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("index.md", document("Home"))
    user.write("docs/⬜️ ugly & odd + (1) #2 .md", document("Ugly"))
    user.write("docs/things...md", b"crlf\r\n")
    user.write("docs/deep/er/x.md", document("X"))
    user.write("attachments/pixel.bin", bytes(range(256)))
    (user.folder / "link.md").symlink_to("index.md")
    user.commit("First", at="2024-01-01T00:00:00Z")
    return user


def served(user: Clone, **options: Any) -> GitHubServer:
    return GitHubServer(GitHubApi(GitRepository(user.git_dir), "reef/garden", **options))


def adapter(server: GitHubServer, secret: GitHubSecret = SECRET, branch: str = "main") -> GitHubRepository:
    client = client_of(server)
    return GitHubRepository(client, "reef/garden", branch, SecretCredentials(lambda: secret))


@pytest.fixture
def server(user: Clone) -> Iterator[GitHubServer]:
    with served(user) as server:
        yield server


def test_head_is_read_once_and_then_only_when_it_moved(server: GitHubServer, user: Clone) -> None:
    repository = adapter(server)
    head = repository.head()
    assert head is not None
    assert head.commit_sha == user.git("rev-parse", "HEAD")
    assert repository.head(head.etag) is None
    moved = user.commit("Second")
    again = repository.head(head.etag)
    assert again is not None
    assert again.commit_sha == moved


@pytest.mark.parametrize("tree_limit", [100_000, 4])
def test_tree_lists_every_regular_file_even_when_github_truncates(user: Clone, tree_limit: int) -> None:
    with served(user, tree_limit=tree_limit) as server:
        files = adapter(server).tree(user.git("rev-parse", "HEAD"))
    assert {file.path: file.size for file in files} == {
        path: (user.folder / path).stat().st_size
        for path in (
            "attachments/pixel.bin",
            "docs/deep/er/x.md",
            "docs/things...md",
            "docs/⬜️ ugly & odd + (1) #2 .md",
            "index.md",
        )
    }


def test_blobs_come_byte_for_byte(server: GitHubServer, user: Clone) -> None:
    repository = adapter(server)
    for file in repository.tree(user.git("rev-parse", "HEAD")):
        assert repository.blob(file.blob_sha) == (user.folder / file.path).read_bytes()


def test_archive_holds_the_tree(server: GitHubServer, user: Clone) -> None:
    into = io.BytesIO()
    adapter(server).archive(user.git("rev-parse", "HEAD"), into)
    into.seek(0)
    with tarfile.open(fileobj=into, mode="r:gz") as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    assert {"index.md", "docs/⬜️ ugly & odd + (1) #2 .md"} <= names


def test_last_changed_asks_for_many_paths_in_few_calls(server: GitHubServer, user: Clone) -> None:
    paths = [f"many/{number}.md" for number in range(250)]
    for path in paths:
        user.write(path, path)
    head = user.commit("Many", at="2024-05-05T00:00:00Z")
    repository = adapter(server)
    dates = repository.last_changed(head, [*paths, "index.md", "nowhere.md"])
    assert dates.pop("index.md") == datetime(2024, 1, 1, tzinfo=UTC)
    assert dates == dict.fromkeys(paths, datetime(2024, 5, 5, tzinfo=UTC))
    assert repository.calls <= 3


def test_commit_status_arrives(server: GitHubServer, user: Clone) -> None:
    head = user.git("rev-parse", "HEAD")
    adapter(server).set_status(head, "success", "4 documents")
    assert [(given.sha, given.state) for given in server.api.statuses] == [(head, "success")]


def test_what_is_absent_is_told_apart(server: GitHubServer) -> None:
    with pytest.raises(BlobNotFound):
        adapter(server).blob(BlobSha(hashlib.sha1(b"nothing").hexdigest()))
    with pytest.raises(UntrustedTree):
        adapter(server).tree("0" * 40)
    with pytest.raises(RepositoryRefused):
        adapter(server, branch="gone").head()


def test_limits_and_outages_are_told_apart(server: GitHubServer) -> None:
    server.api.faults.limit(retry_after_seconds=30)
    with pytest.raises(RepositoryRateLimited):
        adapter(server).head()
    until = int(datetime(2099, 1, 1, tzinfo=UTC).timestamp())
    server.api.faults.exhaust(reset_epoch_seconds=until)
    with pytest.raises(RepositoryRateLimited):
        adapter(server).head()
    server.api.faults.clear()
    server.api.faults.fail(10, status=502)
    with pytest.raises(RepositoryUnavailable):
        adapter(server).head()
