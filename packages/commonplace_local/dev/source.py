"""The folders and branches that the operator pointed at, read without touching them."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.reference.settings import MAX_CATALOGUES, parse_catalogues
from commonplace_local.errors import CommandError
from commonplace_local.files import catalogue_name
from commonplace_local.github.git import GitError, git_answer, git_text

GITHUB_REMOTE = re.compile(r"(?:https?://(?:[^@/]+@)?|ssh://git@|git@)github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?")
NAME_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
LOCAL = "local/"
"""Owner of what has no name on GitHub."""
BRANCH = "main"
"""The branch that a folder without Git is shown as."""
DETACHED = "main"
"""The name under which a detached HEAD is shown."""

VARIABLE = "CATALOGUES"

_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9-]{0,39})=(?P<path>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """The files that are shown as a branch: a work tree as it is on disk, or a branch's head, or a plain folder."""

    folder: Path
    """The folder that the operator named."""
    branch: str
    name: str
    """`owner/name`: GitHub's, when the clone has such a remote, so that source links lead there."""
    git_dir: Path | None
    """The user's repository; None for a plain folder."""
    common_dir: Path | None
    """The folder of its objects and branches; another one than `git_dir` in a linked work tree."""
    revision: str | None
    """The revision that the head is read from in the user's repository."""
    work_tree: Path | None
    """The folder whose files are shown; None when only the branch's head counts."""
    origin: str | None = None
    """The address elsewhere that it was fetched from."""

    @property
    def url(self) -> str | None:
        """The address of its files: in their folder, else on GitHub; None for a branch that is nowhere else."""
        if self.work_tree is not None:
            return self.work_tree.as_uri()
        return None if self.name.startswith(LOCAL) else f"https://github.com/{self.name}"


def plain_folder(folder: Path, name: str) -> Source:
    """A folder that needs no repository."""
    return Source(folder.resolve(), BRANCH, name, None, None, None, folder.resolve())


def clone(path: Path, branch: str | None = None) -> Source:
    """A local clone, bare or with files, or a folder without Git. Raises CommandError that says what to do."""
    folder = path.expanduser().resolve()
    if not folder.is_dir():
        raise CommandError(f"{path} is not a folder.", "Name a folder of Markdown files: commonplace dev PATH")
    own_name = LOCAL + (NAME_CHARACTERS.sub("-", folder.name.removesuffix(".git")) or "repository")
    git_dir = _git_dir(folder)
    if git_dir is None and branch is not None:
        raise CommandError(f"{folder} is not a Git repository.", "It has no branches: leave out --branch.")
    if git_dir is None:
        return plain_folder(folder, own_name)
    if git_text("rev-parse", "--show-object-format", directory=folder) != "sha1":
        raise CommandError(
            f"{path} names its objects by SHA-256, and GitHub knows SHA-1 only.", "Clone it from GitHub."
        )
    common_dir = (folder / git_text("rev-parse", "--git-common-dir", directory=folder)).resolve()
    bare = git_text("rev-parse", "--is-bare-repository", directory=folder) == "true"
    current = git_answer("symbolic-ref", "--short", "-q", "HEAD", directory=folder)
    shown = branch or current or DETACHED
    remote = git_answer("config", "--get", "remote.origin.url", directory=folder)
    on_github = GITHUB_REMOTE.fullmatch(remote or "")
    name = on_github[1] if on_github else own_name
    if not bare and (branch is None or branch == current):
        return Source(folder, shown, name, git_dir, common_dir, "HEAD", folder)
    # The branch itself, else what the clone last saw of it on `origin`.
    for revision in (f"refs/heads/{shown}", f"refs/remotes/origin/{shown}"):
        if git_answer("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", directory=folder):
            return Source(folder, shown, name, git_dir, common_dir, revision, None)
    known = git_text("for-each-ref", "--format=%(refname:short)", "refs/heads", directory=folder).split()
    listed = ", ".join(known[:10]) or "none yet"
    raise CommandError(f"There is no branch {shown!r} in {folder}.", f"Its branches: {listed}.")


def _git_dir(folder: Path) -> Path | None:
    """The folder's repository; None for a folder that is in none."""
    try:
        git_dir = (folder / git_text("rev-parse", "--git-dir", directory=folder)).resolve()
        root = git_dir
        if git_text("rev-parse", "--is-bare-repository", directory=folder) != "true":
            root = Path(git_text("rev-parse", "--show-toplevel", directory=folder)).resolve()
    except GitError as error:
        if "not a git repository" in str(error):
            return None
        if "dubious ownership" in str(error):
            hint = f"If you trust it: git config --global --add safe.directory {folder}"
            raise CommandError(f"{folder} belongs to another user, and Git refuses to read it.", hint) from error
        raise CommandError(f"Git cannot read {folder}: {error}.", "Install Git 2.30 or newer and try again.") from error
    if root != folder:
        raise CommandError(
            f"{folder} lies inside the Git repository {root}, but is not its top folder.",
            f"Serve the whole repository: commonplace dev {root}",
        )
    return git_dir


def has_commits(folder: Path) -> bool:
    return git_answer("rev-parse", "--verify", "--quiet", "HEAD", directory=folder) is not None


@dataclass(frozen=True, slots=True)
class CatalogueFolder:
    """A catalogue: a folder of what is served as a repository."""

    name: str
    source: Source
    folder: str = ""
    """Its path in the repository; empty for all of it."""

    @property
    def told(self) -> dict[str, str]:
        """The facts as functions read them (`commonplace.reference.settings`)."""
        source = self.source
        told = {"name": self.name, "repository": source.name, "branch": source.branch, "folder": self.folder}
        return told | ({"url": source.url} if source.url else {})


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
    name = named["name"] if named else catalogue_name(folder)
    if name is None:
        raise CommandError(f"{folder} needs a name.", f"Give it one: --catalogue NAME={folder}")
    if knowledge_base.git_dir is not None and folder.is_relative_to(knowledge_base.folder):
        source, top = knowledge_base, knowledge_base.folder
    elif git_answer("rev-parse", "--is-bare-repository", directory=folder) == "true":
        source, top = clone(folder), folder
    elif root := git_answer("rev-parse", "--show-toplevel", directory=folder):
        top = Path(root).resolve()
        source = clone(top)
    else:
        source, top = plain_folder(folder, f"{LOCAL}{name}"), folder
    inside = folder.relative_to(top).as_posix()
    found = CatalogueFolder(name, source, "" if inside == "." else inside)
    if parse_catalogues(json.dumps([found.told]), "", "") is None:
        hint = "Folders and branches with ordinary names are served: letters, digits, hyphens, dots, slashes."
        raise CommandError(f"--catalogue {text} cannot be served.", hint)
    return found


def repositories(knowledge_base: Source, catalogues: Sequence[CatalogueFolder]) -> list[Source]:
    """Return what the stand-in of GitHub serves, the knowledge base first, each once.

    Raises CommandError for two catalogues, or two repositories, of one name, and for too many.
    """
    names = [one.name for one in catalogues]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        hint = "Rename one of them: --catalogue NAME=PATH"
        raise CommandError(f"Two catalogues have the name {twice[0]}.", hint)
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
    """Environment variables of functions about them; empty where there are none."""
    told = [one.told for one in catalogues]
    return {VARIABLE: json.dumps(told)} if told else {}
