"""What functions are told of governance, and what each may do with it: nothing where there is none."""

import json
from fnmatch import fnmatch

import pytest

from commonplace.governance import store
from commonplace.governance.capability import GOVERNANCE
from commonplace.kernel.records import Room
from infra.configuration import ConfigurationError, from_context
from tests.infra.templates import Template, as_list

ROOMS = [one.partition("tide") for one in vars(store).values() if isinstance(one, Room)]
SECRET = {"tide#gov#direct", "tide#gov#direct-replies", "tide#gov#invitations", "tide#gov#names"}
TOLD = {"index", "index-build", "rest", "console", "mcp", "auth"}
ROLES = ("Webhook", "SyncRun", "SyncStore", "IndexRole", "Migration", "Site", "Rest", "Mcp", "Console", "AuthRole")


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
    assert everywhere["Mcp"] == {*ROOMS} - SECRET
    assert not everywhere["Rest"] | everywhere["Site"] | everywhere["Webhook"]


def test_nobody_but_the_pages_of_people_writes_what_is_no_grant(referenced: Template) -> None:
    reading = {"GetItem", "BatchGetItem", "Query"}
    for role in ROLES:
        writes = {room: done - reading for room, done in reached(referenced, role).items() if done - reading}
        match role:
            case "Console":
                assert writes
            case "AuthRole":
                assert writes == {"tide#gov#journal": {"PutItem"}, "tide#gov#feed": {"PutItem"}}
            case _:
                assert not writes


def test_the_pipe_follows_messages_of_channels_and_no_direct_ones(template: Template) -> None:
    (pipe,) = template.properties("AWS::Pipes::Pipe")
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
