"""The redactor of functions that store texts: it calls the function `redact`, and waits for it briefly."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic.alias_generators import to_camel

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.redaction.function import SURVIVED
from commonplace.redaction.model import Policy, Redacted
from commonplace.redaction.ports import Survived

if TYPE_CHECKING:
    from commonplace.redaction.settings import RedactionSettings

logger = logging.getLogger(__name__)

NOT_INSTALLED = ("Runtime.ImportModuleError", "ModuleNotFoundError")
"""Types of the error of a function whose packages are missing, as on a laptop without the extra."""

READ_SECONDS, CONNECT_SECONDS, ATTEMPTS = 10, 1, 2


class LambdaRedactor:
    """Implements `Redactor`. `client` is one of AWS Lambda. Neither exceptions nor log records hold what is sent."""

    def __init__(self, client: Any, function: str) -> None:
        self._client, self._function = client, function

    def redact(self, fields: Mapping[str, str], policy: Policy) -> Redacted:
        told = {to_camel(name): value for name, value in asdict(policy).items()}
        answer = self._call({"fields": dict(fields), "policy": told}, "fields", "counts", "shares")
        if answer["fields"].keys() != fields.keys():
            raise _unavailable()
        return Redacted(**answer)

    def invalid_patterns(self, patterns: Sequence[str]) -> Mapping[str, str]:
        """Which of the patterns are no RE2, and why. Raises Unavailable, and InvalidInput for too many of them."""
        invalid: Mapping[str, str] = self._call({"patterns": list(patterns)}, "invalid")["invalid"]
        return invalid

    def _call(self, event: Mapping[str, Any], *expected: str) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.invoke(FunctionName=self._function, Payload=json.dumps(event).encode())
            found = json.loads(answer["Payload"].read())
        except (BotoCoreError, ClientError, ValueError, OSError) as error:
            code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
            logger.warning("the function redact does not answer", extra={"error": code})
            raise _unavailable() from None
        told: dict[str, Any] = found if isinstance(found, dict) else {}
        if not answer.get("FunctionError") and (refusal := told.get("error")):
            kind = Survived if refusal["code"] == SURVIVED else InvalidInput
            raise kind(refusal["message"], hint=refusal["hint"])
        if told.keys() != set(expected):
            logger.warning("the function redact failed", extra={"error": told.get("errorType", "no answer")})
            if told.get("errorType") in NOT_INSTALLED:
                message = "The detector of personal data is not installed here, so nothing was stored."
                raise Unavailable(message, hint="Whoever runs this installs the extra `redaction`.")
            raise _unavailable()
        return told


def redactor(settings: RedactionSettings) -> LambdaRedactor:
    from commonplace.kernel import aws

    client = aws.lambda_functions(
        read_timeout_seconds=READ_SECONDS, connect_timeout_seconds=CONNECT_SECONDS, attempts=ATTEMPTS
    )
    return LambdaRedactor(client, settings.redact_function)


def _unavailable() -> Unavailable:
    return Unavailable(
        "The detector of personal data does not answer, so nothing was stored.",
        hint="Try again with the same arguments in a few seconds.",
    )
