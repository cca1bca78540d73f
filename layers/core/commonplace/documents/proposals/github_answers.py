"""What is read of GitHub's answers about branches and pull requests (REST API, version 2022-11-28)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel

Sha = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Made(_Answer):
    """Anything that has an id: a tree or a commit that was made."""

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
    repo: _Repository | None = None
    """None when the fork it comes from is gone."""


class Pull(_Answer):
    number: int
    html_url: Annotated[str, Field(pattern=r"^https?://", max_length=2048)]
    state: str
    body: str | None = None
    head: _Head

    def is_from(self, repository: str, branch: str) -> bool:
        """Whether it is of this branch of this repository: forks may have one of the same name."""
        whose = self.head.repo.full_name.casefold() if self.head.repo else None
        return self.head.ref == branch and whose == repository.casefold()


class Pulls(RootModel[list[Pull]]):
    """A page of a list, newest first."""
