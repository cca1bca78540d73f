"""Client registration: dynamic (RFC 7591), for clients kept while they are in use, and by an operator."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, get_args

from commonplace.identity import secrets
from commonplace.identity.oauth.client_metadata import (
    BadMetadata,
    Metadata,
    application_type_of,
    check_texts,
    keys_of,
    name_of,
    redirect_uris_of,
    texts_of,
    uri_of,
)
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.ports import ClientStore
from commonplace.identity.principals import GRANTABLE, TIERS, Tier, ordered, parse_scopes
from commonplace.identity.records import REGISTRATION_SECONDS, AuthMethod, Client, GrantType
from commonplace.identity.redirects import redirect_host
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.limits import Limiter, Quota

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 * 1024
MAX_REDIRECT_URIS = 10

ID = "cpi_"
"""The ids of registered clients begin like this. They are no secret."""

DAY_SECONDS = 86_400

METHODS: tuple[AuthMethod, ...] = get_args(AuthMethod)
GRANTS: tuple[GrantType, ...] = ("authorization_code", "refresh_token")
_EXTENSION = "urn:"
"""Grant types of extensions: a client may know more of them than we do."""

Policy = Callable[[Client], None]
"""Refuses a registration by raising OAuthError; whatever else it raises is `server_error`. Nothing is stored then."""

AGENT_ID, CLIENT_ID = "cpg_", "cpd_"
"""The beginnings of ids: of agents with credentials, and of applications that people sign in with. No secret has them,
so that scanners report no id."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Registered:
    """A client, and its secret if it has one: shown once, stored hashed."""

    client: Client
    secret: str | None
    answer: dict[str, Any]
    """The body of the 201 answer: every value that was actually registered."""


@dataclass(eq=False, repr=False)
class Registrar:
    """Registers clients that introduce themselves.

    `clock` gives epoch seconds; `per_day` is how many registrations one network may make, 0 any number.
    """

    store: ClientStore
    limiter: Limiter
    clock: Callable[[], float]
    _: KW_ONLY
    per_day: int = 20
    policy: Policy | None = None

    def __post_init__(self) -> None:
        self._quota = Quota("registrations", self.per_day, DAY_SECONDS)

    def register(self, body: bytes, network: str = "") -> Registered:
        """Raises OAuthError (400, 413, 500), RateLimited, Unavailable. `network` as in `kernel.limits.network`."""
        if len(body) > MAX_BODY_BYTES:
            raise OAuthError(
                "invalid_client_metadata", f"A registration has at most {MAX_BODY_BYTES:,} bytes.", status=413
            )
        try:
            metadata: Any = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise OAuthError("invalid_client_metadata", "The body must be JSON.") from error
        if not isinstance(metadata, dict):
            raise OAuthError("invalid_client_metadata", "The body must be a JSON object.")
        try:
            secret, client = self._client(metadata)
        except BadMetadata as error:
            raise OAuthError(error.error, error.description) from error
        self.limiter.spend(self._quota, network, "Too many applications were registered from this network today.")
        if self.policy is not None:
            try:
                self.policy(client)
            except OAuthError:
                raise
            except Exception as error:
                logger.error("the policy of registrations failed", extra={"error": type(error).__name__})
                raise OAuthError("server_error", "The registration could not be judged.", status=500) from error
        record = AuditRecord(
            event="register",
            outcome="ok",
            at=client.created_at,
            client=client.id,
            network=network,
            details={"method": client.auth_method, "host": redirect_host(client.redirect_uris[0])[:500]},
        )
        self.store.add_client(client, [record])
        # What was registered (RFC 7591, section 3.2.1). No `scope`: a registration bounds none, and says of none that
        # it does.
        said: dict[str, Any] = {
            "client_id": client.id,
            "client_id_issued_at": client.created_at,
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "grant_types": list(client.grant_types),
            "response_types": ["code"],
            "token_endpoint_auth_method": client.auth_method,
            "client_uri": client.uri,
            "application_type": client.application_type,
            "jwks": client.jwks,
            "jwks_uri": client.jwks_uri,
        }
        told = {name: value for name, value in said.items() if value is not None}
        return Registered(
            client,
            secret,
            told | ({"client_secret": secret, "client_secret_expires_at": client.expires_at} if secret else {}),
        )

    def _client(self, metadata: Metadata) -> tuple[str | None, Client]:
        check_texts(metadata)
        # Nothing more is made of it: clients name what they need first and step up later, so none is registered.
        scope = metadata.get("scope")
        if scope is not None and not isinstance(scope, str):
            raise BadMetadata("scope must be text, with spaces between the scopes.")
        try:
            parse_scopes(scope or "")
        except ValueError as error:
            raise BadMetadata("scope has characters that no scope may have.") from error
        now = int(self.clock())
        redirects = redirect_uris_of(metadata, most=MAX_REDIRECT_URIS)
        # Left out, it is `client_secret_basic` (RFC 7591, section 2).
        given = metadata.get("token_endpoint_auth_method")
        found = next((method for method in METHODS if method == given), None)
        if given is not None and found is None:
            raise BadMetadata(f"token_endpoint_auth_method must be one of {', '.join(METHODS)}.")
        method = found or "client_secret_basic"
        jwks, jwks_uri = keys_of(metadata, needed=method == "private_key_jwt")
        secret = secrets.fresh(secrets.CLIENT_SECRET) if method.startswith("client_secret") else None
        return secret, Client(
            id=secrets.fresh(ID),
            name=name_of(metadata) or redirect_host(redirects[0]),
            source="registered",
            redirect_uris=redirects,
            auth_method=method,
            method_given=metadata.get("token_endpoint_auth_method") is not None,
            secret_hash=secrets.digest(secret) if secret else None,
            grant_types=_grants(metadata),
            jwks=jwks,
            jwks_uri=jwks_uri,
            uri=uri_of(metadata),
            application_type=application_type_of(metadata),
            created_at=now,
            expires_at=now + REGISTRATION_SECONDS,
        )


