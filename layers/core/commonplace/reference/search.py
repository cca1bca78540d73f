"""Words weighed by where they stand and how rare they are, over an inverted index built once for an edition.

A field counts for as much as seed 003 gives it ("Simple Keyword Search"): names before keywords before content. Beyond
the seed, a word counts the more the fewer entries have it, its second mention less than its first, and a synonym less
than the word itself (BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log
from typing import NamedTuple

from commonplace.reference.edits import one_edit
from commonplace.reference.entries import Entry
from commonplace.reference.synonyms import ASKED, DEFAULT, Phrase, Stemmer, Synonyms
from commonplace.reference.wording import FIELDS, characters_read, fields
from commonplace.search.text import query_terms, words

MAX_TERMS = 16
"""Telling words of a query that are weighed; of a longer one the rarest."""

SHORTEST_MISSPELT = 5
"""Letters of a stem that may be misspelt; in one of four only two neighbours may have changed places."""

MOST_UNKNOWN = 2
"""So many words that no entry has are counted for each one that some have: people tell stories."""

_FILLERS = """
any anybody anyone everybody everyone everything help let like me need please some somebody someone something tell want
"""
FILLERS = frozenset(_FILLERS.split())
"""Words of questions that tell nothing about what is asked for, beyond those that no search heeds."""

MOST = 200
"""Entries of a ranking."""

Postings = tuple["array[int]", "array[float]"]
"""Places of the entries that have a word, and how much it says of each, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How words are weighed. Chosen on half of the judged queries of `bench/reference`, checked on the other half."""

    fields: tuple[float, ...] = (4.0, 4.0, 3.0, 2.0, 2.0, 0.5)
    """In the order of `wording.FIELDS`."""
    length: tuple[float, ...] = (0.3, 0.3, 0.3, 0.0, 0.3, 0.6)
    """How far a field that is longer than usual makes its words count for less, from 0 to 1."""
    saturation: float = 1.5
    """The weight at which a word has half of its effect."""
    synonym: float = 0.5
    """What a synonym counts for."""
    misspelt: float = 0.6
    """What a word counts for that is one mistake away from the one that was typed, which no entry has."""
    coverage: float = 1.0
    """How much it matters that all of the query is there: the exponent of the share that is."""


DEFAULT_WEIGHTS = Weights()


class Concept(NamedTuple):
    """A word of the query, as entries may write it."""

    variants: Sequence[tuple[str, float]]
    """Each with what it counts for, from 0 to 1."""
    weight: float
    """How much it tells: the more, the fewer entries have it."""


class Scorer:
    """Ranks the entries of an edition by the words of a query. Immutable once built."""

    def __init__(
        self,
        entries: Sequence[Entry],
        synonyms: Sequence[Mapping[str, Sequence[str]]] = (),
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._weights = weights
        self._stem = Stemmer()
        self._synonyms = Synonyms((DEFAULT, ASKED, *synonyms), self._stem)
        self._size = len(entries)
        self._postings = self._indexed(entries)
        self._beginnings: dict[tuple[str, int], list[str]] = defaultdict(list)
        for term in self._postings:
            self._beginnings[term[0], len(term)].append(term)

    def rank(self, query: str, admits: Callable[[int], bool] | None = None) -> list[tuple[int, float]]:
        """The best entries by their places, with the share of the query that each answers, from 0 to 1.

        At most `MOST`. `admits` says which places may be found; None is all.
        """
        concepts, whole = self._weighed_query(query)
        if not concepts:
            return []
        # Lists and not mappings: a common word is in most entries, and every one of them counts.
        scores, covered = [0.0] * self._size, [0.0] * self._size
        for variants, weight in concepts:
            for place, share in self._best(variants):
                scores[place] += weight * share
                covered[place] += weight
        exponent = self._weights.coverage
        found = [
            (score / whole * (covered[place] / whole) ** exponent, -place)
            for place, score in enumerate(scores)
            if score and (admits is None or admits(place))
        ]
        return [(-place, score) for score, place in nlargest(MOST, found)]

    def _best(self, variants: Sequence[tuple[str, float]]) -> Iterable[tuple[int, float]]:
        """The entries that have the word in any of its variants, each with the best of them."""
        if len(variants) == 1:
            ((term, weight),) = variants
            places, shares = self._postings[term]
            return zip(places, shares if weight == 1 else [share * weight for share in shares], strict=True)
        best: dict[int, float] = {}
        for term, weight in variants:
            for place, share in zip(*self._postings[term], strict=True):
                if share * weight > best.get(place, 0.0):
                    best[place] = share * weight
        return best.items()

    def _weighed_query(self, query: str) -> tuple[Sequence[Concept], float]:
        """What of the query some entry has, the most telling first, and what the whole of the query weighs.

        A word that no entry has weighs as much as the most telling one that some have: it may be a pleasantry as well
        as the very subject. So a small catalogue, in which nothing is rare, still answers.
        """
        asked = list(dict.fromkeys(self._stem(word) for word in _telling(query)))
        joined = self._joined(query)
        found = [self._concept(term, joined.get(term, ()), self._others(asked, at)) for at, term in enumerate(asked)]
        known = sorted((concept for concept in found if concept.variants), key=lambda concept: -concept.weight)
        unknown = min(len(found) - len(known), MOST_UNKNOWN * len(known))
        known = known[:MAX_TERMS]
        return known, sum(concept.weight for concept in known) + unknown * (known[0].weight if known else 0)

    def _others(self, asked: Sequence[str], at: int) -> Iterator[Phrase]:
        """Synonyms of a word, and of the phrases that it begins."""
        for end in range(at + 1, min(at + self._synonyms.longest, len(asked)) + 1):
            yield from self._synonyms.of(tuple(asked[at:end]))

    def _joined(self, query: str) -> Mapping[str, Sequence[str]]:
        """Words that entries write as one: `log out` is `logout`, `who am I` is `whoami`."""
        found: dict[str, list[str]] = defaultdict(list)
        told = words(query)
        for size in (2, 3):
            for stretch in zip(*(told[start:] for start in range(size)), strict=False):
                if (both := self._stem("".join(stretch))) in self._postings:
                    for word in stretch:
                        found[self._stem(word)].append(both)
        return found

    def _concept(self, term: str, joined: Sequence[str], others: Iterable[Phrase]) -> Concept:
        weighed = dict.fromkeys((term, *joined), 1.0)
        for other in others:
            for word in other:
                weighed.setdefault(word, self._weights.synonym / len(other))
        variants = [(word, weight) for word, weight in weighed.items() if word in self._postings]
        variants = variants or [(word, self._weights.misspelt) for word in self._meant(term)]
        # As frequent as the most frequent of its variants: a rare synonym of a common word tells no more than that.
        most = max((len(self._postings[word][0]) for word, _ in variants), default=0)
        return Concept(variants, log(1 + (self._size - most + 0.5) / (most + 0.5)))

    def _meant(self, term: str) -> Iterator[str]:
        """Words that one which no entry has may be a misspelling of. The first letter is seldom wrong."""
        if not term.isalpha():
            return
        for length in range(len(term) - 1, len(term) + 2):
            for word in self._beginnings.get((term[0], length), ()):
                swapped = len(term) == SHORTEST_MISSPELT - 1 and sorted(word) == sorted(term)
                if (len(term) >= SHORTEST_MISSPELT or swapped) and one_edit(term, word):
                    yield word

    def _indexed(self, entries: Sequence[Entry]) -> dict[str, Postings]:
        characters = characters_read(len(entries))
        texts = [fields(entry, self._stem, characters) for entry in entries]
        usual = [max(1.0, sum(len(text[field]) for text in texts) / max(1, len(texts))) for field in FIELDS]
        postings: dict[str, Postings] = {}
        for place, text in enumerate(texts):
            for term, weight in self._weighed(text, usual).items():
                places, shares = postings.setdefault(term, (array("I"), array("f")))
                places.append(place)
                shares.append(weight / (self._weights.saturation + weight))
        return postings

    def _weighed(self, text: Sequence[Sequence[str]], usual: Sequence[float]) -> dict[str, float]:
        weighed: dict[str, float] = defaultdict(float)
        for field in FIELDS:
            long = self._weights.length[field]
            each = self._weights.fields[field] / (1 - long + long * len(text[field]) / usual[field])
            for term in text[field]:
                weighed[term] += each
        return weighed


def _telling(query: str) -> Sequence[str]:
    found = query_terms(query)
    return [word for word in found if word not in FILLERS] or found
