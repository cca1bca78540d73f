"""The stays of a piece of work: how often it goes from one module of ours into another, traced."""

import sys
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

OURS = "commonplace."


def stays(work: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Count the calls of `work` that enter a module from another, by `(module of the caller, module called)`.

    The caller is the nearest frame of ours in the same thread, whatever libraries stand between. Threads that `work`
    starts are traced too, those that run already are not.
    """
    found: Counter[tuple[str, str]] = Counter()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not (entered := _module(frame)).startswith(OURS):
            return
        caller = frame.f_back
        while caller is not None and not _module(caller).startswith(OURS):
            caller = caller.f_back
        left = _module(caller) if caller is not None else ""
        if left != entered:
            found[left, entered] += 1

    threading.setprofile(trace)
    sys.setprofile(trace)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
