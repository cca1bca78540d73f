"""Which catalogues a deployment has, as functions read it from CATALOGUES.

Standard library only: the webhook function carries no third-party package.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.kernel.settings import Environment
from commonplace.repository.sources import BranchSource

MAX_CATALOGUES = 10

CATALOGUES = (
    f'a JSON list of at most {MAX_CATALOGUES} catalogues, such as [{{"name": "helios", "folder": "reference"}}]; each '
    "may have a repository (owner/name) and a branch of its own"
)

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_BRANCH = re.compile(r"(?![/.-])(?!.*(?:\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])")
_FOLDER = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[^\x00-\x1f\x7f\\/][^\x00-\x1f\x7f\\]{0,199}(?<!/)|")
_KEYS = {"name", "folder", "repository", "branch"}


@dataclass(frozen=True, slots=True)
class CatalogueSource:
    """A catalogue: the files of a folder on a branch."""

    name: str
    repository: str
    """`owner/name`."""
    branch: str
    folder: str
    """Without a slash at either end; empty for the whole repository."""


def catalogue_sources(environ: Mapping[str, str]) -> tuple[CatalogueSource, ...]:
    """Those of the deployment, in order; none where CATALOGUES is not set. Raises SettingsError.

    Repository and branch are the knowledge base's own (GITHUB_REPOSITORY, GITHUB_BRANCH) where a catalogue has none.
    """
    env = Environment(environ)
    default = (environ.get("GITHUB_REPOSITORY", "").strip(), environ.get("GITHUB_BRANCH", "").strip())
    return env.optional("CATALOGUES", CATALOGUES, lambda text: parse_catalogues(text, *default)) or ()


def catalogue_context(name: str) -> str:
    """Of the commit statuses of a catalogue."""
    return f"commonplace/reference/{name}"


def sources(environ: Mapping[str, str]) -> tuple[BranchSource, ...]:
    """The branches of the catalogues. Raises SettingsError."""
    return tuple(
        BranchSource(one.name, one.repository, one.branch, one.folder, catalogue_context(one.name))
        for one in catalogue_sources(environ)
    )


def max_age_seconds(environ: Mapping[str, str]) -> float:
    """How long a function answers from the catalogues it holds before it looks for newer ones. Raises SettingsError."""
    valid = "a whole number of seconds from 1 to 3600"
    return Environment(environ).parsed("REFERENCE_MAX_AGE_SECONDS", valid, _seconds, "60")


def parse_catalogues(text: str, repository: str, branch: str) -> tuple[CatalogueSource, ...] | None:
    """None for what is no such list, or names two catalogues alike. Raises ValueError for what is no JSON."""
    given = json.loads(text)
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_CATALOGUES:
        return None
    found = [_source(one, repository, branch) for one in given]
    sources = tuple(one for one in found if one is not None)
    names = {one.name for one in sources}
    return sources if len(sources) == len(given) == len(names) else None


def _source(given: Any, repository: str, branch: str) -> CatalogueSource | None:
    if not isinstance(given, dict) or not given.keys() <= _KEYS or not all(isinstance(v, str) for v in given.values()):
        return None
    source = CatalogueSource(
        name=given.get("name", ""),
        repository=given.get("repository", repository),
        branch=given.get("branch", branch),
        folder=given.get("folder", "").strip("/"),
    )
    valid = (
        _NAME.fullmatch(source.name)
        and _REPOSITORY.fullmatch(source.repository)
        and _BRANCH.fullmatch(source.branch)
        and _FOLDER.fullmatch(source.folder)
    )
    return source if valid else None


def _seconds(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text) and 1 <= int(text) <= 3600 else None
