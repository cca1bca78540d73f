"""The laptop cloud: a synthesized template, running on this machine."""

import contextlib
import json
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

from local.cloud import moto_patches, moto_view
from local.cloud.calls import Outcome
from local.cloud.edge import Edge, EdgeServer
from local.cloud.environment import aws_variables, replaced, worker_variables
from local.cloud.http_api import HttpApi
from local.cloud.lambda_host import LambdaHost
from local.cloud.resources import Builders, Parts
from local.cloud.schedules import Scheduler
from local.cloud.sqs_mapping import Poller
from local.cloud.state import Holdings, SavedState, Saver
from local.cloud.template import Stack, TemplateError, choose, stem

GRACE_SECONDS = 2.0
POLLER_SECONDS = 5.0
_ALONE = threading.Lock()  # moto keeps its state for the process


class FunctionFailed(Exception):
    """An invoked function raised, timed out or died; `kind` is the name of its error."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        self.kind, self.message = str(error.get("errorType", "")), str(error.get("errorMessage", ""))
        super().__init__(f"{self.kind}: {self.message}")


class Cloud:
    """One stack. Only one runs in a process at a time.

    `root` holds `functions/` and `layers/`. `data` keeps state and logs; `None` forgets them. `environment` overrides
    variables of every function. `secrets` are initial values by logical id, its stem, or description.
    `retry_interval_seconds` replaces every `IntervalSeconds` of state machines. `on_log` is told every line a function
    writes, with the function's short name.
    """

    def __init__(
        self,
        template: Mapping[str, Any],
        root: Path,
        data: Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, Mapping[str, Any]] | None = None,
        port: int = 0,
        retry_interval_seconds: int | None = None,
        on_log: Callable[[str, str], None] | None = None,
        prewarm: bool = False,
    ) -> None:
        self._template, self._root, self._data, self._port = template, root.resolve(), data, port
        self._environment, self._secrets = dict(environment or {}), dict(secrets or {})
        self._retry_interval_seconds, self._on_log, self._prewarm = retry_interval_seconds, on_log, prewarm
        self._clients: dict[str, Any] = {}
        self._making_a_client = threading.Lock()
        self._undo = contextlib.ExitStack()
        self._parts = Parts()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when everything listens. Raises `TemplateError` or `OSError` (the port) with nothing left running."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every event source, function, execution and server, in this order; save the state before the last."""
        self._undo.close()

    def _start(self) -> None:
        undo = self._undo
        if not _ALONE.acquire(blocking=False):
            raise RuntimeError("A laptop cloud already runs in this process.")
        undo.callback(_ALONE.release)
        # Nothing needs the interpreter before the last step, so its import goes on beside the others.
        threading.Thread(target=moto_patches.import_interpreter, daemon=True).start()
        data = self._data or Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="commonplace-")))
        server = EdgeServer()
        undo.callback(server.stop)
        self.endpoint_url = f"http://127.0.0.1:{server.server_port}"
        undo.enter_context(replaced(aws_variables(server.server_port) | {"MOTO_PORT": str(server.server_port)}))
        self._session: Any = boto3.Session()  # one: the descriptions of services are read once for each
        moto_view.forget_everything()
        undo.callback(moto_view.forget_everything)

        self._logs = data / "logs"
        self._lambdas = LambdaHost(worker_variables(server.server_port), self._logs, self._on_log)
        undo.callback(self._lambdas.stop)
        self._edge = Edge(self._lambdas)
        server.app = self._edge
        server.start()
        undo.callback(self._close_clients)
        self._http = HttpApi(self._lambdas.invoke_within, self._port)
        undo.callback(self._http.stop)

        builders = self._make_resources()
        state = SavedState(
            data / "state.sqlite",
            self._holdings(builders),
            s3=self.client("s3"),
            dynamodb=self.client("dynamodb"),
            secretsmanager=self.client("secretsmanager"),
        )
        if self._data is not None:
            state.restore()
        for bucket, configuration in self._parts.notifications.items():  # after the restore, which nobody need hear of
            self.client("s3").put_bucket_notification_configuration(
                Bucket=bucket, NotificationConfiguration=configuration
            )
        if self._prewarm:
            self._lambdas.prewarm()
        for create in self._parts.deferred:
            create()
        if self._data is not None:
            saver = Saver(state, lambda: self._edge.writes)
            saver.start()
            undo.callback(saver.stop)
        self._start_sources()

    def _make_resources(self) -> Builders:
        builders = Builders(
            self.client,
            self._root,
            self._http.url,
            environment=self._environment,
            secret_values=self._secrets,
            retry_interval_seconds=self._retry_interval_seconds,
        )
        Stack(self._template, builders.table_of_types()).make()
        if unused := builders.unused_secrets():
            raise TemplateError(f"The template has no secret called {', '.join(sorted(unused))}.")
        self._parts = builders.parts
        for logical_id, function in self._parts.functions.items():
            self._lambdas.add(function, _label(logical_id))
        self._http.routes += self._parts.routes
        return builders

    def _holdings(self, builders: Builders) -> Holdings:
        parts = self._parts
        return Holdings(
            buckets={stem(logical_id): name for logical_id, name in parts.buckets.items()},
            tables={stem(logical_id): name for logical_id, name in parts.tables.items()},
            secrets={stem(name): arn for name, arn in parts.secrets.items() if name not in builders.given_secrets},
        )

    def _start_sources(self) -> None:
        self._scheduler = Scheduler(self._parts.rules.values(), self._lambdas.invoke_later)
        pollers = [
            Poller(
                mapping,
                self.client("sqs"),
                wait_for_message=self._edge.wait_for_message,
                invoke=self._lambdas.invoke,
            )
            for mapping in self._parts.mappings.values()
            for _ in range(mapping.pollers)
        ]
        self._undo.callback(self._quiet_down, pollers)
        for poller in pollers:
            poller.start()
        self._scheduler.start()
        self._http.start()

    def _quiet_down(self, pollers: list[Poller]) -> None:
        """No new work; what runs may finish for a moment; then its executions are aborted and its calls cut off."""
        self._http.stop()
        self._scheduler.stop()
        for poller in pollers:
            poller.ask_to_stop()
        moto_view.stop_executions()
        self._edge.stop_waiting()
        with contextlib.suppress(TimeoutError):
            self._wait(lambda: self._lambdas.busy, GRACE_SECONDS)
        self._lambdas.stop()
        for poller in pollers:
            poller.join(POLLER_SECONDS)

    @property
    def http_url(self) -> str:
        """The HTTP API's address, without a slash at its end."""
        return self._http.url

    def client(self, service: str) -> Any:
        """A boto3 client of this cloud; closed with it."""
        with self._making_a_client:
            if service not in self._clients:
                config = Config(max_pool_connections=50, retries={"total_max_attempts": 1})
                self._clients[service] = self._session.client(service, endpoint_url=self.endpoint_url, config=config)
            return self._clients[service]

    def _close_clients(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    @property
    def bucket(self) -> str:
        return self._parts.buckets[choose("", self._parts.buckets, "bucket")]

    def table(self, name: str) -> str:
        return self._parts.tables[choose(name, self._parts.tables, "table")]

    @property
    def queue_url(self) -> str:
        """The queue that a function reads from."""
        (mapping,) = self._parts.mappings.values()
        return mapping.queue_url

    @property
    def machine_arn(self) -> str:
        return self._parts.machines[choose("", self._parts.machines, "state machine")]

    @property
    def secret_arn(self) -> str:
        return self._parts.secrets[choose("", self._parts.secrets, "secret")]

    @property
    def pids(self) -> list[int]:
        """The processes that run functions now."""
        return self._lambdas.pids

    def invoke(self, function: str, payload: Any) -> Any:
        """Call a function by the start of its logical id and return its answer. Raises `FunctionFailed`."""
        name = self._parts.functions[choose(function, self._parts.functions, "function")].name
        outcome: Outcome = self._lambdas.invoke(name, json.dumps(payload).encode())
        answer = json.loads(outcome.payload or b"null")
        if outcome.failed:
            raise FunctionFailed(answer)
        return answer

    def fire(self, schedule: str) -> None:
        """Fire a schedule now. Returns at once; `wait_idle` waits for what it starts."""
        self._scheduler.fire(self._parts.rules[choose(schedule, self._parts.rules, "schedule")])

    def function_logs(self, function: str) -> str:
        """What a function wrote since the start."""
        logical_id = choose(function, self._parts.functions, "function")
        return (self._logs / f"{_label(logical_id)}.log").read_text(encoding="utf-8")

    def wait_idle(self, timeout: float = 60) -> None:
        """Wait until nothing runs, nothing waits, and no queue that feeds a function holds a message.

        Raises `TimeoutError` that says what is still busy.
        """
        self._wait(self._busy, timeout)

    def _busy(self) -> list[str]:
        """What is not at rest. Read in the order in which work flows, and void when work began meanwhile."""
        before = self._lambdas.started, self._edge.writes
        busy = [f"execution {name}" for name in moto_view.running_executions()]
        busy += [f"function {name}" for name in self._lambdas.busy]
        for mapping in self._parts.mappings.values():
            if count := moto_view.messages(mapping.queue_name):
                busy.append(f"{count} messages in {mapping.queue_name}")
        return busy or (["work that has just begun"] if before != (self._lambdas.started, self._edge.writes) else [])

    def _wait(self, busy: Callable[[], list[str]], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while now := busy():
            if time.monotonic() >= deadline:
                raise TimeoutError(f"Still busy after {timeout:g} s: {', '.join(now)}.")
            self._edge.wait_for_change(0.02)


def _label(logical_id: str) -> str:
    return stem(logical_id).removesuffix("Function")
