"""The distance between two words: `search.spelling.Distance`."""


def distance(one: str, other: str, most: int) -> int:
    """Edits from one word to the other, a swap of neighbours being one; beyond `most`, any larger number.

    The library is loaded with the first misspelt word: most processes never meet one.
    """
    from rapidfuzz.distance import OSA

    return OSA.distance(one, other, score_cutoff=most)
