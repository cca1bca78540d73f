"""A bound on the time that something takes, however it spends it."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives. Raises TimeoutError when it takes longer; it then goes on, unheard, until it ends by itself.

    Timeouts of sockets bound each read alone: who sends a byte now and then is never too late for them.
    """
    told: SimpleQueue[tuple[list[T], BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            told.put(([work()], None))
        except BaseException as error:  # noqa: BLE001 - raised where somebody waits for it
            told.put(([], error))

    Thread(target=run, name="ethereum", daemon=True).start()
    try:
        values, error = told.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return values[0]
