"""Whether two words are one mistake apart, without a library: for the few words that a query is judged by."""


def one_edit(one: str, other: str) -> bool:
    """One letter inserted, left out or replaced, or two neighbours swapped; equal words are not."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = _common(one, other)
    left, right = one[start:], other[start:]
    end = _common(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    swapped = len(left) == len(right) == 2 and left == right[::-1]
    return swapped or max(len(left), len(right)) <= 1


def _common(one: str, other: str) -> int:
    """Letters that both begin with."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
