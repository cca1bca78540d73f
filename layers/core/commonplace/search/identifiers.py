"""Exact names in a text: ids of stories and issues, files and paths, codes of errors. Pure.

They are compared whole and in lower case: no analyser takes `STORY-003` or `src/auth/token.py` apart.
"""

import re
from collections.abc import Iterator

MOST_ASKED = 8
"""Of a query."""
MOST_KEPT = 200
"""Of a record."""
MOST_CHARACTERS = 200

_TOKEN = re.compile(r"(?<![\w#])(?:#|\.{0,2}[/\\]|\.)?\w(?:[\w.\-‐‑/\\]*\w)?")
_SPACED = re.compile(r"\b(story|issue|ticket|epic|bug|adr|rfc)[ #_]{1,2}(\d{1,6})\b", re.IGNORECASE)
_NUMBERED = re.compile(r"#\d+|[a-z]+(?:[-_][a-z0-9]+)*[-_]\d+(?:[.-]\d+)*", re.IGNORECASE)
_CODE = re.compile(
    r"[A-Z]{1,6}\d{2,6}|E[A-Z]{4,}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # TS2345, ECONNREFUSED, SQLITE_BUSY
    r"|(?:[A-Z]+[a-z0-9]+)+(?:Error|Exception|Warning|Failure|Fault)|(?:[A-Z]+[a-z0-9]+){3,}"  # KeyError
    r"|[a-z]\w*_\w+"  # rate_limited
)
_FILE = re.compile(r"\.?[\w-]*\w\.[a-z][a-z0-9]{0,9}|\.[a-z][\w-]+|(?:make|docker|gem|rake|proc)file", re.IGNORECASE)
_ABBREVIATION = re.compile(r"(?:\w\.)+\w", re.ASCII)


def identifiers(text: str, most: int = MOST_KEPT) -> tuple[str, ...]:
    """The names in a text, each once, in order; at most so many. `Story 006` is `story-006`."""
    found = dict.fromkeys((f"{kind}-{number}".lower() for kind, number in _SPACED.findall(text)))
    for match in _TOKEN.finditer(text):
        token = match.group()
        if len(token) <= MOST_CHARACTERS and _is_name(token):
            found[plain(token)] = None
        if len(found) >= most:
            break
    return tuple(found)[:most]


def asked(text: str) -> tuple[str, ...]:
    """The names in a query, whatever its case: where all is upper case, that says nothing, unless all are names."""
    upper = identifiers(text.upper(), MOST_ASKED)
    if len(upper) == len(text.split()):
        return upper
    return identifiers(text.lower() if text == text.upper() else text, MOST_ASKED)


def kept(story: str | None, file: str | None, text: str) -> tuple[str, ...]:
    """The names by which a record of this source and text is found; of a path each end of it, `token.py` as well."""
    wholes = [plain(one) for one in (story, file) if one]
    every = [*wholes, *identifiers(story or ""), *identifiers(text)]
    return tuple(dict.fromkeys(end for name in every for end in _ends(name)))[: 2 * MOST_KEPT]


def plain(name: str) -> str:
    """A name as it is compared."""
    return name.lower().replace("\\", "/").replace("‐", "-").replace("‑", "-").removeprefix("./").strip("/")


def _is_name(token: str) -> bool:
    *folders, last = re.split(r"[/\\]", token)
    is_file = _FILE.fullmatch(last) and not _ABBREVIATION.fullmatch(last)
    return bool(is_file if folders else is_file or _NUMBERED.fullmatch(token) or _CODE.fullmatch(token))


def _ends(name: str) -> Iterator[str]:
    yield name
    while "/" in name:
        name = name.partition("/")[2].strip()
        if name:
            yield name
