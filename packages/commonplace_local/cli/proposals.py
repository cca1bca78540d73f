"""List what was proposed to the running dev, and put a proposal into the folder."""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commonplace.documents.content.reader import Published, judge
from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.github import GitHubRepository
from commonplace.repository.slugs import is_markdown
from commonplace_local.deployment import laptop
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.terminal import Data, commands, printable, show

if TYPE_CHECKING:
    from commonplace_local.deployment import Deployment

MAX_BYTES = 8 * 1024 * 1024
NONE = "Nothing is proposed. Agents and the chat propose while `commonplace dev` runs; a restart forgets proposals."

app = commands()


class Proposals(GitHubRepository):
    """The branch, and the pull requests to it, in the stand-in of GitHub."""

    def read(self, path: str) -> Any:
        return json.loads(self._get(f"{self._base}{path}", max_bytes=MAX_BYTES).body)

    def changes(self, pull: dict[str, Any]) -> Iterator[tuple[str, BlobSha | None, BlobSha | None]]:
        """Yield the path of each file that a proposal changes, and its blob before and after."""
        commit = self.read(f"/git/commits/{pull['head']['sha']}")
        before, after = (
            {file.path: file.blob_sha for file in self.tree(sha)}
            for sha in (commit["parents"][0]["sha"], commit["sha"])
        )
        for path in sorted(before | after):
            if before.get(path) != after.get(path):
                yield path, before.get(path), after.get(path)


@dataclass(frozen=True, slots=True)
class Write:
    """A file to write: `old` is what is in the folder now."""

    file: Path
    path: str
    old: str
    new: bytes

    @property
    def diff(self) -> Iterator[str]:
        lines = self.old.splitlines(), self.new.decode("utf-8").splitlines()
        yield from difflib.unified_diff(*lines, self.path if self.old else "/dev/null", self.path, lineterm="")


@app.callback(invoke_without_command=True)
def listed(context: typer.Context, *, data: Data = None) -> None:
    """List what was proposed to the running dev, and put a proposal into its folder."""
    if context.invoked_subcommand:
        return
    branch, folder = _branch(laptop(data))
    rows = [
        {"id": str(pull["number"]), "title": pull["title"], "files": ", ".join(paths), "in the folder": there}
        for pull in branch.read("/pulls?state=open&per_page=100")
        for changes in [list(branch.changes(pull))]
        for paths in [[printable(path) for path, _, _ in changes]]
        for there in ["yes" if all(_now(folder / path) == new for path, _, new in changes) else "no"]
    ]
    show(rows, nothing=NONE)


@app.command()
def apply(
    number: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the proposal, as listed.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    data: Data = None,
) -> None:
    """Write a proposal into the folder, after showing it; nothing that changed meanwhile is overwritten."""
    branch, folder = _branch(laptop(data))
    pulls = {pull["number"]: pull for pull in branch.read("/pulls?state=all&per_page=100")}
    if number not in pulls:
        known = ", ".join(map(str, sorted(pulls))) or "none"
        raise CommandError(f"There is no proposal {number}.", f"There are: {known}. List them: commonplace proposals")
    writes = list(writes_of(branch, folder, pulls[number]))
    if not writes:
        typer.echo("It is in the folder already.")
        return
    for write in writes:
        for line in write.diff:
            typer.echo(printable(line))
    if not yes:
        typer.confirm(f"Write {', '.join(printable(write.path) for write in writes)}?", abort=True)
    if list(writes_of(branch, folder, pulls[number])) != writes:
        raise CommandError("The folder has changed meanwhile; nothing was written.", "Look at it again.")
    for write in writes:
        write_whole(write.file, write.new.decode("utf-8"))
        shown = isinstance(judge(write.new), Published)
        typer.echo(f"Written: {printable(str(write.file))}" + ("" if shown else "; to publish it: `publish: true`"))


def _branch(deployment: "Deployment") -> tuple[Proposals, Path]:
    """Raises CommandError where no folder is served."""
    folder = deployment.outputs.get("Folder")
    if not folder:
        hint = "Clone the repository, and serve the clone: commonplace dev PATH"
        raise CommandError("This dev serves a branch, and no folder to write to.", hint)
    return deployment.repository(Proposals), Path(folder)


def writes_of(branch: Proposals, folder: Path, pull: dict[str, Any]) -> Iterator[Write]:
    """Yield what has to be written. Raises CommandError for a path or a change that is refused."""
    for path, before, after in branch.changes(pull):
        parts = path.split("/")
        if any(part.startswith(".") or not part for part in parts) or not is_markdown(path):
            raise CommandError(
                f"{printable(path)} is not a page that is written.", "Only Markdown, in no hidden folder."
            )
        steps = [folder.joinpath(*parts[: end + 1]) for end in range(len(parts))]
        if link := next((step for step in steps if step.is_symlink()), None):
            raise CommandError(f"{printable(str(link))} is a symbolic link, and is not followed.", "Write it by hand.")
        now = _now(steps[-1])
        if now == after:
            continue
        if after is None or now != before:
            what = "is there already" if before is None else "was changed or removed" if after else "would be removed"
            raise CommandError(f"{printable(path)} {what}; nothing was written.", f"Compare it: {pull['html_url']}")
        old = steps[-1].read_text(encoding="utf-8", errors="replace") if now else ""
        yield Write(steps[-1], path, old, branch.blob(after))


def _now(file: Path) -> BlobSha | None:
    """Return the id of what a file holds; None where there is none. Raises CommandError for what is no file."""
    if not file.exists():
        return None
    if not file.is_file():
        raise CommandError(f"{printable(str(file))} is not a file.", "Move it away, and apply the proposal again.")
    return git_blob_sha(file.read_bytes())
