"""An object store in memory, with S3's conditions, its events, and crashes where a test wants them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from commonplace.kernel.objects import ListedObject, PreconditionFailed, StoredObject, check_key


class Crash(BaseException):
    """The process ends here: no `except Exception` may survive it."""


@dataclass(frozen=True, slots=True)
class ObjectEvent:
    """What S3 would tell: created or removed, and the key."""

    key: str
    created: bool


class FakeObjectStore:
    """`crash_after` counts writes down to a Crash; the write before it has happened, the next has not."""

    def __init__(self) -> None:
        self.objects: dict[str, StoredObject] = {}
        self.events: list[ObjectEvent] = []
        self.crash_after: int | None = None
        self.refused: dict[str, Exception] = {}
        """Key -> what a write of it raises."""
        self._interrupt: tuple[int, Callable[[], None]] | None = None

    def interrupt(self, after: int | None, action: Callable[[], None]) -> None:
        """Runs `action` once, before the write that follows `after` more; None takes it back."""
        self._interrupt = None if after is None else (after, action)

    def get(self, key: str) -> StoredObject | None:
        return self.objects.get(key)

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        found = self.objects[key]
        return None if found.etag == etag else found

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        check_key(key)
        if key in self.refused:
            raise self.refused[key]
        self._count_down()
        found = self.objects.get(key)
        if if_absent and found:
            raise PreconditionFailed(key)
        if if_match is not None and (found is None or found.etag != if_match):
            raise PreconditionFailed(key)
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        self.objects[key] = StoredObject(body, etag)
        self.events.append(ObjectEvent(key, created=True))
        return etag

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._count_down()
            if self.objects.pop(key, None):
                self.events.append(ObjectEvent(key, created=False))

    def list(self, prefix: str) -> Iterator[ListedObject]:
        for key in sorted(self.objects):
            if key.startswith(prefix):
                found = self.objects[key]
                yield ListedObject(key, found.etag, len(found.body))

    def _count_down(self) -> None:
        if self._interrupt is not None:
            left, action = self._interrupt
            self._interrupt = (left - 1, action) if left else None
            if not left:
                action()
        if self.crash_after is None:
            return
        if self.crash_after == 0:
            self.crash_after = None
            raise Crash
        self.crash_after -= 1
