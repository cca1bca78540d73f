"""Which of the known values may be meant by what is typed so far."""

from collections.abc import Iterable, Sequence

from commonplace.documents.content.terms import words
from commonplace.web.mcp.declaration import Complete


def fitting(values: Iterable[str], typed: str) -> Sequence[str]:
    """Values that begin with what is typed, then those with a word that does, then those that contain it.

    Letter case never counts; of equals, the order stays.
    """
    known = list(dict.fromkeys(values))
    wanted = typed.strip().casefold()
    if not wanted:
        return known
    ranked = ((_rank(value.casefold(), wanted), at, value) for at, value in enumerate(known))
    return [value for rank, _, value in sorted(ranked) if rank < _UNFIT]


def choices(*values: str) -> Complete:
    """Completes to one of a few."""
    return lambda typed, _: fitting(values, typed)


_UNFIT = 3


def _rank(value: str, wanted: str) -> int:
    if value.startswith(wanted):
        return 0
    if any(word.startswith(wanted) for word in words(value)):
        return 1
    return 2 if wanted in value else _UNFIT
