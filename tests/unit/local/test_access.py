"""Which server a command talks to: it says so, and never guesses between two."""

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonplace_local import access, deployment
from commonplace_local.access import Access, Grant, Place, granted
from commonplace_local.deployment import NEEDED, Ambiguous, Deployment, announced
from commonplace_local.errors import CommandError

GRANT = Grant(agent="tests", scopes=("memory:write",), path="/mcp/memory")
HERE, THERE = "http://127.0.0.1:8787", "https://knowledge.example.org"


def token_for(organisation: str) -> str:
    """Unsigned: a command reads whose it is, the server whether it holds."""
    return f"e30.{base64.urlsafe_b64encode(json.dumps({'org': organisation}).encode()).decode().rstrip('=')}."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `commonplace dev` keeps its data."""
    monkeypatch.setattr(deployment, "RUNNING_FOLDER", tmp_path / "running")
    monkeypatch.delenv("COMMONPLACE_URL", raising=False)
    monkeypatch.delenv("COMMONPLACE_TOKEN", raising=False)
    return tmp_path / "data"


def laptop_cloud(url: str = HERE) -> Deployment:
    return Deployment(dict.fromkeys(NEEDED, "named") | {"BaseUrl": url}, url, "key")


@pytest.fixture
def running(folder: Path) -> Iterator[None]:
    with announced(folder, laptop_cloud()):
        yield


@pytest.fixture
def another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A second one, of another process that is alive."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", os.getppid)
        waiting = announced(tmp_path / "another", laptop_cloud(f"{HERE}/2"))
        waiting.__enter__()
    yield
    waiting.__exit__(None, None, None)


def reached(place: Place) -> Access:
    with granted(place, GRANT) as access:
        return access


def test_the_server_and_the_organisation_of_the_token_are_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMMONPLACE_TOKEN", token_for("garden"))
    assert reached(Place(url=f"{THERE}/")).organisation == "garden"
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"Server: {THERE}, organisation garden (--url)\n")


def test_an_address_of_the_environment_is_taken_where_nothing_else_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMMONPLACE_URL", THERE)
    assert reached(Place()).url == THERE
    assert capsys.readouterr().err == f"Server: {THERE}, organisation of the server (COMMONPLACE_URL)\n"


@pytest.mark.usefixtures("running")
def test_an_address_of_the_environment_beside_a_laptop_that_runs_is_not_guessed_between(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("COMMONPLACE_URL", THERE)
    with pytest.raises(CommandError) as refused:
        reached(Place())
    assert THERE in refused.value.message
    assert HERE in refused.value.message
    assert refused.value.hint == f"Choose: --url {THERE}, or --data {folder}."


@pytest.mark.usefixtures("running")
def test_an_option_chooses_between_the_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_URL", THERE)
    assert reached(Place(url=THERE)).chosen_by == "--url"


@pytest.mark.usefixtures("running", "another")
def test_a_laptop_that_url_names_gets_a_token_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    @contextmanager
    def minted(here: Deployment, organisation: str, grant: Grant) -> Iterator[str]:
        asked.append(here.base_url)
        yield "made"

    monkeypatch.setattr(access, "minted", minted)
    found = reached(Place(url=f"{HERE}/2"))
    assert (found.url, found.token, asked) == (f"{HERE}/2", "made", [f"{HERE}/2"])


@pytest.mark.usefixtures("running", "another")
def test_the_address_of_one_of_the_laptops_that_run_is_no_second_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_URL", HERE)
    assert reached(Place()).url == HERE


@pytest.mark.usefixtures("running", "another")
def test_of_two_laptops_none_is_guessed_nor_taken_for_one_that_is_away(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Ambiguous) as refused:
        reached(Place())
    assert f"{HERE} (--data {folder})" in refused.value.message
    assert f"{HERE}/2 (--data {tmp_path / 'another'})" in refused.value.message
    assert (refused.value.hint, deployment.laptop(folder).base_url) == (
        "Choose one with its --data; search takes --url, too.",
        HERE,
    )


@pytest.mark.parametrize(
    "place",
    [
        Place(url=THERE, data=Path("x")),
        Place(outputs=Path("outputs.json"), stage="prod"),
        Place(url=THERE, stage="prod"),
    ],
)
def test_two_options_that_name_a_server_are_refused(place: Place) -> None:
    with pytest.raises(CommandError, match=r"--\w+ and --\w+ name two servers"):
        reached(place)


def test_another_organisation_than_that_of_the_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_TOKEN", token_for("garden"))
    with pytest.raises(CommandError, match=r"--org orchard is not available: .* is for garden"):
        reached(Place(url=THERE, organisation="orchard"))
    assert reached(Place(url=THERE, organisation="garden")).organisation == "garden"


def test_a_token_that_does_not_say_its_organisation_is_sent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_TOKEN", "opaque")
    access = reached(Place(url=THERE))
    assert (access.token, access.organisation) == ("opaque", None)
    assert "opaque" not in repr(access) + str(access)
