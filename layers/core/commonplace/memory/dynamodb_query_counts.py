"""How often the memory was asked, on DynamoDB, table `records`: `commonplace.memory.ports.QueryCounts`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from commonplace.kernel.items import key
from commonplace.kernel.table import query
from commonplace.memory.dynamodb_memory_items import room
from commonplace.memory.entries import PHASES, ROLES, Phase, Role

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

_KNOWN: Mapping[str, tuple[str, Role]] = {
    f"{phase}#{role}": (phase, role) for phase in (*PHASES, "none") for role in ROLES
}


class DynamoQueryCounts:
    """One item a phase and role: every addition is atomic."""

    def __init__(
        self,
        client: DynamoDBClient,
        records: str,
        *,
        hasty: DynamoDBClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`hasty` counts, where nobody is to wait for that; `client` reads. `clock` gives epoch seconds."""
        self._client = client
        self._hasty = hasty or client
        self._table = records
        self._clock = clock

    def count(self, organisation: str, phase: Phase | None, role: Role) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._hasty.update_item(
                TableName=self._table,
                Key=key(room(organisation, "queries"), f"{phase or 'none'}#{role}"),
                UpdateExpression="SET #at = :now ADD #n :one",
                ExpressionAttributeNames={"#at": "at", "#n": "n"},
                ExpressionAttributeValues={":now": {"N": str(int(self._clock()))}, ":one": {"N": "1"}},
            )
        except (ClientError, BotoCoreError) as error:
            logger.warning("a query could not be counted", extra={"error": type(error).__name__})

    def counts(self, organisation: str) -> Mapping[tuple[str, Role], int]:
        items = query(self._client, self._table, room(organisation, "queries"))
        found = ((_KNOWN.get(item["sk"]["S"]), int(item["n"]["N"])) for item in items)
        return {asked: n for asked, n in found if asked}
