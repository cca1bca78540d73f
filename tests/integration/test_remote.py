"""Repositories elsewhere: fetched once, fetched anew at each start, without a question, a hook or a file on disk."""

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from commonplace_local.dev.remote import address, fetched
from commonplace_local.dev.settings import name_environment
from commonplace_local.dev.workspace import Workspace
from commonplace_local.errors import CommandError
from commonplace_local.github.git import GitRepository, git, git_answer, git_environment
from tests.integration.repositories import Clone, document

FILTERED = "uploadpack.allowFilter"


@pytest.fixture
def theirs(tmp_path: Path) -> Clone:
    """A repository that can be fetched without the contents of old files, as those of GitHub can."""
    theirs = Clone(tmp_path / "far" / "garden")
    theirs.git("config", FILTERED, "true")
    theirs.write("index.md", document("Home", "First words.\n"))
    theirs.commit("Start", at="2023-01-01T00:00:00Z")
    theirs.write("index.md", document("Home", "Second words.\n"))
    theirs.write("docs/crabs.md", document("Crabs"))
    theirs.commit("More", at="2024-01-01T00:00:00Z")
    return theirs


def shown(tmp_path: Path, url: str, branch: str | None = None) -> dict[str, bytes]:
    source = fetched(url, branch, tmp_path / "clones")
    private = tmp_path / "private.git"
    shutil.rmtree(private, ignore_errors=True)
    workspace = Workspace(source, private)
    workspace.refresh()
    repository = GitRepository(private)
    try:
        head = workspace.head
        assert head is not None
        files = [entry for entry in repository.tree(head, recursive=True) if entry.kind == "blob"]
        return {entry.path: repository.blob(entry.sha) or b"" for entry in files}
    finally:
        repository.close()


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("kelp/garden", "https://github.com/kelp/garden"),
        ("kelp/garden.md", "https://github.com/kelp/garden.md"),
        ("https://git.example.org/a/b.git", "https://git.example.org/a/b.git"),
        ("ssh://git@git.example.org:2222/a/b", "ssh://git@git.example.org:2222/a/b"),
        ("git@git.example.org:a/b.git", "git@git.example.org:a/b.git"),
        ("file:///srv/git/a", "file:///srv/git/a"),
        ("http://127.0.0.1:8000/a", "http://127.0.0.1:8000/a"),
        ("notes", None),
        ("../notes", None),
        ("./kelp/garden", None),
        ("kelp/garden/docs", None),
        ("kelp/..", None),
        ("-kelp/garden", None),
        ("--upload-pack=touch/x", None),
    ],
)
def test_names_and_addresses_are_told_from_paths(text: str, url: str | None) -> None:
    assert address(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "ext::sh -c touch% /tmp/pwned",
        "ext://sh",
        "fd::7",
        "http://git.example.org/a",
        "git://git.example.org/a",
        "ssh://-oProxyCommand=touch/a",
        "https://-x/a",
        "https://user:secret@git.example.org/a",
        "https://ghp_token@git.example.org/a",
        "http://token@127.0.0.1/a",
        "file://host/a",
        "https://[bad/a",
        "https://git.example.org/a b",
        "https://git.example.org/a\nb",
    ],
)
def test_what_could_run_a_program_or_send_a_password_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="is not an address of a repository") as refused:
        address(text)
    assert "owner/name" in refused.value.hint


def test_a_branch_is_shown_whole_and_old_contents_are_left_where_they_are(theirs: Clone, tmp_path: Path) -> None:
    old = theirs.git("rev-parse", "HEAD~1:index.md")
    files = shown(tmp_path, theirs.folder.as_uri())
    assert files.keys() == {"index.md", "docs/crabs.md"}
    assert b"Second words." in files["index.md"]
    source = fetched(theirs.folder.as_uri(), None, tmp_path / "clones")
    assert (source.name, source.branch, source.work_tree) == ("local/garden", "main", None)
    there = Path(source.folder)
    assert not [file for file in there.iterdir() if file.suffix == ".md"]
    objects = git_answer("cat-file", "--batch-all-objects", "--batch-check=%(objectname)", directory=there) or ""
    assert old not in objects.split()
    repository = GitRepository(there)
    dates = repository.last_changed("refs/heads/main")
    assert dates == {"index.md": "2024-01-01T00:00:00Z", "docs/crabs.md": "2024-01-01T00:00:00Z"}
    repository.close()


def test_it_is_fetched_again_at_each_start_and_a_rewritten_branch_too(theirs: Clone, tmp_path: Path) -> None:
    url = theirs.folder.as_uri()
    assert "docs/new.md" not in shown(tmp_path, url)
    theirs.write("docs/new.md", document("New"))
    theirs.commit("New")
    assert "docs/new.md" in shown(tmp_path, url)
    theirs.git("reset", "--quiet", "--hard", "HEAD~2")
    assert shown(tmp_path, url).keys() == {"index.md"}


