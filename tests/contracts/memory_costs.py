"""What one call of the memory costs as a team's memory grows: capacity units of DynamoDB, and CPU.

`python -m tests.contracts.memory_costs [SIZE ...]` prints them; 600 to 20,000 entries without sizes. The table is
moto's, in this process. moto reports half a unit for a read and one for a write whatever their size, so units are
computed here, by DynamoDB's rules, from the sizes of the items that a call reads and writes. CPU is that of our code:
what the client and the emulator take is left out. Calls of all sizes take turns.
"""

import copy
import math
import random
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count, product
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import boto3
from moto import mock_aws

from bench import table
from bench.table import Row, ratio
from commonplace.identity.principals import Principal
from commonplace.kernel.table import Write
from commonplace.memory import facets
from commonplace.memory.client.client import MemoryClient
from commonplace.memory.client.learnings import Address
from commonplace.memory.entries import Memory
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.lesson_words import CATEGORIES
from commonplace.memory.model import Entry, EntryId, content_hash
from commonplace.memory.operations import MemoryServices
from commonplace.memory.records import SHARDS, EntryTable, count_key
from commonplace.memory.search import MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.memory.usage import DynamoUsage
from commonplace.search.store import DynamoVectorCaches
from commonplace.web.mcp.declaration import Call, Caller
from commonplace_local.cloud import moto_patches
from commonplace_local.cloud.environment import ACCOUNT

SIZES = (600, 5_000, 10_000, 20_000)
ROUNDS, WARM_UP, IMPORTS = 5, 1, 1
OWN = "acme"
FACTS = 10
"""Of a story, beside its summary."""
AREAS, STORIES_OF_A_PART = 20, 3
"""Tags that are on many entries, and stories that share one that is on few."""
DIMENSIONS = 384
"""Of a vector in the cache."""
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
READ_BYTES, WRITE_BYTES = 4_096, 1_024
WORDS = (
    *("the build", "tests", "parser", "cache", "router", "retry", "schema", "index queue", "token", "deploy"),
    "review",
)
NEW: Mapping[str, Any] = {
    "entry_type": "fact",
    "roles": ["dev", "pm"],
    "tags": ["blocker", "area-3", "part-2"],
    "source_story": "STORY-7",
    "source_file": "docs/stories/STORY-7.md",
}


class Metered:
    """A client of DynamoDB that adds up the units of its calls, the items they read, and the CPU they take."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.read = self.written = self.seconds = 0.0
        self.items = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = getattr(self._client, name)
        if name not in ("get_item", "batch_get_item", "query"):
            _sorted.clear()

        def metered(**request: Any) -> Any:
            began = time.process_time()
            try:
                places = _places(name, request)
                before = [self._size(*place) for place in places]
                answer = operation(**request)
                factor = 2 if name == "transact_write_items" else 1
                for place, size in zip(places, before, strict=True):
                    self.written += factor * max(1, math.ceil(max(size, self._size(*place)) / WRITE_BYTES))
                if name == "get_item":
                    self._read([answer.get("Item") or {}], request)
                elif name == "query":
                    self._read(self._whole_page(request, answer), request)
                elif name == "batch_get_item":
                    for table_name, wanted in request["RequestItems"].items():
                        found = answer["Responses"].get(table_name, [])
                        for item in [*found, *[{}] * (len(wanted["Keys"]) - len(found))]:
                            self._read([item], wanted)
                return answer
            finally:
                self.seconds += time.process_time() - began

        return metered

    def _size(self, table_name: str, where: Mapping[str, Any]) -> int:
        return item_size(self._client.get_item(TableName=table_name, Key=dict(where)).get("Item") or {})

    def _read(self, items: Sequence[Mapping[str, Any]], request: Mapping[str, Any]) -> None:
        """Count one read of items together."""
        units = max(1, math.ceil(sum(map(item_size, items)) / READ_BYTES))
        self.read += units if request.get("ConsistentRead") else units / 2
        self.items += sum(bool(item) for item in items)

    def _whole_page(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return what a query reads: also what a filter leaves out, or a count does not show."""
        if answer["ScannedCount"] == len(answer.get("Items", ())):
            items: list[Mapping[str, Any]] = answer["Items"]
            return items
        used = request["KeyConditionExpression"]
        hidden = ("FilterExpression", "Select", "ProjectionExpression")
        whole: dict[str, Any] = {name: value for name, value in request.items() if name not in hidden}
        for part in ("ExpressionAttributeValues", "ExpressionAttributeNames"):
            known = {name: value for name, value in whole.pop(part, {}).items() if name in used}
            whole |= {part: known} if known else {}
        read: list[Mapping[str, Any]] = self._client.query(**whole | {"Limit": answer["ScannedCount"] or 1})["Items"]
        return read[: answer["ScannedCount"]]


