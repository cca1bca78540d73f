"""The ports of the hive, and what its stores may find in the way."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from commonplace.hive.model import (
    Asked,
    Contribution,
    Counts,
    ItemId,
    Page,
    Report,
    Reported,
    Rules,
    SearchAnswer,
    Stats,
    Status,
)
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import NotFound


class Decided(Exception):
    """Somebody else has decided meanwhile. Nothing was written."""

    def __init__(self, now: Contribution | None) -> None:
        """`now` is what became of it; None is deleted."""
        super().__init__()
        self.now = now


class SameText(Exception):
    """Another contribution of the organisation has this text. Nothing was written."""

    def __init__(self, holder: ItemId) -> None:
        super().__init__()
        self.holder = holder


class ContributionStore(Protocol):
    """Contributions on record. Reads are consistent. All methods raise Unavailable.

    Each call concerns one organisation, which comes first. A mutation and its audit record are one transaction. Keys
    begin `{organisation}#hive#`: `pending`, `items`, `rejected`, `hashes`, `mine#{account}`, `counts`, `outcomes`,
    `figures`, `rules`; what is published has a pointer under `public#hive`, and its hash under `public#hive#hashes`.
    """

    def add(self, contribution: Contribution, audit: AuditRecord) -> tuple[ItemId, Status]:
        """Keeps it as `pending`, or as `approved` by a rule, unless its organisation or public knowledge has the text.

        Answers who has it now: of concurrent callers one's own id, the others that same id.
        """
        ...

    def get(self, organisation: str, id: ItemId) -> Contribution | None:
        """A contribution of this organisation, whatever became of it."""
        ...

    def visible(self, organisation: str, ids: Sequence[ItemId]) -> dict[ItemId, tuple[Contribution, Counts]]:
        """The items among these that this organisation may see: its own, and those that are published now.

        A foreign id and one that is nobody's take the same reads.
        """
        ...

    def items(self, owners: Mapping[ItemId, str]) -> dict[ItemId, tuple[Contribution, Counts]]:
        """Items by id, each of the organisation that the index says: whoever asks judges what may be seen."""
        ...

    def waiting(self, organisation: str) -> int:
        """About how many are pending."""
        ...

    def pending(
        self, organisation: str, limit: int, after: ItemId | None = None, *, newest_first: bool = False
    ) -> Page:
        """The queue, oldest first, from beyond `after`, which need not be in it any more."""
        ...

    def of_account(
        self, organisation: str, account: str, status: Status | None, after: ItemId | None
    ) -> Iterator[Contribution]:
        """What one account contributed, newest first; read as far as it is taken."""
        ...

    def published(self, limit: int, after: ItemId | None = None) -> Page:
        """Public knowledge of all organisations, newest first."""
        ...

    def approved(self, organisation: str, limit: int, after: ItemId | None = None) -> Page:
        """The items of an organisation, newest first."""
        ...

    def near(self, organisation: str, signature: str) -> Sequence[Contribution]:
        """What shares a band of this signature, pending and approved, of this organisation and of public knowledge."""
        ...

    def replace(self, contribution: Contribution, was: Contribution, audit: AuditRecord) -> None:
        """Puts it in the place of `was`: a decision, a publication or its withdrawal, an invalidation, a flag, a mask.

        What is rejected loses its text and its hash; with another text goes another hash. Raises Decided, and
        SameText for a text that another contribution of the organisation has.
        """
        ...

    def delete(self, organisation: str, id: ItemId, audit: AuditRecord) -> bool:
        """Removes it with everything that was derived from it; False when there is none."""
        ...

    def report(self, report: Report, audit: AuditRecord) -> Reported:
        """Once per `Report.key`; counted once a day for each organisation and outcome."""
        ...

    def retrieved(self, contribution: Contribution, by: str) -> None:
        """Counts that an organisation fetched it. Never fails its caller."""
        ...

    def refused(self, organisation: str, account: str, agent: str) -> None:
        """Counts a contribution that was over a limit. Never fails its caller."""
        ...

    def rules(self, organisation: str) -> Rules: ...

    def put_rules(self, organisation: str, rules: Rules, was: Rules, audit: AuditRecord) -> None:
        """Raises Decided(None) when the rules were changed meanwhile."""
        ...

    def stats(self, organisation: str) -> Stats: ...

    def organisations(self) -> Iterator[str]:
        """Every organisation that ever contributed."""
        ...

    def versions(self, organisation: str) -> Iterator[tuple[ItemId, int]]:
        """Every item's id and revision, for reconciling the index."""
        ...


class Search(Protocol):
    """The search over the index. Both raise Unavailable."""

    def search(self, organisation: str, asked: Asked, now: str) -> SearchAnswer:
        """Own items and public ones that are valid at `asked.as_of`, or `now`, as the store has them."""
        ...

    def similar(self, organisation: str, text: str, limit: int) -> Sequence[tuple[ItemId, float]]:
        """Own items and public ones of similar meaning, the nearest first, with their cosine."""
        ...


def unknown(id: str) -> NotFound:
    """Nobody's item, or another organisation's private one: an answer never says which."""
    return NotFound(
        f"There is no item {id[:100]}.",
        hint="Take ids from search_knowledge or list_knowledge; this one may be deleted.",
    )
