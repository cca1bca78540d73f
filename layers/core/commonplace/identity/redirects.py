"""Redirect URIs: which may be registered, and which one a request may name (RFC 6749, 8252 and 9700).

A URI is compared as a string. The one exception is an application on the person's own computer, which listens on
whatever port is free: of `http://` loopback URIs the port does not count (RFC 8252, section 7.3).
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal
from urllib.parse import unquote_plus, urlsplit

Judgement = Literal["allowed", "odd", "refused"]
"""`odd` is harmless but of a scheme that we never send anybody to: a registration does without it."""

MAX_CHARACTERS = 2_000

APP_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders"})
"""Schemes of well-known applications that are no reversed domain name."""

ANSWER_PARAMETERS = frozenset({"code", "state", "iss", "error", "error_description", "error_uri", "response"})
"""What we add to a redirect URI, or could (RFC 6749, 9207, JARM): with one of its own a client reads the wrong one."""

_DANGEROUS = re.compile(
    # Of browsers: they run code, read files, or show pages of the browser itself.
    r"about|blob|content|data|file|filesystem|ftp|jar|javascript|mhtml|resource|res|vbscript|view-source|wss?|"
    r"(chrome|edge|brave|opera|moz)(-.*)?|"
    # Of operating systems: settings, stores, searches, shortcuts, scripts, calls and messages.
    r"(x-apple|x-help|x-man|ms|microsoft|windows|apple|android|macappstore|itms|itunes|facetime|prefs|app-prefs|"
    r"app-settings)([-.].*)?|applescript|help|shell|search-ms|search|shortcuts|workflow|intent|market|steam|maps|"
    r"mailto|sms|mms|tel|telprompt|callto|sips?|ssh|smb|rdp|vnc|ldaps?"
)
"""Run code, read files or reach the system or another application: a client that asks for one of these is refused
altogether. No other is redirected to either, unless it is allowed below."""

_TEXT = re.compile(rf"[!-~]{{1,{MAX_CHARACTERS}}}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?=.)")
_REVERSED_DOMAIN = re.compile(
    r"(?!(com|org|net)\.(apple|microsoft|windows|android|google\.android|gnome|kde|freedesktop|ubuntu)(\.|$))"
    r"([a-z]{2}|com|org|net|edu|gov|int|info|biz|app|dev|page|cloud|tech|tools?|software|systems|network|studio|team|chat|"
    r"xyz|online|site|works|space|social|agency|digital|solutions|services|foundation|community|group|global|run|codes?)"
    r"(\.[a-z0-9-]+)+"
)
"""A domain name in reverse order, which begins with a top-level domain (RFC 8252, section 7.1): of a country, or
one that applications use. Domains of makers of operating systems are left out: their links open parts of the system."""
_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]{0,4000}")
_LOOPBACK = re.compile(
    r"http://(?P<host>localhost|127\.0\.0\.1|\[::1\])(?P<port>:[0-9]{1,5})?(?P<rest>|[/?].*)", re.IGNORECASE
)
_HTTPS = re.compile(r"https://([A-Z0-9_.-]*[A-Z0-9]|\[[0-9A-F:.]+\])(?P<port>:[0-9]{1,5})?(?:[/?].*)?", re.IGNORECASE)
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")
"""A host that browsers take for an IPv4 address (URL Standard, section 3.5)."""


def judge(uri: str) -> Judgement:
    """Return what to do with a URI that a client wants to register."""
    if not _TEXT.fullmatch(uri) or "\\" in uri or "#" in uri or answers_itself(uri):
        return "refused"
    found = _SCHEME.match(uri)
    scheme = found[1].lower() if found else ""
    if scheme in ("", "http") or _DANGEROUS.fullmatch(scheme):
        return "allowed" if _loopback(uri) else "refused"
    if scheme == "https":
        return "allowed" if _https(uri) else "refused"
    if "@" in uri.partition(":")[2].partition("?")[0]:
        return "refused"
    return "allowed" if scheme in APP_SCHEMES or _REVERSED_DOMAIN.fullmatch(scheme) else "odd"


def answers_itself(uri: str) -> bool:
    """Return whether its query has a parameter that only our answer may have, in whatever spelling."""
    names = (part.partition("=")[0] for part in re.split("[&;]", uri.partition("?")[2]))
    return not ANSWER_PARAMETERS.isdisjoint(unquote_plus(name) for name in names)


def redirect_allowed(uri: str) -> bool:
    """Return whether anybody may be sent there at all; checked at registration and again at every use."""
    return judge(uri) == "allowed"


def redirect_matches(registered: Iterable[str], uri: str) -> bool:
    """Return whether a request of a client with these registered URIs may name this one."""
    if not redirect_allowed(uri):
        return False
    known = tuple(registered)
    place = _loopback(uri)
    return uri in known or (place is not None and any(place == _loopback(one) for one in known))


def is_loopback_redirect(uri: str) -> bool:
    """Return whether it leads to a program on the person's own computer, by http or https: nobody can check which one.

    That is every name of RFC 6761, section 6.3, and every address that stays on the machine.
    """
    try:
        parts = urlsplit(uri)
        host = (parts.hostname or "").removesuffix(".")
    except ValueError:
        return False
    if parts.scheme not in ("http", "https"):
        return False
    return host == "localhost" or host.endswith(".localhost") or _stays_here(host)


def is_own_path(text: str) -> bool:
    """Return whether it is a path of this site, with or without a query: where a browser may be sent after a sign-in.

    Two slashes, or a backslash in place of one, would name another host (WHATWG URL).
    """
    return _OWN_PATH.fullmatch(text) is not None


def redirect_host(uri: str) -> str:
    """What a person should see of where a code goes: `claude.ai`, `localhost`, or `cursor://` for an application."""
    parts = urlsplit(uri)
    return str(parts.hostname) if parts.scheme in ("http", "https") else f"{parts.scheme}://"


def _loopback(uri: str) -> tuple[str, str] | None:
    """Host and everything after the port, if it is a loopback URI."""
    found = _LOOPBACK.fullmatch(uri)
    return (found["host"].lower(), found["rest"]) if found and _port_fits(found["port"]) else None


def _https(uri: str) -> bool:
    found = _HTTPS.fullmatch(uri)
    if found is None or not _port_fits(found["port"]):
        return False
    try:
        host = urlsplit(uri).hostname or ""
    except ValueError:
        return False
    return bool(host) and (_address(host) is not None or not _NUMBER.fullmatch(host))


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _stays_here(host: str) -> bool:
    address = _address(host)
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return address is not None and (address.is_loopback or address.is_unspecified)


def _port_fits(port: str | None) -> bool:
    return port is None or 0 < int(port[1:]) <= 65_535
