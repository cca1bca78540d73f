"""Entries ranked by the words of a query (seed 003, "Simple Keyword Search": names before keywords before content).

Beyond the seed, a word counts the more the fewer entries have it, its second mention less than its first, and a synonym
less than the word itself (BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). What is to be
done is compared by itself: whoever wants to throw something away is answered by what deletes, whatever its verb is.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import chain
from math import log, sqrt
from typing import NamedTuple

from commonplace.reference.index_source import named
from commonplace.reference.model import Entry
from commonplace.reference.spelling import one_edit
from commonplace.reference.synonyms import ASKED, NOUNS, WORDS, Actions, Phrase, Synonyms, stem, word_group
from commonplace.search.text import STOP_WORDS, words

NAME, TITLE, KEYWORDS, PLACE, SUMMARY, CONTENT, PARAMETERS, ACTION = FIELDS = range(8)

READ_CHARACTERS = 6_000
"""Of an entry's content: what stands deeper is found by meaning."""
EDITION_CHARACTERS = 8_000_000
"""Of the content of all entries together: of many, less of each is read. It bounds the time and memory of an index."""

KINDS = {name: " ".join(words) for name, words in word_group("kind").items()}
"""What people call an entry of a type when they ask for one."""

ACTIONS = Actions()

METHODS = {"POST": "create", "PUT": "update", "PATCH": "update", "DELETE": "delete"}
"""What a method does where the title has no verb."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

MAX_TERMS = 16
"""Significant words of a query that are weighed; of a longer one the rarest."""

MOST_WORDS = 64
"""Of a query that are looked at."""

SHORTEST_MISSPELT = 5
"""Letters of a stem that may be misspelt; in one of four only two neighbours may have changed places."""

MOST_UNKNOWN = 2
"""So many words that no entry has are counted for each one that some have: people tell stories."""

FILLERS = STOP_WORDS | frozenset(WORDS["fillers"])
"""Words of questions that say nothing of their subject."""

BETWEEN = frozenset(WORDS["between"])
"""Words that stand within a phrase: `get it back`."""

MOST = 200
"""Entries of a ranking."""

Postings = tuple["array[int]", "array[float]"]
"""Places of the entries that have a word, and how much it says of each, from 0 to 1."""


def terms(text: str) -> list[str]:
    """The stemmed words of a text in order, without those that say nothing; a name in camel case is several."""
    return [stem(word) for word in words(_CAMEL.sub(" ", text)) if word not in STOP_WORDS]


def characters_read(entries: int) -> int:
    """Return how many are read of the content of each of so many entries."""
    return min(READ_CHARACTERS, EDITION_CHARACTERS // max(1, entries))


def fields(entry: Entry, characters: int = READ_CHARACTERS, product: str = "") -> list[list[str]]:
    """The words of each field, in the order of `FIELDS`; `characters` are read of the content."""
    texts: list[Sequence[str]] = [
        (named(entry),),
        (entry.title,),
        (*entry.keywords, *entry.aliases),
        (product, entry.category, entry.subcategory or "", entry.module or "", KINDS[entry.type]),
        (entry.summary,),
        (entry.content[:characters], *(example.description for example in entry.examples)),
        tuple(f"{one.name} {one.description}" for one in entry.parameters or ()),
    ]
    told = [[term for text in each for term in terms(text)] for each in texts]
    name = told[NAME][1:] if entry.type == "command" else told[NAME][-1:] if entry.method == "POST" else ()
    found = dict.fromkeys(ACTIONS.of([*_leading(told[TITLE]), *_leading(told[SUMMARY]), *name]))
    if entry.method == "GET":
        found[ACTIONS.token("get" if (entry.path_template or "").endswith("}") else "list")] = None
    elif not found and entry.method in METHODS:
        found[ACTIONS.token(METHODS[entry.method])] = None
    return [*told, list(found)]


def _leading(told: Sequence[str]) -> Iterator[str]:
    for word in told:
        if not ACTIONS.of([word]):
            return
        yield word


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of words. Chosen on half of the judged queries of `bench/reference`, and on questions of products
    that it does not have; checked on the other half.
    """

    fields: tuple[float, ...] = (4.0, 4.0, 3.0, 2.0, 2.0, 0.2, 0.3, 3.2)
    """In the order of `FIELDS`."""
    length: tuple[float, ...] = (0.3, 0.3, 0.7, 0.0, 0.9, 0.6, 0.6, 0.0)
    """How far a field that is longer than usual makes its words count for less, from 0 to 1."""
    saturation: float = 0.7
    """The weight at which a word has half of its effect."""
    synonym: float = 0.7
    """What a synonym counts for."""
    verb: float = 0.8
    """What the very verb of the query counts for."""
    action: float = 0.8
    """What another verb for the same counts for."""
    misspelt: float = 0.6
    """What a word counts for that is one mistake away from the one that was typed, which no entry has."""
    coverage: float = 0.5
    """How much it matters that all of the query is there: the exponent of the share that is."""
    conciseness: float = 0.3
    """How much it matters that all of a name or title is in the query."""


