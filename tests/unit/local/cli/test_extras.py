"""Parts that are not installed: what needs one says so, and names the command that installs it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from commonplace_local import extras
from commonplace_local.cli import validate
from commonplace_local.dev.settings import chat_environment, fetch_detector, model_environment
from commonplace_local.errors import CommandError
from commonplace_local.extras import MODULES, extra_of, install_command, is_installed, missing_line
from tests.integration.running_dev import commonplace
from tests.unit.docs.pages import ROOT

Monkey = pytest.MonkeyPatch


def without(monkeypatch: Monkey, extra: str) -> str:
    """Have Python find no module of the extra; return the command that is to be named."""
    for module in MODULES[extra]:
        monkeypatch.setitem(sys.modules, module, None)
    assert not is_installed(extra)
    return f"make setup EXTRAS={extra}"


def test_each_extra_of_the_project_is_known_by_its_modules() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras_there = dict(project["optional-dependencies"])
    (everything,) = extras_there.pop("all")
    assert set(extras_there) == set(MODULES) == set(re.findall(r"\w+", everything.partition("[")[2]))
    assert [extra for extra in MODULES if not is_installed(extra)] == [], "the tests need all of them"


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("pipx_metadata.json", 'pipx install --force "commonplace-kb[wallets]"'),
        ("uv-receipt.toml", 'uv tool install "commonplace-kb[wallets]"'),
        ("archive-v0/lib", 'uvx --from "commonplace-kb[wallets]" commonplace'),
        ("pyvenv.cfg", 'uv pip install -p {here} "commonplace-kb[wallets]"'),
    ],
)
def test_an_installed_program_names_what_installed_it(
    tmp_path: Path, monkeypatch: Monkey, mark: str, command: str
) -> None:
    (tmp_path / mark).mkdir(parents=True)
    here = tmp_path / mark if "archive" in mark else tmp_path
    monkeypatch.setattr(extras, "CHECKOUT", None)
    monkeypatch.setattr(extras, "_origin", lambda: "")
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "prefix", str(here))
    assert install_command("wallets") == command.format(here=here)


@pytest.mark.parametrize(("extra", "what"), [("wallets", "sign-in by wallet"), ("redaction", "contributed knowledge")])
def test_a_start_says_what_is_not_installed_with_the_command(monkeypatch: Monkey, extra: str, what: str) -> None:
    assert missing_line() == ""
    command = without(monkeypatch, extra)
    assert missing_line() == f"Not installed: {extra} ({what}): {command}"


def test_without_the_redaction_nothing_is_fetched(monkeypatch: Monkey, capsys: pytest.CaptureFixture[str]) -> None:
    without(monkeypatch, "redaction")
    monkeypatch.setattr("commonplace_local.dev.settings._fetched", lambda _: pytest.fail("fetched"))
    fetch_detector()
    assert capsys.readouterr().err == ""
    with pytest.raises(CommandError, match="extra `redaction`"):
        model_environment({"EMBEDDING_PROVIDER": f"onnx:{ROOT}"})


def test_a_model_of_openai_needs_its_client(monkeypatch: Monkey) -> None:
    command = without(monkeypatch, "openai")
    with pytest.raises(CommandError, match="needs the extra `openai`, which is not installed") as raised:
        chat_environment("openai:some", None, {"OPENAI_API_KEY": "x"})
    assert command in raised.value.hint


@pytest.mark.parametrize(
    ("extra", "arguments"),
    [
        ("wallets", ("dev", "--once", "--allow", f"0x{'0' * 40}=member")),
        ("opensearch", ("dev", "--once", "--engine", "opensearch", "--opensearch-url", "http://127.0.0.1:9")),
        ("reference", ("reference", "generate", "console", "app.tsx", "-o", "app.json")),
    ],
)
def test_a_command_that_needs_an_extra_names_it(
    tmp_path: Path, monkeypatch: Monkey, extra: str, arguments: tuple[str, ...]
) -> None:
    command = without(monkeypatch, extra)
    (tmp_path / "app.tsx").write_text("export const App = () => <p>Hello</p>;\n")
    done = commonplace(*arguments, at=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"needs the extra `{extra}`, which is not installed." in said
    assert command in said
    assert "Traceback" not in said


def test_a_module_that_is_missing_deep_down_is_a_sentence_too(tmp_path: Path, monkeypatch: Monkey) -> None:
    error = ModuleNotFoundError("No module named 'opensearchpy'", name="opensearchpy.exceptions")
    assert extra_of(error) == "opensearch"

    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(validate, "read_folder", fails)
    done = commonplace("validate", at=tmp_path)
    assert (done.returncode, done.stderr.splitlines()) == (
        1,
        [
            "commonplace validate: This command needs the extra `opensearch`, which is not installed.",
            "Install it: make setup EXTRAS=opensearch",
        ],
    )
    error.name = "of_nobody"
    with pytest.raises(ModuleNotFoundError):
        commonplace("validate", at=tmp_path)
