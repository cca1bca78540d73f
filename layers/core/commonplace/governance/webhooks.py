"""Webhooks: an organisation's owner names addresses that get a message for each action of an agent (seed 002, phase 4).

`deliveries` sends them.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from secrets import token_bytes
from typing import Annotated

from pydantic import Field

from commonplace.governance import inputs, model
from commonplace.governance.governance import Governance
from commonplace.governance.inputs import Id, InOrganisation, change
from commonplace.governance.model import Webhook, new_id
from commonplace.governance.store import HOOK_SECRETS, HOOKS, Act
from commonplace.governance.structure import owned
from commonplace.governance.webhook_key import SEALED_FOR
from commonplace.identity.secrets import seal
from commonplace.kernel.errors import Conflict, InvalidInput, Unavailable
from commonplace.kernel.fetch import MAX_URL_CHARACTERS, fetchable
from commonplace.web.operations import Actor, operation

BOTH_SECONDS = 86_400
"""How long the secret before the present one signs as well."""

Address = Annotated[str, Field(max_length=MAX_URL_CHARACTERS, description="An https address on the usual port.")]


class AddedWebhook(InOrganisation):
    url: Address


class NamedWebhook(InOrganisation):
    webhook_id: Id


@operation("governance", title="Add a webhook", input=AddedWebhook, **inputs.DECLARED)
def add_webhook(governance: Governance, actor: Actor, request: AddedWebhook) -> tuple[Webhook, str]:
    """Send a message about each action of an agent to an address, as the owner. The secret of its signatures is shown
    once."""
    access = governance.in_person(actor, request.orga_id)
    if not fetchable(request.url, loopback=governance.loopback):
        hint = "Such as https://example.org/hooks/agents: a name, no port, no # and no user."
        raise InvalidInput("This address cannot be used.", hint=hint, field="url")
    secret, sealed = new_secret(governance)

    def decide(act: Act) -> Webhook:
        owned(act)
        act.alone("hooks")
        hooks = act.all(HOOKS)
        if len(hooks) >= model.MAX_WEBHOOKS:
            raise Conflict(f"An organisation has at most {model.MAX_WEBHOOKS} webhooks.", hint="Remove one first.")
        hook = Webhook(id=new_id("wh"), url=request.url, created_at=act.at)
        act.add(HOOKS, hook)
        where = HOOK_SECRETS.at(act.access.organisation, hook.id)
        act.change.writes.append(act.store.table.new(where, {"current": sealed}))
        act.record("Webhook", "webhooks", hook.id, ({}, {"host": hook.host}))
        return hook

    return governance.store.change(access, decide), secret


@operation("governance", title="Make a new secret", input=NamedWebhook, **inputs.DECLARED)
def rotate_webhook_secret(governance: Governance, actor: Actor, request: NamedWebhook) -> tuple[Webhook, str]:
    """Sign with a new secret, which is shown once. For a day messages have both signatures."""
    access, (secret, sealed) = governance.in_person(actor, request.orga_id), new_secret(governance)

    def decide(act: Act) -> Webhook:
        owned(act)
        hook = act.get(HOOKS, request.webhook_id)
        # The present secret becomes the one before without anybody reading it.
        moved = "SET #previous = #current, #previousUntil = :until, #current = :sealed"
        where, until = HOOK_SECRETS.at(act.access.organisation, hook.id), int(act.store.clock()) + BOTH_SECONDS
        update = act.store.table.update(where, moved, "attribute_exists(pk)", sealed=sealed, until=until)
        act.change.writes.append(update)
        act.record("Webhook", "webhooks", hook.id, ({"host": hook.host}, {"host": hook.host, "secret": "new"}))
        return hook

    return governance.store.change(access, decide), secret


@change("Switch a webhook on again")
def switch_webhook_on(act: Act, webhook_id: Id) -> Webhook:
    """Send messages to an address again that was switched off; those of the meantime are not sent."""
    owned(act)
    was = act.get(HOOKS, webhook_id)
    if was.off_at is None:
        return was
    now = replace(was, off_at=None, off_because=None, failing_since=None)
    act.replace(HOOKS, now, was)
    act.record("Webhook", "webhooks", was.id, ({"host": was.host, "off": was.off_because}, {"host": was.host}))
    return now


@change("Remove a webhook")
def remove_webhook(act: Act, webhook_id: Id) -> Webhook:
    """Send no more messages to an address, and forget its secret."""
    owned(act)
    was = act.get(HOOKS, webhook_id)
    organisation, table = act.access.organisation, act.store.table
    # Its state changes with each message: whatever it is now, it goes.
    act.change.writes += [table.delete(room.at(organisation, was.id)) for room in (HOOKS, HOOK_SECRETS)]
    act.record("Webhook", "webhooks", was.id, ({"host": was.host}, {}))
    return was


def new_secret(governance: Governance) -> tuple[str, bytes]:
    """Return a new secret, as receivers have it, and sealed. Raises Unavailable."""
    if governance.sealing_key is None:
        raise Unavailable("Webhooks cannot be changed here.")
    secret = f"whsec_{b64encode(token_bytes(32)).decode()}"
    return secret, seal(governance.sealing_key(), SEALED_FOR, {"secret": secret})
