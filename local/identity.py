"""Clients, grants and records of a running Commonplace, with the operator's own AWS credentials."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.identity.records import Client, Grant
from commonplace.kernel.audit import AuditRecord
from local.deployment import Deployment
from local.errors import CommandError

if TYPE_CHECKING:
    from commonplace.identity.oauth.connections import Connections
    from commonplace.identity.oauth.registration import Operating
    from commonplace.identity.principals import Tier
    from commonplace.identity.store.grants import DynamoGrants
    from commonplace.kernel.audit_store import DynamoAudit

NEEDED = ("IdentityTable", "IdentitySecretArn", "SigningSecretArn", "ActivityTable")


@dataclass(frozen=True)
class Identity:
    """What the authorization server of one deployment keeps."""

    deployment: Deployment

    def __post_init__(self) -> None:
        missing = [name for name in NEEDED if name not in self.deployment.outputs]
        if missing:
            hint = "Deploy this version, or start `commonplace dev` of it."
            raise CommandError(f"Nobody can sign in there: it has no {', '.join(missing)}.", hint)

    @cached_property
    def operating(self) -> "Operating":
        from commonplace.identity.oauth.registration import Operating
        from commonplace.identity.store.clients import DynamoClients

        store = DynamoClients(self._dynamodb, self._of("IdentityTable"), self._of("ActivityTable"))
        return Operating(store, time.time)

    @cached_property
    def grants(self) -> "DynamoGrants":
        from commonplace.identity.store.grants import DynamoGrants

        return DynamoGrants(self._dynamodb, self._of("IdentityTable"), self._of("ActivityTable"))

    @cached_property
    def audit(self) -> "DynamoAudit":
        from commonplace.kernel.audit_store import DynamoAudit

        return DynamoAudit(self._dynamodb, self._of("ActivityTable"))

    @cached_property
    def refusals(self) -> "DynamoAudit":
        """Of calls with a token."""
        from commonplace.kernel.audit_store import DENIED, DynamoAudit

        return DynamoAudit(self._dynamodb, self._of("ActivityTable"), DENIED)

    @cached_property
    def remembered(self) -> "DynamoAudit":
        """Of what was added to the memory, changed there and taken out."""
        from commonplace.kernel.audit_store import MEMORY, DynamoAudit

        return DynamoAudit(self._dynamodb, self._of("ActivityTable"), MEMORY)

    @cached_property
    def key(self) -> bytes:
        """That of pseudonyms."""
        from commonplace.identity.secret_values import PseudonymKey

        return PseudonymKey(self.deployment.client("secretsmanager"), self._of("IdentitySecretArn")).current()

    def mint(self, *, organisation: str, agent: str, scopes: tuple[str, ...], tier: Any, path: str, days: int) -> str:
        """A service token for a path such as `/mcp`. Raises CommonplaceError for what no token could be for."""
        from commonplace.identity.access_tokens import Issuer
        from commonplace.identity.oauth.token_endpoint import Granting
        from commonplace.identity.principals import SERVED
        from commonplace.identity.resources import Resources
        from commonplace.identity.roles import MappedStandings, RoleMap
        from commonplace.identity.signing_keys import SecretSigningKeys
        from commonplace.kernel.errors import InvalidInput

        base = self.deployment.base_url
        resources = Resources(base, SERVED, SERVED)
        resource = resources.canonical(base + path)
        if resource is None:
            paths = ", ".join(one.removeprefix(base) for one in resources.all())
            raise InvalidInput(f"Nothing is served at {path[:80]}.", hint=f"It must be one of: {paths}.")
        keys = SecretSigningKeys(self.deployment.client("secretsmanager"), self._of("SigningSecretArn"))
        granting = Granting(
            store=self.grants,
            standings=MappedStandings(RoleMap(hats={}), NoHats()),
            issuer=Issuer(base, keys, time.time),
            resources=resources,
            key=lambda: self.key,
            clock=time.time,
        )
        return granting.mint(
            organisation=organisation, agent=agent, scopes=scopes, tier=tier, resource=resource, days=days
        )

    def grants_of(self, subject: str | None, client: str | None) -> Iterator[Grant]:
        """Those that live, of one account or client if they are named."""
        from commonplace.identity.access_tokens import subject_hash

        found: Iterable[Grant] = (
            self.grants.of_subject(subject_hash(self.key, checksummed(subject))) if subject else self.grants.all()
        )
        return (one for one in found if client is None or one.client_id == client)

    @cached_property
    def connections(self) -> "Connections":
        """Ends grants, and forgets the consents behind them."""
        from commonplace.identity.oauth.connections import Connections
        from commonplace.identity.store.sign_ins import DynamoSignIns

        return Connections(
            grants=self.grants,
            signins=DynamoSignIns(self._dynamodb, self._of("IdentityTable")),
            key=lambda: self.key,
            clock=time.time,
            organisation=self.deployment.outputs.get("Organisation", "default"),
        )

    def revoke(self, grants: Iterable[Grant]) -> int:
        """How many have ended by this."""
        return sum(self.connections.revoke_for_operator(one.id) for one in grants)

    @cached_property
    def _dynamodb(self) -> Any:
        return self.deployment.client("dynamodb")

    def _of(self, name: str) -> str:
        return self.deployment.outputs[name]


class NoHats:
    """An operator's agents wear none."""

    def worn(self, address: str, *, fresh: bool = False) -> Any:  # noqa: ARG002 - the port's shape
        raise AssertionError("nobody's hats are asked for here")


def tier_of(text: str) -> "Tier":
    """Raises CommandError."""
    from commonplace.identity.principals import TIERS

    if text not in TIERS:
        raise CommandError(f"{text}: no such tier.", f"There are: {', '.join(TIERS)}.")
    return text


def checksummed(subject: str) -> str:
    """An address as accounts have it (EIP-55); any other subject as it is."""
    from commonplace.identity.roles import ADDRESS

    if not ADDRESS.fullmatch(subject):
        return subject
    from eth_utils.address import to_checksum_address

    return str(to_checksum_address(subject))


def grant_row(grant: Grant) -> dict[str, str]:
    """What an operator sees of a grant. Whose it is, is not known to the table."""
    return {
        "grant": grant.id[:16],
        "client": grant.client_name,
        "kind": grant.kind,
        "organisation": grant.organisation or "by roles",
        "for": grant.resource.partition("://")[2].partition("/")[2] or "/",
        "scopes": " ".join(grant.scopes),
        "since": day(grant.created_at),
        "last used": f"{minute(grant.last_used_at)} {grant.last_used_from}".strip() if grant.last_used_at else "never",
        "until": day(grant.expires_at),
    }


def client_row(client: Client) -> dict[str, str]:
    return {
        "client": client.id,
        "name": client.name,
        "known by": {"registered": "registration", "document": "its document", "operator": "an operator"}[
            client.source
        ],
        "method": client.auth_method,
        "grants": " ".join(client.grant_types),
        "organisation": client.organisation or "",
        "scopes": " ".join(client.scopes),
        "since": day(client.created_at),
        "until": day(client.expires_at) if client.expires_at else "",
    }


def record_row(record: AuditRecord) -> dict[str, str]:
    details = " ".join(f"{name}={value}" for name, value in record.details.items())
    return {
        "at": minute(int(record.at)),
        "event": record.event,
        "outcome": record.outcome,
        "reason": record.reason,
        "account": record.subject[:12],
        "client": record.client,
        "grant": record.grant[:16],
        "from": record.network,
        "details": details,
    }


def day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def minute(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
