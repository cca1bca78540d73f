"""Why a YAML text is refused, in words for who wrote it.

JSON with the lines of what it holds: of the entries of a list, and of their fields.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import JSONDecodeError
from typing import Any, NoReturn

from commonplace.kernel.yaml import Parsed, Place, Reason

_YAML_SENTENCES: dict[Reason, str] = {
    "syntax": "It is not valid YAML.",
    "half-character": "It holds half a character.",
    "documents": "It holds more than one document.",
    "values": "It holds too many values.",
    "reference": "It has an anchor, an alias or a tag, which are not read.",
    "depth": "It is nested too deeply.",
    "duplicate": "A key is given twice.",
    "key": "A key is a list or a mapping.",
}


def sentence(reason: Reason) -> str:
    return _YAML_SENTENCES[reason]


_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class JsonError(Exception):
    """A text that is no JSON. It quotes nothing of it."""

    message: str
    line: int | None = None


class _Repeated(Exception):
    """An object names a member twice."""


def read(text: str, *, lines_to_depth: int = 3) -> Parsed:
    """Raises JsonError. `lines_to_depth`: how long the places are whose lines are kept."""
    reader = _Reader(text, lines_to_depth)
    try:
        value, end = reader.value((), reader.skip(0))
        if reader.skip(end) != len(text):
            reader.refuse("there is more after the end of the value", reader.skip(end))
    except JSONDecodeError as error:
        raise JsonError(_said(error.msg), error.lineno) from None
    except _Repeated:
        raise JsonError("an object names a member twice", reader.line(reader.at)) from None
    except RecursionError:
        raise JsonError("it is nested too deeply", reader.line(reader.at)) from None
    except ValueError:
        raise JsonError("a number is too long, or is none of JSON's", reader.line(reader.at)) from None
    return Parsed(value, reader.lines)


class _Reader:
    """Walks the first levels itself, to know where they stand; all that is deeper is decoded at once."""

    def __init__(self, text: str, lines_to_depth: int) -> None:
        self._text = text
        self._depth = lines_to_depth
        self._breaks = [found.start() for found in re.finditer("\n", text)]
        self._decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
        self.lines: dict[Place, int] = {}
        self.at = 0
        """Where the value begins that is being decoded."""

    def line(self, at: int) -> int:
        return bisect_right(self._breaks, at - 1) + 1

    def skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def refuse(self, message: str, at: int) -> NoReturn:
        raise JsonError(message, self.line(at))

    def value(self, place: Place, at: int) -> tuple[Any, int]:
        """The value that begins here, and where it ends."""
        opening = self._text[at : at + 1]
        if len(place) < self._depth and opening == "{":
            return self._object(place, at + 1)
        if len(place) < self._depth and opening == "[":
            return self._list(place, at + 1)
        self.at = at
        value, end = self._decoder.raw_decode(self._text, at)
        return value, end

    def _object(self, place: Place, at: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        for begin in self._members(at, "}"):
            if self._text[begin : begin + 1] != '"':
                self.refuse("a member of an object begins with its name in double quotes", begin)
            name, after = self._decoder.raw_decode(self._text, begin)
            if name in found:
                self.refuse("an object names a member twice", begin)
            colon = self.skip(after)
            if self._text[colon : colon + 1] != ":":
                self.refuse("after the name of a member comes a colon", colon)
            self.lines[(*place, name)] = self.line(begin)
            found[name], self._end = self.value((*place, name), self.skip(colon + 1))
        return found, self._end

    def _list(self, place: Place, at: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        for begin in self._members(at, "]"):
            here = (*place, len(found))
            self.lines[here] = self.line(begin)
            one, self._end = self.value(here, begin)
            found.append(one)
        return found, self._end

    def _members(self, at: int, closing: str) -> Iterator[int]:
        """Where each member begins. Who takes them says in `_end` where the member ended."""
        at = self.skip(at)
        if self._text[at : at + 1] == closing:
            self._end = at + 1
            return
        while True:
            yield at
            at = self.skip(self._end)
            mark = self._text[at : at + 1]
            if mark == closing:
                self._end = at + 1
                return
            if mark != ",":
                self.refuse(f"a comma or a closing {closing} is missing", at)
            at = self.skip(at + 1)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Repeated
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_SENTENCES = {
    "Expecting value": "a value is missing",
    "Unterminated string starting at": "a text is never closed",
    "Invalid control character at": "a text holds a line break or another control character; write \\n",
    "Invalid \\escape": "a text holds a backslash that escapes nothing; write \\\\",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "after the name of a member comes a colon",
    "Expecting property name enclosed in double quotes": "the name of a member stands in double quotes",
    "Illegal trailing comma before end of object": "there is a comma before a closing bracket",
    "Illegal trailing comma before end of array": "there is a comma before a closing bracket",
}


def _said(message: str) -> str:
    """The parser's words in ours: its own may quote the file."""
    return next((said for theirs, said in _SENTENCES.items() if message.startswith(theirs)), "it is not valid JSON")
