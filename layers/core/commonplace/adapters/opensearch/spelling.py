"""Did you mean: proposals of the term suggester, kept to what the caller can find.

The suggester reads the dictionary of the whole index, where words of removed and of filtered-out records stay. So each
proposed word is looked for under the request's own filters, and so is the word it would replace: one that finds
something in another form (`governs`, where texts say `governing`) is not misspelt.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from commonplace.adapters.opensearch import legs, queries
from commonplace.adapters.opensearch.connection import Connection
from commonplace.adapters.opensearch.queries import Query, Words
from commonplace.search.text import STOP_WORDS

SHORTEST = 4
"""Letters of a word that is worth correcting: shorter ones are near to too many others."""

MOST_WORDS = 8
PROPOSALS_PER_WORD = 3
MOST_SUGGESTIONS = 3


def suggesting(words: Words) -> Query:
    """The part of a body that proposes words for those that are nowhere in the index; empty when none is worth it."""
    asked = list(islice((word for word in words.text.split() if _is_correctable(word)), MOST_WORDS))
    if not asked:
        return {}
    near = {"field": "spelling", "suggest_mode": "missing", "size": PROPOSALS_PER_WORD, "sort": "score"}
    return {"suggest": {"text": " ".join(asked), "near": {"term": near | {"min_word_length": SHORTEST}}}}


def proposals(answer: Mapping[str, Any]) -> dict[str, list[str]]:
    """For each misspelt word what it may be, most alike first."""
    told = answer.get("suggest", {}).get("near", ())
    return {item["text"]: [option["text"] for option in item["options"]] for item in told if item.get("options")}


def suggestions(
    connection: Connection, index: str, words: Words, proposed: Mapping[str, Sequence[str]], where: Sequence[Query]
) -> tuple[str, ...]:
    """The query with its misspelt words put right, best first; one request, and none without proposals."""
    if not proposed:
        return ()
    looked_for = list(dict.fromkeys(word for misspelt, near in proposed.items() for word in (misspelt, *near)))
    bodies = [_reachable(word, where, stemmed=word in proposed) for word in looked_for]
    answers = legs.ask(connection, index, bodies, words.text)
    reached = {word for word, answer in zip(looked_for, answers, strict=True) if legs.total(answer)}
    kept = {
        misspelt: [word for word in near if word in reached]
        for misspelt, near in proposed.items()
        if misspelt not in reached
    }
    return joined(words.text, {misspelt: near for misspelt, near in kept.items() if near})


def joined(text: str, corrections: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The text with every misspelt word replaced: by the best for each, then with the next best for one of them."""
    if not corrections:
        return ()
    best = {misspelt: near[0] for misspelt, near in corrections.items()}
    others = [best | {misspelt: other} for misspelt, near in corrections.items() for other in near[1:]]
    found = (" ".join(chosen.get(word, word) for word in text.split()) for chosen in (best, *others))
    return tuple(islice(dict.fromkeys(found), MOST_SUGGESTIONS))


def _is_correctable(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and word not in STOP_WORDS


def _reachable(word: str, where: Sequence[Query], *, stemmed: bool) -> Query:
    if stemmed:
        found = queries.lexical(Words(word, "asked"), where)
    else:
        found = {"bool": {"filter": [{"term": {"spelling": word}}, *where]}}
    return {"size": 0, "track_total_hits": 1, "query": found}
