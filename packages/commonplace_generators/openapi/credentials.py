"""No credential leaves a document, not even one that stands there as an example."""

import re
from functools import lru_cache
from typing import Any

SHORT = 300
MAX_DEPTH = 12
MAX_VALUES = 300
MAX_TEXT = 2_000
MAX_KEY = 200
"""Of one example."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LAST = frozenset(
    {"password", "passwd", "pwd", "passphrase", "secret", "secrets", "token", "tokens", "apikey", "authorization"}
    | {"cookie", "credential", "credentials", "bearer", "otp", "pin", "signature", "jwt", "pat"}
)
_PAIRS = frozenset(
    {("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("signing", "key"), ("auth", "key")}
    | {("encryption", "key"), ("client", "key"), ("recovery", "code"), ("access", "code"), ("session", "id")}
    | {("license", "key"), ("service", "key"), ("account", "key"), ("subscription", "key"), ("webhook", "key")}
)

_PLACEHOLDER = r"(?![<${\[*]|your|YOUR|xxx|XXX|\.\.\.|…)"
_NAMES = (
    r"(?:[A-Za-z0-9]{1,30}[_-]){0,3}(?:password|passwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key)"
)

_KNOWN = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{10,255}|github_pat_[A-Za-z0-9_]{10,255}|glpat-[A-Za-z0-9_-]{10,100}"
    r"|[sr]k[_-](?:live_|test_|proj-|ant-)?[A-Za-z0-9_-]{12,255}|xox[abeoprs]-[A-Za-z0-9-]{8,255}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,32}|AIza[A-Za-z0-9_-]{20,60}|npm_[A-Za-z0-9]{20,60}|ya29\.[A-Za-z0-9_-]{10,255}"
    r"|SG\.[A-Za-z0-9_-]{10,80}\.[A-Za-z0-9_-]{10,80}|hf_[A-Za-z0-9]{16,60}"
    r"|eyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{0,4000})?)"
)
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.{0,20000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.S
)
_HEADER = re.compile(
    rf"(?i:(authorization[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?:(?:bearer|basic|token|digest|apikey|negotiate)\s+)?))"
    rf"(?!(?i:bearer|basic|token|digest|apikey|negotiate)\s){_PLACEHOLDER}[^\s\"'`,;<>]{{3,4000}}"
)
_SCHEME = re.compile(r"(?i:\b(bearer|basic|token))\s+(?=[A-Za-z0-9._~+/=-]{0,4000}[0-9])[A-Za-z0-9._~+/=-]{8,4000}")
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://)[^\s/@:\"'<>]{1,200}:[^\s/@\"'<>]{1,500}@", re.I)
_IN_QUERY = re.compile(rf"([?&](?i:{_NAMES}|key|sig|signature)=){_PLACEHOLDER}[^\s&\"'<>)`]{{3,2000}}")
_IN_JSON = re.compile(rf"([\"'](?i:{_NAMES})[\"']\s{{0,3}}:\s{{0,3}}[\"']){_PLACEHOLDER}[^\"'\n]{{1,2000}}([\"'])")
_HEADER_KEY = re.compile(rf"((?i:\bx-{_NAMES})[\"']?\s{{0,3}}:\s{{0,3}}[\"']?){_PLACEHOLDER}[^\s\"'`,;<>]{{3,2000}}")
_USER = re.compile(r"((?<!\S)(?:-u|--user)[= ]\s{0,3}[\"']?)(?![<$])[^\s\"':<>]{1,200}:[^\s\"'<>]{0,500}")


@lru_cache(8_192)
def secret(name: str) -> bool:
    """Return whether a field of this name holds a credential: `clientSecret`, `X-API-Key`, `password`."""
    words = [one.lower() for one in _WORD.findall(name[:200])]
    if not words:
        return False
    return words[-1] in _LAST or tuple(words[-2:]) in _PAIRS or "".join(words) in _LAST


def scrubbed(text: str) -> str:
    """The text with what looks like a credential replaced by what it is."""
    return _short(text) if len(text) <= SHORT else _scrubbed(text)


def _scrubbed(text: str) -> str:
    text = _PRIVATE.sub("<private key>", text)
    text = _KNOWN.sub("<credential>", text)
    text = _HEADER.sub(r"\1<credential>", text)
    text = _SCHEME.sub(r"\1 <credential>", text)
    text = _IN_URL.sub(r"\1", text)
    text = _IN_QUERY.sub(r"\1<credential>", text)
    text = _IN_JSON.sub(r"\1<credential>\2", text)
    text = _HEADER_KEY.sub(r"\1<credential>", text)
    return _USER.sub(r"\1<user>:<password>", text)


_short = lru_cache(8_192)(_scrubbed)
"""Names and short sentences come again and again."""


def masked(value: Any, name: str = "") -> Any:
    """An example with its credentials replaced by placeholders. What lies too deep or is too much is left out."""
    return _Masking().of(value, name, 0)


class _Masking:
    def __init__(self) -> None:
        self._left = MAX_VALUES

    def of(self, value: Any, name: str, depth: int) -> Any:
        self._left -= 1
        if isinstance(value, dict):
            inner = sorted(value.items())[: self._room(depth)]
            return {scrubbed(key[:MAX_KEY]): self.of(one, key, depth + 1) for key, one in inner if self._left > 0}
        if isinstance(value, list):
            return [self.of(one, name, depth + 1) for one in value[: self._room(depth)] if self._left > 0]
        if isinstance(value, bool) or value is None:
            return value
        if secret(name) and not (
            isinstance(value, int | float) and name.lower().endswith("tokens")
        ):  # a number of them
            return placeholder(name)
        return scrubbed(value[:MAX_TEXT]) if isinstance(value, str) else value

    def _room(self, depth: int) -> int:
        return max(self._left, 0) if depth < MAX_DEPTH else 0


def placeholder(name: str) -> str:
    """Return what stands for a value: `<user_id>`."""
    told = re.sub(r"[^\w.-]+", "_", name[:60]).strip("_")
    return f"<{told or 'value'}>"
