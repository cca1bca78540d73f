"""The stand-in answers as GitHub does: status codes, media types, entity tags, limits."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace.repository.github import last_changed_query
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository
from commonplace_local.github.server import GitHubServer, push_event, sign
from tests.integration.repositories import Clone, document

RAW = {"Accept": "application/vnd.github.raw+json"}
SHA = {"Accept": "application/vnd.github.sha"}
TOKEN = {"Authorization": "Bearer token-of-a-test"}


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("a.md", "a\r\n")
    user.write("deep/er/ü – 1.md", "two")
    user.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (user.folder / "link").symlink_to("a.md")
    user.commit("First", at="2024-01-01T10:00:00+02:00")
    user.write("a.md", "a, changed")
    user.commit("Second", at="2024-02-02T00:00:00Z")
    return user


@pytest.fixture
def api(user: Clone) -> GitHubApi:
    return GitHubApi(GitRepository(user.git_dir), "reef/garden")


@pytest.fixture
def github(api: GitHubApi) -> Iterator[httpx.Client]:
    with GitHubServer(api) as server, httpx.Client(base_url=server.url, trust_env=False) as client:
        yield client


def last_changed(github: httpx.Client, oid: str, *paths: str) -> Any:
    aliases = " ".join(
        f"a{n}: history(first: 1, path: $p{n}) {{ nodes {{ committedDate }} }}" for n in range(len(paths))
    )
    kinds = ", ".join(f"$p{n}: String!" for n in range(len(paths)))
    query = (
        f"query($owner: String!, $name: String!, $oid: GitObjectID!, {kinds}) "
        f"{{ repository(owner: $owner, name: $name) {{ object(oid: $oid) {{ ... on Commit {{ {aliases} }} }} }} }}"
    )
    variables = {"owner": "reef", "name": "garden", "oid": oid} | {f"p{n}": path for n, path in enumerate(paths)}
    return github.post("/graphql", json={"query": query, "variables": variables}, headers=TOKEN).json()


def test_branch_head_is_plain_text_and_answers_304_until_the_branch_moves(github: httpx.Client, user: Clone) -> None:
    first = github.get("/repos/reef/garden/commits/main", headers=SHA)
    assert first.text == user.git("rev-parse", "HEAD")
    assert first.headers["content-type"].startswith("application/vnd.github.sha")
    known = SHA | {"If-None-Match": first.headers["etag"]}
    assert github.get("/repos/reef/garden/commits/main", headers=known).status_code == 304
    moved = user.commit("Third")
    assert github.get("/repos/reef/garden/commits/main", headers=known).text == moved


def test_branch_with_a_slash_is_found(github: httpx.Client, user: Clone) -> None:
    user.git("branch", "topic/reef")
    assert github.get("/repos/reef/garden/commits/topic/reef", headers=SHA).status_code == 200


def test_unknown_names_are_refused_as_github_refuses_them(github: httpx.Client) -> None:
    assert github.get("/repos/reef/garden/commits/nope").status_code == 422
    assert github.get("/repos/reef/other/commits/main").status_code == 404
    assert github.get(f"/repos/reef/garden/git/blobs/{'0' * 40}").status_code == 404
    assert github.get("/repos/reef/garden/git/blobs/short").status_code == 422
    missing = github.get(f"/repos/reef/garden/git/trees/{'0' * 40}")
    assert (missing.status_code, missing.json()["message"]) == (404, "Not Found")
    assert github.get("/somewhere").status_code == 404
    assert github.get("/repos/reef/garden/commits/main%0AHEAD").status_code == 404


def test_recursive_tree_lists_everything_with_modes_and_sizes(github: httpx.Client) -> None:
    body = github.get("/repos/reef/garden/git/trees/main?recursive=1").json()
    facts = {item["path"]: (item["mode"], item["type"], item.get("size")) for item in body["tree"]}
    assert body["truncated"] is False
    assert facts == {
        "a.md": ("100644", "blob", 10),
        "deep": ("040000", "tree", None),
        "deep/er": ("040000", "tree", None),
        "deep/er/ü – 1.md": ("100644", "blob", 3),
        "link": ("120000", "blob", 4),
        "run.sh": ("100755", "blob", 10),
    }


def test_tree_without_recursion_lists_one_level(github: httpx.Client) -> None:
    body = github.get("/repos/reef/garden/git/trees/main").json()
    assert [item["path"] for item in body["tree"]] == ["a.md", "deep", "link", "run.sh"]


def test_large_recursive_tree_is_truncated_and_says_so(user: Clone) -> None:
    api = GitHubApi(GitRepository(user.git_dir), "reef/garden", tree_limit=2)
    with GitHubServer(api) as server:
        body = httpx.get(f"{server.url}/repos/reef/garden/git/trees/main?recursive=1", trust_env=False).json()
    assert body["truncated"] is True
    assert len(body["tree"]) == 2


def test_blob_comes_raw(github: httpx.Client, user: Clone) -> None:
    sha = user.git("rev-parse", "HEAD~1:a.md")
    assert github.get(f"/repos/reef/garden/git/blobs/{sha}", headers=RAW).content == b"a\r\n"


def test_tarball_has_githubs_top_folder(github: httpx.Client, user: Clone) -> None:
    head = user.git("rev-parse", "HEAD")
    answer = github.get(f"/repos/reef/garden/tarball/{head}", follow_redirects=True)
    with tarfile.open(fileobj=io.BytesIO(answer.content), mode="r:gz") as archive:
        names = archive.getnames()
    assert answer.history[0].status_code == 302
    assert names[0] == f"reef-garden-{head[:7]}"
    assert f"reef-garden-{head[:7]}/deep/er/ü – 1.md" in names


def test_last_change_of_each_path_as_of_a_commit(github: httpx.Client, user: Clone) -> None:
    body = last_changed(github, user.git("rev-parse", "HEAD"), "a.md", "deep/er/ü – 1.md", "nowhere.md")
    assert body["data"]["repository"]["object"] == {
        "a0": {"nodes": [{"committedDate": "2024-02-02T00:00:00Z"}]},
        "a1": {"nodes": [{"committedDate": "2024-01-01T08:00:00Z"}]},
        "a2": {"nodes": []},
    }
    earlier = last_changed(github, user.git("rev-parse", "HEAD~1"), "a.md")
    assert earlier["data"]["repository"]["object"]["a0"]["nodes"] == [{"committedDate": "2024-01-01T08:00:00Z"}]


def test_last_change_is_found_through_a_merge(github: httpx.Client, user: Clone) -> None:
    last_changed(github, user.git("rev-parse", "HEAD"), "a.md")
    user.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    user.write("side.md", "side")
    user.commit("Side", at="2024-03-03T00:00:00Z")
    user.git("checkout", "--quiet", "main")
    user.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side", at="2024-04-04T00:00:00Z")
    found = last_changed(github, user.git("rev-parse", "HEAD"), "side.md", "a.md")["data"]["repository"]["object"]
    assert found["a0"]["nodes"] == [{"committedDate": "2024-03-03T00:00:00Z"}]
    assert found["a1"]["nodes"] == [{"committedDate": "2024-02-02T00:00:00Z"}]


def test_unknown_commit_and_foreign_query_get_graphqls_answers(github: httpx.Client) -> None:
    assert last_changed(github, "0" * 40, "a.md") == {"data": {"repository": {"object": None}}}
    foreign = github.post("/graphql", json={"query": "{ viewer { login } }"}, headers=TOKEN)
    assert "errors" in foreign.json()


def test_commit_status_is_kept(github: httpx.Client, api: GitHubApi, user: Clone) -> None:
    head = user.git("rev-parse", "HEAD")
    status = {"state": "success", "description": "3 documents", "context": "commonplace"}
    assert github.post(f"/repos/reef/garden/statuses/{head}", json=status, headers=TOKEN).status_code == 201
    assert [given.description for given in api.statuses] == ["3 documents"]


@pytest.mark.parametrize("change", [{"state": "fine"}, {"description": "x" * 141}])
def test_wrong_commit_status_is_refused(github: httpx.Client, user: Clone, change: dict[str, str]) -> None:
    status = {"state": "success", "description": "ok"} | change
    head = user.git("rev-parse", "HEAD")
    assert github.post(f"/repos/reef/garden/statuses/{head}", json=status, headers=TOKEN).status_code == 422


def test_writing_needs_a_credential(github: httpx.Client, user: Clone) -> None:
    head = user.git("rev-parse", "HEAD")
    assert github.post(f"/repos/reef/garden/statuses/{head}", json={"state": "success"}).status_code == 401
    assert github.post("/graphql", json={"query": ""}).status_code == 401


def test_calls_are_logged_and_the_download_behind_a_tarball_is_none(
    github: httpx.Client, api: GitHubApi, user: Clone
) -> None:
    github.get("/repos/reef/garden/commits/main")
    github.get(f"/repos/reef/garden/tarball/{user.git('rev-parse', 'HEAD')}", follow_redirects=True)
    assert [call.endpoint for call in api.requests] == ["commit", "tarball"]
    api.forget_requests()
    assert api.requests == ()


def test_faults_happen_as_often_as_asked_and_where_asked(github: httpx.Client, api: GitHubApi) -> None:
    api.faults.fail(2, status=502, matching="/git/trees/")
    api.faults.limit(retry_after_seconds=7, matching="/commits/")
    head = "/repos/reef/garden/commits/main"
    tree = "/repos/reef/garden/git/trees/main"
    limited = github.get(head)
    assert (limited.status_code, limited.headers["retry-after"]) == (403, "7")
    assert [github.get(tree).status_code for _ in range(3)] == [502, 502, 200]
    assert github.get(head).status_code == 200


def test_push_event_names_commits_and_files(user: Clone) -> None:
    repository = GitRepository(user.git_dir)
    before, after = user.git("rev-parse", "HEAD~1"), user.git("rev-parse", "HEAD")
    event = push_event(repository, "reef/garden", "main", before, after)
    new = push_event(repository, "reef/garden", "main", None, after)
    back = push_event(repository, "reef/garden", "main", after, before)
    repository.close()
    assert (event["ref"], event["before"], event["after"]) == ("refs/heads/main", before, after)
    assert (event["head_commit"]["modified"], event["forced"], event["created"]) == (["a.md"], False, False)
    assert (new["before"], new["created"], "deep/er/ü – 1.md" in new["head_commit"]["added"]) == ("0" * 40, True, True)
    assert back["forced"] is True


def test_signature_is_the_documented_one() -> None:
    """The example of GitHub's documentation, "Validating webhook deliveries"."""
    expected = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert sign("It's a Secret to Everybody", b"Hello, World!") == expected


