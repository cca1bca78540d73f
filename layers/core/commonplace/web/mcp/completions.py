"""Values that complete what somebody has begun to type."""

from collections.abc import Iterable, Sequence

from commonplace.kernel.terms import words
from commonplace.web.mcp.declaration import Complete

MAX_VALUES = 100
"""The values of one completion, as the protocol says."""


def fitting(values: Iterable[str], typed: str) -> Sequence[str]:
    """Return values that begin with what is typed, then those with a word that does, then those that contain it.

    Letter case never counts; of equals, the order stays.
    """
    known = list(dict.fromkeys(values))
    wanted = typed.strip().casefold()
    if not wanted:
        return known
    begin: list[str] = []
    within: list[str] = []
    hold: list[str] = []
    for value in known:
        folded = value.casefold()
        if folded.startswith(wanted):
            begin.append(value)
        elif any(word.startswith(wanted) for word in words(folded)):
            within.append(value)
        elif wanted in folded:
            hold.append(value)
    return begin + within + hold


def choices(*values: str) -> Complete:
    """Return a completion to one of a few."""
    return lambda _caller, typed, _given: fitting(values, typed)
