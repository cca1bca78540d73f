"""Parts of transactions about a grant, in table `identity`, for capabilities in which somebody acts with one."""

from __future__ import annotations

from commonplace.kernel.items import Item, key
from commonplace.kernel.table import Table, Write

UNREVOKED = "attribute_exists(#pk) AND attribute_not_exists(#revokedAt)"
LIVES = f"{UNREVOKED} AND #expiresAt > :now"
"""That a grant lives is a condition of everything that is done with it."""
OF_ITS_END = ("pk", "sk", "revokedAt", "revokedBecause")
"""Every attribute that the end of a grant names."""


def grant_key(grant_id: str) -> Item:
    """Return the key of a grant."""
    return key(f"grant#{grant_id}", "grant")


def live(table: Table, grant_id: str, now: int) -> Write:
    """Return the check that a grant lives: part of the transactions of capabilities in which somebody acts with it."""
    return table.check(grant_key(grant_id), LIVES, now=now)


def end(table: Table, grant_id: str, because: str, now: int) -> Write:
    """Return the write that ends a grant. It names these attributes alone: a policy allows no other."""
    ended = "SET #revokedAt = :now, #revokedBecause = :because"
    return table.update(grant_key(grant_id), ended, UNREVOKED, now=now, because=because)
