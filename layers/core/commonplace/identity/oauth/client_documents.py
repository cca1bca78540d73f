"""Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document), and the public keys of clients.

The id is a URL of somebody else's choosing, so it is judged as text before anything is fetched, and fetched by rules
that reach public machines alone. What was fetched is judged before it is kept; a failure is kept for a minute, so that
nobody can make us fetch again and again.
"""

import json
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from threading import Lock
from typing import Any

from commonplace.identity.oauth.client_metadata import (
    BadMetadata,
    application_type_of,
    check_texts,
    keys_of,
    name_of,
    public_keys,
    redirect_uris_of,
    texts_of,
    uri_of,
)
from commonplace.identity.ports import ClientStore
from commonplace.identity.records import AuthMethod, Client
from commonplace.identity.redirects import redirect_allowed
from commonplace.kernel.errors import Reasoned
from commonplace.kernel.fetch import Fetched, Fetcher, FetchFailed, LimitedFetcher, fetchable
from commonplace.kernel.limits import Limiter, Quota

logger = logging.getLogger(__name__)

MAX_KEYS_BYTES = 64 * 1024
MAX_PUBLISHED_KEYS = 100
FETCH_SECONDS = 5.0
KEYS_MEDIA_TYPES = frozenset({"application/json", "application/jwk-set+json"})

KEPT_SECONDS = 300
PAUSE_SECONDS = 30
"""Between two requests for the same keys, however many assertions name a key that is not there."""

MAX_ADDRESSES = 500
"""The clients whose keys one process caches; beyond it the least recently used are forgotten."""

Key = Mapping[str, Any]

MAX_DOCUMENT_BYTES = 5 * 1024
DOCUMENT_MEDIA_TYPES = frozenset({"application/json", "application/cimd+json"})

LEAST_SECONDS, USUAL_SECONDS, MOST_SECONDS = 60, 300, 24 * 3_600
"""A document is cached for so long: at least, if it does not say, and at most."""

FAILURE_SECONDS = 60

PER_NETWORK = Quota("documents-network", 20)
"""Documents that one network may make us fetch in a minute; those that are kept do not count."""

METHODS: tuple[AuthMethod, ...] = ("private_key_jwt", "none")
"""The methods that a client without a secret can authenticate with, the better first."""

_MAX_AGE = re.compile(r"""(?:^|[\s,])max-age\s*=\s*"?([0-9]{1,12})(?![0-9])""", re.IGNORECASE)
_NO_CACHE = re.compile(r"(?:^|[\s,])no-(?:store|cache)\b", re.IGNORECASE)


class KeysUnavailable(Reasoned):
    """The client's keys cannot be had. `reason` is for the log: a stable code."""


@dataclass(frozen=True, slots=True)
class _Kept:
    tried_at: float
    """The time when they were last requested."""
    read_at: float = float("-inf")
    keys: Sequence[Key] = field(default=())


@dataclass(eq=False, repr=False)
class ClientKeys:
    """Finds a client's keys by their name."""

    fetcher: Fetcher
    limiter: Limiter
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._fetcher = LimitedFetcher(self.fetcher, self.limiter)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def named(self, client: Client, kid: str) -> list[Key]:
        """The keys of that name, as a rule one or none. Raises KeysUnavailable, RateLimited."""
        if (client.jwks is None) == (client.jwks_uri is None):
            raise KeysUnavailable("keys_missing")
        if client.jwks_uri is None:
            return _named((client.jwks or {}).get("keys", ()), kid)
        # Read again when they are five minutes old, or when the key is not among them, but not all the time.
        now = self.clock()
        with self._lock:
            kept = self._kept.get(client.jwks_uri, _Kept(tried_at=float("-inf")))
            fresh = now - kept.read_at < KEPT_SECONDS
            found = _named(kept.keys, kid) if fresh else []
            if found:
                self._kept.move_to_end(client.jwks_uri)
                return found
            if now - kept.tried_at < PAUSE_SECONDS:
                if fresh:
                    return []
                raise KeysUnavailable("keys_failed_lately")
            self._keep(client.jwks_uri, _Kept(now, kept.read_at, kept.keys))
        try:
            body = self._fetcher.get(
                client.jwks_uri, max_bytes=MAX_KEYS_BYTES, seconds=FETCH_SECONDS, media_types=KEYS_MEDIA_TYPES
            ).body
            keys = public_keys(json.loads(body), most=MAX_PUBLISHED_KEYS)
        except FetchFailed as error:
            raise KeysUnavailable(error.reason) from error
        except (BadMetadata, ValueError, RecursionError) as error:
            raise KeysUnavailable("keys_not_valid") from error
        with self._lock:
            self._keep(client.jwks_uri, _Kept(now, now, keys))
        return _named(keys, kid)

    def _keep(self, uri: str, kept: _Kept) -> None:
        self._kept[uri] = kept
        self._kept.move_to_end(uri)
        if len(self._kept) > MAX_ADDRESSES:
            self._kept.popitem(last=False)


