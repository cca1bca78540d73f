"""The private clone shows what is on disk and leaves the user's repository as it was."""

from pathlib import Path

import pytest

from commonplace_local.dev.source import clone, plain_folder
from commonplace_local.dev.workspace import SnapshotFailed, Workspace
from commonplace_local.errors import CommandError
from commonplace_local.github.git import GitRepository, git, neutral_environment
from tests.integration.repositories import Clone, document


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("notes/one.md", document("One"))
    user.write("notes/two.md", document("Two"))
    user.write(".gitignore", "secret/\n")
    user.commit("Start", at="2024-01-01T00:00:00Z")
    return user


def workspace(user: Clone, tmp_path: Path, branch: str | None = None) -> Workspace:
    return Workspace(clone(user.folder, branch), tmp_path / "private.git")


def shown(workspace: Workspace) -> dict[str, bytes]:
    repository = GitRepository(workspace.git_dir)
    try:
        head = workspace.head
        assert head is not None
        files = [entry for entry in repository.tree(head, recursive=True) if entry.kind == "blob"]
        return {entry.path: repository.blob(entry.sha) or b"" for entry in files}
    finally:
        repository.close()


def test_clean_clone_is_shown_at_its_own_commit(user: Clone, tmp_path: Path) -> None:
    private = workspace(user, tmp_path)
    private.refresh()
    assert private.head == user.git("rev-parse", "HEAD")


def test_edits_additions_and_removals_on_disk_are_shown(user: Clone, tmp_path: Path) -> None:
    user.write("notes/one.md", "edited")
    user.write("notes/neu – drei.md", "new")
    (user.folder / "notes/two.md").unlink()
    private = workspace(user, tmp_path)
    private.refresh()
    files = shown(private)
    assert files.pop(".gitignore") == b"secret/\n"
    assert files == {"notes/one.md": b"edited", "notes/neu – drei.md": b"new"}


def test_the_users_repository_stays_byte_for_byte_as_it_was(user: Clone, tmp_path: Path) -> None:
    user.write("notes/one.md", "staged")
    user.git("add", "notes/one.md")
    user.write("notes/one.md", "and edited again")
    user.write("notes/three.md", "untracked")
    before = user.fingerprint()
    private = workspace(user, tmp_path)
    private.refresh()
    user.write("notes/three.md", "untracked, edited")
    private.refresh()
    user.write("notes/three.md", "untracked")
    assert user.fingerprint() == before
    assert shown(private)["notes/one.md"] == b"and edited again"


def test_hooks_and_split_indexes_of_the_user_are_left_alone(user: Clone, tmp_path: Path) -> None:
    user.git("config", "core.splitIndex", "true")
    user.git("config", "core.fsmonitor", "true")
    hook = user.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch hook-was-run\n")
    hook.chmod(0o755)
    user.write("notes/one.md", "edited")
    before = user.fingerprint()
    workspace(user, tmp_path).refresh()
    assert user.fingerprint() == before
    assert not (user.folder / "hook-was-run").exists()


def test_ignored_files_are_not_shown(user: Clone, tmp_path: Path) -> None:
    user.write("secret/diary.md", document("Diary"))
    user.write(".git/info/exclude", "*.draft\n")
    user.write("notes/idea.draft", "idea")
    private = workspace(user, tmp_path)
    private.refresh()
    assert set(shown(private)) == {".gitignore", "notes/one.md", "notes/two.md"}


def test_nothing_changed_means_no_move(user: Clone, tmp_path: Path) -> None:
    private = workspace(user, tmp_path)
    assert private.refresh() is not None
    assert private.refresh() is None
    user.write("notes/one.md", "edited")
    move = private.refresh()
    assert move is not None
    assert private.refresh() is None


