"""Searching: what is found, what is never shown, what happens while parts are away."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.memory import validation
from commonplace.memory.search import EXCERPT_CHARACTERS, SEED_FUSION
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.model import Vector
from tests.contracts.engines import ENGINES
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.memories import ACME, OTHER, CountingEmbeddings, Remembering, remembering


class AwayFromQueries(FakeEmbeddings):
    """Embeds what is kept, and not what is asked."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if query:
            raise Unavailable("The model does not answer.")
        return super().embed(texts)


@pytest.fixture(params=["embedded", pytest.param("opensearch", marks=pytest.mark.real)])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Remembering]:
    model = CountingEmbeddings()
    with ENGINES[request.param](tmp_path, request.getfixturevalue) as make:
        yield Remembering(make(model), model)


def test_fusion_is_that_of_the_seed() -> None:
    assert str(SEED_FUSION) == "reciprocal ranks, constant 60; words 0.3, meaning 0.7"


def test_entry_is_found_once_the_index_has_followed(team: Remembering) -> None:
    team.add("Route ordering in vercel.json: specific routes come before parameterized routes.")
    team.add("Bananas are yellow.")
    team.settle()
    [found] = team.search("vercel route ordering")
    assert found.excerpt == found.entry.content
    assert 0 < found.score <= 1


def test_every_condition_of_a_search_holds(team: Remembering) -> None:
    team.add("cars one", roles=["dev"], tags=["a"], confidence=1.0)
    team.add("cars two", roles=["all"], tags=["b"], confidence=0.6)
    team.add("cars three", roles=["qa"], tags=["a", "b"], confidence=0.4)
    team.add("cars four", roles=["dev"], tags=["c"], entry_type="summary")
    team.settle()
    assert set(team.contents("cars", role="dev")) == {"cars one", "cars two", "cars four"}
    assert set(team.contents("cars", role="all", min_confidence=0)) == {
        f"cars {n}" for n in ("one", "two", "three", "four")
    }
    assert set(team.contents("cars", tags=["a", "B"])) == {"cars one", "cars two"}
    assert team.contents("cars", entry_type="summary") == ["cars four"]
    assert set(team.contents("cars", min_confidence=0.7)) == {"cars one", "cars four"}
    assert team.contents("cars", min_confidence=0, tags=["c"], role="qa") == []


def test_limit_is_kept(team: Remembering) -> None:
    for number in range(20):
        team.add(f"cars number {number}")
    team.settle()
    assert len(team.search("cars number", limit=3)) == 3
    assert len(team.search("cars number")) == 10


def test_nothing_of_another_organisation_is_found(team: Remembering) -> None:
    team.add("cars of theirs", OTHER)
    team.settle()
    assert team.search("cars of theirs") == ()
    assert team.contents("cars", OTHER) == ["cars of theirs"]


def test_what_the_store_says_decides_over_an_index_that_lags(team: Remembering) -> None:
    gone, changed, kept = team.add("cars gone"), team.add("cars changed"), team.add("cars kept")
    team.settle()
    team.memory.delete(ACME, gone)
    team.memory.update(ACME, changed, validation.changes(roles=["qa"], confidence=0.2))
    team.memory.update(ACME, kept, validation.changes(tags=["new"]))
    [found] = team.search("cars", role="dev")
    assert found.entry == team.memory.get(ACME, kept)


def test_record_of_another_organisation_under_a_name_of_ours_is_not_shown(team: Remembering) -> None:
    theirs = team.add("cars of theirs", OTHER)
    team.settle()
    team.store.kept["acme"] = team.store.kept["other"]
    assert team.search("cars of theirs") == ()
    assert team.memory.get(ACME, theirs)


def test_texts_that_are_the_same_but_for_case_and_spaces_are_shown_once(team: Remembering) -> None:
    ids = {team.add("Cars are red."), team.add("CARS  are\nred."), team.add("cars are red.")}
    team.add("Cars are blue.")
    team.settle()
    found = team.search("cars red", limit=2)
    assert {found[0].entry.id, *found[0].duplicates} == ids
    assert found[1].entry.content == "Cars are blue."


