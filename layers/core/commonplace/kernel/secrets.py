"""A secret of Secrets Manager, read on first use and cached, since callers wait for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from commonplace.kernel.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

logger = logging.getLogger(__name__)

FRESH_SECONDS = 300
"""A secret is taken as it was read for so long."""
KEPT_SECONDS = 3_600
"""A secret that cannot be read again is used for so long: an hour without Secrets Manager is noticed by nobody."""
PAUSE_SECONDS = 30
"""Between two attempts when the last one failed: its timeout is not added to every answer."""

Value = TypeVar("Value")


class KeptSecret(Generic[Value]):
    """The secret as `parse` returns it. Safe for threads."""

    def __init__(
        self,
        client: SecretsManagerClient,
        arn: str,
        parse: Callable[[str], Value],
        *,
        pause_seconds: float = PAUSE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`parse` raises ValueError, in words that do not quote the secret."""
        self._client = client
        self._arn = arn
        self._parse = parse
        self._pause_seconds = pause_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._value: tuple[Value] | None = None
        self._failure: Exception | None = None
        self._read_at = self._failed_at = -float("inf")

    def current(self) -> Value:
        """Raises Unavailable, from what went wrong: it cannot be read, or is not what it has to be."""
        with self._lock:
            now = self._monotonic()
            if now - self._read_at >= FRESH_SECONDS and now - self._failed_at >= self._pause_seconds:
                self._renew(now)
            if self._value is None or now - self._read_at >= KEPT_SECONDS:
                failed = Unavailable("A secret that this needs cannot be read now.", retry_after_seconds=PAUSE_SECONDS)
                raise failed from self._failure
            return self._value[0]

    def renew(self) -> None:
        """Reads it at once, however fresh it is. What cannot be read stays as it is."""
        with self._lock:
            self._renew(self._monotonic())

    def version(self, stage: str) -> Value | None:
        """Another version (`AWSPENDING`, `AWSPREVIOUS`), read anew. None where there is none, or no answer."""
        return self._read(stage, lambda _: None)

    def _renew(self, now: float) -> None:
        def noted(error: Exception) -> None:
            self._failure, self._failed_at = error, now
            logger.error("a secret cannot be read", extra={"error": type(error).__name__, "secret": self._arn})

        if (value := self._read("AWSCURRENT", noted)) is not None:
            self._value, self._read_at = (value,), now

    def _read(self, stage: str, failed: Callable[[Exception], None]) -> Value | None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.get_secret_value(SecretId=self._arn, VersionStage=stage)
            return self._parse(answer.get("SecretString", ""))
        except (BotoCoreError, ClientError, ValueError) as error:
            failed(error)
            return None
