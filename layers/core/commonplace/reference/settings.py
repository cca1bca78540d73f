"""Settings of the reference: the catalogues of a deployment, from CATALOGUES."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.kernel.configuration import Kind, Settings, at_most, setting, whole
from commonplace.kernel.environment import SettingsError
from commonplace.repository.settings import BRANCH, REPOSITORY
from commonplace.repository.sources import BranchSource

MAX_CATALOGUES = 10

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_REPOSITORY, _BRANCH = re.compile(REPOSITORY), re.compile(BRANCH)
_FOLDER = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[^\x00-\x1f\x7f\\/][^\x00-\x1f\x7f\\]{0,199}(?<!/)|")
_URL = re.compile(r"(?:https?|file)://[^\x00-\x20\x7f]{1,1000}")
_KEYS = {"name", "folder", "repository", "branch", "url"}


@dataclass(frozen=True, slots=True)
class CatalogueSource:
    """A catalogue: the files of a folder on a branch."""

    name: str
    repository: str
    """`owner/name`."""
    branch: str
    folder: str
    """The folder without a slash at either end; empty for the whole repository."""
    url: str | None = None
    """Where people see the repository, where that is not GitHub: a laptop's folder, `file:///home/ada/product`."""


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
        url=given.get("url", "").rstrip("/") or None,
    )
    valid = (
        _NAME.fullmatch(source.name)
        and _REPOSITORY.fullmatch(source.repository)
        and _BRANCH.fullmatch(source.branch)
        and _FOLDER.fullmatch(source.folder)
        and (source.url is None or _URL.fullmatch(source.url))
    )
    return source if valid else None


def _checked(given: str) -> str | None:
    """Repository and branch of the knowledge base are checked for themselves."""
    return given if parse_catalogues(given, "example/knowledge-base", "main") else None


CATALOGUES = Kind(
    f'a JSON list of at most {MAX_CATALOGUES} catalogues, such as [{{"name": "helios", "folder": "reference"}}]; each '
    "may have a repository (owner/name) and a branch of its own",
    _checked,
    compact=True,
)


class CatalogueSettings(Settings):
    catalogues: str | None = setting(
        CATALOGUES, "CATALOGUES", key="catalogues", default=None, context=at_most(1_000, CATALOGUES)
    )
    """[Catalogues](../agents/reference.md) of the product reference: a JSON list of at most ten, such as `[{"name":
    "helios", "folder": "reference"}]`. `folder`, `repository` and `branch` default to those of the knowledge base. At
    most 1,000 bytes."""


class CatalogueReaderSettings(CatalogueSettings):
    max_age_seconds: int = setting(whole(1, 3_600), "REFERENCE_MAX_AGE_SECONDS", default=60)
    """How long catalogues are cached (1 to 3600); 1 on a laptop."""


def catalogue_sources(environ: Mapping[str, str]) -> tuple[CatalogueSource, ...]:
    """Those of the deployment, in order; none where CATALOGUES is not set. Raises SettingsError.

    Repository and branch are the knowledge base's own (GITHUB_REPOSITORY, GITHUB_BRANCH) where a catalogue has none.
    """
    given = CatalogueSettings.from_environ(environ).catalogues
    default = (environ.get("GITHUB_REPOSITORY", "").strip(), environ.get("GITHUB_BRANCH", "").strip())
    found = parse_catalogues(given, *default) if given else ()
    if found is None:
        raise SettingsError(f"CATALOGUES is malformed. It must be {CATALOGUES.valid}.")
    return found


def sources(environ: Mapping[str, str]) -> tuple[BranchSource, ...]:
    """The branches of the catalogues. Raises SettingsError."""
    return tuple(
        BranchSource(one.name, one.repository, one.branch, one.folder, f"commonplace/reference/{one.name}")
        for one in catalogue_sources(environ)
    )
