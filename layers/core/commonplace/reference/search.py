"""Search by words and meaning: two rankings of one edition, fused (seed 003, "Search Implementation", both options).

Words are weighed by field as seed 003 does ("Simple Keyword Search"): names before keywords before content. Beyond the
seed, a word counts the more the fewer entries have it, its second mention less than its first, and a synonym less than
the word itself (BM25F: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).

Words are compared in the process. Meaning comes from the collection `reference` of the index, which lags behind and may
be away: its hits are looked up in the edition, every condition is checked again, and without it words alone answer.
"""

import logging
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log
from typing import NamedTuple

from commonplace.kernel.errors import Unavailable
from commonplace.reference.index_source import address, record_id
from commonplace.reference.model import EVERYWHERE, Asked, Entry, EntryType, Hit
from commonplace.reference.ports import Meaning, Near
from commonplace.reference.shelf import Kept
from commonplace.reference.spelling import one_edit
from commonplace.reference.synonyms import ASKED, DEFAULT, Phrase, Stemmer, Synonyms
from commonplace.search.embeddings import QueryEmbeddings
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion, fuse
from commonplace.search.model import Candidates, EmbeddingProvider, Engine, LegHit, QueryVector
from commonplace.search.query import NOTHING
from commonplace.search.text import STOP_WORDS, query_terms, words

logger = logging.getLogger(__name__)

NAME, TITLE, KEYWORDS, PLACE, SUMMARY, CONTENT = range(6)
FIELDS = (NAME, TITLE, KEYWORDS, PLACE, SUMMARY, CONTENT)

READ_CHARACTERS = 6_000
"""Of an entry's content: what stands deeper is found by meaning."""
EDITION_CHARACTERS = 8_000_000
"""Of the content of all entries together: of many, less of each is read. It bounds the time and memory of an index."""

KINDS: Mapping[EntryType, str] = {
    "command": "command cli console",
    "api": "api endpoint rest http request",
    "guide": "guide how tutorial steps",
    "feature": "feature",
    "troubleshooting": "troubleshooting problem error issue fix",
    "setting": "setting option configuration parameter",
}
"""What people call an entry of a type when they ask for one."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PARAMETER = re.compile(r"\{[^{}]*\}")

MAX_TERMS = 16
"""Significant words of a query that are weighed; of a longer one the rarest."""

SHORTEST_MISSPELT = 5
"""Letters of a stem that may be misspelt; in one of four only two neighbours may have changed places."""

MOST_UNKNOWN = 2
"""So many words that no entry has are counted for each one that some have: people tell stories."""

_FILLERS = """
any anybody anyone everybody everyone everything help let like me need please some somebody someone something tell want
"""
FILLERS = frozenset(_FILLERS.split())
"""Words of questions that say nothing of their subject, beyond those that no search heeds."""

MOST = 200
"""Entries of a ranking."""

Postings = tuple["array[int]", "array[float]"]
"""Places of the entries that have a word, and how much it says of each, from 0 to 1."""

CANDIDATES = 100
"""Of each ranking: enough for what is filtered out, replaced or deprecated to take nobody's place."""

SPEAKS_OF_API = frozenset({"api", "apis", "endpoint", "endpoints", "rest", "http", "curl", "request", "requests"})
"""Words of somebody who asks for an endpoint."""


def terms(text: str, stem: Stemmer) -> list[str]:
    """The stemmed words of a text in order, without those that say nothing; a name in camel case is several."""
    return [stem(word) for word in words(_CAMEL.sub(" ", text)) if word not in STOP_WORDS]


