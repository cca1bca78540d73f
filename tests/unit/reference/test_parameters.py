"""What a command or an endpoint takes, as it is written in a catalogue."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.model import PLACES, Entry, Example, Parameter
from commonplace.reference.source import bounds
from commonplace.reference.source.reader import Reading, read_catalogue
from commonplace_generators import catalogue_file, plan
from tests.reference_files import HELIOS, SAMPLE

ENTRY = {"category": "c", "summary": "S.", "content": "Text.", "lastUpdated": "2026-01-01"}
COMMAND = ENTRY | {
    "id": "add",
    "type": "command",
    "title": "Add",
    "name": "kit add",
    "syntax": "kit add --to <box> <file>",
}
ENDPOINT = ENTRY | {"id": "get", "type": "api", "title": "Get", "method": "GET", "pathTemplate": "/boxes/{box}"}
TO = {"name": "--to", "place": "option", "aliases": ["-t"], "type": "<box>", "required": True, "description": "Where."}


def reading(*entries: dict[str, Any]) -> Reading:
    return read_catalogue({"all.json": json.dumps(entries, indent=1).encode()}, "kit")


def problems(*entries: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(one.code, one.message, one.hint) for one in reading(*entries).problems]


def test_parameters_usages_authentication_and_confidence_are_read_in_every_form_of_file() -> None:
    yaml = b"""\
id: add
type: command
title: Add
category: c
summary: S.
content: Text.
name: kit add
syntax: kit add --to <box> <file>
usages: [kit add --all]
confidence: inferred
lastUpdated: 2026-01-01
parameters:
  - {name: --to, place: option, aliases: -t, type: <box>, required: true, description: Where.}
  - {name: <file>, place: argument, required: true}
"""
    markdown = b"""\
---
id: get
type: api
title: Get
category: c
summary: S.
method: get
path_template: /boxes/{box}
authentication: A bearer token.
lastUpdated: 2026-01-01
parameters:
  - {name: box, place: Path, required: true, type: string}