DEFAULT_WEIGHTS = Weights()


class Concept(NamedTuple):
    """A word of the query, as entries may write it."""

    variants: Sequence[tuple[str, float]]
    """Each with what it counts for, from 0 to 1."""
    weight: float
    """Its significance: the more, the fewer entries have it."""


class Scorer:
    """Ranks the entries of an edition by the words of a query. Immutable once built."""

    def __init__(
        self,
        entries: Sequence[Entry],
        synonyms: Sequence[Mapping[str, Sequence[str]]] = (),
        weights: Weights = DEFAULT_WEIGHTS,
        products: Sequence[str] = (),
    ) -> None:
        """`products`: what the product of each entry is called."""
        self._weights = weights
        self._synonyms = Synonyms((NOUNS, ASKED, *synonyms))
        self._size = len(entries)
        characters = characters_read(len(entries))
        told = [
            fields(entry, characters, product)
            for entry, product in zip(entries, products or [""] * len(entries), strict=True)
        ]
        self._postings = self._indexed(told)
        self._frequencies = {term: sum(map(sqrt, shares)) for term, (_, shares) in self._postings.items()}
        self._headlines = [
            self._headline(entry, text) if entry.type in ("command", "api") else 0.0
            for entry, text in zip(entries, told, strict=True)
        ]
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
        coverage, conciseness, headlines = self._weights.coverage, self._weights.conciseness, self._headlines
        found = [
            (
                score
                / whole
                * (covered[place] / whole) ** coverage
                * min(1.0, (1 + covered[place]) / (1 + headlines[place])) ** conciseness,
                -place,
            )
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
        """Return what of the query some entry has, the most significant first, and what the whole of the query weighs.

        A word that no entry has weighs as much as the most significant one that some have: it may be a pleasantry as
        well as the very subject. So a small catalogue, in which nothing is rare, still answers.
        """
        asked = self._asked(query)
        joined = self._joined(query)
        single = [unit[0] if len(unit) == 1 else "" for unit in asked]
        found: list[Concept] = []
        for at, unit in enumerate(asked):
            # Synonyms of a word, and of the phrases that it begins.
            ends = range(at + 1, min(at + self._synonyms.longest, len(single)) + 1)
            others = chain.from_iterable(self._synonyms.of(tuple(single[at:end])) for end in ends)
            found.append(self._concept(unit, joined.get(unit[0], ()), others))
        known = sorted((concept for concept in found if concept.variants), key=lambda concept: -concept.weight)
        unknown = min(len(found) - len(known), MOST_UNKNOWN * len(known))
        known = known[:MAX_TERMS]
        return known, sum(concept.weight for concept in known) + unknown * (known[0].weight if known else 0)

    def _asked(self, query: str) -> list[Phrase]:
        """The words of a query that say something, and the phrases that say what is to be done, each once."""
        told = [word for word in words(query)[:MOST_WORDS] if word not in BETWEEN]
        stems = [stem(word) for word in told]
        found: dict[Phrase, None] = {}
        at = 0
        while at < len(told):
            size = next((size for size in (3, 2) if ACTIONS.asked(tuple(stems[at : at + size]))), 1)
            if size > 1 or told[at] not in FILLERS or ACTIONS.asked((stems[at],)):
                found[tuple(stems[at : at + size])] = None
            at += size
        return list(found or {(stem(word),): None for word in words(query)[:MOST_WORDS]})

    def _joined(self, query: str) -> Mapping[str, Sequence[str]]:
        """Words that entries write as one: `log out` is `logout`, `who am I` is `whoami`."""
        found: dict[str, list[str]] = defaultdict(list)
        told = words(query)
        for size in (2, 3):
            for stretch in zip(*(told[start:] for start in range(size)), strict=False):
                if (both := stem("".join(stretch))) in self._postings:
                    for word in stretch:
                        found[stem(word)].append(both)
        return found

    def _concept(self, unit: Phrase, joined: Sequence[str], others: Iterable[Phrase]) -> Concept:
        actions = ACTIONS.asked(unit)
        weighed = dict.fromkeys(joined, 1.0)
        if not actions:
            weighed[unit[0]] = 1.0
        elif len(unit) == 1 and unit[0] not in FILLERS:
            weighed[unit[0]] = self._weights.verb
        weighed |= dict.fromkeys(actions, self._weights.action)
        for other in others:
            for word in other:
                weighed.setdefault(word, self._weights.synonym / len(other))
        variants = [(word, weight) for word, weight in weighed.items() if word in self._postings]
        variants = variants or [(word, self._weights.misspelt) for word in self._meant(unit[0])]
        # As frequent as the most frequent of its variants: a rare synonym of a common word is no more significant.
        most = max((self._frequencies[word] * weight for word, weight in variants), default=0)
        return Concept(variants, self._rarity(most))

    def _rarity(self, frequency: float) -> float:
        """Significance of a word; entries that hardly speak of it count for little of its frequency."""
        frequency = max(frequency, 1.0)
        return log(1 + max(0.0, self._size - frequency + 0.5) / (frequency + 0.5))

    def _headline(self, entry: Entry, told: Sequence[Sequence[str]]) -> float:
        """Return what all words of the name, or of the title if they say less, weigh together; without what is done."""
        name = [word for word in told[NAME][1:] if not ACTIONS.of([word])] if entry.type == "command" else told[NAME]
        title = told[TITLE][len(list(_leading(told[TITLE]))) :]
        weights = (sum(self._rarity(self._frequencies[word]) for word in dict.fromkeys(text)) for text in (name, title))
        return min(filter(None, weights), default=0.0)

    def _meant(self, term: str) -> Iterator[str]:
        """Words that one which no entry has may be a misspelling of. The first letter is seldom wrong."""
        if not term.isalpha():
            return
        for length in range(len(term) - 1, len(term) + 2):
            for word in self._beginnings.get((term[0], length), ()):
                swapped = len(term) == SHORTEST_MISSPELT - 1 and sorted(word) == sorted(term)
                if (len(term) >= SHORTEST_MISSPELT or swapped) and one_edit(term, word):
                    yield word

    def _indexed(self, texts: Sequence[Sequence[Sequence[str]]]) -> dict[str, Postings]:
        usual = [max(1.0, sum(len(text[field]) for text in texts) / max(1, len(texts))) for field in FIELDS]
        postings: dict[str, Postings] = {}
        for place, text in enumerate(texts):
            weighed: dict[str, float] = defaultdict(float)
            for field in FIELDS:
                long = self._weights.length[field]
                each = self._weights.fields[field] / (1 - long + long * max(1, len(text[field])) / usual[field])
                for term in text[field]:
                    weighed[term] += each
            for term, weight in weighed.items():
                places, shares = postings.setdefault(term, (array("I"), array("f")))
                places.append(place)
                shares.append(weight / (self._weights.saturation + weight))
        return postings