def characters_read(entries: int) -> int:
    """Of the content of each of so many entries."""
    return min(READ_CHARACTERS, EDITION_CHARACTERS // max(1, entries))


def fields(entry: Entry, stem: Stemmer, characters: int = READ_CHARACTERS) -> list[list[str]]:
    """The words of each field, in the order of `FIELDS`; `characters` are read of the content."""
    return [[term for text in texts for term in terms(text, stem)] for texts in _texts(entry, characters)]


def _texts(entry: Entry, characters: int) -> Iterator[Sequence[str]]:
    yield (_name(entry),)
    yield (entry.title,)
    yield (*entry.keywords, *entry.aliases)
    yield (entry.category, entry.subcategory or "", entry.module or "", KINDS[entry.type])
    yield (entry.summary,)
    yield (entry.text[:characters], *(example.description for example in entry.examples))


def _name(entry: Entry) -> str:
    """What it is called where it is used; parameters of a path are no words of its name."""
    if entry.type == "api":
        return _PARAMETER.sub(" ", entry.path_template or "")
    return entry.name or "" if entry.type == "command" else ""


@dataclass(frozen=True, slots=True)
class Weights:
    """How words are weighed. Chosen on half of the judged queries of `bench/reference`, checked on the other half."""

    fields: tuple[float, ...] = (4.0, 4.0, 3.0, 2.0, 2.0, 0.5)
    """In the order of `FIELDS`."""
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
    """Its significance: the more, the fewer entries have it."""


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
        """What of the query some entry has, the most significant first, and what the whole of the query weighs.

        A word that no entry has weighs as much as the most significant one that some have: it may be a pleasantry as
        well as the very subject. So a small catalogue, in which nothing is rare, still answers.
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
        # As frequent as the most frequent of its variants: a rare synonym of a common word is no more significant.
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


class VectorMeaning:
    """`Meaning` over an engine. Several `embeddings` are those of the index that answers and of the one to come."""

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider]) -> None:
        self._engine = engine
        self._queries = QueryEmbeddings(embeddings)

    def near(self, asked: Asked, size: int) -> Sequence[Near] | None:
        """None also when the model fails. Raises Unavailable when the index does not answer."""
        vector = self._queries.vector(asked.query, self._engine.model())
        found = self._candidates(vector, asked, size) if vector else None
        if found is None or found.degraded:
            return None
        return [Near(*address(hit.id), score=hit.score) for hit in found.vector]

    def _candidates(self, vector: QueryVector, asked: Asked, size: int) -> Candidates:
        found = self._engine.candidates(NOTHING, vector, filters(asked), size)
        if not found.degraded:
            return found
        model = self._engine.model()
        if model == vector.model or not self._queries.knows(model):
            return found
        # Another index has replaced the one whose model was read.
        again = self._queries.vector(asked.query, model)
        return self._engine.candidates(NOTHING, again, filters(asked), size) if again else found


def filters(asked: Asked) -> Filters:
    """The conditions as far as the index knows them: it says less than a catalogue, never more."""
    return Filters(
        content_types=(asked.type,) if asked.type else (),
        tags_all=(asked.module.lower(),) if asked.module else (),
        tags_any=(asked.category.lower(),) if asked.category else (),
    )


@dataclass(frozen=True, slots=True)
class Tuning:
    """Weights of words and meaning, and the thresholds below which neither counts.

    Weights were chosen on half of the judged queries of `bench/reference` and checked on the other half; from where on
    something is found, on all of them, with the local model.
    """

    weights: Weights = DEFAULT_WEIGHTS
    fusion: Fusion = Fusion("min-max", 0.45, 0.55)  # noqa: RUF009 - immutable
    endpoint: float = 0.8
    """What an endpoint's score is multiplied by unless the query speaks of an API: most endpoints have a command that
    does the same, and people type commands (seed 003 gives commands its highest weight)."""
    optional: float = 0.95
    """The same of what belongs to an optional part of the product, unless the query names that part."""
    least_words: float = 0.1
    """Share of the query. Where the best entry has less, and none is as near as `least_meaning`, nothing is found."""
    least_meaning: float = 0.36
    """Cosine."""
    tail: float = 0.4
    """Share of the best score below which others are left out: they answer nothing, and cost their reader's tokens."""


DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best first."""

    hits: tuple[Hit, ...]
    fallback: bool
    """Whether meaning was not compared."""


class Words:
    """The words of an edition's entries, and the way from an id to its entry. Immutable once built."""

    def __init__(
        self,
        entries: Sequence[Kept],
        synonyms: Sequence[Mapping[str, Sequence[str]]] = (),
        tuning: Tuning = DEFAULT_TUNING,
    ) -> None:
        """`synonyms` are the catalogues' own tables."""
        self._entries = entries
        self._ids = [record_id(kept.catalogue.name, kept.entry.id) for kept in entries]
        self._places = {id: place for place, id in enumerate(self._ids)}
        self.scorer = Scorer([kept.entry for kept in entries], synonyms, tuning.weights)
        self._tuning = tuning

    def rank(
        self,
        asked: Asked,
        admits: Callable[[Kept], bool],
        current: Callable[[Kept], Kept],
        meaning: Meaning | None = None,
    ) -> Ranking:
        """What has the query's words, or is near to it; nothing where all of it is about something else.

        `current` says what is to be used in place of a deprecated entry. Those that nothing replaces come last.
        """
        near = _near(asked, meaning)
        ranked = self._fused(asked, admits, near or ())
        hits = list(_without_repeats(ranked, admits, current))
        hits.sort(key=lambda hit: hit.entry.deprecated)
        return Ranking(tuple(hits[: asked.limit]), fallback=near is None)

    def _fused(
        self, asked: Asked, admits: Callable[[Kept], bool], near: Sequence[Near]
    ) -> Sequence[tuple[Kept, float]]:
        lexical = [
            LegHit(self._ids[place], score)
            for place, score in self.scorer.rank(asked.query, self._admitted(asked, admits))
        ]
        vector = [hit for hit in self._known(near) if admits(self._entries[self._places[hit.id]])]
        if not self._relevant(lexical, vector):
            return ()
        candidates = Candidates(tuple(lexical[:CANDIDATES]), tuple(vector), total=len(lexical))
        fused = fuse(candidates, self._tuning.fusion)
        found = [(self._entries[self._places[id]], score) for id, score in fused]
        ranked = self._preferred(asked, found)
        return [one for one in ranked if one[1] >= self._tuning.tail * ranked[0][1]]

    def _admitted(self, asked: Asked, admits: Callable[[Kept], bool]) -> Callable[[int], bool] | None:
        if (asked.type, asked.category, asked.module) == (None, None, None) and asked.within == EVERYWHERE:
            return None
        return lambda place: admits(self._entries[place])

    def _known(self, near: Sequence[Near]) -> Iterator[LegHit]:
        """Of what the index names, what the edition has."""
        for one in near:
            id = record_id(one.catalogue, one.id)
            if id in self._places:
                yield LegHit(id, one.score)

    def _relevant(self, lexical: Sequence[LegHit], vector: Sequence[LegHit]) -> bool:
        return (bool(lexical) and lexical[0].score >= self._tuning.least_words) or (
            bool(vector) and vector[0].score >= self._tuning.least_meaning
        )

    def _preferred(self, asked: Asked, found: Sequence[tuple[Kept, float]]) -> list[tuple[Kept, float]]:
        """What most people mean first, where little else distinguishes two entries."""
        endpoint = 1.0 if speaks_of_api(asked) else self._tuning.endpoint
        optional = 1.0 if asked.module else self._tuning.optional

        def share(entry: Entry) -> float:
            return (endpoint if entry.type == "api" else 1.0) * (optional if entry.module else 1.0)

        return sorted(((kept, score * share(kept.entry)) for kept, score in found), key=lambda one: -one[1])


def speaks_of_api(asked: Asked) -> bool:
    """Whether somebody wants endpoints as much as anything else."""
    return asked.type is not None or not SPEAKS_OF_API.isdisjoint(words(asked.query))


def _near(asked: Asked, meaning: Meaning | None) -> Sequence[Near] | None:
    """None where meaning cannot be compared: that is no reason to answer nothing."""
    try:
        return meaning.near(asked, CANDIDATES) if meaning else None
    except Unavailable as error:
        logger.warning("meaning cannot be compared, searching words only", extra={"reason": error.message})
        return None


def _without_repeats(
    ranked: Sequence[tuple[Kept, float]], admits: Callable[[Kept], bool], current: Callable[[Kept], Kept]
) -> Iterator[Hit]:
    """Each entry once, where the best of what it stands for stood."""
    seen: set[tuple[str, str]] = set()
    for kept, score in ranked:
        now = current(kept)
        key = (now.catalogue.name, now.entry.id)
        if key in seen or not admits(now):
            continue
        seen.add(key)
        replaced = None if now is kept else kept.entry
        yield Hit(now.catalogue, now.placed, "words", round(score, 4), instead_of=replaced)
