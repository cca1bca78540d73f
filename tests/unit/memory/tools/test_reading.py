"""`kb_get`, `kb_get_related`, `kb_list`, `kb_stats`: shapes, order, and what an answer may cost."""

import json
from typing import Any

import pytest

from commonplace.memory.answers import LIST_TOKENS
from commonplace.memory.entries import FEW
from commonplace.memory.model import MAX_CONTENT_BYTES, content_hash
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens
from tests.unit.memory.tools.teams import Team
from tests.unit.web.mcp.talking import ERAS, text_of

PROSE = "Write tests beside the code, not after it: in the fix phase they cost twice as much. "


def cost(result: Any) -> int:
    data = json.dumps(result.structured_content, ensure_ascii=False, separators=(",", ":"))
    return max(estimate_tokens(text_of(result)), estimate_tokens(data))


@pytest.mark.parametrize("mode", ERAS)
def test_an_entry_is_told_whole_and_never_whose_it_is(here: Team, mode: str) -> None:
    here.mode = mode
    id = here.add("Tides turn.", tags=["tide", "moon"], source_story="T-1", metadata={"n": {"m": None, "k": 1}})
    told = here.data("kb_get", id=id)
    assert told.pop("created_at") == told.pop("updated_at")
    assert told == {
        "id": id,
        "content": "Tides turn.",
        "content_hash": content_hash("Tides turn."),
        "entry_type": "fact",
        "roles": ["dev"],
        "tags": ["tide", "moon"],
        "confidence": 1.0,
        "source_story": "T-1",
        "metadata": {"n": {"m": None, "k": 1}},
        "version": 1,
    }


def test_the_text_of_an_entry_says_what_its_data_says(here: Team) -> None:
    parent = here.add("The story of tides.", entry_type="summary")
    id = here.add(
        "Tides turn.", tags=["tide"], source_file="docs/tides.md", parent_id=parent, metadata={"gate": "PASS"}
    )
    text = text_of(here.call("kb_get", id=id))
    for said in (id, parent, "Tides turn.", "fact", "dev", "tide", "docs/tides.md", '{"gate":"PASS"}'):
        assert said in text
    assert content_hash("Tides turn.") in text


def test_an_entry_that_is_not_there_is_an_error_with_a_hint(here: Team) -> None:
    code, text = here.error("kb_get", id="00000000-0000-4000-8000-000000000000")
    assert code == "NOT_FOUND"
    assert "Hint: " in text


def test_a_parent_that_is_gone_is_none(here: Team) -> None:
    parent = here.add("The story of tides.", entry_type="summary")
    child = here.add("Tides turn.", parent_id=parent)
    assert here.data("kb_get", id=child)["parent_id"] == parent
    here.data("kb_delete", id=parent)
    assert "parent_id" not in here.data("kb_get", id=child)
    assert "parent_id" not in here.data("kb_list")["entries"][0]


def test_the_longest_prose_is_told_in_one_answer(here: Team) -> None:
    content = (PROSE * 500)[:MAX_CONTENT_BYTES].strip()
    result = here.call("kb_get", id=here.add(content))
    assert result.structured_content["content"] == content
    assert content in text_of(result)
    assert "next_cursor" not in result.structured_content