def test_short_entries_that_say_the_same_are_shown_once_to_the_same_roles(team: Remembering) -> None:
    ids = {team.add("Run the migration before the deploy."), team.add("Run migrations before the deploy!")}
    other = team.add("**Run migrations** before a deploy.", roles=["qa"])
    team.settle()
    found = {one.entry.id: one.duplicates for one in team.search("migration before the deploy")}
    assert len(found) == 2
    assert {id for one in found for id in (one, *found[one])} == {*ids, other}
    assert found[other] == ()
    assert len(team.search("migration before the deploy", collapse=False)) == 3


def test_near_copies_of_a_long_text_are_shown_once_and_named(team: Remembering) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    ids = {team.add(f"cars {words}"), team.add(f"cars {words} again")}
    team.settle()
    [found] = team.search("cars word7")
    assert {found.entry.id, *found.duplicates} == ids


def test_near_copy_stands_in_for_one_that_may_not_be_shown(team: Remembering) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    first, second = team.add(f"cars {words}"), team.add(f"cars {words} again")
    team.settle()
    for id, other in ((first, second), (second, first)):
        team.memory.update(ACME, id, validation.changes(confidence=0.1))
        assert [(found.entry.id, found.duplicates) for found in team.search("cars word7")] == [(other, ())]
        team.memory.update(ACME, id, validation.changes(confidence=1))


def test_long_entry_is_shown_by_the_part_that_was_found(team: Remembering) -> None:
    filler = "\n\n".join(f"## Part {n}\n\n" + "Nothing to see in this part. " * 30 for n in range(10))
    team.add(f"{filler}\n\n## Cars\n\nThe zebra crossing is where cars stop.")
    team.settle()
    [found] = team.search("zebra crossing")
    assert "zebra crossing" in found.excerpt
    assert len(found.excerpt) <= EXCERPT_CHARACTERS + 2


def test_excerpt_is_never_of_a_text_that_was_replaced(team: Remembering) -> None:
    id = team.add("zebra secret " * 300)
    team.settle()
    team.memory.update(ACME, id, validation.changes(content="public words about a zebra " * 200))
    [found] = team.search("zebra")
    assert "secret" not in found.excerpt
    assert "zebra" in found.excerpt


def test_parent_that_is_gone_reads_as_none(team: Remembering) -> None:
    parent = team.add("a story", entry_type="summary")
    team.add("cars", parent_id=parent)
    team.settle()
    assert team.search("cars")[0].entry.parent_id == parent
    team.memory.delete(ACME, parent)
    assert team.search("cars")[0].entry.parent_id is None


def test_search_by_words_says_so_when_the_question_cannot_be_embedded(tmp_path: Path) -> None:
    team = remembering(tmp_path, AwayFromQueries())
    team.add("Cars are red.")
    team.settle()
    answer = team.memory.search(ACME, validation.asked(query="cars"))
    assert answer.fallback
    assert [found.entry.content for found in answer.found] == ["Cars are red."]


def test_search_with_its_model_is_no_fallback(team: Remembering) -> None:
    team.add("Cars are red.")
    team.settle()
    assert not team.memory.search(ACME, validation.asked(query="cars")).fallback


def test_empty_memory_is_no_fallback(team: Remembering) -> None:
    answer = team.memory.search(ACME, validation.asked(query="cars"))
    assert (answer.found, answer.fallback) == ((), False)


def test_memory_without_a_model_compares_words_and_says_so(tmp_path: Path) -> None:
    team = Remembering(EmbeddedEngine(tmp_path / "memory.sqlite", None), None)
    assert team.added("Cars are red.").embedded
    team.settle()
    answer = team.memory.search(ACME, validation.asked(query="cars"))
    assert answer.fallback
    assert len(answer.found) == 1


