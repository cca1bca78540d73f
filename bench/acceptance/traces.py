"""Traces of text: does a piece of one text stand anywhere in another, whatever lies between its words?

Texts are compared word by word, letter case and punctuation aside, so that JSON escapes, percent-encoding, line breaks
and Markdown signs hide nothing. A trace of a text is a run of `RUN` of its words, that of a name is all of its words.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

RUN = 8
"""Words in a row that nobody writes twice by chance."""
SHORT_TEXT_WORDS = 40
"""A text up to here is also looked for line by line: it has few runs or none."""
SHORT_LINE_WORDS = 3

_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]+|^---[ \t\r]*$|\" ?[:,]", re.MULTILINE)
"""Where one text ends and another begins: between joined documents, and between the values of JSON in a log."""
_Trie = dict[str, Any]
_END = ""


def words(text: str) -> list[str]:
    plain = unquote(text) if "%" in text else text
    return _WORD.findall(unicodedata.normalize("NFC", plain).casefold())


def runs(found: list[str]) -> Iterator[int]:
    """A number for each run of words."""
    return map(hash, zip(*(found[start:] for start in range(RUN)), strict=False))


def texts_in(body: bytes) -> Iterator[str]:
    """Every text of a JSON value, names included; anything else is one text."""
    try:
        yield from _strings(json.loads(body))
    except ValueError:
        yield body.decode("utf-8", "replace")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)


class Names:
    """Titles, paths and short lines, each of which must not be seen."""

    def __init__(self, named: Mapping[str, str]) -> None:
        """`named`: the name -> whose it is."""
        self._named = dict(named)
        self._trie: _Trie = {}
        for name in named:
            self._add(name)

    def __len__(self) -> int:
        return len(self._named)

    def without(self, known: Iterable[str]) -> "Names":
        """Those that stand in none of the known texts: only they tell anything when they are seen."""
        said = {name for text in known for name in self.seen(words(text))}
        return Names({name: owner for name, owner in self._named.items() if name not in said and words(name)})

    def owners(self, found: list[str]) -> set[str]:
        return {self._named[name] for name in self.seen(found)}

    def seen(self, found: list[str]) -> Iterator[str]:
        for start, word in enumerate(found):
            node = self._trie.get(word)
            at = start
            while node is not None:
                yield from node.get(_END, ())
                at += 1
                node = node.get(found[at]) if at < len(found) else None

    def _add(self, name: str) -> None:
        node = self._trie
        for word in words(name):
            node = node.setdefault(word, {})
        node.setdefault(_END, []).append(name)


class Traces:
    """What is peculiar to some private texts, against all that may be known."""

    def __init__(self, private: Mapping[str, str], names: Mapping[str, str], known: Iterable[str]) -> None:
        """`private`: path -> text. `names`: name -> path. `known`: texts that are public."""
        split = {path: words(text) for path, text in private.items()}
        public = [*known]
        said = {run for text in public for run in runs(words(text))}
        self._runs = {run: path for path, found in split.items() for run in runs(found) if run not in said}
        short = (path for path, found in split.items() if len(found) <= SHORT_TEXT_WORDS)
        lines = {
            line: path for path in short for line in private[path].splitlines() if len(words(line)) >= SHORT_LINE_WORDS
        }
        self._texts = Names(lines).without(public)
        self._names = Names(names).without(public)

    @property
    def run_count(self) -> int:
        return len(self._runs) + len(self._texts)

    @property
    def name_count(self) -> int:
        return len(self._names)

    def in_texts(self, texts: Iterable[str]) -> tuple[set[str], set[str]]:
        """Paths whose text is in there, and paths whose title or path is."""
        told: set[str] = set()
        named: set[str] = set()
        for text in (piece for whole in texts for piece in _BREAK.split(whole)):
            found = words(text)
            told |= {self._runs[run] for run in runs(found) if run in self._runs} | self._texts.owners(found)
            named |= self._names.owners(found)
        return told, named
