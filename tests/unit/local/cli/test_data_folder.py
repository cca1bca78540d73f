"""Who may read what a `commonplace dev` keeps."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace_local.dev.session import data_folder


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def filled(folder: Path) -> None:
    (folder / "index").mkdir(parents=True)
    (folder / "index" / "memory.sqlite").write_text("entries")
    (folder / "repository.git" / "objects").mkdir(parents=True)


@pytest.mark.parametrize("named", [True, False])
def test_what_is_written_into_it_is_for_nobody_else(tmp_path: Path, named: bool) -> None:
    with data_folder(tmp_path / "above" / "data" if named else None) as data:
        filled(data)
        modes = {path.name: mode(path) for path in (data, *data.rglob("*"))}
    assert modes.pop("memory.sqlite") == 0o600
    assert modes.pop("lock", 0o600) == 0o600
    assert set(modes.values()) == {0o700}
    (tmp_path / "afterwards").touch()
    assert mode(tmp_path / "afterwards") == 0o644


def test_what_a_former_start_left_open_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    filled(data)
    (data / "repository.git" / "hook").symlink_to(tmp_path)
    (data / "repository.git" / "objects" / "ab").write_text("blob")
    (data / "repository.git" / "objects" / "ab").chmod(0o444)
    above = mode(tmp_path)
    with data_folder(data):
        pass
    assert {mode(data), mode(data / "index"), mode(data / "repository.git" / "objects")} == {0o700}
    assert mode(data / "index" / "memory.sqlite") == 0o600
    assert mode(data / "repository.git" / "objects" / "ab") == 0o400
    assert mode(tmp_path) == above


def test_in_a_folder_with_other_things_in_it_those_stay_as_they_are(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").touch()
    above = mode(tmp_path)
    with data_folder(tmp_path):
        pass
    assert (mode(tmp_path / "notes"), mode(tmp_path / "notes" / "a.md"), mode(tmp_path)) == (0o755, 0o644, above)
    assert (mode(tmp_path / "index"), mode(tmp_path / "index" / "memory.sqlite")) == (0o700, 0o600)
