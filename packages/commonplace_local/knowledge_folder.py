"""A knowledge base in a folder on this machine, read and judged as the sync judges its branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commonplace.documents.content.findings import Findings, Skip
from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.content.reader import Published, judge
from commonplace.documents.content.validate import validate_tree
from commonplace.repository.markdown import MAX_FILE_BYTES
from commonplace.repository.problems import Problem
from commonplace.repository.slugs import is_markdown
from commonplace_local.errors import CommandError
from commonplace_local.files import list_files
from commonplace_local.github.git import git_answer
from commonplace_local.project import PROJECT

SAMPLE = PROJECT / "samples" / "knowledge-base"
NOTHING_TO_READ = "There is no Markdown in {}: add a file that ends in `.md`, with `publish: true` in its frontmatter."


@dataclass(frozen=True, slots=True)
class KnowledgeFolder:
    root: Path
    only: str
    """The path that was named, below the root: a folder or a file; empty for the root itself."""
    findings: Findings
    paths: Sequence[str]

    @property
    def markdown(self) -> bool:
        """True when there is Markdown below what was named."""
        below = f"{self.only}/" if self.only else ""
        return any(is_markdown(path) and (path == self.only or path.startswith(below)) for path in self.paths)

    def facts(self, path: str) -> tuple[int | None, Skip | None]:
        """Bytes of a file, and what they say, also where nothing else asks. None for a file that is not there."""
        file = self.root / path
        if not file.is_file():
            return None, None
        if file.is_symlink():
            hint = "put the file itself there"
            return 0, Skip("symbolic link", Problem("not-in-git", "the file is a symbolic link", hint))
        if path not in self.paths:
            hint = "take the pattern that matches it out of `.gitignore`"
            return file.stat().st_size, Skip("ignored", Problem("not-in-git", "Git ignores the file", hint))
        if self.findings.exclusions.is_content(path) or path in self.findings.attachments:
            return file.stat().st_size, None
        verdict = judge(_read(self.root, path))
        if isinstance(verdict, Published) or not (is_markdown(path) or self.findings.exclusions.is_misplaced(path)):
            return file.stat().st_size, None
        return file.stat().st_size, Skip(verdict.problem.message, verdict.problem)

    def shown_with_everything(self, path: str) -> bool:
        """Return whether `dev --everything` shows a page."""
        read = path in self.paths and self.findings.exclusions.is_content(path)
        return read and isinstance(judge(_read(self.root, path), everything=True), Published)


def read_folder(path: Path, exclude: Sequence[str] | None = None, root: Path | None = None) -> KnowledgeFolder:
    """The knowledge base that a folder or a file lies in. Raises CommandError for one outside of `root`."""
    top = root
    if top is None:  # the sample's, or that of the repository as the sync reads it; outside of both the folder itself
        top = path if path.is_dir() else path.parent
        ignored = path.is_dir() and git_answer("check-ignore", "-q", str(top.resolve()), directory=top) is not None
        if top.resolve().is_relative_to(SAMPLE):
            top = SAMPLE
        elif not ignored and (clone := git_answer("rev-parse", "--show-toplevel", directory=top)):
            top = Path(clone)
    inside = path.resolve() if path.is_dir() else path.parent.resolve() / path.name
    if not inside.is_relative_to(top.resolve()):
        raise CommandError(f"{path} is not in {top}.", "Name a file or folder of this knowledge base.")
    only = inside.relative_to(top.resolve()).as_posix()
    listed = list_files(top)
    exclusions = Exclusions(exclude or DEFAULT_EXCLUDES)
    sizes = {name: (top / name).stat().st_size for name in listed}
    findings = validate_tree(listed, lambda name: _read(top, name), exclusions, sizes=sizes)
    return KnowledgeFolder(top, "" if only == "." else only, findings, listed)


def _read(root: Path, name: str) -> bytes:
    with (root / name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)
