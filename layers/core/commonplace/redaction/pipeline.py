"""The redaction whole: rules, secrets, patterns and a detector over all fields, until nothing is found any more.

A pass finds, masks, looks for each value that it masked in every other field, and judges the fields joined. The next
pass reads what came of it. What a pass leaves unchanged is the result, so redacting that again changes nothing.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Any, Literal

from commonplace.kernel.errors import InvalidInput
from commonplace.redaction.given_names import NO_PERSON, folded, given_names
from commonplace.redaction.model import KINDS, Kind, Policy, Redacted, Span
from commonplace.redaction.ports import Detector, Survived
from commonplace.redaction.rules import EXPLAINED, find_in_address, find_in_code, find_personal
from commonplace.redaction.secret_rules import find_secrets
from commonplace.redaction.structure import read_structure
from commonplace.redaction.verbatim import Value, find_in_pieces, find_values, values_of
from commonplace.redaction.views import OPAQUE, PLACEHOLDER, View, view_of
from commonplace.redaction.vocabulary import ALSO_WORDS, COMMON, TECHNICAL

MAX_CHARACTERS = 100_000
MOST_PASSES = 8
MAX_WEIGHT = 12_000
"""Pieces of words (`weight`) that the detector reads at once: within half the time that the function `redact` has."""
MAX_WEIGHT_OF_ALL = 22_000  # Pieces that it reads over all passes: within the time of the function
EDGE = 160  # Characters at the end of a field that are read together with the beginning of another

_PIECE = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]")
_STEP = re.compile(r"(?m)^[ \t]*- name:[ \t]+$")
_HOST = re.compile(r"(?:[A-Za-z][\w+.-]*://)?([^\s/?#]+(?:(?<=github\.com)/[\w.-]+/[\w.-]+)?)")
_BY_TEXT: Mapping[str, Kind] = {f"[{kind}]": kind for kind in KINDS}
_PRECEDENCE = ("secret", "pattern", "rule", "comprehend", "model")


@dataclass(frozen=True, slots=True)
class _Field:
    """A field as a pass reads it. Positions of spans are the text's own."""

    text: str
    whole: View
    prose: View  # Without code
    sentences: View  # Without code and addresses
    addresses: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...]
    hosts: tuple[tuple[int, int], ...]
    things: frozenset[str]
    """Words of code and of hosts, case-folded: a lone word among them is no person, unless it is a given name."""

    @classmethod
    def read(cls, text: str) -> "_Field":
        structure = read_structure(text)
        whole = view_of(text)
        prose = whole.without(structure.code)
        code = [text[start:end] for start, end in structure.code]
        hosts = tuple(found.span(1) for span in structure.addresses if (found := _HOST.match(text, *span)))
        named = (text[start:end] for start, end in hosts)
        things = frozenset(word.casefold() for one in (*code, *named) for word in re.findall(r"[^\W_]{2,}", one))
        sentences = prose.without(structure.addresses)
        return cls(text, whole, prose, sentences, structure.addresses, structure.code, hosts, things)


def weight(text: str) -> int:
    """Return about how many pieces a model makes of the text: four Latin letters are one, any other sign is one."""
    return sum(1 for _ in _PIECE.finditer(unicodedata.normalize("NFKD", text)))


class Pipeline:
    """A `Redactor`. Without a detector, names and streets are found where a rule can tell them."""

    def __init__(self, detector: Detector | None = None) -> None:
        self._detector = detector

    def redact(self, fields: Mapping[str, str], policy: Policy) -> Redacted:
        """The fields by the same names. Raises Survived, InvalidInput and Unavailable, none of which quotes a text."""
        if sum(map(len, fields.values())) > MAX_CHARACTERS:
            raise InvalidInput(
                f"The texts are longer than {MAX_CHARACTERS} characters together.", hint="Shorten them, or split them."
            )
        judge = _Judge(policy, self._detector)
        texts = list(fields.values())
        for _ in range(MOST_PASSES):
            masked = judge.mask(texts)
            if masked == texts:
                break
            texts = masked
        else:
            raise Survived("Personal data or a secret is left after all has been tried.", hint="Take it out by hand.")
        counts: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        shares = {}
        for name, text in zip(fields, texts, strict=True):
            for found in PLACEHOLDER.finditer(text):
                counts[_BY_TEXT[found[0]]] += 1
            words = text.split()
            shares[name] = sum(PLACEHOLDER.search(word) is not None for word in words) / len(words) if words else 0.0
        shown = {kind: count for kind, count in counts.items() if count}
        return Redacted(fields=dict(zip(fields, texts, strict=True)), counts=shown, shares=shares)


