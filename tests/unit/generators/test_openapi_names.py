"""Titles and summaries of operations: the document's own, unless they say nothing of the operation."""

from typing import Any

import pytest

from tests.unit.generators.openapi_documents import document, entry, made, operation

FINE = {"200": {"description": "Fine"}}


@pytest.mark.parametrize(
    "notice",
    [
        "> [!NOTE]\n> This endpoint is in public preview and is subject to change.",
        "**Note:** Deprecated since May.",
        "**Deprecated**: use the other one.",
        "<b>Required scope: </b><code>visits:read</code>",
        "Required scope: visits:read",
        "This endpoint is in beta.",
        "# Heading",
        "⚠️ Warning: slow.",
    ],
)
def test_a_notice_is_no_summary(notice: str) -> None:
    found = entry(
        operation({"operationId": "listVisits", "description": f"{notice}\n\nLists the visits. Newest first."})
    )
    assert found.summary == "Lists the visits. Newest first."
    assert found.title == "List visits"


def test_the_summary_of_the_document_goes_before_its_description() -> None:
    found = entry(operation({"summary": "List visits.", "description": "Gives what was seen."}))
    assert (found.title, found.summary) == ("List visits", "List visits.")
    assert found.content.startswith("Gives what was seen.")


def test_a_notice_in_a_sentence_before_the_summary_is_left_out() -> None:
    found = entry(operation({"summary": "**Deprecated.** Lists the visits of a pool."}))
    assert found.summary == "Lists the visits of a pool."


def test_what_many_operations_have_for_a_summary_says_nothing_of_any() -> None:
    def paths(count: int) -> dict[str, Any]:
        same = {"summary": "Do it", "responses": FINE}
        return {f"/r{n}": {"get": {**same, "description": f"Does the {n}th."}} for n in range(count)}

    assert {one.summary for one in made(document(paths(5))).entries} == {"Do it"}
    assert [one.summary for one in made(document(paths(6))).entries] == [f"Does the {n}th." for n in range(6)]
    assert [one.title for one in made(document(paths(6))).entries] == [f"Does the {n}th" for n in range(6)]


def test_an_operation_that_has_nothing_to_say_is_called_by_method_and_path() -> None:
    found = entry(operation({"parameters": [{"name": "a", "in": "query"}]}))
    assert (found.title, found.summary) == ("GET /visits", "GET /visits")


def test_markup_and_breaks_of_html_are_left_out() -> None:
    found = entry(operation({"summary": "Lists <b>visits</b>.<br><br>Requires <code>read</code>."}))
    assert found.summary == "Lists visits. Requires read."


def test_an_example_of_the_document_that_lacks_what_is_required_is_completed() -> None:
    schema = {
        "required": ["pool", "at"],
        "properties": {"pool": {"type": "string"}, "at": {"type": "string", "format": "date"}},
    }
    content = {"application/json": {"schema": schema, "example": {"pool": "North", "note": "x"}}}
    found = entry(operation({"requestBody": {"content": content}}, method="post"))
    assert '{"at": "2026-01-31", "note": "x", "pool": "North"}' in found.examples[0].code
