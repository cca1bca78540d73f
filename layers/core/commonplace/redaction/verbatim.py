"""Values that were taken out of one place, looked for in all others: in any case, and without what separates."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from commonplace.redaction.model import Kind, Span
from commonplace.redaction.views import View
from commonplace.redaction.vocabulary import ALSO_WORDS, TECHNICAL, words

LONG = 8  # Letters and digits from which a value is looked for inside of other words; shorter ones stand alone
SHORTEST = 3
ELSEWHERE = 0.5  # The score of what is only known from another place, which may be called what it is there
_TITLES = words("mr mrs ms mx miss dr prof professor sir dame herr frau sr sra señor señora mme mlle dr. prof.")


@dataclass(frozen=True, slots=True)
class Value:
    """Something that was found, as it is looked for elsewhere."""

    key: str  # Its letters and digits, case-folded
    kind: Kind
    form: re.Pattern[str] | None  # How it is looked for as words; None where the key alone says it
    in_code: bool = True


@dataclass(frozen=True, slots=True)
class Squeezed:
    """Letters and digits of a text, case-folded, with the position of each."""

    text: str
    places: Sequence[int]


def squeezed(text: str) -> Squeezed:
    letters: list[str] = []
    places: list[int] = []
    for found in re.finditer(r"[^\W_]+", text):
        for place, letter in enumerate(found[0], found.start()):
            folded = letter.casefold()
            letters.append(folded)
            places += [place] * len(folded)
    return Squeezed("".join(letters), places)


def values_of(text: str, span: Span) -> Iterator[Value]:
    """As what a span of this text, a view's, is looked for elsewhere; nothing where it says too little alone."""
    words = re.findall(r"[^\W_]+", text[span.start : span.end])
    if span.kind == "NAME":
        words = [word for word in words if word.casefold() not in _TITLES]
    key = "".join(words).casefold()
    if len(key) < SHORTEST or (key.isdigit() and len(key) < 5):
        return
    if span.kind == "NAME":
        is_word = len(words) == 1 and words[0].casefold() in ALSO_WORDS
        # One word that is only taken for a name may be a product's as well, whose commands stand in code.
        in_code = len(words) > 1 or (span.label == "name" and span.score >= 1)
        yield Value(key, span.kind, _as_words(words, flags=0 if is_word else re.IGNORECASE), in_code)
        if len(words) > 1:
            for word in words:
                if len(word) >= SHORTEST and word.casefold() not in ALSO_WORDS | TECHNICAL:
                    yield Value(word.casefold(), span.kind, _as_words([word], flags=0), in_code=False)
    elif span.label == "ip":
        literal = re.escape(text[span.start : span.end])
        yield Value(key, span.kind, re.compile(rf"(?<![\w.]){literal}(?![\w]|\.\w)", re.IGNORECASE))
    elif len(key) >= LONG:
        yield Value(key, span.kind, None)
    else:
        yield Value(key, span.kind, _as_words(words, flags=re.IGNORECASE))


def _as_words(words: Iterable[str], flags: int) -> re.Pattern[str]:
    form = r"[\W_]{0,3}".join(map(re.escape, words))
    return re.compile(rf"(?<![^\W_]){form}(?![^\W_])", flags)


def find_values(view: View, prose: View, values: Iterable[Value]) -> Iterator[Span]:
    """Where these values stand in a view of a text. Words that are a mere part of a name are looked for in prose."""
    plain: Squeezed | None = None
    for value in values:
        if value.form:
            for found in value.form.finditer((view if value.in_code else prose).text):
                yield Span(*found.span(), value.kind, "rule", ELSEWHERE, "verbatim")
            continue
        plain = plain or squeezed(view.text)
        start = plain.text.find(value.key)
        while start >= 0:
            end = start + len(value.key)
            # Digits are no part of a longer run of digits, which says something else, unless all of it is long.
            short_number = plain.text[start:end].isdigit() and end - start <= 12
            if not (short_number and plain.text[start - 1 : start].isdigit() and plain.text[end : end + 1].isdigit()):
                yield Span(plain.places[start], plain.places[end - 1] + 1, value.kind, "rule", ELSEWHERE, "verbatim")
            start = plain.text.find(value.key, start + 1)


def find_in_pieces(views: Sequence[View], values: Iterable[Value]) -> Iterator[tuple[int, Span]]:
    """Where a value stands in two pieces: the end of one view and the beginning of a later one, or across several."""
    plains = [squeezed(view.text) for view in views]
    for value in values:
        if len(value.key) < 6 or not value.in_code:
            continue
        yield from _across(plains, value)
        for first, head in enumerate(plains):
            for cut in range(3, len(value.key) - 2):
                if not head.text.endswith(value.key[:cut]):
                    continue
                for second in range(first + 1, len(plains)):
                    if plains[second].text.startswith(value.key[cut:]):
                        rest = len(value.key) - cut
                        yield (
                            first,
                            Span(head.places[-cut], head.places[-1] + 1, value.kind, "rule", ELSEWHERE, "piece"),
                        )
                        tail = plains[second].places
                        yield second, Span(tail[0], tail[rest - 1] + 1, value.kind, "rule", ELSEWHERE, "piece")


def _across(plains: Sequence[Squeezed], value: Value) -> Iterator[tuple[int, Span]]:
    """Yield the same over any number of neighbours."""
    starts = [0]
    for plain in plains:
        starts.append(starts[-1] + len(plain.text))
    joined = "".join(plain.text for plain in plains)
    at = joined.find(value.key)
    while at >= 0:
        first, last = bisect_right(starts, at) - 1, bisect_right(starts, at + len(value.key) - 1) - 1
        if first != last:
            for index in range(first, last + 1):
                begin, end = max(at, starts[index]), min(at + len(value.key), starts[index + 1])
                if end > begin:
                    places = plains[index].places[begin - starts[index] : end - starts[index]]
                    yield index, Span(places[0], places[-1] + 1, value.kind, "rule", ELSEWHERE, "piece")
        at = joined.find(value.key, at + 1)
