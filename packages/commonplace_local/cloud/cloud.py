"""The laptop cloud: a synthesized template, running on this machine."""

import contextlib
import json
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Self

import boto3
from botocore.config import Config

from commonplace_local.cloud import moto_patches, moto_view
from commonplace_local.cloud.edge import Edge, edge_server
from commonplace_local.cloud.environment import access_key, aws_variables, replaced, worker_variables
from commonplace_local.cloud.event_sources import Poller
from commonplace_local.cloud.http_api import HttpApi, Pages
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.resources import Builders, Parts
from commonplace_local.cloud.runtime import Function, FunctionFailed, Outcome
from commonplace_local.cloud.schedules import Rotations, Scheduler
from commonplace_local.cloud.shared import keep_arenas_few, share_descriptions
from commonplace_local.cloud.state import Holdings, SavedState
from commonplace_local.cloud.template import Stack, TemplateError, choose, stem

LOOK_AGAIN_SECONDS = 0.02
GRACE_SECONDS = 2.0
THREAD_SECONDS = 5.0
_ALONE = threading.Lock()  # moto keeps its state for the process


class Cloud:
    """One stack. Only one runs in a process at a time.

    `root` holds `functions/` and `layers/`. `data` keeps state and logs; `None` forgets them. `environment` overrides
    variables of every function. `secrets` are initial values by logical id, its stem, or description.
    `retry_interval_seconds` replaces every `IntervalSeconds` of state machines, and the pauses before calls are made
    again that have an `EventInvokeConfig`. `on_log` receives every line a function writes, with the function's
    short name. `prewarm` starts every function but those of `later` before they are called. `processes` names, by the
    stem of its logical id, the process that a function shares with others; one that is not named has its own.
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
        later: Collection[str] = (),
        pages: Pages | None = None,
        processes: Mapping[str, str] | None = None,
    ) -> None:
        self._template, self._root, self._data, self._port = template, root.resolve(), data, port
        self._environment, self._secrets = dict(environment or {}), dict(secrets or {})
        self._retry_interval_seconds, self._on_log, self._prewarm = retry_interval_seconds, on_log, prewarm
        self._later, self._pages, self._processes = later, pages, processes or {}
        self._undo = contextlib.ExitStack()
        self._parts = Parts()
        self._state: SavedState | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when everything listens. Raises `TemplateError` or `OSError` (the port) with nothing left running."""
        try:
            undo = self._undo
            if not _ALONE.acquire(blocking=False):
                raise RuntimeError("A laptop cloud already runs in this process.")
            undo.callback(_ALONE.release)
            share_descriptions()
            keep_arenas_few()
            # Nothing needs the interpreter before the last step, so its import goes on beside the others.
            interpreter = threading.Thread(target=moto_patches.import_interpreter, daemon=True)
            interpreter.start()
            data = self._data or Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="commonplace-")))
            self._logs = data / "logs"
            self._start_servers()
            builders = self._make_resources()
            if self._data is not None:
                # What a former start stored is put back, and from now on what this one changes is stored.
                holdings = Holdings(
                    buckets={name: stem(logical_id) for logical_id, name in self._parts.buckets.items()},
                    tables={name: stem(logical_id) for logical_id, name in self._parts.tables.items()},
                    queues={url.rpartition("/")[2]: stem(name) for name, url in self._parts.queues.items()},
                    secrets={
                        arn: stem(name)
                        for name, arn in self._parts.secrets.items()
                        if name not in builders.given_secrets
                    },
                )
                self._state = SavedState(data / "state.sqlite", holdings)
                undo.callback(self._state.close)
            self._edge.settle = self._settle
            for bucket, wanted in self._parts.notifications.items():  # after the restore, of which nobody need hear
                self.client("s3").put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=wanted)
            if self._prewarm:
                names = {function.name for function in self._parts.functions.values()}
                self._lambdas.prewarm(*(names - {self.function(name).name for name in self._later}))
            interpreter.join()
            for create in self._parts.deferred:
                create()
            self._rotations = Rotations(self._parts.rotations, self._lambdas, self.client("secretsmanager"))
            undo.callback(self._rotations.stop)
            self._rotations.start()
            # What brings work to the functions by itself: queues, schedules, and requests from outside.
            parts, edge, sqs = self._parts, self._edge, self.client("sqs")
            self._pollers = [
                Poller(mapping, sqs, wait_for_message=edge.wait_for_message, invoke=self._lambdas.invoke)
                for mapping in parts.mappings.values()
                for _ in range(mapping.pollers)
            ]
            self._scheduler = Scheduler(parts.rules.values(), self._lambdas.invoke_later)
            undo.callback(self._stop_sources)
            for poller in self._pollers:
                poller.start()
            self._scheduler.start()
            self._http.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End every event source, function, execution and server, in this order."""
        self._undo.close()

    def _stop_sources(self) -> None:
        """No new work; what runs may finish for a moment; then its executions are aborted and its calls cut off."""
        self._http.stop()
        self._scheduler.stop()
        for poller in self._pollers:
            poller.ask_to_stop()
        self._edge.stop_waiting()
        moto_view.stop_executions()
        with contextlib.suppress(TimeoutError):
            self._wait(lambda: self._lambdas.busy, GRACE_SECONDS)
        self._lambdas.stop()
        for poller in self._pollers:
            poller.join(THREAD_SECONDS)

    def _start_servers(self) -> None:
        undo, server = self._undo, edge_server()
        undo.callback(server.stop)
        port, self.access_key = server.server_port, access_key()
        self.endpoint_url = server.url
        undo.enter_context(replaced(aws_variables(port, self.access_key) | {"MOTO_PORT": str(port)}))
        moto_view.forget_everything()
        undo.callback(moto_view.forget_everything)
        self._session: Any = boto3.Session()  # one: the descriptions of services are read once for each
        self._clients: dict[str, Any] = {}
        self._making_client = threading.Lock()
        undo.callback(lambda: [client.close() for client in self._clients.values()])
        self._lambdas = LambdaHost(worker_variables(port, self.access_key), self._logs, self._on_log)
        undo.callback(self._lambdas.stop)
        self._edge = Edge(self._lambdas, self.access_key)
        server.app = self._edge
        server.start()
        self._http = HttpApi(
            self._lambdas.invoke_within,
            self._port,
            pages=self._pages,
            invoke_streaming=self._lambdas.invoke_streaming,
        )
        undo.callback(self._http.stop)

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
        if builders.unused_secrets:
            raise TemplateError(f"The template has no secret called {', '.join(builders.unused_secrets)}.")
        self._parts = builders.parts
        for logical_id, function in self._parts.functions.items():
            self._lambdas.add(function, _label(logical_id), self._processes.get(stem(logical_id)))
        sqs = self.client("sqs")
        self._lambdas.asynchronous |= self._parts.asynchronous
        self._lambdas.set_aside = lambda queue_url, body: sqs.send_message(QueueUrl=queue_url, MessageBody=body)
        self._http.routes += self._parts.routes
        return builders

    def _settle(self) -> None:
        """Do what belongs to a request before its answer leaves."""
        pipes = self._parts.pipes.values()
        for table in {pipe.table for pipe in pipes}:
            records = moto_patches.take_changes(table)
            for pipe in pipes:
                if pipe.table == table:
                    pipe.send(records)
        if self._state is not None:
            self._state.save()

    @property
    def http_url(self) -> str:
        """The HTTP API's address, without a slash at its end."""
        return self._http.url

    def client(self, service: str) -> Any:
        """Return a boto3 client of this cloud, which is closed with it."""
        with self._making_client:
            if service not in self._clients:
                config = Config(max_pool_connections=50, retries={"total_max_attempts": 1})
                self._clients[service] = self._session.client(service, endpoint_url=self.endpoint_url, config=config)
            return self._clients[service]

    @property
    def bucket(self) -> str:
        return self._parts.buckets[choose("", self._parts.buckets, "bucket")]

    def table(self, name: str) -> str:
        return self._parts.tables[choose(name, self._parts.tables, "table")]

    def queue_url(self, name: str) -> str:
        return self._parts.queues[choose(name, self._parts.queues, "queue")]

    @property
    def queue_urls(self) -> list[str]:
        """The queues that functions read from."""
        return [mapping.queue_url for mapping in self._parts.mappings.values()]

    def machine(self, name: str = "") -> str:
        """The ARN of a state machine; without a name, of the only one."""
        return self._parts.machines[choose(name, self._parts.machines, "state machine")]

    def function(self, name: str) -> Function:
        """Return a function: its name, its environment, its limits."""
        return self._parts.functions[choose(name, self._parts.functions, "function")]

    def secret(self, name: str = "") -> str:
        """The ARN of a secret; without a name, of the only one."""
        return self._parts.secrets[choose(name, self._parts.secrets, "secret")]

    def count(self, prefix: str) -> int:
        """Return the number of objects in the bucket whose key begins so."""
        return moto_view.objects(self.bucket, prefix)

    @property
    def waiting(self) -> int:
        """Messages in the queues that functions read from."""
        return sum(moto_view.messages(mapping.queue_name) for mapping in self._parts.mappings.values())

    @property
    def failed_executions(self) -> dict[str, str]:
        """The executions that failed since the start, each with the name of its error."""
        return moto_view.failed_executions()

    @property
    def pids(self) -> list[int]:
        """The processes that run functions now."""
        return self._lambdas.pids

    def invoke(self, function: str, payload: Any) -> Any:
        """Call a function by the start of its logical id and return its answer. Raises `FunctionFailed`."""
        outcome: Outcome = self._lambdas.invoke(self.function(function).name, json.dumps(payload).encode())
        answer = json.loads(outcome.payload or b"null")
        if outcome.failed:
            raise FunctionFailed(answer)
        return answer

    def warm(self, function: str) -> None:
        """Start a function before it is called. Returns at once."""
        self._lambdas.prewarm(self.function(function).name)

    def end_idle(self) -> None:
        """Give back what the work so far has needed: the shared process that works ends, and starts with the next."""
        self._lambdas.end_idle()

    def fire(self, schedule: str) -> None:
        """Fire a schedule now. Returns at once; `wait_idle` waits for what it starts."""
        self._scheduler.fire(self._parts.rules[choose(schedule, self._parts.rules, "schedule")])

    def function_logs(self, function: str) -> str:
        """Return the log that a function wrote since the start."""
        logical_id = choose(function, self._parts.functions, "function")
        return (self._logs / f"{_label(logical_id)}.log").read_text(encoding="utf-8")

    def wait_idle(self, timeout: float = 60) -> None:
        """Wait until nothing runs, nothing waits, and no queue that feeds a function holds a message.

        Raises `TimeoutError` that says what is still busy.
        """
        self._rotations.wait(timeout)
        self._wait(self._busy, timeout)

    def _busy(self) -> list[str]:
        """Return what is not at rest, in the order in which work flows; the look is void when work began meanwhile."""
        before = self._lambdas.started, self._edge.writes
        queues = [mapping.queue_name for mapping in self._parts.mappings.values()]
        busy = [f"execution {name}" for name in moto_view.running_executions()]
        busy += [f"function {name}" for name in self._lambdas.busy]
        busy += [f"{count} messages in {queue}" for queue in queues if (count := moto_view.messages(queue))]
        return busy or (["work that has just begun"] if before != (self._lambdas.started, self._edge.writes) else [])

    def _wait(self, busy: Callable[[], list[str]], seconds: float) -> None:
        """Until nothing is busy. Raises `TimeoutError` that says what still is."""
        deadline = time.monotonic() + seconds
        while now := busy():
            if time.monotonic() >= deadline:
                raise TimeoutError(f"Still busy after {seconds:g} s: {', '.join(now)}.")
            self._edge.wait_for_change(LOOK_AGAIN_SECONDS)


def _label(logical_id: str) -> str:
    return stem(logical_id).removesuffix("Function")
