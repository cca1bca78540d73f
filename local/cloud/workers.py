"""One execution environment: a process that runs the handler, and the Runtime API it talks to."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from local.cloud.bootstrap import STAND_IN_FLAG
from local.cloud.calls import MAX_PAYLOAD_BYTES, Call, Function, Outcome, exited, timed_out, too_large
from local.cloud.runtime_api import runtime_api

BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
INIT_SECONDS = 60.0  # AWS allows 10; a laptop that starts several processes at once needs longer


class Worker:
    """Runs one call at a time. `pool` hands out calls and is told when this environment is lost."""

    def __init__(
        self,
        function: Function,
        variables: Mapping[str, str],
        log: Callable[[str], None],
        *,
        next_call: Callable[["Worker", Callable[[], bool]], Call | None],
        on_init_error: Callable[[Outcome], None],
        on_exit: Callable[["Worker", int], None],
        stand_in: bool = False,
    ) -> None:
        self.function, self._log = function, log
        self._next_call, self._on_init_error, self._on_exit = next_call, on_init_error, on_exit
        self.ready = self.lost = self.explained = False
        self.call: Call | None = None
        self._api = runtime_api(self, variables["AWS_ACCESS_KEY_ID"])
        self._api.start()
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(BOOTSTRAP), function.handler, *([STAND_IN_FLAG] if stand_in else [])],
            cwd=function.path[0],
            env=self._environment(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is the parent's; a process group of its own can be ended whole
        )
        self._impatience = threading.Timer(INIT_SECONDS, self._give_up)
        self._impatience.daemon = True
        self._reader = threading.Thread(target=self._read_log, name=f"log-{function.name}", daemon=True)
        self._watcher = threading.Thread(target=self._watch, name=f"watch-{function.name}", daemon=True)
        for thread in (self._impatience, self._reader, self._watcher):
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
        if function.log_level:
            own["AWS_LAMBDA_LOG_LEVEL"] = function.log_level
        return {**function.variables, **variables, **own}

    @property
    def idle(self) -> bool:
        return self.ready and self.call is None

    def take(self, gone: Callable[[], bool]) -> Call | None:
        self._impatience.cancel()
        return self._next_call(self, gone)

    def begin(self, call: Call) -> None:
        """The pool gave this worker a call; the clock starts now."""
        self.call = call
        call.deadline = time.time() + self.function.timeout_seconds
        call.taken.set()

    def finish(self, call_id: str, body: bytes, *, failed: bool) -> None:
        call = self.call
        if call is None or call.id != call_id:
            return
        self.call = None
        call.finish(Outcome(body, failed) if len(body) <= MAX_PAYLOAD_BYTES else too_large(len(body)))

    def expire(self, call: Call) -> None:
        """The function's time is up: the call fails and the process goes, as on AWS."""
        if call.finish(timed_out(call, self.function.timeout_seconds)):
            self._log(f"{call.id} timed out after {self.function.timeout_seconds:g} s")
            self.kill()

    def init_failed(self, body: bytes) -> None:
        self.lost = self.explained = True
        self._on_init_error(Outcome(body, failed=True))

    def _give_up(self) -> None:
        if not self.ready:
            self._log(f"did not become ready within {INIT_SECONDS:g} s")
            self.kill()

    def _read_log(self) -> None:
        assert self.process.stdout is not None  # noqa: S101  asked for a pipe
        with self.process.stdout as stream:
            for line in stream:
                self._log(line.decode(errors="replace").rstrip("\n"))

    def _watch(self) -> None:
        status = self.process.wait()
        assert self.process.stdin is not None  # noqa: S101  asked for a pipe
        self.process.stdin.close()
        self.lost = True
        self._impatience.cancel()
        call, self.call = self.call, None
        if call is not None and call.finish(exited(call, status)):
            self._log(f"{call.id} ended with its process, status {status}")
        self._on_exit(self, status)
        self._api.stop()

    def kill(self) -> None:
        """End the process and whatever it started. Returns at once; `join` waits."""
        self.lost = True
        with suppress(OSError):  # it has gone by itself
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def join(self) -> None:
        for thread in (self._watcher, self._reader):
            thread.join(5)
