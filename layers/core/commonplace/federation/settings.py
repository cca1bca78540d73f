"""Settings of federation: whether a deployment has partners, and where they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import model_validator

from commonplace.identity.settings import Pseudonyms
from commonplace.kernel.configuration import FLAG, Settings, one_of, setting, text
from commonplace.kernel.deferred import deferred
from commonplace.kernel.settings import Activity, Cloud, Organisation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_secretsmanager import SecretsManagerClient

    from commonplace.federation.client.connection import Connections
    from commonplace.federation.partners import Partners


class FederationChoice(Settings):
    federation: Literal["on"] | None = setting(one_of("on"), "FEDERATION", key="federation", default=None)
    """`on` lets organisations add [partners](../agents/federation.md), whose MCP servers are searched too."""


class FederationSettings(FederationChoice, Activity, Organisation, Pseudonyms, Cloud):
    """Of functions that reach partners."""

    records_table: str = setting(text("the name of the table that holds partners"), "RECORDS_TABLE")
    """The table with partners and the tools of theirs that were approved."""
    loopback: bool = setting(FLAG, "FEDERATION_LOOPBACK", default=False)
    """Laptop only: `true` allows partners at `http://` addresses of this machine."""

    @model_validator(mode="after")
    def _loopback_here(self) -> Self:
        if self.loopback and not self.on_this_machine:
            raise ValueError("FEDERATION_LOOPBACK is for a laptop. Leave it out.")
        return self

    @classmethod
    def where_federated(cls, environ: Mapping[str, str]) -> Self | None:
        """Return the settings, or None for a deployment without partners. Raises SettingsError."""
        return cls.from_environ(environ) if environ.get("FEDERATION", "").strip() else None

    def partners(self, base_url: str, name: str) -> Partners:
        """Return the partners of the deployment. This loads the clients of AWS."""
        from commonplace.kernel import aws

        return partners_in(
            aws.dynamodb(read_timeout_seconds=3),
            aws.secretsmanager(),
            records=self.records_table,
            activity=self.activity_table,
            secret=self.identity_secret_arn,
            base_url=base_url,
            name=name,
            loopback=self.loopback,
        )


def partners_in(
    dynamodb: DynamoDBClient,
    secretsmanager: SecretsManagerClient,
    *,
    records: str,
    activity: str,
    secret: str,
    base_url: str,
    name: str,
    loopback: bool,
) -> Partners:
    """Return the partners in these tables. The first call of a partner loads the client of MCP.

    Tokens are sealed under the key in `secret`; `base_url` and `name` are what partners' servers know us by.
    """
    from commonplace.federation.partners import Partners
    from commonplace.federation.sign_ins import SignIns
    from commonplace.identity.secret_values import KeptSecret, pseudonym_key
    from commonplace.kernel.audit_store import PARTNERS
    from commonplace.kernel.records import Records
    from commonplace.kernel.table import Table

    made: Any = deferred(partial(_connections, loopback))
    key, store = (
        KeptSecret(secretsmanager, secret, pseudonym_key),
        Records(Table(dynamodb, records), activity, PARTNERS),
    )
    sign_ins = SignIns(store, lambda: made, key.current, base_url=base_url, name=name, loopback=loopback)
    return Partners(store, lambda: made, sign_ins, loopback=loopback)


def _connections(loopback: bool) -> Connections:
    from commonplace.federation.client.connection import Connections
    from commonplace.federation.client.transport import GuardedTransport

    return Connections(partial(GuardedTransport, loopback=loopback))
