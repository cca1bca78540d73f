from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.search.embeddings import (
    FIRST_TEXTS,
    STEP_SECONDS,
    TEXTS_PER_STEP,
    embed_each,
    embed_records,
    embedding_text,
    model_fingerprint,
    vector_key,
)
from commonplace.search.model import Vector
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.records import record


class Memory:
    def __init__(self) -> None:
        self.kept: dict[str, Vector] = {}

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        self.kept |= vectors


class Choosy(FakeEmbeddings):
    """Refuses whatever comes together with certain texts."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self.refused = refused
        self.calls = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        self.calls += 1
        if any(word in text for text in texts for word in self.refused):
            raise Unavailable("The model refuses.")
        return super().embed(texts, query=query)


class Tiring(FakeEmbeddings):
    """Answers so many calls and then no more."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        self.calls -= 1
        if self.calls < 0:
            raise Unavailable("The model does not answer.")
        return super().embed(texts, query=query)


COUNT = 3 * TEXTS_PER_STEP - 1
RECORDS = [record(f"note/number-{number}", f"Stone {number} lies here.") for number in range(COUNT)]


def test_without_a_model_records_have_no_vectors() -> None:
    assert [item.vectors for item in embed_records(RECORDS[:2], None)] == [(), ()]


def test_what_was_embedded_once_is_remembered_and_not_sent_again() -> None:
    provider, memory = FakeEmbeddings(), Memory()

    first = embed_records(RECORDS, provider, memory)
    asked = len(provider.asked)
    second = embed_records(RECORDS, provider, memory)

    assert (asked, len(provider.asked)) == (len(RECORDS), len(RECORDS))
    assert first == second
    text = embedding_text(RECORDS[0], RECORDS[0].chunks[0])
    assert memory.kept[vector_key(model_fingerprint(provider), text)] == first[0].vectors[0]


def test_another_model_remembers_nothing_of_the_first() -> None:
    memory = Memory()
    embed_records(RECORDS[:1], FakeEmbeddings("1"), memory)
    other = FakeEmbeddings("2")

    embed_records(RECORDS[:1], other, memory)

    assert len(other.asked) == 1


def test_equal_texts_are_sent_once() -> None:
    provider = FakeEmbeddings()
    twins = [record(f"note/{name}", "The same words.", title="One title") for name in "ab"]

    one, other = embed_records(twins, provider)

    assert len(provider.asked) == 1
    assert one.vectors == other.vectors != ()


def test_whoever_is_stopped_in_the_middle_goes_on_from_there() -> None:
    memory = Memory()

    stopped = embed_records(RECORDS, Tiring(calls=2), memory)
    again = FakeEmbeddings()
    whole = embed_records(RECORDS, again, memory)

    embedded = FIRST_TEXTS + TEXTS_PER_STEP
    assert [bool(item.vectors) for item in stopped] == [True] * embedded + [False] * (COUNT - embedded)
    assert len(again.asked) == COUNT - embedded
    assert all(item.vectors for item in whole)


def test_a_record_of_which_one_chunk_is_missing_has_no_vectors_at_all() -> None:
    body = "\n\n".join(f"# Part {number}\n\n" + "word " * 300 for number in range(2 * TEXTS_PER_STEP))
    long = record("note/long", body)
    assert len(long.chunks) > TEXTS_PER_STEP

    (item,) = embed_records([long], Tiring(calls=1))

    assert item.vectors == ()


def test_vectors_at_hand_serve_while_the_model_is_away() -> None:
    memory = Memory()
    embed_records(RECORDS[:3], FakeEmbeddings(), memory)

    kept, new = embed_records([RECORDS[0], RECORDS[5]], Tiring(calls=0), memory)

    assert (bool(kept.vectors), bool(new.vectors)) == (True, False)


def test_a_text_that_the_model_refuses_costs_its_neighbours_nothing() -> None:
    provider, memory = Choosy("Stone 17 lies"), Memory()

    found = embed_records(RECORDS[:TEXTS_PER_STEP], provider, memory)

    assert [item.record.document_id for item in found if not item.vectors] == ["number-17"]
    assert len(memory.kept) == TEXTS_PER_STEP - 1
    assert provider.calls <= 1 + 2 * 9  # a step is halved nine times at most


def test_a_model_that_refuses_everything_is_asked_three_times_for_a_step() -> None:
    provider = Choosy("Stone")

    found = embed_records(RECORDS[:FIRST_TEXTS], provider, Memory())

    assert not any(item.vectors for item in found)
    assert provider.calls == 3


def test_one_text_alone_is_asked_for_once() -> None:
    provider = Choosy("Stone")
    assert embed_records(RECORDS[:1], provider)[0].vectors == ()
    assert provider.calls == 1


def test_texts_of_two_organisations_are_embedded_apart_and_come_back_in_order() -> None:
    class Calls(FakeEmbeddings):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[list[str]] = []

        def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
            self.calls.append(list(texts))
            return super().embed(texts, query=query)

    provider, memories = Calls(), {"acme": Memory(), "globex": Memory()}
    owners = ["acme", "globex", None, "acme"]
    records = [replace(record(f"note/{at}", "rain"), title="", organisation=owner) for at, owner in enumerate(owners)]

    embedded = embed_each(records, provider, lambda organisation: memories.get(organisation or ""))

    assert [each.record.id for each in embedded] == [f"note/{at}" for at in range(4)]
    assert provider.calls == [["rain"], ["rain"], ["rain"]]
    assert [len(memory.kept) for memory in memories.values()] == [1, 1]


def test_a_record_without_a_title_is_embedded_as_its_text_and_nothing_else() -> None:
    plain_one, headed = record("note/a", "rain"), record("note/b", "# Weather\n\nrain")

    texts = [embedding_text(replace(each, title=""), each.chunks[0]) for each in (plain_one, headed)]

    assert texts == ["rain", "Weather\nrain"]


class Slow(FakeEmbeddings):
    """Takes a second of its own clock for each text."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.steps: list[int] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        self.seconds += len(texts)
        self.steps.append(len(texts))
        return super().embed(texts, query=query)


def test_a_slow_model_embeds_in_small_steps_and_says_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    slow = Slow()

    embed_records(RECORDS[: FIRST_TEXTS + 12], slow, clock=lambda: slow.seconds)

    assert slow.steps == [FIRST_TEXTS, *[int(STEP_SECONDS)] * 2, 2]
    told = [(entry.embedded, entry.texts) for entry in caplog.records if entry.message == "texts were embedded"]  # type: ignore[attr-defined]
    assert told == [
        (done, FIRST_TEXTS + 12) for done in (FIRST_TEXTS, FIRST_TEXTS + 5, FIRST_TEXTS + 10, FIRST_TEXTS + 12)
    ]


def test_what_a_slow_model_has_no_time_for_waits_and_the_rest_is_remembered() -> None:
    slow, memory = Slow(), Memory()

    stopped = embed_records(RECORDS[:60], slow, memory, lambda: slow.seconds >= 40, lambda: slow.seconds)
    again = FakeEmbeddings()
    embed_records(RECORDS[:60], again, memory)

    done = FIRST_TEXTS + 2 * int(STEP_SECONDS)
    assert [bool(item.vectors) for item in stopped] == [True] * done + [False] * (60 - done)
    assert len(again.asked) == 60 - done
