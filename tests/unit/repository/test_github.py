import io
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from commonplace.repository import github as module
from commonplace.repository.blobs import BlobSha
from commonplace.repository.github import PATHS_PER_QUERY, GitHubRepository
from commonplace.repository.github_client import DOWNLOAD_SECONDS, GitHubClient
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret
from commonplace.repository.ports import (
    BlobNotFound,
    Head,
    RepositoryRateLimited,
    RepositoryRefused,
    RepositoryUnavailable,
    TreeFile,
    UntrustedTree,
)
from tests.unit.repository.github_answers import (
    COMMIT,
    NOW,
    TOKEN,
    GitHub,
    answer,
    blob_sha,
    body_of,
    entry,
    refuse,
    tree,
)

HEAD = "GET /repos/octo/notes/commits/main"
TREE = f"GET /repos/octo/notes/git/trees/{COMMIT}"
TARBALL = f"GET /repos/octo/notes/tarball/{COMMIT}"
GRAPHQL = "POST /graphql"
STATUS = f"POST /repos/octo/notes/statuses/{COMMIT}"


@pytest.fixture
def github() -> GitHub:
    return GitHub()


@pytest.mark.parametrize(
    ("api", "shown"),
    [
        ("https://api.github.com", "https://github.com/octo/notes"),
        ("https://api.octo.ghe.com/", "https://octo.ghe.com/octo/notes"),
        ("https://github.example.org:8443/api/v3", "https://github.example.org:8443/octo/notes"),
        ("http://127.0.0.1:43210", None),
        ("http://localhost:43210/api/v3", None),
    ],
)
def test_people_see_a_repository_on_the_site_of_its_api_and_none_of_a_stand_in(api: str, shown: str | None) -> None:
    with httpx.Client() as http:
        credentials = SecretCredentials(lambda: GitHubSecret("webhook"))
        assert GitHubRepository(GitHubClient(http, api), "octo/notes", "main", credentials).web_url == shown


def blob_at(sha: str) -> str:
    return f"GET /repos/octo/notes/git/blobs/{sha}"


def test_the_head_is_a_commit_with_the_etag_to_ask_with_next_time(github: GitHub) -> None:
    github.on(HEAD, httpx.Response(200, text=COMMIT, headers={"ETag": 'W/"abc"'}))
    assert github.repository().head() == Head(COMMIT, 'W/"abc"')
    assert github.requests[0].headers["accept"] == "application/vnd.github.sha"
    assert "if-none-match" not in github.requests[0].headers


def test_a_head_that_has_not_moved_is_none(github: GitHub) -> None:
    github.on(HEAD, httpx.Response(304))
    assert github.repository().head('W/"abc"') is None
    assert github.requests[0].headers["if-none-match"] == 'W/"abc"'


def test_the_name_of_a_branch_is_one_segment_of_the_address(github: GitHub) -> None:
    github.on("GET /repos/octo/notes/commits/feature%2Fn%C3%A4her%20%23%3F", httpx.Response(200, text=COMMIT))
    assert github.repository(branch="feature/näher #?").head() == Head(COMMIT, None)


def test_every_request_says_who_asks_and_which_version_is_meant(github: GitHub) -> None:
    github.on(HEAD, httpx.Response(200, text=COMMIT))
    github.repository().head()
    headers = github.requests[0].headers
    assert headers["user-agent"] == "commonplace"
    assert headers["x-github-api-version"] == "2022-11-28"
    assert headers["authorization"] == f"Bearer {TOKEN}"


def test_without_a_token_nothing_is_authorised(github: GitHub) -> None:
    github.on(HEAD, httpx.Response(200, text=COMMIT))
    github.repository(token=None).head()
    assert "authorization" not in github.requests[0].headers


def test_the_tree_is_every_regular_file_in_the_order_of_paths(github: GitHub) -> None:
    github.on(
        f"{TREE}?recursive=1",
        tree(
            entry("b.md"),
            entry("a", mode="040000", kind="tree", sha="a" * 40),
            entry("a/run.sh", mode="100755", size=9),
            entry("a/link", mode="120000"),
            entry("module", mode="160000", kind="commit", sha="b" * 40),
            entry("a/ü .md"),
        ),
    )

    repository = github.repository()
    assert repository.tree(COMMIT) == [
        TreeFile("a/run.sh", BlobSha(blob_sha(b"a/run.sh")), 9),
        TreeFile("a/ü .md", BlobSha(blob_sha("a/ü .md".encode())), 3),
        TreeFile("b.md", BlobSha(blob_sha(b"b.md")), 3),
    ]
    assert repository.calls == 1