def _places(name: str, request: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return table and key of every item that a call writes."""
    writes: list[Mapping[str, Any]] = []
    if name == "transact_write_items":
        writes = [one for part in request["TransactItems"] for one in part.values()]
    elif name == "batch_write_item":
        parts = [(table_name, part) for table_name, some in request["RequestItems"].items() for part in some]
        writes = [{"TableName": table_name, **one} for table_name, part in parts for one in part.values()]
    elif name in ("put_item", "update_item", "delete_item"):
        writes = [request]
    keys = [(write["TableName"], write.get("Key") or write["Item"]) for write in writes]
    return [(table_name, {"pk": where["pk"], "sk": where["sk"]}) for table_name, where in keys]


def item_size(item: Mapping[str, Any]) -> int:
    """Return the bytes of an item, as DynamoDB's documentation counts them; 0 of one that is not there."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return math.ceil(len(inner.strip("-").replace(".", "").strip("0")) / 2) + 1
        case "B":
            return len(inner)
        case "L":
            return 3 + sum(1 + _value_size(one) for one in inner)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_size(one) for name, one in inner.items())
        case _:
            return 1


def entries(size: int) -> Iterator[Entry]:
    """Yield what stories of a team leave: a summary and its facts, each with the tags and roles of its category."""
    random_words = random.Random(7)
    parent: EntryId | None = None
    for number in range(size):
        story, place = divmod(number, FACTS + 1)
        category = CATEGORIES[(story + place) % len(CATEGORIES)]
        summary = place == 0
        content = f"{number}: {' '.join(random_words.choices(WORDS, k=120 if summary else 50))}."
        id = EntryId(str(UUID(int=random_words.getrandbits(128), version=4)))
        at = f"{SINCE + timedelta(minutes=number):%Y-%m-%dT%H:%M:%S.%fZ}"
        parent = None if summary else parent
        yield Entry(
            organisation=OWN,
            id=id,
            content=content,
            content_hash=content_hash(content),
            entry_type="summary" if summary else "fact",
            roles=("all",) if summary else category.roles,
            tags=(
                *(() if summary else category.tags),
                f"area-{story % AREAS}",
                f"part-{story // STORIES_OF_A_PART}",
            ),
            confidence=category.confidence,
            created_at=at,
            updated_at=at,
            parent_id=parent,
            source_file=f"docs/stories/STORY-{story}.md",
            source_story=f"STORY-{story}",
        )
        parent = id if summary else parent


