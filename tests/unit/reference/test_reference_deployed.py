"""`commonplace reference status` and `gaps`: what a deployment says of its catalogues."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from moto import mock_aws
from typer.testing import CliRunner, Result

from commonplace.reference.library import report_key
from commonplace.reference.model import Problem
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.store import DynamoGaps
from commonplace.reference.sync.plan import CatalogueReport
from commonplace_local import options
from commonplace_local.cli.reference import app as reference_app
from commonplace_local.errors import CommandError
from tests.dynamodb_fixture import new_table
from tests.fakes.state import FakeSyncState
from tests.fakes.store import FakeObjectStore

HELIOS = CatalogueSource("helios", "example/product", "main", "docs")


@dataclass
class FakeDeployment:
    """A deployment with a store and a table, and one catalogue."""

    dynamodb: Any
    outputs: dict[str, str] = field(default_factory=dict)
    sources: tuple[CatalogueSource, ...] = (HELIOS,)
    store: FakeObjectStore = field(default_factory=FakeObjectStore)

    def catalogues(self) -> tuple[CatalogueSource, ...]:
        return self.sources

    def state_of(self, catalogue: CatalogueSource) -> FakeSyncState:
        return FakeSyncState()

    def client(self, service: str) -> Any:
        assert service == "dynamodb"
        return self.dynamodb

    def reported(self, *problems: Problem) -> None:
        report = CatalogueReport(
            catalogue="helios",
            status="refused" if problems else "published",
            repository="example/product",
            branch="main",
            commit_sha="c" * 40,
            published_commit="b" * 40,
            entries=3,
            by_type={"command": 3},
            problems=list(problems),
        )
        self.store.put(report_key("helios"), report.to_json())


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDeployment]:
    with mock_aws():
        dynamodb = boto3.session.Session("123456789012", "x", region_name="us-east-1").client("dynamodb")
        made = FakeDeployment(dynamodb, {"RecordsTable": new_table(dynamodb, "records")})
        monkeypatch.setattr(options, "find", lambda *_: made)
        yield made


def run(*arguments: str) -> Result:
    return CliRunner().invoke(reference_app, list(arguments))


def test_the_state_of_a_published_catalogue_is_one_line(deployed: FakeDeployment) -> None:
    deployed.reported()
    assert run("status").output == "Catalogue helios: published; 3 entries (3 command) of commit bbbbbbbbbbbb\n"


def test_the_state_of_a_refused_one_has_every_error(deployed: FakeDeployment) -> None:
    deployed.reported(
        Problem(code="duplicate-id", severity="error", message="Twice.", path="a.json", line=3),
        Problem(code="broken-link", severity="warning", message="Nowhere."),
    )
    told = run("status").output
    assert "  duplicate-id: a.json:3: Twice." in told
    assert "cccccccccccc" in told
    assert "Nowhere." not in told
    assert "Nowhere." in run("status", "helios").output


def test_without_a_catalogue_the_state_says_so(deployed: FakeDeployment) -> None:
    deployed.sources = ()
    assert run("status").output.startswith("There is no catalogue")
    assert json.loads(run("status", "--json").output) == []


def test_gaps_come_most_reported_first(deployed: FakeDeployment) -> None:
    gaps = DynamoGaps(deployed.dynamodb, deployed.outputs["RecordsTable"])
    for query in ("archive users", "print users", "print users"):
        gaps.count("default", query, "command", "asked twice")
    gaps.count("other", "secret", None, None)
    told = json.loads(run("gaps", "--json").output)
    assert [(one["query"], one["count"], one["note"]) for one in told] == [
        ("print users", 2, "asked twice"),
        ("archive users", 1, "asked twice"),
    ]
    assert "print users" in run("gaps").output
    assert "secret" in run("gaps", "--org", "other").output


def test_without_gaps_or_without_a_table_that_is_said(deployed: FakeDeployment) -> None:
    assert run("gaps").output == "No gap has been reported.\n"
    deployed.outputs = {}
    assert isinstance(run("gaps").exception, CommandError)