def test_a_name_that_is_not_valid_unicode_ends_no_run(github: GitHub) -> None:
    listed = tree(entry("a.md"))
    text = listed.text.replace('"a.md"', '"a\\udce9.md"')
    github.on(f"{TREE}?recursive=1", httpx.Response(200, text=text))
    (file,) = github.repository().tree(COMMIT)
    assert file.path == "a?.md"


def test_a_truncated_tree_is_walked_folder_by_folder(github: GitHub) -> None:
    one, two, deep = "1" * 40, "2" * 40, "3" * 40
    folder: dict[str, Any] = {"mode": "040000", "kind": "tree"}
    at = "GET /repos/octo/notes/git/trees/"
    github.on(f"{TREE}?recursive=1", tree(entry("one/a.md"), truncated=True))
    github.on(TREE, tree(entry("one", sha=one, **folder), entry("two", sha=two, **folder), entry("top.md")))
    github.on(f"{at}{one}?recursive=1", tree(entry("a.md"), entry("x/b.md")))
    github.on(f"{at}{two}?recursive=1", tree(truncated=True))
    github.on(f"{at}{two}", tree(entry("deep", sha=deep, **folder), entry("c.md")))
    github.on(f"{at}{deep}?recursive=1", tree(entry("d.md")))
    repository = github.repository()
    paths = [file.path for file in repository.tree(COMMIT)]
    assert paths == ["one/a.md", "one/x/b.md", "top.md", "two/c.md", "two/deep/d.md"]
    assert repository.calls == 6


def test_a_folder_that_is_truncated_itself_is_beyond_repair(github: GitHub) -> None:
    github.on(f"{TREE}?recursive=1", tree(entry("a.md"), truncated=True))
    github.on(TREE, tree(entry("a.md"), truncated=True))
    with pytest.raises(UntrustedTree):
        github.repository().tree(COMMIT)


