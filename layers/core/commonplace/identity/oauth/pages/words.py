"""Text of others made fit to be shown, and times in words. Escaping is the templates'."""

import time
import unicodedata
from typing import Literal
from urllib.parse import urlsplit

from commonplace.identity.redirects import is_loopback_redirect

Destination = Literal["site", "loopback", "app"]
"""Where a browser is sent: a web site, a program that listens on this computer, or whatever opens a link of its own."""

MAX_CHARACTERS = 80


def plain(text: object, limit: int = MAX_CHARACTERS) -> str:
    """One line of visible characters, cut. What reorders or hides text (category C of Unicode) is left out."""
    raw = str(text)[: limit * 8]
    spaced = "".join(" " if one.isspace() else one for one in raw)
    seen = "".join(one for one in spaced if not unicodedata.category(one).startswith("C"))
    line = " ".join(_few_marks(seen).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _few_marks(text: str) -> str:
    """Without piles of combining marks, which would paint over the lines around."""
    kept: list[str] = []
    marks = 0
    for one in text:
        marks = marks + 1 if unicodedata.combining(one) else 0
        if marks <= 2:
            kept.append(one)
    return "".join(kept)


def destination(redirect_uri: str) -> tuple[Destination, str]:
    """What kind of place a redirect URI is, and how to name it: a host, or the scheme of an app's links."""
    parts = urlsplit(redirect_uri)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https"):
        return "app", f"{parts.scheme}:"
    if is_loopback_redirect(redirect_uri):
        return "loopback", host
    return "site", parts.netloc.lower()


def day(seconds: float) -> str:
    """`6 March 2027`, in UTC."""
    told = time.gmtime(seconds)
    return f"{told.tm_mday} {_MONTHS[told.tm_mon - 1]} {told.tm_year}"


def moment(seconds: float) -> str:
    """`6 March 2027, 14:05 UTC`."""
    return f"{day(seconds)}, {time.strftime('%H:%M', time.gmtime(seconds))} UTC"


def stamp(seconds: float) -> str:
    """As the `datetime` of a `time` element."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def span(seconds: int) -> str:
    """`1 hour`, `30 days`."""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            return _counted(seconds // size, name)
    return _counted(seconds, "second")


def listed(words: list[str]) -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
