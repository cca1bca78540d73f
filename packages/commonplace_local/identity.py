"""Clients, grants and records of a running Commonplace, with the operator's own AWS credentials."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commonplace.identity.records import Grant
from commonplace_local.deployment import Deployment
from commonplace_local.errors import CommandError
from commonplace_local.options import Target

if TYPE_CHECKING:
    from commonplace.identity.oauth.connections import Connections
    from commonplace.identity.oauth.registration import OperatorClients
    from commonplace.identity.principals import Tier
    from commonplace.identity.store.grants import DynamoGrants
    from commonplace.kernel.audit_store import DynamoAudit, Kind

NEEDED = ("IdentityTable", "IdentitySecretArn", "SigningSecretArn", "ActivityTable")


@dataclass(frozen=True)
class Identity:
    """What the authorization server of one deployment keeps."""

    deployment: Deployment

    def __post_init__(self) -> None:
        missing = [name for name in NEEDED if name not in self.deployment.outputs]
        if missing:
            hint = "Deploy this version, or start `commonplace dev` of it."
            raise CommandError(f"Sign-in is not available there: it has no {', '.join(missing)}.", hint)

    @cached_property
    def operating(self) -> "OperatorClients":
        from commonplace.identity.oauth.registration import OperatorClients
        from commonplace.identity.store.clients import DynamoClients

        store = DynamoClients(self._dynamodb, self._of("IdentityTable"), self._of("ActivityTable"))
        return OperatorClients(store, time.time)

    @cached_property
    def grants(self) -> "DynamoGrants":
        from commonplace.governance.memberships import StoredMemberships
        from commonplace.governance.store import Store
        from commonplace.identity.store.grants import DynamoGrants

        tables = self._of("IdentityTable"), self._of("ActivityTable")
        records = self.deployment.outputs.get("RecordsTable")
        # With the client of this deployment: that of a function's environment would be for another one, or none.
        journal = StoredMemberships(Store(self._dynamodb, records, tables[1])) if records else None
        return DynamoGrants(self._dynamodb, *tables, memberships=journal)

    def log(self, kind: "Kind") -> "DynamoAudit":
        """Of sign-ins and grants, of calls that were denied, of changes of the memory, or of actions in the console."""
        from commonplace.kernel.audit_store import DynamoAudit

        return DynamoAudit(self._dynamodb, self._of("ActivityTable"), kind)

    @cached_property
    def key(self) -> bytes:
        """That of pseudonyms."""
        from commonplace.identity.secret_values import KeptSecret, pseudonym_key

        client = self.deployment.client("secretsmanager")
        return KeptSecret(client, self._of("IdentitySecretArn"), pseudonym_key).current()

    def mint(self, *, organisation: str, agent: str, scopes: tuple[str, ...], tier: Any, path: str, days: int) -> str:
        """A service token for a path such as `/mcp`. Raises CommonplaceError for what no token could be for."""
        from commonplace.identity.access_tokens import Issuer
        from commonplace.identity.oauth.token_endpoint import TokenEndpoint
        from commonplace.identity.principals import TOGETHER, TOOLSETS
        from commonplace.identity.resources import Resources
        from commonplace.identity.roles import MappedStandings, RoleMap
        from commonplace.identity.secret_values import SecretSigningKeys
        from commonplace.kernel.errors import InvalidInput

        base = self.deployment.base_url
        resources = Resources(base, TOGETHER, TOOLSETS)
        resource = resources.canonical(base + path)
        if resource is None:
            paths = ", ".join(one.removeprefix(base) for one in resources.all())
            raise InvalidInput(f"There is no service at {path[:80]}.", hint=f"It must be one of: {paths}.")
        keys = SecretSigningKeys(self.deployment.client("secretsmanager"), self._of("SigningSecretArn"))
        token_endpoint = TokenEndpoint(
            store=self.grants,
            standings=MappedStandings(RoleMap(hats={}), NoHats()),
            issuer=Issuer(base, keys, time.time),
            resources=resources,
            key=lambda: self.key,
            clock=time.time,
        )
        return token_endpoint.mint(
            organisation=organisation, agent=agent, scopes=scopes, tier=tier, resource=resource, days=days
        )

    def grants_of(self, subject: str | None, client: str | None) -> Iterator[Grant]:
        """Those that live, of one account or client if they are named."""
        from commonplace.identity.access_tokens import subject_hash
        from commonplace.identity.roles import ADDRESS

        if subject and ADDRESS.fullmatch(subject):
            from commonplace.identity.wallets import checksummed

            subject = checksummed(subject)  # as accounts have it (EIP-55)
        found: Iterable[Grant] = (
            self.grants.of_subject(subject_hash(self.key, subject)) if subject else self.grants.all()
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

    @cached_property
    def _dynamodb(self) -> Any:
        return self.deployment.client("dynamodb")

    def _of(self, name: str) -> str:
        return self.deployment.outputs[name]


class NoHats:
    """An operator's agents wear none."""

    def worn(self, address: str, *, fresh: bool = False) -> Any:  # noqa: ARG002 - the port's shape
        raise AssertionError("hats are not looked up here")


def reach(target: Target) -> Identity:
    """The deployment that the options name."""
    return Identity(target.find())


def scopes_of(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def tier_of(text: str) -> "Tier":
    """Raises CommandError."""
    from commonplace.identity.principals import TIERS

    if text not in TIERS:
        raise CommandError(f"{text}: no such tier.", f"There are: {', '.join(TIERS)}.")
    return text


def day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def minute(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
