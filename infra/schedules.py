"""What makes up for messages that never came and models that did not answer: it is gone over again, again and again."""

from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.functions import MAX_EVENT_AGE, RETRIES, Platform, PythonFunction

COMPLETE_MINUTES = 5
COMPLETE = {"source": "aws.events", "complete": True}
"""Says that entries are to get the vectors they wait for. Where none waits, only a note of that is read."""


class Schedules(Construct):
    """`sync` compares branch and store, `index` compares store and index. All cost little when all is well."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        sync: PythonFunction,
        index: PythonFunction,
        dead: sqs.Queue,
    ) -> None:
        """`dead` takes what did not reach its function, and what its function failed at."""
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self._dead = dead
        for function in (sync, index):
            function.set_failures_aside(dead)
        self._every("Sync", Duration.minutes(configuration.reconcile_minutes), sync, "Compares branch and store")
        self._every("Index", Duration.hours(configuration.index_reconcile_hours), index, "Compares store and index")
        self._every(
            "Complete", Duration.minutes(COMPLETE_MINUTES), index, "Embeds what no model could embed", event=COMPLETE
        )

    def _every(
        self,
        name: str,
        period: Duration,
        function: PythonFunction,
        description: str,
        *,
        event: dict[str, object] | None = None,
    ) -> None:
        """Without `event` the function is given EventBridge's own."""
        target = targets.LambdaFunction(
            cast(lambda_.IFunction, function.live),
            event=events.RuleTargetInput.from_object(event) if event else None,
            dead_letter_queue=self._dead,
            retry_attempts=RETRIES,
            max_event_age=MAX_EVENT_AGE,
        )
        events.Rule(
            self,
            name,
            description=description,
            schedule=events.Schedule.rate(period),
            targets=[cast(events.IRuleTarget, target)],
        )
