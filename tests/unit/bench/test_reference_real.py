"""How real products are measured: the checks that are not the generators, and the verdicts on answers."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.reference.real import asked, console, measured, programs
from bench.reference.real.asked import Question, questions
from bench.reference.real.documents import Outside, operations
from bench.reference.real.products import Made, Product, made
from commonplace.reference.model import Entry, Example, Parameter, Placed
from commonplace.search.text import fold

CONSOLE = """
addOutput('error', 'Usage: desk pools get <id> [--json]');
<td className="command-name">pools get &lt;id&gt;</td>
<td className="command-desc">Shows one pool</td>
<td className="command-name">pools drop &lt;id&gt;</td>
<td className="command-desc">Drops a pool</td>
<td className="command-name">pools drop --filter="..." [--confirm]</td>
<td className="command-desc">Drops many</td>
"""
PAGE = """Usage: tide count add [OPTIONS] <POOL>
       tide count add --from FILE

Adds a count.

Options:
  -n, --number <N>   How many; see also --pool
      --dry-run      Nothing is written
"""


def documents_in(folder: Path, body: Mapping[str, Any]) -> Path:
    """A document whose one operation stands in another file, as that of many files has it."""
    (folder / "parts").mkdir()
    (folder / "parts" / "add.json").write_text(json.dumps(body))
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Desk", "version": "1"},
        "servers": [{"url": "https://desk.example/api/v1"}],
        "paths": {"/pools/{id}": {"post": {"$ref": "parts/add.json"}}},
    }
    file = folder / "desk.json"
    file.write_text(json.dumps(whole))
    return file


def test_a_document_is_resolved_through_its_files_with_nested_required_fields(tmp_path: Path) -> None:
    place = {
        "type": "object",
        "required": ["lat", "id"],
        "properties": {"lat": {}, "long": {}, "id": {"readOnly": True}},
    }
    schema = {
        "allOf": [{"required": ["place"], "properties": {"place": place}}],
        "properties": {"note": {"required": ["by"], "properties": {"by": {}}}},
    }
    parameter = {"in": "path", "name": "id", "required": True}
    body = {"content": {"application/json": {"schema": schema}}, "required": True}
    file = documents_in(tmp_path, {"summary": "Add a pool", "parameters": [parameter], "requestBody": body})
    (found,) = operations(file)
    assert (found.name, found.written) == ("POST /api/v1/pools/{id}", "POST /pools/{id}")
    assert found.parameters == {"id"}
    assert found.body == {"place", "place.lat"}
    assert found.fields == {"place", "place.lat", "place.long", "note", "note.by"}


def test_a_reference_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    file = documents_in(tmp_path, {"requestBody": {"$ref": "../../outside.json"}})
    (tmp_path.parent / "outside.json").write_text("{}")
    with pytest.raises(Exception, match=r"outside\.json") as told:
        operations(file)
    assert isinstance(told.value, Outside) or isinstance(told.value.__cause__, Outside)


def test_a_field_of_a_body_is_known_through_lists_maps_alternatives_and_media_types(tmp_path: Path) -> None:
    node: dict[str, Any] = {"properties": {"name": {}, "below": {"$ref": "#/components/schemas/Node"}}}
    schema = {
        "oneOf": [{"required": ["tree"], "properties": {"tree": {"$ref": "#/components/schemas/Node"}}}],
        "properties": {
            "items": {"type": "array", "items": {"properties": {"sku": {}}}},
            "labels": {"additionalProperties": {"properties": {"text": {}}}},
        },
    }
    file = documents_in(tmp_path, {})
    whole = json.loads(file.read_text())
    kinds = {"application/json": {"schema": schema}, "text/csv": {"schema": {"properties": {"file": {}}}}}
    span = {"in": "query", "name": "span", "schema": {"properties": {"from": {}}}}
    own = {"requestBody": {"content": kinds}, "security": [{"key": []}], "parameters": [span]}
    whole["paths"] = {"/pools?all=yes": {"post": own}}
    whole["components"] = {"schemas": {"Node": node}}
    file.write_text(json.dumps(whole))
    (found,) = operations(file)
    assert found.given == {("query", "span"): False, ("query", "from"): False, ("query", "all"): True}
    for path in ("items[].sku", "labels.<key>.text", "labels.*", "tree.below.below.name", "file"):
        assert found.has(path), path
    for path in ("items.sku", "items[].name", "labels.text", "tree.sku", "fil", ""):
        assert not found.has(path), path
    assert found.fields >= {"items[].sku", "tree.below", "file"}
    assert not found.body
    assert found.sometimes_required == {"tree"}
    assert found.secured


def told_program(folder: Path) -> Product:
    """A program of one command, and what a generator of help pages was given of it."""
    pages = {"tide": "Usage: tide <COMMAND>\n\nCommands:\n  add  Adds a count\n", "tide add": TIDE}
    raw = json.dumps({"format": 1, "program": ["tide"], "pages": pages})
    (folder / "programs").mkdir()
    (folder / "programs" / "tide.json").write_text(json.dumps({"version": "tide 1", "raw": raw, "pages": pages}))
    return Product(folder, {"name": "tide", "kind": "help", "title": "Tide", "names": "rows"})


TIDE = """Adds a count.

