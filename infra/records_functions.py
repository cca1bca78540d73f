"""Functions that capabilities bring: each with a queue of changed records, and a secret of its own."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from commonplace.kernel.capability import RecordsFunction
from infra.access import present
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, consume
from infra.secrets import secret
from infra.store import Records, State

AT_ONCE = 5
"""Calls of one such function: what one of them waits for delays few others."""


class Brought(Construct):
    """One function that a capability brings."""

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, said: RecordsFunction, state: State):
        super().__init__(scope, construct_id)
        self.said, configuration = said, platform.configuration
        self.records = Records(
            self,
            "Records",
            configuration,
            state=state,
            visibility=Duration.seconds(6 * said.timeout_seconds),
            endings=said.records,
            reader=said.name,
            receives=said.receives,
        )
        self.secret: secretsmanager.Secret | None = None
        if said.holds:
            because = "Another key would make what it has sealed unreadable; a capability rotates what it seals."
            self.secret = secret(self, "Secret", configuration, said.holds, {}, generated="key", unrotated=because)
        queue_url, arn = self.records.queue.queue_url, self.secret.secret_arn if self.secret else None
        platform.wire(**{f"{said.variable}_QUEUE_URL": queue_url, f"{said.variable}_SECRET_ARN": arn})
        self.function = PythonFunction(
            self,
            "Function",
            platform,
            name=said.name,
            description=said.description,
            source=said.folder,
            memory_mb=said.memory_mb,
            timeout_seconds=said.timeout_seconds,
        )
        self.function.allow(["sqs:SendMessage"], [self.records.queue.queue_arn])
        consume(self, "Mapping", self.function, self.records.queue, batch=1, concurrency=AT_ONCE)


def brought(scope: Construct, platform: Platform, configuration: Configuration, state: State) -> list[Brought]:
    """Return the functions of the capabilities that the deployment has. Raises ValueError for more than a stream has
    room for."""
    found = [one for each in present(configuration) for one in each.functions if isinstance(one, RecordsFunction)]
    if len(found) > 1:
        raise ValueError("a stream has room for one reader beside the index; let one function read for both")
    names = ["".join(part.capitalize() for part in said.name.split("-")) for said in found]
    return [Brought(scope, name, platform, said, state) for name, said in zip(names, found, strict=True)]


def share(own: Sequence[Brought], functions: Sequence[PythonFunction]) -> None:
    """Let each function, and those that its secret is shared with, read the secret."""
    for one in own:
        for function in functions:
            if one.secret and function.name in (one.said.name, *one.said.shared_with):
                function.allow(["secretsmanager:GetSecretValue"], [one.secret.secret_arn])
