"""Made-up documents of five chunks, with vectors: as many as are asked for, one at a time, the same every time.

Texts follow Zipf's law over twenty thousand words. Each document has a subject; a sixth of its words are the subject's,
and its vectors lie around the subject's: so words and vectors find the same documents, as they do in real text. Vectors
without such clusters would make a graph search look worse than it is.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.words import WORDS
from commonplace.search.model import Chunk, IndexedRecord, Record, RecordId, Vector

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

SEED = 20_260_223
DIMENSION = 256
CHUNKS_EACH = 5
WORDS_EACH = 180
"""Of a chunk: 1,600 characters, which is what 400 tokens are."""

VOCABULARY = 20_000
SUBJECTS = 60
"""Of each, the smallest corpus that is measured has one document."""

SUBJECT_WORDS = 40
OF_SUBJECT = 1 / 6
SPREAD = 0.7
"""Length of what is added to a subject's unit vector: two chunks of a subject have a cosine of about two thirds."""


class MadeUpModel:
    """A model whose vectors are made up: it knows those of the queries it is given, and counts what it is asked."""

    name = "made-up"
    revision = "1"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.queries: dict[str, Vector] = {}
        self.asked = 0

    def embed(self, texts: list[str] | tuple[str, ...] | Any, *, query: bool = False) -> list[Vector]:  # noqa: ARG002
        """The vectors of known queries."""
        self.asked += len(texts)
        return [self.queries[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of two to five words of one subject, and its vector."""

    text: str
    vector: Vector


class MadeUp:
    """The corpus, and queries that go with it. Two of the same size say the same."""

    def __init__(self, seed: int = SEED) -> None:
        import numpy

        self._random = numpy.random.default_rng(seed)
        count = len(WORDS)
        names = [
            WORDS[n % count] + (WORDS[(n // count * 37 + n) % count] if n >= count else "") for n in range(VOCABULARY)
        ]
        self._names = numpy.array(names, dtype=object)
        weights = 1 / numpy.arange(8, VOCABULARY + 8)
        self._cumulated = numpy.cumsum(weights / weights.sum())
        self._subjects = _unit(self._random.normal(size=(SUBJECTS, DIMENSION)))
        # Not the commonest words: those belong to no subject.
        self._words = self._random.integers(200, VOCABULARY, (SUBJECTS, SUBJECT_WORDS))

    def documents(self, chunks: int, start: int = 0) -> Iterator[IndexedRecord]:
        """Documents with so many chunks in all, numbered from `start`."""
        for number in range(start, start + chunks // CHUNKS_EACH):
            subject = number % SUBJECTS
            texts = [self._text(subject) for _ in range(CHUNKS_EACH)]
            title = " ".join(self._drawn(subject, 5)).capitalize()
            yield IndexedRecord(_record(number, title, texts), tuple(self._near(subject, CHUNKS_EACH)))

    def queries(self, count: int) -> list[Asked]:
        """Distinct ones."""
        found: dict[str, Asked] = {}
        while len(found) < count:
            subject = int(self._random.integers(SUBJECTS))
            words = self._names[
                self._random.choice(self._words[subject], int(self._random.integers(2, 6)), replace=False)
            ]
            text = " ".join(words)
            found[text] = Asked(text, self._near(subject, 1)[0])
        return list(found.values())

    def _text(self, subject: int) -> str:
        words = self._drawn(subject, WORDS_EACH)
        return "\n\n".join(" ".join(words[start : start + 60]) + "." for start in range(0, WORDS_EACH, 60))

    def _drawn(self, subject: int, count: int) -> list[str]:
        import numpy

        common = numpy.searchsorted(self._cumulated, self._random.random(count))
        own = self._words[subject][self._random.integers(SUBJECT_WORDS, size=count)]
        chosen = numpy.where(self._random.random(count) < OF_SUBJECT, own, numpy.minimum(common, VOCABULARY - 1))
        return list(self._names[chosen])

    def _near(self, subject: int, count: int) -> list[Vector]:
        noise = _unit(self._random.normal(size=(count, DIMENSION))) * SPREAD
        vectors = _unit(self._subjects[subject] + noise).astype("float32")
        return [array("f", vector.tobytes()) for vector in vectors]


def _unit(vectors: "Array") -> "Array":
    import numpy

    unit: Array = vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _record(number: int, title: str, texts: list[str]) -> Record:
    return Record(
        id=RecordId(f"file/made-up-{number}"),
        version=1,
        content_type="file",
        document_id=f"made-up-{number}",
        title=title,
        description=texts[0][:180],
        path=f"notes/made-up-{number}.md",
        url=None,
        source_url=f"https://example.org/notes/made-up-{number}.md",
        group=None,
        release=None,
        status=None,
        tags=(f"tag-{number % 50}",),
        aliases=(),
        date=f"20{10 + number % 16}-0{1 + number % 9}-11",
        updated_at=None,
        body="",
        chunks=tuple(Chunk(ordinal, (f"Part {ordinal}",), text) for ordinal, text in enumerate(texts)),
    )
