"""Whether the cloud is at rest, and waiting until it is."""

import time
from collections.abc import Callable, Iterable

from local.cloud import moto_view
from local.cloud.edge import Edge
from local.cloud.lambda_host import LambdaHost
from local.cloud.pipes import Pump

LOOK_AGAIN_SECONDS = 0.02


class Rest:
    """Looks at executions, calls, pipes, and the queues that feed functions; `queues` are names."""

    def __init__(self, lambdas: LambdaHost, edge: Edge, queues: Iterable[str], pumps: Iterable[Pump]) -> None:
        self._lambdas, self._edge, self._queues, self._pumps = lambdas, edge, list(queues), list(pumps)

    def busy(self) -> list[str]:
        """What is not at rest. Read in the order in which work flows, and void when work began meanwhile."""
        before = self._lambdas.started, self._edge.writes
        busy = [f"execution {name}" for name in moto_view.running_executions()]
        busy += [f"function {name}" for name in self._lambdas.busy]
        busy += [f"{count} records before the pipe {pump.name}" for pump in self._pumps if (count := pump.waiting)]
        for queue in self._queues:
            if count := moto_view.messages(queue):
                busy.append(f"{count} messages in {queue}")
        return busy or (["work that has just begun"] if before != (self._lambdas.started, self._edge.writes) else [])

    def wait(self, busy: Callable[[], list[str]], seconds: float) -> None:
        """Wait until nothing is busy. Raises `TimeoutError` that says what still is."""
        deadline = time.monotonic() + seconds
        while now := busy():
            if time.monotonic() >= deadline:
                raise TimeoutError(f"Still busy after {seconds:g} s: {', '.join(now)}.")
            self._edge.wait_for_change(LOOK_AGAIN_SECONDS)
