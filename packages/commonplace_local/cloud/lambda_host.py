"""The host of functions, as AWS Lambda runs them: an execution environment per concurrent call, started on demand.

Failed asynchronous calls are repeated, and end in a queue when they never succeed. Source of the pauses and of the
record: AWS Lambda developer guide, "Understanding retry behavior" and "Capturing records of Lambda asynchronous
invocations".
"""

import json
import math
import os
import re
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from commonplace_local.cloud.runtime import (
    Call,
    Function,
    FunctionFailed,
    Outcome,
    SharedProcess,
    Worker,
    exited,
    stopped,
)

PAUSES_SECONDS = (60.0, 120.0)
"""Before the second attempt, and before the third."""

# A call that waits this long for a busy environment gets one of its own, as long as there are cores for it: a warm call
# takes milliseconds where a new process takes a second. AWS would start it at once.
GROW_AFTER_SECONDS = 0.01
LOOK_AGAIN_SECONDS = 0.25
CORES = os.cpu_count() or 1

SERVING, WORKING = "serving", "working"
"""The processes that functions may share. The one that works ends when there is nothing to do."""

LogCallback = Callable[[str, str], None]

_FUNCTION_ARN = re.compile(r"(?:arn:aws[\w-]*:lambda:[\w-]*:\d*:function:|(?:\d+:)?function:)?([\w-]+)(:[\w$-]+)?$")


@dataclass(frozen=True, slots=True)
class AsyncConfig:
    """The retries of calls of one alias; the defaults are those of AWS, which sets nothing aside."""

    retries: int = 2
    max_age_seconds: float = 21_600
    queue_url: str | None = None
    pauses_seconds: tuple[float, ...] = PAUSES_SECONDS


