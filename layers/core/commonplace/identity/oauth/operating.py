"""Clients that an operator makes: agents with credentials of their own, and applications known beforehand."""

import re
from collections.abc import Callable, Iterable, Sequence

from commonplace.identity import secrets
from commonplace.identity.oauth.client_metadata import BadMetadata, name_of, redirect_uris_of
from commonplace.identity.ports import ClientStore
from commonplace.identity.principals import TIERS, Tier
from commonplace.identity.records import Client
from commonplace.identity.scopes import CATALOGUE, ordered
from commonplace.kernel.audit import AuditRecord

AGENT_ID, CLIENT_ID = "cpg_", "cpa_"
"""How the ids begin: of agents with credentials, and of applications that people sign in with."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


class BadClient(ValueError):
    """The client cannot be made like this; the text says what would be valid."""


class Operating:
    """Adds and removes clients for an operator. Secrets are told once, and stored by their hash."""

    def __init__(self, store: ClientStore, clock: Callable[[], float]) -> None:
        """`clock` gives epoch seconds."""
        self._store = store
        self._clock = clock

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
            created_at=int(self._clock()),
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
        client = Client(
            id=secrets.fresh(CLIENT_ID),
            name=shown,
            source="operator",
            redirect_uris=_redirects(redirect_uris),
            auth_method="client_secret_basic" if secret else "none",
            method_given=False,
            secret_hash=secrets.digest(secret) if secret else None,
            scopes=_scopes(wanted) if wanted else (),
            created_at=int(self._clock()),
        )
        self._add(client)
        return client, secret

    def clients(self) -> list[Client]:
        """Every client, the newest first. Raises Unavailable."""
        return sorted(self._store.clients(), key=lambda client: (-client.created_at, client.id))

    def remove(self, client_id: str) -> bool:
        """False when there was none. Its grants are ended by who calls (`connections.Connections.revoke_client`).

        Raises Unavailable.
        """
        record = AuditRecord(event="client_removed", outcome="ok", at=self._clock(), client=client_id)
        return self._store.remove_client(client_id, [record])

    def _add(self, client: Client) -> None:
        record = AuditRecord(
            event="client_added",
            outcome="ok",
            at=self._clock(),
            client=client.id,
            details={"scopes": " ".join(client.scopes), "tier": client.tier, "agent": client.agent or ""},
            **({"organisation": client.organisation} if client.organisation else {}),
        )
        self._store.add_client(client, [record])


def _scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    wanted = ordered(scopes)
    unknown = [one for one in wanted if one not in CATALOGUE]
    if unknown or not wanted:
        raise BadClient(f"Scopes must be one or more of {', '.join(CATALOGUE)}.")
    return wanted


def _redirects(uris: Sequence[str]) -> tuple[str, ...]:
    try:
        found = redirect_uris_of({"redirect_uris": list(uris)})
    except BadMetadata as error:
        raise BadClient(error.description) from error
    if len(found) < len(set(uris)):
        raise BadClient("The scheme of an application must be a reversed domain name, such as com.example.app.")
    return found
