"""Values out of a file, one field at a time: what is no such value is told, with what would be."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from commonplace.reference.source.findings import At, Findings

T = TypeVar("T")

SLUG = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\r\n\u2028\u2029]")


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """`relatedIds`, `related_ids` and `related-ids` are one field."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).replace("-", "_").lower()


def shown(text: str) -> str:
    """A piece of a file, as a message may quote it: short, on one line, and of whole printable characters."""
    return "".join(char if char.isprintable() else "?" for char in text[:60])


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an entry or of the settings, under their names in snake_case."""

    values: Mapping[str, Any]
    spelt: Mapping[str, str]
    """As each is spelt in the file."""
    lines: Mapping[str, int]
    at: At
    findings: Findings

    def where(self, name: str) -> At:
        return self.at.on(self.lines.get(name))

    def called(self, name: str) -> str:
        return shown(self.spelt.get(name, name))

    def invalid(self, name: str, message: str, hint: str) -> None:
        self.findings.error("invalid-field", f"`{self.called(name)}` {message}.", hint, self.where(name))

    def missing(self, name: str, hint: str) -> None:
        self.findings.error("missing-field", f"There is no `{name}`.", hint, self.at)

    def absent(self, name: str) -> bool:
        value = self.values.get(name)
        return value is None or value == ""

    def text(self, name: str, most: int, *, lines: bool = False) -> str | None:
        """A text without white space around it. `lines`: whether it may have several."""
        value = self.values.get(name)
        return None if value is None else self._text(name, value, most, lines, "Write a text.")

    def _text(self, name: str, value: Any, most: int, lines: bool, hint: str) -> str | None:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.invalid(name, "is no text", hint)
            return None
        text = str(value).strip() if not lines else str(value)
        if _CONTROL.search(text):
            self.invalid(name, "holds a control character or half a character", "Take it out.")
            return None
        if not lines and _BREAK.search(text):
            text = " ".join(text.split())
        if len(text) > most:
            self.invalid(name, f"has {len(text):,} characters", f"At most {most:,} are allowed.")
            return None
        return text

    def block(self, name: str, most_bytes: int) -> str | None:
        """A text of several lines."""
        text = self.text(name, most_bytes, lines=True)
        if text is not None and len(text.encode()) > most_bytes:
            self.invalid(name, f"is larger than {most_bytes:,} bytes", "Cut it into several entries.")
            return None
        return text

    def slug(self, name: str, most: int) -> str | None:
        text = self.text(name, most)
        if text and not SLUG.match(text):
            self.invalid(name, "is no slug", f"Write small letters, digits and hyphens{_proposal(text)}.")
            return None
        return text or None

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.invalid(name, "is neither true nor false", "Write true or false, without quotes.")
        return False

    def one_of(self, name: str, valid: Iterable[T], find: Callable[[str], T | None]) -> T | None:
        text = self.text(name, 100)
        if text is None:
            return None
        if (found := find(text)) is None:
            self.invalid(name, "is none of the known values", f"Write one of {', '.join(map(str, valid))}.")
        return found

    def texts(self, name: str, most: int, most_each: int) -> list[str]:
        """A list of texts, each once, in order. One text stands for a list of it."""
        value = self.values.get(name)
        if value is None:
            return []
        given = value if isinstance(value, list) else [value]
        if len(given) > most:
            self.invalid(name, f"has {len(given):,} members", f"At most {most} are allowed.")
            return []
        found = [self._text(name, one, most_each, False, "Write a list of texts.") for one in given]
        return list(dict.fromkeys(one for one in found if one))


def _proposal(text: str) -> str:
    from commonplace.repository.slugs import slug

    return f": `{proposal}`" if (proposal := slug(text)) else ""