def test_each_save_is_a_commit_on_top_of_the_one_before(user: Clone, tmp_path: Path) -> None:
    private = workspace(user, tmp_path)
    private.refresh()
    user.write("notes/one.md", "first edit")
    first = private.refresh()
    user.write("notes/two.md", "second edit")
    second = private.refresh()
    assert first is not None
    assert second is not None
    assert first.before == user.git("rev-parse", "HEAD")
    parents = git(f"--git-dir={private.git_dir}", "rev-list", "--parents", "-1", second.after).decode().split()
    assert parents == [second.after, first.after]


def test_undoing_an_edit_returns_to_the_users_commit(user: Clone, tmp_path: Path) -> None:
    private = workspace(user, tmp_path)
    private.refresh()
    user.write("notes/one.md", "edited")
    private.refresh()
    user.write("notes/one.md", document("One"))
    move = private.refresh()
    assert move is not None
    assert move.after == user.git("rev-parse", "HEAD")


def test_a_commit_of_the_user_becomes_the_head(user: Clone, tmp_path: Path) -> None:
    private = workspace(user, tmp_path)
    user.write("notes/one.md", "edited")
    private.refresh()
    commit = user.commit("Edit")
    private.refresh()
    assert private.head == commit


def test_another_branch_is_shown_at_its_head_without_the_files_on_disk(user: Clone, tmp_path: Path) -> None:
    user.git("branch", "earlier")
    earlier = user.git("rev-parse", "earlier")
    user.write("notes/three.md", "later")
    user.commit("Later")
    private = workspace(user, tmp_path, "earlier")
    private.refresh()
    assert private.head == earlier
    assert "notes/three.md" not in shown(private)


