"""Where functions that ask stores run: threads of this process, so that a deadline need not wait for them.

They outlive the requests they work for. A thread of its own for each request, as anyio ends them with the task that
began them, would cost as much as everything else in a small call.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

T = TypeVar("T")

MAX_THREADS = 32
"""What is given up at its deadline keeps its thread until it is done; beyond this many, calls wait for a free one."""

_THREADS = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="mcp-tool")


async def in_thread(run: Callable[..., T], *arguments: object) -> T:
    """What `run` gives for the arguments. Whoever is cancelled meanwhile goes at once; what it gives then is lost."""
    work = partial(copy_context().run, _run, run, arguments)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)


def _run(run: Callable[..., T], arguments: tuple[object, ...]) -> T:
    try:
        return run(*arguments)
    except StopIteration as error:  # a future cannot hold it, and would never be done
        raise RuntimeError("a function ran past the end of an iterator") from error
