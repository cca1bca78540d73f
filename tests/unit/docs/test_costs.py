"""The tables of docs/operate/costs.md follow from its prices by the formulas it gives."""

import re

import pytest

from commonplace.memory.model import PHASES, ROLES
from infra.configuration import Configuration
from tests.unit.docs.pages import ROOT, rows, section

PAGE = ROOT / "docs" / "operate" / "costs.md"
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


def month(column: int) -> dict[str, float]:
    """What a deployment does in it."""
    return {name: float(cells[column].replace(",", "")) for name, cells in table("A million requests").items()}


def parts(used: dict[str, float], engine: float, alarm_metrics: int) -> list[float]:
    """What each part costs, in the order of the page."""
    price = prices()
    return [
        engine,
        used["searches over REST"] * (0.1 * price["gb-second"] + price["request"] / 1e6)
        + used["calls of agents"] * (0.1 * 1.73 * price["gb-second"] + price["request"] / 1e6),
        alarm_metrics * price["alarm"],
        2 * price["key"] + 5 * price["secret"] + price["dashboard"],
        used["metrics of one's own"] * price["metric"],
        used["traces"] / 1e6 * price["trace"],
        used["GB of logs"] * (price["log-ingest"] + 0.15 * price["log-storage"]),
        used["write units"] / 1e6 * price["item-write"] + used["read units"] / 1e6 * price["item-read"],
        used["GB of items"] * (price["item-storage"] + price["item-backup"]),
    ]


def alarm_metrics(row: str) -> dict[str, int]:
    """Engine -> metrics in its alarms, as the page has them."""
    return {engine: int(number) for number, engine in re.findall(r"(\d+) (embedded|OpenSearch)", row)}


def test_either_engine_costs_the_sum_of_its_parts() -> None:
    price = prices()
    small = HOURS * price["t3.small.search"] + 10 * price["gp3"]
    large = 2 * (HOURS * price["r7g.medium.search"] + 20 * price["gp3"])
    page = table("Both engines")
    (counted,) = [alarm_metrics(row) for row in page if "metrics of alarms" in row]
    idle, million = month(0), month(1)
    columns = [
        parts(idle, 0, counted["embedded"]),
        parts(million, 0, counted["embedded"]),
        parts(idle, small, counted["OpenSearch"]),
        parts(million, large, counted["OpenSearch"]),
    ]
    expected = [[shown(each) for each in (*column, sum(column))] for column in columns]
    assert [list(column) for column in zip(*page.values(), strict=True)] == expected


def test_the_metrics_of_a_million_requests_are_those_of_a_busy_month() -> None:
    kinds = ("agents' calls", "identity", "the memory")
    assert month(1)["metrics of one's own"] == sum(usage(f"metrics of {kind}")[-1] for kind in kinds)


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
