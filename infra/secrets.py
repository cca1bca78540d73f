"""What nobody may read in a template or a log."""

import json

from aws_cdk import RemovalPolicy
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.configuration import Configuration
from infra.nag import accept


class Secrets(Construct):
    """`github` is JSON: `webhookSecret` (made here) and `token` (empty: a public repository at 60 calls an hour)."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.github = secretsmanager.Secret(
            self,
            "Github",
            description=f"Commonplace {configuration.stage}: webhook secret, and token or app credentials, for GitHub",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template=json.dumps({"token": ""}),
                generate_string_key="webhookSecret",
                exclude_punctuation=True,
                password_length=48,
            ),
            removal_policy=RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY,
        )
        accept(
            self.github,
            "GitHub has to learn a new webhook secret in the same moment, so rotation is an operator's act.",
            "SMG4",
        )
