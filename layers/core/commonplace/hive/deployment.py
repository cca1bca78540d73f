"""The model of the deployment, kept at its first start and compared from then on (seed 004, `deployment_config`).

One item of the table `records`, `pk = public#hive#deployment`, `sk = model`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from commonplace.kernel.items import key
from commonplace.kernel.table import Table
from commonplace.kernel.telemetry import count

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

KEY = key("public#hive#deployment", "model")
NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class KeptModel:
    """Name, revision and dimension (`search.embeddings.model_fingerprint`), or `none`."""

    model: str
    """Whose vectors are searched."""
    configured: str
    """The one of the settings: another one until the index is built anew."""
    since: str
    """When it was kept, or had taken over."""
    before: str = ""
    """The one that it took over from."""

    @property
    def changed(self) -> bool:
        return self.configured != self.model


class DeploymentConfiguration:
    """`clock` tells the time as contributions have it. Both methods raise Unavailable."""

    def __init__(self, client: DynamoDBClient, table: str, clock: Callable[[], str]) -> None:
        self._table = Table(client, table)
        self._clock = clock

    def read(self) -> KeptModel | None:
        """None before the first start."""
        item = self._table.get(KEY)
        if item is None:
            return None
        return KeptModel(**{name: item[name] for name in ("model", "configured", "since", "before")})

    def compare(self, configured: str, searched: str | None) -> KeptModel:
        """Keeps the model that is configured, at the first start; from then on says so when it is another one.

        `searched` is the model of the index that answers: once that is the one configured, it is the one that is kept.
        """
        was = self.read()
        if was is None:
            return self._put(KeptModel(configured, configured, self._clock()), None)
        if configured == was.model == was.configured:
            return was
        if configured == was.model:
            return self._put(replace(was, configured=configured), was)
        if configured == searched:
            logger.info("the index is of the model that is configured", extra={"model": configured})
            return self._put(KeptModel(configured, configured, self._clock(), was.model), was)
        logger.warning("the embedding model has changed", extra={"kept": was.model, "configured": configured})
        count("HiveModelChanges")
        return was if configured == was.configured else self._put(replace(was, configured=configured), was)

    def _put(self, now: KeptModel, was: KeptModel | None) -> KeptModel:
        """In place of `was`; where another process was faster, what that one put."""
        if was is None:
            write = self._table.new(KEY, asdict(now))
        else:
            kept = {"model": was.model, "configured": was.configured}
            write = self._table.put(KEY, asdict(now), "#model = :model AND #configured = :configured", **kept)
        return now if self._table.write(write) is not None else self.read() or now
