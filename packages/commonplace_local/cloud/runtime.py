"""One execution environment: a process that runs the handler, and the Lambda Runtime API (2018-06-01) it talks to.

Calls are for the process that runs the function alone: it brings the access key of the run at the end of its
User-Agent, since its client sends no header of ours. A failed import comes from another client, which sends no agent.
"""

import hmac
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from commonplace_local.cloud.bootstrap import STAND_IN_FLAG
from commonplace_local.cloud.environment import ACCOUNT, REGION
from commonplace_local.cloud.servers import Loopback, LoopbackHandler
from commonplace_local.cloud.shared import SEPARATOR

MAX_PAYLOAD_BYTES = 6_291_456  # synchronous, both ways (AWS Lambda quotas)

BOOTSTRAP, SHARED = Path(__file__).with_name("bootstrap.py"), Path(__file__).with_name("shared.py")
ANSWER_SECONDS = 5.0
"""A shared process in which a call took too long has so long to show that the others can go on."""
IDLE_SECONDS = 120.0
"""A process that works ends after so long without a call."""
INIT_SECONDS = 60.0  # AWS allows 10; a laptop that starts several processes at once needs longer


class FunctionFailed(Exception):
    """An invoked function raised, timed out or died; `kind` is the name of its error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.kind, self.message = str(error.get("errorType", "")), str(error.get("errorMessage", ""))
        super().__init__(f"{self.kind}: {self.message}")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the template. `path` are the folders that AWS would unpack to /var/task and /opt/python."""

    name: str
    handler: str
    path: tuple[Path, ...]
    variables: Mapping[str, str]
    timeout_seconds: float = 3
    memory_mb: int = 128
    concurrency: int = 4
    log_format: str = "Text"
    log_level: str | None = None

    @property
    def arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.name}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of an invocation: the function's JSON, or the error object that AWS puts in its place."""

    payload: bytes
    failed: bool = False


@dataclass(eq=False, slots=True)
class Call:
    """One invocation on its way. The first `finish` wins: an answer, a timeout and a crash may race."""

    payload: bytes
    arn: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    deadline: float = 0.0  # epoch seconds, set when an environment takes the call
    outcome: Outcome | None = None
    stream: SimpleQueue[bytes | None] | None = None
    """Where an answer goes piece by piece, for whoever takes it so; None is its end."""
    taken: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def trace(self) -> str:
        return f"Root=1-{int(time.time()):08x}-{self.id.replace('-', '')[:24]};Sampled=0"

    def finish(self, outcome: Outcome) -> bool:
        """Return True when this outcome is the one that counts."""
        with self._lock:
            if self.outcome is not None:
                return False
            self.outcome = outcome
        if self.stream is not None:
            self.stream.put(None)
        self.taken.set()
        self.done.set()
        return True


def platform_error(kind: str, message: str) -> Outcome:
    """An error that comes from the platform, not from the handler."""
    return Outcome(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)


def exited(call: Call, status: int) -> Outcome:
    how = f"signal: {-status}" if status < 0 else f"exit status {status}"
    return platform_error("Runtime.ExitError", f"RequestId: {call.id} Error: Runtime exited with error: {how}")


def stopped() -> Outcome:
    return platform_error("Lambda.ServiceException", "The laptop cloud is stopping.")


