"""Settings of federation: whether a deployment has partners, and where they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import model_validator

from commonplace.kernel.configuration import FLAG, Settings, one_of, setting, text
from commonplace.kernel.deferred import deferred
from commonplace.kernel.settings import Activity, Cloud, Organisation

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.federation.client.connection import Connections
    from commonplace.federation.partners import Partners


class FederationChoice(Settings):
    federation: Literal["on"] | None = setting(one_of("on"), "FEDERATION", key="federation", default=None)
    """`on`: an organisation may have [partners](federation.md), MCP servers of others, which are searched beside its
    own knowledge. Unset, there are none."""


class FederationSettings(FederationChoice, Activity, Organisation, Cloud):
    """Of functions that reach partners."""

    records_table: str = setting(text("the name of the table that holds partners"), "RECORDS_TABLE")
    """The table with partners and the tools of theirs that were approved."""
    loopback: bool = setting(FLAG, "FEDERATION_LOOPBACK", default=False)
    """On a laptop alone: `true` lets partners be `http://` addresses of this machine. Where `AWS_ENDPOINT_URL` is not
    this machine, the function refuses to start with it."""

    @model_validator(mode="after")
    def _loopback_here(self) -> Self:
        if self.loopback and not self.on_this_machine:
            raise ValueError("FEDERATION_LOOPBACK is for a laptop. Leave it out.")
        return self

    @classmethod
    def where_federated(cls, environ: Mapping[str, str]) -> Self | None:
        """Return the settings, or None for a deployment without partners. Raises SettingsError."""
        return cls.from_environ(environ) if environ.get("FEDERATION", "").strip() else None

    def partners(self) -> Partners:
        """Return the partners of the deployment. This loads the client of AWS."""
        from commonplace.kernel import aws

        client = aws.dynamodb(read_timeout_seconds=3)
        return partners_in(client, self.records_table, self.activity_table, loopback=self.loopback)


def partners_in(client: DynamoDBClient, records: str, activity: str, *, loopback: bool) -> Partners:
    """Return the partners in these tables. The first call of a partner loads the client of MCP."""
    from commonplace.federation.partners import Partners
    from commonplace.kernel.audit_store import PARTNERS
    from commonplace.kernel.records import Records
    from commonplace.kernel.table import Table

    connections: Any = deferred(partial(_connections, loopback))
    return Partners(Records(Table(client, records), activity, PARTNERS), lambda: connections, loopback)


def _connections(loopback: bool) -> Connections:
    from commonplace.federation.client.connection import Connections
    from commonplace.federation.client.transport import GuardedTransport

    return Connections(partial(GuardedTransport, loopback=loopback))
