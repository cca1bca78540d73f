"""The public keys that clients sign with: in their registration, or at an address that is read now and then."""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from commonplace.identity.oauth.client_metadata import BadMetadata, public_keys
from commonplace.identity.records import Client
from commonplace.kernel.fetch import Fetcher, FetchFailed, LimitedFetcher
from commonplace.kernel.limits import Limiter

MAX_KEYS_BYTES = 64 * 1024
MAX_PUBLISHED_KEYS = 100
FETCH_SECONDS = 5.0
MEDIA_TYPES = frozenset({"application/json", "application/jwk-set+json"})

KEPT_SECONDS = 300
PAUSE_SECONDS = 30
"""Between two requests for the same keys, however many assertions name a key that is not there."""

MAX_ADDRESSES = 500
"""Whose keys one process keeps; beyond it those not asked for for longest are forgotten."""

Key = Mapping[str, Any]


class KeysUnavailable(Exception):
    """The client's keys cannot be had. `reason` is for the log: a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class _Kept:
    tried_at: float
    """When they were last asked for."""
    read_at: float = float("-inf")
    keys: Sequence[Key] = field(default=())


class ClientKeys:
    """Finds a client's keys by their name."""

    def __init__(self, fetcher: Fetcher, limiter: Limiter, clock: Callable[[], float]) -> None:
        self._fetcher = LimitedFetcher(fetcher, limiter)
        self._clock = clock
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def named(self, client: Client, kid: str) -> list[Key]:
        """The keys of that name, as a rule one or none. Raises KeysUnavailable, RateLimited."""
        if (client.jwks is None) == (client.jwks_uri is None):
            raise KeysUnavailable("keys_missing")
        if client.jwks_uri is None:
            return _named((client.jwks or {}).get("keys", ()), kid)
        return self._published(client.jwks_uri, kid)

    def _published(self, uri: str, kid: str) -> list[Key]:
        """Read again when they are five minutes old, or when the key is not among them, but not all the time."""
        now = self._clock()
        with self._lock:
            kept = self._kept.get(uri, _Kept(tried_at=float("-inf")))
            fresh = now - kept.read_at < KEPT_SECONDS
            found = _named(kept.keys, kid) if fresh else []
            if found:
                self._kept.move_to_end(uri)
                return found
            if now - kept.tried_at < PAUSE_SECONDS:
                if fresh:
                    return []
                raise KeysUnavailable("keys_failed_lately")
            self._keep(uri, _Kept(now, kept.read_at, kept.keys))
        keys = self._read(uri)
        with self._lock:
            self._keep(uri, _Kept(now, now, keys))
        return _named(keys, kid)

    def _keep(self, uri: str, kept: _Kept) -> None:
        self._kept[uri] = kept
        self._kept.move_to_end(uri)
        if len(self._kept) > MAX_ADDRESSES:
            self._kept.popitem(last=False)

    def _read(self, uri: str) -> Sequence[Key]:
        try:
            body = self._fetcher.get(uri, max_bytes=MAX_KEYS_BYTES, seconds=FETCH_SECONDS, media_types=MEDIA_TYPES).body
            return public_keys(json.loads(body), most=MAX_PUBLISHED_KEYS)
        except FetchFailed as error:
            raise KeysUnavailable(error.reason) from error
        except (BadMetadata, ValueError, RecursionError) as error:
            raise KeysUnavailable("keys_not_valid") from error


def _named(keys: Sequence[Key], kid: str) -> list[Key]:
    return [key for key in keys if key.get("kid") == kid]
