"""What no tool takes: each is an error that a model can mend, and nothing is written."""

from typing import Any

import pytest

from commonplace.memory.model import MAX_CONTENT_BYTES
from commonplace.memory.operations import ListArguments
from commonplace.web.mcp.budgets import handle
from commonplace.web.mcp.rendering import ERROR_META, compact
from tests.unit.memory.tools.teams import Team

NOBODY = "00000000-0000-4000-8000-000000000000"
FACT: dict[str, Any] = {"content": "Cars are red.", "entry_type": "fact", "roles": ["dev"]}
BOMB = "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nentries: [*b, *b]\n"

TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    ("kb_search", {"query": "x", "limit": 0}, "INVALID_INPUT", "limit"),
    ("kb_search", {"query": "x", "limit": 51}, "INVALID_INPUT", "50"),
    ("kb_search", {"query": "x", "limit": "many"}, "INVALID_INPUT", "limit"),
    ("kb_search", {"query": "x", "min_confidence": 1.5}, "INVALID_INPUT", "min_confidence"),
    ("kb_search", {"query": "x", "role": "boss"}, "INVALID_INPUT", "pm, dev, qa, all"),
    ("kb_search", {"query": "x", "entry_type": "rumour"}, "INVALID_INPUT", "fact, summary, template"),
    ("kb_search", {"query": "x", "phase": "party"}, "INVALID_INPUT", "pm, elab, dev, review, qa"),
    ("kb_search", {"query": " "}, "INVALID_INPUT", "query"),
    ("kb_search", {"query": "x" * 1_001}, "INVALID_INPUT", "1000"),
    ("kb_search", {}, "INVALID_INPUT", "query is missing"),
    ("kb_get", {"id": NOBODY}, "NOT_FOUND", "Hint"),
    ("kb_get", {"id": "42"}, "INVALID_INPUT", "UUID"),
    ("kb_get", {"id": NOBODY, "cursor": "x"}, "NOT_FOUND", "Hint"),
    ("kb_get_related", {"entry_id": NOBODY}, "NOT_FOUND", "Hint"),
    ("kb_get_related", {"entry_id": NOBODY, "limit": 51}, "INVALID_INPUT", "50"),
    ("kb_list", {"limit": 101}, "INVALID_INPUT", "100"),
    ("kb_list", {"limit": 0}, "INVALID_INPUT", "limit"),
    ("kb_list", {"offset": -1}, "INVALID_INPUT", "offset"),
    ("kb_list", {"order_by": "content"}, "INVALID_INPUT", "created_at, updated_at, confidence"),
    ("kb_list", {"order": "sideways"}, "INVALID_INPUT", "asc, desc"),
    ("kb_add", FACT | {"content": ""}, "INVALID_INPUT", "content"),
    ("kb_add", FACT | {"content": "x" * (MAX_CONTENT_BYTES + 1)}, "TOO_LARGE", "content"),
    ("kb_add", FACT | {"content": "潮" * MAX_CONTENT_BYTES}, "TOO_LARGE", "content"),
    ("kb_add", FACT | {"content": "\x00hidden"}, "INVALID_INPUT", "control"),
    ("kb_add", FACT | {"entry_type": "rumour"}, "INVALID_INPUT", "fact, summary, template"),
    ("kb_add", FACT | {"roles": ["boss"]}, "INVALID_INPUT", "pm, dev, qa, all"),
    ("kb_add", FACT | {"roles": []}, "INVALID_INPUT", "roles"),
    ("kb_add", FACT | {"tags": [f"t{number}" for number in range(31)]}, "INVALID_INPUT", "30"),
    ("kb_add", FACT | {"confidence": 1.01}, "INVALID_INPUT", "confidence"),
    ("kb_add", FACT | {"confidence": -0.1}, "INVALID_INPUT", "confidence"),
    ("kb_add", FACT | {"parent_id": NOBODY}, "INVALID_INPUT", "parent"),
    ("kb_add", FACT | {"parent_id": "the last one"}, "INVALID_INPUT", "parent_id"),
    ("kb_add", FACT | {"metadata": {"long": "x" * 9_000}}, "TOO_LARGE", "metadata"),
    ("kb_add", FACT | {"metadata": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}, "INVALID_INPUT", "metadata"),
    ("kb_add", FACT | {"metadata": [1]}, "INVALID_INPUT", "metadata"),
    ("kb_add", FACT | {"colour": "red"}, "INVALID_INPUT", "no argument colour"),
    ("kb_add", FACT | {"idempotency_key": "k" * 201}, "INVALID_INPUT", "idempotency_key"),
    ("kb_update", {"id": NOBODY, "confidence": 0.5}, "NOT_FOUND", "Hint"),
    ("kb_update", {"id": NOBODY}, "INVALID_INPUT", "Nothing is to be changed"),
    ("kb_update", {"id": NOBODY, "confidence": 0.5, "expected_version": 0}, "INVALID_INPUT", "expected_version"),
    ("kb_update", {"id": NOBODY, "content": "x" * (MAX_CONTENT_BYTES + 1)}, "TOO_LARGE", "content"),
    ("kb_delete", {"id": NOBODY}, "NOT_FOUND", "Hint"),
    ("kb_delete", {"id": "*"}, "INVALID_INPUT", "UUID"),
    ("kb_bulk_import", {"entries": []}, "INVALID_INPUT", "entries"),
    ("kb_bulk_import", {"entries": BOMB}, "INVALID_INPUT", ""),
    ("kb_bulk_import", {"entries": "- !!python/object/apply:os.system [ls]"}, "INVALID_INPUT", ""),
    ("kb_bulk_import", {"entries": "[" * 60 + "]" * 60}, "TOO_LARGE|INVALID_INPUT", ""),
    ("kb_bulk_import", {"entries": "just text"}, "INVALID_INPUT", ""),
    ("kb_bulk_import", {"entries": "- content: [unclosed"}, "INVALID_INPUT", ""),
    ("kb_bulk_import", {"entries": [FACT] * 10_001}, "TOO_LARGE", "10,000"),
    ("kb_bulk_import", {"handle": NOBODY}, "NOT_FOUND", ""),
    ("kb_rebuild_embeddings", {"batch_size": 0}, "INVALID_INPUT", "batch_size"),
    ("kb_rebuild_embeddings", {"batch_size": 101}, "INVALID_INPUT", "100"),
    ("kb_rebuild_embeddings", {"handle": NOBODY}, "NOT_FOUND", ""),
]


@pytest.mark.parametrize(("name", "arguments", "code", "said"), TABLE)
def test_what_cannot_be_is_said_and_nothing_is_written(
    here: Team, name: str, arguments: dict[str, Any], code: str, said: str
) -> None:
    told, text = here.error(name, **arguments)
    assert told in code.split("|")
    assert said in text
    assert text.startswith(f"{told}: ")
    assert len(text) < 1_500
    assert here.data("kb_stats")["total_entries"] == 0


@pytest.mark.parametrize("position", ["x", 7, "a b c", "-1 1 x", "1 x y", "1 -5 ~", "99999999999 1+ "])
def test_a_cursor_that_was_made_up_is_refused_or_a_list(here: Team, position: str | int) -> None:
    here.data("kb_add", **FACT)
    filters = ListArguments().model_dump(exclude={"limit", "offset", "cursor"})
    cursor = handle(position, tool="kb_list", question=compact(filters), version="")
    result = here.call("kb_list", cursor=cursor)
    assert not result.is_error or result.meta[ERROR_META]["code"] == "INVALID_INPUT"
