"""DynamoDB Local for tests: the one that was tried, on the loopback interface alone, for as long as it is wanted."""

import platform
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from commonplace_local.errors import CommandError
from tests.dynamodb_local import node, parts
from tests.opensearch_fixture import or_skipped
from tests.opensearch_node.java import RequirementMissing

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def own_address() -> str | None:
    """An address of this machine that others could reach it at. Nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = str(probe.getsockname()[0])
    return None if address.startswith("127.") else address


def test_it_answers_on_the_loopback_interface_alone(dynamodb_local: "DynamoDBClient", dynamodb_local_url: str) -> None:
    assert dynamodb_local.list_tables(Limit=1)["ResponseMetadata"]["HTTPStatusCode"] == 200
    parts_of_url = urlsplit(dynamodb_local_url)
    assert parts_of_url.hostname == "127.0.0.1"
    outside = own_address()
    if outside is None:
        pytest.skip("this machine has no other address")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((outside, parts_of_url.port or 0), timeout=5)


def test_what_is_not_the_one_that_was_tried_is_not_run(tmp_path: Path) -> None:
    (tmp_path / parts.VERSION).mkdir()
    (tmp_path / parts.VERSION / "DynamoDBLocal-2.6.1.jar").write_bytes(b"something else")
    with pytest.raises(CommandError, match="not the one"):
        parts.fetched(Path("/nowhere"), tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(node, "homes", lambda environ: iter([tmp_path]))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(RequirementMissing) as missing:
        node.find_java()
    assert "Java 17" in missing.value.message

    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(RequirementMissing, match="x86-64"):
        node.find_java()


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_it_tests_are_left_out_and_in_ci_they_fail(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: Any
) -> None:
    def start() -> None:
        raise RequirementMissing("No Java.", "Install one.")

    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match=r"No Java\. Install one\."):
        or_skipped(start)
