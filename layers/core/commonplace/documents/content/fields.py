"""Coercion of one frontmatter value to what its field means, with a report of what was wrong with it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date as Date
from typing import Any
from urllib.parse import unquote, urlsplit

from commonplace.documents.content.ontology import FieldSpec
from commonplace.repository.headings import unlinked
from commonplace.repository.problems import Problem

Coerced = tuple[Any, Problem | None]


_DATE = re.compile(
    r"(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d\d)(\d\d))"
    r"(?:Z|[+-]\d\d:\d\d|(?:T|,?[ \t]+|(?<=\d{8}))"
    r"(?:[01]?\d|2[0-4]):?[0-5]\d(?::?(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:[ \t]*[AP]\.?M\.?)?"
    r"(?:[ \t]*(?:Z|\(?UTC\)?|MSK|\(?[A-Z]{1,3}T\)?|[A-Z]\w+/[\w/+-]+))?"
    r"(?:[ \t]*[+-]\d{1,2}(?::?\d{2})?(?:[ \t]+\(?[A-Z]{1,5}\)?)?)?(?:\[[\w/+-]+\])?)?\Z",
    re.ASCII | re.IGNORECASE,
)
"""Year, month and day in this order, and the time of day with its zone, as ISO 8601, Jekyll, JavaScript and editors
write it. Orders that begin with the day or the month are ambiguous."""


_TAG = re.compile(r"[^\W_]+(?:[-/_.][^\W_]+)*\Z")


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+\Z")


_WIKI_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]+)?\]\]\Z")


_COORDINATES = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*\Z")


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


MAX_URL_LENGTH = 2048


def coerce(spec: FieldSpec, value: Any, authored: Any = None) -> Coerced:
    """The usable value (None: there is none) and the deviation, if any.

    `authored` is the value with its numbers and booleans as they were written, for fields that mean text.
    """
    usable, problem = _coerce(spec, value, authored)
    # Below, messages are predicates: "is not a list".
    return usable, problem and replace(problem, message=f"`{spec.name}` {problem.message}", field=spec.name)


def _coerce(spec: FieldSpec, value: Any, authored: str | None) -> Coerced:
    if authored is not None and spec.kind not in ("number", "flag", "coordinates"):
        value = authored
    usable, problem = _COERCIONS[spec.kind](value)
    if spec.enum and isinstance(usable, str) and problem is None:
        return _one_of(spec, usable)
    return usable, problem


def plain_text(text: str) -> str:
    """One line: runs of white space and control characters become a space."""
    return " ".join(_CONTROL.sub(" ", text).split())


def _shape(wanted: str, hint: str | None = None) -> Problem:
    return Problem("wrong-shape", f"is not {wanted}", hint)


def _text(value: Any) -> Coerced:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return value.strip() or None, None
    return ", ".join(_texts(value)) or None, _shape("a single text", "put quotes around it")


def _line(value: Any) -> Coerced:
    text, problem = _text(value)
    return plain_text(text or "") or None, problem


def _slug(value: Any) -> Coerced:
    text, problem = _line(value)
    return text and unlinked(text), problem


def embedded(text: str) -> str:
    """What the value of an embed names: `![[file.png|300]]`, a path, or a web address."""
    found = _WIKI_LINK.match(text.removeprefix("!"))
    if found:
        return found[1].partition("#")[0].strip()
    return text if _is_web_address(text) else unquote(text)


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, nested lists opened, nulls, blanks and mappings left out."""
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, str | int | float) and str(value).strip():
        yield str(value).strip()


def _list(value: Any) -> Coerced:
    """A list of texts; one text is a list of one."""
    texts = list(dict.fromkeys(_texts(value)))
    if isinstance(value, dict):
        return None, _shape("a list", "write it as a list: `- value` on a line of its own, or `[value]`")
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, dict | list) for item in items):
        return texts, _shape("a list of texts", "put quotes around the items")
    if any(item is None or (isinstance(item, str) and not item.strip()) for item in items):
        return texts, Problem("null-field", "has an empty item", "fill it in or remove it")
    return texts, None


