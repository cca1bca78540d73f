"""A Git repository of a test's own, written through `git` as an editor would."""

from pathlib import Path

from commonplace.repository.github_client import GitHubClient, http_client
from commonplace_local.github.git import git, git_environment, git_text
from commonplace_local.github.server import GitHubServer

PERSON = {
    "GIT_AUTHOR_NAME": "Editor",
    "GIT_AUTHOR_EMAIL": "editor@example.org",
    "GIT_COMMITTER_NAME": "Editor",
    "GIT_COMMITTER_EMAIL": "editor@example.org",
}


class Clone:
    """A work tree on branch `main`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, at: str | None = None) -> str:
        when = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        return git_text(*arguments, directory=self.folder, environment=git_environment(PERSON | when))

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def commit(self, message: str = "Change", *, at: str | None = None) -> str:
        """Commits everything and returns the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message, at=at)
        return self.git("rev-parse", "HEAD")

    @property
    def git_dir(self) -> Path:
        return self.folder / ".git"

    def fingerprint(self) -> dict[str, object]:
        """Everything of the repository that a visitor must leave as it was."""
        return {
            "status": git("status", "--porcelain=v2", "-z", directory=self.folder, environment=git_environment()),
            "refs": self.git("for-each-ref"),
            "head": (self.git_dir / "HEAD").read_bytes(),
            "files": {
                str(path.relative_to(self.git_dir)): path.read_bytes()
                for path in sorted(self.git_dir.rglob("*"))
                if path.is_file()
            },
        }


def document(title: str, body: str = "Text.\n", *, publish: bool = True, **fields: str) -> str:
    """A Markdown file with frontmatter."""
    lines = [
        f"title: {title}",
        f"publish: {str(publish).lower()}",
        *(f"{key}: {value}" for key, value in fields.items()),
    ]
    return "---\n" + "\n".join(lines) + "\n---\n" + body


def client_of(server: GitHubServer) -> GitHubClient:
    """Return a client that ends its connection with each answer: nothing is open when a test ends."""
    http = http_client(server.url)
    http.headers["Connection"] = "close"
    return GitHubClient(http, server.url)
