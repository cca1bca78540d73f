"""Normalisation of terms: how one is written, and when two spellings mean the same."""

import re
import unicodedata
from typing import Literal

_AROUND = " \t\r\n\"'`“”„‘’‚«»‹›"
"""White space and quotation marks, as people and models put them around a term."""

_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]\Z")
_GAPS = re.compile(r"[\s_‐‑‒–—-]+")
_WORD = re.compile(r"[^\W_]+")
_ABBREVIATED = re.compile(r"(.+?)\s*\(([^()]+)\)\Z", re.DOTALL)

MOST_PER_CHARACTER = 4
"""The characters that the compatibility form of a text may have for each of its own: U+FDFA stands for a sentence of
eighteen, and a text of such letters would cost eighteen times what its length says."""

SHORTEST_STEM = 2
"""`ids` is the plural of `id`, but `us` is not the plural of `u`."""


def compatible(text: str, form: Literal["NFKC", "NFKD"]) -> str:
    """Return the text in a compatibility form (Unicode, UAX 15), or as it is where that is far longer than the text."""
    found = unicodedata.normalize(form, text)
    return found if len(found) <= MOST_PER_CHARACTER * len(text) else text


def compatible_length(text: str) -> int:
    """Return how many characters the compatibility form has: what rules, indexes and models read of a text."""
    return len(text) if text.isascii() else len(unicodedata.normalize("NFKC", text))


def bare(text: str) -> str:
    """The term without what stands around it: quotes, `[[…]]`, a leading `#`."""
    inside = text.strip(_AROUND)
    if (link := _WIKI_LINK.match(inside)) is not None:
        inside = link[1]
    return inside.strip(_AROUND).lstrip("#").strip(_AROUND)


def key(text: str) -> str:
    """`#Mutual Aid`, `mutual_aid` and `"Mutual–aid"` share one: letter case, gaps and hyphens do not count."""
    found = text
    # What is taken off at one end can uncover something else: `-«0` is `«0` first.
    while (shorter := _GAPS.sub("-", compatible(bare(found), "NFKC").casefold()).strip("-")) != found:
        found = shorter
    return found


def words(text: str) -> list[str]:
    """The words of a text in any script, case-folded, accents taken off."""
    plain = compatible(compatible(text, "NFKD").casefold(), "NFKD")
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


def squeezed(text: str) -> str:
    """The words without the gaps between them: `co-op` is `coop`. Empty when there is no word."""
    return "".join(words(text))


def forms(word: str) -> tuple[str, ...]:
    """The word, what it may be the plural of, and what its plural may be; English, the likeliest first."""
    found = [word]
    if word.endswith("ies"):
        found.append(word[:-3] + "y")
    if word.endswith("es"):
        found.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        found.insert(1, word[:-1])
    found += [f"{word}s", f"{word}es"]
    if word.endswith("y"):
        found.append(f"{word[:-1]}ies")
    return tuple(form for form in dict.fromkeys(found) if form == word or len(form) >= SHORTEST_STEM)


def parts(title: str) -> tuple[str, ...]:
    """Both names in a title like `Decentralised Finance (DeFi)`; none where there is nothing in brackets."""
    found = _ABBREVIATED.match(title.strip())
    return (found[1], found[2]) if found else ()
