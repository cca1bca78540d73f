"""Parts of transactions about a grant, in table `identity`, for capabilities in which somebody acts with one."""

from __future__ import annotations

from commonplace.kernel.items import key
from commonplace.kernel.table import Table, Write

OF_ITS_END = ("pk", "sk", "revokedAt", "revokedBecause")
"""Every attribute that the end of a grant names."""


def live(table: Table, grant_id: str, now: int) -> Write:
    """Return the check that a grant lives: part of the transactions of capabilities in which somebody acts with it."""
    lives = "attribute_exists(pk) AND attribute_not_exists(#revokedAt) AND #expiresAt > :now"
    return table.check(key(f"grant#{grant_id}", "grant"), lives, now=now)


def end(table: Table, grant_id: str, because: str, now: int) -> Write:
    """Return the write that ends a grant. It names these attributes alone: a policy allows no other."""
    ended = "SET #revokedAt = :now, #revokedBecause = :because"
    lives = "attribute_exists(#pk) AND attribute_not_exists(#revokedAt)"
    return table.update(key(f"grant#{grant_id}", "grant"), ended, lives, now=now, because=because)
