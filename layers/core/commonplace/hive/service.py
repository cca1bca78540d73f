"""What agents do with the hive: contribute, search, fetch, list, delete, publish, report (seed 004).

A contribution is stripped, hashed, validated and put into quarantine, in this order. Until the redaction has answered,
what was sent is in the memory of this process alone.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from commonplace.hive import minhash, orders, quality
from commonplace.hive.model import (
    CATEGORIES,
    MAX_CONTENT,
    MAX_SHARE,
    MIN_CONTENT,
    REJECTED,
    AutoApproval,
    Category,
    Contributed,
    Contribution,
    Counts,
    Draft,
    HiveQuery,
    Item,
    ItemId,
    Outcome,
    Report,
    Reported,
    Rules,
    SearchAnswer,
    Status,
    content_hash,
    stamp,
)
from commonplace.hive.refusals import Decided, unknown
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, RateLimited, Unavailable
from commonplace.kernel.limits import Limiter, Quota
from commonplace.kernel.telemetry import count
from commonplace.kernel.terms import compatible_length
from commonplace.redaction.model import Policy, Redacted
from commonplace.redaction.ports import Redactor

if TYPE_CHECKING:
    from commonplace.hive.search import HiveSearch
    from commonplace.hive.store import DynamoContributions

logger = logging.getLogger(__name__)

HOUR = 3_600
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
"""JSON may hold one; no store and no model takes it."""
OF_AN_ORGANISATION = 10
"""How many times an agent's limit an organisation has."""
NEAR = 0.8
"""Similarity of words from which on a text is a near duplicate."""
NEAR_MEANING = 0.9
"""Cosine from which on it is one by its meaning: no rule approves it."""
NEAREST = 5


