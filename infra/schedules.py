"""What makes up for messages that never came: both halves of the way are gone over again, again and again."""

from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.functions import Platform, PythonFunction
from infra.queues import dead_letters


class Schedules(Construct):
    """`sync` compares branch and store, `index` compares store and index. Both cost little when all is well."""

    def __init__(
        self, scope: Construct, construct_id: str, platform: Platform, *, sync: PythonFunction, index: PythonFunction
    ) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.dead = dead_letters(self, "DeadLetters")
        self._every("Sync", Duration.minutes(configuration.reconcile_minutes), sync, "Compares branch and store")
        self._every("Index", Duration.hours(configuration.index_reconcile_hours), index, "Compares store and index")

    def _every(self, name: str, period: Duration, function: PythonFunction, description: str) -> None:
        target = targets.LambdaFunction(
            cast(lambda_.IFunction, function.live),
            dead_letter_queue=self.dead,
            retry_attempts=2,
            max_event_age=Duration.hours(1),
        )
        events.Rule(
            self,
            name,
            description=description,
            schedule=events.Schedule.rate(period),
            targets=[cast(events.IRuleTarget, target)],
        )
