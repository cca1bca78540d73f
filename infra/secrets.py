"""Secrets of GitHub and of the origin, and the schedule by which a function rotates one."""

import json
from collections.abc import Mapping
from typing import Any

from aws_cdk import ArnFormat, SecretValue, Stack
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct, IDependable

from infra.configuration import Configuration
from infra.functions import PythonFunction, accept, removal


def secret(
    scope: Construct,
    name: str,
    configuration: Configuration,
    holds: str,
    value: Mapping[str, Any],
    *,
    generated: str = "",
    characters: int = 64,
    unrotated: str = "",
    **options: Any,
) -> secretsmanager.Secret:
    """A secret with a first JSON value; what an operator or a rotation puts in later, a deployment leaves.

    `generated` names a field that Secrets Manager makes up; `unrotated` says why no schedule changes the secret.
    """
    text = json.dumps(value)
    generator = secretsmanager.SecretStringGenerator(
        secret_string_template=text,
        generate_string_key=generated,
        exclude_punctuation=True,
        password_length=characters,
    )
    made = secretsmanager.Secret(
        scope,
        name,
        description=f"Commonplace {configuration.stage}: {holds}",
        generate_secret_string=generator if generated else None,
        secret_string_value=None if generated else SecretValue.unsafe_plain_text(text),
        **({"removal_policy": removal(configuration)} | options),
    )
    if unrotated:
        accept(made, unrotated, "SMG4")
    return made


class Secrets(Construct):
    """`github` is JSON: `webhookSecret` (made here) and `token` (empty: a public repository at 60 calls an hour).

    `github_writer` holds credentials alone, for pull requests with drafts: a token (empty: none are opened) or those of
    an app. It is apart because whoever reads the one must not be able to write with the other; read-only there is none.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.github = secret(
            self,
            "Github",
            configuration,
            "webhook secret, and token or app credentials, for GitHub",
            {"token": ""},
            generated="webhookSecret",
            characters=48,
            unrotated="GitHub has to learn a new webhook secret in the same moment, so rotation is an operator's act.",
        )
        self.github_writer: secretsmanager.Secret | None = None
        if not configuration.mcp_read_only:
            # Without a credential, which cannot be made here.
            self.github_writer = secret(
                self,
                "GithubWriter",
                configuration,
                "token or app credentials with which drafts are proposed",
                {"token": ""},
                unrotated="GitHub gives out the credential, so a new one is an operator's act.",
            )


def rotate(function: PythonFunction, secret: secretsmanager.Secret, days: int, *after: IDependable) -> None:
    """At once, and then every so many days. Asked for when the function may do all that it has to: the first rotation
    comes with the schedule, so that waits for the function's permissions, and for whatever else is named."""
    permission = lambda_.CfnPermission(
        function,
        "Invoked",
        action="lambda:InvokeFunction",
        function_name=function.live.function_arn,
        principal="secretsmanager.amazonaws.com",
        source_account=Stack.of(function).account,
    )
    schedule = secretsmanager.CfnRotationSchedule(
        function,
        "Schedule",
        secret_id=secret.secret_arn,
        rotation_lambda_arn=function.live.function_arn,
        rotate_immediately_on_update=True,
        rotation_rules=secretsmanager.CfnRotationSchedule.RotationRulesProperty(automatically_after_days=days),
    )
    schedule.add_resource_dependency(permission)
    policy = function.role.node.try_find_child("DefaultPolicy")
    for needed in (*after, *([policy] if policy else [])):
        schedule.node.add_dependency(needed)


def secret_name(configuration: Configuration) -> str:
    """The same in both regions. It is fixed because the stack of the functions is made before that of the secret."""
    return f"commonplace/{configuration.stage}/origin"


def secret_arn(scope: Construct, configuration: Configuration, suffix: str = "") -> str:
    """The replica in the functions' own region. Secrets Manager takes an ARN without its six random characters, too."""
    name = f"{secret_name(configuration)}{suffix}"
    return Stack.of(scope).format_arn(
        service="secretsmanager", resource="secret", resource_name=name, arn_format=ArnFormat.COLON_RESOURCE_NAME
    )


def lock_origin(configuration: Configuration, *functions: PythonFunction) -> None:
    """Lets these functions answer only what comes through the front door, where there is one."""
    if not configuration.locks_origin:
        return
    for function in functions:
        function.function.add_environment("ORIGIN_SECRET_ARN", secret_arn(function, configuration))
        function.allow(
            ["secretsmanager:GetSecretValue"],
            [secret_arn(function, configuration, "-??????")],
            because="An ARN ends in six characters that nobody knows before the secret is made in another stack.",
        )
