"""A client of DynamoDB that fails as it is told."""

from typing import Any

from botocore.exceptions import ClientError


def refusal(code: str, *reasons: str) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": ""},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return ClientError(response, "TransactWriteItems")


class Failing:
    """A client whose every call fails so often, then goes through."""

    def __init__(self, client: Any, error: Exception, times: int = 1_000) -> None:
        self._client = client
        self._error = error
        self.left = times

    def __getattr__(self, name: str) -> Any:
        def call(**values: Any) -> Any:
            if self.left:
                self.left -= 1
                raise self._error
            return getattr(self._client, name)(**values)

        return call


CANCELED = "TransactionCanceledException"
