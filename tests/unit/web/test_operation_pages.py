"""Pages and forms of the console that are made from operations: fields, bounds, refusals, lists with a pager."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from commonplace.identity.principals import ANONYMOUS
from commonplace.kernel.errors import CommonplaceError, Conflict, InvalidInput
from commonplace.web.faces import face
from commonplace.web.forms import Fields
from commonplace.web.operation_pages import Card, Cards, Form, cards_page
from commonplace.web.operations import Actor, Input, Skipped, listing, operation
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Link, View, Visit
from tests.console_app import Browser, Deployment
from tests.fakes.authority import ALICE, Accounts, standing

PLACE = "/console/tools"
NEW = "/console/tools/new"


@dataclass(frozen=True)
class Tool:
    id: str
    colour: str


@dataclass
class Shed:
    tools: list[Tool] = field(
        default_factory=lambda: [Tool(f"t{n:03}", "red" if n % 3 else "blue") for n in range(120)]
    )
    added: list[Any] = field(default_factory=list)


class ToolFilters(Input):
    colour: Literal["red", "blue"] | None = Field(None, description="Only of this colour")
    sharp: bool = False


@listing(
    "hive",
    title="Tools",
    input=ToolFilters,
    row=face("ToolRow", Tool, "id colour"),
    of="tools",
    line=lambda row: f"{row.id} <{row.colour}>",
)
def list_tools(shed: Shed, _: Actor, given: Any, after: str | None) -> Iterator[Tool | Skipped]:
    """Tools in the order of their ids."""
    for one in shed.tools:
        if after is None or one.id > after:
            yield one if given.colour in (None, one.colour) else Skipped(one.id)


class NewTool(Input):
    name: str = Field(min_length=2, max_length=40, description="As on its label.")
    story: str = Field("", max_length=2_000)
    weight: float = Field(1.5, ge=0, le=80)
    pieces: int | None = Field(None, ge=1)
    colour: Literal["red", "blue"]
    sharp: bool = True
    uses: list[Literal["cut", "dig"]] = Field(default_factory=list)
    tags: list[str] | None = None
    revision: int = 0


@operation("hive", title="Add a tool", input=NewTool, output=face("Named", Tool, "id colour"))
def add_tool(shed: Shed, _: Actor, given: NewTool) -> Tool:
    """Adds a tool."""
    if given.name == "taken":
        raise InvalidInput("There is one of this name.", hint="Choose another.", field="name")
    if given.revision:
        raise Conflict("Somebody else was first.")
    shed.added.append(given)
    return Tool("new", given.colour)


NAMES = ("name", "story", "weight", "pieces", "colour", "sharp", "uses", "tags")
LABELS = dict.fromkeys(NAMES, "") | {"name": "Name of the tool"}
ADD = Form("add", add_tool, "A new tool", "Add", LABELS, hidden=("revision",))


@pytest.fixture
def shed() -> Shed:
    return Shed()


def read_tools(shed: Shed, who: Actor, given: Any) -> Cards:
    records, cursor = list_tools.read(shed, who, given)
    return Cards(cards=[Card(title=list_tools.line(list_tools.row.of(one))) for one in records], cursor=cursor)


@pytest.fixture
def member(shed: Shed, tmp_path: Path) -> Browser:
    tabs = [Link(PLACE, "All"), Link(f"{PLACE}?colour=red", "Red")]
    (tmp_path / "tool.html").write_text(
        """{% extends "console.html" %}{% import "forms.html" as forms %}
        {% block page %}{{ forms.refused(problem, shown.fields) }}{{ forms.fieldset(shown, csrf) }}{% endblock %}"""
    )

    async def show(visit: Visit, problem: CommonplaceError | None = None) -> View:
        values = {"problem": problem, "shown": ADD.shown(visit, None, problem), "console_title": "New"}
        return View("tool.html", values, problem.status if problem else 200)

    need = list_tools.need
    new = ConsolePage(
        path="tools/new",
        title="New",
        show=show,
        need=need,
        actions={"add": ADD.action(shed, show, done="added")},
        messages={"added": "Added."},
    )
    tools = cards_page(
        partial(read_tools, shed), list_tools.input, need=need, path="tools", title="Tools", tabs=lambda _: tabs
    )
    pages = ConsolePages(pages=[tools, new], templates=tmp_path)
    return Deployment(lambda _: [pages], standings=Accounts({ALICE: standing("member")})).browser(ALICE)


def element(body: str, name: str) -> str:
    return str(re.findall(rf'<(?:input|select|textarea)[^>]* name="{name}"[^>]*>', body)[0])


def test_a_list_is_read_page_by_page_with_its_filters(member: Browser) -> None:
    path, seen = f"{PLACE}?colour=red", list[str]()
    while path:
        body = member.get(path).text
        seen += re.findall(r"<bdi>(t\d{3}) &lt;", body)
        path = html.unescape("".join(re.findall(r'rel="next" href="([^"]+)"', body)))
    assert seen == [one.id for one in Shed().tools if one.colour == "red"]
    assert '<option value="red" selected>' in body
    assert '<a href="/console/tools?colour=red" aria-current="page">Red</a>' in html.unescape(body)
    assert "From the beginning" in body


def test_a_page_without_rows_is_not_the_end_of_a_list(shed: Shed) -> None:
    shed.tools = [Tool(f"t{number:04}", "red") for number in range(600)] + [Tool("t9999", "blue")]
    actor, given = Actor(ANONYMOUS), list_tools.input(colour="blue")
    page = list_tools.page(shed, actor, given)
    assert page["tools"] == []
    assert f"cursor `{page['next_cursor']}`" in list_tools.words(page)
    rest = list_tools.page(shed, actor, given.model_copy(update={"cursor": page["next_cursor"]}))
    assert [one.id for one in rest["tools"]] == ["t9999"]


@pytest.mark.parametrize(
    ("query", "said", "named"),
    [
        ("colour=green", "must be ", "filter-colour"),
        ("cursor=of-nobody", "This cursor does not belong to this list.", ""),
    ],
)
def test_a_filter_that_cannot_be_is_refused_on_the_page(member: Browser, query: str, said: str, named: str) -> None:
    answer = member.get(f"{PLACE}?{query}")
    assert answer.status_code == 422
    assert said in answer.text
    assert f'href="#{named}"' in answer.text or not named


def test_a_form_has_the_types_and_bounds_of_its_input(member: Browser) -> None:
    body = member.get(NEW).text
    assert {'minlength="2"', 'maxlength="40"', 'aria-describedby="add-name-help"'} <= set(
        element(body, "name").rstrip(">").split()
    )
    assert 'id="add-name-help">As on its label.' in body
    assert "Name of the tool <input" in body
    assert element(body, "story").startswith("<textarea")
    assert {'type="number"', 'min="0"', 'max="80.0"', 'step="any"'} <= set(
        element(body, "weight").replace('min="0.0"', 'min="0"').replace('max="80"', 'max="80.0"').rstrip(">").split()
    )
    assert 'step="1"' in element(body, "pieces")
    assert "required" not in element(body, "pieces")
    assert re.findall(r'<option value="(\w*)"', body) == ["red", "blue"]
    assert " checked" in element(body, "sharp")
    assert body.count('name="uses"') == 2
    assert 'type="hidden" name="revision" value="0"' in body


def test_a_form_does_the_operation(member: Browser, shed: Shed) -> None:
    sent = {"action": "add", "name": "saw", "story": "", "weight": "2", "pieces": "", "colour": "blue"}
    answer = member.post(NEW, {**sent, "uses": "cut", "tags": "old\r\n\r\n red ", "revision": "0"})
    assert answer.headers["location"] == f"{NEW}?done=added"
    (made,) = shed.added
    assert (made.name, made.story, made.weight, made.pieces, made.colour) == ("saw", "", 2.0, None, "blue")
    assert (made.sharp, made.uses, made.tags) == (False, ["cut"], ["old", "red"])


@pytest.mark.parametrize(
    ("changed", "name", "said"),
    [
        ({"name": "x"}, "name", "at least 2 characters"),
        ({"weight": "heavy"}, "weight", "must be a number"),
        ({"colour": ""}, "colour", "must be"),
        ({"name": "taken"}, "name", "There is one of this name."),
    ],
)
def test_what_is_refused_is_shown_at_its_field_with_what_was_sent(
    member: Browser, shed: Shed, changed: dict[str, str], name: str, said: str
) -> None:
    sent = {"action": "add", "name": "saw", "weight": "2", "colour": "blue", "story": "<b>Bought</b>", **changed}
    answer = member.post(NEW, sent)
    body = answer.text
    assert (answer.status_code, shed.added) == (422, [])
    assert said in re.findall(rf'id="add-{name}-error">([^<]*)<', body)[0]
    assert 'aria-invalid="true"' in element(body, name)
    assert f"add-{name}-error" in element(body, name)
    assert f'href="#add-{name}"' in body
    assert "&lt;b&gt;Bought&lt;/b&gt;" in body


def test_hidden_fields_hold_what_is_so_now_and_the_rest_what_was_sent(member: Browser) -> None:
    sent = {"action": "add", "name": "saw", "weight": "2", "colour": "blue", "revision": "7"}
    body = member.post(NEW, sent).text
    assert "Somebody else was first." in body
    assert 'name="revision" value="0"' in body
    assert 'value="saw"' in element(body, "name")


def test_what_is_refused_for_another_reason_still_changes_what_its_form_showed(member: Browser, shed: Shed) -> None:
    sent = {"action": "add", "name": "saw", "weight": "heavy", "colour": "blue", "revision": "7"}
    body = member.post(NEW, sent).text
    assert 'name="revision" value="7"' in body
    body = member.post(NEW, {**sent, "revision": "seven"}).text
    assert 'name="revision" value="0"' in body


def test_what_a_form_requires_cannot_be_left_empty() -> None:
    fields = Fields(model=NewTool, names=("pieces", "story", "uses"), id="x", required=("pieces", "story"))
    assert fields.read({"pieces": [""], "story": [""]}) == {"pieces": "", "story": "", "uses": []}
    assert fields.read({}) == {"uses": []}
    assert [one.attributes["required"] for one in fields.shown({}) if one.kind != "choices"] == [True, True]
    chosen = Fields(model=ToolFilters, names=("colour",), id="x", required=("colour",))
    assert [list(one.choices) for one in chosen.shown({})] == [["red", "blue"]]


class Inner(BaseModel):
    level: Literal["low"] = "low"
    mood: Annotated[str, Field(json_schema_extra={"enum": ["calm", "loud"]})]
    day: str | None = Field(max_length=10)


def test_what_may_be_null_is_null_where_a_form_leaves_it_empty() -> None:
    fields = Fields(model=Inner, names=("level", "mood", "day"), id="x", kinds={"day": "date"})
    assert fields.read({"mood": ["calm"], "day": [""]}) == {"mood": "calm", "day": None}
    assert [one.kind for one in fields.shown({})] == ["choice", "choice", "date"]
    assert [list(one.choices) for one in fields.shown({})] == [["low"], ["calm", "loud"], []]
