"""NOTICE names what others made: files with licences of their own, models, packages under more than plain terms."""

import hashlib
import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

from commonplace_local.wheel_models import MINILM, RAMPART, WheelModel
from tests.unit.docs.pages import ROOT

APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
"""SHA-256 of the licence as its steward publishes it."""
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
PLAIN = re.compile(r"MIT|BSD|ISC|Apache|Python Software Foundation|PSF|Public Domain|HPND|Unlicense", re.IGNORECASE)


def licence(package: str) -> str:
    facts = importlib.metadata.metadata(package).json
    classifiers = " ".join(one for one in facts.get("classifier", []) if one.startswith("License"))
    return str(facts.get("license_expression") or classifiers or facts.get("license", "unknown"))


def bundled() -> list[str]:
    files = [*ROOT.glob("functions/*/*requirements.txt"), *ROOT.glob("layers/*/requirements.txt")]
    names = {name for file in files for name in re.findall(r"^([A-Za-z0-9_.-]+)==", file.read_text(), re.MULTILINE)}
    here = {re.sub(r"[-_.]+", "-", found.name).lower() for found in importlib.metadata.distributions()}
    return sorted(names & here)  # some are for other systems


def test_the_licence_is_the_whole_text_and_the_package_says_so() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2
    assert project["license"] == "Apache-2.0"


@pytest.mark.parametrize("file", sorted(ROOT.glob("layers/**/*.LICENSE")), ids=lambda file: file.name)
def test_a_file_with_a_licence_of_its_own_is_in_the_notice(file: Path) -> None:
    assert file.name in NOTICE


@pytest.mark.parametrize("model", [MINILM, RAMPART], ids=lambda model: model.name)
def test_a_model_that_is_fetched_is_in_the_notice(model: WheelModel) -> None:
    assert model.title in NOTICE


def test_a_package_whose_licence_asks_for_more_is_in_the_notice() -> None:
    more = [name for name in bundled() if not PLAIN.search(licence(name))]
    assert "python-stdnum" in more
    assert [name for name in more if name not in NOTICE] == []