Usage: tide add [OPTIONS] <POOL>

Arguments:
  <POOL>  Where it was counted

Options:
  -n, --number <N>  How many
      --dry-run     Nothing is written
"""


def test_parameters_are_held_against_the_program_and_answers_against_the_entry(tmp_path: Path) -> None:
    product = told_program(tmp_path)
    entry = Entry(
        id="add",
        type="command",
        title="Add",
        category="tide",
        name="tide add",
        syntax="tide add [OPTIONS] <POOL>",
        summary="Adds a count.",
        last_updated="2026-01-01",
        parameters=[
            Parameter(name="<POOL>", place="argument", required=True),
            Parameter(name="--number", aliases=["-n"], place="option", required=True),
            Parameter(name="--colour", place="option"),
        ],
        examples=[Example(description="One", code="tide add rock")],
    )
    placed = Placed(entry=entry, path="a", generation=1)
    catalogue = made(product).catalogue.model_copy(update={"entries": [placed]})
    second = {"content": [{"text": "`--dry-run`"}], "structuredContent": {}}
    first = {"content": [{"text": "tide add [OPTIONS] <POOL>"}], "structuredContent": {"nextPage": 2}}
    asked: list[Mapping[str, Any]] = []

    def call(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(arguments)
        return second if arguments.get("page") == 2 else first

    found = measured.measured(product, Made(catalogue, 0, (), 0.0), call)
    assert asked == [{"command": "tide add"}, {"command": "tide add", "page": 2}]
    assert found.invented == ["tide add: --colour"]
    assert (str(found.names), str(found.syntax), str(found.exact)) == ("1/1", "1/1", "1/1")
    assert (str(found.required), str(found.required_told)) == ("1/1", "1/1")
    assert (str(found.details), str(found.details_told)) == ("1/2", "1/2")
    assert found.facts.not_so == ["tide add: - `--number`, `-n` (required)"]
    assert found.cut.not_so == ["tide add: --number, an example"]
    assert found.pages == [2]


def test_a_console_is_what_its_help_and_its_usages_say(tmp_path: Path) -> None:
    source = tmp_path / "Console.tsx"
    source.write_text(CONSOLE)
    found = console.truths(source, "desk")
    assert found["pools get"].ways == ["pools get <id>", "desk pools get <id> [--json]"]
    assert found["pools drop"].said == ["Drops a pool", "Drops many"]
    drop = found["pools drop"]
    assert console.agrees("desk pools drop <id>", "pools drop", "desk", drop)
    assert not console.agrees('desk pools drop --filter="..." [--confirm]', "pools drop", "desk", drop)
    assert not console.agrees('desk pools drop --filter="name:x', "pools drop", "desk", drop)


def test_a_page_of_help_tells_its_usages_required_arguments_and_flags() -> None:
    page = programs.Page(("tide", "count", "add"), PAGE)
    assert page.own == ("tide count add [OPTIONS] <POOL>", "tide count add --from FILE")
    assert programs.required(page.own[0]) == ["<POOL>"]
    assert programs.required("tide (FILE | POOL) KEY=VALUE <DATE>[@<TIME>] A | B") == ["<DATE>"]
    assert page.flags == {"--number", "--dry-run"}
    assert not page.is_group
    assert programs.Page(("tide",), "Usage: tide [OPTIONS] <COMMAND>").is_group
    assert programs.Page(("tide", "c"), PAGE).own == ()


def test_the_check_and_the_catalogue_call_an_operation_alike(tmp_path: Path) -> None:
    file = documents_in(tmp_path, {})
    whole = json.loads(file.read_text())
    body = {
        "required": True,
        "content": {"application/json": {"schema": {"required": ["name"], "properties": {"name": {}}}}},
    }
    whole["paths"] = {"/pools": {"post": {"summary": "Add a pool", "requestBody": body}}}
    file.write_text(json.dumps(whole))
    told = {"name": "desk", "kind": "openapi", "title": "Desk", "source": "desk.json"}
    product = Product(tmp_path, told)
    (entry,) = made(product).entries
    assert [one.name for one in product.things] == [entry.called] == ["POST /api/v1/pools"]
    assert "`name`" in entry.text


def test_there_are_200_questions_each_once_half_of_every_kind_held_and_of_fresh_products_all() -> None:
    fresh = set(yaml.safe_load(asked.FRESH.read_text()))
    assert len({fold(one.text) for one in questions()}) == len(questions())
    assert all(one.held for one in questions() if one.of in fresh)
    others = [one for one in questions() if one.of not in fresh]
    assert min(len(others), 2 * (len(questions()) - len(others))) >= 200
    for kind, number in Counter(one.kind for one in others).items():
        assert sum(one.held for one in others if one.kind == kind) == number // 2
    assert all(one.right for one in questions() if one.kind not in ("made up", "nothing"))


def result(*names: str, text: str = "") -> dict[str, Any]:
    return {"structuredContent": {"results": [{"name": one} for one in names]}, "content": [{"text": text}]}


def refusal(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"text": text}]}


VERDICTS: Sequence[tuple[asked.Kind, str, dict[str, Any], str]] = [
    ("paraphrase", "take it back", result("a b", "c", "tide undo"), "right"),
    ("paraphrase", "take it back", result("a", "b", "c", "tide undo"), "wrong"),
    ("paraphrase", "take it back", result(), "refused wrongly"),
    ("typed", "tide undo 3", result("tide undo"), "right"),
    ("typed", "tide undo 3", result("tide", "tide undo"), "wrong"),
    ("typed", "tide undo 3", refusal("Did you mean `tide undo`?"), "refused wrongly"),
    ("misspelt", "tide udno", refusal("Did you mean `tide undo`?"), "refused rightly"),
    ("misspelt", "tide udno", refusal("Did you mean `tide undo-all`?"), "refused wrongly"),
    ("made up", "tide unmake", result("tide undo"), "wrong"),
    ("made up", "tide unmake", refusal("No."), "refused rightly"),
    ("nothing", "book a table", result(), "refused rightly"),
]


@pytest.mark.parametrize(("kind", "text", "answer", "verdict"), VERDICTS)
def test_an_answer_is_judged_by_what_was_asked(
    kind: asked.Kind, text: str, answer: dict[str, Any], verdict: str
) -> None:
    assert asked.judged(Question("tide", kind, text, ("tide undo",), held=False), answer).verdict == verdict


def test_an_option_that_does_not_exist_has_to_be_said_with_the_nearest_one() -> None:
    question = Question("tide", "option", "tide undo --yess", ("--yes",), held=False)
    assert asked.judged(question, result("tide undo", text="`--yes` asks nothing")).verdict == "wrong"
    assert asked.judged(question, refusal("There is no command “tide undo --yess”.")).verdict == "refused wrongly"
    longer = Question("tide", "option", "tide undo -f 1 --ye", ("--yes",), held=False)
    assert (
        asked.judged(longer, result("tide undo", text="There is no option -f; `--yes` asks nothing")).verdict == "wrong"
    )
    said = "tide undo has no such option: `--yess`. Nearest: `--yes`."
    assert asked.judged(question, result("tide undo", text=said)).verdict == "refused rightly"
