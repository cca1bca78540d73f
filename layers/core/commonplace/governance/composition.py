"""Governance, built from settings, for the functions that answer agents and people.

Importing this loads the search and the clients of AWS: it is for the first call that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from commonplace.governance.governance import Governance
from commonplace.governance.search import MessageSearch
from commonplace.governance.settings import GovernanceSettings, WebhookSecret
from commonplace.governance.webhook_key import sealing_key
from commonplace.identity.settings import GuardSettings
from commonplace.search import providers

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.search.settings import RetrievalSettings

RESERVED = frozenset({"public", "organisations", "account"})
"""Words that partitions of the table of records begin with."""


def governance(environ: Mapping[str, str], settings: RetrievalSettings, objects: ObjectStore) -> Governance:
    """Return what operations work with; `objects` is the store of an embedded index. Raises SettingsError."""
    own, settings = GovernanceSettings.from_environ(environ), settings.collection("messages")
    models = providers.embedding_providers(settings)
    engine = providers.search_engine(settings, objects, next(iter(models), None), read_only=True, fresh=True)
    records, webhooks = own.store(own.identity_table), WebhookSecret.from_environ(environ)
    return Governance(
        store=records,
        reserved=reserved(environ),
        founded=own.founded_per_account,
        search=MessageSearch(engine, models, records),
        sealing_key=sealing_key(webhooks.webhook_secret_arn),
        loopback=webhooks.loopback_webhooks,
    )


def reserved(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the names that nobody can found: configuration or the role map gives them. Raises SettingsError."""
    own, identity = GovernanceSettings.from_environ(environ), GuardSettings.where_signed_in(environ)
    mapped = identity.role_map.organisations if identity else frozenset()
    return RESERVED | {own.organisation, *own.names} | mapped
