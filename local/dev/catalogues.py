"""Which catalogues a `commonplace dev` serves: folders that the operator pointed at, and what functions are told."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.reference_settings import MAX_CATALOGUES, parse_catalogues
from local.dev.source import Source, clone, plain_folder
from local.errors import CommandError
from local.github.git import GitError, git_text

VARIABLE = "CATALOGUES"

_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9-]{0,39})=(?P<path>.+)", re.DOTALL)
_FOREIGN = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class CatalogueFolder:
    """A catalogue: a folder of what is served as a repository."""

    name: str
    source: Source
    folder: str = ""
    """In the repository; empty for all of it."""

    @property
    def told(self) -> dict[str, str]:
        """As functions read it (`commonplace.reference_settings`)."""
        source = self.source
        return {"name": self.name, "repository": source.name, "branch": source.branch, "folder": self.folder}


def catalogue(text: str, knowledge_base: Source) -> CatalogueFolder:
    """`[NAME=]PATH`: a local clone, a folder inside one, or any other folder. Raises CommandError.

    A folder of the knowledge base's own clone is read from the branch that is served of it.
    """
    named = _NAMED.fullmatch(text)
    path = Path(named["path"] if named else text)
    folder = path.expanduser().resolve()
    if not folder.is_dir():
        hint = "Give a local clone, a folder in one, or any other folder: --catalogue [NAME=]PATH"
        raise CommandError(f"{path} is not a folder.", hint)
    name = named["name"] if named else _name_of(folder)
    top = knowledge_base.folder
    if knowledge_base.git_dir is not None and folder.is_relative_to(top):
        return _checked(CatalogueFolder(name, knowledge_base, _within(folder, top)), text)
    if (root := _root(folder)) is not None:
        return _checked(CatalogueFolder(name, clone(root), _within(folder, root)), text)
    return _checked(CatalogueFolder(name, plain_folder(folder, f"local/{name}")), text)


def repositories(knowledge_base: Source, catalogues: Sequence[CatalogueFolder]) -> list[Source]:
    """What the stand-in of GitHub serves, the knowledge base first, each once.

    Raises CommandError for two catalogues, or two repositories, of one name, and for too many.
    """
    names = [one.name for one in catalogues]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        hint = "Name one of them otherwise: --catalogue NAME=PATH"
        raise CommandError(f"Two catalogues are called {twice[0]}.", hint)
    if len(catalogues) > MAX_CATALOGUES:
        raise CommandError(f"These are {len(catalogues)} catalogues.", f"At most {MAX_CATALOGUES} are served.")
    found = {knowledge_base.name.lower(): knowledge_base}
    for one in catalogues:
        there = found.setdefault(one.source.name.lower(), one.source)
        if there != one.source:
            raise CommandError(
                f"{there.folder} and {one.source.folder} are both clones of {one.source.name}.",
                "Serve folders of one clone; a second one would have to be another repository.",
            )
    return list(found.values())


def catalogue_environment(catalogues: Iterable[CatalogueFolder]) -> dict[str, str]:
    """What functions are told of them; nothing where there are none."""
    told = [one.told for one in catalogues]
    return {VARIABLE: json.dumps(told)} if told else {}


def _checked(found: CatalogueFolder, text: str) -> CatalogueFolder:
    if parse_catalogues(json.dumps([found.told]), "", "") is None:
        hint = "Folders and branches with ordinary names are served: letters, digits, hyphens, dots, slashes."
        raise CommandError(f"--catalogue {text} cannot be served.", hint)
    return found


def _name_of(folder: Path) -> str:
    name = _FOREIGN.sub("-", folder.name.lower()).strip("-")[:40].strip("-")
    if not re.match("[a-z]", name):
        raise CommandError(f"{folder} needs a name.", f"Give it one: --catalogue NAME={folder}")
    return name


def _root(folder: Path) -> Path | None:
    """The top folder of the clone that the folder is in or is; None when it is in none."""
    try:
        if git_text("rev-parse", "--is-bare-repository", directory=folder) == "true":
            return folder
        return Path(git_text("rev-parse", "--show-toplevel", directory=folder)).resolve()
    except GitError:
        return None


def _within(folder: Path, top: Path) -> str:
    inside = folder.relative_to(top).as_posix()
    return "" if inside == "." else inside
