"""The benchmark of governance on DynamoDB Local, small: it pages every list of a filled organisation."""

import argparse
from pathlib import Path

import pytest

from bench.speed.governance import Meter, connect, governance, new_table
from commonplace.governance.agent_tools import TOOLS
from commonplace.kernel.items import key
from commonplace.kernel.table import Table

pytestmark = pytest.mark.real

LISTS = {"list_teams", "list_members", "list_roles", "list_channels", "list_messages", "read_thread"}


def test_pages_of_a_larger_organisation_consume_at_most_three_times_the_sample(
    dynamodb_local_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.speed.governance.ROUNDS", 1)
    found, acted = governance(argparse.Namespace(url=dynamodb_local_url, sizes=(60, 300)), tmp_path)
    assert [row["tool"] for row in acted.rows] == [one.name for one in TOOLS]
    assert all(row["of them written"] for row in acted.rows)
    rows = {str(row["list"]): row for row in found.rows}
    assert rows.keys() >= LISTS
    assert not [fault for fault in found.faults if fault.endswith("units")]
    assert all(rows[name]["last units"] for name in ("list_members", "list_messages", "list_roles"))


def test_the_meter_counts_what_dynamodb_says(dynamodb_local_url: str) -> None:
    client = connect(dynamodb_local_url)
    table, meter = Table(client, new_table(client)), Meter(client)
    table.write(table.put(key("a", "b"), {"text": "x" * 5_000}))
    assert meter.of(lambda: table.get(key("a", "b"))) == 2.0
    assert meter.of(lambda: list(table.get_many([key("a", "b")]))) == 2.0
    assert meter.of(lambda: list(table.query("a"))) == 2.0
