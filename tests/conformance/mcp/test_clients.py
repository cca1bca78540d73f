"""How the programs of others come here: pinned, from whatever registry npm is told of, and never left out unseen."""

import json
from pathlib import Path

import pytest

from tests.conformance.mcp import clients

HERE = Path(__file__).parent


def test_the_lock_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [
        name for name, package in packages.items() if "integrity" not in package and not package.get("inBundle")
    ] == []


def test_every_version_is_pinned() -> None:
    told = json.loads((HERE / "package.json").read_text(encoding="utf-8"))
    versions = {**told["dependencies"], **told["optionalDependencies"]}
    assert [name for name, version in versions.items() if not version[0].isdigit()] == []


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_what_cannot_be_installed_is_skipped_here_and_fails_in_ci(
    ci: str, outcome: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> None:
        raise clients.NotInstalled("the registry does not answer")

    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(clients, "_npm_ci", refused)
    with pytest.raises(outcome, match="the registry does not answer"):
        clients.or_skipped(tmp_path, folder=tmp_path / "clients")
