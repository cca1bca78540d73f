"""Partners in tables of moto, whose servers are of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.partners import Partners
from commonplace.kernel.audit_store import PARTNERS as KIND
from commonplace.kernel.records import Records
from commonplace.kernel.table import Table
from tests.dynamodb_fixture import new_table
from tests.fakes.identity_stores import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def connections() -> Iterator[Connections]:
    with closing(Connections(partial(GuardedTransport, loopback=True))) as made:
        yield made


@pytest.fixture
def partners(dynamodb: DynamoDBClient, connections: Connections, clock: Clock) -> Partners:
    records = Records(Table(dynamodb, new_table(dynamodb, "records")), new_table(dynamodb, "activity"), KIND)
    return Partners(records, lambda: connections, loopback=True, clock=clock)
