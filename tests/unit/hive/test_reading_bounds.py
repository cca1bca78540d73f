"""What is read of a text is bounded after normalisation: few letters that stand for many cost no more than prose."""

import time
import unicodedata
from collections.abc import Callable, Sequence

import pytest

from commonplace.hive import minhash, orders
from commonplace.hive.inputs import draft
from commonplace.hive.model import MAX_CONTENT
from commonplace.kernel import terms
from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.memory.model import content_of
from commonplace.redaction.function import MAX_TEXT_BYTES, RedactFunction
from commonplace.redaction.model import Policy, Span
from commonplace.redaction.pipeline import MAX_WEIGHT, MAX_WEIGHT_OF_ALL, Pipeline, weight
from commonplace.search.text import fold
from tests.fakes.hives import FakeHive
from tests.unit.hive.test_service import contribute

EXPANDING = (
    "\ufdfa",
    "\ufdfb",
    "\u247d",
    "\u3316",
    "\u2026",
    "\u2474",
    "\u33ae",
    "\ufb03",
    "\u00bd",
    "\u2a74",
)
PROSE = "The volunteers count the tide pools every week and write down what they found at the shore. "


class Reader:
    """A detector that notes how much it reads; it finds `finds` in each reading."""

    def __init__(self, finds: Callable[[str], list[Span]] = lambda _: []) -> None:
        self.finds = finds
        self.read: list[int] = []

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        self.read.append(sum(map(weight, texts)))
        return [self.finds(text) for text in texts]


def cpu(content: str) -> float:
    """The best of three, in seconds of this thread's own CPU."""
    taken = []
    for _ in range(3):
        start = time.thread_time()
        Pipeline().redact({"content": content}, Policy())
        orders.orders(content)
        minhash.signature(content)
        taken.append(time.thread_time() - start)
    return min(taken)


@pytest.mark.parametrize("letter", EXPANDING[:3], ids=lambda one: f"{ord(one):04X}")
def test_a_text_that_grows_when_it_is_normalised_is_refused_before_anything_reads_it(letter: str) -> None:
    world = FakeHive()
    with pytest.raises(InvalidInput, match="at most 20,000 characters"):
        contribute(world, letter * MAX_CONTENT)
    allowed = MAX_CONTENT // len(unicodedata.normalize("NFKC", letter))
    assert contribute(world, letter * allowed).id


@pytest.mark.parametrize("letter", EXPANDING[:2])
def test_an_entry_of_the_memory_grows_no_larger_than_its_limit(letter: str) -> None:
    with pytest.raises(TooLarge):
        content_of(letter * 10_900)


@pytest.mark.parametrize("field", ["framework", "language", "version", "run_id", "tags"])
def test_no_other_field_of_a_contribution_grows_either(field: str) -> None:
    text: str | list[str] = "\ufdfa" * 30 if field != "tags" else ["\ufdfa" * 4]
    named = dict.fromkeys(("framework", "language", "version", "tags", "run_id")) | {field: text}
    with pytest.raises(InvalidInput, match="at most"):
        draft(content=PROSE, category="general", confidence=0.5, **named)


def test_the_largest_text_of_such_letters_costs_as_much_as_prose_of_that_length() -> None:
    prose = cpu((PROSE * 300)[:MAX_CONTENT])
    for letter in EXPANDING[:2]:
        content = letter * (MAX_CONTENT // len(unicodedata.normalize("NFKC", letter)))
        assert cpu(content) < 5 * prose, letter


def test_the_function_that_redacts_reads_no_more_than_its_limit() -> None:
    function = RedactFunction(Pipeline())
    assert "fields" in function({"fields": {"content": "\u247d" * (MAX_TEXT_BYTES // 4)}}, None)
    refused = function({"fields": {"content": "\u247d" * (MAX_TEXT_BYTES // 4 + 1)}}, None)
    assert refused["error"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("sign", ["л", "の", "x "])
def test_the_detector_reads_no_more_at_once_than_half_its_time_holds(sign: str) -> None:
    reader = Reader()
    with pytest.raises(InvalidInput, match="more than the detector of names can read"):
        Pipeline(reader).redact({"content": sign * (MAX_WEIGHT + 1)}, Policy())
    assert reader.read == []
    Pipeline(reader).redact({"content": sign * (MAX_WEIGHT // weight(sign) - 10)}, Policy())
    assert 0 < sum(reader.read) <= MAX_WEIGHT_OF_ALL


def test_prose_of_latin_letters_fits_at_its_greatest_length() -> None:
    reader = Reader()
    Pipeline(reader).redact({"content": (PROSE * 300)[:MAX_CONTENT]}, Policy())
    assert max(reader.read) < MAX_WEIGHT / 2


def test_a_text_that_is_read_again_and_again_is_refused_within_the_time_of_the_function() -> None:
    def finds(text: str) -> list[Span]:
        at = text.find("wort")
        return [Span(at, at + 4, "NAME", "model", 0.99, "NAME")] if at >= 0 else []

    reader = Reader(finds)
    text = "\n".join(f"wort{chr(0x3B1 + number)} ва ве ви во" for number in range(24)) * 25
    with pytest.raises(InvalidInput):
        Pipeline(reader).redact({"content": text}, Policy())
    assert sum(reader.read) <= MAX_WEIGHT_OF_ALL


def test_words_of_an_index_grow_four_times_at_most() -> None:
    for letter in EXPANDING:
        text = letter * 1_000
        assert len(fold(text)) <= 4 * len(text)
        assert len("".join(terms.words(text))) <= 4 * len(text)
        assert len(terms.key(text)) <= 4 * len(text)