---
Text.
"""
    found = read_catalogue({"add.yaml": yaml, "get.md": markdown}, "kit")

    assert found.problems == ()
    add, get = (one.entry for one in found.entries)
    assert add.parameters == [
        Parameter(name="--to", place="option", aliases=["-t"], type="<box>", required=True, description="Where."),
        Parameter(name="<file>", place="argument", required=True),
    ]
    assert (add.usages, add.confidence) == (["kit add --all"], "inferred")
    assert get.parameters == [Parameter(name="box", place="path", required=True, type="string")]
    assert (get.authentication, get.confidence, get.method) == ("A bearer token.", "exact", "GET")


def test_not_to_know_what_a_call_takes_is_something_else_than_nothing() -> None:
    known, unknown = (
        one.entry for one in reading(COMMAND | {"parameters": []}, COMMAND | {"id": "b", "name": "kit b"}).entries
    )

    assert (known.parameters, unknown.parameters) == ([], None)


@pytest.mark.parametrize(
    ("entry", "parameter", "message", "hint"),
    [
        (COMMAND, {"name": "--to"}, "There is no `parameters[0].place`.", "argument, option"),
        (COMMAND, {"place": "option"}, "There is no `parameters[0].name`.", "Write name, place"),
        (COMMAND, {"name": "q", "place": "query"}, "`parameters[0].place` is not a known value", "argument, option."),
        (
            ENDPOINT,
            {"name": "-q", "place": "option"},
            "`parameters[0].place` is not a known value",
            "path, query, header, cookie",
        ),
        (COMMAND, TO | {"required": "yes"}, "`parameters[0].required` is neither true", "without quotes"),
        (COMMAND, TO | {"name": "a" * 301}, "`parameters[0].name` has 301 characters", "300"),
        (COMMAND, TO | {"description": ["a"]}, "`parameters[0].description` is not text", "text"),
        (COMMAND, "--to", "`parameters[0]` is not a mapping", "argument, option"),
    ],
)
def test_a_parameter_that_cannot_be_read_is_an_error_that_says_what_would_be_valid(
    entry: dict[str, Any], parameter: Any, message: str, hint: str
) -> None:
    [(code, said, told)] = problems(entry | {"parameters": [parameter]})

    assert code in ("invalid-field", "missing-field")
    assert message in said
    assert hint in (told or "")


def test_the_bounds_of_parameters_are_those_of_the_largest_requests_there_are() -> None:
    many = [{"name": f"field_{number}", "place": "body"} for number in range(bounds.MAX_PARAMETERS)]
    assert problems(ENDPOINT | {"parameters": many}) == []
    [(code, message, hint)] = problems(ENDPOINT | {"parameters": [*many, {"name": "one", "place": "body"}]})
    assert (code, message, hint) == ("invalid-field", "`parameters` has 1,001 members.", "At most 1,000 are allowed.")


@pytest.mark.parametrize(
    ("entry", "parameters", "message"),
    [
        (COMMAND, [TO, TO | {"name": "--into", "required": False}], "has the option `-t` twice"),
        (ENDPOINT, [{"name": "id", "place": "path"}], "path parameter `id`, and `/boxes/{box}` does not"),
        (COMMAND, [TO | {"name": "--by", "aliases": []}], "`--by` is required, and `syntax` does not show it"),
    ],
)
def test_parameters_that_contradict_themselves_are_warned_of(
    entry: dict[str, Any], parameters: list[dict[str, Any]], message: str
) -> None:
    [(code, said, hint)] = problems(entry | {"parameters": parameters})

    assert code == "odd-parameter"
    assert message in said
    assert hint


def test_variants_of_a_body_may_share_names_and_usages_may_show_an_option() -> None:
    fields = [{"name": "kind", "place": "body", "description": f"Of a {one}."} for one in ("box", "shelf")]
    assert problems(ENDPOINT | {"parameters": fields}) == []
    assert problems(COMMAND | {"parameters": [TO, TO | {"type": "<shelf>:<box>"}]}) == []
    shown = {"usages": ["kit add [--by=<who>]"], "parameters": [TO | {"name": "--by", "aliases": ["-b"]}]}
    assert problems(COMMAND | shown) == []
    for syntax in ("kit add [OPTIONS] <file>", "kit add [global options] <file>", "kit add [flags]"):
        assert problems(COMMAND | {"syntax": syntax, "parameters": [TO]}) == []


def test_what_means_nothing_for_a_type_is_left_out_and_said() -> None:
    guide = ENTRY | {"id": "g", "type": "guide", "title": "G", "parameters": [TO], "authentication": "None."}
    found = reading(guide, COMMAND | {"authentication": "None."}, ENDPOINT | {"usages": ["x"]})

    assert [(one.code, one.entry) for one in found.problems] == [
        ("unknown-field", "g"),
        ("unknown-field", "g"),
        ("unknown-field", "add"),
        ("unknown-field", "get"),
    ]
    assert all("means nothing for this type" in one.message for one in found.problems)
    assert [one.entry.parameters for one in found.entries] == [None, None, None]


@pytest.mark.parametrize(
    "empty",
    [
        ENDPOINT | {"summary": "GET /boxes/{box}", "content": "`GET /boxes/{box}`\n\n**Authentication:** a token."},
        ENDPOINT | {"summary": "Get /boxes/{box}.", "content": "", "parameters": []},
        COMMAND | {"summary": "kit add: not described where it was read.", "content": "", "syntax": "kit add"},
        COMMAND | {"summary": "`kit add`", "content": "**Syntax:**\n```\nkit add\n```", "syntax": "kit add"},
    ],
)
def test_an_entry_that_repeats_its_name_and_says_nothing_else_is_an_error(empty: dict[str, Any]) -> None:
    found = reading(empty)
    assert [(one.code, one.entry) for one in found.errors] == [("empty-entry", empty["id"])]
    assert not found.publishable


@pytest.mark.parametrize(
    "told",
    [
        ENDPOINT | {"summary": "GET /boxes/{box}", "content": "", "parameters": [{"name": "box", "place": "path"}]},
        ENDPOINT | {"summary": "GET /boxes/{box}", "content": "**Responses:**\n- `200`: The box."},
        COMMAND | {"summary": "kit add", "content": "", "syntax": "kit add", "parameters": []},
        COMMAND | {"summary": "kit add", "content": ""},
        COMMAND | {"summary": "Adds a file.", "content": "", "syntax": "kit add"},
        ENTRY | {"id": "g", "type": "guide", "title": "G", "summary": "G", "content": ""},
    ],
)
def test_whatever_is_known_beside_the_name_is_enough(told: dict[str, Any]) -> None:
    assert reading(told).errors == ()


TEXT = st.text("abc <>-{}`\"':äß\\", min_size=1, max_size=20).map(str.strip).filter(bool)
PARAMETERS = st.builds(
    Parameter,
    name=TEXT,
    place=st.sampled_from(PLACES[2:]),
    aliases=st.lists(TEXT, max_size=3, unique=True),
    type=st.none() | TEXT,
    required=st.booleans(),
    description=TEXT | st.just(""),
)


@given(st.none() | st.lists(PARAMETERS, max_size=5), st.none() | TEXT, st.sampled_from(["exact", "inferred"]))
def test_what_a_generator_writes_is_read_as_the_same_entry(
    parameters: list[Parameter] | None, authentication: str | None, confidence: Any
) -> None:
    entry = Entry(
        id="get",
        type="api",
        title="Get",
        category="c",
        method="GET",
        path_template="/boxes/{box}",
        parameters=parameters,
        authentication=authentication,
        confidence=confidence,
        summary="Gives a box.",
        examples=[Example(description="One", code="curl x")],
        last_updated="2026-01-01",
    )
    found = read_catalogue({"api.json": catalogue_file.written([entry])}, "kit")

    assert [one.entry for one in found.entries] == [entry]


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("openapi", SAMPLE / "sources" / "pool-desk.yaml"),
        ("console", HELIOS / "sources" / "DeveloperConsole.tsx"),
    ],
)
def test_what_is_made_of_a_source_is_read_as_it_was_made(kind: str, source: Path) -> None:
    made = plan.generate(kind, source.read_bytes(), source=source.name, options={}).entries
    dated = catalogue_file.dated(made, None, "2026-01-01")
    found = read_catalogue({"all.json": catalogue_file.written(dated)}, "kit")

    assert len(dated) > 5
    assert [one.entry for one in found.entries] == sorted(dated, key=lambda one: one.id)
