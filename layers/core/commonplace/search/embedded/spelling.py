"""The words of the index, for did-you-mean. Only live records have words: what is taken out takes its words along."""

import sqlite3
from collections.abc import Iterator

from commonplace.search.embedded.conditions import Conditions
from commonplace.search.spelling import edits_allowed, suggest
from commonplace.search.word_distance import distance

LAST = "\U0010ffff"

_BETWEEN = """
SELECT term, doc FROM vocabulary WHERE term >= ? AND term <= ? AND length(term) BETWEEN ? AND ?
"""


class IndexedVocabulary:
    """The words of one state of the index, as `search.spelling.Vocabulary`; `conditions` say what can be found."""

    def __init__(self, database: sqlite3.Connection, conditions: Conditions) -> None:
        self._database = database
        self._conditions = conditions

    def known(self, word: str) -> bool:
        return any(
            self._database.execute(f"SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT 1", (f'"{word}"',)).fetchone()  # noqa: S608
            for table in ("passages", "labels")
        )

    def near(self, word: str, *, anywhere: bool = False) -> Iterator[tuple[str, int]]:
        edits = edits_allowed(word)
        for letter in ("",) if anywhere else dict.fromkeys(word[:2]):
            yield from self._database.execute(_BETWEEN, (letter, letter + LAST, len(word) - edits, len(word) + edits))

    def findable(self, word: str) -> bool:
        query = (
            "SELECT 1 FROM spellings JOIN records ON records.rowid = spellings.rowid"  # noqa: S608 - values are parameters
            f" WHERE spellings MATCH :word AND {self._conditions.sql()} LIMIT 1"
        )
        parameters = {"word": f'"{word}"', **self._conditions.parameters}
        return self._database.execute(query, parameters).fetchone() is not None


def suggestions(database: sqlite3.Connection, text: str, conditions: Conditions) -> tuple[str, ...]:
    """The query with its misspelt words corrected, best first."""
    return suggest(text, IndexedVocabulary(database, conditions), distance)
