"""What brings work to the functions by itself: streams, queues, schedules, and requests from outside."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from local.cloud import moto_view
from local.cloud.edge import Edge
from local.cloud.http_api import HttpApi
from local.cloud.lambda_host import LambdaHost
from local.cloud.parts import Parts
from local.cloud.pipes import Pump
from local.cloud.rest import Rest
from local.cloud.schedules import Rule, Scheduler
from local.cloud.sqs_mapping import Poller

GRACE_SECONDS = 2.0
THREAD_SECONDS = 5.0


class Sources:
    """Started last and stopped first."""

    def __init__(
        self,
        parts: Parts,
        lambdas: LambdaHost,
        edge: Edge,
        http: HttpApi,
        *,
        rest: Rest,
        sqs: Any,
        pumps: Sequence[Pump],
    ) -> None:
        self._lambdas, self._edge, self._http, self._rest = lambdas, edge, http, rest
        self._scheduler = Scheduler(parts.rules.values(), lambdas.invoke_later)
        pollers = [
            Poller(mapping, sqs, wait_for_message=edge.wait_for_message, invoke=lambdas.invoke)
            for mapping in parts.mappings.values()
            for _ in range(mapping.pollers)
        ]
        self._threads: list[Pump | Poller] = [*pumps, *pollers]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        self._scheduler.start()
        self._http.start()

    def stop(self) -> None:
        """No new work; what runs may finish for a moment; then its executions are aborted and its calls cut off."""
        self._http.stop()
        self._scheduler.stop()
        for thread in self._threads:
            thread.ask_to_stop()
        self._edge.stop_waiting()
        moto_view.stop_executions()
        with suppress(TimeoutError):
            self._rest.wait(lambda: self._lambdas.busy, GRACE_SECONDS)
        self._lambdas.stop()
        for thread in self._threads:
            thread.join(THREAD_SECONDS)

    def fire(self, rule: Rule) -> None:
        self._scheduler.fire(rule)
