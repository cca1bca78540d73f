"""Writes the given names that the redaction knows: `uv run --with faker python -m infra.given_names TEXTS...`

They are those of the package Faker (MIT), of all its languages whose script has capital letters. A name that one of the
given texts, such as a folder of technical notes, has as an ordinary word is left out.
"""

import importlib
import pkgutil
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from commonplace.redaction.given_names import FILE, folded
from commonplace.redaction.vocabulary import words

HEADER = "# Given names, from Faker (MIT licence, beside this file); see infra/given_names.py\n"
PLACES = words(
    """
    america africa asia europa europe china india france paris london berlin york jersey denver sydney angeles
    vienna roma milan florence venice geneva lourdes carolina dakota georgia virginia montana nevada indiana austin
    dallas houston boston phoenix orlando memphis chelsea brooklyn bronx kent essex devon york ireland israel
    jordan kenya chad cuba malta cyprus samoa tonga tibet nepal iran iraq syria egypt sudan congo angola zaire
    january february march april june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday english french german dutch italian roman latin spanish norman metro dock smith
    jones brown king queen prince duke earl baron major general captain doctor asi jep fem misra ora
    """
)
"""Words that are capitalised for another reason."""


def main(given: Sequence[str]) -> int:
    """Writes the file anew."""
    seen = Counter(word for text in _texts(given) for word in re.findall(r"\b[^\W\d_A-Z][^\W\d_]*", text))
    ordinary = {folded(word) for word, times in seen.items() if times > 1 and word.islower()}
    languages = Counter(
        part
        for names in _names()
        for part in {folded(part) for name in names for part in re.split(r"[\s\-'’.]+", name)}
        if part.isalpha() and part.upper() != part
    )
    # Short names of one language are words of another too often.
    kept = sorted(
        name for name in languages.keys() - ordinary - PLACES if len(name) > (2 if languages[name] > 1 else 4)
    )
    FILE.write_text(HEADER + textwrap.fill(" ".join(kept), 120) + "\n", encoding="utf-8")
    return 0


def _texts(given: Sequence[str]) -> Iterator[str]:
    for folder in map(Path, given):
        for file in sorted(folder.rglob("*.md")):
            yield file.read_text(encoding="utf-8", errors="replace")


def _names() -> Iterator[set[str]]:
    """Of each language apart."""
    people = importlib.import_module("faker.providers.person")
    for module in pkgutil.iter_modules(people.__path__):
        provider = importlib.import_module(f"{people.__name__}.{module.name}").Provider
        attributes = [name for name in dir(provider) if re.match(r"first_names|first_name.*s$|first_(?:fe)?male", name)]
        lists = [getattr(provider, name) for name in attributes]
        yield {
            name for names in lists if isinstance(names, list | tuple | dict) for name in names if isinstance(name, str)
        }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
