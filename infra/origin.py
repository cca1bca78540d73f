"""What the functions behind the front door are told of it, so that they refuse what went round it."""

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import PythonFunction


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
