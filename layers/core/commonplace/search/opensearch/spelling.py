"""Did you mean: proposals of the term suggester, kept to what the caller can find.

The suggester reads the dictionary of the whole index, where words of removed and of filtered-out records stay. So each
proposed word is looked for under the request's own filters; and a word that is found in another form (`governs`, where
texts say `governing`) is not misspelt. What is proposed, and in which order, is decided as for every engine.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commonplace.search.opensearch import legs, queries
from commonplace.search.opensearch.connection import Connection
from commonplace.search.opensearch.queries import Query, Words
from commonplace.search.spelling import MOST_WORDS, SHORTEST_WORD, TRIED, correctable, suggest
from commonplace.search.text import query_terms
from commonplace.search.word_distance import distance

PROPOSALS = 2 * TRIED
"""For each word, most alike first: some of them are words of what the caller cannot find."""

Proposals = Mapping[str, Mapping[str, int]]
"""For each word that is nowhere in the index what may be meant, and how many records have it."""


def suggesting(text: str) -> Query:
    """The part of a body that asks for proposals; empty when no word is worth it."""
    asked = [word for word in query_terms(text) if correctable(word)]
    if not asked:
        return {}
    near = {"field": "spelling", "suggest_mode": "missing", "size": PROPOSALS, "min_word_length": SHORTEST_WORD}
    near["prefix_length"] = 0  # the first letter may be wrong, too
    return {"suggest": {"text": " ".join(asked), "near": {"term": near}}}


def proposals(answer: Mapping[str, Any]) -> Proposals:
    """What the suggester said of each word."""
    told = answer.get("suggest", {}).get("near", ())
    return {
        item["text"]: {option["text"]: option["freq"] for option in item["options"]}
        for item in told
        if item.get("options")
    }


def suggestions(
    connection: Connection, index: str, text: str, proposed: Proposals, where: Sequence[Query]
) -> tuple[str, ...]:
    """The query with its misspelt words put right, best first; one request, and none without proposals."""
    if not 0 < len(proposed) <= MOST_WORDS:
        return ()
    return suggest(text, _checked(connection, index, proposed, where), distance)


@dataclass(frozen=True, slots=True)
class _Checked:
    """`search.spelling.Vocabulary` for the words of one query, all of them looked for at once."""

    proposed: Proposals
    in_other_forms: frozenset[str]
    reachable: frozenset[str]

    def known(self, word: str) -> bool:
        return word not in self.proposed or word in self.in_other_forms

    def near(self, word: str, *, anywhere: bool = False) -> Iterable[tuple[str, int]]:
        proposed = self.proposed[word].items()
        return proposed if anywhere else [(near, records) for near, records in proposed if near[0] in word[:2]]

    def findable(self, word: str) -> bool:
        return word in self.reachable


def _checked(connection: Connection, index: str, proposed: Proposals, where: Sequence[Query]) -> _Checked:
    options = list(dict.fromkeys(option for near in proposed.values() for option in near))
    bodies = [_some(queries.lexical(Words(word, telling=True), ())) for word in proposed]
    bodies += [_some({"bool": {"filter": [{"term": {"spelling": word}}, *where]}}) for word in options]
    answers = legs.ask(connection, index, bodies, " ".join(proposed))
    found = [legs.total(answer) > 0 for answer in answers]
    misspelt = [word for word, there in zip(proposed, found, strict=False) if there]
    reachable = [word for word, there in zip(options, found[len(proposed) :], strict=True) if there]
    return _Checked(proposed, frozenset(misspelt), frozenset(reachable))


def _some(query: Query) -> Query:
    return {"size": 0, "track_total_hits": 1, "query": query}
