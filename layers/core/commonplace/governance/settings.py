"""Settings of governance: whether a deployment has it, where it is stored, and what configuration has named already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from commonplace.identity.settings import IdentityTable
from commonplace.kernel.configuration import FLAG, SECRET_ARN, Settings, matching, setting, text, whole
from commonplace.kernel.deferred import deferred
from commonplace.kernel.settings import Activity, Cloud, OrganisationNames

if TYPE_CHECKING:
    from commonplace.governance.store import Store
    from commonplace.identity.memberships import Memberships

SCHEME = matching(
    r"(?!(?:https?|file|data|mcp|hive|reference)$)[a-z][a-z0-9+.-]{1,31}", "a URI scheme such as swarmrise"
)


class GovernanceScheme(Settings):
    governance_scheme: str | None = setting(SCHEME, "GOVERNANCE_SCHEME", key="governanceScheme", default=None)
    """URI scheme of the [addresses of organisations](../agents/governance.md), such as `swarmrise`. Do not change it
    later. Unset, there is no governance."""


class GovernanceTables(GovernanceScheme, Activity):
    records_table: str = setting(text("the name of the table that holds what organisations decide"), "RECORDS_TABLE")
    """The table with organisations and what they decide."""

    @classmethod
    def where_governed(cls, environ: Mapping[str, str]) -> Self | None:
        """Return the settings, or None for a deployment without governance. Raises SettingsError."""
        return cls.from_environ(environ) if environ.get("GOVERNANCE_SCHEME", "").strip() else None

    @property
    def scheme(self) -> str:
        """The scheme of a deployment that has governance."""
        return self.governance_scheme or ""

    def store(self, identity: str = "") -> Store:
        """Return the organisations of the deployment; `identity` is the table of grants. This loads the clients of
        AWS."""
        from commonplace.governance.store import Store
        from commonplace.kernel import aws

        return Store(aws.dynamodb(read_timeout_seconds=5), self.records_table, self.activity_table, identity)


class WebhookSecret(Cloud):
    webhook_secret_arn: str | None = setting(SECRET_ARN, "GOVERNANCE_WEBHOOKS_SECRET_ARN", default=None)
    """The secret with the key that encrypts webhook secrets. Unset, there are no webhooks."""
    loopback_webhooks: bool = setting(FLAG, "GOVERNANCE_WEBHOOKS_LOOPBACK", default=False)
    """Laptop only: `true` allows webhooks at `http://` addresses of this machine."""

    @model_validator(mode="after")
    def _loopback_here(self) -> Self:
        if self.loopback_webhooks and not self.on_this_machine:
            raise ValueError("GOVERNANCE_WEBHOOKS_LOOPBACK is for a laptop. Leave it out.")
        return self


class WebhookSettings(GovernanceTables, WebhookSecret):
    """Of the function that sends messages to webhooks."""

    queue_url: str = setting(text("the URL of its queue"), "GOVERNANCE_WEBHOOKS_QUEUE_URL")
    """The queue of the function that calls webhooks."""


class GovernanceSettings(GovernanceTables, IdentityTable, OrganisationNames):
    """Of functions that serve people and agents."""

    founded_per_account: int = setting(
        whole(1, 100),
        "GOVERNANCE_FOUNDED_PER_ACCOUNT",
        key="governanceFoundedPerAccount",
        default=3,
        deployed=None,
        shown="3",
    )
    """Organisations that one account may found (1 to 100)."""


def memberships(environ: Mapping[str, str]) -> Memberships | None:
    """Return the memberships that tokens act for; None without governance. Raises SettingsError."""
    settings = GovernanceTables.where_governed(environ)
    if settings is None:
        return None

    def build() -> Memberships:
        from commonplace.governance.memberships import StoredMemberships

        return StoredMemberships(settings.store())

    return deferred(build)