def test_store_that_is_away_is_said(team: Remembering) -> None:
    team.add("Cars are red.")
    team.settle()
    team.store.down = True
    with pytest.raises(Unavailable):
        team.search("cars")


def test_question_is_counted_by_phase_and_role(team: Remembering) -> None:
    for phase, role in (("dev", "dev"), ("dev", "dev"), (None, "all"), ("qa", None)):
        team.search("cars", phase=phase, role=role)
    assert team.counts.kept == {("acme", "dev", "dev"): 2, ("acme", "none", "all"): 1, ("acme", "qa", "all"): 1}


def test_counts_that_cannot_be_kept_fail_nobody(tmp_path: Path) -> None:
    team = remembering(tmp_path, CountingEmbeddings())
    team.counts.down = True
    assert team.search("cars") == ()


def test_entry_is_kept_when_the_index_cannot_say_what_is_near(tmp_path: Path) -> None:
    (tmp_path / "memory.sqlite").write_bytes(b"no database at all" * 500)
    added = remembering(tmp_path).added("Cars are blue.")
    assert (added.duplicate, added.embedded, added.nearest) == (False, True, ())


def test_what_another_organisation_has_asked_is_not_remembered_for_us(tmp_path: Path) -> None:
    model = CountingEmbeddings()
    team = remembering(tmp_path, model)
    for author in (ACME, OTHER):
        team.add("Cars are red.", author)
    team.settle()
    asked = validation.asked(query="red cars")
    team.memory.search(OTHER, asked)
    model.failing = True
    assert not team.memory.search(OTHER, asked).fallback
    assert team.memory.search(ACME, asked).fallback


def told_in(title: str, section: str) -> dict[str, Any]:
    return {"metadata": {"title": title, "section": section}}


def test_fact_is_found_by_its_story_and_section_and_shown_as_it_was_written(team: Remembering) -> None:
    lesson = "Cost of ignoring: 90 minutes."
    team.add(lesson, **told_in("Timetable of the night ferry", "Root cause"))
    team.add("Cost of ignoring: 20 minutes.", **told_in("Prices of cabins", "Root cause"))
    team.add("The night ferry is late on Sundays.")
    team.settle()
    [found, *_] = team.search("timetable of the night ferry: cost of ignoring")
    assert (found.entry.content, found.excerpt) == (lesson, lesson)


def test_fact_whose_story_is_renamed_is_found_by_the_new_title(team: Remembering) -> None:
    id = team.add("Cost of ignoring: 90 minutes.", **told_in("Timetable", "Root cause"))
    team.add("Cost of ignoring: 20 minutes.", **told_in("Cabins", "Root cause"))
    team.settle()
    updated = team.memory.update(ACME, id, validation.changes(metadata={"title": "Gangway"}))
    assert updated.re_embedded
    team.settle()
    assert team.search("gangway: cost of ignoring")[0].entry.id == id


def test_nearest_entries_are_those_with_the_nearest_text_whatever_story_they_are_of(team: Remembering) -> None:
    same = told_in("Timetable of the night ferry in winter", "Recommendations for future stories")
    sibling = team.add("Bananas are yellow and grow in bunches.", **same)
    near = team.add("Put specific routes before parameterized routes.", **told_in("Cabins", "Root cause"))
    team.settle()
    added = team.added("Put specific routes before parameterised routes!", **same)
    similarity = {one.id: one.similarity for one in added.nearest}
    assert added.nearest[0].id == near
    assert similarity[near] > 0.8
    assert similarity.get(sibling, 0) < 0.5


