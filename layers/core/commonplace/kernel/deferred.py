"""Deferred parts, loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Deferred(Generic[T]):
    """The result of `build`, built once at the first call; other threads wait for it.

    What could not be built is built again at the next call, so that nothing needs a restart.
    """

    def __init__(self, build: Callable[[], T]) -> None:
        self._build = build
        self._built: tuple[T] | None = None
        self._building = Lock()

    def __call__(self) -> T:
        if self._built is None:
            with self._building:
                if self._built is None:
                    self._built = (self._build(),)
        return self._built[0]


class _Proxy:
    def __init__(self, build: Callable[[], Any]) -> None:
        self._deferred = Deferred(build)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._deferred(), name)


def deferred(build: Callable[[], T]) -> T:
    """Stands for what `build` gives, and builds it when it is first used.

    `build` imports what it needs, so that a process that never uses the part never loads it.
    """
    return cast(T, _Proxy(build))