class _Judge:
    """The judge of texts under one policy, over the passes of one call."""

    def __init__(self, policy: Policy, detector: Detector | None) -> None:
        self._policy = policy
        self._patterns = [_compiled(index, pattern) for index, pattern in enumerate(policy.patterns, 1)]
        self._allowed = [
            re.compile(rf"(?<![^\W_]){re.escape(text.strip())}(?![^\W_])", re.IGNORECASE)
            for text in policy.allowed
            if text.strip()
        ]
        self._detector = detector
        self._known: dict[str, list[Span]] = {}
        self._weight = 0
        self._values: dict[tuple[str, bool], Value] = {}

    def mask(self, texts: Sequence[str]) -> list[str]:
        """Return the texts after one pass."""
        fields = [_Field.read(text) for text in texts]
        found = [self._by_rule(field) for field in fields]
        for field, spans, more in zip(fields, found, self._by_model(fields, found), strict=True):
            spans.extend(more)
            for span in spans:
                if span.origin == "pattern":
                    continue
                start, end = field.whole.position(span.start), field.whole.position(span.end)
                values = values_of(field.whole.text, replace(span, start=start, end=end))
                self._values.update(((value.key, value.in_code), value) for value in values)
        for field, spans in zip(fields, found, strict=True):
            again = self._written(field.whole, find_values(field.whole, field.sentences, self._values.values()))
            spans.extend(span for span in again if span.kind != "NAME" or not _is_within(span, field.hosts))
        masked = [_masked(text, spans) for text, spans in zip(texts, found, strict=True)]
        return masked if masked != list(texts) else self._mask_pieces(fields)

    def _by_rule(self, field: _Field) -> list[Span]:
        keep = self._policy.keep_public_identities
        spans = list(self._written(field.whole, find_secrets(field.whole.text)))
        spans += self._written(field.whole, self._by_pattern(field.whole.text))
        personal = find_personal(field.sentences.text, keep_public_identities=keep)
        spans += self._written(field.sentences, _persons(field, field.sentences.text, personal))
        for view, ranges, find in (
            (field.prose, field.addresses, find_in_address),
            (field.whole, field.code, find_in_code),
        ):
            for start, end in ranges:
                first, last = view.position(start), view.position(end)
                found = find(view.text[first:last])
                moved = (replace(each, start=each.start + first, end=each.end + first) for each in found)
                spans += self._written(view, moved)
        return self._not_allowed(field.text, spans)

    def _by_pattern(self, text: str) -> Iterator[Span]:
        for pattern in self._patterns:
            for found in pattern.finditer(text):
                if found.end() > found.start():
                    yield Span(found.start(), found.end(), "REDACTED", "pattern", label="pattern")

    def _by_model(self, fields: Sequence[_Field], found: Sequence[Sequence[Span]]) -> list[list[Span]]:
        """Return what the detector finds in prose, where rules and the structure explain nothing."""
        if self._detector is None:
            return [[] for _ in fields]
        views = [_readable(field, spans) for field, spans in zip(fields, found, strict=True)]
        new = sorted({view.text for view in views} - self._known.keys())
        if new:
            self._weigh(new)
            self._known.update(zip(new, self._detector.detect(new), strict=True))
        results = []
        for field, view in zip(fields, views, strict=True):
            spans = [
                span
                for span in _persons(field, view.text, self._known[view.text])
                if not _is_technical(view.text, span)
                and any(map(str.isalnum, view.text[span.start : span.end]))
                and not (span.origin == "model" and span.kind in ("EMAIL", "PHONE"))
            ]
            results.append(self._not_allowed(field.text, list(self._written(view, spans))))
        return results

    def _written(self, view: View, spans: Iterable[Span]) -> Iterator[Span]:
        """The spans of a view where they stand in the text as it was written, without what is opaque at their ends."""
        for span in spans:
            text = view.text[span.start : span.end]
            start = span.start + len(text) - len(text.lstrip(OPAQUE + " \t\n"))
            end = span.end - (len(text) - len(text.rstrip(OPAQUE + " \t\n")))
            if end > start:
                first, last = view.original(start, end)
                yield replace(span, start=first, end=last)

    def _not_allowed(self, text: str, spans: list[Span]) -> list[Span]:
        allowed = [found.span() for form in self._allowed for found in form.finditer(text)]
        return [
            span
            for span in spans
            if span.origin == "secret" or not any(start <= span.start and span.end <= end for start, end in allowed)
        ]

    def _mask_pieces(self, fields: Sequence[_Field]) -> list[str]:
        """Return the texts without what shows only when fields are read together, in their order."""
        found: list[list[Span]] = [[] for _ in fields]
        for index, span in find_in_pieces([field.whole for field in fields], self._values.values()):
            found[index] += self._written(fields[index].whole, [span])
        full = [index for index, field in enumerate(fields) if field.text.strip()]
        for first, second in combinations(full, 2):
            edges = fields[first].whole.text.rstrip()[-60:], fields[second].whole.text.lstrip()[:60]
            if _may_be_one(*edges):
                self._judge_joined(fields, (first, second), found)
        if not any(found):
            self._judge_joined(fields, full, found)
            if len(full) > 1:
                self._judge_views(fields, full, " ", kind="sentences", find=self._detect, found=found)
        return [_masked(field.text, spans) for field, spans in zip(fields, found, strict=True)]

    def _judge_joined(self, fields: Sequence[_Field], indexes: Sequence[int], found: list[list[Span]]) -> None:
        """Add what shows in these fields when they are read one after the other, and in none of them alone."""
        keep = self._policy.keep_public_identities

        def secrets(text: str) -> Iterable[Span]:
            return (*find_secrets(text), *self._by_pattern(text))

        def personal(text: str) -> Iterable[Span]:
            return find_personal(text, keep_public_identities=keep)

        for by in ("", " "):
            self._judge_views(fields, indexes, by, kind="whole", find=secrets, found=found)
            self._judge_views(fields, indexes, by, kind="prose", find=personal, found=found)

    def _judge_views(
        self,
        fields: Sequence[_Field],
        indexes: Sequence[int],
        by: str,
        *,
        kind: Literal["whole", "prose", "sentences"],
        find: Callable[[str], Iterable[Span]],
        found: list[list[Span]],
    ) -> None:
        views = [_edges(getattr(fields[index], kind)) for index in indexes]
        starts = [0, *accumulate(len(view.text) + len(by) for view in views)]
        for span in find(by.join(view.text for view in views)):
            pieces = [
                (
                    index,
                    replace(span, start=max(span.start, start) - start, end=min(span.end - start, len(view.text))),
                    view,
                )
                for index, view, start in zip(indexes, views, starts, strict=False)
                if span.start < start + len(view.text) and span.end > start
            ]
            written = [(index, list(self._written(view, [piece]))) for index, piece, view in pieces]
            kept = all(self._not_allowed(fields[index].text, spans) == spans for index, spans in written)
            if len(pieces) > 1 and kept:
                for index, spans in written:
                    found[index] += spans

    def _weigh(self, texts: Sequence[str]) -> None:
        """Count what the detector is about to read. Raises InvalidInput."""
        total = sum(map(weight, texts))
        self._weight += total
        if total > MAX_WEIGHT or self._weight > MAX_WEIGHT_OF_ALL:
            raise InvalidInput(
                "The texts are more than the detector of names can read.",
                hint="Send less: 10,000 characters of any script, 6,000 of Korean, or 20,000 of Latin letters.",
            )

    def _detect(self, text: str) -> list[Span]:
        """Return what the detector says of a text, which it reads once."""
        if self._detector is None:
            return []
        if text not in self._known:
            self._weigh([text])
            self._known[text] = self._detector.detect([text])[0]
        return [span for span in self._known[text] if span.kind == "NAME" and not _is_technical(text, span)]