def _terms(value: Any) -> Coerced:
    """Names of things, as a list or between commas. Obsidian writes aliases that stand for tags with a `#`; the name is
    what follows."""
    texts, problem = _list(_split(value, ",") if isinstance(value, str) else value)
    terms = dict.fromkeys(term for text in texts or () if (term := plain_text(unlinked(text)).lstrip("#").strip()))
    return list(terms), problem


def _tags(value: Any) -> Coerced:
    """A list, or words between commas or, where there is none, white space, as in Obsidian and Jekyll."""
    if isinstance(value, str):
        value = _split(value, r",|\s+(?=#)" if "," in value else r"\s+")
    texts, problem = _list(value)
    tags = list(dict.fromkeys(tag for text in texts or () if (tag := tag_of(text))))
    if problem is None and (texts != tags or not all(map(_TAG.match, tags))):
        message = "holds a word that is not lower-case letters, digits and hyphens"
        problem = Problem("odd-tag", message, "write tags like `shared-ownership`")
    return tags, problem


def _split(text: str, separator: str) -> list[str]:
    return [part for part in re.split(separator, text) if part.strip()]


def tag_of(text: str) -> str:
    """Return the tag as documents bear it; empty for what is none."""
    words = "-".join(plain_text(text).lstrip("#").casefold().split())
    return "/".join(filter(None, words.split("/")))


def _date(value: Any) -> Coerced:
    """The day as its author wrote it, wherever in the world that was."""
    found = _DATE.match(unlinked(value.strip())) if isinstance(value, str) else None
    if found:
        try:
            return Date(int(found[1]), int(found[3] or found[5]), int(found[4] or found[6])).isoformat(), None
        except ValueError:
            pass
    return None, Problem("bad-date", "is not a date of the calendar", "write it as YYYY-MM-DD")


def _url(value: Any) -> Coerced:
    text = value.strip() if isinstance(value, str) else ""
    text = text.removeprefix("<").removesuffix(">")
    if _is_web_address(text):
        return text, None
    return None, Problem("bad-url", "is not a web address", "write it whole, with https:// or http://")


def _is_web_address(text: str) -> bool:
    if len(text) > MAX_URL_LENGTH or any(char.isspace() or not char.isprintable() for char in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _email(value: Any) -> Coerced:
    text = value.strip().removeprefix("mailto:") if isinstance(value, str) else ""
    return (text, None) if _EMAIL.match(text) else (None, _shape("an email address"))


def _number(value: Any) -> Coerced:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, None
    return None, _shape("a number")


def _flag(value: Any) -> Coerced:
    return (value, None) if isinstance(value, bool) else (None, _shape("true or false"))


def _coordinates(value: Any) -> Coerced:
    latitude, longitude = _pair(value)
    if not (_degrees(latitude, 90) and _degrees(longitude, 180)):
        return None, _shape("a pair of degrees", "write `coordinates: {lat: 52.52, lng: 13.4}`")
    problem = None if isinstance(value, dict) and {"lat", "lng"} <= value.keys() else _shape("`{lat, lng}`")
    return {"lat": latitude, "lng": longitude}, problem


def _pair(value: Any) -> tuple[Any, Any]:
    if isinstance(value, dict):
        return value.get("lat", value.get("latitude")), value.get("lng", value.get("lon", value.get("longitude")))
    if isinstance(value, list) and len(value) == 2:
        return value[0], value[1]
    found = _COORDINATES.match(value) if isinstance(value, str) else None
    return (float(found[1]), float(found[2])) if found else (None, None)


def _degrees(value: Any, limit: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -limit <= value <= limit


def _one_of(spec: FieldSpec, text: str) -> Coerced:
    word = text.casefold()
    if word in spec.enum:
        return word, None
    return text, Problem("unknown-value", "is not one of the known values", f"use {', '.join(spec.enum)}")


_COERCIONS: dict[str, Callable[[Any], Coerced]] = {
    "line": _line,
    "text": _text,
    "slug": _slug,
    "list": _list,
    "tags": _tags,
    "terms": _terms,
    "date": _date,
    "url": _url,
    "email": _email,
    "number": _number,
    "flag": _flag,
    "embed": _line,
    "coordinates": _coordinates,
}
