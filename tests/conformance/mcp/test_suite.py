"""The official conformance suite, on its own fixtures and on the product.

The fixture profile (`profile/`) proves frame, edge and gateway with everything the suite knows; the product is put
through the scenarios that need no fixture, as `commonplace dev` serves it.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.mcp import suite
from tests.conformance.mcp.clients import Clients
from tests.integration.running_dev import Dev

BASELINE = Path(__file__).with_name("baseline.2025-11-25.yml")
MODERN, LEGACY = "2026-07-28", "2025-11-25"
LATER = {"json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"}
"""Scenarios that came after the frozen set of 2026-07-28."""

ON_ANY_SERVER = [
    (MODERN, "tools-list"),
    (MODERN, "resources-list"),
    (MODERN, "prompts-list"),
    (MODERN, "caching"),
    (MODERN, "sep-2164-resource-not-found"),
    (MODERN, "dns-rebinding-protection"),
    (MODERN, "http-header-validation"),
    (MODERN, "input-required-result-unsupported-methods"),
    (MODERN, "server-sse-multiple-streams"),
    (LEGACY, "server-initialize"),
    (LEGACY, "ping"),
    (LEGACY, "tools-list"),
    (LEGACY, "resources-list"),
    (LEGACY, "prompts-list"),
    (LEGACY, "dns-rebinding-protection"),
]

OF_SKILLS = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"]
"""Of an extension, which the suite runs one at a time alone."""

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def on_the_product(
    clients: Clients, dev: Dev, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], suite.Verdict]:
    """All scenarios of a version at once: starting the suite takes longer than all of them."""

    @cache
    def verdict(version: str) -> suite.Verdict:
        options = ("--suite", "all", "--spec-version", version)
        return suite.run(clients, f"{dev.url}/mcp", tmp_path_factory.mktemp("suite"), *options)

    return verdict


def test_everything_that_2026_07_28_requires_passes(clients: Clients, fixture_profile: str, tmp_path: Path) -> None:
    verdict = suite.run(clients, fixture_profile, tmp_path, "--requirements", MODERN)
    assert verdict.exit_code == 0, verdict.output
    wanted = suite.required(clients, MODERN)
    assert len(wanted) == 37
    assert wanted - verdict.passed == set(), verdict.output
    assert LATER - verdict.passed == set(), verdict.output


def test_everything_that_2025_11_25_requires_passes_but_what_needs_a_session(
    clients: Clients, fixture_profile: str, tmp_path: Path
) -> None:
    options = ("--requirements", LEGACY, "--expected-failures", str(BASELINE))
    verdict = suite.run(clients, fixture_profile, tmp_path, *options)
    assert verdict.exit_code == 0, verdict.output
    wanted = suite.required(clients, LEGACY)
    assert len(wanted) == 30
    assert wanted - verdict.passed == set(expected_failures()), verdict.output


def test_few_failures_are_expected_and_each_has_its_reason() -> None:
    assert 0 < len(expected_failures()) <= 5
    entries = re.findall(r"^  # .+\n(?:  # .+\n)*  - \S+$", BASELINE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(entries) == len(expected_failures())


@pytest.mark.laptop
@pytest.mark.parametrize(("version", "name"), ON_ANY_SERVER)
def test_the_product_passes_what_needs_no_fixture(
    version: str, name: str, on_the_product: Callable[[str], suite.Verdict]
) -> None:
    verdict = on_the_product(version)
    assert name not in verdict.with_status("FAILURE", "WARNING"), verdict.output
    assert name in verdict.with_status("SUCCESS"), verdict.output


@pytest.mark.laptop
@pytest.mark.parametrize("name", OF_SKILLS)
def test_the_product_passes_what_is_asked_of_skills(name: str, clients: Clients, dev: Dev, tmp_path: Path) -> None:
    verdict = suite.scenario(clients, f"{dev.url}/mcp", tmp_path, name, MODERN)
    assert verdict.exit_code == 0, verdict.output
    assert verdict.with_status("FAILURE") == {}, verdict.output
    assert verdict.with_status("SUCCESS"), verdict.output


@pytest.mark.laptop
def test_the_product_is_stateless_and_acknowledges_subscriptions(
    on_the_product: Callable[[str], suite.Verdict],
) -> None:
    """Four checks of this scenario need a tool that only the fixture profile has."""
    name = "server-stateless"
    verdict = on_the_product(MODERN)
    failed = verdict.with_status("FAILURE", "WARNING")[name]
    assert [check for check in failed if "Not testable: server does not list the diagnostic tool" not in check] == []
    passed = {check.partition(":")[0] for check in verdict.with_status("SUCCESS")[name]}
    assert len(passed) >= 19, verdict.output
    assert "sep-2575-server-sends-subscription-ack" in passed


def expected_failures() -> list[str]:
    return re.findall(r"^  - (\S+)$", BASELINE.read_text(encoding="utf-8"), re.MULTILINE)
