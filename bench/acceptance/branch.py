"""A branch that goes where it is told, in a private repository over the clone's objects."""

from pathlib import Path

from local.dev.source import Source
from local.dev.workspace import Workspace
from local.github.git import git_text, neutral_environment


class Branch:
    """A private repository over the clone's objects, whose one branch goes where it is told."""

    def __init__(self, source: Source, git_dir: Path) -> None:
        workspace = Workspace(source, git_dir)
        workspace.refresh()
        self.git_dir = git_dir
        self.name = source.branch
        self.head = self._head_of(source) or workspace.head or ""
        self.move(self.head)

    def first_parents(self) -> list[str]:
        """Oldest first, up to the head that the branch had at the start."""
        return self._git("rev-list", "--first-parent", "--reverse", self.head).split()

    def move(self, commit: str) -> None:
        self._git("update-ref", f"refs/heads/{self.name}", commit)

    def _head_of(self, source: Source) -> str | None:
        """The newest commit; what is only on the disk has no history."""
        if source.git_dir is None or source.revision is None:
            return None
        return git_text(f"--git-dir={source.git_dir}", "rev-parse", f"{source.revision}^{{commit}}")

    def _git(self, *arguments: str) -> str:
        return git_text(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment())
