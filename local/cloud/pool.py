"""The execution environments of one function, and the calls that wait for them."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

from local.cloud.calls import Call, Function, Outcome, exited, stopped
from local.cloud.workers import Worker

# A call that waits this long for a busy environment gets one of its own. AWS would start it at once, but a warm
# call takes milliseconds where a new process takes a second.
GROW_AFTER_SECONDS = 0.05
LOOK_AGAIN_SECONDS = 0.25

LogCallback = Callable[[str, str], None]


class FunctionLog:
    """What a function and its environments say: appended to one file, and told to a listener line by line."""

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

    def __init__(self, function: Function, variables: Mapping[str, str], log: FunctionLog, *, stand_in: bool) -> None:
        self.function, self.log = function, log
        self._variables, self._stand_in = variables, stand_in
        self._changed = threading.Condition()
        self._waiting: deque[Call] = deque()
        self._workers: list[Worker] = []
        self._stopping = False
        self.started = 0

    @property
    def pids(self) -> list[int]:
        with self._changed:
            return [worker.process.pid for worker in self._workers]

    @property
    def busy(self) -> int:
        """Calls that wait or run."""
        with self._changed:
            return len(self._waiting) + sum(worker.call is not None for worker in self._workers)

    def submit(self, call: Call) -> None:
        """Queue a call. Whoever does so sees to it that somebody attends it."""
        with self._changed:
            self.started += 1
            if self._stopping:
                call.finish(stopped())
                return
            self._waiting.append(call)
            if not self._alive():
                self._start()
            self._changed.notify_all()

    def attend(self, call: Call, give_up_at: float = math.inf) -> Outcome | None:
        """Wait for an environment, then for the answer, at most the function's timeout. `None` after `give_up_at`."""
        patience = GROW_AFTER_SECONDS
        while not call.taken.wait(min(patience, max(0.0, give_up_at - time.time()))):
            if time.time() >= give_up_at:
                return None
            self._grow()
            patience = LOOK_AGAIN_SECONDS
        if not call.done.wait(max(0.0, min(call.deadline, give_up_at) - time.time())):
            if call.deadline > give_up_at:
                return None
            self._expire(call)
        call.done.wait()  # a timeout loses against an answer that is just coming in
        return call.outcome

    def prewarm(self) -> None:
        with self._changed:
            if not self._workers and not self._stopping:
                self._start()

    def _alive(self) -> list[Worker]:
        return [worker for worker in self._workers if not worker.lost]

    def _grow(self) -> None:
        with self._changed:
            alive = self._alive()
            booting = sum(not worker.ready for worker in alive)
            if len(self._waiting) > booting and len(alive) < self.function.concurrency and not self._stopping:
                self._start()

    def _start(self) -> None:
        worker = Worker(
            self.function,
            self._variables,
            self.log,
            next_call=self._next_call,
            on_init_error=self._init_error,
            on_exit=self._exited,
            stand_in=self._stand_in,
        )
        self._workers.append(worker)

    def _next_call(self, worker: Worker, gone: Callable[[], bool]) -> Call | None:
        with self._changed:
            worker.ready = True
            while not (worker.lost or self._stopping):
                if self._waiting:
                    if gone():
                        worker.lost = True
                        self._changed.notify_all()
                        return None
                    call = self._waiting.popleft()
                    worker.begin(call)
                    return call
                self._changed.wait()
            return None

    def _expire(self, call: Call) -> None:
        with self._changed:
            worker = next((worker for worker in self._workers if worker.call is call), None)
        if worker is not None:
            worker.expire(call)

    def _fail_waiting(self, outcome: Callable[[Call], Outcome]) -> None:
        with self._changed:
            calls = list(self._waiting)
            self._waiting.clear()
        for call in calls:
            call.finish(outcome(call))

    def _init_error(self, outcome: Outcome) -> None:
        self._fail_waiting(lambda _: outcome)  # another environment would fail alike

    def _exited(self, worker: Worker, status: int) -> None:
        with self._changed:
            if worker in self._workers:
                self._workers.remove(worker)
            self._changed.notify_all()
        if not (worker.ready or worker.explained):  # it died before it could take a call: so would the next
            self._fail_waiting(lambda call: exited(call, status))
        with self._changed:
            if self._waiting and not self._alive() and not self._stopping:
                self._start()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            workers = list(self._workers)
            self._changed.notify_all()
        self._fail_waiting(lambda _: stopped())
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()
