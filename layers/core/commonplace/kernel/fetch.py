"""The port to documents at URLs of strangers, and which URLs may be fetched at all.

A URL that comes from outside could point at anything that this machine reaches. It is judged as text before anything
is looked up; the implementation judges the addresses behind the name (`kernel.guarded_http`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from commonplace.kernel.errors import Reasoned
from commonplace.kernel.limits import Limiter, Quota

MAX_URL_CHARACTERS = 2_048

JSON_TYPES = frozenset({"application/json"})

PER_HOST = Quota("fetches-host", 60)
"""Requests to one host in a minute, whoever they are for."""

_PUBLIC = re.compile(
    r"https://(?P<host>(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9])/[!-~]*"
)
_LOOPBACK = re.compile(r"http://(?:localhost|127\.0\.0\.1)(?::[0-9]{1,5})?/[!-~]*")


class FetchFailed(Reasoned):
    """Nothing usable came. `reason` is a stable code for the log, without anything of the answer."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body within its bounds."""

    body: bytes
    cache_control: str = ""


class Fetcher(Protocol):
    """Reads public documents of the Web."""

    def get(self, url: str, *, max_bytes: int, seconds: float, media_types: Collection[str] = JSON_TYPES) -> Fetched:
        """The body of a 200 answer; `+json` types count as `application/json`. `seconds` is for all of it.

        Follows no redirect, sends no credential, and speaks to public addresses alone. Raises FetchFailed.
        """
        ...


def fetchable(url: str, *, loopback: bool = False) -> bool:
    """Return whether this is an https URL of a name and a path on the usual port, with nothing in it that two readers
    could take for two things: no user, fragment, backslash, dot segment or bare address. `loopback` also lets through
    `http://` URLs of this machine, for development."""
    if len(url) > MAX_URL_CHARACTERS or "\\" in url or "#" in url:
        return False
    if not _PUBLIC.fullmatch(url) and not (loopback and _LOOPBACK.fullmatch(url)):
        return False
    segments = urlsplit(url).path.lower().replace("%2e", ".").split("/")
    return not {".", ".."} & set(segments)


def host_of(url: str) -> str:
    """The host and port of a fetchable URL."""
    return url.split("/")[2]


class LimitedFetcher:
    """Limits how often any host is called on behalf of strangers."""

    def __init__(self, fetcher: Fetcher, limiter: Limiter) -> None:
        self._fetcher = fetcher
        self._limiter = limiter

    def get(self, url: str, *, max_bytes: int, seconds: float, media_types: Collection[str] = JSON_TYPES) -> Fetched:
        """Fetch as `Fetcher.get` does; raises RateLimited besides."""
        message = "Too much was asked of the application's server. Try again in a minute."
        self._limiter.spend(PER_HOST, host_of(url), message)
        return self._fetcher.get(url, max_bytes=max_bytes, seconds=seconds, media_types=media_types)