def _edges(view: View) -> View:
    """Return a long text's beginning and end, with something opaque between them."""
    if len(view.text) <= 2 * EDGE + 1:
        return view
    size = len(view.text)
    starts = view.starts or range(size)
    ends = view.ends or range(1, size + 1)
    return View(
        view.text[:EDGE] + OPAQUE + view.text[-EDGE:],
        [*starts[:EDGE], starts[EDGE], *starts[size - EDGE :]],
        [*ends[:EDGE], ends[EDGE], *ends[size - EDGE :]],
    )


def _may_be_one(end: str, beginning: str) -> bool:
    """Return whether the end of one field and the beginning of another can be pieces of something that rules know."""
    word = end.rpartition(" ")[2] + re.split(r"\s", beginning, maxsplit=1)[0]
    if end[-1:].isalpha() and beginning[:1].isupper() and end.rpartition(" ")[2][:1].isupper():
        return True
    return bool(re.search(r"[@:=.\d()\[\]]|.{16}", word) or re.search(r"@|\d\D{0,9}\d", end + beginning))


def _readable(field: _Field, spans: Iterable[Span]) -> View:
    """Prose as a model reads it: what is explained already is one sign, however long it was."""
    known = [(span.start, span.end) for span in spans if span.kind != "NAME"]
    known += [
        field.sentences.original(*found.span()) for form in EXPLAINED for found in form.finditer(field.sentences.text)
    ]
    view = field.sentences.without(known)
    if OPAQUE not in view.text:
        return view
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in re.finditer(rf"({OPAQUE})+|[^{OPAQUE}]+", view.text):
        if found[1]:
            first, last = view.original(*found.span())
            text.append(OPAQUE)
            starts.append(first)
            ends.append(last)
        else:
            text.append(found[0])
            places = [view.original(place, place + 1) for place in range(*found.span())]
            starts += [start for start, _ in places]
            ends += [end for _, end in places]
    return View("".join(text), starts, ends)


