"""Sign-in by e-mail and social accounts: offered by who has a licence for it and has built it, and by nobody else."""

from pathlib import Path

import pytest

from infra import identity_keys
from infra.declarations import ConfigurationError
from infra.requirements import ROOT
from infra.waap import BUNDLE, __main__


def test_it_is_not_built_for_who_does_not_say_to_have_a_licence(capsys: pytest.CaptureFixture[str]) -> None:
    there = BUNDLE.exists()
    for arguments in ([], ["--yes"], ["--i-have-a-licence", "--remove"]):
        assert "name no licence" in (__main__.main(arguments) or "")
    assert BUNDLE.exists() == there


def test_it_is_no_part_of_the_repository() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert str(BUNDLE.relative_to(ROOT)) in ignored


def test_a_deployment_that_wants_it_has_to_have_built_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(identity_keys, "BUNDLE", tmp_path / "waap.js")
    with pytest.raises(ConfigurationError, match="not built yet"):
        identity_keys.waap("waap", {})
    (tmp_path / "waap.js").write_text("")
    assert identity_keys.waap("waap", {"methods": ["email"]}) == '{"methods":["email"]}'


@pytest.mark.parametrize("told", [{"methods": ["wallet"]}, {"theme": "pink"}, {"authenticationMethods": []}])
def test_nonsense_is_found_before_a_deployment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: dict[str, object]
) -> None:
    (tmp_path / "waap.js").write_text("")
    monkeypatch.setattr(identity_keys, "BUNDLE", tmp_path / "waap.js")
    with pytest.raises(ConfigurationError, match="WaaP"):
        identity_keys.waap("waap", told)