def see_through(
    config: AsyncConfig,
    call: Call,
    attempt: Callable[[Call], Outcome],
    *,
    pause: Callable[[float], bool],
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> dict[str, Any] | None:
    """Attempts the call until it succeeds; gives the record of one that never does.

    `pause` waits so many seconds, and says whether to go on: what is cut off at the end of the cloud is no failure.
    """
    begun, condition, attempts = clock(), "RetriesExhausted", 1
    outcome = attempt(call)
    for seconds in config.pauses_seconds[: config.retries]:
        if not outcome.failed:
            return None
        if not pause(seconds):
            return None
        if (clock() - begun).total_seconds() > config.max_age_seconds:
            condition = "EventAgeExceeded"
            break
        outcome = attempt(Call(call.payload, call.arn, call.id))
        attempts += 1
    if not outcome.failed or not pause(0):
        return None
    return {
        "version": "1.0",
        "timestamp": clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "requestContext": {
            "requestId": call.id,
            "functionArn": call.arn,
            "condition": condition,
            "approximateInvokeCount": attempts,
        },
        "requestPayload": json.loads(call.payload),
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "responsePayload": json.loads(outcome.payload),
    }


class FunctionLog:
    """The log of a function and its environments: appended to one file, and passed to a listener line by line."""

    def __init__(self, name: str, path: Path, listener: LogCallback | None) -> None:
        self.path, self._name, self._listener = path, name, listener
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    def __call__(self, line: str) -> None:
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        if self._listener is not None:
            self._listener(self._name, line)


class Pool:
    """The environments of one function and the calls that wait for them."""

    def __init__(
        self,
        function: Function,
        variables: Mapping[str, str],
        log: FunctionLog,
        *,
        shared: SharedProcess | None,
        stand_in: bool,
    ) -> None:
        self.function, self.log = function, log
        self._variables, self._shared, self._stand_in = variables, shared, stand_in
        self._lock = threading.RLock()
        self._waiting: deque[Call] = deque()
        self._workers: list[Worker] = []
        self._parked: dict[Worker, threading.Condition] = {}
        self._stopping = False
        self.started = 0

    @property
    def pids(self) -> list[int]:
        with self._lock:
            return [worker.process.pid for worker in self._workers]

    @property
    def busy(self) -> int:
        """Calls that wait or run."""
        with self._lock:
            return len(self._waiting) + sum(worker.call is not None for worker in self._workers)

    def submit(self, call: Call) -> None:
        """Queue a call. Whoever does so sees to it that somebody attends it."""
        with self._lock:
            self.started += 1
            if self._stopping:
                call.finish(stopped())
                return
            self._waiting.append(call)
            if not self._alive():
                self._start()
            self._wake()

    def attend(self, call: Call, give_up_at: float = math.inf) -> Outcome | None:
        """Wait for an environment, then for the answer, at most the function's timeout. `None` after `give_up_at`."""
        patience = GROW_AFTER_SECONDS if len(self._alive()) < CORES else LOOK_AGAIN_SECONDS
        while not call.taken.wait(min(patience, max(0.0, give_up_at - time.time()))):
            if time.time() >= give_up_at:
                return None
            with self._lock:
                alive = self._alive()
                booting = sum(not worker.ready for worker in alive)
                if len(self._waiting) > booting and len(alive) < self.function.concurrency and not self._stopping:
                    self._start()
            patience = LOOK_AGAIN_SECONDS
        if not call.done.wait(max(0.0, min(call.deadline, give_up_at) - time.time())):
            if call.deadline > give_up_at:
                return None
            with self._lock:
                worker = next((worker for worker in self._workers if worker.call is call), None)
            if worker is not None:
                worker.expire(call)
        call.done.wait()  # a timeout loses against an answer that is just coming in
        return call.outcome

    def prewarm(self) -> None:
        with self._lock:
            if not self._workers and not self._stopping:
                self._start()

    def _alive(self) -> list[Worker]:
        return [worker for worker in self._workers if not worker.lost]

    def _start(self) -> None:
        worker = Worker(
            self.function,
            self._variables,
            self.log,
            next_call=self._next_call,
            on_init_error=lambda outcome: self._fail_waiting(lambda _: outcome),  # another would fail alike
            on_exit=self._exited,
            retire=self._retire,
            shared=self._shared,
            stand_in=self._stand_in,
        )
        self._workers.append(worker)

    def _next_call(self, worker: Worker, gone: Callable[[], bool]) -> Call | None:
        with self._lock:
            worker.ready = True
            while not (worker.lost or self._stopping):
                if self._waiting:
                    if gone():
                        worker.lost = True
                        self._wake()
                        return None
                    call = self._waiting.popleft()
                    worker.begin(call)
                    return call
                self._parked[worker] = threading.Condition(self._lock)
                self._parked[worker].wait()
            return None

    def _wake(self, *, everybody: bool = False) -> None:
        """The idle environment that was started first: what it keeps in memory is then used again."""
        idle = [worker for worker in self._workers if worker in self._parked]
        for worker in idle if everybody else idle[:1]:
            self._parked.pop(worker).notify()

    def _retire(self, worker: Worker) -> bool:
        """End an environment without a call. Return False when it is needed."""
        with self._lock:
            if self._waiting or not worker.idle:
                return False
            worker.lost = True
            self._wake(everybody=True)
        worker.kill()
        return True

    def _fail_waiting(self, outcome: Callable[[Call], Outcome]) -> None:
        with self._lock:
            calls = list(self._waiting)
            self._waiting.clear()
        for call in calls:
            call.finish(outcome(call))

    def _exited(self, worker: Worker, status: int) -> None:
        with self._lock:
            self._wake(everybody=True)
            if worker in self._workers:
                self._workers.remove(worker)
        if not (worker.ready or worker.explained):  # it died before it could take a call: so would the next
            self._fail_waiting(lambda call: exited(call, status))
        with self._lock:
            if self._waiting and not self._alive() and not self._stopping:
                self._start()

    def stop(self) -> None:
        with self._lock:
            self._stopping = True
            workers = list(self._workers)
            self._wake(everybody=True)
        self._fail_waiting(lambda _: stopped())
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()


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
        self._shared: dict[str, SharedProcess] = {}
        self._scratch = tempfile.TemporaryDirectory(prefix="commonplace-", ignore_cleanup_errors=True)
        self._pools: dict[str, Pool] = {}
        self._stopping = threading.Event()
        self.asynchronous: dict[str, AsyncConfig] = {}
        """The configuration by the ARN that is called, alias included."""
        self.set_aside: Callable[[str, str], object] = lambda queue_url, body: None  # noqa: ARG005
        """Sends a message to a queue."""

    def add(self, function: Function, label: str, process: str | None = None) -> None:
        """`label` names the log file, also for listeners; `process` the one that it shares, else it has its own."""
        scratch = Path(self._scratch.name) / label
        scratch.mkdir()
        log = FunctionLog(label, self._logs / f"{label}.log", self._on_log)
        variables = self._variables | {"TMPDIR": str(scratch)}
        if process is not None and process not in self._shared:
            told = FunctionLog(process, self._logs / f"{process}.log", self._on_log)
            self._shared[process] = SharedProcess(
                process, function.path[1:], self._variables, told, ends=process != SERVING
            )
        shared = None if process is None else self._shared[process]
        self._pools[function.name] = Pool(function, variables, log, shared=shared, stand_in=self._stand_in)

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
            threading.Thread(target=pool.attend, args=(call,), name=f"attend-{pool.function.name}", daemon=True).start()
        return outcome

    def invoke_streaming(self, name: str, payload: bytes) -> Iterator[bytes]:
        """Yield the answer of a function that streams, piece by piece, as they come; the function goes on without a
        reader. Raises FunctionFailed, also in the midst of it."""
        pieces: SimpleQueue[bytes | None] = SimpleQueue()
        pool, call = self._submit(name, payload, pieces)
        threading.Thread(target=pool.attend, args=(call,), name=f"attend-{pool.function.name}", daemon=True).start()
        yield from iter(pieces.get, None)
        outcome = call.outcome or stopped()
        if outcome.failed:
            raise FunctionFailed(json.loads(outcome.payload or b"{}"))
        if outcome.payload:
            raise FunctionFailed({"errorType": "Runtime.NotStreamed", "errorMessage": "The answer was not streamed."})

    def invoke_later(self, name: str, payload: bytes) -> None:
        """Run the function without waiting (`InvocationType: Event`), and again if it fails."""
        pool, call = self._submit(name, payload)
        work = self._see_through
        threading.Thread(target=work, args=(pool, call), name=f"attend-{pool.function.name}", daemon=True).start()

    def _see_through(self, pool: Pool, call: Call) -> None:
        config = self.asynchronous.get(call.arn, AsyncConfig())

        def attempt(this: Call) -> Outcome:
            if this is not call:
                pool.submit(this)
            return pool.attend(this) or stopped()

        record = see_through(config, call, attempt, pause=lambda seconds: not self._stopping.wait(seconds))
        if record is not None and config.queue_url is not None:
            self.set_aside(config.queue_url, json.dumps(record))

    def _submit(self, name: str, payload: bytes, stream: SimpleQueue[bytes | None] | None = None) -> tuple[Pool, Call]:
        match = _FUNCTION_ARN.match(name)
        pool = self._pools.get(match[1]) if match else None
        if match is None or pool is None:
            raise LookupError(f"Function not found: {name}")
        call = Call(payload, pool.function.arn + (match[2] or ""), stream=stream)
        pool.submit(call)
        return pool, call

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

    def end_idle(self) -> None:
        """End the process that works, if it is shared and does nothing now."""
        if WORKING in self._shared:
            self._shared[WORKING].end_idle()

    @property
    def pids(self) -> list[int]:
        return sorted({pid for pool in self._pools.values() for pid in pool.pids})

    def stop(self) -> None:
        self._stopping.set()
        for pool in self._pools.values():
            pool.stop()
        for process in self._shared.values():
            process.stop()
        self._scratch.cleanup()
