"""Near-duplicates: what counts as nearly the same text, and rankings that show one of them."""

import random
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.model import RecordId
from commonplace.search.near_duplicates import FEW, FEWEST_WORDS, NEAR, collapse, fingerprint
from commonplace.search.text import plain
from tests.unit.search.records import record

SAMPLES = Path(__file__).parents[3] / "samples" / "knowledge-base"
SHOWN = 0.8


def samples() -> Iterator[str]:
    for path in sorted(SAMPLES.rglob("*.md")):
        text = plain(path.read_text(encoding="utf-8").split("\n---\n", 1)[-1])
        if fingerprint(text):
            yield text


def bits(one: str, other: str) -> int:
    first, second = fingerprint(one), fingerprint(other)
    assert first is not None
    assert second is not None
    return differing_bits(first, second)


def differing_bits(one: str, other: str) -> int:
    return (int(one, 16) ^ int(other, 16)).bit_count()


def edited(text: str, share: float, chance: random.Random) -> str:
    """The text with this share of its words replaced, at least one of them."""
    said = text.split(" ")
    for _ in range(max(1, int(len(said) * share))):
        said[chance.randrange(len(said))] = f"edit{chance.randrange(1_000)}"
    return " ".join(said)


def test_no_two_sample_documents_are_near_each_other() -> None:
    nearest = min(bits(one, other) for one, other in combinations(samples(), 2))

    assert nearest > 2 * NEAR


def test_a_text_stays_near_itself_when_few_words_change_and_not_when_many_do() -> None:
    chance = random.Random(1)
    texts = list(samples())

    def near(share: float) -> float:
        return sum(bits(text, edited(text, share, chance)) <= NEAR for text in texts * 3) / (3 * len(texts))

    assert near(0.01) > 0.75
    assert near(0.1) < 0.25
    assert near(0.3) == 0


def test_case_accents_punctuation_and_line_breaks_change_nothing() -> None:
    for text in samples():
        assert bits(text, text.upper().replace(",", " ").replace(" ", "\n")) == 0


def test_a_short_text_has_no_fingerprint() -> None:
    said = " ".join(f"word{number}" for number in range(FEWEST_WORDS))

    assert fingerprint(said) is not None
    assert fingerprint(said.rsplit(" ", 1)[0]) is None
    assert fingerprint("") is None


def test_a_record_carries_the_fingerprint_of_its_text_without_markup() -> None:
    said = " ".join(f"word{number}" for number in range(FEWEST_WORDS))

    marked = record("note/a", f"# {said}\n\n[{said}](b.md)").fingerprint

    assert marked == record("note/b", f"{said}\n\n*{said}*").fingerprint == fingerprint(f"{said}\n{said}")
    assert record("note/a", "short").fingerprint is None


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_has_16_hex_digits_or_none(text: str) -> None:
    told = fingerprint(text * 3)

    assert told is None or (len(told) == 16 and int(told, 16) >= 0)


MARKS = st.sampled_from(["0" * 16, "0" * 15 + "f", "0" * 14 + "ff", "f" * 16, "f" * 15 + "0"])
RANKINGS = st.dictionaries(st.sampled_from([RecordId(f"note/{letter}") for letter in "abcdefghij"]), st.floats(0.01, 1))


@settings(deadline=None)
@given(RANKINGS, st.data(), st.integers(1, 12))
def test_collapsing_keeps_the_best_of_each_kind_and_loses_nothing(
    scores: dict[RecordId, float], data: st.DataObject, size: int
) -> None:
    ranking = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
    marks = {name: data.draw(MARKS) for name in scores if data.draw(st.booleans())}

    whole = collapse(ranking, marks, len(ranking), always_shown=SHOWN)
    cut = collapse(ranking, marks, size, always_shown=SHOWN)
    assert collapse(ranking, marks, FEW + 1, always_shown=SHOWN) == whole

    hidden = [name for others in whole.duplicates.values() for name in others]
    kept = [name for name, _ in whole.ranking]
    assert sorted(kept + hidden) == sorted(scores)
    assert whole.ranking == [hit for hit in ranking if hit[0] in kept]
    for best, others in whole.duplicates.items():
        for name in others:
            assert whole.stands_for(name) == best
            assert differing_bits(marks[best], marks[name]) <= NEAR
            assert (-scores[best], best) < (-scores[name], name)
            assert scores[name] <= SHOWN
    assert cut.ranking == whole.ranking[:size]
    for best, others in cut.duplicates.items():
        assert others == whole.duplicates[best][: len(others)]


def test_a_record_that_the_query_names_is_never_collapsed() -> None:
    marks = {RecordId(name): "0" * 16 for name in "abc"}
    ranking = [(RecordId("a"), 0.9), (RecordId("b"), 0.85), (RecordId("c"), 0.7)]

    told = collapse(ranking, marks, 5, always_shown=SHOWN)

    assert [name for name, _ in told.ranking] == ["a", "b"]
    assert told.duplicates == {"a": ("c",)}


def test_records_without_fingerprint_are_never_collapsed() -> None:
    ranking = [(RecordId("a"), 0.5), (RecordId("b"), 0.5)]

    assert collapse(ranking, {}, 5, always_shown=SHOWN).ranking == ranking


@pytest.mark.parametrize("changed", [NEAR, NEAR + 1])
def test_nearness_ends_at_its_number_of_bits(changed: int) -> None:
    marks = {RecordId("a"): "0" * 16, RecordId("b"): f"{(1 << changed) - 1:016x}"}

    told = collapse([(RecordId("a"), 0.5), (RecordId("b"), 0.4)], marks, 5, always_shown=SHOWN)

    assert len(told.ranking) == (1 if changed == NEAR else 2)
