"""The port to an object store (S3): conditional writes, and reads that detect what has not changed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

OPERATIONS_PREFIX = "operations/"
"""Plans, staged files, full reports: for operators only, expiring; the functions that serve readers cannot read it."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    body: bytes
    etag: str
    """Without quotes."""


@dataclass(frozen=True, slots=True)
class ListedObject:
    key: str
    etag: str
    size: int


MAX_KEY_BYTES = 1024
"""S3's bound on a key in UTF-8 (User Guide, "Naming Amazon S3 objects"). Every store holds to it."""


class NotStorable(ValueError):
    """The store refuses this object, however often it is put."""


def check_key(key: str) -> None:
    """Raise NotStorable for a key that is too long for S3, ValueError for one that is not Unicode."""
    if len(key.encode()) > MAX_KEY_BYTES:
        raise NotStorable(f"the key has more than {MAX_KEY_BYTES:,} bytes")


class PreconditionFailed(Exception):
    """A conditional write met another version than the one it expected."""


class ObjectReader(Protocol):
    """Reading side of an object store (S3)."""

    def get(self, key: str) -> StoredObject | None:
        """The object, or None when there is none."""
        ...

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        """The object unless its ETag is still `etag`; None means unchanged. Raises KeyError when there is none."""
        ...


class ObjectStore(ObjectReader, Protocol):
    """Reading and writing side of an object store (S3)."""

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        """Writes and returns the new ETag.

        Raises PreconditionFailed when `if_match` or `if_absent` does not hold, NotStorable for what is never taken.
        """
        ...

    def delete(self, keys: Iterable[str]) -> None:
        """Removes the objects; absent ones are no error."""
        ...

    def list(self, prefix: str) -> Iterator[ListedObject]:
        """Every object under the prefix, in key order."""
        ...
