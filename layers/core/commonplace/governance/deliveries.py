"""Deliveries of messages to webhooks, one for each action of an agent (Standard Webhooks, standardwebhooks.com).

A message says which record of the journal to read, not what it is about: ids and types alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import TYPE_CHECKING, Any

from commonplace.governance.model import Decision, Webhook
from commonplace.governance.store import HOOK_SECRETS, HOOKS, JOURNAL, Store
from commonplace.governance.webhook_key import SEALED_FOR
from commonplace.identity.secrets import unseal
from commonplace.kernel.fetch import FetchFailed

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from commonplace.kernel.guarded_http import GuardedHttp

ATTEMPTS_AT = (0, 5, 300, 1_800, 7_200, 18_000, 43_200, 86_400)
"""When a message is sent, in seconds after the first time, until it arrives."""
DAY_SECONDS = 86_400
"""An address that took no message for so long is off."""
LATE_SECONDS = 600
"""The last attempt of a message ends a day that began so late: a first attempt follows a cold start, or a crash."""
MOST_HIDDEN_SECONDS = 43_000
"""SQS hides a message for twelve hours at most, from when it was received."""
DEADLINE_SECONDS = 15.0
"""One attempt takes no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """Messages on their way: each of the queue names a record that changed, or one webhook that a record is for.

    A message that did not arrive stays in the queue, hidden until its next attempt is due, which depends on nothing but
    the time and when it was first received. A crash anywhere repeats an attempt, under the same `webhook-id`.
    """

    store: Store
    http: GuardedHttp
    sqs: SQSClient
    queue_url: str
    sealing_key: Callable[[], str]
    clock: Callable[[], float]

    def __call__(self, event: Mapping[str, Any], _: Any) -> dict[str, Any]:
        """Return which messages stay. Raises Unavailable, after which the queue hands the message out again."""
        failed = []
        for record in event["Records"]:
            message = json.loads(record["body"])
            begun_at = int(record["attributes"]["ApproximateFirstReceiveTimestamp"]) / 1_000
            if "webhook" not in message:
                self.spread(message)
            elif (seconds := self.deliver(message, begun_at)) is not None:
                receipt = record["receiptHandle"]
                hidden = min(ceil(seconds), MOST_HIDDEN_SECONDS)
                self.sqs.change_message_visibility(
                    QueueUrl=self.queue_url, ReceiptHandle=receipt, VisibilityTimeout=hidden
                )
                failed.append({"itemIdentifier": record["messageId"]})
        return {"batchItemFailures": failed}

    def spread(self, changed: Mapping[str, str]) -> None:
        """Queue a message for each webhook of an organisation, if the record is of an agent's action."""
        organisation = changed["pk"].partition("#")[0]
        decision = self.store.records.get(organisation, JOURNAL, changed["sk"])
        if decision is None or not decision.grant:
            return
        for hook in self.store.all(organisation, HOOKS):
            if hook.off_at is None:
                body = json.dumps({"organisation": organisation, "decision": decision.id, "webhook": hook.id})
                self.sqs.send_message(QueueUrl=self.queue_url, MessageBody=body)

    def deliver(self, message: Mapping[str, str], begun_at: float) -> float | None:
        """Send a message to a webhook; return after how many seconds again, or None if it is done with."""
        organisation, id, now = message["organisation"], message["webhook"], self.clock()
        hook = self.store.records.get(organisation, HOOKS, id)
        decision = self.store.records.get(organisation, JOURNAL, message["decision"])
        if hook is None or decision is None or hook.off_at is not None:
            return None
        last = ATTEMPTS_AT[-1] - (now - begun_at)
        if 0 < last <= ATTEMPTS_AT[-1] - ATTEMPTS_AT[-2] - MOST_HIDDEN_SECONDS:
            return last  # the wait for the last attempt is longer than a message can be hidden: this is its second part
        status = self.send(organisation, hook, decision)
        where, table = HOOKS.at(organisation, id), self.store.table
        if status is not None and 200 <= status < 300:
            if hook.failing_since is not None:
                table.write(table.update(where, "REMOVE #failingSince", "attribute_exists(pk)"))
            return None
        since, again = hook.failing_since or int(now), next((at for at in ATTEMPTS_AT if at > now - begun_at), None)
        if hook.failing_since is None:
            table.write(table.update(where, "SET #failingSince = :since", "attribute_exists(pk)", since=since))
        if status == 410 or now - since >= DAY_SECONDS - (LATE_SECONDS if again is None else 0):
            # Unless another message arrived meanwhile: then the address works.
            values: dict[str, Any] = {"because": "gone" if status == 410 else "failing", "now": int(now)}
            off = "SET #offAt = :now, #offBecause = :because"
            if table.write(table.update(where, off, "#failingSince = :since", since=since, **values)):
                return None
        return None if again is None else again - (now - begun_at)

    def send(self, organisation: str, hook: Webhook, decision: Decision) -> int | None:
        """Return the status of the answer; None if there was none, or nothing to sign with."""
        from standardwebhooks import Webhook as Signatures

        now = datetime.fromtimestamp(int(self.clock()), UTC)  # the library signs times of other zones wrongly
        body = compact_body(organisation, decision)
        held = self.store.table.get(HOOK_SECRETS.at(organisation, hook.id)) or {}
        sealed = [held[name] for name in ("current", "previous") if name in held]
        if not sealed:
            return None  # its webhook was removed meanwhile: nothing goes out unsigned
        if held.get("previousUntil", 0) <= now.timestamp():
            sealed = sealed[:1]
        keys = [str(unseal(self.sealing_key(), SEALED_FOR, one)["secret"]) for one in sealed]
        headers = {
            "Content-Type": "application/json",
            "webhook-id": decision.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(Signatures(one).sign(decision.id, now, body) for one in keys),
        }
        try:
            return self.http.post(hook.url, body.encode(), headers, seconds=DEADLINE_SECONDS)
        except FetchFailed:
            return None


def compact_body(organisation: str, decision: Decision) -> str:
    """Return the message about a record: ids and types, and which application it was."""
    data = {
        "orgaId": organisation,
        "decisionId": decision.id,
        "targetType": decision.target_type,
        "targetId": decision.target,
        "memberId": decision.member,
        "client": decision.client,
    }
    message = {"type": "agent.action", "timestamp": decision.at, "data": data}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)