def runtime_api(environment: "Worker", key: str) -> Loopback:
    class Api(LoopbackHandler):
        def gone(self) -> bool:
            """Return True when the process died while it was parked in `/next`: its socket is at its end."""
            try:
                readable = select.select([self.connection], [], [], 0)[0]
                return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
            except OSError:
                return True

        def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def is_known(self) -> bool:
            """Return True when the agent ends with the key; else refuse the request."""
            agent = self.headers.get("User-Agent", "").encode("latin-1")
            if hmac.compare_digest(agent.rpartition(b" ")[2], key.encode()):
                return True
            self.refuse(HTTPStatus.FORBIDDEN, "Calls are for the process that runs the function.")
            return False

        def do_GET(self) -> None:
            if not self.is_known():
                return
            call = environment.take(self.gone)
            if call is None:
                self.close_connection = True
                return
            headers = {
                "Lambda-Runtime-Aws-Request-Id": call.id,
                "Lambda-Runtime-Deadline-Ms": str(int(call.deadline * 1000)),
                "Lambda-Runtime-Invoked-Function-Arn": call.arn,
                "Lambda-Runtime-Trace-Id": call.trace,
                "Content-Type": "application/json",  # without it the C client of awslambdaric 4.2 crashes
            }
            self.reply(200, call.payload, headers)

        def do_POST(self) -> None:
            _, _, kind, *rest = self.path.strip("/").split("/")
            if kind != "init" and not self.is_known():
                return
            if self.headers.get("Transfer-Encoding", "") == "chunked":
                failed = self.pass_on(environment.call)
                if failed is None:
                    self.close_connection = True  # the process has died, and whoever watches it says so
                    return
                environment.finish(rest[0], b"{}" if failed else b"", failed=failed)
                self.reply(202, b"{}", {"Content-Type": "application/json"})
                return
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kind == "init":
                environment.init_failed(body)
            else:
                environment.finish(rest[0], body, failed=rest[1] == "error")
            self.reply(202, b"{}", {"Content-Type": "application/json"})

        def pass_on(self, call: Call | None) -> bool | None:
            """Pass the pieces of a streamed answer on as they come. Return whether its trailer says that it failed;
            None for an answer that breaks off."""
            while line := self.rfile.readline():
                piece = self.rfile.read(size) if (size := int(line, 16)) else b""
                if not size:
                    trailer = b"".join(iter(self.rfile.readline, b"\r\n"))
                    return b"lambda-runtime-function-error-type" in trailer.lower()
                self.rfile.readline()
                if call is not None and call.stream is not None:
                    call.stream.put(piece)
            return None

    return Loopback(Api)


