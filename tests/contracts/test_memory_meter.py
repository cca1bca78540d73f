"""Capacity units of calls: rounded up by the sizes of items, as DynamoDB does."""

from typing import TYPE_CHECKING, Any

import pytest

from commonplace.kernel.table import Table
from tests.aws_fixture import TABLE
from tests.contracts.memory_costs import Metered, item_size, narrow_queries

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def meter(dynamodb: "DynamoDBClient") -> Metered:
    return Metered(dynamodb)


@pytest.fixture
def table(meter: Metered) -> Table:
    client: Any = meter
    return Table(client, TABLE)


def test_an_item_is_as_large_as_its_names_and_values() -> None:
    item = {
        "pk": {"S": "ü"},
        "n": {"N": "-12.5"},
        "l": {"L": [{"S": "abc"}, {"BOOL": True}]},
        "m": {"M": {"k": {"S": "v"}}},
    }
    assert item_size(item) == (2 + 2) + (1 + 3) + (1 + 3 + 4 + 2) + (1 + 3 + 3)
    assert item_size({}) == 0


@pytest.mark.parametrize(("characters", "read", "written"), [(10, 1, 1), (1_100, 1, 2), (5_000, 2, 5)])
def test_an_item_costs_by_its_size(meter: Metered, table: Table, characters: int, read: int, written: int) -> None:
    where = {"pk": "a", "sk": "b"}
    table.write(table.put(where, {"text": "x" * characters}))
    assert (meter.read, meter.written) == (0, written)
    table.get(where)
    list(table.get_many([where, {"pk": "a", "sk": "none"}], consistent=False))
    assert (meter.read, meter.items) == (read + read / 2 + 0.5, 2)
    table.transact([table.delete(where)])
    assert meter.written == 3 * written


def test_a_query_costs_by_what_it_reads_not_by_what_it_shows(meter: Metered, table: Table) -> None:
    for number in range(9):
        table.write(table.put({"pk": "a", "sk": f"{number}"}, {"text": "x" * 2_000, "odd": number % 2}))
    found = table.query("a", "sk BETWEEN :low AND :high", {"low": "0", "high": "7", "odd": 1}, filter="#odd = :odd")
    assert len(list(found)) == 4
    assert (meter.read, meter.items) == (4, 8)
    assert [page["Count"] for page in table.pages("a", Select="COUNT", ConsistentRead=False)] == [9]
    assert (meter.read, meter.items) == (4 + 2.5, 17)


def test_narrowed_queries_answer_as_before(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    from moto.dynamodb.models.table import Table as MotoTable

    for number in range(20):
        table.write(table.put({"pk": "a", "sk": f"{number:02}"}, {"n": number}))

    def answers() -> list[list[Any]]:
        between: Any = ("sk BETWEEN :low AND :high", {"low": "03", "high": "11"})
        return [
            [item["sk"] for item in table.query("a", *condition, ScanIndexForward=forward, Limit=limit)]
            for condition in ((), between, ("begins_with(sk, :b)", {"b": "1"}), ("sk > :after", {"after": "04"}))
            for forward in (True, False)
            for limit in (1, 3, 100)
        ]

    before = answers()
    monkeypatch.setattr(MotoTable, "query", MotoTable.query)
    narrow_queries()
    assert answers() == before
    table.write(table.delete({"pk": "a", "sk": "05"}))
    table.write(table.put({"pk": "a", "sk": "055"}, {"n": 0}))
    assert "055" in answers()[0]
    assert "05" not in answers()[0]
