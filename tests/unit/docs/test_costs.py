"""The tables of docs/costs.md follow from its prices by the formulas it gives."""

import json
import re
from collections import Counter

import pytest

from commonplace.memory.model import PHASES, ROLES
from infra.configuration import Configuration
from tests.unit.docs.pages import ROOT, rows, section

PAGE = ROOT / "docs" / "costs.md"
TEMPLATE = ROOT / "infra" / "template.json"
HOURS = 730
MONTHS = ("idle", "light", "busy")


def prices() -> dict[str, float]:
    return {row[0].strip("`"): float(row[1]) for row in rows(section(PAGE, "Prices"))}


def table(heading: str) -> dict[str, list[str]]:
    return {re.sub("`", "", row[0]): row[1:] for row in rows(section(PAGE, heading))}


def usage(name: str) -> list[float]:
    return [float(cell.replace(",", "")) for cell in table("Three months")[name]]


def shown(dollars: float) -> str:
    """Whole dollars, and one digit of what is less than one."""
    return f"{dollars:.0f}" if dollars >= 1 or dollars == 0 else f"{dollars:.1g}"


@pytest.mark.parametrize(
    ("row", "nodes", "instance", "gigabytes"),
    [
        ("domain, one t3.small.search, 10 GB", 1, "t3.small.search", 10),
        ("domain, two r7g.medium.search, 20 GB each", 2, "r7g.medium.search", 20),
        ("domain, two r7g.large.search, 20 GB each", 2, "r7g.large.search", 20),
    ],
)
def test_a_domain_costs_its_nodes_and_their_storage(row: str, nodes: int, instance: str, gigabytes: int) -> None:
    price = prices()
    dollars = nodes * (HOURS * price[instance] + gigabytes * price["gp3"])
    cells = [cell for cell in table("The engine")[row] if cell != "too small"]
    assert len(cells) >= 2
    assert set(cells) == {shown(dollars)}


def test_a_collection_costs_the_hours_it_is_awake() -> None:
    comparisons = 4 * HOURS / 24 / 6
    searching = [max(hours, comparisons) for hours in usage("hours in which somebody searches")]
    indexing = usage("hours in which documents change")
    price = prices()
    dollars = [price["ocu"] * (2 * awake + writing) for awake, writing in zip(searching, indexing, strict=True)]
    assert table("The engine")["serverless, NextGen"] == [shown(each) for each in dollars]


def test_functions_cost_their_searches() -> None:
    price = prices()
    each = 0.1 * price["gb-second"] + price["request"] / 1e6
    assert table("The rest of the stack")["functions and API, with any engine"] == [
        shown(searches * each) for searches in usage("searches")
    ]


def test_agents_cost_their_calls() -> None:
    price = prices()
    each = 0.1 * 1.73 * price["gb-second"] + price["request"] / 1e6
    assert table("The rest of the stack")["calls of agents, with any engine"] == [
        shown(calls * each) for calls in usage("calls of agents")
    ]


def test_whoever_listens_costs_the_time_a_function_is_held() -> None:
    price = prices()
    an_hour = 3_600 * 1.73 * price["gb-second"] + 180 * price["request"] / 1e6
    held = table("Waiting for changes")
    most = Configuration().listens
    assert held["one that listens all the time"] == [shown(an_hour), shown(an_hour * HOURS)]
    assert held[f"the most, listens: {most}"] == [shown(an_hour * most), shown(an_hour * most * HOURS)]


def test_metrics_cost_what_their_number_does() -> None:
    assert table("The rest of the stack")["metrics of agents' calls"] == [
        shown(metrics * prices()["metric"]) for metrics in usage("metrics of agents' calls")
    ]


def test_metrics_of_identity_cost_what_their_number_does() -> None:
    assert table("The rest of the stack")["metrics of identity"] == [
        shown(metrics * prices()["metric"]) for metrics in usage("metrics of identity")
    ]


def test_metrics_of_the_memory_cost_what_their_number_does() -> None:
    assert usage("metrics of the memory")[-1] == (len(PHASES) + 1) * len(ROLES) + 1
    assert table("The rest of the stack")["metrics of the memory"] == [
        shown(metrics * prices()["metric"]) for metrics in usage("metrics of the memory")
    ]


def test_what_is_always_there_costs_the_same() -> None:
    price = prices()
    kinds = Counter(
        resource["Type"] for resource in json.loads(TEMPLATE.read_text(encoding="utf-8"))["Resources"].values()
    )
    counted = {"AWS::CloudWatch::Alarm": "alarm", "AWS::KMS::Key": "key", "AWS::SecretsManager::Secret": "secret"}
    dollars = sum(kinds[kind] * price[name] for kind, name in counted.items()) + price["dashboard"]
    assert set(table("The rest of the stack")["alarms, keys, secrets, dashboard"]) == {shown(dollars)}


def test_models_cost_by_tokens_or_by_queries() -> None:
    price = prices()
    models = table("Models, for a thousand queries")
    assert models["embedding, 20 tokens each"][:2] == [
        f"{1_000 * 20 / 1e6 * price[name]:.2g}" for name in ("titan-embed", "cohere-embed")
    ]
    assert models["embedding a thousand chunks, 400 tokens each, once"][:2] == [
        f"{1_000 * 400 / 1e6 * price[name]:.2g}" for name in ("titan-embed", "cohere-embed")
    ]
    assert models["second order (rerankProvider)"] == ["", shown(price["cohere-rerank"]), shown(price["amazon-rerank"])]
