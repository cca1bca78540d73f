"""Proposals as pull requests on GitHub (REST API, version 2022-11-28).

File and commit are made first, where nobody sees them; then the branch, in one call that fails if it exists; then the
pull request. So no branch lacks its file, and repeating an interrupted proposal finishes it: a fingerprint of the
request stands in the commit and in the pull request. The credentials need write access to contents and pull requests
of the one repository, and nothing else.
"""

import logging
import math
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, urlencode

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from commonplace.documents.proposals.proposal import BRANCH_PREFIX, Proposal, Proposed
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.repository.github_client import Answer, GitHubClient
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import MalformedSecret
from commonplace.repository.ports import RepositoryRateLimited, RepositoryRefused, RepositoryUnavailable

logger = logging.getLogger(__name__)

Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]

BUDGET_SECONDS = 18
"""After this no further call is made: with the longest wait for one answer, it stays below what callers wait for."""
CALL_SECONDS = 8  # The longest wait for one answer; for `http_client`
MAX_ANSWER_BYTES = 8 * 1024 * 1024  # GitHub truncates a listing at seven megabytes
OPERATOR_SECONDS = 3600  # There is no use in coming back before an operator has looked

FACTS = ("File: ", "Address: ")  # Lines of a pull request's text of which no two proposals may have the same

AGAIN = "Ask again with the same arguments: what is done already is found, and nothing is done twice."

Told = TypeVar("Told", bound=BaseModel)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Made(_Answer):
    """The id of a tree or a commit that was created."""

    sha: Sha


class Ref(_Answer):
    object: Made


class Commit(_Answer):
    sha: Sha
    tree: Made
    message: str


class Entry(_Answer):
    path: str
    type: str
    sha: Sha


class Tree(_Answer):
    tree: list[Entry]
    truncated: bool = False


class _Repository(_Answer):
    full_name: str


class _Head(_Answer):
    ref: str
    repo: _Repository | None = None  # None when the fork it comes from is gone


class Pull(_Answer):
    number: int
    html_url: Annotated[str, Field(pattern=r"^https?://", max_length=2048)]
    state: str
    body: str | None = None
    head: _Head

    def is_from(self, repository: str, branch: str) -> bool:
        """Return whether it is of this branch of this repository: forks may have one of the same name."""
        whose = self.head.repo.full_name.casefold() if self.head.repo else None
        return self.head.ref == branch and whose == repository.casefold()


class Pulls(RootModel[list[Pull]]):
    """A page of a list, newest first."""


class _NotThere(Exception):
    """GitHub has nothing of that name, or refuses to create it (404, 422)."""


