"""Frames of questions: what surrounds the subject in `What is a DAO?`, in the six languages that the site speaks.

Patterns are of folded text: case and accents do not matter. Frames are taken off as long as one is found and something
is left; what begins like a frame and is none loses no telling word by it.
"""

import re
from itertools import pairwise
from pathlib import Path

from commonplace.search.text import fold_in_place

_ASKING = [
    line
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
_ARTICLES = (
    r"an?|the|some|any|our|un|una|unos|unas|el|la|las|los|le|les|une|des|du|ein|eine|einen|einer|der|die|das|den|um|uma|"
    r"uno|gli|il|lo|o|os|as"
)
_LEADING = re.compile(rf"(?:(?:{'|'.join(_ASKING)})(?=\W|$)|(?:{_ARTICLES}|l(?='|’)|qu(?='|’))(?=[\s'’]))[\s,:'’]*")
_TRAILING = re.compile(
    r"[\s,]+(?:means?|stands? for|refers? to|do we have|are there|please|about|heisst|heißt|significa)$"
)
_JOINED = re.compile(r"[\s,;]+(?:and|y|e|et|und|ed)\s*$|[\s,;]+$")
_NEXT = re.compile(rf"[?;.!]\s+|[\s,;]+(?:and|y|e|et|und|ed)(?:\s+also)?\s+(?=(?:{'|'.join(_ASKING)})(?=\W|$))")
"""The end of a question, or a word that joins another one to it."""
_OUTSIDE = ' \t?!¿¡.,;:…"“”„«»‹›`*'
_QUOTES = "'’‘"


def questions(text: str) -> list[str]:
    """The questions of a text that has several of them, in order, without other sentences; none of any other text."""
    folded, starts = fold_in_place(text), [0]
    starts += [found.end() for found in _NEXT.finditer(folded)]
    parts = [(text[start:end], folded[start:end]) for start, end in pairwise([*starts, len(text)])]
    asked = [_bare(_JOINED.sub("", part)) for part, bare in parts if _LEADING.match(bare.lstrip(_OUTSIDE))]
    return asked if len(asked) > 1 else []


def subject(text: str) -> str:
    """The text without the frame of a question, with its case and accents; the text itself where nothing is left."""
    kept = _bare(text)
    framed = False
    while match := _LEADING.match(fold_in_place(kept)):
        rest = _bare(kept[match.end() :])
        # An article alone is no frame: `The Tide` may be a title.
        if not rest or not (framed or not _ARTICLE.fullmatch(match[0])):
            break
        kept, framed = rest, True
    if framed or text.rstrip().endswith("?"):
        trailing = _TRAILING.search(fold_in_place(kept))
        kept = _bare(kept[: len(kept) - len(trailing[0])] if trailing else kept) or kept
    return kept or text


def _bare(text: str) -> str:
    bare = text.strip(_OUTSIDE)
    quoted = len(bare) > 2 and bare[0] in _QUOTES and bare[-1] in _QUOTES
    return bare[1:-1].strip(_OUTSIDE) if quoted else bare


_ARTICLE = re.compile(rf"(?:{_ARTICLES}|l|qu)[\s,:'’]*")
