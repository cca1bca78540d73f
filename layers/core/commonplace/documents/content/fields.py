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


_ISO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z")


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+\Z")


_TAG = re.compile(r"[a-z0-9]+(?:[-/_][a-z0-9]+)*\Z")


_WIKI_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]+)?\]\]\Z")


_COORDINATES = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*\Z")


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


MAX_URL_LENGTH = 2048


def coerce(spec: FieldSpec, value: Any, authored: str | None = None) -> Coerced:
    """The usable value (None: there is none) and the deviation, if any.

    `authored` is the text of a number or boolean as written, for fields that mean text.
    """
    usable, problem = _coerce(spec, value, authored)
    # Below, messages are predicates: "is not a list".
    return usable, problem and replace(problem, message=f"`{spec.name}` {problem.message}", field=spec.name)


def _coerce(spec: FieldSpec, value: Any, authored: str | None) -> Coerced:
    if authored is not None and spec.kind not in ("number", "flag", "coordinates"):
        usable, problem = _coerce(spec, authored, None)
        return usable, problem or _shape("a text", "put quotes around it")
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
    if isinstance(value, str):
        return value.strip() or None, None if value.strip() else _shape("text", "fill it in or take the line out")
    texts = list(_texts(value))
    return ", ".join(texts) or None, _shape("a single text", "put quotes around it")


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
    texts = list(dict.fromkeys(_texts(value)))
    if not isinstance(value, list):
        return texts or None, _shape("a list", "write it as a list: `- value` on a line of its own, or `[value]`")
    if not all(isinstance(item, str) and item.strip() for item in value):
        return texts, _shape("a list of texts", "put quotes around the items, and take empty ones out")
    return texts, None


def _names(value: Any) -> Coerced:
    """A list, or one name as it is (seed 000, section 3.6: `curator`, `harvester`)."""
    return ([value.strip()], None) if isinstance(value, str) and value.strip() else _list(value)


def _terms(value: Any) -> Coerced:
    """Names of things. Obsidian writes aliases that stand for tags with a `#`; the name is what follows."""
    texts, problem = _list(value)
    terms = dict.fromkeys(term for text in texts or () if (term := plain_text(unlinked(text)).lstrip("#").strip()))
    return list(terms), problem


def _tags(value: Any) -> Coerced:
    authored = value.split(",") if isinstance(value, str) else value
    _, problem = _list(authored)
    texts = list(_texts(authored))
    if isinstance(value, str):
        problem = _shape("a list", "write tags as a list: `[one, two]`")
    elif problem is None and not all(_TAG.match(text) for text in texts):
        problem = Problem(
            "odd-tag",
            "holds a word that is not lower-case letters, digits and hyphens",
            "write tags like `shared-ownership`",
        )
    return list(dict.fromkeys(tag for text in texts if (tag := tag_of(text)))), problem


def tag_of(text: str) -> str:
    """Return the tag as documents bear it; empty for what is none."""
    words = "-".join(plain_text(text).lstrip("#").casefold().split())
    return "/".join(filter(None, words.split("/")))


def _date(value: Any) -> Coerced:
    found = _ISO_DATE.match(value.strip()) if isinstance(value, str) else None
    if found:
        try:
            return Date.fromisoformat(found[1]).isoformat(), None
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
    "names": _names,
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