@pytest.fixture
def writable(user: Clone) -> Iterator[httpx.Client]:
    api = GitHubApi(GitRepository(user.git_dir), "reef/garden", writable=True)
    with GitHubServer(api) as server, httpx.Client(base_url=server.url, trust_env=False, headers=TOKEN) as client:
        yield client


def committed(github: httpx.Client, user: Clone, path: str = "deep/new.md", **entry: Any) -> dict[str, Any]:
    head = user.git("rev-parse", "HEAD")
    tree = github.get(f"/repos/reef/garden/git/commits/{head}").json()["tree"]["sha"]
    file = {"path": path, "mode": "100644", "type": "blob", "content": "new – ü\n"} | entry
    made = github.post("/repos/reef/garden/git/trees", json={"base_tree": tree, "tree": [file]}).json()
    body = {"message": "Add\n\nBody", "tree": made["sha"], "parents": [head]}
    commit: dict[str, Any] = github.post("/repos/reef/garden/git/commits", json=body).json()
    return commit


def test_a_commit_is_made_beside_the_branch_and_then_named(writable: httpx.Client, user: Clone) -> None:
    head = user.git("rev-parse", "HEAD")
    commit = committed(writable, user)
    assert (commit["message"], commit["parents"]) == ("Add\n\nBody", [{"sha": head}])
    assert user.git("diff", "--name-status", head, commit["sha"]) == "A\tdeep/new.md"

    named = {"ref": "refs/heads/topic/new", "sha": commit["sha"]}
    assert writable.post("/repos/reef/garden/git/refs", json=named).status_code == 201
    again = writable.post("/repos/reef/garden/git/refs", json=named | {"sha": head})
    assert (again.status_code, again.json()["message"]) == (422, "Reference already exists")
    found = writable.get("/repos/reef/garden/git/ref/heads/topic/new").json()
    assert (found["ref"], found["object"]["sha"]) == ("refs/heads/topic/new", commit["sha"])
    assert user.git("rev-parse", "main") == head


