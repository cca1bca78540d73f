"""What an agent does while its member loses the role, or the grant ends, on DynamoDB Local: nothing is written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.governance import processes, structure
from commonplace.governance.store import ANSWERS, JOURNAL, MESSAGES
from commonplace.kernel.errors import CommonplaceError, Forbidden, NotFound
from tests.fakes.governance import Tide, found_tide

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

pytestmark = pytest.mark.real


@pytest.fixture
def tide(dynamodb_local: DynamoDBClient) -> Tide:
    return found_tide(dynamodb_local)


@pytest.mark.parametrize("lost", ["role", "grant", "switch"])
@pytest.mark.parametrize("tool", ["send_message", "cast_vote"])
def test_authority_that_ends_between_read_and_write_fails_the_change(
    tide: Tide, monkeypatch: pytest.MonkeyPatch, lost: str, tool: str
) -> None:
    watch, guest = tide.team("Watch"), tide.member("Guest").id
    role = tide.do("Vi", structure.create_role, team_id=watch.id, title="Cook", member_id=guest)
    channel, helper = tide.channel("Watch").id, tide.agent("Guest")
    given = {"channel_id": channel, "title": "Lunch", "mode": "single", "options": ["Soup", "Salad"]}
    vote = tide.do("Vi", processes.open_vote, **given)
    vi, organisation = tide.member("Vi").id, tide.store.organisation("tide").revision
    assert helper.principal.grant
    ends: Any = {
        "role": partial(tide.do, "Ada", structure.assign_role, role_id=role.id, member_id=vi, revision=role.revision),
        "grant": partial(tide.grants.revoke, helper.principal.grant, "person", int(tide.clock())),
        "switch": partial(tide.do, "Ada", structure.change_agents, revision=organisation, agents_act=False),
    }
    first, transact = iter([ends[lost]]), tide.store.table.transact

    def overtaken(writes: Any) -> None:
        for call in first:
            call()
        transact(writes)

    monkeypatch.setattr(tide.store.table, "transact", overtaken)
    said: dict[str, Any] = (
        {"channel_id": channel, "text": "Soup"} if tool == "send_message" else {"message_id": vote.id}
    )
    if tool == "cast_vote":
        said["choices"] = ["1"]
    messages = len(tide.all(MESSAGES))
    expected: type[CommonplaceError] = NotFound if lost == "role" else Forbidden
    with pytest.raises(expected) as refused:
        tide.act(helper, tool, **said)
    assert refused.value.hint
    assert (len(tide.all(MESSAGES)), tide.all(ANSWERS)) == (messages, [])
    assert not [one for one in tide.all(JOURNAL) if one.client and one.type != "Grant"]
