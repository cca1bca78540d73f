"""The repositories of one `commonplace dev`: the knowledge base's, and those of catalogues beside it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from local.dev.source import Source
from local.dev.workspace import Workspace
from local.github.api import GitHubApi
from local.github.repository import GitRepository

FIRST = "repository.git"
_FOREIGN = re.compile(r"[^A-Za-z0-9.-]")


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder shown as a branch, and the stand-in that serves it."""

    source: Source
    workspace: Workspace
    api: GitHubApi


def repository(source: Source, data: Path, tokens: Iterable[str], *, first: bool) -> Repository:
    """Its private clone lies in `data`; who brings one of the tokens may read it, for what is saved is not public.

    Only the knowledge base takes branches and pull requests.
    """
    folder = FIRST if first else f"repository-{_FOREIGN.sub('_', source.name)}.git"
    workspace = Workspace(source, data / folder)
    api = GitHubApi(GitRepository(workspace.git_dir), source.name, private=True, writable=first, tokens=tokens)
    return Repository(source, workspace, api)
