"""Words as the embedded index stems them: what a paraphrase may not share, and a misspelling has one of its own of."""

import sqlite3
from functools import cache

from commonplace.search.embedded.tables import TABLES


@cache
def stems(text: str) -> frozenset[str]:
    """As the index stems: by its own tokenizer."""
    tokenizer = TABLES.split("tokenize = '")[1].split("'")[0]
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE VIRTUAL TABLE told USING fts5 (words, tokenize = '{tokenizer}')")
    database.execute("CREATE VIRTUAL TABLE stems USING fts5vocab (told, 'row')")
    database.execute("INSERT INTO told VALUES (?)", (text,))
    found = frozenset(term for (term,) in database.execute("SELECT term FROM stems"))
    database.close()
    return found
