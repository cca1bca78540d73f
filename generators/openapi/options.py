"""What an item of `generate:` may say of an API document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from commonplace.kernel.errors import InvalidInput

NAMES = ("category", "subcategory", "module", "id_prefix", "base_path", "server", "tags", "keywords")

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}\Z")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}\Z|\Z")
_PATH = re.compile(r"(?:/[^/\s?#]{1,100}){0,20}/?\Z")


@dataclass(frozen=True, slots=True)
class Options:
    category: str | None = None
    """Of every entry; the tag is the subcategory then. None: the tag is the category."""
    subcategory: str | None = None
    module: str | None = None
    id_prefix: str = "api"
    base_path: str | None = None
    """Stands before every path; None for that of the server."""
    server: str | None = None
    """URL that calls go to, instead of the document's first."""
    tags: frozenset[str] = frozenset()
    """Only operations with one of these, if there are any."""
    keywords: tuple[str, ...] = ()


def options_of(given: Mapping[str, Any]) -> Options:
    """Raises InvalidInput, naming what would be valid."""
    spelt = {name.replace("-", "_"): value for name, value in given.items()}
    if unknown := sorted(spelt.keys() - set(NAMES)):
        raise InvalidInput(f"There is no option `{unknown[0][:60]}`.", hint=f"Known are: {', '.join(NAMES)}.")
    return Options(
        category=_text(spelt, "category", _SLUG, "small letters, digits and hyphens"),
        subcategory=_text(spelt, "subcategory", _SLUG, "small letters, digits and hyphens"),
        module=_text(spelt, "module", _SLUG, "small letters, digits and hyphens"),
        id_prefix=_or(_text(spelt, "id_prefix", _PREFIX, "small letters, digits, `.`, `_` and hyphens"), "api"),
        base_path=_base_path(spelt),
        server=_server(spelt),
        tags=frozenset(_texts(spelt, "tags")),
        keywords=tuple(_texts(spelt, "keywords")),
    )


def _or(value: str | None, default: str) -> str:
    return default if value is None else value


def _text(given: Mapping[str, Any], name: str, valid: re.Pattern[str], hint: str) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not valid.match(value):
        raise InvalidInput(f"The option `{name}` is not valid.", hint=f"Write {hint}.")
    return value


def _base_path(given: Mapping[str, Any]) -> str | None:
    found = _text(given, "base_path", _PATH, "a path such as /api/v1, or an empty text for none")
    return None if found is None else found.rstrip("/")


def _server(given: Mapping[str, Any]) -> str | None:
    value = given.get("server")
    if value is None:
        return None
    try:
        parts = urlsplit(value) if isinstance(value, str) and len(value) <= 500 else None
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise InvalidInput("The option `server` is not valid.", hint="Write a URL such as https://api.example.com.")
    return str(value)


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name)
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    if (value is not None and not found) or not all(isinstance(one, str) and 0 < len(one) <= 100 for one in found):
        raise InvalidInput(f"The option `{name}` is not valid.", hint="Write a list of texts.")
    return found[:50]
