"""List what was proposed to the running dev, and put a proposal into the folder."""

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from commonplace.documents.content.reader import Published, judge
from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.github import GitHubRepository
from commonplace.repository.slugs import is_markdown
from commonplace_local.deployment import laptop
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.terminal import Data, commands, printable, show

MAX_BYTES = 8 * 1024 * 1024
NONE = "Nothing is proposed. Agents and the chat propose while `commonplace dev` runs; a restart forgets proposals."

app = commands("List what was proposed to the running dev, and put a proposal into its folder.", no_args_is_help=False)


class Proposals(GitHubRepository):
    """The branch, and the pull requests to it, in the stand-in of GitHub."""

    def read(self, path: str) -> Any:
        return json.loads(self._get(f"{self._base}{path}", max_bytes=MAX_BYTES).body)

    def changes(self, pull: dict[str, Any]) -> list[tuple[str, BlobSha | None, BlobSha | None]]:
        """Return the path of each file that a proposal changes, and its blob before and after."""
        commit = self.read(f"/git/commits/{pull['head']['sha']}")
        trees = (self.tree(sha) for sha in (commit["parents"][0]["sha"], commit["sha"]))
        before, after = ({file.path: file.blob_sha for file in tree} for tree in trees)
        paths = (path for path in sorted(before | after) if before.get(path) != after.get(path))
        return [(path, before.get(path), after.get(path)) for path in paths]


class Write(NamedTuple):
    """A file to write; `old` is what is in the folder now."""

    file: Path
    path: str
    old: str
    new: bytes


@app.callback(invoke_without_command=True)
def listed(context: typer.Context, *, data: Data = None) -> None:
    """List what was proposed to the running dev, and put a proposal into its folder."""
    if context.invoked_subcommand:
        return
    branch, folder = _branch(data)
    rows = []
    for pull in branch.read("/pulls?state=open&per_page=100"):
        changes = branch.changes(pull)
        there = all(_now(folder / path) == after for path, _, after in changes)
        paths = ", ".join(printable(path) for path, _, _ in changes)
        facts = {"id": str(pull["number"]), "title": pull["title"], "files": paths}
        rows.append(facts | {"in the folder": "yes" if there else "no"})
    show(rows, nothing=NONE)


@app.command()
def apply(
    number: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the proposal, as listed.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    data: Data = None,
) -> None:
    """Write a proposal into the folder, after showing it; nothing that changed meanwhile is overwritten."""
    branch, folder = _branch(data)
    pull = next((one for one in branch.read("/pulls?state=all&per_page=100") if one["number"] == number), None)
    if pull is None:
        raise CommandError(f"There is no proposal {number}.", "List them: commonplace proposals")
    writes = list(writes_of(branch, folder, pull))
    for _, path, old, new in writes:
        lines = old.splitlines(), new.decode("utf-8").splitlines()
        for line in difflib.unified_diff(*lines, path if old else "/dev/null", path, lineterm=""):
            typer.echo(printable(line))
    if not writes:
        typer.echo("It is in the folder already.")
    elif not yes:
        typer.confirm(f"Write {', '.join(printable(write.path) for write in writes)}?", abort=True)
    if list(writes_of(branch, folder, pull)) != writes:
        raise CommandError("The folder has changed meanwhile; nothing was written.", "Look at it again.")
    for file, _, _, new in writes:
        write_whole(file, new.decode("utf-8"))
        shown = isinstance(judge(new), Published)
        typer.echo(f"Written: {printable(str(file))}" + ("" if shown else "; to publish it: `publish: true`"))


def _branch(data: Path | None) -> tuple[Proposals, Path]:
    """Raises CommandError where no folder is served."""
    deployment = laptop(data)
    if folder := deployment.outputs.get("Folder"):
        return deployment.repository(Proposals), Path(folder)
    hint = "Clone the repository, and serve the clone: commonplace dev PATH"
    raise CommandError("This dev serves a branch, and no folder to write to.", hint)


def writes_of(branch: Proposals, folder: Path, pull: dict[str, Any]) -> Iterator[Write]:
    """Yield what has to be written. Raises CommandError for a path or a change that is refused."""
    for path, before, after in branch.changes(pull):
        parts = path.split("/")
        if any(part.startswith(".") or not part for part in parts) or not is_markdown(path):
            raise CommandError(f"{printable(path)} is not a page that is written.", "Write it by hand.")
        steps = [folder.joinpath(*parts[: end + 1]) for end in range(len(parts))]
        if any(step.is_symlink() for step in steps):
            raise CommandError(f"A symbolic link is on the way to {printable(path)}.", "Write it by hand.")
        now = _now(steps[-1])
        if now == after:
            continue
        if after is None or now != before:
            what = "is there already" if before is None else "was changed or removed" if after else "would be removed"
            raise CommandError(f"{printable(path)} {what}; nothing was written.", f"Compare it: {pull['html_url']}")
        old = steps[-1].read_text(encoding="utf-8", errors="replace") if now else ""
        yield Write(steps[-1], path, old, branch.blob(after))


def _now(file: Path) -> BlobSha | None:
    """Return the id of what a file holds; None where there is none. Raises CommandError for a folder."""
    if file.is_dir():
        raise CommandError(f"{printable(str(file))} is a folder.", "Move it away, and apply the proposal again.")
    return git_blob_sha(file.read_bytes()) if file.exists() else None
