"""Dates and commits of what is shown from a folder: the author's or none, never the day on which it was read."""

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from commonplace.repository.github import GitHubRepository
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret
from commonplace_local.dev.source import Source, clone, plain_folder
from commonplace_local.dev.workspace import copied_at, repository
from commonplace_local.github.server import GitHubServer
from tests.integration.repositories import Clone, client_of, document

DAY = 86_400.0
TOKEN = "t" * 40


def write(folder: Path, name: str, text: str, at: float) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, (at, at))


class Shown:
    """A folder as `dev` shows it, read again at each question."""

    def __init__(self, source: Source, data: Path) -> None:
        self.of = repository(source, data, [TOKEN], first=True)

    @property
    def dates(self) -> Mapping[str, str | None]:
        self.of.workspace.refresh()
        head = self.of.workspace.head
        assert head is not None
        with closing(self.of.api.repository) as found:
            return dict(found.last_changed(head))

    def is_working_copy(self) -> bool:
        """As the sync reads it, over GitHub's API."""
        self.of.workspace.refresh()
        with GitHubServer(self.of.api) as server:
            credentials = SecretCredentials(lambda: GitHubSecret("", token=TOKEN))
            head = GitHubRepository(client_of(server), self.of.source.name, self.of.source.branch, credentials).head()
            assert head is not None
            return head.working_copy


@pytest.mark.parametrize(
    ("times", "copied"),
    [
        ([], None),
        ([5.0], 5.0),
        ([100.0, 101.0, 103.0, 9 * DAY], 102.0),
        ([0.0, DAY, 2 * DAY, 3 * DAY], None),
        ([0.0, 1.0, 5 * DAY, 9 * DAY], None),
    ],
)
def test_a_copy_is_known_by_the_times_that_most_of_its_files_share(times: list[float], copied: float | None) -> None:
    assert copied_at(times) == copied


def test_a_copied_folder_has_no_dates_until_a_file_of_it_is_saved(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for number in range(5):
        write(folder, f"{number}.md", document(f"Note {number}"), 100 * DAY + number)
    shown = Shown(plain_folder(folder, "local/notes"), tmp_path)
    assert set(shown.dates.values()) == {None}
    write(folder, "3.md", document("Note 3", "Edited.\n"), 130 * DAY)
    assert shown.dates == {f"{number}.md": "1970-05-11T00:00:00Z" if number == 3 else None for number in range(5)}
    assert shown.is_working_copy()


def test_files_that_were_written_one_by_one_keep_their_own_times(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for number in range(4):
        write(folder, f"{number}.md", document(f"Note {number}"), (number + 1) * DAY)
    dates = Shown(plain_folder(folder, "local/notes"), tmp_path).dates
    assert dates == {f"{number}.md": f"1970-01-0{number + 2}T00:00:00Z" for number in range(4)}


def test_a_clone_has_the_dates_of_its_commits_and_of_what_was_saved_since(tmp_path: Path) -> None:
    user = Clone(tmp_path / "garden")
    user.write("old.md", document("Old"))
    user.commit("Start", at="2021-03-04T05:06:07Z")
    user.write("newer.md", document("Newer"))
    user.commit("More", at="2022-03-04T05:06:07Z")
    shown = Shown(clone(user.folder), tmp_path)
    assert shown.dates == {"old.md": "2021-03-04T05:06:07Z", "newer.md": "2022-03-04T05:06:07Z"}
    assert not shown.is_working_copy()
    write(user.folder, "old.md", document("Old", "Edited.\n"), 20_000 * DAY)
    assert shown.dates == {"old.md": "2024-10-04T00:00:00Z", "newer.md": "2022-03-04T05:06:07Z"}
    assert shown.is_working_copy()
    user.commit("Edit", at="2025-03-04T05:06:07Z")
    assert shown.dates["old.md"] == "2025-03-04T05:06:07Z"
    assert not shown.is_working_copy()
