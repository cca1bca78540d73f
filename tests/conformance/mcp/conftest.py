"""Servers and clients that the conformance tests share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace_local.knowledge_folder import SAMPLE
from tests.conformance.mcp import clients as node
from tests.conformance.mcp.serving import served
from tests.integration.repositories import Clone
from tests.integration.running_dev import Dev, started

LONG_PATH = "docs/log-of-the-gauge.md"
LONG_CHARACTERS = 120_000


def long_body() -> str:
    """Of every kind that pages have to hold: headings, tables, long lines, other scripts, quotes, backslashes."""
    stretches = (
        '## Reading {n}\n\nGauge {n} stood at {m} millimetres: “höher” — said the keeper, "and \\\\ falling".\n',
        "| gauge | level |\n|---|---|\n| {n} | {m} |\n",
        "```text\n# not a heading {n}\n\tindented\n```\n",
        "潮位 {n} は {m} ミリ。 🌊\n",
        "level{n} " * 60 + "\n",
        "[… 12 characters left out …]\n",
    )
    body = ""
    for n in range(LONG_CHARACTERS):
        body += "\n" + stretches[n % len(stretches)].format(n=n, m=n * 37 % 4_001)
        if len(body) >= LONG_CHARACTERS:
            break
    return body


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> node.Clients:
    """Programs on Node.js; the tests that need them are skipped where they cannot be had, and fail in CI."""
    return node.or_skipped(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def fixture_profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the suite's own tools behind our frame, edge and gateway."""
    with served("tests.conformance.mcp.profile.handler.handler", tmp_path_factory.mktemp("profile")) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """`commonplace dev --tier member` over the sample knowledge base."""
    folder = tmp_path_factory.mktemp("dev")
    user = Clone(folder / "knowledge-base")
    shutil.copytree(SAMPLE, user.folder, dirs_exist_ok=True)
    user.write(LONG_PATH, f"---\ntitle: Log of the gauge\npublish: true\n---\n{long_body()}")
    user.commit("The sample, and a document of many pages")
    with started(user, Path(folder / "data"), "--tier", "member") as dev:
        yield dev
