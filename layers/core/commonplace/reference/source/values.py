"""Values of a YAML or JSON text with their lines, or the reason for its refusal, worded for its author."""

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from commonplace.kernel.yaml import Parsed, Place, Reason

_YAML_SENTENCES: dict[Reason, str] = {
    "syntax": "It is not valid YAML.",
    "half-character": "It contains a lone surrogate.",
    "documents": "It holds more than one document.",
    "values": "It holds too many values.",
    "reference": "It has an anchor, an alias or a tag, which are not read.",
    "depth": "It is nested too deeply.",
    "duplicate": "A key is given twice.",
    "key": "A key is a list or a mapping.",
}

_JSON_SENTENCES = {
    "Expecting value": "a value is missing",
    "Extra data": "there is more after the end of the value",
    "Unterminated string starting at": "a text is never closed",
    "Invalid control character at": "a text holds a line break or another control character; write \\n",
    "Invalid \\escape": "a text holds a backslash that escapes nothing; write \\\\",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing",
    "Expecting ':' delimiter": "after the name of a member comes a colon",
    "Expecting property name enclosed in double quotes": "the name of a member stands in double quotes",
    "Illegal trailing comma before end of object": "there is a comma before a closing bracket",
    "Illegal trailing comma before end of array": "there is a comma before a closing bracket",
}

_MAX_DEPTH = 200
_ODD_NUMBER = re.compile(r"NaN|Infinity|[0-9]{4000}")
_TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*"|[^\s"{}\[\],:]+|[{}\[\],\n]')


def sentence(reason: Reason) -> str:
    return _YAML_SENTENCES[reason]


class JsonError(Exception):
    """A text that is no JSON. It quotes nothing of it."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read(text: str, *, lines_to_depth: int = 3) -> Parsed:
    """Raises JsonError. `lines_to_depth`: how long the places are whose lines are kept."""

    def no_constant(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        value = json.loads(text, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        # The parser's own words may quote the file.
        said = next((said for theirs, said in _JSON_SENTENCES.items() if error.msg.startswith(theirs)), None)
        raise JsonError(said or "it is not valid JSON", error.lineno) from None
    except RecursionError:
        value = None  # What stands before the place where it gave up is JSON: walking there finds the line.
    except ValueError:
        odd = _ODD_NUMBER.search(text)
        line = text.count("\n", 0, odd.start()) + 1 if odd else None
        raise JsonError("a number is too long, or is not valid JSON", line) from None
    return Parsed(value, dict(_members(text, lines_to_depth)))


def _members(text: str, depth: int) -> Iterator[tuple[Place, int]]:
    """The members of lists and objects in a text that is known to be JSON, with their lines, down to a depth.

    Raises JsonError for an object, however deep, that names a member twice, and for more than `_MAX_DEPTH` levels.
    """
    line = 1
    place: list[str | int] = []
    names: list[set[str]] = []
    begins = False
    for found in _TOKEN.finditer(text):
        lexeme = found[0]
        if lexeme == "\n":
            line += 1
            continue
        if begins and lexeme not in "]}":
            last = place[-1]
            if isinstance(last, int):
                place[-1] = last + 1
            else:
                place[-1] = name = json.loads(lexeme) if "\\" in lexeme else lexeme[1:-1]
                if name in names[-1]:
                    raise JsonError("an object names a member twice", line)
                names[-1].add(name)
            begins = False
            if len(place) <= depth:
                yield tuple(place), line
        if lexeme in "{[":
            if len(place) == _MAX_DEPTH:
                raise JsonError("it is nested too deeply", line)
            place.append("" if lexeme == "{" else -1)
            names.append(set())
            begins = True
        elif lexeme in "]}":
            place.pop()
            names.pop()
            begins = False
        elif lexeme == ",":
            begins = True