@pytest.mark.parametrize("dense", ["0123456789!", '"\\', "潮汐转"])
def test_what_is_denser_than_prose_is_told_in_parts(here: Team, dense: str) -> None:
    content = dense * (MAX_CONTENT_BYTES // len(dense.encode()))
    id = here.add(content, metadata={"long": "§" * 3_500})
    parts, cursor = [], None
    while True:
        result = here.call("kb_get", id=id, **({"cursor": cursor} if cursor else {}))
        assert cost(result) <= MAX_TOKENS
        parts.append(result.structured_content["content"])
        assert result.structured_content["truncated"]
        if (cursor := result.structured_content.get("next_cursor")) is None:
            break
    assert "".join(parts) == content
    assert 1 < len(parts) <= 8


def test_an_entry_that_fills_every_field_can_still_be_read(here: Team) -> None:
    id = here.add(
        "0" * MAX_CONTENT_BYTES,
        tags=[f"{number:064d}" for number in range(30)],
        source_file="1" * 500,
        source_story="2" * 500,
        metadata={"3": "4" * 8_000},
    )
    result = here.call("kb_get", id=id)
    assert not result.is_error, text_of(result)
    assert cost(result) <= MAX_TOKENS
    assert len(result.structured_content["content"]) > 1_000
    assert "Its metadata is in the structured answer." in text_of(result)


def test_a_handle_ends_with_the_version_it_was_given_for(here: Team) -> None:
    id = here.add("0123456789!" * 2_900)
    cursor = here.data("kb_get", id=id)["next_cursor"]
    here.data("kb_update", id=id, confidence=0.5)
    code, text = here.error("kb_get", id=id, cursor=cursor)
    assert (code, "has changed since" in text) == ("INVALID_INPUT", True)


def test_related_entries_say_how_they_are_related(here: Team) -> None:
    story = here.add("A story of tides.", entry_type="summary")
    first = here.add("Tides turn.", parent_id=story, tags=["tide", "moon"])
    second = here.add("Moons pull.", parent_id=story)
    other = here.add("Harbours silt.", tags=["moon", "tide", "silt"])
    told = here.data("kb_get_related", entry_id=first)["entries"]
    assert [(one["id"], one["relation"], sorted(one["shared_tags"])) for one in told] == [
        (second, "sibling", []),
        (story, "parent", []),
        (other, "tags", ["moon", "tide"]),
    ]
    assert len(here.data("kb_get_related", entry_id=first, limit=1)["entries"]) == 1


@pytest.mark.parametrize(("limit", "most"), [(None, LIST_TOKENS), (100, MAX_TOKENS)])
def test_a_list_of_long_entries_is_cut_and_says_so(here: Team, limit: int | None, most: int) -> None:
    tags = [f"a-long-tag-of-many-words-{number}" for number in range(30)]
    for number in range(100):
        here.world.add(f"{number} {PROSE * 40}", tags=tags, metadata={"long": "x" * 2_000})
    result = here.call("kb_list", **({"limit": limit} if limit else {}))
    assert cost(result) <= most
    told = result.structured_content
    assert all(one["truncated"] and "metadata" not in one for one in told["entries"])
    assert told["next_offset"] == len(told["entries"]) >= 4
    assert f"More: cursor `{told['next_cursor']}`, the soonest, or offset {told['next_offset']} " in text_of(result)


def test_short_entries_are_whole_beside_long_ones(here: Team) -> None:
    here.world.add(PROSE * 300)
    short = [here.world.add(f"Short {number}.") for number in range(10)]
    told = {one["id"]: one for one in here.data("kb_list")["entries"]}
    assert all("truncated" not in told[id] for id in short)
    assert len(told) == 11


def test_the_figures_are_those_of_the_seed_and_the_queries(here: Team) -> None:
    here.add("Tides turn.", confidence=0.5)
    here.add("A story.", entry_type="summary", roles=["pm", "qa"])
    here.data("kb_search", query="tides", role="dev", phase="review")
    told = here.data("kb_stats")
    assert told["total_entries"] == 2
    assert told["by_type"] == {"fact": 1, "summary": 1, "template": 0}
    assert told["by_role"] == {"pm": 1, "dev": 1, "qa": 1, "all": 0}
    assert (told["avg_confidence"], told["queries"]) == (0.75, {"review": {"dev": 1}})
    assert told["cache_size"] >= 2
    assert told["last_updated"].endswith("Z")


def test_an_empty_memory_has_figures_too(here: Team) -> None:
    told = here.data("kb_stats")
    assert (told["total_entries"], told["avg_confidence"], "last_updated" in told) == (0, 0.0, False)


FILTERS: list[dict[str, Any]] = [
    {},
    {"tags": ["tide"]},
    {"tags": ["tide", "moon"]},
    {"role": "dev", "entry_type": "fact"},
    {"source_story": "T-1", "source_file": "docs/tides.md"},
    {"since": "2020-01-01"},
]


@pytest.mark.parametrize(
    ("order", "filters"), [*(("asc", one) for one in FILTERS[:3]), *(("desc", one) for one in FILTERS[3:])], ids=str
)
def test_a_list_goes_on_by_its_cursor_while_entries_come_and_go(
    here: Team, order: str, filters: dict[str, Any]
) -> None:
    of_all = {"tags": ["tide", "moon"], "source_story": "T-1", "source_file": "docs/tides.md"}
    ids = [here.add(f"Fact {number}.", **of_all) for number in range(24)]
    asked = {"limit": 4, "order": order, **filters}
    page = here.data("kb_list", **asked)
    told = [one["id"] for one in page["entries"]]
    # Most of what was told is deleted, and two that were not; new ones come where the list begins, or ends.
    waiting = [id for id in ids if id not in told]
    for gone in (*told, *waiting[:2]):
        here.data("kb_delete", id=gone)
    new = [here.add(f"New fact {number}.", **of_all) for number in range(2)]
    while cursor := page.get("next_cursor"):
        page = here.data("kb_list", **asked, cursor=cursor)
        told += [one["id"] for one in page["entries"]]
    assert len(told) == len(set(told))
    assert set(told[4:]) == {*waiting[2:], *(new if order == "asc" else ())}


def test_a_page_of_which_everything_was_deleted_meanwhile_still_leads_on(
    here: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [here.add(f"Fact {number}.") for number in range(5)]
    store = here.world.store
    read = store.get_many

    def late(organisation: str, wanted: Any) -> Any:
        monkeypatch.setattr(store, "get_many", read)
        for id in ids[:2]:
            here.data("kb_delete", id=id)
        return read(organisation, wanted)

    monkeypatch.setattr(store, "get_many", late)
    page = here.data("kb_list", limit=2, order="asc")
    assert page["entries"] == []
    rest = here.data("kb_list", limit=5, order="asc", cursor=page["next_cursor"])
    assert [one["id"] for one in rest["entries"]] == ids[2:]


def test_where_many_pass_several_filters_the_total_is_what_was_counted_and_all_come(here: Team) -> None:
    both = {"tags": ["tide"], "source_file": "docs/tides.md"}
    ids = {here.add(f"Tide {number}.", confidence=number / 300, **both) for number in range(FEW + 30)}
    for number in range(40):
        here.add(f"Elsewhere {number}.", tags=["tide"])
        here.add(f"Another {number}.", source_file="docs/tides.md")
    asked = {**both, "limit": 50, "order_by": "confidence"}
    result, told = here.call("kb_list", **asked), list[str]()
    first = result.structured_content
    counted = first["total"]
    assert (0 < counted <= FEW, first["total_is_least"]) == (True, True)
    assert text_of(result).startswith(f"{counted} or more, here 1 to ")
    page = first
    while "next_cursor" in page:
        told += [one["id"] for one in page["entries"]]
        assert page["next_offset"] == len(told)
        page = here.data("kb_list", **asked, cursor=page["next_cursor"])
        assert page["total"] == max(counted, len(told) + len(page["entries"]))
    told += [one["id"] for one in page["entries"]]
    assert (len(told), set(told)) == (len(ids), ids)
    rest = here.data("kb_list", **{**asked, "limit": 30}, offset=FEW)
    there = [one["id"] for one in rest["entries"]]
    assert (there, rest["total"]) == (told[FEW : FEW + len(there)], len(ids))
    assert "total_is_least" not in rest


def test_a_hundred_short_entries_come_at_once_or_it_says_where_it_is_cut(here: Team) -> None:
    for number in range(101):
        here.add(f"Short {number}.")
    result = here.call("kb_list", limit=100)
    entries = result.structured_content["entries"]
    assert len(entries) == 100 or "An answer holds no more." in text_of(result)
    assert result.structured_content["next_offset"] == len(entries)


def test_a_cursor_of_another_list_is_refused(here: Team) -> None:
    for number in range(3):
        here.add(f"Short {number}.")
    cursor = here.data("kb_list", limit=1)["next_cursor"]
    code, text = here.error("kb_list", limit=1, order="asc", cursor=cursor)
    assert code == "INVALID_INPUT"
    assert "without the handle" in text
