"""What people read of a partner's tools before they approve them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.federation.model import PartnerTool, pin, texts_of
from commonplace.federation.operations import ToolFace, shown_tool, visible

READS = {"readOnlyHint": True}


def tool(now: dict[str, Any] | None, before: dict[str, Any] | None = None) -> PartnerTool:
    offered, approved = (texts_of({"name": "read", **one}) if one is not None else "" for one in (now, before))
    return PartnerTool(id="reef__read", revision=1, name="read", offered=offered, approved=approved)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Plain.\n\tNext.", "Plain.\n\tNext."),
        ("Gezeiten, 潮, مد\u00a0x", "Gezeiten, 潮, مد\u00a0x"),
        ("a\u200bb\u202ec\ufeff", "a\\u200bb\\u202ec\\ufeff"),
        ("a\ufe0fb\u034f\u3164", "a\\ufe0fb\\u034f\\u3164"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\x1b[2J\x9b\u2028", "\\u001b[2J\\u009b\\u2028"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_no_font_draws_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_text_of_a_tool_is_shown_with_what_it_hides() -> None:
    hidden = "a\u200b\U000e0041\u2028b"
    schema = {"type": "object", "properties": {hidden: {"type": hidden, "description": hidden}}}
    shown = shown_tool(tool({"description": hidden, "inputSchema": schema}, {"description": "a"}))
    told = [shown["description"], *shown["text"], *shown["pinned"], *map(str, shown["arguments"][0].values())]
    assert [text for text in told if not text.isprintable()] == []


def test_a_change_is_one_line_for_each_line_of_the_texts() -> None:
    lines = shown_tool(tool({"description": "Read.\u2028+ fake"}, {"description": "Read."}))["text"]
    assert [line for line in lines if line[0] in "+-"] == [
        '- "description": "Read.",',
        '+ "description": "Read.\\u2028+ fake",',
    ]


def test_what_a_tool_says_now_counts_and_not_what_was_approved() -> None:
    shown = shown_tool(tool({"description": "Delete."}, {"description": "Read.", "annotations": READS}))
    assert (shown["state"], shown["reads_only"], shown["description"]) == ("changed", False, "Delete.")
    gone = shown_tool(tool(None, {"description": "Read.", "annotations": READS}))
    assert (gone["state"], gone["reads_only"], gone["pin"], gone["pinned"]) == ("gone", True, "", [])
    assert shown_tool(tool(None))["state"] == "gone"


def test_arguments_are_shown_with_type_and_whether_they_are_required() -> None:
    properties = {"query": {"type": "string", "description": "The words."}, "limit": {"anyOf": [{"type": "integer"}]}}
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    found = tool({"inputSchema": schema})
    assert shown_tool(found)["pin"] == pin(found.offered)
    assert shown_tool(found)["arguments"] == [
        {"name": "query", "type": "string", "required": True, "description": "The words."},
        {"name": "limit", "type": "integer", "required": False, "description": ""},
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "properties", "required", "anyOf", "description", "x"]), inner)
    ),
)


@given(st.dictionaries(st.sampled_from(["properties", "required"]), JSON))
def test_no_schema_of_a_partner_breaks_what_is_shown(schema: dict[str, Any]) -> None:
    assert ToolFace.model_validate(shown_tool(tool({"description": "x", "inputSchema": schema})))
