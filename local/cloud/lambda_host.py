"""Runs functions as AWS Lambda does: an execution environment per concurrent call, started on demand and kept warm."""

import json
import math
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from local.cloud.asynchronous import AsyncConfig, see_through
from local.cloud.calls import Call, Function, Outcome, stopped
from local.cloud.pool import FunctionLog, LogCallback, Pool

_FUNCTION_ARN = re.compile(r"(?:arn:aws[\w-]*:lambda:[\w-]*:\d*:function:|(?:\d+:)?function:)?([\w-]+)(:[\w$-]+)?$")


class LambdaHost:
    """Every function of the stack, by name or by any form of its ARN."""

    def __init__(
        self,
        variables: Mapping[str, str],
        logs: Path,
        on_log: LogCallback | None = None,
        *,
        stand_in: bool = sys.platform != "linux",
    ) -> None:
        self._variables, self._logs, self._on_log, self._stand_in = dict(variables), logs, on_log, stand_in
        self._scratch = tempfile.TemporaryDirectory(prefix="commonplace-", ignore_cleanup_errors=True)
        self._pools: dict[str, Pool] = {}
        self._stopping = threading.Event()
        self.asynchronous: dict[str, AsyncConfig] = {}
        """By the ARN that is called, alias included."""
        self.set_aside: Callable[[str, str], object] = lambda queue_url, body: None  # noqa: ARG005
        """Sends a message to a queue."""

    def add(self, function: Function, label: str) -> None:
        """`label` names the log file and is what listeners are told."""
        scratch = Path(self._scratch.name) / label
        scratch.mkdir()
        log = FunctionLog(label, self._logs / f"{label}.log", self._on_log)
        variables = self._variables | {"TMPDIR": str(scratch)}
        self._pools[function.name] = Pool(function, variables, log, stand_in=self._stand_in)

    def invoke(self, name: str, payload: bytes) -> Outcome:
        """Run the function and wait for it. Raises `LookupError` when there is no such function."""
        outcome = self.invoke_within(name, payload, math.inf)
        assert outcome is not None  # noqa: S101  there is no time at which to give up
        return outcome

    def invoke_within(self, name: str, payload: bytes, seconds: float) -> Outcome | None:
        """The same for a caller that gives up after some seconds; the function goes on then."""
        pool, call = self._submit(name, payload)
        outcome = pool.attend(call, time.time() + seconds)
        if outcome is None:
            self._attend_later(pool, call)
        return outcome

    def invoke_later(self, name: str, payload: bytes) -> None:
        """Run the function without waiting (`InvocationType: Event`), and again if it fails."""
        pool, call = self._submit(name, payload)
        threading.Thread(
            target=self._see_through, args=(pool, call), name=f"attend-{pool.function.name}", daemon=True
        ).start()

    def _see_through(self, pool: Pool, call: Call) -> None:
        config = self.asynchronous.get(call.arn, AsyncConfig())

        def attempt(this: Call) -> Outcome:
            if this is not call:
                pool.submit(this)
            return pool.attend(this) or stopped()

        record = see_through(config, call, attempt, pause=lambda seconds: not self._stopping.wait(seconds))
        if record is not None and config.queue_url is not None:
            self.set_aside(config.queue_url, json.dumps(record))

    def _submit(self, name: str, payload: bytes) -> tuple[Pool, Call]:
        match = _FUNCTION_ARN.match(name)
        pool = self._pools.get(match[1]) if match else None
        if match is None or pool is None:
            raise LookupError(f"Function not found: {name}")
        call = Call(payload, pool.function.arn + (match[2] or ""))
        pool.submit(call)
        return pool, call

    def _attend_later(self, pool: Pool, call: Call) -> None:
        threading.Thread(target=pool.attend, args=(call,), name=f"attend-{pool.function.name}", daemon=True).start()

    @property
    def started(self) -> int:
        """Invocations since the start."""
        return sum(pool.started for pool in self._pools.values())

    @property
    def busy(self) -> list[str]:
        """Functions with calls that wait or run."""
        return [name for name, pool in self._pools.items() if pool.busy]

    def prewarm(self, *names: str) -> None:
        """Start an environment of these functions, or of all, for calls to come; where there is one, it stays."""
        for name in names or self._pools:
            self._pools[name].prewarm()

    @property
    def pids(self) -> list[int]:
        return [pid for pool in self._pools.values() for pid in pool.pids]

    def stop(self) -> None:
        self._stopping.set()
        for pool in self._pools.values():
            pool.stop()
        self._scratch.cleanup()
