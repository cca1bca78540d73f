"""MCP's reference server as a partner: a server of the era with sessions, whose requests are counted one by one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.commons import Commons
from commonplace.federation.model import Contact, pin
from commonplace.federation.partners import Partners
from commonplace.federation.toolset import commons_toolset
from commonplace.identity.principals import Principal, scope
from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import PARTNERS as KIND
from commonplace.kernel.records import Records
from commonplace.kernel.table import Table
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import offer_of
from commonplace.web.mcp.rendering import data_of
from tests.conformance.mcp import clients as node
from tests.dynamodb_fixture import new_table
from tests.processes import ended

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.node

HERE = Path(__file__).parent
FOLDER = HERE.parents[2] / ".tools" / "reference-server"
ADA = Author(organisation="garden", account="account-ada")
CALL = ["DELETE", "GET", "POST initialize", "POST notifications/initialized", "POST tools/call"]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server's address."""
    programs = node.or_skipped(tmp_path_factory.mktemp("home"), HERE, FOLDER)
    running = subprocess.Popen(
        [programs.command("")[0], str(HERE / "everything.mjs"), str(programs.folder / "node_modules")],
        env=programs.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with ended(running) as process:
        assert process.stdin and process.stdout
        try:
            address = process.stdout.readline().strip()
            assert address, "the server did not start"
            yield address
        finally:
            process.stdin.close()
            process.wait(10)


class Counting(GuardedTransport):
    """Notes what is sent: HTTP methods, with the JSON-RPC method of a body."""

    def __init__(self, sent: list[str]) -> None:
        super().__init__(loopback=True)
        self.sent = sent

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        said = json.loads(await request.aread() or b"{}")
        self.sent.append(f"{request.method} {said.get('method', '')}".strip())
        return await super().handle_async_request(request)


@pytest.fixture
def sent() -> list[str]:
    return []


@pytest.fixture
def connections(sent: list[str]) -> Iterator[Connections]:
    with closing(Connections(partial(Counting, sent))) as made:
        yield made


def test_a_call_of_a_partner_with_sessions_takes_five_requests(
    everything: str, connections: Connections, sent: list[str]
) -> None:
    contact = Contact(everything)
    for number in range(3):
        sent.clear()
        said, contact = connections.run(connections.call(contact, "echo", {"message": f"nets {number}"}, (), 30))
        assert (said.text, said.is_error, contact.era) == (f"Echo: nets {number}", False, "legacy")
        assert sorted(sent) == sorted(CALL if number else [*CALL, "POST server/discover"])


def test_its_tools_are_reviewed_and_called_by_their_names_here(
    everything: str, connections: Connections, sent: list[str], dynamodb: DynamoDBClient
) -> None:
    table = Table(dynamodb, new_table(dynamodb, "records"))
    partners = Partners(Records(table, new_table(dynamodb, "activity"), KIND), lambda: connections, loopback=True)
    review = partners.add(ADA, "everything", everything, title="Everything")
    assert review.faults == {}
    (echo,) = [tool for tool in review.tools if tool.name == "echo"]
    partners.approve(ADA, "everything", {echo.id: pin(echo.offered)})
    commons = Commons(partners, "garden.example", "Garden")
    offer = offer_of([commons_toolset(lambda: commons, lambda *_: [])])
    scopes = frozenset([scope("commons", "read")])
    ada = Caller(Principal(subject="0xada", organisation="garden", tier="member", scopes=scopes))
    assert [one.name for one in offer.further_tools(ada)] == ["everything__echo"]
    sent.clear()
    answer = invoke(offer, ada, "everything__echo", {"message": "nets"}, spend=lambda *_: None)
    assert data_of(answer) == {"source": "everything", "text": "Echo: nets"}
    assert sorted(sent) == CALL
