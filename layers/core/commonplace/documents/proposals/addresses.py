"""Web addresses that are handed in, checked before they stand in a file that others will click in."""

import re
from urllib.parse import urlsplit

from commonplace.documents.content.fields import MAX_URL_LENGTH
from commonplace.kernel.errors import InvalidInput

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NEVER_IN_AN_ADDRESS = re.compile(r'[\s<>"\\^`{|}]')
"""White space, and what RFC 3986 keeps out of addresses because it delimits them in text."""
_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9a-f:.]+\])\Z")


def web_address(text: str) -> str:
    """The address with scheme and host in lower case and no needless port; the rest as it was given.

    Raises InvalidInput unless it is http or https, has a host, has no user name or password, and is at most 2,048
    characters long. Nothing is looked up or fetched.
    """
    address = text.strip()
    if len(address) > MAX_URL_LENGTH:
        raise _refused(f"is longer than {MAX_URL_LENGTH} characters")
    if not address.isprintable() or _NEVER_IN_AN_ADDRESS.search(address):
        raise _refused("holds characters that an address cannot have")
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise _refused("cannot be read") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise _refused("must begin with https:// or http://")
    if "@" in parts.netloc:
        raise _refused("holds a user name or a password")
    shown = f"[{host}]" if ":" in host else host
    if not _HOST.match(shown):
        raise _refused("has no host")
    rest = address[len(parts.scheme) + len("://") + len(parts.netloc) :]
    needless = port is None or port == _DEFAULT_PORTS[parts.scheme]
    return f"{parts.scheme}://{shown}{'' if needless else f':{port}'}{rest}"


def _refused(what: str) -> InvalidInput:
    return InvalidInput(
        f"`url` {what}.", hint="Give the whole address of a page, such as https://example.org/handbook."
    )
