"""Word lists and patterns of the redaction: data in the folder `forms`, read and compiled here."""

import re
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("forms")
_PIECE = re.compile("«([a-z0-9_]+)»")


class Forms:
    """The forms of one file. Lines of a pattern are joined; `«name»` in it stands for the pattern of that name.

    Each pattern is an attribute, compiled at its first use. `ignore_case` and `multiline` name those that are so.
    """

    def __init__(self, name: str, *, ignore_case: str = "", multiline: str = "") -> None:
        self.data: dict[str, Any] = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
        self._flags = dict.fromkeys(ignore_case.split(), re.IGNORECASE) | dict.fromkeys(multiline.split(), re.MULTILINE)

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in self.data:
            raise AttributeError(name)
        pattern = re.compile(self.text(name), self._flags.get(name, 0))
        setattr(self, name, pattern)
        return pattern

    def many(self, name: str, flags: int = 0) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(self.joined(form), flags) for form in self.data[name])

    def table(self, name: str) -> dict[str, str]:
        return {key: self.joined(form) for key, form in self.data[name].items()}

    def text(self, name: str) -> str:
        return self.joined(self.data[name])

    def notations(self, name: str) -> str:
        """Return words as a pattern that finds them as programs write them too: see `notations`."""
        return notations(self.text(name))

    def words(self, name: str) -> frozenset[str]:
        return words(self.data[name])

    def joined(self, form: str) -> str:
        """Return a form as it is compiled."""
        plain = "".join(line.strip() for line in form.split("\n")) if "\n" in form else form
        return _PIECE.sub(lambda found: self.text(found[1]), plain)


def notations(form: str) -> str:
    """Return alternatives that are found in space, snake, kebab, camel and upper notation, in any case.

    A space in them is whatever separates words. They begin and end where a word does: in `dateOfBirth` at a capital.
    """
    begins, ends = r"(?:(?<![^\W_])|(?<=[a-z0-9])(?=[A-Z]))", r"(?:(?![^\W_])|(?<=[a-z0-9])(?=[A-Z]))"
    return rf"{begins}(?i:{form.replace(' ', '[ _.-]?')}){ends}"


def keyed(keys: str, value: str) -> re.Pattern[str]:
    """Return a pattern of a value, its group `value`, after one of these keys in any notation."""
    return re.compile(rf"{notations(keys)}{REACH}(?P<value>{value})")


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


_WORDS = Forms("words")
REACH = _WORDS.text("reach")
ANNOTATIONS = _WORDS.words("annotations")
ACCOUNTS = _WORDS.words("accounts")
TECHNICAL = _WORDS.words("technical") | _WORDS.words("places")
BEFORE_TOWNS = _WORDS.words("before_towns")
ALSO_WORDS = _WORDS.words("also_words")
COMMON = _WORDS.words("common")