class GitHubProposals:
    """`repository` is `owner/name`, `branch` the one that is served. One instance may be used by several threads."""

    def __init__(
        self,
        client: GitHubClient,
        repository: str,
        branch: str,
        credentials: SecretCredentials,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._repository = repository
        self._branch = branch
        self._credentials = credentials
        self._monotonic = monotonic

    def propose(self, proposal: Proposal) -> Proposed:
        """Open a pull request with one new file, or find the one that the same branch has, open, merged or closed.

        Nothing is ever written to the branch that is served, nor over a file. The same proposal finishes what a crash
        has left half done. Raises Conflict when the file exists already or the branch says something else, Unavailable
        when GitHub does not take it now, or this deployment's credentials do not allow it.
        """
        github = _Calls(self._client, self._repository, self._credentials, self._monotonic)
        with _explained(self._client):
            return _PullRequest(github, self._repository, self._branch, proposal).done()


class _Calls:
    """Requests about one repository, as long as the budget lasts."""

    def __init__(
        self, client: GitHubClient, repository: str, credentials: SecretCredentials, monotonic: Callable[[], float]
    ) -> None:
        self._client = client
        self._credentials = credentials
        self._monotonic = monotonic
        self._until = monotonic() + BUDGET_SECONDS
        self._base = "/repos/" + "/".join(quote(part, safe="") for part in repository.split("/"))

    def get(self, path: str, **query: str) -> Answer:
        """Raises _NotThere."""
        target = f"{self._base}/{quote(path)}" + (f"?{urlencode(query)}" if query else "")
        return self._client.get(target, self._authorization(), max_bytes=MAX_ANSWER_BYTES, absent=_NotThere())

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        """Raises _NotThere."""
        target = f"{self._base}/{path}"
        return self._client.post(target, self._authorization(), body, max_bytes=MAX_ANSWER_BYTES, absent=_NotThere())

    def _authorization(self) -> str:
        authorization = self._credentials.authorization(self._client)
        if authorization is None:
            raise RepositoryRefused("the writer's secret contains no credentials")
        # Afterwards: reading the secret, or earning a token, takes time too.
        if self._monotonic() > self._until:
            raise RepositoryUnavailable("GitHub timed out")
        return authorization


class _PullRequest:
    """One proposal, from looking for it to having it."""

    def __init__(self, github: _Calls, repository: str, base: str, proposal: Proposal) -> None:
        self._github = github
        self._repository = repository
        self._base = base
        self._asked = proposal

    def done(self) -> Proposed:
        if found := self._pull():
            return self._same(found)
        # Somebody else, or the same caller in other words, may have proposed the same file or the same link.
        facts = {line for line in self._asked.body.splitlines() if line.startswith(FACTS)}
        opened = _read(Pulls, self._github.get("pulls", state="open", base=self._base, per_page="100")).root
        for pull in opened:
            ours = pull.head.ref.startswith(BRANCH_PREFIX) and pull.is_from(self._repository, pull.head.ref)
            if ours and facts.intersection((pull.body or "").splitlines()):
                hint = f"It is {pull.html_url}. Add to it there, or choose another title for something else."
                raise Conflict("This is proposed already, and waits for its review.", hint=hint)
        if not self._make_branch():
            # An earlier call began it: it is right if its commit says the same.
            head = _read(Ref, self._github.get(f"git/ref/heads/{self._asked.branch}")).object.sha
            commit = _read(Commit, self._github.get(f"git/commits/{head}"))
            if self._trailer not in commit.message.splitlines():
                message = "The branch of this proposal says something else."
                raise Conflict(message, hint="Choose another key for another proposal.")
        asked = {"title": self._asked.title, "head": self._asked.branch, "base": self._base}
        try:
            answer = self._github.post("pulls", asked | {"body": f"{self._asked.body}\n{self._marker}\n"})
        except _NotThere:
            if existing := self._pull():
                return self._same(existing)
            raise
        return self._proposed(_read(Pull, answer), created=True)

    def _pull(self) -> Pull | None:
        """Return the pull request of the branch: an open one, else the newest; also when the branch is gone by now."""
        owner = self._repository.partition("/")[0]
        query = {"head": f"{owner}:{self._asked.branch}", "state": "all", "per_page": "20"}
        pulls = _read(Pulls, self._github.get("pulls", **query)).root
        # GitHub ignores a filter that it does not understand, so the answer is looked at.
        ours = [pull for pull in pulls if pull.is_from(self._repository, self._asked.branch)]
        return next((pull for pull in ours if pull.state == "open"), ours[0] if ours else None)

    def _same(self, pull: Pull) -> Proposed:
        """Reviewers may have changed the file since, so the request's fingerprint counts."""
        if self._marker not in (pull.body or ""):
            message = "Another proposal has been made under this key."
            raise Conflict(message, hint=f"It is {pull.html_url}. Choose another key for another proposal.")
        return self._proposed(pull, created=False)

    def _make_branch(self) -> bool:
        """Make a commit with the file, and the branch that leads to it. False when there is a branch of that name."""
        head = _read(Ref, self._github.get(f"git/ref/heads/{self._base}")).object.sha
        tree = _read(Commit, self._github.get(f"git/commits/{head}")).tree.sha
        self._check_free(tree)
        file = {"path": self._asked.path, "mode": "100644", "type": "blob", "content": self._asked.text}
        made = _read(Made, self._github.post("git/trees", {"base_tree": tree, "tree": [file]}))
        message = f"{self._asked.title}\n\n{self._trailer}\n"
        commit = _read(
            Made, self._github.post("git/commits", {"message": message, "tree": made.sha, "parents": [head]})
        )
        try:
            self._github.post("git/refs", {"ref": f"refs/heads/{self._asked.branch}", "sha": commit.sha})
        except _NotThere:
            return False
        return True

    def _check_free(self, tree: str) -> None:
        """Names that differ in letter case, or in how Unicode spells them, are one file to many computers."""
        *folders, name = self._asked.path.split("/")
        for folder in folders:
            below = next((entry for entry in self._entries(tree) if entry.path == folder), None)
            if below is None:
                return
            if below.type != "tree":
                raise self._taken()
            tree = below.sha
        if any(_folded(entry.path) == _folded(name) for entry in self._entries(tree)):
            raise self._taken()

    def _entries(self, tree: str) -> list[Entry]:
        listing = _read(Tree, self._github.get(f"git/trees/{tree}"))
        if listing.truncated:
            raise RepositoryRefused("a folder is too large to be listed")
        return listing.tree

    def _taken(self) -> Conflict:
        hint = "Choose another title, or propose a change of that file on GitHub."
        return Conflict(f"A file stands at {self._asked.path} already.", hint=hint)

    def _proposed(self, pull: Pull, *, created: bool) -> Proposed:
        return Proposed(pull.number, pull.html_url, self._asked.path, self._asked.branch, created)

    @property
    def _trailer(self) -> str:
        return f"Commonplace-Draft: {self._asked.fingerprint}"

    @property
    def _marker(self) -> str:
        """Shown to nobody, kept by who edits the text above it."""
        return f"<!-- {self._trailer} -->"


@contextmanager
def _explained(client: GitHubClient) -> Iterator[None]:
    """Raise every failure as one that a caller can act on; what only an operator can mend is logged."""
    try:
        yield
    except RepositoryRateLimited as limited:
        wait = max(1, math.ceil((limited.until - client.clock()).total_seconds()))
        raise Unavailable("GitHub's rate limit is reached.", retry_after_seconds=wait, hint=AGAIN) from None
    except (RepositoryUnavailable, BotoCoreError) as error:
        logger.warning("a proposal was not taken", extra={"reason": _reason(error)})
        raise Unavailable("GitHub does not answer now.", hint=AGAIN) from None
    except (RepositoryRefused, MalformedSecret, _NotThere, ClientError) as error:
        logger.error("proposals are not allowed", extra={"reason": _reason(error)})
        raise Unavailable(
            "This deployment is not able to open pull requests at present.",
            retry_after_seconds=OPERATOR_SECONDS,
            hint="Its operator can fix that: the credentials for drafts must be valid, and need write access to "
            "contents and pull requests of the knowledge base's repository.",
        ) from None


def _reason(error: Exception) -> str:
    """Our own words, where there are some: those of others may quote what nobody should read."""
    ours = isinstance(error, RepositoryUnavailable | RepositoryRefused | MalformedSecret)
    return str(error) if ours else type(error).__name__


def _read(kind: type[Told], answer: Answer) -> Told:
    try:
        return kind.model_validate_json(answer.body)
    except ValidationError:
        raise RepositoryUnavailable("GitHub's answer is malformed") from None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
