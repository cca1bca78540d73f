"""Proposals against the stand-in on a real Git repository; the fake passes what both must do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from commonplace.documents.content.reader import Unpublished, judge
from commonplace.documents.proposals.github import GitHubProposals
from commonplace.documents.proposals.proposal import Proposal, ProposalContext, document_proposal
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubWriter, MalformedSecret
from commonplace_local.dev.session import proposal_line
from commonplace_local.dev.source import clone
from commonplace_local.dev.workspace import Workspace
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository, git
from commonplace_local.github.server import GitHubServer
from tests.fakes.proposals import FakeProposals
from tests.integration.repositories import Clone, client_of, document

EXISTING = "data/links/Tide Tables – How to Read One.md"
PULLS = "/pulls"
WRITER = GitHubWriter(token="token-of-a-test")


def proposal(name: str = "kelp", **changes: Any) -> Proposal:
    usual = Proposal(
        path=f"data/links/{name}.md",
        text=f'---\ntitle: "{name} – ü"\npublish: false\n---\n',
        title=f"Link: {name}",
        body="A link for the library.\n",
        branch=f"commonplace/draft-{name}-1f",
        fingerprint=f"asked for {name}",
    )
    return replace(usual, **changes)


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("index.md", document("Home"))
    user.write(EXISTING, document("Tides"))
    user.commit("First", at="2024-01-01T00:00:00Z")
    return user


@pytest.fixture
def workspace(user: Clone, tmp_path: Path) -> Workspace:
    """The private clone that `commonplace dev` serves."""
    workspace = Workspace(clone(user.folder), tmp_path / "private.git")
    workspace.refresh()
    return workspace


@pytest.fixture
def server(workspace: Workspace) -> Iterator[GitHubServer]:
    api = GitHubApi(GitRepository(workspace.git_dir), "reef/garden", writable=True, tokens=["token-of-a-test"])
    with GitHubServer(api) as server:
        yield server


def adapter(server: GitHubServer, read: Callable[[], GitHubWriter] = lambda: WRITER, **how: Any) -> GitHubProposals:
    client = client_of(server)
    return GitHubProposals(client, "reef/garden", "main", SecretCredentials(read), **how)


@pytest.fixture
def proposals(server: GitHubServer) -> GitHubProposals:
    return adapter(server)


@pytest.fixture(params=["github", "fake"])
def either(request: pytest.FixtureRequest) -> GitHubProposals:
    if request.param == "fake":
        return FakeProposals({"index.md": "", EXISTING: ""})
    proposals: GitHubProposals = request.getfixturevalue("proposals")
    return proposals


def shown(workspace: Workspace, what: str) -> str:
    return git(f"--git-dir={workspace.git_dir}", "show", what).decode()


def branches(workspace: Workspace) -> list[str]:
    listed = git(f"--git-dir={workspace.git_dir}", "for-each-ref", "--format=%(refname:short)", "refs/heads")
    return listed.decode().split()


def test_dev_names_each_proposal_when_it_arrives(server: GitHubServer, proposals: GitHubProposals) -> None:
    said: list[str] = []
    server.api.proposals.arrived = lambda one: said.append(proposal_line(one))
    proposals.propose(proposal("kelp"))
    proposals.propose(proposal("kelp"))
    assert said == [f"Proposal 1: {server.api.pull_requests.all()[0].title}; commonplace proposals apply 1"]


# What both must do


def test_a_new_proposal_is_a_pull_request_of_its_own(either: GitHubProposals) -> None:
    first, second = either.propose(proposal("kelp")), either.propose(proposal("wrack"))
    assert (first.created, first.path, first.branch) == (True, "data/links/kelp.md", "commonplace/draft-kelp-1f")
    assert second.number == first.number + 1
    assert first.url.startswith("http")
    assert first.url != second.url


def test_the_same_proposal_again_is_found_even_on_another_day(either: GitHubProposals) -> None:
    first = either.propose(proposal())
    again = either.propose(proposal(text="---\ntitle: kelp\ndate: 2026-01-02\n---\n"))
    assert again == replace(first, created=False)


def test_another_proposal_under_the_same_key_is_refused(either: GitHubProposals) -> None:
    either.propose(proposal())
    with pytest.raises(Conflict):
        either.propose(proposal(fingerprint="asked for something else"))


@pytest.mark.parametrize("path", [EXISTING, EXISTING.upper().replace("DATA/LINKS", "data/links")])
def test_a_file_that_is_there_is_never_proposed_again(either: GitHubProposals, path: str) -> None:
    with pytest.raises(Conflict, match="already"):
        either.propose(proposal(path=path))


def test_a_file_that_is_proposed_is_not_proposed_by_somebody_else_as_long_as_it_waits(either: GitHubProposals) -> None:
    body = "A link.\n\nFile: data/links/kelp.md\n"
    either.propose(proposal(body=body))
    with pytest.raises(Conflict, match="proposed already"):
        either.propose(proposal(body=body, branch="commonplace/draft-2f", fingerprint="in other words"))


# What reaches the repository


def test_the_pull_request_adds_one_file_and_nothing_else(
    proposals: GitHubProposals, server: GitHubServer, workspace: Workspace
) -> None:
    before = workspace.head
    asked = proposal("ugly & odd + (1) #2 ü")
    made = proposals.propose(replace(asked, branch="commonplace/draft-1f"))

    changed = git(f"--git-dir={workspace.git_dir}", "diff", "--name-status", "-z", "main", "commonplace/draft-1f")
    assert changed.decode() == f"A\0{asked.path}\0"
    assert shown(workspace, f"commonplace/draft-1f:{asked.path}") == asked.text
    assert workspace.head == before
    opened = server.api.pull_requests.get(made.number)
    assert opened is not None
    assert (opened.title, opened.base, opened.head, opened.state) == (
        asked.title,
        "main",
        "commonplace/draft-1f",
        "open",
    )
    assert opened.body.startswith(asked.body)


def test_the_users_own_repository_is_not_touched(proposals: GitHubProposals, user: Clone) -> None:
    before = user.fingerprint()
    proposals.propose(proposal())
    assert user.fingerprint() == before


def test_a_proposal_outlives_a_new_snapshot_of_the_folder(
    proposals: GitHubProposals, user: Clone, workspace: Workspace
) -> None:
    made = proposals.propose(proposal())
    user.write("index.md", document("Home", "Edited.\n"))
    workspace.refresh()
    assert shown(workspace, f"{made.branch}:{made.path}") == proposal().text
    assert proposals.propose(proposal()) == replace(made, created=False)
    assert proposals.propose(proposal("wrack")).created


def test_a_reviewers_changes_do_not_make_it_another_proposal(proposals: GitHubProposals, server: GitHubServer) -> None:
    made = proposals.propose(proposal())
    opened = server.api.pull_requests.get(made.number)
    assert opened is not None
    server.api.pull_requests.edit(made.number, "Looks good!\n\n" + opened.body)
    assert not proposals.propose(proposal()).created


@pytest.mark.parametrize("merged", [True, False])
def test_a_closed_pull_request_is_found_and_not_opened_again(
    proposals: GitHubProposals, server: GitHubServer, workspace: Workspace, merged: bool
) -> None:
    made = proposals.propose(proposal())
    server.api.pull_requests.close(made.number, merged=merged)
    git(f"--git-dir={workspace.git_dir}", "update-ref", "-d", f"refs/heads/{made.branch}")
    assert proposals.propose(proposal()) == replace(made, created=False)
    assert len(server.api.pull_requests.all()) == 1


def test_a_file_where_a_folder_would_be_is_left_alone(proposals: GitHubProposals) -> None:
    with pytest.raises(Conflict):
        proposals.propose(proposal(path="index.md/kelp.md"))


def test_a_folder_that_is_not_there_yet_is_made(proposals: GitHubProposals, workspace: Workspace) -> None:
    made = proposals.propose(proposal(path="data/stories/guides/kelp.md"))
    assert shown(workspace, f"{made.branch}:data/stories/guides/kelp.md")


def test_a_draft_of_a_strangers_words_is_one_private_file_in_the_repository(
    proposals: GitHubProposals, workspace: Workspace
) -> None:
    title = "--- \"Kelp\": 'forests' & ../../ fixes #1 \u202e@all 🌊"
    asking = ProposalContext(tool="create_draft", day=date(2026, 3, 4), subject="0xabc", key="k")
    asked = document_proposal(
        asking, content_type="pattern", title=title, content="# Kelp\r\n\n---\npublish: true\n---\n"
    )
    made = proposals.propose(asked)
    stored = git(f"--git-dir={workspace.git_dir}", "show", f"{made.branch}:{made.path}")
    assert stored == asked.text.encode()
    assert isinstance(judge(stored), Unpublished)
    again = document_proposal(
        replace(asking, day=date(2026, 3, 5)),
        content_type="Pattern",
        title=title,
        content="# Kelp\n\n---\npublish: true\n---",
    )
    assert proposals.propose(again) == replace(made, created=False)


# What happens when it is cut short


@pytest.mark.parametrize("step", ["/git/trees", "/git/commits", "/git/refs", PULLS])
@pytest.mark.parametrize("fault", ["fail", "lose"])
def test_what_was_cut_short_the_same_proposal_finishes(
    proposals: GitHubProposals, server: GitHubServer, workspace: Workspace, step: str, fault: str
) -> None:
    getattr(server.api.faults, fault)(1, matching=step, method="POST")
    with pytest.raises(Unavailable, match="does not answer") as caught:
        proposals.propose(proposal())
    assert "nothing is done twice" in (caught.value.hint or "")

    done = proposals.propose(proposal())

    assert [one.number for one in server.api.pull_requests.all()] == [done.number]
    assert branches(workspace) == [done.branch, "main"]
    assert shown(workspace, f"{done.branch}:{done.path}") == proposal().text


def test_half_a_proposal_is_not_finished_by_another_one(proposals: GitHubProposals, server: GitHubServer) -> None:
    server.api.faults.fail(1, matching=PULLS, method="POST")
    with pytest.raises(Unavailable):
        proposals.propose(proposal())
    with pytest.raises(Conflict):
        proposals.propose(proposal(fingerprint="asked for something else"))
    assert server.api.pull_requests.all() == ()


def test_two_at_the_same_moment_make_one(proposals: GitHubProposals, server: GitHubServer) -> None:
    """The second has looked before the first one wrote: it meets the branch, and then the pull request."""
    made = proposals.propose(proposal())
    late = _Late(adapter(server))
    assert late.propose(proposal()) == replace(made, created=False)
    assert len(server.api.pull_requests.all()) == 1


class _Late:
    """Does not see the pull requests in its first look."""

    def __init__(self, proposals: GitHubProposals) -> None:
        self._proposals = proposals
        client = proposals._client
        look, looked = client.get, list[str]()

        def get(path: str, *given: Any, **how: Any) -> Any:
            answer = look(path, *given, **how)
            if f"{PULLS}?" not in path or looked:
                return answer
            looked.append(path)
            return replace(answer, body=b"[]")

        client.get = get  # type: ignore[method-assign]

    def propose(self, asked: Proposal) -> Any:
        return self._proposals.propose(asked)


# What GitHub may say besides


def test_a_rate_limit_says_how_long_to_wait(proposals: GitHubProposals, server: GitHubServer) -> None:
    server.api.faults.limit(retry_after_seconds=40, matching="/git/refs")
    with pytest.raises(Unavailable) as caught:
        proposals.propose(proposal())
    assert 39 <= caught.value.retry_after_seconds <= 41
    assert proposals.propose(proposal()).created


def test_an_exhausted_quota_says_how_long_to_wait(proposals: GitHubProposals, server: GitHubServer) -> None:
    server.api.faults.exhaust(reset_epoch_seconds=int(datetime(2099, 1, 1, tzinfo=UTC).timestamp()))
    with pytest.raises(Unavailable) as caught:
        proposals.propose(proposal())
    assert caught.value.retry_after_seconds > 600


def _no_secret() -> GitHubWriter:
    raise MalformedSecret("the GitHub writer's secret must be something else")


@pytest.mark.parametrize(
    "read", [GitHubWriter, lambda: GitHubWriter(token="wrong"), _no_secret], ids=["none", "wrong", "malformed"]
)
def test_without_good_credentials_the_operator_is_named_and_no_more(
    server: GitHubServer, read: Callable[[], GitHubWriter], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Unavailable, match="not able to open pull requests") as caught:
        adapter(server, read).propose(proposal())
    told = f"{caught.value.envelope()} {caplog.text}"
    assert "operator" in told
    assert "reef" not in told
    assert "wrong" not in told
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_token_that_may_only_read_needs_the_operator(workspace: Workspace) -> None:
    api = GitHubApi(GitRepository(workspace.git_dir), "reef/garden")
    with GitHubServer(api) as server, pytest.raises(Unavailable) as caught:
        adapter(server).propose(proposal())
    assert "write access to contents and pull requests" in (caught.value.hint or "")
    assert branches(workspace) == ["main"]


def test_a_token_that_may_not_open_pull_requests_needs_the_operator(
    proposals: GitHubProposals, server: GitHubServer
) -> None:
    server.api.faults.fail(1, status=403, matching=PULLS, method="POST")
    with pytest.raises(Unavailable, match="not able"):
        proposals.propose(proposal())


def test_a_branch_that_cannot_be_needs_the_operator(proposals: GitHubProposals, workspace: Workspace) -> None:
    """A branch `commonplace` leaves no room for branches below it."""
    git(f"--git-dir={workspace.git_dir}", "branch", "commonplace", "main")
    with pytest.raises(Unavailable, match="not able"):
        proposals.propose(proposal())


def test_nothing_more_is_asked_when_the_time_is_up(server: GitHubServer) -> None:
    moments = iter(range(0, 1000, 10))
    slow = adapter(server, monotonic=lambda: float(next(moments)))
    with pytest.raises(Unavailable, match="does not answer"):
        slow.propose(proposal())
    assert len(server.api.requests) == 1


def test_a_foreign_answer_is_no_pull_request(proposals: GitHubProposals) -> None:
    client = proposals._client
    look = client.get
    client.get = lambda *given, **how: replace(look(*given, **how), body=b'{"secret": 1}')  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="does not answer"):
        proposals.propose(proposal())