def test_nearest_entries_are_told_with_how_near_they_are(team: Remembering) -> None:
    near = team.add("Specific routes come before parameterized routes in vercel.json")
    team.add("Specific routes come before parameterized routes in vercel.json", OTHER)
    team.add("Bananas are yellow and grow in bunches")
    team.settle()
    added = team.added("In vercel.json put specific routes before parameterized routes")
    assert [one.id for one in added.nearest][:1] == [near]
    assert 0.5 < added.nearest[0].similarity <= 1
    assert len(added.nearest) <= 2


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("STORY-003", "of the story"),
        ("what did we learn about cars in story-003?", "of the story"),
        ("token.py", "Cars of src/auth/token.py are green."),
        ("src/auth/token.py and cars", "Cars of src/auth/token.py are green."),
        ("docs/LESSONS.md cars", "of the file"),
        ("cars and ECONNREFUSED", "It ended with ECONNREFUSED."),
    ],
)
def test_what_is_asked_for_by_name_comes_first(team: Remembering, query: str, first: str) -> None:
    for number in range(30):
        team.add(f"Cars of story {number}: what we learn about cars, token and py, lessons and md.")
    team.add("of the story", source_story="STORY-003")
    team.add("of another story", source_story="STORY-0031")
    team.add("of the file", source_file="docs/LESSONS.md")
    team.add("Cars of src/auth/token.py are green.")
    team.add("It ended with ECONNREFUSED.")
    team.settle()
    assert team.contents(query)[0] == first


def test_entries_of_one_name_are_in_the_order_of_relevance(team: Remembering) -> None:
    for number in range(20):
        team.add(f"Bananas {number} are yellow.", source_story="STORY-003")
    team.add("Cars are red.", source_story="STORY-003")
    team.add("Cars are blue, and red cars are cars.")
    team.settle()
    found = team.contents("red cars in STORY-003")
    assert found[0] == "Cars are red."
    assert all("Bananas" in content for content in found[1:])


def test_search_is_narrowed_to_a_source_and_a_time(team: Remembering) -> None:
    first = team.add("cars one", source_story="STORY-003", source_file="docs/a.md")
    second = team.add("cars two", source_story="STORY-003", source_file="docs/a.md.bak")
    team.add("cars three", source_file="docs/a.md/b.md")
    team.settle()
    times = [team.memory.get(ACME, id).created_at for id in (first, second)]
    assert set(team.contents("cars", source_story="STORY-003")) == {"cars one", "cars two"}
    assert team.contents("cars", source_file="docs/a.md") == ["cars one"]
    assert set(team.contents("cars", since=times[1])) == {"cars two", "cars three"}
    assert team.contents("cars", until=times[0]) == ["cars one"]
    assert len(team.contents("cars", since=times[0][:10], until=times[0][:10])) == 3
    assert team.contents("cars", until="2001-01-01") == []


def test_time_that_is_none_is_refused_with_the_form_it_has() -> None:
    with pytest.raises(InvalidInput, match="`since` is not a date or time"):
        validation.asked(query="cars", since="yesterday")
    assert validation.asked(query="cars", since="2026-11-24T10:30:00+02:00").since == "2026-11-24T08:30:00.000000Z"


def test_what_was_deleted_and_brought_back_is_found_again(team: Remembering) -> None:
    id = team.add("cars are red")
    for _ in range(2):
        team.settle()
        team.memory.delete(ACME, id)
        team.settle()
        assert team.search("cars") == ()
        team.memory.undelete(ACME, id)
        team.settle()
        assert team.contents("cars") == ["cars are red"]


def test_superseded_entry_is_read_by_its_id_and_found_no_more(team: Remembering) -> None:
    old = team.add("cars are red")
    team.settle()
    new = team.add("cars are blue", supersedes=old)
    assert team.contents("cars") == []
    team.settle()
    assert team.contents("cars") == ["cars are blue"]
    assert team.memory.get(ACME, old).superseded_by == new
    assert [entry.superseded_by for entry in team.memory.history(ACME, old)] == [None, new]
    assert team.memory.get(ACME, new).supersedes == old
    with pytest.raises(InvalidInput, match="`supersedes` names no entry"):
        team.add("cars are green", supersedes="0" * 8 + "-0000-0000-0000-" + "0" * 12)