def test_unknown_references_and_commits_are_not_found(writable: httpx.Client) -> None:
    assert writable.get("/repos/reef/garden/git/ref/heads/nope").status_code == 404
    assert writable.get(f"/repos/reef/garden/git/commits/{'0' * 40}").status_code == 404
    assert writable.get("/repos/reef/garden/pulls/1").status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "../x"},
        {"path": "/x"},
        {"path": ".git/x"},
        {"path": ""},
        {"mode": "777"},
        {"sha": "0" * 40},
        {"content": 1},
    ],
)
def test_a_wrong_tree_is_refused(writable: httpx.Client, user: Clone, wrong: dict[str, Any]) -> None:
    file = {"path": "x.md", "mode": "100644", "type": "blob", "content": "x"} | wrong
    body = {"base_tree": user.git("rev-parse", "HEAD^{tree}"), "tree": [file]}
    assert writable.post("/repos/reef/garden/git/trees", json=body).status_code == 422


@pytest.mark.parametrize(
    "wrong",
    [{"ref": "topic"}, {"ref": "refs/heads/a..b"}, {"sha": "0" * 40}, {"sha": "main"}, {"ref": "refs/heads/main/x"}],
)
def test_a_wrong_reference_is_refused(writable: httpx.Client, user: Clone, wrong: dict[str, str]) -> None:
    body = {"ref": "refs/heads/topic", "sha": user.git("rev-parse", "HEAD")} | wrong
    assert writable.post("/repos/reef/garden/git/refs", json=body).status_code == 422


