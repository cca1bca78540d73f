"""Field readers: one value at a time, reported where invalid."""

import re
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from commonplace.kernel.yaml import Parsed, Place
from commonplace.reference.source.findings import At, Findings

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_NO_PROSE = re.compile(r"\s{0,3}(?:#|>|[-*+]\s|\d+[.)]\s|\||<|!\[)")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*`]")

MAX_PARAGRAPH = 300

T = TypeVar("T")

SLUG = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\r\n\u2028\u2029]")


def first_paragraph(body: str) -> str:
    """The first text of a body that is neither heading, list, table nor code, cut at a word."""
    lines: list[str] = []
    fenced = False
    for line in body.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if fenced or not line.strip() or _FENCE.match(line) or _NO_PROSE.match(line):
            if lines:
                break
            continue
        lines.append(line.strip())
    text = " ".join(_MARKUP.sub(lambda found: found[1] or "", " ".join(lines)).split())
    if len(text) <= MAX_PARAGRAPH:
        return text
    return text[:MAX_PARAGRAPH].rsplit(" ", 1)[0] + "…"


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
    within: str = ""
    """Begins their names in messages: `parameters[2].`"""

    def where(self, name: str) -> At:
        return self.at.on(self.lines.get(name))

    def called(self, name: str) -> str:
        return self.within + shown(self.spelt.get(name, name))

    def invalid(self, name: str, message: str, hint: str) -> None:
        self.findings.error("invalid-field", f"`{self.called(name)}` {message}.", hint, self.where(name))

    def missing(self, name: str, hint: str) -> None:
        self.findings.error("missing-field", f"There is no `{self.called(name)}`.", hint, self.at)

    def absent(self, name: str) -> bool:
        value = self.values.get(name)
        return value is None or value == ""

    def text(self, name: str, most: int, *, lines: bool = False) -> str | None:
        """A text without white space around it. `lines`: whether it may have several."""
        value = self.values.get(name)
        return None if value is None else self._text(name, value, most, lines, "Write a text.")

    def _text(self, name: str, value: Any, most: int, lines: bool, hint: str) -> str | None:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.invalid(name, "is not text", hint)
            return None
        text = str(value).strip() if not lines else str(value)
        if _CONTROL.search(text):
            self.invalid(name, "contains a control character or a lone surrogate", "Remove it.")
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
            from commonplace.repository.slugs import slug

            proposal = f": `{proposed}`" if (proposed := slug(text)) else ""
            self.invalid(name, "is not a slug", f"Write small letters, digits and hyphens{proposal}.")
            return None
        return text or None

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.invalid(name, "is neither true nor false", "Write true or false, without quotes.")
        return False

    def one_of(self, name: str, valid: Sequence[T], fold: Callable[[str], str] = str) -> T | None:
        """One of these texts. `fold`: what makes of a text the one that is meant."""
        text = self.text(name, 100)
        if not text:
            return None
        found = next((one for one in valid if one == fold(text)), None)
        if found is None:
            self.invalid(name, "is not a known value", f"Write one of {', '.join(map(str, valid))}.")
        return found

    def texts(self, name: str, most: int, most_each: int) -> list[str]:
        """A list of texts, each once, in order. One text stands for a list of it."""
        value = self.values.get(name)
        if value is None:
            return []
        given = value if isinstance(value, list) else [value]
        if not self._few(name, given, most):
            return []
        found = [self._text(name, one, most_each, False, "Write a list of texts.") for one in given]
        return list(dict.fromkeys(one for one in found if one))

    def mappings(self, name: str, most: int, hint: str, *, text: str | None = None) -> list["Fields"]:
        """A list of mappings. `text`: the field for which a bare text stands."""
        given = self.values.get(name)
        found: list[Fields] = []
        if given is None:
            return found
        if not isinstance(given, list):
            self.invalid(name, "is not a list", hint)
            return found
        for index, member in enumerate(given if self._few(name, given, most) else ()):
            value = {text: member} if text and isinstance(member, str) else member
            if isinstance(value, dict):
                within = f"{name}[{index}]."
                found.append(fields_of(value, (), Parsed(value), self.where(name), self.findings, within=within))
            else:
                self.invalid(f"{name}[{index}]", "is not a mapping of fields", hint)
        return found

    def _few(self, name: str, given: Sized, most: int) -> bool:
        if len(given) > most:
            self.invalid(name, f"has {len(given):,} members", f"At most {most:,} are allowed.")
        return len(given) <= most


def fields_of(
    given: Mapping[str, Any], place: Place, parsed: Parsed, at: At, findings: Findings, *, within: str = ""
) -> Fields:
    """A mapping as it is written at a place of a file, under names in snake_case.

    A number is the text that was written, so that a version `1.10` stays one. A field that is there in two spellings is
    reported.
    """
    values: dict[str, Any] = {}
    spelt: dict[str, str] = {}
    lines: dict[str, int] = {}
    for key, value in given.items():
        name, here = snake(key), (*place, key)
        if name in values:
            message = f"`{shown(key)}` and `{shown(spelt[name])}` are the same field."
            findings.error("invalid-field", message, "Keep one of them.", at.on(parsed.lines.get(here)))
        values[name] = value if isinstance(value, bool) else parsed.authored.get(here, value)
        spelt[name] = key
        if (line := parsed.lines.get(here)) is not None:
            lines[name] = line
    return Fields(values, spelt, lines, at, findings, within)