def _grants(metadata: Metadata) -> tuple[GrantType, ...]:
    """Left out, it is the authorization code; refresh tokens come with that."""
    given = texts_of(metadata, "grant_types") or ("authorization_code",)
    responses = texts_of(metadata, "response_types") or ("code",)
    if any(one not in GRANTS and not one.startswith(_EXTENSION) for one in given):
        raise BadMetadata(f"grant_types must be among {', '.join(GRANTS)}.")
    if "authorization_code" not in given or responses != ("code",):
        raise BadMetadata("A client needs the grant type authorization_code and the response type code, no other.")
    return GRANTS


class BadClient(ValueError):
    """The client cannot be made like this; the text says what would be valid."""


@dataclass(eq=False, repr=False)
class OperatorClients:
    """Adds and removes clients for an operator. Secrets are shown once, and stored by their hash."""

    store: ClientStore
    clock: Callable[[], float]

    def add_agent(
        self,
        agent: str,
        *,
        organisation: str,
        scopes: Iterable[str],
        tier: Tier = "public",
        name: str = "",
    ) -> tuple[Client, str]:
        """An agent that gets tokens for itself (client credentials). Raises BadClient, Unavailable."""
        for what, value in (("agent", agent), ("organisation", organisation)):
            if not _NAME.fullmatch(value):
                raise BadClient(f"The {what} must be 1 to 64 lower-case letters, digits, dots, dashes or underscores.")
        if tier not in TIERS:
            raise BadClient(f"The tier must be one of {', '.join(TIERS)}.")
        secret = secrets.fresh(secrets.CLIENT_SECRET)
        client = Client(
            id=secrets.fresh(AGENT_ID),
            name=name_of({"client_name": name}) or agent,
            source="operator",
            auth_method="client_secret_basic",
            method_given=False,
            secret_hash=secrets.digest(secret),
            grant_types=("client_credentials",),
            scopes=_scopes(scopes),
            organisation=organisation,
            agent=agent,
            tier=tier,
            created_at=int(self.clock()),
        )
        self._add(client)
        return client, secret

    def add_client(
        self, name: str, redirect_uris: Sequence[str], *, scopes: Iterable[str] = (), confidential: bool = False
    ) -> tuple[Client, str | None]:
        """An application that people sign in with, at most for these scopes if there are any; None is the secret of
        one that can keep none. Raises BadClient, Unavailable."""
        shown = name_of({"client_name": name})
        if not shown:
            raise BadClient("The client needs a name, which people see when they are asked for their consent.")
        secret = secrets.fresh(secrets.CLIENT_SECRET) if confidential else None
        wanted = tuple(scopes)
        try:
            found = redirect_uris_of({"redirect_uris": list(redirect_uris)})
        except BadMetadata as error:
            raise BadClient(error.description) from error
        if len(found) < len(set(redirect_uris)):
            raise BadClient("The scheme of an application must be a reversed domain name, such as com.example.app.")
        client = Client(
            id=secrets.fresh(CLIENT_ID),
            name=shown,
            source="operator",
            redirect_uris=found,
            auth_method="client_secret_basic" if secret else "none",
            method_given=False,
            secret_hash=secrets.digest(secret) if secret else None,
            scopes=_scopes(wanted) if wanted else (),
            created_at=int(self.clock()),
        )
        self._add(client)
        return client, secret

    def clients(self) -> list[Client]:
        """Every client, the newest first. Raises Unavailable."""
        return sorted(self.store.clients(), key=lambda client: (-client.created_at, client.id))

    def remove(self, client_id: str) -> bool:
        """False when there was none. Its grants are ended by who calls (`connections.Connections.revoke_client`).

        Raises Unavailable.
        """
        record = AuditRecord(event="client_removed", outcome="ok", at=self.clock(), client=client_id)
        return self.store.remove_client(client_id, [record])

    def _add(self, client: Client) -> None:
        record = AuditRecord(
            event="client_added",
            outcome="ok",
            at=self.clock(),
            client=client.id,
            details={"scopes": " ".join(client.scopes), "tier": client.tier, "agent": client.agent or ""},
            **({"organisation": client.organisation} if client.organisation else {}),
        )
        self.store.add_client(client, [record])


def _scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    wanted = ordered(scopes)
    unknown = [one for one in wanted if one not in GRANTABLE]
    if unknown or not wanted:
        raise BadClient(f"Scopes must be one or more of {', '.join(GRANTABLE)}.")
    return wanted
