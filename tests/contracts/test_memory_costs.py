"""What a call of the memory reads does not grow with the memory, and an export reads each entry as often as before."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from commonplace.memory.client.client import MemoryClient
from commonplace.memory.client.learnings import Address
from tests.contracts.memory_costs import Asked, World, spent, world

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SMALL, LARGE = 264, 1_320
MOST = 1.5


def calls(here: World) -> dict[str, Asked]:
    """Calls whose answers are of the same size in both memories."""
    fact = next(one for one in here.entries[len(here.entries) // 2 :] if one.parent_id)
    summary = next(one for one in here.entries[len(here.entries) // 2 :] if not one.parent_id)
    deep = here.call("kb_list", {"limit": 5, "offset": here.size // 2})["next_cursor"]
    since = {"limit": 5, "since": "2026-01-01"}
    return {
        "get": ("kb_get", {"id": fact.id}),
        "related": ("kb_get_related", {"entry_id": fact.id}),
        "related, summary": ("kb_get_related", {"entry_id": summary.id}),
        "list": ("kb_list", {"limit": 5}),
        "list, oldest": ("kb_list", {"limit": 5, "order": "asc"}),
        "list, common tag": ("kb_list", {"limit": 5, "tags": ["blocker"]}),
        "list, rare tag": ("kb_list", {"limit": 5, "tags": [fact.tags[-1]]}),
        "list, both": ("kb_list", {"limit": 5, "tags": [fact.tags[0], fact.tags[-1]]}),
        "list, role": ("kb_list", {"limit": 5, "role": "qa"}),
        "list, story": ("kb_list", {"limit": 5, "source_story": fact.source_story}),
        "list, story and file": (
            "kb_list",
            {"limit": 5, "source_story": fact.source_story, "source_file": fact.source_file},
        ),
        "list, cursor": ("kb_list", {"limit": 5, "cursor": deep}),
        "list, confidence": ("kb_list", {"limit": 5, "order_by": "confidence"}),
        "list, changed": ("kb_list", {"limit": 5, "order_by": "updated_at"}),
        "list, a span of time": ("kb_list", since),
        "list, a span of time, confidence": ("kb_list", {**since, "order_by": "confidence"}),
        "stats": ("kb_stats", {}),
        "stats, metrics": ("kb_stats", {"metrics": True}),
        "list, a span of time, cursor": ("kb_list", {**since, "cursor": here.call("kb_list", since)["next_cursor"]}),
    }


def grown(worlds: tuple[World, World], asked: Callable[[World], Mapping[str, Asked]]) -> dict[str, list[float]]:
    """Units of the calls that cost more in the large memory than they may."""
    units: dict[str, list[float]] = {}
    for here in worlds:
        for name, (tool, arguments) in asked(here).items():
            read, written, *_ = spent(here, partial(here.call, tool, arguments))
            units.setdefault(name, []).append(read + written)
    return {name: both for name, both in units.items() if both[1] > MOST * both[0]}


def changes(here: World) -> dict[str, Asked]:
    """Calls that write as much in both."""
    new = {"entry_type": "fact", "roles": ["dev"], "tags": ["blocker", "area-1"], "source_story": "STORY-1"}
    return {
        "add": ("kb_add", {**new, "content": "Something new."}),
        "update": ("kb_update", {"id": here.entries[3].id, "content": "Something else."}),
        "delete": ("kb_delete", {"id": here.entries[4].id}),
        "import": ("kb_bulk_import", {"entries": [{**new, "content": f"Import {n}."} for n in range(10)]}),
    }


def test_what_a_call_reads_and_writes_does_not_grow_with_the_memory(dynamodb: "DynamoDBClient") -> None:
    worlds = world(dynamodb, SMALL), world(dynamodb, LARGE)
    assert grown(worlds, calls) == {}
    assert grown(worlds, changes) == {}


def test_an_export_reads_as_many_items_for_each_further_entry(dynamodb: "DynamoDBClient") -> None:
    sizes, read = (110, 220, 440), list[int]()
    for size in sizes:
        here, told = world(dynamodb, size), list[dict[str, Any]]()
        client = MemoryClient(here, Address("here"))
        read.append(spent(here, lambda: told.extend(client.entries()))[3])  # noqa: B023 - called now
        assert [one["id"] for one in told] == [one.id for one in here.entries]
    first, second = ((read[at + 1] - read[at]) / (sizes[at + 1] - sizes[at]) for at in (0, 1))
    assert second <= 1.1 * first
