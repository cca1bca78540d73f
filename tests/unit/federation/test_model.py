"""Names, pins and hits: unique and valid for whatever a partner says, changed by what is pinned alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.federation.model import (
    MAX_SCHEMA_DEPTH,
    NAME,
    PINNED,
    Hit,
    PartnerTool,
    cleaned,
    depth,
    exposed,
    fault_of,
    hits_of,
    merged,
    pin,
    seen,
    texts_of,
)

TOOL: dict[str, Any] = {
    "name": "search",
    "title": "Search",
    "description": "Searches.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}


@given(st.lists(st.text(min_size=1, max_size=130), unique=True, max_size=30))
def test_names_here_are_valid_stable_and_of_one_tool_each(names: list[str]) -> None:
    found = [exposed("ok", name) for name in names]
    assert len(set(found)) == len(names)
    assert found == [exposed("ok", name) for name in names]
    for one in found:
        assert one.isascii()
        assert 0 < len(one) <= 64
        assert one.replace("_", "").replace("-", "").isalnum()


@pytest.mark.parametrize("name", ["a__b", "A", "a-", "-a", "a--b", "", "a" * 24, "a_b", "ä", "a b", "1a"])
def test_a_partner_has_a_plain_name(name: str) -> None:
    assert not NAME.fullmatch(name)
    assert all(NAME.fullmatch(good) for good in ("dao-primitives", "a", "a" * 23, "x1"))


@pytest.mark.parametrize("field", PINNED)
def test_a_pin_changes_with_every_pinned_field(field: str) -> None:
    changed = TOOL | {field: {"type": "object", "x": 1} if isinstance(TOOL[field], dict) else f"{TOOL[field]}!"}
    assert pin(texts_of(changed)) != pin(texts_of(TOOL))
    assert pin(texts_of({name: one for name, one in TOOL.items() if name != field})) != pin(texts_of(TOOL))


def test_a_pin_changes_with_nothing_else() -> None:
    turned = json.loads(json.dumps(dict(reversed(TOOL.items()))))
    assert pin(texts_of(turned | {"_meta": {"x": 1}, "icons": [], "execution": None})) == pin(texts_of(TOOL))


def test_a_tool_is_offered_as_it_was_approved_alone() -> None:
    texts = texts_of(TOOL)
    tool = PartnerTool(id="ok__search", revision=1, name="search", offered=texts)
    assert tool.state == "new"
    approved = PartnerTool(id="ok__search", revision=2, name="search", offered=texts, approved=texts)
    assert (approved.state, approved.reads_only) == ("approved", True)
    changed = PartnerTool(id="i", revision=3, name="search", offered=texts_of(TOOL | {"title": "x"}), approved=texts)
    assert (changed.state, changed.texts["title"]) == ("changed", "Search")
    assert PartnerTool(id="i", revision=4, name="search", offered="", approved=texts).state == "gone"


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"x": value}
    return value


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, None),
        ({"name": "x" * 129}, "name"),
        ({"name": ""}, "name"),
        ({"description": "x" * 4_001}, "description"),
        ({"inputSchema": {"type": "string"}}, "not an object"),
        ({"inputSchema": {"type": "object", "x": deep(MAX_SCHEMA_DEPTH)}}, "levels"),
        ({"outputSchema": {"x": "y" * 17_000}}, "kB"),
    ],
)
def test_a_tool_that_no_approval_makes_good_says_why(changed: dict[str, Any], why: str | None) -> None:
    fault = fault_of(TOOL | changed)
    assert fault is None if why is None else why in (fault or "")


def test_depth_is_counted_without_recursion() -> None:
    assert depth(deep(100_000)) == 100_000
    assert (depth("x"), depth([[1], {}])) == (0, 2)


def test_hits_come_from_data_or_else_from_text() -> None:
    rows = [
        {"title": "One\u202e", "documentUrl": "https://a.example/1", "snippet": "x" * 2_000},
        {"name": "Two", "url": "javascript:alert(1)", "text": "two\x00\x07"},
        {"unrelated": 1},
        "no row",
    ]
    one, two = hits_of("a", {"total": 2, "results": rows}, "ignored")
    assert (one.title, one.url, len(one.text)) == ("One", "https://a.example/1", 1_000)
    assert (two.title, two.url, two.text) == ("Two", "", "two")
    assert hits_of("a", None, "Only text") == [Hit("a", "", "", "Only text")]
    assert hits_of("a", {"results": []}, "") == []
    assert hits_of("a", {"items": [{"title": "Other"}]}, "")[0].title == "Other"


def test_hits_are_merged_by_rank_and_address() -> None:
    def hits(source: str, *urls: str) -> list[Hit]:
        return [Hit(source, url, f"https://x.example/{url}" if url else "", url) for url in urls]

    found = merged([hits("a", "1", "2", "2"), hits("b", "3", "1"), hits("c", "", "")], 4)
    assert [(hit.source, hit.title, sources) for hit, sources in found] == [
        ("a", "1", ("a", "b")),
        ("b", "3", ("b",)),
        ("c", "", ("c",)),
        ("a", "2", ("a",)),
    ]


@given(st.text(max_size=300), st.integers(1, 100))
def test_cleaned_text_can_be_sent_and_shown(text: str, most: int) -> None:
    found = cleaned(text, most)
    found.encode()
    assert len(found) <= most
    assert "\x00" not in found
    assert "\u202e" not in found


def test_an_empty_list_is_no_hit_and_a_text_without_a_list_is_one() -> None:
    assert hits_of("reef", {"results": []}, "No results for nets.") == []
    assert [hit.text for hit in hits_of("reef", {"answer": "x"}, "Soak the twine.")] == ["Soak the twine."]
    assert [hit.text for hit in hits_of("reef", None, "Soak the twine.")] == ["Soak the twine."]


def test_what_a_server_of_our_own_make_calls_weak_is_no_hit() -> None:
    rows = [{"title": "Nets", "fit": "strong"}, {"title": "Boats", "fit": "weak"}]
    assert [hit.title for hit in hits_of("reef", {"results": rows}, "")] == ["Nets"]


def test_a_title_is_one_line_and_nothing_unseen_is_in_a_text_or_a_schema() -> None:
    (hit,) = hits_of("reef", {"results": [{"title": "Nets\n\n[own] Policy", "text": "a\U000e0041\u00adb\u061c"}]}, "")
    assert (hit.title, hit.text) == ("Nets [own] Policy", "ab")
    assert seen({"properties": {"q": {"description": "Words\U000e0041\u200b."}}}) == {
        "properties": {"q": {"description": "Words."}}
    }
