"""The laptop cloud builds itself from the snapshot, so the stack may hold only what the laptop knows."""

import json
from typing import Any

import boto3
import pytest
from moto import mock_aws

from commonplace_local.cloud.resources import Builders
from commonplace_local.cloud.template import Stack
from commonplace_local.project import TEMPLATE as SNAPSHOT
from infra.requirements import ROOT


@pytest.fixture
def builders() -> Any:
    """The laptop's builders, at an AWS in this process."""
    with mock_aws():
        session: Any = boto3.session.Session("example", "example", region_name="us-east-1")
        yield Builders(
            session.client, ROOT, "http://127.0.0.1:1", environment={}, secret_values={}, retry_interval_seconds=None
        )


def test_the_laptop_knows_every_type_reference_and_property_of_the_snapshot(builders: Any) -> None:
    Stack(json.loads(SNAPSHOT.read_text()), builders.table_of_types()).make()
    parts = builders.parts
    assert {function.name for function in parts.functions.values()} == {
        f"commonplace-dev-{name}"
        for name in (
            "webhook",
            "sync-run",
            "sync-store",
            "index",
            "site",
            "rest",
            "mcp",
            "console",
            "auth",
            "rotate",
            "redact",
            "governance-webhooks",
            "chat",
        )
    }
    assert {route.key for route in parts.routes} >= {
        "POST /webhooks/github",
        "ANY /mcp",
        "ANY /mcp/{proxy+}",
        "ANY /token",
        "$default",
    }
    assert {route.key for route in parts.routes if route.streams} == {"ANY /api/v1/chat", "ANY /api/v1/chat/{proxy+}"}
    assert (len(parts.buckets), len(parts.tables), len(parts.queues), len(parts.machines)) == (1, 4, 7, 1)
    assert (len(parts.mappings), len(parts.rules), len(parts.notifications), len(parts.pipes)) == (3, 3, 1, 2)
    assert (len(parts.secrets), len(parts.rotations)) == (6, 1)
    (mcp,) = [function for function in parts.functions.values() if function.name.endswith("-mcp")]
    assert mcp.variables["BASE_URL"] == "http://127.0.0.1:1"
