"""Processes that tests start: none outlives its test, and no signal is ignored that a test may send."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import AnyStr

INHERITED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that a script ignores for its background jobs (POSIX.1-2017, XCU 2.11), and `nohup` for its command."""


@contextmanager
def ended(process: "subprocess.Popen[AnyStr]") -> Iterator["subprocess.Popen[AnyStr]"]:
    """Yield the process, and kill it when the block raises: a test that failed does not wait for its process."""
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def heed_signals() -> None:
    """Give ignored or blocked signals their default action, in this process and in all that it will start."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INHERITED)
    for number in INHERITED:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
