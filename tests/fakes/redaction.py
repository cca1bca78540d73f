"""A redactor that masks given words, and AWS Lambda with the function `redact` in this process."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.kernel.errors import CommonplaceError, InvalidInput, Unavailable
from commonplace.redaction.model import Policy, Redacted
from commonplace.redaction.ports import Survived
from tests.fakes.lambda_context import CONTEXT


class WordRedactor:
    """Masks these words as names. `Boom` fails as code does, `Gone` as a detector, `Pieces` cannot be taken out."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def redact(self, fields: Mapping[str, str], policy: Policy) -> Redacted:
        text = " ".join(fields.values())
        if "(" in policy.patterns:
            raise InvalidInput("missing )", hint="Close the parenthesis.")
        if "Pieces" in text:
            raise Survived("Something stays.", hint="Leave it out.")
        if "Gone" in text:
            raise Unavailable("The model does not answer.")
        if "Boom" in text:
            raise KeyError(text)
        left = {name: _masked(value, self.words) for name, value in fields.items()}
        count = sum(value.count("[NAME]") for value in left.values())
        shares = {name: value.count("[NAME]") / max(1, len(value.split())) for name, value in left.items()}
        return Redacted(fields=left, counts={"NAME": count} if count else {}, shares=shares)


def _masked(text: str, words: tuple[str, ...]) -> str:
    for word in words:
        text = text.replace(word, "[NAME]")
    return text


class InvokedHere:
    """A client of AWS Lambda: the function answers in this process, through JSON as on the wire."""

    def __init__(self, handler: Callable[[Mapping[str, Any], Any], Any]) -> None:
        self._handler = handler
        self.called: list[str] = []

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:
        self.called.append(FunctionName)
        try:
            answer, failed = self._handler(json.loads(Payload), CONTEXT), False
        except CommonplaceError as error:
            answer, failed = {"errorType": type(error).__name__, "errorMessage": error.message}, True
        told = {"FunctionError": "Unhandled"} if failed else {}
        return {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode()), **told}
