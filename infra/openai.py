"""What functions are told and allowed that ask OpenAI's API for vectors, or what speaks as it does."""

import json
from collections.abc import Iterable

from aws_cdk import RemovalPolicy, SecretValue
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import PythonFunction, accept


class OpenAi(Construct):
    """The key, in a secret of its own. It starts empty: until it is filled, words alone are compared."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self._base_url = configuration.open_ai_base_url
        self.secret = secretsmanager.Secret(
            self,
            "Key",
            description=f"Commonplace {configuration.stage}: key of the project at OpenAI that pays for vectors",
            secret_string_value=SecretValue.unsafe_plain_text(json.dumps({"apiKey": ""})),
            removal_policy=RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY,
        )
        accept(self.secret, "OpenAI gives out the key, so a new one is an operator's act.", "SMG4")

    def admit(self, functions: Iterable[PythonFunction]) -> None:
        """Lets them ask; nothing else in the stack can read the key."""
        for function in functions:
            function.function.add_environment("OPENAI_SECRET_ARN", self.secret.secret_arn)
            if self._base_url:
                function.function.add_environment("OPENAI_BASE_URL", self._base_url)
            function.allow(["secretsmanager:GetSecretValue"], [self.secret.secret_arn])
