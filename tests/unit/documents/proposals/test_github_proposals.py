"""What GitHub may answer to a proposal, beyond what the stand-in shows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from commonplace.documents.proposals.github import GitHubProposals
from commonplace.documents.proposals.proposal import Proposal, Proposed
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubWriter
from tests.unit.repository.github_answers import COMMIT, TOKEN, GitHub, answer, body_of, entry, refuse, tree

REPOSITORY = "/repos/octo/notes"
BRANCH = "commonplace/draft-kelp-1f"
PULLS = f"GET {REPOSITORY}/pulls?head=octo%3Acommonplace%2Fdraft-kelp-1f&state=all&per_page=20"
OPENED = f"GET {REPOSITORY}/pulls?state=open&base=main&per_page=100"
OPEN, MAKE_REF = f"POST {REPOSITORY}/pulls", f"POST {REPOSITORY}/git/refs"
TREE, NEW_TREE, NEW_COMMIT = "7e" * 20, "7f" * 20, "c1" * 20
ASKED = Proposal(
    path="data/links/kelp.md",
    text="---\npublish: false\n---\n",
    title="Link: Kelp",
    body="A link.\n",
    branch=BRANCH,
    fingerprint="f00d",
)


def pull(number: int = 7, **changes: Any) -> dict[str, Any]:
    facts = {
        "number": number,
        "html_url": f"https://github.com/octo/notes/pull/{number}",
        "state": "open",
        "body": "A link.\n\n<!-- Commonplace-Draft: f00d -->",
        "head": {"ref": BRANCH, "repo": {"full_name": "Octo/Notes"}},
    }
    return facts | changes


def commit(message: str = "First") -> dict[str, Any]:
    return {"sha": COMMIT, "tree": {"sha": TREE}, "message": message}


@pytest.fixture
def github() -> GitHub:
    """A repository with `data/` and nothing in it, and no pull requests."""
    github = GitHub()
    github.on(PULLS, answer([]))
    github.on(OPENED, answer([]))
    github.on(f"GET {REPOSITORY}/git/ref/heads/main", answer({"object": {"sha": COMMIT}}))
    github.on(f"GET {REPOSITORY}/git/commits/{COMMIT}", answer(commit()))
    github.on(f"GET {REPOSITORY}/git/trees/{TREE}", tree(entry("data", kind="tree", mode="040000", sha="da" * 20)))
    github.on(f"GET {REPOSITORY}/git/trees/{'da' * 20}", tree(entry("index.md")))
    github.on(f"POST {REPOSITORY}/git/trees", answer({"sha": NEW_TREE}, 201))
    github.on(f"POST {REPOSITORY}/git/commits", answer({"sha": NEW_COMMIT}, 201))
    github.on(MAKE_REF, answer({"object": {"sha": NEW_COMMIT}}, 201))
    github.on(OPEN, answer(pull(), 201))
    return github


def propose(
    github: GitHub, asked: Proposal = ASKED, read: Callable[[], GitHubWriter] = lambda: GitHubWriter(TOKEN)
) -> Proposed:
    return GitHubProposals(github.client(), "octo/notes", "main", SecretCredentials(read)).propose(asked)


def written(github: GitHub) -> list[tuple[str, Any]]:
    return [(request.url.path, body_of(request)) for request in github.requests if request.method == "POST"]


def test_a_proposal_is_a_tree_a_commit_a_branch_and_a_pull_request(github: GitHub) -> None:
    made = propose(github)
    assert made == Proposed(7, "https://github.com/octo/notes/pull/7", ASKED.path, BRANCH, created=True)
    file = {"path": ASKED.path, "mode": "100644", "type": "blob", "content": ASKED.text}
    assert written(github) == [
        (f"{REPOSITORY}/git/trees", {"base_tree": TREE, "tree": [file]}),
        (
            f"{REPOSITORY}/git/commits",
            {"message": "Link: Kelp\n\nCommonplace-Draft: f00d\n", "tree": NEW_TREE, "parents": [COMMIT]},
        ),
        (f"{REPOSITORY}/git/refs", {"ref": f"refs/heads/{BRANCH}", "sha": NEW_COMMIT}),
        (
            f"{REPOSITORY}/pulls",
            {
                "title": "Link: Kelp",
                "head": BRANCH,
                "base": "main",
                "body": "A link.\n\n<!-- Commonplace-Draft: f00d -->\n",
            },
        ),
    ]
    assert {request.headers["authorization"] for request in github.requests} == {f"Bearer {TOKEN}"}


def test_a_repetition_is_one_call_that_writes_nothing(github: GitHub) -> None:
    github.on(PULLS, answer([pull()]))
    assert not propose(github).created
    assert len(github.requests) == 1


def test_of_several_pull_requests_the_open_one_is_meant(github: GitHub) -> None:
    github.on(PULLS, answer([pull(9, state="closed"), pull(8), pull(7, state="closed")]))
    assert propose(github).number == 8
    github.on(PULLS, answer([pull(9, state="closed"), pull(7, state="closed")]))
    assert propose(github).number == 9


@pytest.mark.parametrize(
    "foreign",
    [
        pull(3, head={"ref": BRANCH, "repo": {"full_name": "stranger/notes"}}),
        pull(3, head={"ref": BRANCH, "repo": None}),
        pull(3, head={"ref": "another", "repo": {"full_name": "octo/notes"}}),
    ],
)
def test_pull_requests_of_others_do_not_count(github: GitHub, foreign: dict[str, Any]) -> None:
    """Forks have branches of any name, and a filter that GitHub does not understand is no filter."""
    github.on(PULLS, answer([foreign]))
    assert propose(github).created


@pytest.mark.parametrize("body", [None, "", "A link.\n\n<!-- Commonplace-Draft: beef -->"])
def test_a_pull_request_that_says_something_else_is_a_conflict_that_names_it(github: GitHub, body: str | None) -> None:
    github.on(PULLS, answer([pull(body=body)]))
    with pytest.raises(Conflict) as caught:
        propose(github)
    assert "https://github.com/octo/notes/pull/7" in (caught.value.hint or "")


@pytest.mark.parametrize("name", ["kelp.md", "KELP.md", "Kelp.MD"])
def test_a_name_that_differs_in_case_is_taken_too(github: GitHub, name: str) -> None:
    github.on(f"GET {REPOSITORY}/git/trees/{'da' * 20}", tree(entry(name)))
    with pytest.raises(Conflict):
        propose(github, replace(ASKED, path="data/kelp.md"))
    assert written(github) == []


@pytest.mark.parametrize("fact", ["File: data/links/kelp.md", "Address: https://example.org/kelp"])
def test_what_somebody_has_proposed_already_is_named_and_not_proposed_again(github: GitHub, fact: str) -> None:
    head = {"ref": "commonplace/draft-of-somebody", "repo": {"full_name": "octo/notes"}}
    github.on(OPENED, answer([pull(3, head=head, body=f"A link.\r\n\r\n```text\r\nTitle: Kelp\r\n{fact}\r\n```")]))
    body = "A link.\n\n```text\nFile: data/links/kelp.md\nAddress: https://example.org/kelp\n```\n"
    with pytest.raises(Conflict, match="proposed already") as told:
        propose(github, replace(ASKED, body=body))
    assert "pull/3" in (told.value.hint or "")
    assert not written(github)


def test_pull_requests_that_people_have_written_themselves_do_not_count(github: GitHub) -> None:
    head = {"ref": "kelp", "repo": {"full_name": "octo/notes"}}
    github.on(OPENED, answer([pull(3, head=head, body="File: data/links/kelp.md")]))
    assert propose(github, replace(ASKED, body="File: data/links/kelp.md\n")).created


def test_a_name_that_unicode_spells_differently_is_taken_too(github: GitHub) -> None:
    github.on(f"GET {REPOSITORY}/git/trees/{'da' * 20}", tree(entry("cafe\u0301.md")))
    with pytest.raises(Conflict):
        propose(github, replace(ASKED, path="data/café.md"))


def test_a_folder_that_is_not_shown_whole_is_not_written_to(github: GitHub) -> None:
    github.on(f"GET {REPOSITORY}/git/trees/{TREE}", tree(entry("data"), truncated=True))
    with pytest.raises(Unavailable):
        propose(github)
    assert written(github) == []


@pytest.mark.parametrize(
    ("target", "refusal"),
    [
        (MAKE_REF, refuse(422, "Repository rule violations found")),
        (MAKE_REF, refuse(403, "Resource not accessible by personal access token")),
        (OPEN, refuse(403, "Resource not accessible by integration")),
        (OPEN, refuse(422, "Validation Failed")),
        (f"GET {REPOSITORY}/git/ref/heads/main", refuse(404, "Not Found")),
        (f"GET {REPOSITORY}/git/ref/heads/main", refuse(409, "Git Repository is empty.")),
        (PULLS, refuse(401, "Bad credentials")),
        (PULLS, refuse(404, "Not Found")),
    ],
)
def test_what_only_an_operator_can_mend_says_so_and_leaks_nothing(
    github: GitHub, target: str, refusal: httpx.Response, caplog: pytest.LogCaptureFixture
) -> None:
    github.on(target, refusal)
    with pytest.raises(Unavailable, match="not able to open pull requests") as caught:
        propose(github)
    told = f"{caught.value.envelope()} {caplog.text} {[vars(record) for record in caplog.records]}"
    for secret in (TOKEN, "octo", "personal access", "rule violations", "kelp"):
        assert secret not in told


def _broken(error: Exception) -> Callable[[], GitHubWriter]:
    def read() -> GitHubWriter:
        raise error

    return read


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (EndpointConnectionError(endpoint_url="https://secret.example"), "does not answer"),
        (ClientError({"Error": {"Code": "AccessDeniedException", "Message": "secret"}}, "GetSecretValue"), "not able"),
    ],
)
def test_a_secret_that_cannot_be_read_is_an_outage_or_the_operators_part(
    github: GitHub, error: Exception, text: str
) -> None:
    with pytest.raises(Unavailable, match=text) as caught:
        propose(github, read=_broken(error))
    assert "secret" not in str(caught.value.envelope())
    assert github.requests == []


@pytest.mark.parametrize(
    "strange",
    [answer({}), answer({"object": {"sha": "main"}}), httpx.Response(200, content=b"<html>"), refuse(503, "x")],
)
def test_a_strange_answer_is_an_outage(github: GitHub, strange: httpx.Response) -> None:
    github.on(f"GET {REPOSITORY}/git/ref/heads/main", strange)
    with pytest.raises(Unavailable, match="does not answer"):
        propose(github)
    assert written(github) == []


def test_an_address_that_is_no_web_address_is_not_passed_on(github: GitHub) -> None:
    github.on(OPEN, answer(pull(html_url="javascript:alert(1)"), 201))
    with pytest.raises(Unavailable):
        propose(github)
