"""`report_gap`: for members, masked, counted, bounded."""

import logging
from dataclasses import replace

import pytest

from commonplace.identity.principals import Principal
from commonplace.reference.model import MAX_CHARACTERS, Catalogue
from commonplace.web.mcp.declaration import Caller
from tests.unit.reference.tools.desks import MEMBER, Desk, desk, member
from tests.unit.web.mcp.talking import ERAS, text_of


@pytest.fixture
def there(here: Desk) -> Desk:
    here.caller = member()
    return here


@pytest.mark.parametrize("mode", ERAS)
def test_a_gap_is_counted_for_the_maintainers(there: Desk, mode: str) -> None:
    there.mode = mode
    first = there.call("report_gap", query="archive users", type="command", note="for audits")
    assert first.structured_content == {"recorded": True, "query": "archive users", "count": 1}
    assert "for the first time" in text_of(first)
    assert there.data("report_gap", query="Archive  users", type="command")["count"] == 2
    (gap,) = there.reference.gaps("acme")
    assert (gap.query, gap.count, gap.type, gap.note) == ("archive users", 2, "command", "for audits")


def test_what_may_be_somebodys_own_is_not_kept(there: Desk) -> None:
    data = there.data("report_gap", query="suspend john@example.com", note="call 0049 30 1234567")
    assert data["query"] == "suspend <email>"
    (gap,) = there.reference.gaps("acme")
    assert gap.note == "call <number>"


def test_a_full_list_says_so(there: Desk) -> None:
    there.reference.store.most = 1
    there.data("report_gap", query="one")
    data = there.data("report_gap", query="two")
    assert data == {"recorded": False, "query": "two"}
    assert there.data("report_gap", query="one")["count"] == 2


def test_an_account_without_an_organisation_reports_to_the_deployments(there: Desk) -> None:
    there.told = {"organisation": "helios"}
    there.__post_init__()
    there.caller = Caller(replace(MEMBER, organisation=None))
    there.data("report_gap", query="archive users")
    assert [gap.query for gap in there.reference.gaps("helios")] == ["archive users"]


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        (Caller(), "requires member access"),
        (Caller(Principal(subject="s", scopes=frozenset({"reference:write"}))), "requires member access"),
        (Caller(Principal(subject="s", tier="member", scopes=frozenset({"reference:read"}))), "scope reference:write"),
    ],
)
def test_who_is_no_member_or_lacks_the_scope_reports_nothing(here: Desk, caller: Caller, said: str) -> None:
    here.caller = caller
    code, text = here.error("report_gap", query="archive users")
    assert (code, said in text) == ("ACCESS_DENIED", True)
    assert here.reference.gaps("acme") == []


def test_where_nothing_is_kept_there_is_no_such_tool(helios: Catalogue) -> None:
    for place in (desk(helios, told={"keeps_gaps": False}), desk(helios, caller=replace(member(), read_only=True))):
        names = {tool.name for tool in place.ask(lambda client: client.list_tools()).tools}
        assert "report_gap" not in names
        assert len(names) == 5


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "query is missing"),
        ({"query": " "}, "query"),
        ({"query": "\x00\n"}, "empty"),
        ({"query": "x" * (MAX_CHARACTERS + 1)}, "200"),
        ({"query": "x", "note": "x" * 201}, "200"),
        ({"query": "x", "type": "rumour"}, "command, api, guide, feature, troubleshooting, setting"),
        ({"query": "x", "count": 1_000_000}, "no argument count"),
    ],
)
def test_what_is_no_gap_is_refused(there: Desk, asked: dict[str, object], said: str) -> None:
    code, text = there.error("report_gap", **asked)
    assert (code, said in text) == ("INVALID_INPUT", True), text
    assert there.reference.gaps("acme") == []


def test_a_store_that_is_away_is_said_to_be(there: Desk) -> None:
    there.reference.store.down = True
    assert there.error("report_gap", query="x")[0] == "UNAVAILABLE"


def test_no_log_says_what_was_missed(there: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="commonplace"):
        there.data("report_gap", query="swordfish")
    assert "swordfish" not in repr([record.__dict__ for record in caplog.records if record.name != "mcp.client"])
