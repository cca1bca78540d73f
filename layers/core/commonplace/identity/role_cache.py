"""A cache of hats, for five minutes, in table `cache`: every function judges by that one record.

Items: `pk = roles#{pseudonym}`, `sk = roles`, with the paths of the hats as text, `readAt` and `expiresAt` in epoch
seconds. The pseudonym stands for chain, contract, address and the hats requested. While the table does not respond, a
process judges by the last record that it saw; a chain that does not respond leaves nothing behind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from commonplace.identity.accounts import Hats, Worn
from commonplace.identity.secrets import pseudonym
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.items import Item, decoded, encode, key
from commonplace.kernel.table import Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

MAX_ACCOUNTS = 10_000
"""Remembered by one process; beyond it the one not seen for longest goes."""


@dataclass(frozen=True, slots=True)
class _CachedHats:
    hats: str
    read_at: int
    expires_at: int


@dataclass(eq=False, repr=False)
class RememberedHats:
    """`accounts.Hats` before another that is slow. Any thread may ask.

    The record is read at each call: a reading that another function has made since (at a sign-in or a refresh) counts
    for all of them at once, so that introspection and the guard of a call never differ. An age counts from before the
    question to the chain.

    `key` makes pseudonyms and may raise Unavailable; `clock` gives epoch seconds; 0 `seconds` is no memory.
    """

    hats: Hats
    client: DynamoDBClient
    table: str
    _: KW_ONLY
    key: Callable[[], bytes]
    chain_id: int
    contract: str
    paths: Iterable[str]
    seconds: int = 300
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        self._table = Table(self.client, self.table)
        self._asked = (str(self.chain_id), self.contract.lower(), " ".join(sorted(self.paths)))
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Worn] = OrderedDict()

    def worn(self, address: str, *, fresh: bool = False) -> Worn:
        """Raises Unavailable, which is never remembered."""
        account = address.lower()
        found = None if fresh or self.seconds <= 0 else self._recorded(account)
        if found is None:
            found = self.hats.worn(address, fresh=fresh)
            if self.seconds > 0 and not self._share(account, found):
                found = self._recorded(account) or found
        with self._lock:
            known = self._known.get(account)
            if known is None or known.read_at <= found.read_at:
                self._known[account] = found
            self._known.move_to_end(account)
            if len(self._known) > MAX_ACCOUNTS:
                self._known.popitem(last=False)
        return found

    def _recorded(self, account: str) -> Worn | None:
        try:
            known = decoded(_CachedHats, self._table.get(self._where(account)))
            worn = Worn(hats=frozenset(known.hats.split()), read_at=known.read_at) if known else None
        except Unavailable:
            logger.warning("roles could not be looked up")
            with self._lock:
                worn = self._known.get(account)
        # An answer from the future is none: whoever wrote it has another clock.
        return worn if worn and (-60 < self.clock() - worn.read_at < self.seconds) else None

    def _share(self, account: str, worn: Worn) -> bool:
        """Return False where another function has read them since, whose record stays."""
        reading = _CachedHats(" ".join(sorted(worn.hats)), worn.read_at, worn.read_at + self.seconds)
        older = "attribute_not_exists(pk) OR #readAt <= :at"
        try:
            written = self._table.write(self._table.put(self._where(account), encode(reading), older, at=worn.read_at))
        except Unavailable:
            logger.warning("roles could not be kept")
            return True
        return written is not None

    def _where(self, account: str) -> Item:
        return key(f"roles#{pseudonym(self.key(), 'roles', *self._asked, account)}", "roles")
