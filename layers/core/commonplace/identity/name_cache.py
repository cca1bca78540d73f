"""A cache of wallets' names, for an hour: in this process, and in table `cache` for all of them.

Items: `pk = ens#{pseudonym of the address}`, `sk = ens`, encrypted under another pseudonym of it: a dump of the table
shows neither who signs in nor their names. A table that does not respond counts as empty.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Protocol

from commonplace.identity.secrets import SealBroken, pseudonym, seal, unseal
from commonplace.identity.wallets import NAMELESS, Named
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, key
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

NAME_SECONDS = 3_600
MAX_NAMES = 1_000


class NameLookup(Protocol):
    def lookup(self, address: str) -> Named | None:
        """None when it could not be found out now."""
        ...


@dataclass(eq=False, repr=False)
class RememberedNames:
    """`wallets.Names` before another that is slow. Raises nothing.

    `key` makes pseudonyms and may raise Unavailable; `clock` gives epoch seconds.
    """

    names: NameLookup
    client: DynamoDBClient
    table: str
    _: KW_ONLY
    key: Callable[[], bytes]
    seconds: int = NAME_SECONDS
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._table = Table(self.client, self.table)
        self._known: OrderedDict[str, tuple[float, Named]] = OrderedDict()

    def of(self, address: str) -> Named:
        known = self._known.get(address)
        if known is not None and known[0] > self.clock():
            return known[1]
        try:
            item = self._table.get(self._where(address), consistent=False)
            if item is None or item["expiresAt"] <= self.clock():
                found = None
            else:
                values = unseal(self._secret(address), "ens", item["sealed"])
                found = float(item["expiresAt"]), Named(**values)
        except (Unavailable, SealBroken, KeyError, TypeError, ValueError) as error:
            logger.warning("a name could not be looked up", extra={"error": type(error).__name__})
            found = None
        if found is None:
            named = self.names.lookup(address)
            if named is None:
                return NAMELESS
            found = (self.clock() + self.seconds, named)
            self._share(address, *found)
        self._known[address] = found
        if len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)
        return found[1]

    def _share(self, address: str, expires_at: float, named: Named) -> None:
        values = {"name": named.name, "avatar": named.avatar, "github": named.github}
        try:
            item = {"sealed": seal(self._secret(address), "ens", values), "expiresAt": int(expires_at)}
            self._table.write(self._table.put(self._where(address), item))
        except Unavailable:
            logger.warning("a name could not be kept")

    def _where(self, address: str) -> Item:
        return key(f"ens#{pseudonym(self.key(), 'ens', address)}", "ens")

    def _secret(self, address: str) -> str:
        return pseudonym(self.key(), "ens sealed", address)