class TooSensitive(InvalidInput):
    """More than half of the text was redacted."""

    code = "TOO_SENSITIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Stores, redaction, search and clock, for agents and reviewers alike.

    `clock` returns the time with its zone, `new_id` makes ids in the order of time.
    """

    store: DynamoContributions
    redactor: Redactor
    search: HiveSearch
    limiter: Limiter
    clock: Callable[[], datetime]
    new_id: Callable[[], ItemId]
    names: Mapping[str, str]
    """Public names of organisations."""
    kept_model: Callable[[], tuple[str, bool]] = lambda: ("", False)
    """The model that was kept at the first start, and whether another one is configured."""
    invalid_patterns: Callable[[Sequence[str]], Mapping[str, str]] = lambda _: {}
    """Which patterns the redaction does not take, and why."""
    policy: Policy = field(default_factory=Policy)
    """Of the deployment."""
    per_hour: int = 60
    max_pending: int = 5_000

    def now(self) -> str:
        """The time as contributions have it."""
        return stamp(self.clock())

    def item(self, organisation: str, contribution: Contribution, counts: Counts) -> Item:
        """As somebody of this organisation sees it."""
        return quality.item_of(organisation, contribution, counts, self.names, self.clock())


class Hive:
    """Every method concerns the author's own organisation and public knowledge, and raises Unavailable when a store or
    the redaction does not answer."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = parts.store

    def contribute(self, author: Author, draft: Draft, *, reviewer: bool = False) -> Contributed:
        """Puts what remains of a draft into quarantine, or says who has the same text.

        A reviewer fills the hive with what there is already: the limits of an hour are for others.

        Raises TooSensitive, InvalidInput, RateLimited; then nothing is stored.
        """
        _check_size(draft)
        replaced = self.replaceable(author, ItemId(draft.replaces), reviewer=reviewer) if draft.replaces else None
        self._admit(author, counted=not reviewer)
        rules = self._store.rules(author.organisation)
        redacted = self._strip(draft, rules)
        contribution = self._contribution(author, draft, redacted)
        if replaced:
            contribution = replace(contribution, replaces=replaced.id)
        approval = approving(rules, contribution)
        if approval is not None:
            contribution = self._approved(contribution, approval)
        record = author.record(
            "hive.contribute", self._parts.clock().timestamp(), id=contribution.id, category=contribution.category
        )
        id, status = self._store.add(contribution, record)
        duplicate = id != contribution.id
        count("HiveContributions", Outcome="duplicate" if duplicate else contribution.status)
        return Contributed(id, status, contribution.category, duplicate=duplicate)

    def replaceable(self, author: Author, id: ItemId, *, reviewer: bool) -> Contribution:
        """Return what a new contribution may take the place of: the author's own, or anything for a reviewer.

        Raises NotFound, and Conflict for what is rejected or not valid any more.
        """
        was = self._store.get(author.organisation, id)
        if was is None or (was.account != author.account and not reviewer):
            raise unknown(id)
        if was.status == "rejected" or was.invalid_at is not None:
            raise Conflict(
                "Only a contribution that is pending, or an item that is still valid, can be replaced.",
                hint="Contribute the new text without replaces.",
            )
        return was

    def search(self, author: Author, asked: HiveQuery) -> SearchAnswer:
        """One's own items and public ones, the most relevant first."""
        return self._parts.search.search(author.organisation, asked, self._parts.now())

    def fetch(self, author: Author, id: ItemId) -> Item:
        """The whole of an item that may be seen; also one that is not valid any more. Raises NotFound."""
        contribution, counts = self._visible(author, id)
        if not contribution.intact:
            logger.error("an item is not what was contributed", extra={"item": id})
            raise Unavailable("This item is damaged: its text is not the one that was reviewed.")
        self._store.retrieved(contribution, author.organisation)
        count("HiveRetrievals")
        return self._parts.item(author.organisation, contribution, counts)

    def look(self, author: Author, id: ItemId) -> Item:
        """An item as `fetch` has it, for people: it counts as no retrieval. Raises NotFound."""
        contribution, counts = self._visible(author, id)
        return self._parts.item(author.organisation, contribution, counts)

    def of_account(self, author: Author, status: Status | None, after: str | None) -> Iterator[Contribution]:
        """Yield what the author's own account contributed, newest first, after an id."""
        return self._store.of_account(author.organisation, author.account, status, after)

    def delete(self, author: Author, id: ItemId, *, reviewer: bool = False) -> None:
        """Removes what the author's own account contributed; a reviewer removes anything of the organisation.

        Raises NotFound, and Forbidden for an item of a colleague.
        """
        contribution = self._store.get(author.organisation, id)
        if contribution is None:
            raise unknown(id)
        if contribution.account != author.account and not reviewer:
            if contribution.status != "approved":
                raise unknown(id)
            raise Forbidden(
                "Another agent of your organisation contributed this item.",
                hint="Ask somebody with the scope hive:admin to delete it, or report that it did not help.",
            )
        record = author.record("hive.delete", self._parts.clock().timestamp(), id=id, status=contribution.status)
        if not self._store.delete(author.organisation, id, record):
            raise unknown(id)

    def publish(self, author: Author, id: ItemId, *, is_public: bool) -> Item:
        """Shares an item of one's own organisation with all others, or withdraws it. Raises NotFound and Conflict."""
        was = self._store.get(author.organisation, id)
        if was is None:
            raise unknown(id)
        if was.status != "approved":
            raise Conflict(
                f"This contribution is {was.status}: only what was approved can be published.",
                hint="Approve it first, in the console or with `commonplace hive approve`.",
            )
        if was.is_public != is_public:
            now = self._parts.now()
            item = replace(was, is_public=is_public, published_at=now if is_public else None, revision=was.revision + 1)
            event = "hive.publish" if is_public else "hive.withdraw"
            try:
                self._store.replace(item, was, author.record(event, self._parts.clock().timestamp(), id=id))
            except Decided:
                raise changed_meanwhile() from None
        contribution, counts = self._visible(author, id)
        return self._parts.item(author.organisation, contribution, counts)

    def report(self, author: Author, id: ItemId, outcome: Outcome, run_id: str | None = None) -> Reported:
        """Records once, for each agent and run, whether an item helped. Raises NotFound."""
        contribution, _ = self._visible(author, id)
        key = hashlib.sha256(f"{author.organisation}\n{author.account}\n{run_id or ''}".encode()).hexdigest()
        report = Report(
            item=contribution,
            organisation=author.organisation,
            key=key,
            outcome=outcome,
            day=self._parts.now()[:10],
        )
        record = author.record("hive.report", self._parts.clock().timestamp(), id=id, outcome=outcome)
        return self._store.report(report, record)

    def _visible(self, author: Author, id: ItemId) -> tuple[Contribution, Counts]:
        found = self._store.visible(author.organisation, [id]).get(id)
        if found is None:
            raise unknown(id)
        return found

    def _admit(self, author: Author, *, counted: bool) -> None:
        """Raises RateLimited."""
        parts = self._parts
        agents = Quota("hive-agent", parts.per_hour, HOUR)
        organisations = Quota("hive-organisation", parts.per_hour * OF_AN_ORGANISATION, HOUR)
        for quota, whose, name in (
            (agents, f"{author.organisation}|{author.account}", "This agent"),
            (organisations, author.organisation, "Your organisation"),
        ):
            allowance = parts.limiter.take(quota, whose) if counted else None
            if allowance is not None and not allowance.allowed:
                raise self._refused(
                    author,
                    f"{name} has contributed {quota.calls} times within the hour.",
                    allowance.reset_seconds,
                    "Contribute what others cannot find elsewhere, and put what belongs together into one text.",
                )
        if self._store.waiting(author.organisation) >= parts.max_pending:
            raise self._refused(
                author,
                f"{parts.max_pending} contributions of your organisation are pending.",
                HOUR,
                "Ask somebody with the scope hive:admin to review them in the console.",
            )

    def _refused(self, author: Author, message: str, seconds: int, hint: str) -> RateLimited:
        count("HiveContributions", Outcome="limited")
        self._store.refused(author.organisation, author.account, author.name)
        return RateLimited(message, retry_after_seconds=seconds, hint=hint)

    def _strip(self, draft: Draft, rules: Rules) -> Redacted:
        policy = replace(self._parts.policy, patterns=rules.patterns, allowed=rules.allowed)
        redacted = self._parts.redactor.redact(_fields(draft), policy)
        if redacted.shares.get("content", 0.0) > MAX_SHARE:
            count("HiveContributions", Outcome="too-sensitive")
            raise TooSensitive(REJECTED, hint="Describe what was learned without names, addresses and keys.")
        return redacted

    def _contribution(self, author: Author, draft: Draft, redacted: Redacted) -> Contribution:
        content = redacted.fields["content"].strip()
        hashed = content_hash(content)
        category = _category(draft.category)
        if len(content) < MIN_CONTENT:
            raise _too_short()
        signature = minhash.signature(content)
        now = self._parts.now()
        return Contribution(
            organisation=author.organisation,
            id=self._parts.new_id(),
            status="pending",
            content=content,
            content_hash=hashed,
            category=category,
            confidence=draft.confidence,
            contributed_at=now,
            valid_at=now,
            account=author.account,
            agent=author.name,
            framework=redacted.fields.get("framework"),
            language=redacted.fields.get("language"),
            version=redacted.fields.get("version"),
            tags=_tags(redacted),
            run_id=redacted.fields.get("run_id"),
            signature=signature,
            near=self._near(author.organisation, signature, hashed),
            marks=tuple(sorted({mark.code for mark in orders.orders(screened(redacted))})),
            redactions={kind: number for kind, number in redacted.counts.items() if number},
        )

    def _near(self, organisation: str, signature: str, hashed: str) -> tuple[ItemId, ...]:
        near = [one for one in self._store.near(organisation, signature) if one.content_hash != hashed]
        found = sorted(((minhash.similarity(signature, one.signature), one.id) for one in near), reverse=True)
        return tuple(id for similarity, id in found if similarity >= NEAR)[:NEAREST]

    def _approved(self, contribution: Contribution, approval: AutoApproval) -> Contribution:
        """By a rule, unless something means the same, or that cannot be told just now: then a person looks at it."""
        organisation = contribution.organisation
        try:
            similar = self._parts.search.similar(organisation, contribution.content, NEAREST)
        except Unavailable:
            return contribution
        near = [id for id, cosine in similar if cosine >= NEAR_MEANING]
        if near and (seen := self._store.visible(organisation, near)):
            return replace(contribution, near=tuple(seen))
        return decided(contribution, self._parts.now(), f"rule:{approval.id}")