def _is_within(span: Span, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= span.start and span.end <= end for start, end in ranges)


def _persons(field: _Field, text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans without lone words that the text has as a package, a host, a command or a step's title."""
    for span in spans:
        said = re.sub(r"['’]s?\Z", "", text[span.start : span.end]).casefold()
        words = re.findall(r"[^\W_]+", said)
        known = span.kind != "NAME" or any(folded(word) in given_names() for word in words)
        by_model, lone = span.origin == "model", len(words) == 1
        is_step = by_model and _STEP.search(text[max(0, span.start - 40) : span.start])
        following = re.match(r" ([^\W\d_a-z][^\W_]*)", text[span.end : span.end + 30])
        is_thing = by_model and following and following[1].casefold() in NO_PERSON
        if not is_thing and (known or not (lone and (words[0] in field.things or is_step))):
            yield span


def _is_technical(text: str, span: Span) -> bool:
    """Return whether what is taken for a name is a product, an acronym, or a method that is called after somebody."""
    said = text[span.start : span.end]
    if span.kind == "LOCATION":
        return "#" in said or not re.search(r"[^\W\d_a-z][^\W\d_]{2}", said)
    if re.fullmatch(r"[A-Z\d]{2,6}|(?!Mac|Mc|De|Di|La|Le|Van)[A-Z][a-z]*[A-Z]\w*", said):
        return True
    words = re.findall(r"[^\W_]+", said.casefold())
    if said.islower() and any(word in TECHNICAL for word in words):
        return True
    return all(
        word in TECHNICAL or (word in COMMON and word not in ALSO_WORDS) or len(word) < 2 or word.isdigit()
        for word in words
    )


def _compiled(index: int, pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise InvalidInput(
            f"Pattern {index} is not a regular expression: {told}.",
            hint="Patterns are written as RE2 reads them: without look-around and back-references.",
        ) from None


def _masked(text: str, spans: Iterable[Span]) -> str:
    """The text with a placeholder for each stretch; those that overlap, and parts of one name or address, share one."""
    kept = [found.span() for found in PLACEHOLDER.finditer(text)]
    groups: list[tuple[int, int, list[Span]]] = []
    for span in sorted(piece for each in spans for piece in _around(each, kept)):
        if groups and (span.start < groups[-1][1] or _continues(text, groups[-1], span)):
            start, end, members = groups[-1]
            groups[-1] = (start, max(end, span.end), [*members, span])
        else:
            groups.append((span.start, span.end, [span]))
    pieces, done = [], 0
    for start, end, members in groups:
        first = min(members, key=lambda span: (_PRECEDENCE.index(span.origin), span.start - span.end, -span.score))
        pieces += [text[done:start], f"[{first.kind}]"]
        done = end
    return "".join((*pieces, text[done:]))


def _around(span: Span, kept: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """Yield the span without placeholders in it."""
    start = span.start
    for first, last in kept:
        if first < span.end and last > start:
            if first > start:
                yield replace(span, start=start, end=first)
            start = max(start, last)
    if span.end > start:
        yield replace(span, start=start)


def _continues(text: str, group: tuple[int, int, list[Span]], span: Span) -> bool:
    return (
        span.kind in ("NAME", "LOCATION")
        and all(each.kind == span.kind for each in group[2])
        and re.fullmatch(r"[ ,]{0,2}|,\n", text[group[1] : span.start]) is not None
        and not (span.kind == "NAME" and "," in text[group[1] : span.start])
    )
