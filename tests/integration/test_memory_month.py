"""Two days of the made-up month: the command says what the team has counted, and there was something to count."""

from pathlib import Path

import pytest

from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import plain_folder
from commonplace_local.knowledge_folder import SAMPLE
from tests.acceptance import memory_month

pytestmark = pytest.mark.laptop


def test_the_four_metrics_are_what_a_team_counts_itself(tmp_path: Path) -> None:
    with Laptop(plain_folder(SAMPLE, SAMPLE_NAME), tmp_path, environment={"MCP_ASSUMED_TIER": "vibecoder"}) as laptop:
        rows = {str(row["figure"]): row for row in memory_month.measure(laptop.url, laptop.wait, days=2)}
    assert [row for row in rows.values() if not row["the same"]] == []
    counted = {name: float(str(rows[name]["team"])) for name in rows if name.split(".")[-1] in ("n", "recurrences")}
    assert counted.keys() >= {
        *("tokens_per_story.with_searches.n", "tokens_per_story.without_searches.n", "tokens_per_story.of_answers.n"),
        *("recurrence.recurrences", "relevance.n", "adoption.n"),
    }
    assert min(counted.values()) > 0
    assert {name for name in rows if name.startswith("queries.")} >= {"queries.dev.dev", "queries.qa.qa"}


def test_a_figure_that_differs_or_is_missing_is_said() -> None:
    told = dict(memory_month.leaves({"relevance": {"n": 2, "votes": {"5": 2}}}))
    counted = dict(memory_month.leaves({"relevance": {"n": 2, "votes": {"4": 2}}}))
    rows = {row["figure"]: row["the same"] for row in memory_month.compared(told, counted)}
    assert rows == {"relevance.n": True, "relevance.votes.5": False, "relevance.votes.4": False}