def _named(keys: Sequence[Key], kid: str) -> list[Key]:
    return [key for key in keys if key.get("kid") == kid]


class BadDocument(Reasoned):
    """There is no document at this id that makes a client. `reason` is for the log alone: a stable code."""


@dataclass(eq=False, repr=False)
class Documents:
    """Fetches, judges and remembers metadata documents.

    `clock` gives epoch seconds. `loopback` lets documents of this machine through: for development alone.
    """

    store: ClientStore
    fetcher: Fetcher
    limiter: Limiter
    clock: Callable[[], float]
    _: KW_ONLY
    loopback: bool = False

    def __post_init__(self) -> None:
        self._fetcher = LimitedFetcher(self.fetcher, self.limiter)

    def find(self, url: str, network: str = "") -> Client:
        """The client of a document. Raises BadDocument, RateLimited, Unavailable."""
        if not fetchable(url, loopback=self.loopback):
            raise BadDocument("url_not_allowed")
        kept = self.store.document(url)
        if kept is not None:
            client, _ = kept
            if client is None:
                raise BadDocument("failed_lately")
            # What was stored counts as long as the rules of today would take it.
            allowed = bool(client.redirect_uris) and all(redirect_allowed(uri) for uri in client.redirect_uris)
            if client.id == url and client.source == "document" and client.auth_method in METHODS and allowed:
                return client
            self.store.forget_document(url)
        self.limiter.spend(PER_NETWORK, network, "Too many new applications were asked for. Try again in a minute.")
        try:
            fetched = self._fetcher.get(
                url, max_bytes=MAX_DOCUMENT_BYTES, seconds=FETCH_SECONDS, media_types=DOCUMENT_MEDIA_TYPES
            )
            client = client_of(url, fetched.body, now=int(self.clock()), loopback=self.loopback)
        except FetchFailed as error:
            raise self._failed(url, error.reason) from error
        except BadMetadata as error:
            raise self._failed(url, "document_not_valid", error.description) from error
        self.store.keep_document(url, client, int(self.clock()) + lifetime(fetched))
        return client

    def _failed(self, url: str, reason: str, detail: str = "") -> BadDocument:
        logger.info("a client metadata document cannot be used", extra={"reason": reason, "detail": detail})
        self.store.keep_document(url, None, int(self.clock()) + FAILURE_SECONDS)
        return BadDocument(reason)


def client_of(url: str, body: bytes, *, now: int, loopback: bool = False) -> Client:
    """The client that a document describes. Raises BadMetadata."""
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMetadata("The document is not JSON.") from error
    if not isinstance(document, dict):
        raise BadMetadata("The document is not a JSON object.")
    if document.get("client_id") != url:
        raise BadMetadata("client_id is not the address of the document.")
    if {"client_secret", "client_secret_expires_at"} & document.keys():
        raise BadMetadata("A public document cannot have a secret.")
    check_texts(document)
    # What the client prefers, if we have that; otherwise the best of what else it offers (OpenID Connect Relying Party
    # Metadata Choices).
    given = document.get("token_endpoint_auth_method")
    offered = texts_of(document, "token_endpoint_auth_methods_supported")
    wanted = (given,) if given in METHODS else offered or ()
    chosen = next((method for method in METHODS if method in wanted), None)
    if chosen is None and (given is not None or offered is not None):
        raise BadMetadata("None of the client's authentication methods is supported.")
    name, method = name_of(document), chosen or "none"
    if not name:
        raise BadMetadata("client_name is missing.")
    grants, responses = texts_of(document, "grant_types"), texts_of(document, "response_types")
    if (grants and "authorization_code" not in grants) or (responses and "code" not in responses):
        raise BadMetadata("The client does not use the authorization code grant.")
    jwks, jwks_uri = keys_of(document, needed=method == "private_key_jwt", loopback=loopback)
    return Client(
        id=url,
        name=name,
        source="document",
        redirect_uris=redirect_uris_of(document),
        auth_method=method,
        jwks=jwks,
        jwks_uri=jwks_uri,
        uri=uri_of(document),
        application_type=application_type_of(document),
        created_at=now,
    )


def lifetime(fetched: Fetched) -> int:
    """Seconds to keep a document, by its Cache-Control (RFC 9111, section 5.2.2) and within our bounds."""
    if _NO_CACHE.search(fetched.cache_control):
        return LEAST_SECONDS
    age = _MAX_AGE.search(fetched.cache_control)
    return min(max(int(age[1]), LEAST_SECONDS), MOST_SECONDS) if age else USUAL_SECONDS