def test_a_pull_request_is_opened_once_and_listed(writable: httpx.Client, user: Clone) -> None:
    sha = committed(writable, user)["sha"]
    writable.post("/repos/reef/garden/git/refs", json={"ref": "refs/heads/topic/new", "sha": sha})
    body = {"title": "Add", "head": "topic/new", "base": "main", "body": "Why"}
    made = writable.post("/repos/reef/garden/pulls", json=body)
    assert made.status_code == 201
    again = writable.post("/repos/reef/garden/pulls", json=body)
    assert again.status_code == 422
    assert again.json()["errors"][0]["message"] == "A pull request already exists for reef:topic/new."
    listed = writable.get("/repos/reef/garden/pulls", params={"head": "reef:topic/new", "state": "all"}).json()
    assert [(one["number"], one["state"], one["head"]["sha"]) for one in listed] == [(1, "open", sha)]
    assert writable.get("/repos/reef/garden/pulls", params={"head": "reef:other"}).json() == []
    assert writable.get(made.json()["html_url"]).json()["title"] == "Add"


@pytest.mark.parametrize("wrong", [{"head": "nope"}, {"base": "nope"}, {"title": ""}])
def test_a_wrong_pull_request_is_refused(writable: httpx.Client, user: Clone, wrong: dict[str, str]) -> None:
    user.git("branch", "topic")
    body = {"title": "Add", "head": "topic", "base": "main"} | wrong
    assert writable.post("/repos/reef/garden/pulls", json=body).status_code == 422


def test_a_repository_that_is_not_ours_is_never_written_to(github: httpx.Client, user: Clone) -> None:
    before = user.fingerprint()
    for path, body in (
        ("git/trees", {"tree": [{"path": "x", "mode": "100644", "content": "x"}]}),
        ("git/commits", {"message": "x", "tree": user.git("rev-parse", "HEAD^{tree}")}),
        ("git/refs", {"ref": "refs/heads/x", "sha": user.git("rev-parse", "HEAD")}),
        ("pulls", {"title": "x", "head": "main", "base": "main"}),
    ):
        assert github.post(f"/repos/reef/garden/{path}", json=body).status_code == 401
        assert github.post(f"/repos/reef/garden/{path}", json=body, headers=TOKEN).status_code == 403
    assert user.fingerprint() == before


def test_an_answer_can_be_lost_after_the_deed(user: Clone) -> None:
    api = GitHubApi(GitRepository(user.git_dir), "reef/garden", writable=True)
    api.faults.lose(matching="/git/refs", method="POST")
    body = {"ref": "refs/heads/topic", "sha": user.git("rev-parse", "HEAD")}
    with GitHubServer(api) as server:
        answer = httpx.post(f"{server.url}/repos/reef/garden/git/refs", json=body, headers=TOKEN, trust_env=False)
    assert answer.status_code == 502
    assert user.git("rev-parse", "topic") == body["sha"]


def test_several_repositories_answer_at_one_address(tmp_path: Path) -> None:
    commits = {}
    apis = []
    for name in ("reef/garden", "reef/tools"):
        user = Clone(tmp_path / name.replace("/", "-"))
        user.write("who.md", document(name))
        commits[name] = user.commit(at="2026-01-01T00:00:00Z")
        apis.append(GitHubApi(GitRepository(user.git_dir), name))
    with GitHubServer(*apis) as server, httpx.Client(base_url=server.url, trust_env=False) as client:
        for name, commit in commits.items():
            assert client.get(f"/repos/{name.upper()}/commits/main").json()["sha"] == commit
            archive = client.get(f"/repos/{name}/tarball/main", follow_redirects=True)
            assert archive.headers["content-type"] == "application/x-gzip"
            owner, _, short = name.partition("/")
            variables = {"owner": owner, "name": short, "oid": commit, "p0": "who.md"}
            asked = {"query": last_changed_query(1), "variables": variables}
            answer = client.post("/graphql", json=asked, headers=TOKEN).json()
            assert answer["data"]["repository"]["object"]["a0"]["nodes"][0]["committedDate"] == "2026-01-01T00:00:00Z"
        assert client.get("/repos/reef/elsewhere/commits/main").status_code == 404
        assert client.post("/graphql", content=b"[", headers=TOKEN).status_code == 400
    assert {call.path.split("/")[3].lower() for call in apis[1].requests if "/repos/" in call.path} == {"tools"}
