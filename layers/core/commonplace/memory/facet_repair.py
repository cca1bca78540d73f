"""Facets and counts compared with the cards that they tell of, and repaired.

Mutations write them in one transaction, so they differ only after a defect, or when somebody wrote to the table. Counts
are compared where no mutation came between: what they lack is added, and mutations after that add to the same. Keys are
compared without that, for each that seems wrong is judged again by its entry, under a condition.
"""

from collections import Counter, defaultdict

from commonplace.memory import facets
from commonplace.memory.facets import Counts, Key, Place
from commonplace.memory.model import EntryId
from commonplace.memory.ports import EntryStore

TRIES = 3
"""Of counting while nobody writes. Where somebody always does, the next comparison tries again."""


def repair(store: EntryStore, organisation: str) -> int:
    """Says how many counts and entries it concerned. Raises Unavailable."""
    wanted: dict[str, dict[str, Key]] = defaultdict(dict)
    drift: dict[str, Counts] = {}
    for _ in range(TRIES):
        wanted.clear()
        before = store.tally(organisation)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for card in store.cards(organisation):
            for name, cells in facets.counts(card).items():
                counts[name].update(cells)
            for (name, at), key in facets.keys(card).items():
                wanted[name][at] = key
        after = store.tally(organisation)
        if before.writes == after.writes:
            drift = facets.difference(after.counts, counts)
            break
    if drift:
        store.correct(organisation, drift, after)
    wrong = _wrong(store, organisation, wanted, after.counts)
    for id, places in wrong.items():
        store.place(organisation, id, places)
    return len(drift) + len(wrong)


def _wrong(
    store: EntryStore, organisation: str, wanted: dict[str, dict[str, Key]], counted: facets.AllCounts
) -> dict[EntryId, list[Place]]:
    """Entries with a key that is missing, differs, or should not be there, and which places those are."""
    wrong: dict[EntryId, list[Place]] = defaultdict(list)
    for name in sorted({*wanted, *counted, *facets.FIXED}):
        rest = dict(wanted.get(name, {}))
        for key in store.keys(organisation, name, newest_first=False):
            if rest.pop(key.position, None) != key:
                wrong[key.id].append((name, key.position))
        for key in rest.values():
            wrong[key.id].append((name, key.position))
    return wrong
