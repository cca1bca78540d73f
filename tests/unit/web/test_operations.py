"""Operations: the same input gives the same records, and the same refusal, on every surface."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.hive.model import ItemId
from commonplace.hive.operations import OPERATIONS, HiveServices
from commonplace.hive.tools.search import SearchArguments, search_knowledge
from commonplace.kernel.errors import CommonplaceError, InvalidInput
from commonplace.web.faces import Face, derived, face
from commonplace.web.mcp.declaration import Call, Caller, SnakeCaseOutput, SnakeCasePart
from commonplace.web.operations import Actor, Input, Operation, Skipped, cursor_of, listing
from commonplace.web.rest.models import Answer
from tests.unit.hive.rest.desks import LOCKS, Desk
from tests.unit.hive.tools.agents import Agent, somebody

BY_NAME = {one.name: one for one in OPERATIONS}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add_knowledge", {"content": "Sort the ids before the lock.", "category": "bug_fix"}),
    ("add_knowledge", {"content": LOCKS, "category": "gossip"}),
    ("add_knowledge", {"content": "Gone are the days of calm.", "category": "bug_fix"}),
    ("add_knowledge", {"content": "Rosa Luxemburg Rosa wrote", "category": "gossip"}),
    ("list_knowledge", {}),
    ("list_knowledge", {"status": "approved", "limit": 1}),
    ("list_knowledge", {"cursor": "of-nobody"}),
    ("delete_knowledge", {"id": "ITEM"}),
    ("delete_knowledge", {"id": "hv_NOBODY"}),
    ("publish_knowledge", {"id": "ITEM", "is_public": True}),
    ("publish_knowledge", {"id": "hv_NOBODY", "is_public": True}),
    ("report_outcome", {"item_id": "ITEM", "outcome": "solved", "run_id": "run-1"}),
    ("report_outcome", {"item_id": "hv_NOBODY", "outcome": "solved"}),
)


def account() -> str:
    """Return the account behind the token of `by_rest`."""
    desk = Desk()
    id = desk.somebody("a", "hive:admin", tier="vibecoder").add(LOCKS)
    return desk.world.kept()[ItemId(id)].account


PRINCIPAL = replace(somebody(level="admin", tier="vibecoder", name="a").principal, account=account())
CALLER = Caller(PRINCIPAL, address="192.0.2.1")


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def done(name: str, using: HiveServices, values: Mapping[str, Any]) -> Any:
    """Return what an operation itself gives, without any surface."""
    called = BY_NAME[name]
    return called.run(using, Actor(PRINCIPAL), called.accepted(values))


def world() -> tuple[Desk, str]:
    """Return a deployment with one item, and its id."""
    desk = Desk()
    author = Actor(PRINCIPAL, CALLER.address).author
    id = done("add_knowledge", services(desk), {"content": LOCKS, "category": "bug_fix"}).id
    desk.world.approve(author, id)
    return desk, id


def services(desk: Desk) -> HiveServices:
    return HiveServices(desk.world.hive, desk.world.reviews)


def by_tool(desk: Desk, name: str, values: dict[str, Any]) -> Any:
    agent = Agent(desk.world, CALLER)
    result = agent.call(name, **values)
    return agent.error(name, **values)[0] if result.is_error else result.structured_content


def by_rest(desk: Desk, name: str, values: dict[str, Any]) -> Any:
    method, path = BY_NAME[name].rest.split()
    values = dict(values)
    path = path.removeprefix("/hive").replace("{id}", str(values.pop("id", None) or values.pop("item_id", "")))
    sent = {camel(key): value for key, value in values.items()}
    who = desk.somebody("a", "hive:admin", tier="vibecoder")
    answer = who.ask(method, path, **sent) if method in ("GET", "DELETE") else who.ask(method, path, sent)
    return answer.json() if answer.status_code == 200 else answer.json()["error"]["code"]


def directly(desk: Desk, name: str, values: dict[str, Any]) -> Any:
    called = BY_NAME[name]
    try:
        result = done(name, services(desk), values)
    except CommonplaceError as error:
        return error.code
    return called.output_as(Answer, Answer, nulls=True).of(result).model_dump(mode="json", by_alias=True)


def plain(found: Any) -> Any:
    """Return an answer without what differs by surface or by moment: case of names, nulls, the notice, times."""
    if isinstance(found, list):
        return [plain(one) for one in found]
    if not isinstance(found, dict):
        return found
    named = {camel(name): plain(value) for name, value in found.items() if value is not None and name != "notice"}
    return {name: value for name, value in named.items() if not name.endswith("At")}


@pytest.mark.parametrize(("name", "values"), CALLS, ids=lambda one: json.dumps(one)[:40])
def test_every_surface_gives_the_same(name: str, values: dict[str, Any]) -> None:
    told = []
    for surface in (by_tool, by_rest, directly):
        desk, id = world()
        found = surface(desk, name, {key: id if value == "ITEM" else value for key, value in values.items()})
        told.append(plain(found))
    assert told[0] == told[1] == told[2]


def beyond(bounds: Mapping[str, Any]) -> Iterator[Any]:
    """Return values of an argument that its schema excludes."""
    if "maximum" in bounds:
        yield bounds["maximum"] + 1
    if "minimum" in bounds:
        yield bounds["minimum"] - 1
    if "maxLength" in bounds:
        yield "x" * (bounds["maxLength"] + 1)
    if "enum" in bounds:
        yield "none of these"
    if "maxItems" in bounds:
        yield ["x"] * (bounds["maxItems"] + 1)


def refused(called: Operation) -> Iterator[dict[str, Any]]:
    """Return the arguments of calls of which one alone is wrong, or one is unknown."""
    schema = called.input.model_json_schema()
    right = {name: value for name, value in (called.example_input or {}).items() if name in schema["properties"]}
    for name in schema.get("required", ()):
        bounds = schema["properties"][name]
        right.setdefault(name, bounds.get("enum", [True if bounds.get("type") == "boolean" else "hv_NOBODY"])[0])
    yield right | {"colour": "red"}
    for name, told in schema["properties"].items():
        for bounds in told.get("anyOf", [told]):
            for value in beyond(schema["$defs"][bounds["$ref"].rpartition("/")[2]] if "$ref" in bounds else bounds):
                yield right | {name: value}


def test_every_surface_refuses_what_the_schema_of_an_operation_excludes() -> None:
    desk, _ = world()
    tried = 0
    for called in OPERATIONS:
        for values in refused(called):
            found = {directly(desk, called.name, values)}
            if called.rest and called.name != "search":
                found.add(by_rest(desk, called.name, values))
            if called.tool and called.level != "read":
                found.add(by_tool(desk, called.name, values))
            assert found == {"INVALID_INPUT"}, (called.name, values)
            tried += 1
    assert tried > 40


@dataclass(frozen=True)
class Thing:
    id: str
    shown: bool


@listing(
    "hive",
    title="Things",
    input=Input,
    row=face("Row", Thing, "id shown"),
    of="things",
    line=lambda row: row.id,
    looked=4,
)
def list_things(things: list[Thing], _: Actor, __: Any, after: str | None) -> Iterator[Thing | Skipped]:
    """Things in the order of their ids."""
    for one in things:
        if after is None or one.id > after:
            yield one if one.shown else Skipped(one.id)


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 7))
def test_pages_together_have_every_row_once_in_order(shown: list[bool], limit: int) -> None:
    things = [Thing(f"{number:03}", one) for number, one in enumerate(shown)]
    actor, found, cursor = Actor(PRINCIPAL), list[str](), None
    for _ in range(len(things) + 2):
        page = list_things.page(things, actor, list_things.input(limit=limit, cursor=cursor))
        assert len(page["things"]) <= limit
        found += [row.id for row in page["things"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None
    assert found == [one.id for one in things if one.shown]


def test_rows_that_do_not_fit_come_on_the_next_page() -> None:
    things = [Thing(f"{number:03}", True) for number in range(9)]
    actor = Actor(PRINCIPAL)
    page = list_things.page(things, actor, list_things.input(), tokens=40)
    assert 0 < len(page["things"]) < 9
    rest = list_things.page(things, actor, list_things.input(cursor=page["next_cursor"]))
    assert [row.id for row in (*page["things"], *rest["things"])] == [one.id for one in things]


@pytest.mark.parametrize("position", [None, True, 7, -1, 1.5, ["x"], {"a": 1}, "", "x" * 300])
def test_a_cursor_that_was_made_up_gives_no_more_than_a_list(position: Any) -> None:
    desk, id = world()
    using = services(desk)
    own = BY_NAME["list_knowledge"]
    cursor = cursor_of(position, own.question(own.input()))  # type: ignore[attr-defined]
    try:
        page = done("list_knowledge", using, {"cursor": cursor})
    except InvalidInput as refused:
        assert refused.details["field"] == "cursor"
    else:
        assert [one.id for one in page["contributions"]] in ([], [id])
    cursor = cursor_of(position, "hive search lock rows None None None")
    with suppress(InvalidInput):
        done("search", using, {"query": "lock rows", "cursor": cursor})
    item = desk.world.kept()[ItemId(id)]
    cursor = cursor_of(position, f"hive fetch {id} {item.content_hash}")
    with suppress(InvalidInput):
        search_knowledge(using, Call(CALLER), SearchArguments(id=id, cursor=cursor))


def test_a_cursor_belongs_to_its_list_and_its_arguments() -> None:
    desk, _ = world()
    first = BY_NAME["list_knowledge"]
    cursor = list_things.cursor(list_things.input(), "001")
    with pytest.raises(InvalidInput):
        first.run(services(desk), Actor(PRINCIPAL), first.accepted({"cursor": cursor}))


def test_a_face_is_derived_for_each_surface() -> None:
    @dataclass(frozen=True)
    class Inner:
        deep_value: int | None

    @dataclass(frozen=True)
    class Outer:
        some_name: str
        inner: Inner

    shape: Any = face("Inner", Inner, "deep_value")
    whole: Any = face("Outer", Outer, "some_name inner inner.deep_value:also", inner=shape)
    record = Outer("x", Inner(None))
    rest = derived(whole, Answer, Answer, nulls=True).of(record)
    assert json.loads(rest.to_json()) == {"someName": "x", "inner": {"deepValue": None}, "also": None}
    tool = derived(whole, SnakeCaseOutput, SnakeCasePart, nulls=False).of(record)
    assert tool.model_dump(mode="json", by_alias=True, exclude_none=True) == {"some_name": "x", "inner": {}}
    assert issubclass(whole, Face)
