"""Text as the index sees it: cleaned queries, folded names, and Markdown without markup."""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

from commonplace.kernel.terms import compatible


def word_lists(path: Path) -> dict[str, list[str]]:
    """Return the lists of a file by name: `name: some words`, continued on indented lines; `#` begins a comment."""
    lists: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        begun, colon, rest = line.partition(": ")
        name, texts = (begun, rest) if colon else (name, line)
        lists.setdefault(name, []).extend(texts.split())
    return lists


WORDS = word_lists(Path(__file__).with_name("words.txt"))

STOP_WORDS = frozenset(WORDS["stop"])
"""English words that say nothing about a subject; left out of a query unless nothing else remains."""

_WORD = re.compile(r"\w+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028\u2029\ufeff]+")
# What has to be in a text for the pattern to find anything, the pattern, and what takes the place of what it finds.
# Each begins with a character it can be looked for by: these run over every text that is shown.
_MARKUP = (
    ("```mermaid", re.compile(r"(?ms)^ {0,3}```mermaid\b.*?(?:^ {0,3}```[ \t]*$|\Z)"), ""),
    ("](", re.compile(r"(?:!\[|\[)([^\[\]]*)\]\((?:<[^<>\n]*>|[^()\n]|\([^()\n]*\))*+\)"), r"\1"),
    (
        "[[",
        re.compile(r"(?:!\[|\[)\[(?:[^\[\]|\n]*\|([^\[\]|\n]+)|([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?|#([^\[\]|\n]+))\]\]"),
        r"\1\2\3",
    ),
    ("", re.compile(r"(?m)^ {0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|(?:```|~~~).*$)"), ""),
    ("[", re.compile(r"(?m)^[ \t]*\[(?:![\w-]+\][+-]?|[ xX]\])(?:[ \t]+|$)"), ""),
    ("^", re.compile(r"(?m)(?:^|(?<![ \t])[ \t]+)\^[A-Za-z0-9-]+[ \t]*$"), ""),
    ("==", re.compile(r"==(?=\S)([^\n=]+)(?<=\S)=="), r"\1"),
    ("---", re.compile(r"(?m)^[ \t]*+\|?(?:[ \t]*+:?-{3,}+:?[ \t]*+\|?)++[ \t]*$"), ""),
    ("", re.compile(r"[*_~`](?:(?<!\w.)[*_~`]{0,2}(?=\S)|(?<=\S.)[*_~`]{0,2}(?!\w))"), ""),
    ("|", re.compile(r"(?<![ \t])[ \t]*\|[ \t]*"), " "),
)

LONGEST_REMEMBERED = 4_000
"""Characters: above the longest chunks, below most bodies."""


def plain(markdown: str) -> str:
    """The words of a Markdown text, one paragraph a line: what is indexed, embedded and shown as a snippet."""
    return _plain_chunk(markdown) if len(markdown) <= LONGEST_REMEMBERED else _plain(markdown)


@lru_cache(maxsize=1_024)
def _plain_chunk(markdown: str) -> str:
    """Remembered: a chunk that is indexed is embedded, analysed and spelt from it, one after the other."""
    return _plain(markdown)


def _plain(markdown: str) -> str:
    for needle, pattern, replacement in _MARKUP:
        if needle in markdown:
            markdown = pattern.sub(replacement, markdown)
    return "\n".join(line for part in markdown.split("\n") if (line := " ".join(part.split())))


def clean_query(text: str) -> str:
    """A query that every engine can take: valid Unicode, no control characters, single spaces."""
    valid = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(_CONTROLS.sub(" ", unicodedata.normalize("NFC", valid)).split())


def fold(text: str) -> str:
    """Case, accents and variants of a letter taken away: `É` and `e` are one letter, `ﬁ` is two."""
    if text.isascii():
        return text.lower()
    # Twice: some letters have a case only once they are decomposed, and some decompose only without it.
    decomposed = compatible(compatible(text.casefold(), "NFKD").casefold(), "NFKD")
    marks = [character for character in set(decomposed) if unicodedata.combining(character)]
    return decomposed.translate(dict.fromkeys(map(ord, marks))) if marks else decomposed


class _Letters(dict[int, str]):
    """One folded letter for each letter, found out when it first occurs."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        folded = fold(letter)
        self[code] = folded if len(folded) == 1 else letter
        return self[code]


_LETTERS = _Letters()


def fold_in_place(text: str) -> str:
    """Fold the text letter for letter, so that positions in the text stay what they are."""
    return text.lower() if text.isascii() else text.translate(_LETTERS)


def words(text: str) -> list[str]:
    """The folded words of a text, in order."""
    return _WORD.findall(fold(text).replace("_", " "))


def query_terms(text: str, limit: int = 32) -> list[str]:
    """The distinct words worth looking for, in order of appearance; at most `limit`."""
    found = list(dict.fromkeys(words(text)))
    return ([word for word in found if word not in STOP_WORDS] or found)[:limit]


def name_key(name: str) -> str:
    """Return what equal names share. Names without a word in them (`C++` has one, `???` has none) stay as they are."""
    return " ".join(words(name)) or plain_key(name)


def plain_key(name: str) -> str:
    """The same but for case, accents and spaces."""
    return " ".join(fold(name).split())