def test_a_branch_can_be_named_and_an_unknown_one_is_refused_with_those_there_are(
    theirs: Clone, tmp_path: Path
) -> None:
    theirs.git("checkout", "--quiet", "-b", "next")
    theirs.write("docs/next.md", document("Next"))
    theirs.commit("Next")
    theirs.git("checkout", "--quiet", "main")
    url = theirs.folder.as_uri()
    assert "docs/next.md" in shown(tmp_path, url, "next")
    assert "docs/next.md" not in shown(tmp_path, url)
    with pytest.raises(CommandError, match="There is no branch gone") as refused:
        fetched(url, "gone", tmp_path / "clones")
    assert refused.value.hint == "Its branches: main, next."
    with pytest.raises(CommandError, match="no branch"):
        fetched(url, "--upload-pack=x", tmp_path / "clones")


def test_a_branch_that_became_a_folder_of_branches_is_fetched(theirs: Clone, tmp_path: Path) -> None:
    url = theirs.folder.as_uri()
    theirs.git("branch", "feature")
    shown(tmp_path, url, "feature")
    theirs.git("branch", "--move", "feature", "feature/x")
    assert shown(tmp_path, url, "feature/x")


@pytest.mark.parametrize("lock", ["config.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_that_an_ended_process_left_does_not_stay_in_the_way(theirs: Clone, tmp_path: Path, lock: str) -> None:
    url = theirs.folder.as_uri()
    folder = fetched(url, None, tmp_path / "clones").folder
    (folder / lock).touch()
    theirs.write("docs/new.md", document("New"))
    theirs.commit("New")
    assert "docs/new.md" in shown(tmp_path, url)


def test_a_first_fetch_that_was_interrupted_is_begun_anew(theirs: Clone, tmp_path: Path) -> None:
    url = theirs.folder.as_uri()
    folder = fetched(url, None, tmp_path / "clones").folder
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "config.lock").touch()
    assert shown(tmp_path, url)


def test_a_folder_and_a_submodule_called_like_a_home_page_give_no_name(theirs: Clone, tmp_path: Path) -> None:
    theirs.git("rm", "--quiet", "index.md")
    theirs.write("README.md/inside.md", document("Inside"))
    theirs.write("Home.md", document("Herons"))
    theirs.commit("A folder")
    theirs.git("update-index", "--add", "--cacheinfo", f"160000,{theirs.git('rev-parse', 'HEAD')},index.md")
    theirs.git("commit", "--quiet", "-m", "A submodule")
    source = fetched(theirs.folder.as_uri(), None, tmp_path / "clones")
    assert name_environment(source, everything=False) == {"SITE_NAME": "Herons"}


def test_no_hook_runs_neither_theirs_nor_the_users(
    theirs: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-merge", "post-rewrite"):
        hook = template / name
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
        hook.chmod(0o755)
    config = tmp_path / "home" / ".gitconfig"
    config.parent.mkdir()
    config.write_text(f"[init]\ntemplateDir = {template.parent}\n[core]\nhooksPath = {template}\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(config.parent))
    assert shown(tmp_path, theirs.folder.as_uri())
    source = fetched(theirs.folder.as_uri(), None, tmp_path / "clones")
    assert not (source.folder / "hooks").exists()
    assert not (tmp_path / "ran").exists()


def test_nothing_there_and_an_empty_repository_are_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no repository at file:///") as refused:
        fetched((tmp_path / "nowhere").as_uri(), None, tmp_path / "clones")
    assert refused.value.hint.startswith("Check the name")
    empty = Clone(tmp_path / "empty")
    with pytest.raises(CommandError, match="has no commits yet"):
        fetched(empty.folder.as_uri(), None, tmp_path / "clones")


@contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def git_over_http(folder: Path) -> type[BaseHTTPRequestHandler]:
    """Serves the repositories of a folder by Git's own program."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            facts = {
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            answer = git("http-backend", environment=git_environment(facts), data=body)
            head, _, content = answer.partition(b"\r\n\r\n")
            self.send_response(200)
            for line in head.decode().splitlines():
                self.send_header(*line.split(": ", 1))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler


def answering(status: int) -> type[BaseHTTPRequestHandler]:
    """Answers everything so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "is not there, or needs a login"), (403, "is not there, or needs a login"), (404, "There is no repository")],
)
def test_a_login_is_never_asked_for(status: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tmp_path / "asked"
    ask = tmp_path / "ask"
    ask.write_text(f"#!/bin/sh\ntouch {asked}\necho x\n", encoding="utf-8")
    ask.chmod(0o755)
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(ask))
    monkeypatch.setenv("DISPLAY", ":0")
    with serving(answering(status)) as origin, pytest.raises(CommandError, match=re.escape(message)) as refused:
        fetched(f"{origin}/kelp/garden", None, tmp_path / "clones")
    assert f"{origin}/kelp/garden" in refused.value.message
    assert not asked.exists()


def test_without_a_network_the_first_start_fails_and_a_later_one_shows_what_was_fetched(
    theirs: Clone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(git_over_http(theirs.folder.parent)) as origin:
        url = f"{origin}/garden/.git"
        assert b"Second words." in shown(tmp_path, url)["index.md"]
    assert fetched(url, None, tmp_path / "clones").branch == "main"
    assert f"{url} cannot be reached. Showing what was fetched last." in capsys.readouterr().err
    for branch, clones in (("other", tmp_path / "clones"), (None, tmp_path / "elsewhere")):
        with pytest.raises(CommandError, match="cannot be reached"):
            fetched(url, branch, clones)
