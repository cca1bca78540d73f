"""Lists, relations and figures: from the store, so true at once."""

from pathlib import Path
from typing import Any

import pytest

from commonplace.memory import validation
from commonplace.memory.entries import COMMON_FLOOR
from commonplace.memory.model import EntryId
from tests.fakes.memories import ACME, OTHER, Remembering, remembering


@pytest.fixture
def team(tmp_path: Path) -> Remembering:
    return remembering(tmp_path)


def listed(team: Remembering, **told: Any) -> list[str]:
    return [entry.content for entry in team.memory.list(ACME, validation.listing(**told)).entries]


def related(team: Remembering, id: EntryId, limit: int = 50) -> list[tuple[str, str]]:
    return [(one.entry.content, one.relation) for one in team.memory.related(ACME, id, limit)]


def test_list_shows_the_newest_first(team: Remembering) -> None:
    for content in ("one", "two", "three"):
        team.add(content)
    assert listed(team) == ["three", "two", "one"]
    assert listed(team, order="asc") == ["one", "two", "three"]


def test_list_is_paged_and_says_how_many_there_are(team: Remembering) -> None:
    for number in range(25):
        team.add(f"entry {number:02}")
    first = team.memory.list(ACME, validation.listing())
    assert (len(first.entries), first.total) == (20, 25)
    rest = team.memory.list(ACME, validation.listing(offset=20))
    assert (len(rest.entries), rest.total) == (5, 25)
    assert len({entry.id for entry in (*first.entries, *rest.entries)}) == 25
    assert team.memory.list(ACME, validation.listing(offset=1_000)).entries == ()


def test_tags_of_a_list_are_all_needed(team: Remembering) -> None:
    team.add("both", tags=["a", "b"])
    team.add("one", tags=["a"])
    assert listed(team, tags=["a", "B"]) == ["both"]
    assert listed(team, tags=["a"]) == ["one", "both"]
    assert listed(team, tags=["c"]) == []


def test_role_finds_its_own_entries_and_those_for_all(team: Remembering) -> None:
    team.add("dev", roles=["dev"])
    team.add("everybody", roles=["all"])
    team.add("qa", roles=["qa", "pm"])
    assert listed(team, role="dev") == ["everybody", "dev"]
    assert listed(team, role="pm") == ["qa", "everybody"]
    assert listed(team, role="all") == listed(team) == ["qa", "everybody", "dev"]


def test_list_is_ordered_by_confidence_or_change(team: Remembering) -> None:
    low, _ = team.add("low", confidence=0.1), team.add("high", confidence=0.9)
    assert listed(team, order_by="confidence") == ["high", "low"]
    team.memory.update(ACME, low, validation.changes(tags=["new"]))
    assert listed(team, order_by="updated_at") == ["low", "high"]
    assert listed(team, order_by="created_at") == ["high", "low"]


def test_list_of_a_type(team: Remembering) -> None:
    team.add("a summary", entry_type="summary")
    team.add("a fact")
    assert listed(team, entry_type="summary") == ["a summary"]


def test_siblings_come_before_parent_children_and_tags(team: Remembering) -> None:
    parent = team.add("story", entry_type="summary", tags=["x"])
    own = team.add("own", parent_id=parent, tags=["a", "b", "c"])
    team.add("child", parent_id=own)
    team.add("sibling", parent_id=parent)
    team.add("close sibling", parent_id=parent, tags=["a"])
    team.add("two tags", tags=["b", "a"])
    team.add("three tags", tags=["c", "a", "b", "z"])
    team.add("one tag", tags=["a"])
    team.add("theirs", OTHER, tags=["a", "b", "c"])
    assert related(team, own) == [
        ("close sibling", "sibling"),
        ("sibling", "sibling"),
        ("story", "parent"),
        ("child", "child"),
        ("three tags", "tags"),
        ("two tags", "tags"),
    ]
    assert related(team, own, 2) == [("close sibling", "sibling"), ("sibling", "sibling")]


def test_related_entry_says_which_tags_are_shared(team: Remembering) -> None:
    own = team.add("own", tags=["a", "b", "c"])
    team.add("other", tags=["c", "b"])
    assert [one.shared for one in team.memory.related(ACME, own)] == [("b", "c")]


def test_siblings_of_a_parent_that_is_gone_are_siblings_no_more(team: Remembering) -> None:
    parent = team.add("story", entry_type="summary")
    own = team.add("own", parent_id=parent)
    team.add("sibling", parent_id=parent)
    team.memory.delete(ACME, parent)
    assert related(team, own) == []


def test_entries_without_parent_are_not_siblings(team: Remembering) -> None:
    own = team.add("own")
    team.add("other")
    assert related(team, own) == []


def test_figures_of_an_empty_memory(team: Remembering) -> None:
    stats = team.memory.stats(ACME)
    assert (stats.total_entries, stats.avg_confidence, stats.last_updated, stats.cache_size) == (0, 0.0, None, 0)
    assert stats.by_type == {"fact": 0, "summary": 0, "template": 0}
    assert stats.by_role == {"pm": 0, "dev": 0, "qa": 0, "all": 0}


def test_figures_count_what_is_there_and_what_was_asked(team: Remembering) -> None:
    team.add("one", confidence=0.5, roles=["dev", "qa"])
    last = team.add("two", entry_type="summary", roles=["all"])
    team.add("theirs", OTHER)
    team.settle()
    team.search("one", role="dev", phase="review")
    team.search("one")
    team.search("one", OTHER, phase="qa")
    stats = team.memory.stats(ACME)
    assert (stats.total_entries, stats.avg_confidence, stats.cache_size) == (2, 0.75, 2)
    assert stats.by_type == {"fact": 1, "summary": 1, "template": 0}
    assert stats.by_role == {"pm": 0, "dev": 1, "qa": 1, "all": 1}
    assert stats.last_updated == team.memory.get(ACME, last).updated_at
    assert stats.queries == {("review", "dev"): 1, ("none", "all"): 1}


def test_list_of_a_source_and_a_time(team: Remembering) -> None:
    team.add("first", source_story="S-1", source_file="a.md")
    team.add("second", source_story="S-1", source_file="b.md")
    third = team.add("third", source_story="S-2", source_file="b.md")
    assert listed(team, source_story="S-1") == ["second", "first"]
    assert listed(team, source_story="S-1", source_file="b.md") == ["second"]
    at = team.memory.get(ACME, third).created_at
    assert listed(team, since=at) == ["third"]
    assert listed(team, until=at[:10]) == ["third", "second", "first"]
    assert listed(team, since="2100-01-01") == []


def test_tags_that_many_entries_have_relate_none(team: Remembering) -> None:
    own = team.add("own", tags=["lesson", "migrated", "cdk", "deploy"])
    team.add("close", tags=["cdk", "deploy"])
    for number in range(COMMON_FLOOR):
        team.add(f"other {number}", tags=["lesson", "migrated"])
    assert related(team, own) == [("close", "tags")]
