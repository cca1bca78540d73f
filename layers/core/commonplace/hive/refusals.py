"""What stands in the way of a change of contributions."""

from commonplace.hive.model import Contribution, ItemId
from commonplace.kernel.errors import NotFound


class Decided(Exception):
    """Somebody else has decided meanwhile. Nothing was written."""

    def __init__(self, now: Contribution | None) -> None:
        """`now` is the contribution as it is; None is deleted."""
        super().__init__()
        self.now = now


class SameText(Exception):
    """Another contribution of the organisation has this text. Nothing was written."""

    def __init__(self, holder: ItemId) -> None:
        super().__init__()
        self.holder = holder


def unknown(id: str) -> NotFound:
    """Return the refusal of an id: whether another organisation has it, an answer never says."""
    return NotFound(
        f"There is no item {id[:100]}.",
        hint="Take ids from search_knowledge or list_knowledge; this one may be deleted.",
    )
