"""A cache of hats, for five minutes: in this process, and in table `cache` for every function.

Items: `pk = roles#{pseudonym}`, `sk = roles`, with the paths of the hats as text, `readAt` and `expiresAt` in epoch
seconds. The pseudonym stands for chain, contract, address and the hats requested. A table that does not respond counts
as empty; a chain that does not respond leaves nothing behind.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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


class RememberedHats:
    """`accounts.Hats` before another that is slow. Any thread may ask.

    An age counts from before the question to the chain, wherever the answer comes from: two memories in a row are not
    twice as old.
    """

    def __init__(
        self,
        hats: Hats,
        client: DynamoDBClient,
        table: str,
        *,
        key: Callable[[], bytes],
        chain_id: int,
        contract: str,
        paths: Iterable[str],
        seconds: int = 300,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`key` makes pseudonyms and may raise Unavailable; `clock` gives epoch seconds; 0 `seconds` is no memory."""
        self._hats = hats
        self._table = Table(client, table)
        self._key = key
        self._asked = (str(chain_id), contract.lower(), " ".join(sorted(paths)))
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Worn] = OrderedDict()

    def worn(self, address: str, *, fresh: bool = False) -> Worn:
        """Raises Unavailable, which is never remembered."""
        account = address.lower()
        found = None if fresh or self._seconds <= 0 else self._here(account) or self._there(account)
        if found is None:
            found = self._hats.worn(address, fresh=fresh)
            if self._seconds > 0:
                self._share(account, found)
        self._keep(account, found)
        return found

    def _here(self, account: str) -> Worn | None:
        with self._lock:
            known = self._known.get(account)
        return known if known and self._young(known) else None

    def _keep(self, account: str, worn: Worn) -> None:
        with self._lock:
            known = self._known.get(account)
            if known is None or known.read_at <= worn.read_at:
                self._known[account] = worn
            self._known.move_to_end(account)
            if len(self._known) > MAX_ACCOUNTS:
                self._known.popitem(last=False)

    def _there(self, account: str) -> Worn | None:
        try:
            known = decoded(_CachedHats, self._table.get(self._where(account)))
        except Unavailable:
            logger.warning("roles could not be looked up")
            return None
        worn = Worn(hats=frozenset(known.hats.split()), read_at=known.read_at) if known else None
        return worn if worn and self._young(worn) else None

    def _share(self, account: str, worn: Worn) -> None:
        """Unless another function has read them since."""
        reading = _CachedHats(" ".join(sorted(worn.hats)), worn.read_at, worn.read_at + self._seconds)
        older = "attribute_not_exists(pk) OR #readAt <= :at"
        try:
            self._table.write(self._table.put(self._where(account), encode(reading), older, at=worn.read_at))
        except Unavailable:
            logger.warning("roles could not be kept")

    def _where(self, account: str) -> Item:
        return key(f"roles#{pseudonym(self._key(), 'roles', *self._asked, account)}", "roles")

    def _young(self, worn: Worn) -> bool:
        """An answer from the future is none: whoever wrote it has another clock."""
        return -60 < self._clock() - worn.read_at < self._seconds
