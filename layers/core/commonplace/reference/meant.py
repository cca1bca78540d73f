"""How much two names have in common by their words: by the same word, by another word for it, or by one misspelt."""

from collections.abc import Iterator, Sequence

from commonplace.reference.known import Everything

Meant = dict[str, float]
"""Words that a word may stand for, itself first, and how much each counts. Stemmed."""

SHORTEST_MISSPELT = 4
"""Letters of a word that is believed to be misspelt."""

_SYNONYM, _MISSPELT = 0.9, 0.7
_NEAREST = 5


def meant(text: str, everything: Everything) -> tuple[Meant, ...]:
    """For each word of a text: itself, what else it is called, and, if nothing has it, what it may be misspelt for."""
    stems = everything.stems(text)
    found: list[Meant] = [{stem: 1.0} for stem in stems]
    for start, end, word in _synonyms(stems, everything):
        for place in range(start, end):
            found[place].setdefault(word, _SYNONYM)
    for stem, one in zip(stems, found, strict=True):
        if stem not in everything.having:
            one.update(dict.fromkeys(_near(stem, everything), _MISSPELT))
    return tuple(found)


def told(asked: Sequence[Meant], everything: Everything) -> float:
    """What the words tell, as they were asked."""
    return sum(everything.weight(next(iter(one))) for one in asked)


def shared(asked: Sequence[Meant], words: frozenset[str], everything: Everything) -> float:
    """What is told by the words that both have, counted on either side."""
    common, used = 0.0, set[str]()
    for one in asked:
        in_both = [word for word in one if word in words and word not in used]
        if in_both:
            best = max(in_both, key=one.__getitem__)
            used.add(best)
            common += one[best] * (everything.weight(next(iter(one))) + everything.weight(best))
    return common


def _synonyms(stems: Sequence[str], everything: Everything) -> Iterator[tuple[int, int, str]]:
    """From where to where, and one word for all that is there."""
    synonyms = everything.synonyms
    for start in range(len(stems)):
        for end in range(start + 1, min(len(stems), start + synonyms.longest) + 1):
            for other in synonyms.of(tuple(stems[start:end])):
                if len(other) == 1:
                    yield start, end, other[0]


def _near(word: str, everything: Everything) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if len(word) < SHORTEST_MISSPELT:
        return []
    found = process.extract(word, everything.vocabulary, scorer=OSA.distance, score_cutoff=1, limit=_NEAREST)
    return [near for near, _, _ in found]
