"""Field readers: one value at a time, reported where invalid, and derived where an entry leaves it out."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from commonplace.reference.model import METHODS, EntryType, Method
from commonplace.reference.source import bounds
from commonplace.reference.source.findings import At, Findings

_ARGUMENT = re.compile(r"[<\[{(\"']|--?[A-Za-z]|\.\.\.|…")
_SYNTAX = re.compile(r"(?im)^[^\w\n]{0,10}(?:syntax|usage)\b[^\n]*\n+(?:```[^\n]*\n)(.+?)\n```", re.DOTALL)
_ENDPOINT = re.compile(rf"({'|'.join(METHODS)})\s+(/\S*)\s*\Z", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_NO_PROSE = re.compile(r"\s{0,3}(?:#|>|[-*+]\s|\d+[.)]\s|\||<|!\[)")
_MARKUP = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|[*`]")

MAX_PARAGRAPH = 300

T = TypeVar("T")

SLUG = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\r\n\u2028\u2029]")


def name_of(syntax: str) -> str:
    """`helios gw users get <email> [--json]` is called `helios gw users get`."""
    words: list[str] = []
    for word in syntax.removeprefix("$ ").split():
        if _ARGUMENT.match(word):
            break
        words.append(word)
    return " ".join(words)


def syntax_in(content: str) -> str | None:
    """The one line of the code under `**Syntax:**`, as in the seed's example."""
    found = _SYNTAX.search(content)
    lines = [line.strip() for line in found[1].splitlines() if line.strip()] if found else []
    return lines[0] if len(lines) == 1 else None


def named_endpoint(text: str) -> tuple[Method, str] | None:
    """`GET /api/v1/users` as a title or a name."""
    found = _ENDPOINT.match(text.strip())
    if not found:
        return None
    method = next(one for one in METHODS if one == found[1].upper())
    return method, found[2]


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


@dataclass(frozen=True, slots=True)
class Called:
    """The written form of a command (name and syntax) or an endpoint (method and path template)."""

    name: str | None = None
    syntax: str | None = None
    method: Method | None = None
    path_template: str | None = None


def called_of(fields: Fields, type: EntryType | None, content: str) -> Called:
    if type == "command":
        return _command(fields, content)
    if type == "api":
        return _endpoint(fields)
    for name in ("name", "syntax", "method", "path_template"):
        if not fields.absent(name):
            hint = "Only commands have name and syntax, only endpoints method and pathTemplate."
            message = f"`{fields.called(name)}` means nothing for this type; it is left out."
            fields.findings.warning("unknown-field", message, hint, fields.where(name))
    return Called()


def _command(fields: Fields, content: str) -> Called:
    name, syntax = fields.text("name", bounds.MAX_NAME), fields.text("syntax", bounds.MAX_NAME)
    syntax = syntax or syntax_in(content)
    name = name or (name_of(syntax) if syntax else None)
    if not name and not (fields.values.get("name") or fields.values.get("syntax")):
        fields.missing("name", "Write what is typed, without arguments: `helios gw users list`.")
    return Called(name=name or None, syntax=syntax or name or None)


def _endpoint(fields: Fields) -> Called:
    said = named_endpoint(str(fields.values.get("name") or "")) or named_endpoint(str(fields.values.get("title") or ""))
    method = fields.one_of("method", METHODS, _method)
    path = fields.text("path_template", bounds.MAX_NAME)
    if fields.absent("method") and said:
        method = said[0]
    if fields.absent("path_template") and said:
        path = said[1]
    if method is None and fields.absent("method"):
        fields.missing("method", f"Write one of {', '.join(METHODS)}.")
    if path is None and fields.absent("path_template"):
        fields.missing("pathTemplate", "Write the path with its parameters in braces: `/api/v1/users/{id}`.")
    if path and (not path.startswith("/") or re.search(r"[\s?#]", path)):
        fields.invalid("path_template", "is no path", "Write `/api/v1/users/{id}`: no host, no query, no spaces.")
    return Called(method=method, path_template=path)


def _method(text: str) -> Method | None:
    return next((one for one in METHODS if one == text.upper()), None)
