"""What functions are told of governance, and what each may do with it: nothing where there is none."""

import json
from fnmatch import fnmatch

import pytest

from commonplace.governance import store
from commonplace.governance.capability import GOVERNANCE
from commonplace.identity.store.grant_writes import OF_ITS_END
from commonplace.kernel.records import Room
from infra.configuration import ConfigurationError, from_context
from tests.infra.templates import Template, as_list

ROOMS = [one.partition("tide") for one in vars(store).values() if isinstance(one, Room)]
SECRET = {"tide#gov#direct", "tide#gov#direct-replies", "tide#gov#invitations", "tide#gov#names"}
HOOKS, SEALED = {"tide#gov#hooks"}, {"tide#gov-secrets"}
TOLD = {"index", "index-build", "rest", "console", "mcp", "auth", "governance-webhooks"}
ACTS = {
    "PutItem": ("messages", "replies", "journal", "feed", "answers", "reactions"),
    "UpdateItem": ("processes", "cards", "agents"),
    "ConditionCheckItem": ("orga", "members", "channels"),
}
"""What agents do in the transactions of their tools."""
ROLES = (
    "Webhook",
    "SyncRun",
    "SyncStore",
    "IndexRole",
    "Migration",
    "Site",
    "Rest",
    "Mcp",
    "Console",
    "AuthRole",
    "GovernanceWebhooks",
)


def reached(template: Template, role: str) -> dict[str, set[str]]:
    """Partition of governance -> what the role may do with its items."""
    found: dict[str, set[str]] = {}
    for each in template.statements(role):
        keys = each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
        for room in (*ROOMS, store.account_key("ada")):
            if "StateRecords" in str(each["Resource"]) and any(fnmatch(room, key) for key in as_list(keys)):
                found.setdefault(room, set()).update(one.partition(":")[2] for one in as_list(each["Action"]))
    return found


def test_functions_are_told_the_scheme_and_by_default_none_is(referenced: Template, template: Template) -> None:
    def told(of: Template) -> set[str]:
        return {
            each["FunctionName"].removeprefix("commonplace-dev-")
            for each in of.properties("AWS::Lambda::Function")
            if "GOVERNANCE_SCHEME" in each.get("Environment", {}).get("Variables", {})
        }

    assert (told(referenced), told(template)) == (TOLD, set())


def test_without_governance_nobody_reaches_anything_of_it(template: Template) -> None:
    assert not any(reached(template, role) for role in ROLES)


def test_only_the_pages_of_people_reach_direct_messages_and_invitations(referenced: Template) -> None:
    everywhere = {role: {*reached(referenced, role)} for role in ROLES}
    assert everywhere.pop("Console") == {*ROOMS, store.account_key("ada")}
    assert not any(rooms & SECRET for rooms in everywhere.values())
    assert everywhere["Mcp"] == {*ROOMS} - SECRET - HOOKS - SEALED
    assert everywhere["GovernanceWebhooks"] == {"tide#gov#journal"} | HOOKS | SEALED
    assert not everywhere["Rest"] | everywhere["Site"] | everywhere["Webhook"]


def test_nobody_but_the_pages_of_people_writes_what_is_no_grant(referenced: Template) -> None:
    reading = {"GetItem", "BatchGetItem", "Query"}
    for role in ROLES:
        writes = {room: done - reading for room, done in reached(referenced, role).items() if done - reading}
        match role:
            case "Console":
                assert writes
            case "AuthRole":
                put = {f"tide#gov#{room}": {"PutItem"} for room in ("journal", "feed")}
                assert writes == put | {"tide#gov#agents": {"PutItem", "DeleteItem"}}
            case "Mcp":
                assert writes == {f"tide#gov#{room}": {action} for action, rooms in ACTS.items() for room in rooms}
            case "GovernanceWebhooks":
                assert writes == {"tide#gov#hooks": {"UpdateItem"}}
            case _:
                assert not writes


def test_agents_check_a_grant_and_the_console_ends_one_and_no_more(referenced: Template, template: Template) -> None:
    def of_grants(of: Template, role: str) -> list[tuple[set[str], set[str]]]:
        return [
            (
                {one.partition(":")[2] for one in as_list(each["Action"])},
                set(as_list(each["Condition"].get("ForAllValues:StringEquals", {}).get("dynamodb:Attributes", []))),
            )
            for each in of.statements(role)
            if "grant#*" in str(each.get("Condition", {}))
        ]

    assert ({"ConditionCheckItem"}, set()) in of_grants(referenced, "Mcp")
    assert of_grants(referenced, "Console") == [({"UpdateItem"}, set(OF_ITS_END))]
    assert not of_grants(template, "Console")
    assert not any("ConditionCheckItem" in actions for actions, _ in of_grants(template, "Mcp"))


def test_who_makes_secrets_of_webhooks_cannot_read_them(referenced: Template) -> None:
    for role in ROLES:
        done = reached(referenced, role).get("tide#gov-secrets", set())
        expected = {"Console": {"PutItem", "UpdateItem", "DeleteItem"}, "GovernanceWebhooks": {"GetItem"}}
        assert done == expected.get(role, set())


def test_the_pipe_follows_messages_of_channels_and_no_direct_ones(template: Template) -> None:
    (pipe,) = [one for one in template.properties("AWS::Pipes::Pipe") if one["Name"].endswith("-records")]
    (pattern,) = pipe["SourceParameters"]["FilterCriteria"]["Filters"]
    endings = [one["suffix"] for one in json.loads(pattern["Pattern"])["dynamodb"]["Keys"]["pk"]["S"]]
    followed = {room for room in ROOMS if any(room.endswith(ending) for ending in endings)}
    assert followed == {"tide#gov#messages", "tide#gov#replies"}
    assert {f"tide{ending}" for ending in GOVERNANCE.indexed_records} == followed


@pytest.mark.parametrize("scheme", ["https", "mcp", "Swarm", "a b", "x"])
def test_a_scheme_that_means_something_else_is_refused(scheme: str) -> None:
    with pytest.raises(ConfigurationError):
        from_context({"governanceScheme": scheme})


def test_the_toolset_stands_apart_and_cannot_be_put_at_mcp() -> None:
    with pytest.raises(ConfigurationError):
        from_context({"governanceScheme": "swarmrise", "mcpToolsets": "knowledge,governance"})
