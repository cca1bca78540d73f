"""What nobody may read in a template or a log."""

import json

from aws_cdk import RemovalPolicy, SecretValue
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.configuration import Configuration
from infra.nag import accept


class Secrets(Construct):
    """`github` is JSON: `webhookSecret` (made here) and `token` (empty: a public repository at 60 calls an hour).

    `github_writer` holds credentials alone, for pull requests with drafts: a token (empty: none are opened) or those of
    an app. It is apart because whoever reads the one must not be able to write with the other; read-only there is none.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self._removal = RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY
        self.github = self._github(configuration)
        self.github_writer = None if configuration.mcp_read_only else self._github_writer(configuration)

    def _github(self, configuration: Configuration) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            "Github",
            description=f"Commonplace {configuration.stage}: webhook secret, and token or app credentials, for GitHub",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template=json.dumps({"token": ""}),
                generate_string_key="webhookSecret",
                exclude_punctuation=True,
                password_length=48,
            ),
            removal_policy=self._removal,
        )
        accept(
            secret,
            "GitHub has to learn a new webhook secret in the same moment, so rotation is an operator's act.",
            "SMG4",
        )
        return secret

    def _github_writer(self, configuration: Configuration) -> secretsmanager.Secret:
        """Starts without a credential, which cannot be made here; what an operator puts in, a deployment leaves."""
        secret = secretsmanager.Secret(
            self,
            "GithubWriter",
            description=f"Commonplace {configuration.stage}: token or app credentials with which drafts are proposed",
            secret_string_value=SecretValue.unsafe_plain_text(json.dumps({"token": ""})),
            removal_policy=self._removal,
        )
        accept(secret, "GitHub gives out the credential, so a new one is an operator's act.", "SMG4")
        return secret
