"""Who may report gaps and how often, names that two toolsets share, catalogues that change, a store that is away."""

from collections.abc import Iterator

import pytest
from mcp.shared.exceptions import MCPError

from commonplace.web.mcp.declaration import Cost
from tests.conformance.reference.conftest import organisation
from tests.conformance.reference.worlds import Guest, World, calling
from tests.unit.web.mcp.talking import ERAS, text_of

GAPS_A_MINUTE = 3


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def later(world: World) -> Iterator[None]:
    """Time and catalogue as they were, for whoever comes next."""
    yield
    world.objects.down = False
    world.publish(world.catalogue)
    world.clock.now += 120


def test_a_member_reports_what_is_not_there_and_it_is_counted(member: Guest) -> None:
    miss = text_of(member.result("search_knowledge", query="helios gw users archive"))
    assert "report_gap" in miss
    for count in (1, 2):
        data = member.data("report_gap", query="helios gw users archive jo@example.com", type="command", note="audit")
        assert data == {"recorded": True, "query": "helios gw users archive <email>", "count": count}
    (gap,) = member.gaps()
    assert (gap.query, gap.count, gap.type, gap.note) == ("helios gw users archive <email>", 2, "command", "audit")


def test_somebody_unknown_and_a_reader_report_nothing(world: World, era: str) -> None:
    team = organisation()
    for token, said in (("", "requires member access"), ("reader", "requires the scope reference:write")):
        with calling(world, era, team, token=token) as caller:
            code, text = caller.error("report_gap", query="archive users")
            assert (code, said in text) == ("ACCESS_DENIED", True)
            assert "report_gap" not in text_of(caller.result("search_knowledge", query="helios get-users"))
            assert caller.gaps() == []


def test_reports_are_limited_apart_from_look_ups(world: World, era: str) -> None:
    limits: dict[Cost, int] = {"read": 0, "search": 0, "write": GAPS_A_MINUTE}
    with calling(world, era, organisation(), token="member", limits=limits) as caller:
        for number in range(GAPS_A_MINUTE):
            caller.data("report_gap", query=f"gap {number}")
        code, text = caller.error("report_gap", query="one more")
        assert (code, "Try again in" in text) == ("RATE_LIMITED", True)
        assert len(caller.gaps()) == GAPS_A_MINUTE
        assert caller.search("helios gw users list")


def test_searches_are_limited_apart_from_look_ups_by_name(world: World, era: str) -> None:
    limits: dict[Cost, int] = {"read": 0, "search": 1, "write": 0}
    with calling(world, era, organisation(), limits=limits) as caller:
        caller.search("list users")
        assert caller.error("search_knowledge", query="list users")[0] == "RATE_LIMITED"
        assert caller.data("get_command", command="helios gw users list")


def test_a_name_that_two_toolsets_share_is_prefixed_at_mcp_all(world: World, era: str) -> None:
    with calling(world, era, organisation(), path="/mcp/all") as caller:
        tools = {tool.name: tool for tool in caller.ask("list_tools").tools}
        names = tools.keys()
        assert "google-workspace" in str(tools["reference_search_knowledge"].input_schema)
        assert "google-workspace" not in str(tools["knowledge_search_knowledge"].input_schema)
        assert {"knowledge_search_knowledge", "reference_search_knowledge", "get_command", "list_commands"} <= names
        assert "search_knowledge" not in names
        found = caller.data("reference_search_knowledge", query="helios gw users list")["results"]
        assert found[0]["id"] == "cmd-gw-users-list"
        with pytest.raises(MCPError):
            caller.result("search_knowledge", query="x")


def test_the_deployments_own_path_serves_what_is_configured(world: World, era: str) -> None:
    with calling(world, era, organisation(), path="/mcp") as caller:
        assert caller.search("helios gw users list") == ["cmd-gw-users-list"]


@pytest.mark.usefixtures("later")
def test_a_look_up_asks_nobody_while_the_edition_is_fresh_and_goes_on_without_a_store(world: World, era: str) -> None:
    with calling(world, era, organisation()) as caller:
        caller.data("get_command", command="helios gw users list")
        asked = world.objects.asked
        world.objects.down = True
        for _ in range(3):
            caller.data("get_command", command="helios gw users get")
        assert world.objects.asked == asked
        world.clock.now += 61
        assert caller.data("get_command", command="helios gw users list")["id"] == "cmd-gw-users-list"
        assert world.objects.asked > asked


@pytest.mark.usefixtures("later")
def test_a_store_that_was_never_there_is_said_to_be_away(world: World, era: str) -> None:
    world.objects.down = True
    with calling(world, era, organisation()) as caller:
        code, text = caller.error("get_command", command="helios gw users list")
        assert (code, "Try again in" in text) == ("UNAVAILABLE", True)
        assert len(caller.ask("list_tools").tools) == 6
        assert (
            "User is on"
            in caller.ask("get_prompt", "reference-assistant", {"pageContext": "x"}).messages[0].content.text
        )


@pytest.mark.usefixtures("later")
def test_what_is_published_anew_is_answered_anew(world: World, era: str) -> None:
    with calling(world, era, organisation()) as caller:
        assert caller.data("get_command", command="helios gw users list")["commit"] == world.catalogue.commit_sha
        kept = [placed for placed in world.catalogue.entries if placed.entry.id != "cmd-gw-users-get"]
        world.publish(world.catalogue.model_copy(update={"entries": kept, "generation": 2, "commit_sha": "f" * 40}))
        world.clock.now += 61
        assert caller.data("get_command", command="helios gw users list")["commit"] == "f" * 40
        assert caller.error("get_command", command="helios gw users get")[0] == "NOT_FOUND"