def approving(rules: Rules, contribution: Contribution) -> AutoApproval | None:
    """The first rule that approves it: never what contains instructions, is in a language without marks, or resembles
    what is there."""
    if contribution.marks or contribution.near or contribution.replaces or not orders.covered(contribution.content):
        return None
    return next(
        (
            rule
            for rule in rules.approvals
            if rule.category in (None, contribution.category)
            and rule.agent in (None, contribution.agent)
            and (rule.category or rule.agent)
            and contribution.confidence >= rule.min_confidence
        ),
        None,
    )


def decided(was: Contribution, now: str, by: str) -> Contribution:
    """Approved. What is new comes into the index by its revision."""
    return replace(was, status="approved", decided_at=now, decided_by=by, revision=was.revision + 1)


def changed_meanwhile() -> Conflict:
    return Conflict("Somebody else has changed this item meanwhile.", hint="Look at it again, then decide.")


def screened(redacted: Redacted) -> str:
    """Every field, for what gives orders may stand in a tag as well."""
    return "\n".join(redacted.fields.values())


def _fields(draft: Draft) -> dict[str, str]:
    """By name; tags are `tags.0`, `tags.1` and so on. Empty ones are left out."""
    named = {
        "content": draft.content,
        "framework": draft.framework,
        "language": draft.language,
        "version": draft.version,
        "run_id": draft.run_id,
    }
    named |= {f"tags.{number}": tag for number, tag in enumerate(draft.tags)}
    return {name: text.strip() for name, text in named.items() if text and text.strip()}


def _tags(redacted: Redacted) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for name, text in redacted.fields.items() if name.startswith("tags.")))


def _category(text: str) -> Category:
    for category in CATEGORIES:
        if text.strip().lower().replace("-", "_").replace(" ", "_") == category:
            return category
    raise InvalidInput("There is no such category.", hint=f"Categories are {', '.join(CATEGORIES)}.")


def _check_size(draft: Draft) -> None:
    if len(draft.content.strip()) < MIN_CONTENT:
        raise _too_short()
    if compatible_length(draft.content[: MAX_CONTENT + 1]) > MAX_CONTENT:
        raise InvalidInput(
            f"A contribution has at most {MAX_CONTENT:,} characters.", hint="Contribute its parts one by one."
        )
    if any(_HALF_A_CHARACTER.search(text) for text in _fields(draft).values()):
        raise InvalidInput("A text contains a lone surrogate.", hint="Send whole characters, as UTF-8 has them.")


def _too_short() -> InvalidInput:
    return InvalidInput(
        f"A contribution has at least {MIN_CONTENT} characters.", hint="Say what was learned, and when it applies."
    )
