"""Where a node may live."""

from pathlib import Path

import pytest

from local.errors import CommandError
from local.opensearch import folders
from local.opensearch.folders import Home, find_home, is_ours, state_for, unsuitable

OTHER = 54321
"""A number that owns nothing here."""


@pytest.fixture
def passable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an ordinary user runs it: the node runs as the same user."""
    monkeypatch.setattr(folders, "can_enter", lambda folder: True)


def test_a_folder_that_was_asked_for_is_taken(tmp_path: Path, passable: None) -> None:
    assert find_home(tmp_path / "node", {}) == Home(tmp_path / "node")


def test_the_variable_is_heeded_and_the_option_goes_before_it(tmp_path: Path, passable: None) -> None:
    environ = {"COMMONPLACE_OPENSEARCH_HOME": str(tmp_path / "variable")}
    assert find_home(None, environ).folder == tmp_path / "variable"
    assert find_home(tmp_path / "option", environ).folder == tmp_path / "option"


def test_a_folder_that_the_node_s_user_cannot_enter_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "can_enter", lambda folder: False)
    with pytest.raises(CommandError, match=r"the unprivileged user \(uid 10900\)"):
        find_home(tmp_path, {})


@pytest.mark.parametrize("name", ["two words", "dollar$", 'quo"te', "star*"])
def test_a_path_that_start_scripts_would_take_apart_is_refused(name: str, tmp_path: Path, passable: None) -> None:
    assert "character" in (unsuitable(tmp_path / name) or "")


def test_a_file_in_the_way_is_refused(tmp_path: Path, passable: None) -> None:
    (tmp_path / "file").write_text("")
    assert unsuitable(tmp_path / "file" / "node") == f"nothing can be written to {tmp_path / 'file'}"


def test_without_a_wish_it_is_the_project_s_own_folder(passable: None) -> None:
    assert find_home(None, {}).folder == folders.IN_PROJECT


def test_where_that_cannot_be_entered_it_is_a_temporary_one_of_this_user_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "can_enter", lambda folder: folder != folders.IN_PROJECT)
    monkeypatch.setattr(folders, "_shared", lambda: [tmp_path / "shared"])
    assert find_home(None, {}).folder == tmp_path / "shared"


def test_a_folder_that_others_write_to_is_not_trusted(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert not is_ours(tmp_path)
    tmp_path.chmod(0o755)
    assert is_ours(tmp_path)
    assert is_ours(tmp_path / "not there yet")


def test_every_folder_above_must_let_the_node_s_user_pass(tmp_path: Path) -> None:
    inner = tmp_path / "open" / "inner"
    inner.mkdir(parents=True)
    for folder in (tmp_path / "open", inner):
        folder.chmod(0o755)
    tmp_path.chmod(0o700)
    assert not folders.can_enter(inner, OTHER)
    assert folders.can_enter(inner, tmp_path.stat().st_uid)


def test_a_data_folder_keeps_its_node_s_data_inside(tmp_path: Path, passable: None) -> None:
    assert state_for(tmp_path, Home(Path("/elsewhere"))) == tmp_path / "opensearch"


def test_where_it_cannot_each_data_folder_has_a_place_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "can_enter", lambda folder: False)
    home = Home(Path("/elsewhere"))
    one, other = state_for(tmp_path / "one", home), state_for(tmp_path / "other", home)
    assert one != other
    assert one == state_for(tmp_path / "one", home)
    assert one.parent == Path("/elsewhere/kept")