@dataclass
class World:
    """One memory of a size, and what its calls cost."""

    size: int
    client: Metered
    tools: Mapping[str, Any]
    entries: Sequence[Entry]
    fresh: Iterator[int] = field(default_factory=count)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the structured answer, as `memory.client.client.MemoryServer` does."""
        declared = self.tools[tool]
        principal = Principal(
            subject="0xabc", organisation=OWN, tier="member", scopes=frozenset({"memory:admin"}), account="a" * 32
        )
        answer = declared.run(Call(Caller(principal)), declared.arguments(**arguments))
        data: dict[str, Any] = answer.data.model_dump(mode="json", exclude_none=True)
        return data


def world(client: Any, size: int) -> World:
    """Return a memory of so many entries, each of which has a vector in the cache; its stories have searched."""
    records, activity, cache = (f"{name}-{uuid4().hex}" for name in ("records", "activity", "cache"))
    for name in (records, activity, cache):
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
    made = list(entries(size))
    fill(client, records, made)
    caches = DynamoVectorCaches(client, cache)
    caches.of(OWN).remember({one.content_hash: [0.5] * DIMENSIONS for one in made})
    usage = DynamoUsage(client, records, activity)
    for story in {one.source_story: None for one in made if one.source_story}:
        usage.searched(OWN, story, 800)
        usage.recorded(OWN, story, 40_000)
    metered: Any = Metered(client)
    store = DynamoEntries(metered, records, activity)
    memory = Memory(
        store=store,
        jobs=DynamoJobs(metered, records, activity),
        counts=DynamoQueryCounts(metered, records),
        caches=DynamoVectorCaches(metered, cache),
        usage=DynamoUsage(metered, records, activity),
        search_index=MemorySearch(_NoIndex(), [], store),  # type: ignore[arg-type]
        embedder=None,
        clock=lambda: datetime.now(UTC),
        new_id=lambda: str(uuid4()),
    )
    tools = {tool.name: tool for tool in memory_toolset(MemoryServices(memory=memory)).tools}
    return World(size, metered, tools, made)


class _NoIndex:
    """Nothing here searches."""


def fill(client: Any, records: str, made: Sequence[Entry]) -> None:
    """Write the items that `DynamoEntries.add` writes, straight into moto, with counts in all their shards."""
    entry_table = EntryTable(client, records)
    writes: list[Write] = [entry_table.named(OWN)]
    counts: dict[tuple[str, int], Counter[str]] = {}
    for number, entry in enumerate(made):
        change = facets.change(None, entry)
        writes += [*entry_table.added(OWN, entry), *entry_table.placed(OWN, change)]
        for facet, cells in change.counts.items():
            counts.setdefault((facet, number % SHARDS), Counter()).update(cells)
    writes += [entry_table.put(count_key(OWN, facet, shard), cells) for (facet, shard), cells in counts.items()]
    from moto.dynamodb.models import dynamodb_backends
    from moto.dynamodb.models.dynamo_type import DynamoType, Item

    stored = dynamodb_backends[ACCOUNT]["us-east-1"].tables[records]
    for write in writes:
        item = write["Put"]["Item"]
        where = DynamoType(item["pk"]), DynamoType(item["sk"])
        stored.items[where[0]][where[1]] = Item(*where, item)


_sorted: dict[tuple[int, str], list[str]] = {}
"""Sort keys of partitions as they are since the last write."""


def narrow_queries() -> None:
    """Let moto look at the items of a query alone: it compares, and sorts, the whole partition for each page."""
    from moto.dynamodb.models.dynamo_type import DynamoType
    from moto.dynamodb.models.table import Table as MotoTable

    plain: Any = MotoTable.query

    def query(self: Any, hash_key: Any, *given: Any, **named: Any) -> Any:
        comparison, values, limit, start, forward, *_ = given
        partition = self.items.get(hash_key, {})
        where = id(self), hash_key.value
        keys = _sorted[where] = _sorted.get(where) or sorted(one.value for one in partition)
        low, high = 0, len(keys)
        match str(comparison).upper(), [one.value for one in values or ()]:
            case "BETWEEN", [first, last]:
                low, high = bisect_left(keys, first), bisect_right(keys, last)
            case "BEGINS_WITH", [first]:
                low, high = bisect_left(keys, first), bisect_left(keys, first + chr(0x10FFFF))
            case ">", [first]:
                low = bisect_right(keys, first)
        if start:
            begin = start["sk"]["S"]
            low = max(low, bisect_left(keys, begin)) if forward else low
            high = high if forward else min(high, bisect_right(keys, begin))
        if limit:
            # The key where it starts, and one behind the page, by which moto sees that there is more.
            low, high = (low, min(high, low + limit + 2)) if forward else (max(low, high - limit - 2), high)
        part = copy.copy(self)
        wanted = [DynamoType({"S": one}) for one in keys[low:high]]
        part.items = {hash_key: {one: partition[one] for one in wanted}}
        return plain(part, hash_key, *given, **named)

    MotoTable.query = query  # type: ignore[method-assign]


Asked = tuple[str, Mapping[str, Any]]


def reads(here: World) -> dict[str, Asked]:
    """Return calls that change nothing, as agents make them."""
    middle = next(one for one in here.entries[len(here.entries) // 2 :] if one.parent_id)
    summary = next(one for one in reversed(here.entries[: len(here.entries) // 2]) if not one.parent_id)
    deep = here.call("kb_list", {"offset": here.size // 2})["next_cursor"]
    return {
        "kb_get": ("kb_get", {"id": middle.id}),
        "kb_get_related, of a fact": ("kb_get_related", {"entry_id": middle.id}),
        "kb_get_related, of a fact, 50": ("kb_get_related", {"entry_id": middle.id, "limit": 50}),
        "kb_get_related, of a summary, 50": ("kb_get_related", {"entry_id": summary.id, "limit": 50}),
        "kb_list": ("kb_list", {}),
        "kb_list, 100": ("kb_list", {"limit": 100}),
        "kb_list, a common tag": ("kb_list", {"tags": ["blocker"]}),
        "kb_list, a rare tag": ("kb_list", {"tags": [middle.tags[-1]]}),
        "kb_list, a common and a rare tag": ("kb_list", {"tags": [middle.tags[0], middle.tags[-1]]}),
        "kb_list, two common tags": ("kb_list", {"tags": ["blocker", "area-3"]}),
        "kb_list, a role": ("kb_list", {"role": "qa"}),
        "kb_list, a story": ("kb_list", {"source_story": middle.source_story}),
        "kb_list, the first hours": ("kb_list", {"until": "2026-01-01T05"}),
        "kb_list, since the first day": ("kb_list", {"since": f"{SINCE:%Y-%m-%d}"}),
        "kb_list, from the middle by cursor": ("kb_list", {"cursor": deep}),
        "kb_list, by confidence": ("kb_list", {"order_by": "confidence"}),
        "kb_stats": ("kb_stats", {}),
        "kb_stats, metrics": ("kb_stats", {"metrics": True}),
    }


def writes(here: World) -> dict[str, Asked]:
    """Return calls that change something, each something else."""
    number = next(here.fresh)
    one, other = here.entries[3 + 7 * number], here.entries[4 + 7 * number]
    return {
        "kb_add": ("kb_add", {**NEW, "content": f"Added in round {number}: the cache is keyed by the version."}),
        "kb_update, content": ("kb_update", {"id": one.id, "content": f"Changed in round {number}."}),
        "kb_update, confidence": ("kb_update", {"id": one.id, "confidence": 0.5 + number / 100}),
        "kb_delete": ("kb_delete", {"id": other.id}),
    }


def imports(here: World) -> dict[str, Asked]:
    number = next(here.fresh)
    made = [{**NEW, "content": f"Import {number}, entry {one}."} for one in range(100)]
    return {"kb_bulk_import of 100": ("kb_bulk_import", {"entries": made})}


def spent(here: World, work: Callable[[], object]) -> tuple[float, float, float, int]:
    """Return units read and written, seconds of our own CPU, and items read."""
    meter = here.client
    read, written, others, items = meter.read, meter.written, meter.seconds, meter.items
    began = time.process_time()
    work()
    own = time.process_time() - began - (meter.seconds - others)
    return meter.read - read, meter.written - written, own, meter.items - items


Costs = dict[int, list[tuple[float, float, float]]]
"""By size, what each call read, wrote and took."""


def measure(worlds: Sequence[World], rounds: int = ROUNDS) -> dict[str, Costs]:
    """Return the costs of every kind of call, and of each entry of an export."""
    exported: Costs = {}
    for here in worlds:
        found: list[dict[str, Any]] = []
        client = MemoryClient(here, Address("here"))
        read, _, own, _ = spent(here, lambda: found.extend(client.entries()))  # noqa: B023 - called now
        exported[here.size] = [(read / len(found), 0.0, own / len(found))]
    unchanging = {here.size: reads(here) for here in worlds}
    costs: dict[str, Costs] = defaultdict(lambda: defaultdict(list))
    kinds: list[tuple[Callable[[World], Mapping[str, Asked]], int]] = [
        (lambda here: unchanging[here.size], rounds),
        (writes, rounds),
        (imports, min(rounds, IMPORTS)),
    ]
    for calls, times in kinds:
        for number in range(WARM_UP + times):
            wanted = {here.size: calls(here) for here in worlds}
            for name, here in product(next(iter(wanted.values())), worlds):
                read, written, own, _ = spent(here, partial(here.call, *wanted[here.size][name]))
                if number >= WARM_UP:
                    costs[name][here.size].append((read, written, own))
    return {**costs, "an export, by entry": exported}


def row(name: str, costs: Costs) -> Row:
    """Return the medians of a kind of call at each size, and how they grow."""
    read, written, seconds = (
        {size: median(one[place] for one in found) for size, found in costs.items()} for place in range(3)
    )
    smallest, *others = costs
    units = {size: read[size] + written[size] for size in costs}
    return {
        "call": name,
        **{f"read {size:,}": read[size] for size in costs},
        **{f"write {size:,}": written[size] for size in costs},
        **{f"units × at {size:,}": ratio(units[size], units[smallest]) for size in others},
        **{f"CPU ms {size:,}": 1000 * seconds[size] for size in costs},
        **{f"CPU × at {size:,}": ratio(seconds[size], seconds[smallest]) for size in others},
    }


def main(sizes: Sequence[int]) -> None:
    """Print the costs at these sizes."""
    moto_patches.apply()
    narrow_queries()
    with mock_aws():
        client = boto3.session.Session("123456789012", "x", region_name="us-east-1").client("dynamodb")
        worlds = [world(client, size) for size in sizes]
        rows = [row(name, costs) for name, costs in measure(worlds).items()]
    note = "Units: of DynamoDB, computed from the sizes of what is read and written. CPU: without client and emulator."
    table.show("memory_costs", "What calls of the memory cost as it grows", rows, note=note)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or SIZES)
