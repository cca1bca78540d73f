"""docs/agents/hive.md says what the hive does: its Python runs, its figures are the real ones."""

import re
from typing import Any

import pytest

from commonplace.hive.model import CATEGORIES, DEFAULT_LIMIT, MAX_CONTENT, MAX_LIMIT, MIN_CONTENT
from commonplace.hive.quality import HALF_LIFE_DAYS
from commonplace.hive.search import NEAR_TIE
from commonplace.hive.tools.search import LINE_TITLE
from infra.configuration import Configuration
from tests.unit.docs.pages import ROOT, blocks, rows, section
from tests.unit.hive.rest.desks import LOCKS, Desk, client_of

PAGE = ROOT / "docs" / "agents" / "hive.md"
TEXT = PAGE.read_text(encoding="utf-8")
PYTHON = [block.text for block in blocks(PAGE, "python")]


@pytest.fixture
def here() -> Desk:
    desk = Desk()
    reviewer = desk.reviewer()
    for text in (LOCKS, "Rows are locked for ever when a transaction waits for a person."):
        reviewer.told("POST", f"/pending/{desk.somebody().add(text)}/approve", {})
    return desk


def test_the_page_has_two_examples_and_how_to_start_each() -> None:
    assert len(PYTHON) == 4


def test_the_example_of_the_client_runs(here: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    client = client_of(here, here.somebody("reader").token)
    names: dict[str, Any] = {"Client": lambda *_: client, "token": "t"}
    exec(PYTHON[0], names)
    exec(PYTHON[1], names | {"Client": lambda *_: client})
    told = capsys.readouterr().out
    assert f"Acme DAO {LOCKS}" in told
    assert told.endswith("approved\n"), "the very text that it contributes is known"
    assert max(counts.helpful for counts in here.world.store.counts.values()) == 1


def test_the_retriever_gives_documents_of_langchain(here: Desk) -> None:
    names: dict[str, Any] = {}
    exec(PYTHON[2], names)
    client = client_of(here, here.somebody("reader").token)
    found: dict[str, Any] = {}
    exec(PYTHON[3], names | {"Client": lambda *_: client, "token": "t"}, found)
    documents = found["documents"]
    assert {one.page_content for one in documents} >= {LOCKS}
    assert all(one.metadata["orgAttribution"] == "Acme DAO" and one.id.startswith("hv_") for one in documents)
    assert names["HiveRetriever"](client=client, k=1).invoke("rows")[0].metadata["category"] == "bug_fix"


def test_the_page_names_every_category_and_bound() -> None:
    assert all(f"`{category}`" in TEXT for category in CATEGORIES)
    assert f"({MIN_CONTENT} to {MAX_CONTENT:,} characters)" in TEXT
    assert f"`limit` ({DEFAULT_LIMIT}, at most {MAX_LIMIT})" in TEXT
    assert f"shortened to {LINE_TITLE} characters" in TEXT


def test_the_quality_that_the_page_explains_is_the_real_one() -> None:
    assert re.findall(r"every (\d+)(?: days)? for `(\w+)`", TEXT) == [
        (str(days), category) for category, days in HALF_LIFE_DAYS.items()
    ]
    assert NEAR_TIE == 0.05
    assert "at most a twentieth" in TEXT


def test_the_defaults_on_the_page_are_the_real_ones() -> None:
    defaults = Configuration()
    for key, default, _ in rows(section(PAGE, "Configuration")):
        name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key.strip("`"))
        value = getattr(defaults, name)
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        assert default.strip("`") == shown, key