def test_a_tree_of_too_many_folders_is_beyond_repair(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SUBTREES", 3)
    folders = [entry(f"f{number}", mode="040000", kind="tree", sha=f"{number}" * 40) for number in range(1, 6)]
    github.on(f"{TREE}?recursive=1", tree(truncated=True))
    github.on(TREE, tree(*folders))
    for number in range(1, 6):
        github.on(f"GET /repos/octo/notes/git/trees/{str(number) * 40}?recursive=1", tree(entry("a.md")))
    with pytest.raises(UntrustedTree):
        github.repository().tree(COMMIT)


@pytest.mark.parametrize(
    "told",
    [
        tree(),
        tree(entry("module", mode="160000", kind="commit")),
        answer({"sha": COMMIT, "truncated": False}),
        answer({"tree": [], "truncated": "no"}),
        answer({"tree": [{"path": "a.md"}], "truncated": False}),
        tree(entry("a.md", sha="not a sha")),
        tree({**entry("a.md"), "size": None}),
        refuse(404, "Not Found"),
        refuse(409, "Git Repository is empty."),
    ],
)
def test_a_tree_that_is_empty_missing_or_malformed_is_never_acted_on(github: GitHub, told: httpx.Response) -> None:
    github.on(f"{TREE}?recursive=1", told)
    with pytest.raises(UntrustedTree):
        github.repository().tree(COMMIT)


@pytest.mark.parametrize("raw", [b"", b"# Title\r\n", bytes(range(256)) * 9])
def test_a_blob_is_its_bytes(github: GitHub, raw: bytes) -> None:
    github.on(blob_at(blob_sha(raw)), httpx.Response(200, content=raw))
    assert github.repository().blob(BlobSha(blob_sha(raw))) == raw
    assert github.requests[0].headers["accept"] == "application/vnd.github.raw+json"


@pytest.mark.parametrize("host", ["https://codeload.github.com", "http://127.0.0.1", "http://localhost"])
def test_the_archive_is_streamed_from_where_github_sends_us_without_our_credentials(github: GitHub, host: str) -> None:
    github.on(TARBALL, httpx.Response(302, headers={"location": f"{host}/octo/legacy.tar.gz/x?token=once"}))
    github.on(f"GET {host}/octo/legacy.tar.gz/x?token=once", httpx.Response(200, content=iter([b"one", b"two"])))
    into = io.BytesIO()
    repository = github.repository()
    repository.archive(COMMIT, into)
    assert into.getvalue() == b"onetwo"
    assert repository.calls == 2
    assert [request.headers.get("authorization") for request in github.requests] == [f"Bearer {TOKEN}", None]


@pytest.mark.parametrize(
    "location", ["http://example.org/x", "ftp://example.org/x", "file:///etc/passwd", "http://127.0.0.1.example.org/"]
)
def test_the_archive_is_never_fetched_in_clear(github: GitHub, location: str) -> None:
    github.on(TARBALL, httpx.Response(302, headers={"location": location}))
    with pytest.raises(RepositoryRefused):
        github.repository().archive(COMMIT, io.BytesIO())
    assert len(github.requests) == 1


def test_an_archive_above_the_bound_is_refused(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ARCHIVE_BYTES", 4)
    github.on(TARBALL, httpx.Response(200, content=iter([b"one", b"two"])))
    with pytest.raises(RepositoryRefused, match="larger than 4 bytes"):
        github.repository().archive(COMMIT, io.BytesIO())


def test_an_archive_that_trickles_is_given_up(github: GitHub) -> None:
    def trickle() -> Iterator[bytes]:
        yield b"one"
        github.seconds += DOWNLOAD_SECONDS + 1
        yield b"two"

    github.on(TARBALL, httpx.Response(200, content=trickle()))

    with pytest.raises(RepositoryUnavailable, match="takes longer"):
        github.repository().archive(COMMIT, io.BytesIO())


def test_an_archive_that_breaks_off_is_asked_for_again(github: GitHub) -> None:
    def broken() -> Iterator[bytes]:
        yield b"one"
        raise httpx.RemoteProtocolError("peer closed connection")

    github.on(TARBALL, httpx.Response(200, content=broken()))

    with pytest.raises(RepositoryUnavailable, match="RemoteProtocolError"):
        github.repository().archive(COMMIT, io.BytesIO())


def dates(**found: str | None) -> dict[str, Any]:
    nodes = {alias: {"nodes": [{"committedDate": date}] if date else []} for alias, date in found.items()}
    return {"data": {"repository": {"object": nodes}}}


def test_times_of_last_change_are_asked_for_in_one_query(github: GitHub) -> None:
    github.on(GRAPHQL, answer(dates(a0="2025-06-01T10:00:00Z", a1=None, a2="2025-06-02T12:00:00+02:00")))
    found = github.repository().last_changed(COMMIT, ["a.md", "gone.md", 'q"uote\\.md'])
    assert found == {"a.md": datetime(2025, 6, 1, 10, tzinfo=UTC), 'q"uote\\.md': datetime(2025, 6, 2, 10, tzinfo=UTC)}
    body = body_of(github.requests[0])
    assert body["variables"] == {
        "owner": "octo",
        "name": "notes",
        "oid": COMMIT,
        "p0": "a.md",
        "p1": "gone.md",
        "p2": 'q"uote\\.md',
    }
    assert "a2:history(first:1,path:$p2){nodes{committedDate}}" in body["query"]
    assert body["query"].count("{") == body["query"].count("}")


def test_many_paths_take_one_query_a_hundred(github: GitHub) -> None:
    github.on(
        GRAPHQL, lambda request: answer(dates(**{f"a{n}": "2025-06-01T10:00:00Z" for n in range(PATHS_PER_QUERY)}))
    )
    paths = [f"{number}.md" for number in range(250)]
    repository = github.repository()
    assert set(repository.last_changed(COMMIT, paths)) == set(paths)
    assert repository.calls == 3


def test_without_credentials_no_time_can_be_told(github: GitHub) -> None:
    assert github.repository(token=None).last_changed(COMMIT, ["a.md"]) == {}
    assert github.requests == []


def test_no_paths_take_no_query(github: GitHub) -> None:
    assert github.repository().last_changed(COMMIT, []) == {}
    assert github.requests == []


def test_of_a_query_that_partly_failed_the_rest_is_told(github: GitHub) -> None:
    told = dates(a1="2025-06-01T10:00:00Z") | {
        "errors": [{"message": "timeout", "path": ["repository", "object", "a0"]}]
    }
    github.on(GRAPHQL, answer(told))
    assert set(github.repository().last_changed(COMMIT, ["a.md", "b.md"])) == {"b.md"}


@pytest.mark.parametrize(
    "told",
    [
        answer({"errors": [{"message": "Something went wrong"}]}),
        answer({"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "message": "Could not resolve"}]}),
        answer({"data": {"repository": {"object": None}}}),
        answer({"data": {"repository": {"object": {"a0": {"nodes": [{"committedDate": "yesterday"}]}}}}}),
        refuse(401, "Bad credentials"),
        refuse(404, "Not Found"),
    ],
)
def test_times_that_cannot_be_told_are_left_out(github: GitHub, told: httpx.Response) -> None:
    github.on(GRAPHQL, told)
    assert github.repository().last_changed(COMMIT, ["a.md"]) == {}


def test_a_query_that_is_too_much_is_halved(github: GitHub) -> None:
    def manages_fifty(request: httpx.Request) -> httpx.Response:
        asked = len(body_of(request)["variables"]) - 3
        if asked > 50:
            return httpx.Response(502)
        return answer(dates(**{f"a{number}": "2025-06-01T10:00:00Z" for number in range(asked)}))

    github.on(GRAPHQL, manages_fifty)
    paths = [f"{number}.md" for number in range(100)]

    repository = github.repository()
    assert set(repository.last_changed(COMMIT, paths)) == set(paths)
    assert repository.calls == 3


def test_graphql_that_is_down_is_not_asked_for_ever(github: GitHub) -> None:
    github.on(GRAPHQL, httpx.Response(502))
    repository = github.repository()
    with pytest.raises(RepositoryUnavailable):
        repository.last_changed(COMMIT, [f"{number}.md" for number in range(100)])
    assert repository.calls == 3


@pytest.mark.parametrize(
    "error",
    [
        {"type": "RATE_LIMITED", "message": "API rate limit exceeded"},
        {"message": "You have exceeded a secondary rate limit."},
    ],
)
def test_a_query_over_the_limit_waits(github: GitHub, error: dict[str, str]) -> None:
    reset = NOW + timedelta(minutes=20)
    github.on(GRAPHQL, answer({"errors": [error]}, x_ratelimit_reset=str(int(reset.timestamp()))))
    with pytest.raises(RepositoryRateLimited) as caught:
        github.repository().last_changed(COMMIT, ["a.md"])
    assert caught.value.until == reset + timedelta(seconds=1)


def test_a_status_is_posted_under_our_name_and_fits(github: GitHub) -> None:
    github.on(STATUS, answer({"state": "success"}, 201))
    github.repository().set_status(COMMIT, "success", "x" * 200)
    assert body_of(github.requests[0]) == {"state": "success", "context": "commonplace/sync", "description": "x" * 140}


Call = Callable[[GitHubRepository], object]
CALLS: dict[str, tuple[str, Call]] = {
    "head": (HEAD, lambda repository: repository.head()),
    "tree": (f"{TREE}?recursive=1", lambda repository: repository.tree(COMMIT)),
    "blob": (blob_at("d" * 40), lambda repository: repository.blob(BlobSha("d" * 40))),
    "archive": (TARBALL, lambda repository: repository.archive(COMMIT, io.BytesIO())),
    "times": (GRAPHQL, lambda repository: repository.last_changed(COMMIT, ["a.md"])),
    "status": (STATUS, lambda repository: repository.set_status(COMMIT, "success", "done")),
}
every_call = pytest.mark.parametrize(("target", "call"), CALLS.values(), ids=CALLS)


def sent_to(location: str, status: int = 301) -> httpx.Response:
    return httpx.Response(status, headers={"location": location})


@pytest.mark.parametrize(
    ("name", "told", "error", "text"),
    [
        ("head", refuse(404, "No commit found"), RepositoryRefused, "404"),
        ("head", refuse(409, "No commit found"), RepositoryRefused, "409"),
        ("head", refuse(422, "No commit found"), RepositoryRefused, "422"),
        ("head", httpx.Response(200, text="<html>welcome</html>"), RepositoryUnavailable, "not a commit id"),
        ("head", sent_to("https://example.org/commits/main"), RepositoryRefused, "renamed"),
        ("tree", httpx.Response(200, text="{"), RepositoryUnavailable, None),
        ("tree", httpx.Response(200, text="[" * 100_000), RepositoryUnavailable, None),
        ("tree", answer([]), RepositoryUnavailable, None),
        ("blob", httpx.Response(200, content=b"two"), RepositoryUnavailable, "a different blob"),
        ("blob", refuse(404, "Not Found"), BlobNotFound, None),
        ("blob", httpx.Response(200, content=b"x" * 11), RepositoryRefused, "larger than 10 bytes"),
        ("archive", sent_to("https://api.github.com" + TARBALL[4:], 302), RepositoryRefused, "redirects without end"),
        ("status", sent_to("https://api.github.com/repositories/1/statuses", 307), RepositoryRefused, "renamed"),
    ],
)
def test_what_is_no_answer_is_not_believed(
    github: GitHub,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    told: httpx.Response,
    error: type[Exception],
    text: str | None,
) -> None:
    monkeypatch.setattr(module, "MAX_BLOB_BYTES", 10)
    target, call = CALLS[name]
    github.on(target, told)
    with pytest.raises(error, match=text):
        call(github.repository())


@every_call
@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(500),
        httpx.Response(502, text="<html>Bad Gateway</html>"),
        httpx.Response(503),
        httpx.Response(408),
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("garbage"),
    ],
    ids=lambda failure: getattr(failure, "status_code", type(failure).__name__),
)
def test_github_that_does_not_answer_is_unavailable(
    github: GitHub, target: str, call: Call, failure: httpx.Response | Exception
) -> None:
    github.on(target, failure)
    with pytest.raises(RepositoryUnavailable):
        call(github.repository())


@every_call
def test_a_limit_is_waited_for(github: GitHub, target: str, call: Call) -> None:
    github.on(target, refuse(403, "API rate limit exceeded", retry_after="90"))
    with pytest.raises(RepositoryRateLimited) as caught:
        call(github.repository())
    assert caught.value.until == NOW + timedelta(seconds=90)


@pytest.mark.parametrize("status", [401, 403, 410, 451])
@pytest.mark.parametrize("name", ["head", "tree", "blob", "archive", "status"])
def test_a_refusal_is_final_and_no_limit(github: GitHub, status: int, name: str) -> None:
    target, call = CALLS[name]
    github.on(target, refuse(status, "Resource not accessible by personal access token", x_ratelimit_remaining="4999"))
    with pytest.raises(RepositoryRefused, match=f"GitHub answers {status}"):
        call(github.repository())


def test_a_renamed_repository_is_followed_within_the_api(github: GitHub) -> None:
    moved = "https://api.github.com/repositories/1/commits/main"
    github.on(HEAD, httpx.Response(301, headers={"location": moved}))
    github.on("GET /repositories/1/commits/main", httpx.Response(200, text=COMMIT))
    assert github.repository().head() == Head(COMMIT, None)
    assert github.requests[1].headers["authorization"] == f"Bearer {TOKEN}"


def test_neither_logs_nor_errors_hold_the_token_or_an_address_of_an_archive(
    github: GitHub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secret = "https://codeload.github.com/octo/x?token=once-only"
    github.on(TARBALL, httpx.Response(302, headers={"location": secret}))
    github.on(f"GET {secret}", httpx.ConnectError(f"cannot reach {secret} with {TOKEN}"))
    github.on(GRAPHQL, refuse(401, f"Bad credentials {TOKEN}"))
    with pytest.raises(RepositoryUnavailable) as caught:
        github.repository().archive(COMMIT, io.BytesIO())
    github.repository().last_changed(COMMIT, ["a.md"])
    said = str(caught.value) + " ".join(str(vars(record)) for record in caplog.records)
    assert "once-only" not in said
    assert TOKEN not in said
    assert caught.value.__cause__ is None
