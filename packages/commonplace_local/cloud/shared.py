"""Entry point of a process that several functions share: each environment is a thread, with variables of its own.

The host writes one JSON object a line to the standard input, `id`, `folder`, `handler` and `variables`, for each
environment that is to start; the end of the input ends the process. Lines of output begin with the `id` that wrote them
and a unit separator. What an environment sees as `os.environ` belongs to its thread and to the threads that it starts.
"""

import contextvars
import ctypes
import http.client
import importlib
import importlib.util
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

SEPARATOR = "\x1f"
"""It stands between the environment of a line and the line."""
M_ARENA_MAX = -8
"""Of `mallopt`, in malloc.h of glibc."""
WRAPPER = "AWS_LAMBDA_EXEC_WRAPPER"

_own: contextvars.ContextVar[MutableMapping[str, str]] = contextvars.ContextVar("_own")
_id: contextvars.ContextVar[str] = contextvars.ContextVar("_id", default="")


class Variables(MutableMapping[str, str]):
    """`os.environ` as each environment sees it; outside of them, that of the process."""

    def __init__(self, process: MutableMapping[str, str]) -> None:
        self._process = process

    @property
    def _seen(self) -> MutableMapping[str, str]:
        return _own.get(self._process)

    def __getitem__(self, name: str) -> str:
        return self._seen[name]

    def __setitem__(self, name: str, value: str) -> None:
        self._seen[name] = value

    def __delitem__(self, name: str) -> None:
        del self._seen[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)

    def copy(self) -> dict[str, str]:
        return dict(self._seen)


class Output:
    """Standard output, whole lines at a time, each with the environment that wrote it."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._lock = descriptor, threading.Lock()
        self._begun: dict[str, str] = defaultdict(str)

    def write(self, text: str) -> int:
        environment = _id.get()
        with self._lock:
            *lines, self._begun[environment] = (self._begun[environment] + text).split("\n")
            data = "".join(f"{environment}{SEPARATOR}{line}\n" for line in lines).encode("utf-8", "replace")
            while data:
                data = data[os.write(self._descriptor, data) :]
        return len(text)

    def flush(self) -> None:
        """Do nothing: whole lines are written at once."""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._descriptor


class InheritingThread(threading.Thread):
    """A thread that belongs to the environment that started it."""

    def start(self) -> None:
        self._inherited = contextvars.copy_context()
        super().start()

    def run(self) -> None:
        self._inherited.run(super().run)


def keep_arenas_few() -> None:
    """Have glibc keep two arenas in place of eight for each core: what one thread frees, others can use."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def share_descriptions() -> None:
    """Have botocore read each description of a service once for the process, without its prose.

    Clients, and moto beside them, would each keep their own: a third of what the laptop cloud needs.
    """
    from botocore.loaders import JSONFileLoader

    loader: Any = JSONFileLoader
    loader._load_file = lambda _, path, opened: _described(path, opened)


@cache
def _described(path: str, opened: Callable[..., Any]) -> Any:
    if not Path(path).is_file():
        return None
    with opened(path, "rb") as file:
        return json.loads(file.read(), object_hook=_without_prose)


def _without_prose(found: dict[str, Any]) -> dict[str, Any]:
    if isinstance(found.get("documentation"), str):
        found["documentation"] = ""
    return found


def _loaded(environment: str, folder: Path, handler: str) -> Callable[..., Any]:
    """Return a handler of a module that is loaded for this environment alone."""
    file, _, name = handler.rpartition(".")
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{environment}", folder / f"{file}.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"No module named {file} in {folder}")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Callable[..., Any] = getattr(module, name)
    return found


def serve(environment: str, folder: Path, handler: str, variables: dict[str, str]) -> None:
    """Answer the calls of one environment until the host closes its Runtime API."""
    _id.set(environment)
    _own.set(variables)
    from awslambdaric import bootstrap
    from awslambdaric.lambda_runtime_client import LambdaRuntimeClient
    from awslambdaric.lambda_runtime_exception import FaultException

    client, sink = LambdaRuntimeClient(variables["AWS_LAMBDA_RUNTIME_API"]), bootstrap.StandardLogSink()
    try:
        function = _loaded(environment, folder, handler)
    except BaseException as raised:  # noqa: BLE001  the host hears of it, as of any function that cannot be imported
        error = bootstrap.build_fault_result(sys.exc_info(), None)
        if isinstance(raised, ImportError):
            error["errorType"] = FaultException.IMPORT_MODULE_ERROR
        bootstrap.log_error(error, sink)
        with suppress(OSError, http.client.HTTPException):  # the host ends the environment when it hears of it
            client.post_init_error(error)
        return

    def guarded(event: Any, context: Any) -> Any:
        try:
            return function(event, context)
        except Exception:
            raise
        except BaseException as raised:  # in a process of its own it would end that
            raise SystemError(f"{type(raised).__name__}: {raised}") from raised

    with suppress(RuntimeError, OSError, http.client.HTTPException):  # nobody waits for this environment any more
        if WRAPPER in variables:
            streams: Any = importlib.import_module("commonplace.web.stream_runtime")
            agent = f"{streams.AGENT} {variables['AWS_ACCESS_KEY_ID']}{environment}"
            runtime = streams.Runtime(variables["AWS_LAMBDA_RUNTIME_API"], agent)
            while True:
                runtime.serve(function)
        while True:
            asked = client.wait_next_invocation()
            bootstrap.handle_event_request(
                client,
                guarded,
                asked.invoke_id,
                asked.event_body,
                asked.content_type,
                asked.client_context,
                asked.cognito_identity,
                asked.invoked_function_arn,
                asked.deadline_time_in_ms,
                asked.tenant_id,
                sink,
            )


def main() -> None:
    """Start an environment for each line of the input; end with it."""
    keep_arenas_few()
    orders = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what a handler starts must not read orders
    sys.stdout = sys.stderr = Output(1)
    os.environ = Variables(os.environ)  # type: ignore[assignment]  # noqa: B003
    threading.Thread = InheritingThread  # type: ignore[misc]
    sys.path.insert(0, str(Path(__file__).parent / "stand_in"))
    from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
    from awslambdaric import bootstrap

    # All functions of a process share one logger: what it says of a call belongs to the environment that makes it.
    formatter: Any = LambdaPowertoolsFormatter
    formatter.append_keys = formatter.thread_safe_append_keys
    share_descriptions()
    bootstrap._setup_logging(bootstrap.LogFormat.TEXT, None, bootstrap.StandardLogSink())
    for line in orders:
        order = json.loads(line)
        if order is None:
            print()  # the host asks whether anything else can run
            continue
        arguments = (order["id"], Path(order["folder"]), order["handler"], order["variables"])
        threading.Thread(target=serve, args=arguments, name=order["id"], daemon=True).start()
    os._exit(1)


if __name__ == "__main__":
    main()
