"""Errors of a process's environment, and checks of the hosts and URLs it names."""

import re
from typing import Any
from urllib.parse import urlsplit

WEB_URL = "an https:// URL, or an http:// URL of this machine"

PUBLIC = "public"
"""In the place of an organisation: what all of them have published to one another. None may have this name."""

ORGANISATION = rf"(?!{PUBLIC}$)[a-z0-9](?:[a-z0-9-]{{0,62}}[a-z0-9])?"
"""The name of one: it begins every key of its data."""

_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


class SettingsError(ValueError):
    """The environment does not say what the function needs."""


def is_organisation(text: Any) -> bool:
    """Return whether this may name an organisation: the name begins every key of its data."""
    return isinstance(text, str) and re.fullmatch(ORGANISATION, text) is not None


def is_loopback(host: str | None) -> bool:
    """Whether the host is this very machine."""
    return host in _LOOPBACK_HOSTS


def web_url(text: str) -> str | None:
    """Without a slash at its end; None for what is no `WEB_URL`."""
    parts = urlsplit(text)
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    plain = parts.username is None and not parts.query and not parts.fragment
    return text.rstrip("/") if secure and plain and parts.hostname else None


def bare_origin(text: str) -> str | None:
    """As `web_url`, and nothing after host and port."""
    url = web_url(text)
    return url if url and not urlsplit(url).path else None
