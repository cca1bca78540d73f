"""Words weighed by where they stand and how rare they are, over an inverted index built once for an edition.

A field counts for as much as seed 003 gives it ("Simple Keyword Search"): names before keywords before content. Beyond
the seed, a word counts the more the fewer entries have it, its second mention less than its first, and a synonym less
than the word itself (BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log

from commonplace.reference.entries import Entry
from commonplace.reference.synonyms import DEFAULT, Phrase, Stemmer, Synonyms
from commonplace.reference.wording import FIELDS, fields
from commonplace.search.text import query_terms

MAX_TERMS = 16
"""Telling words of a query that are weighed; of a longer one the rarest."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How words are weighed. Chosen on half of the judged queries of `bench/reference`, checked on the other half."""

    fields: tuple[float, ...] = (4.0, 4.0, 2.5, 1.5, 1.5, 0.4)
    """In the order of `wording.FIELDS`."""
    length: tuple[float, ...] = (0.3, 0.3, 0.3, 0.0, 0.3, 0.6)
    """How far a field that is longer than usual makes its words count for less, from 0 to 1."""
    saturation: float = 3.0
    """The weight at which a word has half of its effect."""
    synonym: float = 0.5
    """What a synonym counts for."""
    coverage: float = 1.0
    """How much it matters that all of the query is there: the exponent of the share that is."""


class Scorer:
    """Ranks the entries of an edition by the words of a query. Immutable once built."""

    def __init__(
        self,
        entries: Sequence[Entry],
        synonyms: Sequence[Mapping[str, Sequence[str]]] = (),
        weights: Weights = Weights(),
    ) -> None:
        self._weights = weights
        self._stem = Stemmer()
        self._synonyms = Synonyms((DEFAULT, *synonyms), self._stem)
        self._size = len(entries)
        self._postings = self._indexed(entries)

    def rank(self, query: str, admits: Callable[[int], bool] | None, size: int) -> list[tuple[int, float]]:
        """The best entries by their places, with the share of the query that each answers, from 0 to 1.

        `admits` says which places may be found; None is all.
        """
        concepts = list(self._concepts(query))
        whole = sum(weight for _, weight in concepts)
        if not whole:
            return []
        scores: dict[int, float] = defaultdict(float)
        covered: dict[int, float] = defaultdict(float)
        for variants, weight in concepts:
            for place, share in self._best(variants).items():
                scores[place] += weight * share
                covered[place] += weight
        exponent = self._weights.coverage
        found = (
            (score / whole * (covered[place] / whole) ** exponent, -place)
            for place, score in scores.items()
            if admits is None or admits(place)
        )
        return [(-place, score) for score, place in nlargest(size, found)]

    def _best(self, variants: Sequence[tuple[str, float]]) -> Mapping[int, float]:
        """For each entry that has the word in any of its variants, the best of them."""
        best: dict[int, float] = {}
        for term, weight in variants:
            places, shares = self._postings[term]
            if not best and weight == 1:
                best = dict(zip(places, shares, strict=True))
                continue
            for place, share in zip(places, shares, strict=True):
                if share * weight > best.get(place, 0.0):
                    best[place] = share * weight
        return best

    def _concepts(self, query: str) -> Iterator[tuple[Sequence[tuple[str, float]], float]]:
        """What the query speaks of: each word with its synonyms, and how much it tells."""
        asked = list(dict.fromkeys(self._stem(word) for word in query_terms(query)))
        found = [self._concept(phrase, within) for phrase, within in self._phrases(asked)]
        yield from sorted(found, key=lambda concept: -concept[1])[:MAX_TERMS]

    def _phrases(self, asked: Sequence[str]) -> Iterator[tuple[Phrase, Sequence[Phrase]]]:
        """Each word, and what stands for it or for a phrase that it begins."""
        for start, term in enumerate(asked):
            stretches = (tuple(asked[start:end]) for end in range(start + 1, start + self._synonyms.longest + 1))
            yield (term,), [other for stretch in dict.fromkeys(stretches) for other in self._synonyms.of(stretch)]

    def _concept(self, phrase: Phrase, others: Sequence[Phrase]) -> tuple[Sequence[tuple[str, float]], float]:
        (term,) = phrase
        weighed = {term: 1.0}
        for other in others:
            for word in other:
                weighed.setdefault(word, self._weights.synonym / len(other))
        variants = [(word, weight) for word, weight in weighed.items() if word in self._postings]
        # As frequent as the most frequent of its variants: a rare synonym of a common word tells no more than that.
        most = max((len(self._postings[word][0]) for word, _ in variants), default=0)
        return variants, log(1 + (self._size - most + 0.5) / (most + 0.5))

    def _indexed(self, entries: Sequence[Entry]) -> dict[str, tuple[array[int], array[float]]]:
        texts = [fields(entry, self._stem) for entry in entries]
        usual = [max(1.0, sum(len(text[field]) for text in texts) / max(1, len(texts))) for field in FIELDS]
        postings: dict[str, tuple[array[int], array[float]]] = {}
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
