"""Paths and changes of a proposal that are written into a folder, and those that are refused."""

from pathlib import Path
from typing import Any

import pytest

from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace_local.cli.proposals import Proposals, Write, writes_of
from commonplace_local.errors import CommandError

PULL = {"html_url": "http://127.0.0.1/pull/1"}
NEW, OLD = b"New words.\n", b"Old words.\n"


class Proposed(Proposals):
    """One change, of one file."""

    def __init__(self, path: str, before: bytes | None = None, after: bytes | None = NEW) -> None:
        self.change = (path, *(None if raw is None else git_blob_sha(raw) for raw in (before, after)))

    def changes(self, pull: dict[str, Any]) -> list[Any]:
        return [self.change]

    def blob(self, blob_sha: BlobSha) -> bytes:
        return {git_blob_sha(raw): raw for raw in (NEW, OLD)}[blob_sha]


def writes(proposed: Proposed, folder: Path) -> list[Write]:
    return list(writes_of(proposed, folder, PULL))


def test_a_new_page_and_a_changed_one_are_written_over_what_is_there(tmp_path: Path) -> None:
    (write,) = writes(Proposed("docs/a.md"), tmp_path)
    assert (write.file, write.old, write.new) == (tmp_path / "docs/a.md", "", NEW)
    (tmp_path / "b.md").write_bytes(OLD)
    (changed,) = writes(Proposed("b.md", OLD), tmp_path)
    assert (changed.old, changed.new) == (OLD.decode(), NEW)


def test_what_is_in_the_folder_already_is_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(NEW)
    assert writes(Proposed("a.md"), tmp_path) == []


@pytest.mark.parametrize(
    "path",
    [
        "../a.md",
        "docs/../../a.md",
        "/etc/a.md",
        "docs//a.md",
        ".git/hooks/a.md",
        ".obsidian/a.md",
        "docs/.a.md",
        "docs/a.js",
        "Makefile",
        "",
    ],
)
def test_a_path_outside_the_folder_or_hidden_or_of_no_page_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a page that is written"):
        writes(Proposed(path), tmp_path)


def test_a_link_on_the_way_and_a_folder_in_the_place_of_the_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "docs").symlink_to(tmp_path / "elsewhere")
    (folder / "a.md").symlink_to(tmp_path / "not-there.md")
    (folder / "b.md").mkdir()
    for path in ("docs/a.md", "a.md"):
        with pytest.raises(CommandError, match="A symbolic link is on the way"):
            writes(Proposed(path), folder)
    with pytest.raises(CommandError, match="is a folder"):
        writes(Proposed("b.md"), folder)


@pytest.mark.parametrize(("before", "now"), [(OLD, b"Edited meanwhile.\n"), (OLD, None), (None, b"There already.\n")])
def test_a_file_that_changed_meanwhile_is_refused(before: bytes | None, now: bytes | None, tmp_path: Path) -> None:
    if now is not None:
        (tmp_path / "a.md").write_bytes(now)
    with pytest.raises(CommandError, match="nothing was written"):
        writes(Proposed("a.md", before), tmp_path)


def test_a_proposal_that_removes_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(OLD)
    with pytest.raises(CommandError, match="nothing was written"):
        writes(Proposed("a.md", OLD, None), tmp_path)
    assert (tmp_path / "a.md").read_bytes() == OLD
