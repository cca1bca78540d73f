"""What may have been meant by a name that is none."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name with the fewest edits between (a swap of neighbours is one), if they are few for its length."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extractOne(name, known, scorer=OSA.distance, score_cutoff=max(2, len(name) // 3))
    return str(found[0]) if found else None
