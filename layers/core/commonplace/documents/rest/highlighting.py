"""Snippets as HTML: everything escaped, and `<mark>` round the words that were found."""

from collections.abc import Iterable
from html import escape


def highlighted(snippet: str, marks: Iterable[tuple[int, int]]) -> str:
    """The snippet for a web page. `marks` are spans in characters; those that overlap or touch become one."""
    told, place = "", 0
    for start, end in _joined(marks, len(snippet)):
        told += f"{escape(snippet[place:start])}<mark>{escape(snippet[start:end])}</mark>"
        place = end
    return told + escape(snippet[place:])


def _joined(marks: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The spans inside the text, in order and apart: an engine that errs costs a mark, never a broken page."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in marks):
        if start >= end:
            continue
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans
