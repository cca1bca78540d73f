"""What reviewers do with the hive: look through the queue, decide, make rules, invalidate (`hive:admin`)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from commonplace.hive import minhash, orders
from commonplace.hive.model import (
    CATEGORIES,
    MAX_ALLOWED,
    MAX_PATTERN_CHARACTERS,
    MAX_PATTERNS,
    MAX_REASON_CHARACTERS,
    MAX_RULES,
    MAX_SHARE,
    Contribution,
    Counts,
    Item,
    ItemId,
    Near,
    Review,
    Rules,
    Stats,
    content_hash,
)
from commonplace.hive.passages import PLACEHOLDER
from commonplace.hive.refusals import Decided, SameText, unknown
from commonplace.hive.service import NEAREST, Parts, changed_meanwhile, decided
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, InvalidInput, Unavailable
from commonplace.redaction.model import Kind

SIMILAR_MEANING = 0.75
"""Cosine from which on an item is shown beside a contribution."""
TOGETHER = 20
"""Items whose counts are read at once."""


class Reviews:
    """Every method concerns the author's own organisation. The interfaces judge whether the author may."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = parts.store

    def waiting(self, author: Author) -> int:
        """About how many are pending."""
        return self._store.waiting(author.organisation)

    def pending(
        self, author: Author, after: str | None = None, *, newest: bool = False, page: int = 100
    ) -> Iterator[Contribution]:
        """Yield the queue, oldest first, after an id; `page` contributions are read at once."""
        return self._store.pending(author.organisation, after, newest=newest, page=page)

    def items(
        self, author: Author, after: str | None = None, *, public: bool = False, page: int = TOGETHER
    ) -> Iterator[Item]:
        """Yield one of the two feeds, newest first: the organisation's own items, or public knowledge."""
        found = (
            self._store.published(after, page=page)
            if public
            else self._store.approved(author.organisation, after, page=page)
        )
        while part := list(islice(found, page)):
            read = self._store.items({one.id: one.organisation for one in part})
            yield from (self._parts.item(author.organisation, *read[one.id]) for one in part if one.id in read)

    def show(self, author: Author, id: ItemId) -> Review:
        """A contribution with what to know before deciding. Raises NotFound."""
        contribution = self._own(author, id)
        item = None
        if contribution.status == "approved":
            _, counts = self._store.visible(author.organisation, [id]).get(id, (contribution, Counts()))
            item = self._parts.item(author.organisation, contribution, counts)
        return Review(contribution, tuple(orders.orders(contribution.content)), self._near(contribution), item)

    def approve(self, author: Author, id: ItemId, *, public: bool = False) -> Contribution:
        """Makes it an item, published at once if asked for. Raises NotFound, and Conflict when it is decided."""
        was = self._pending(author, id)
        now = self._parts.now()
        item = decided(was, now, author.name)
        if public:
            item = replace(item, is_public=True, published_at=now)
        return self._replace(author, item, was, "hive.approve", self._superseded(author, was, now))

    def _superseded(self, author: Author, by: Contribution, now: str) -> tuple[Contribution, Contribution] | None:
        """Return what an approved contribution takes the place of, as it will be and as it was; None if it is gone."""
        was = self._store.get(author.organisation, by.replaces) if by.replaces else None
        if was is None or was.status == "rejected" or was.invalid_at is not None:
            return None
        reason, revision = f"Replaced by {by.id}.", was.revision + 1
        if was.status == "pending":
            return rejected(was, now, author.name, reason), was
        return replace(was, invalid_at=now, expired_at=now, reason=reason, revision=revision), was

    def reject(self, author: Author, id: ItemId, reason: str) -> Contribution:
        """Takes its text away and keeps the reason, for whoever contributed it. Raises as `approve`."""
        was = self._pending(author, id)
        return self._replace(author, rejected(was, self._parts.now(), author.name, _reason(reason)), was, "hive.reject")

    def flag(self, author: Author, id: ItemId, *, sensitive: bool) -> Contribution:
        """Requests a second review, or says that it was taken. Raises as `approve`."""
        was = self._pending(author, id)
        flagged = replace(was, sensitive=sensitive, revision=was.revision + 1)
        return was if was.sensitive == sensitive else self._replace(author, flagged, was, "hive.flag")

    def mask(self, author: Author, id: ItemId, passage: str, kind: Kind = "REDACTED") -> Contribution:
        """Puts a placeholder wherever a passage stands in a contribution: what the redaction has missed.

        Raises InvalidInput where it does not stand there, or too little would remain, and as `approve`.
        """
        was = self._pending(author, id)
        passage = passage.replace("\r\n", "\n").strip()
        if len(passage) == 1 and passage.isascii():
            raise InvalidInput("A passage of one letter would be masked in every word.", hint="Copy all of the datum.")
        fields = (was.content, *was.tags, *filter(None, (was.framework, was.language, was.version, was.run_id)))
        found = sum(field.count(passage) for field in fields) if passage else 0
        if not found:
            raise InvalidInput("This passage is not in the contribution.", hint="Copy it as it is written.")

        def masked(text: str) -> str:
            return text.replace(passage, f"[{kind}]")

        content = masked(was.content)
        words = content.split()
        if sum(PLACEHOLDER.search(word) is not None for word in words) > MAX_SHARE * len(words):
            raise InvalidInput("Too little of the text would remain.", hint="Reject the contribution instead.")
        contribution = replace(
            was,
            content=content,
            content_hash=content_hash(content),
            framework=was.framework and masked(was.framework),
            language=was.language and masked(was.language),
            version=was.version and masked(was.version),
            run_id=was.run_id and masked(was.run_id),
            tags=tuple(dict.fromkeys(map(masked, was.tags))),
            signature=minhash.signature(content),
            marks=tuple(sorted({mark.code for mark in orders.orders("\n".join(map(masked, fields)))})),
            redactions={**was.redactions, kind: was.redactions.get(kind, 0) + found},
            revision=was.revision + 1,
        )
        return self._replace(author, contribution, was, "hive.mask")

    def fill(self, author: Author, id: ItemId, kind: Kind, number: int, words: str) -> Contribution:
        """Put words in place of the `number`th placeholder of a kind in the content.

        Raises InvalidInput where there is no such placeholder, or where the redaction would take something out of the
        words, and as `approve`.
        """
        was, words = self._pending(author, id), " ".join(words.split())
        places = [found.start() for found in re.finditer(re.escape(f"[{kind}]"), was.content)]
        if len(places) < number:
            raise InvalidInput(f"The content has {len(places)} placeholders [{kind}].", hint="Count them from 1.")
        start = places[number - 1]
        content = was.content[:start] + words + was.content[start + len(kind) + 2 :]
        rules = self._store.rules(author.organisation)
        policy = replace(self._parts.policy, patterns=rules.patterns, allowed=rules.allowed)
        redacted = self._parts.redactor.redact({"content": content, "words": words}, policy)
        if not words or redacted.fields != {"content": content, "words": words}:
            raise InvalidInput("These words look like personal data.", hint="Rephrase it without names.")
        contribution = replace(
            was,
            content=content,
            content_hash=content_hash(content),
            signature=minhash.signature(content),
            marks=tuple(sorted({mark.code for mark in orders.orders("\n".join((content, *was.tags)))})),
            redactions={name: left for name, count in was.redactions.items() if (left := count - (name == kind))},
            revision=was.revision + 1,
        )
        return self._replace(author, contribution, was, "hive.fill")

    def invalidate(self, author: Author, id: ItemId, invalid_at: str | None, reason: str = "") -> Contribution:
        """From `invalid_at` on the item is not true any more, and is found only "as of" before; None undoes that.

        Nothing is deleted. Raises NotFound, InvalidInput for a time before the item was valid, Conflict.
        """
        was = self._own(author, id)
        if was.status != "approved":
            raise Conflict(f"This contribution is {was.status}: only an approved item can be invalidated.")
        if invalid_at is not None and invalid_at < was.valid_at:
            raise InvalidInput("An item cannot end before it begins.", hint=f"It is valid since {was.valid_at}.")
        item = replace(
            was,
            invalid_at=invalid_at,
            expired_at=None if invalid_at is None else self._parts.now(),
            reason=_reason(reason) or None,
            revision=was.revision + 1,
        )
        return self._replace(author, item, was, "hive.invalidate")

    def rules(self, author: Author) -> Rules:
        return self._store.rules(author.organisation)

    def change_rules(self, author: Author, rules: Rules) -> Rules:
        """Puts these in place of those with the same `revision`.

        Raises Conflict, InvalidInput whose details name the patterns that are none, Unavailable without the redaction.
        """
        was = self._store.rules(author.organisation)
        if was.revision != rules.revision:
            raise Conflict("The rules have been changed in the meantime.", hint="Read them again, then change them.")
        _check_rules(rules)
        if rules.patterns and (invalid := self._parts.invalid_patterns(rules.patterns)):
            raise _invalid(invalid)
        new = replace(rules, revision=was.revision + 1)
        record = author.record("hive.rules", self._parts.clock().timestamp(), revision=str(new.revision))
        try:
            self._store.put_rules(author.organisation, new, was, record)
        except Decided:
            raise Conflict("The rules have been changed in the meantime.", hint="Read them again.") from None
        return new

    def stats(self, author: Author) -> Stats:
        model, changed = self._parts.kept_model()
        return replace(self._store.stats(author.organisation), model=model, model_changed=changed)

    def _own(self, author: Author, id: ItemId) -> Contribution:
        contribution = self._store.get(author.organisation, id)
        if contribution is None:
            raise unknown(id)
        return contribution

    def _pending(self, author: Author, id: ItemId) -> Contribution:
        contribution = self._own(author, id)
        if contribution.status != "pending":
            raise already_decided(contribution)
        return contribution

    def _replace(
        self,
        author: Author,
        new: Contribution,
        was: Contribution,
        event: str,
        superseded: tuple[Contribution, Contribution] | None = None,
    ) -> Contribution:
        record = author.record(event, self._parts.clock().timestamp(), id=new.id, category=new.category)
        try:
            self._store.replace(new, was, record, superseded)
        except Decided as other:
            if other.now is None:
                raise unknown(new.id) from None
            decided_before = other.now.id == new.id and other.now.status != was.status
            raise (already_decided(other.now) if decided_before else changed_meanwhile()) from None
        except SameText as same:
            raise Conflict(
                f"The contribution {same.holder} has this very text.", hint="Reject this one.", id=same.holder
            ) from None
        return new

    def _near(self, contribution: Contribution) -> tuple[Near, ...]:
        """By words what is pending or approved, by meaning what is approved; none where the index does not answer."""
        if not contribution.content:
            return ()
        own = contribution.organisation
        found = {
            one.id: Near(
                one,
                round(minhash.similarity(contribution.signature, one.signature), 4),
                "words",
                own=one.organisation == own,
            )
            for one in self._store.near(own, contribution.signature)
            if one.id != contribution.id
        }
        try:
            similar = self._parts.search.similar(own, contribution.content, NEAREST + 1)
        except Unavailable:
            similar = ()
        near = [(id, cosine) for id, cosine in similar if cosine >= SIMILAR_MEANING and id != contribution.id]
        items = self._store.visible(own, [id for id, _ in near])
        for id, cosine in near:
            if id in items and (id not in found or found[id].similarity < cosine):
                found[id] = Near(items[id][0], round(cosine, 4), "meaning", own=items[id][0].organisation == own)
        return tuple(sorted(found.values(), key=lambda near: -near.similarity)[:NEAREST])


def rejected(was: Contribution, now: str, by: str, reason: str) -> Contribution:
    """Return a contribution without its text: the reason stays, for the contributor."""
    return replace(
        was,
        status="rejected",
        content="",
        content_hash="",
        tags=(),
        framework=None,
        language=None,
        version=None,
        run_id=None,
        signature="",
        near=(),
        decided_at=now,
        decided_by=by,
        reason=reason,
        revision=was.revision + 1,
    )


def already_decided(contribution: Contribution) -> Conflict:
    """Tells one reviewer of another's decision."""
    return Conflict(
        f"This contribution is {contribution.status} already, by {contribution.decided_by or 'somebody'}.",
        hint="Go on with the next; commonplace hive pending lists the others.",
        status=contribution.status,
        decidedBy=contribution.decided_by,
        decidedAt=contribution.decided_at,
    )


def _reason(text: str) -> str:
    text = " ".join(text.split())
    if len(text) > MAX_REASON_CHARACTERS:
        raise InvalidInput(f"A reason has at most {MAX_REASON_CHARACTERS} characters.")
    return text


def _check_rules(rules: Rules) -> None:
    for field, name, most in (
        ("approvals", "rules", MAX_RULES),
        ("patterns", "patterns", MAX_PATTERNS),
        ("allowed", "texts that are never masked", MAX_ALLOWED),
    ):
        if len(getattr(rules, field)) > most:
            hint = "Take out what is not needed any more."
            raise InvalidInput(f"There may be at most {most} {name}.", hint=hint, field=field)
    if len({rule.id for rule in rules.approvals}) < len(rules.approvals):
        raise InvalidInput("Two rules have the same id.", hint="Give each rule an id of its own.")
    for rule in rules.approvals:
        if not (rule.category or rule.agent):
            raise InvalidInput("A rule names a category, an agent or both.", hint="Otherwise it would approve all.")
        if rule.category not in (None, *CATEGORIES):
            raise InvalidInput("A rule names no category.", hint=f"Categories are {', '.join(CATEGORIES)}.")
        if not 0 <= rule.min_confidence <= 1:
            raise InvalidInput("The least confidence of a rule is a number from 0 to 1.")
    for field in ("patterns", "allowed"):
        if not all(0 < len(text.strip()) <= MAX_PATTERN_CHARACTERS for text in getattr(rules, field)):
            raise InvalidInput(f"Patterns and texts have 1 to {MAX_PATTERN_CHARACTERS} characters.", field=field)
    if any(len(text.strip()) == 1 and text.strip().isascii() for text in rules.allowed):
        raise InvalidInput("One letter stands in every text.", hint="Write the whole word.", field="allowed")


def _invalid(patterns: Mapping[str, str]) -> InvalidInput:
    told = "; ".join(f"{pattern}: {why}" for pattern, why in patterns.items())
    return InvalidInput(
        f"These patterns are not valid: {told}."[:1_000],
        hint="Patterns are regular expressions of RE2 for certain data, such as CUST-[0-9]{6}, without look-around.",
        patterns=dict(patterns),
        field="patterns",
    )