def test_bare_repository_is_shown_at_its_head(user: Clone, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git("clone", "--quiet", "--bare", str(user.folder), str(bare), environment=neutral_environment())
    private = Workspace(clone(bare), tmp_path / "private.git")
    private.refresh()
    assert private.head == user.git("rev-parse", "HEAD")


def test_detached_head_is_shown_as_main(user: Clone, tmp_path: Path) -> None:
    user.git("checkout", "--quiet", "--detach")
    source = clone(user.folder)
    private = Workspace(source, tmp_path / "private.git")
    private.refresh()
    assert (source.branch, private.head) == ("main", user.git("rev-parse", "HEAD"))


def test_linked_work_tree_and_shallow_clone_are_shown(user: Clone, tmp_path: Path) -> None:
    user.write("notes/three.md", "three")
    user.commit("Third")
    linked = tmp_path / "linked"
    user.git("worktree", "add", "--quiet", "-b", "side", str(linked))
    (linked / "notes/four.md").write_text("four")
    private = Workspace(clone(linked), tmp_path / "side.git")
    private.refresh()
    assert shown(private)["notes/four.md"] == b"four"

    shallow = tmp_path / "shallow"
    git("clone", "--quiet", "--depth=1", f"file://{user.folder}", str(shallow), environment=neutral_environment())
    private = Workspace(clone(shallow), tmp_path / "shallow.git")
    private.refresh()
    repository = GitRepository(private.git_dir)
    dates = repository.last_changed(str(private.head))
    repository.close()
    assert set(dates) == {".gitignore", "notes/one.md", "notes/two.md", "notes/three.md"}


def test_repository_without_commits_is_shown_from_disk(tmp_path: Path) -> None:
    fresh = Clone(tmp_path / "fresh")
    fresh.write("hello.md", "hello")
    private = workspace(fresh, tmp_path)
    private.refresh()
    assert shown(private) == {"hello.md": b"hello"}


def test_plain_folder_needs_no_repository(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "data").mkdir(parents=True)
    (folder / "data/a.md").write_bytes(b"a\r\n")
    private = Workspace(plain_folder(folder, "local/plain"), tmp_path / "private.git")
    private.refresh()
    assert shown(private) == {"data/a.md": b"a\r\n"}
    assert sorted(path.name for path in folder.iterdir()) == ["data"]


def test_state_survives_a_restart(user: Clone, tmp_path: Path) -> None:
    user.write("notes/one.md", "edited")
    first = workspace(user, tmp_path)
    first.refresh()
    again = workspace(user, tmp_path)
    assert again.head == first.head
    assert again.refresh() is None


def test_folder_with_a_colon_in_its_name_lends_its_objects(tmp_path: Path) -> None:
    user = Clone(tmp_path / 'odd: "name"')
    user.write("a.md", "a")
    user.commit()
    user.write("b.md", "b")
    private = workspace(user, tmp_path)
    private.refresh()
    assert shown(private) == {"a.md": b"a", "b.md": b"b"}


@pytest.mark.parametrize("remote", ["https://github.com/reef/garden.git", "git@github.com:reef/garden.git"])
def test_clone_of_a_github_repository_keeps_its_name(user: Clone, remote: str) -> None:
    assert clone(user.folder).name == "local/garden"
    user.git("remote", "add", "origin", remote)
    assert clone(user.folder).name == "reef/garden"


def test_wrong_folders_and_branches_are_refused_with_what_to_do(user: Clone, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    for path, branch, message, hint in [
        (tmp_path / "nowhere", None, "is not a folder", "commonplace dev PATH"),
        (plain, "main", "is not a Git repository", "leave out --branch"),
        (user.folder / "notes", None, "is not its top folder", str(user.folder)),
        (user.folder, "nope", "no branch 'nope'", "main"),
    ]:
        with pytest.raises(CommandError) as refused:
            clone(path, branch)
        assert message in refused.value.message
        assert hint in refused.value.hint


def notes(folder: Path) -> Path:
    """A folder without Git, as an editor of notes leaves it."""
    files = {
        "one.md": "one",
        "deep/er/two – zwei.md": "two",
        ".obsidian/app.json": "{}",
        ".trash/gone.md": "gone",
        "web/node_modules/left/readme.md": "package",
        "secret/three.md": "three",
        ".gitignore": "secret/\n",
        "huge.bin": "x" * 5_000_001,
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    Clone(folder / "inner").write("four.md", "four")
    (folder / "link.md").symlink_to("one.md")
    (folder / "loop").symlink_to(folder)
    return folder


def everything(folder: Path) -> dict[str, object]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_a_folder_without_git_is_shown_as_it_is_and_stays_so(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes")
    before = everything(folder)
    source = clone(folder)
    private = Workspace(source, tmp_path / "private.git")
    private.refresh()
    assert (source.name, source.branch, source.work_tree) == ("local/notes", "main", folder)
    assert shown(private) == {
        "one.md": b"one",
        "deep/er/two – zwei.md": b"two",
        "link.md": b"one.md",
        "loop": str(folder).encode(),
    }
    assert private.large == ("huge.bin",)
    assert everything(folder) == before


def test_a_folder_without_git_follows_edits_removals_and_files_that_grow(tmp_path: Path) -> None:
    folder = notes(tmp_path / "notes")
    private = Workspace(clone(folder), tmp_path / "private.git")
    assert private.refresh() is not None
    assert private.refresh() is None
    (folder / "one.md").write_bytes(b"x" * 5_000_001)
    (folder / "huge.bin").write_bytes(b"small")
    (folder / "deep/er/two – zwei.md").unlink()
    (folder / "link.md").unlink()
    (folder / "link.md").mkdir()
    (folder / "link.md/in.md").write_text("in")
    (folder / "loop").unlink()
    (folder / "later.md").write_text("later")
    assert private.refresh() is not None
    assert shown(private) == {"huge.bin": b"small", "link.md/in.md": b"in", "later.md": b"later"}
    (folder / ".gitignore").write_text("secret/\nlater.md\n")
    assert private.refresh() is not None
    assert shown(private) == {"huge.bin": b"small", "link.md/in.md": b"in"}
    assert private.large == ("one.md",)


def test_a_folder_that_holds_too_much_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace_local.dev.workspace.MAX_FILES", 1)
    private = Workspace(clone(notes(tmp_path / "notes")), tmp_path / "private.git")
    with pytest.raises(SnapshotFailed, match="contains 4 files of 0 MB, and at most 1 and 1,500 MB are read"):
        private.refresh()