class SharedProcess:
    """A process that several functions share: each environment is a thread of it. It starts with the first of them.

    One that `ends` goes when no environment has had a call for `IDLE_SECONDS`, and starts again with the next.
    """

    def __init__(
        self, name: str, path: Iterable[Path], variables: Mapping[str, str], log: Callable[[str], None], *, ends: bool
    ) -> None:
        self.name, self._log, self._ends = name, log, ends
        own = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": os.pathsep.join(map(str, path))}
        self._variables = {**variables, **own}
        self._lock = threading.Lock()
        self._environments: dict[str, tuple[Worker, subprocess.Popen[bytes]]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._watchers: list[threading.Thread] = []
        self._ended, self._answered = threading.Event(), threading.Event()

    def start(self, worker: "Worker", variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start an environment, and the process where there is none. Return the process."""
        folder, handler = str(worker.function.path[0]), worker.function.handler
        order = {"id": worker.id, "folder": folder, "handler": handler, "variables": dict(variables)}
        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._process = _started([str(SHARED)], None, self._variables)
                watcher = threading.Thread(target=self._watch, args=(process,), name=f"watch-{self.name}", daemon=True)
                self._watchers = [*(one for one in self._watchers if one.is_alive()), watcher]
                watcher.start()
            self._environments[worker.id] = worker, process
            with suppress(OSError, ValueError):  # it has just ended: whoever watches it says so
                assert process.stdin is not None  # noqa: S101  asked for a pipe
                process.stdin.write(json.dumps(order).encode() + b"\n")
                process.stdin.flush()
        return process

    def forget(self, worker: "Worker") -> None:
        """Leave an environment out that is lost; its thread ends with the call that it may still be in."""
        with self._lock:
            self._environments.pop(worker.id, None)

    def check(self, process: subprocess.Popen[bytes]) -> None:
        """End the process unless it answers: a call that never lets go of the interpreter stops all the others."""
        self._answered.clear()
        with suppress(OSError, ValueError), self._lock:
            assert process.stdin is not None  # noqa: S101  asked for a pipe
            process.stdin.write(b"null\n")
            process.stdin.flush()
        if not self._answered.wait(ANSWER_SECONDS):
            self._log(f"did not answer within {ANSWER_SECONDS:g} s")
            _kill(process)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None  # noqa: S101  asked for a pipe
        if self._ends:
            threading.Thread(target=self._end_when_idle, args=(process,), name=f"idle-{self.name}", daemon=True).start()
        with process.stdout as stream:
            for line in stream:
                environment, found, text = line.decode(errors="replace").rstrip("\n").partition(SEPARATOR)
                if found and not environment and not text:
                    self._answered.set()
                    continue
                worker, _ = self._environments.get(environment, (None, None))
                (worker.log if worker else self._log)(text if found else environment)
        status = process.wait()
        with self._lock:
            assert process.stdin is not None  # noqa: S101  asked for a pipe
            with suppress(OSError):
                process.stdin.close()
            mine = [worker for worker, its in self._environments.values() if its is process]
        for worker in mine:
            worker.ended(status)

    def _end_when_idle(self, process: subprocess.Popen[bytes]) -> None:
        while not self._ended.wait(IDLE_SECONDS / 4) and process.poll() is None:
            self.end_idle(IDLE_SECONDS)

    def end_idle(self, seconds: float = 0.0) -> None:
        """End the process, unless an environment had a call within so many seconds."""
        with self._lock:
            workers = [worker for worker, _ in self._environments.values()]
        recent = max((worker.used for worker in workers), default=0.0)
        if time.monotonic() - recent < seconds or not all(worker.retire(worker) for worker in workers):
            return
        with self._lock:
            process = self._process
            if process is not None and not self._environments:
                self._process = None
                _kill(process)

    def stop(self) -> None:
        self._ended.set()
        with self._lock:
            process = self._process
        if process is not None:
            _kill(process)
        for watcher in self._watchers:
            watcher.join(5)


def _started(words: Sequence[str], folder: Path | None, variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=dict(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C is the parent's; a process group of its own can be ended whole
    )


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it started. Returns at once."""
    with suppress(OSError):  # it has gone by itself
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class Worker:
    """Runs one call at a time. `pool` hands out calls and is notified when this environment is lost."""

    def __init__(
        self,
        function: Function,
        variables: Mapping[str, str],
        log: Callable[[str], None],
        *,
        next_call: Callable[["Worker", Callable[[], bool]], Call | None],
        on_init_error: Callable[[Outcome], None],
        on_exit: Callable[["Worker", int], None],
        retire: Callable[["Worker"], bool],
        shared: SharedProcess | None = None,
        stand_in: bool = False,
    ) -> None:
        self.function, self.log, self.retire, self._shared = function, log, retire, shared
        self.id = uuid.uuid4().hex
        self.used = time.monotonic()
        """When it was started, or had its last call."""
        self._next_call, self._on_init_error, self._on_exit = next_call, on_init_error, on_exit
        self.ready = self.lost = self.explained = False
        self.call: Call | None = None
        # Before the process, which may ask for its first call at once.
        self._impatience = threading.Timer(INIT_SECONDS, self._give_up)
        self._impatience.daemon = True
        self._api = runtime_api(self, variables["AWS_ACCESS_KEY_ID"] + (self.id if shared else ""))
        self._api.start()
        self._threads: tuple[threading.Thread, ...] = ()
        self._impatience.start()
        if shared is not None:
            self.process = shared.start(self, self._environment(variables))
            return
        words = [str(BOOTSTRAP), function.handler, *([STAND_IN_FLAG] if stand_in else [])]
        self.process = _started(words, function.path[0], self._environment(variables))
        reader = threading.Thread(target=self._read_log, name=f"log-{function.name}", daemon=True)
        watcher = threading.Thread(target=self._watch, name=f"watch-{function.name}", daemon=True)
        self._threads = (watcher, reader)
        for thread in self._threads:
            thread.start()

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        function = self.function
        if "AWS_ENDPOINT_URL" not in variables:
            raise RuntimeError("A worker without AWS_ENDPOINT_URL would call the real AWS.")
        own = {
            "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._api.server_port}",
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": f"laptop/{self._api.server_port}",
            "AWS_LAMBDA_LOG_FORMAT": function.log_format,
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "_HANDLER": function.handler,
            "LAMBDA_TASK_ROOT": str(function.path[0]),
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": os.pathsep.join(map(str, function.path)),
        }
        if self._shared is not None:
            own["COMMONPLACE_ENVIRONMENT"] = self.id
        if function.log_level:
            own["AWS_LAMBDA_LOG_LEVEL"] = function.log_level
        return {**function.variables, **variables, **own}

    @property
    def idle(self) -> bool:
        return self.ready and self.call is None

    def take(self, gone: Callable[[], bool]) -> Call | None:
        """The next call, however long it takes; `None` when the process will not answer any more."""
        self._impatience.cancel()
        return self._next_call(self, gone)

    def begin(self, call: Call) -> None:
        """The pool gave this worker a call; the clock starts now."""
        self.call, self.used = call, time.monotonic()
        call.deadline = time.time() + self.function.timeout_seconds
        call.taken.set()

    def finish(self, call_id: str, body: bytes, *, failed: bool) -> None:
        call = self.call
        if call is None or call.id != call_id:
            return
        self.call, self.used = None, time.monotonic()
        if len(body) <= MAX_PAYLOAD_BYTES:
            call.finish(Outcome(body, failed))
        else:
            what = f"Response payload size ({len(body)} bytes) exceeded maximum allowed payload size"
            call.finish(platform_error("Function.ResponseSizeTooLarge", f"{what} ({MAX_PAYLOAD_BYTES} bytes)."))

    def expire(self, call: Call) -> None:
        """The function's time is up: the call fails and the process goes, as on AWS."""
        told = f"RequestId: {call.id} Error: Task timed out after {self.function.timeout_seconds:.2f} seconds"
        if call.finish(platform_error("Sandbox.Timedout", told)):
            self.log(f"{call.id} timed out after {self.function.timeout_seconds:g} s")
            self._kill_late()

    def init_failed(self, body: bytes) -> None:
        self.lost = self.explained = True
        self._on_init_error(Outcome(body, failed=True))
        if self._shared is not None:
            self.ended(1)

    def _give_up(self) -> None:
        if not self.ready:
            self.log(f"did not become ready within {INIT_SECONDS:g} s")
            self._kill_late()

    def _kill_late(self) -> None:
        """End what took too long; a process that goes on, since others share it, has to show that it can."""
        self.kill()
        if self._shared is not None:
            self._shared.check(self.process)

    def _read_log(self) -> None:
        assert self.process.stdout is not None  # noqa: S101  asked for a pipe
        with self.process.stdout as stream:
            for line in stream:
                self.log(line.decode(errors="replace").rstrip("\n"))

    def _watch(self) -> None:
        status = self.process.wait()
        assert self.process.stdin is not None  # noqa: S101  asked for a pipe
        self.process.stdin.close()
        self.ended(status)

    def ended(self, status: int) -> None:
        """Its process has ended, or its thread in a process that goes on."""
        self.lost = True
        if self._shared is not None:
            self._shared.forget(self)
        self._impatience.cancel()
        call, self.call = self.call, None
        if call is not None and call.finish(exited(call, status)):
            self.log(f"{call.id} ended with its process, status {status}")
        self._on_exit(self, status)
        self._api.stop()

    def kill(self) -> None:
        """End the process and whatever it started. Returns at once; `join` waits.

        A process that others share goes on: its thread is left alone, and ends when it next asks for a call.
        """
        self.lost = True
        if self._shared is None:
            _kill(self.process)
        else:
            self.ended(0)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(5)
