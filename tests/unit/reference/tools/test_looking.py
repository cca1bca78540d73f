"""`get_command` and `get_api_endpoint`: what is typed first, then what there is to know of it; or what may be meant."""

from dataclasses import replace

import pytest

from commonplace.reference.model import Catalogue, CommandAnswer, EndpointAnswer
from commonplace.reference.tools.lookup import MAX_BEGINNING
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, desk, hit, hits, member
from tests.unit.web.mcp.talking import ERAS, text_of

GET = "cmd-gw-users-get"


def answering(here: Desk, helios: Catalogue, id: str = GET) -> Desk:
    here.reference.one = CommandAnswer(hit(helios, id))
    return here


@pytest.mark.parametrize("mode", ERAS)
def test_a_command_is_told_with_its_syntax_first_and_its_source(here: Desk, helios: Catalogue, mode: str) -> None:
    here.mode = mode
    result = answering(here, helios).call("get_command", command="helios gw users get")
    text, data = text_of(result), result.structured_content

    entry = hit(helios, GET).entry
    assert text.startswith(f"```\n{entry.syntax}\n```\n\n{entry.summary}")
    assert f"https://github.com/example/product/blob/{helios.commit_sha}/" in text
    assert data["id"] == GET
    assert data["syntax"] == entry.syntax
    assert data["commit"] == helios.commit_sha
    assert data["sourceUrl"].startswith(f"https://github.com/example/product/blob/{helios.commit_sha}/")
    assert (data["catalogue"], data["matchedBy"], data["score"]) == ("helios", "name", 1.0)
    assert data["relatedIds"] == entry.related_ids[:5]
    assert here.reference.asked == ["helios gw users get"]


def test_a_command_of_several_products_says_which_it_is_and_what_others_there_are(
    here: Desk, helios: Catalogue
) -> None:
    others = [replace(hit(helios, GET), catalogue=catalogue(name, entry("a"))) for name in ("moon", "star")]
    here.reference.one = CommandAnswer(hit(helios, GET), others=tuple(others))
    result = here.call("get_command", command="helios gw users get")

    assert text_of(result).startswith("This is of `helios`. Give catalogue for that of `moon` or `star`.\n\n```\n")
    assert result.structured_content["others"] == ["moon", "star"]


def test_a_url_of_an_unknown_server_is_refused_with_those_there_are(here: Desk) -> None:
    here.reference.paths = EndpointAnswer((), hosts=("api.example.com", "eu.example.com"))

    _, text = here.error("get_api_endpoint", path="https://elsewhere.example/x")
    assert "Servers are api.example.com, eu.example.com." in text


def test_what_is_related_is_named_as_it_can_be_looked_up(here: Desk, helios: Catalogue) -> None:
    text = text_of(answering(here, helios, "cmd-gw-users-list").call("get_command", command="x"))
    assert "See also: `helios gw users " in text


def test_absent_facts_are_left_out(here: Desk, helios: Catalogue) -> None:
    data = answering(here, helios).data("get_command", command="x")
    assert None not in data.values()
    assert "method" not in data
    assert "deprecated" not in data


def test_what_was_replaced_says_by_what(here: Desk, helios: Catalogue) -> None:
    old, new = hit(helios, "cmd-gw-list-users"), hit(helios, "cmd-gw-users-list")
    here.reference.one = CommandAnswer(replace(new, instead_of=old.entry))
    result = here.call("get_command", command="helios gw list-users")
    assert text_of(result).startswith("`helios gw list-users` was replaced by `helios gw users list`.")
    assert result.structured_content["insteadOf"] == "helios gw list-users"


def test_what_is_deprecated_for_nothing_else_says_so() -> None:
    old = entry("cmd-a", type="command", name="tides old", syntax="tides old", deprecated=True)
    place = desk(book := catalogue("tides", old))
    place.reference.one = CommandAnswer(hit(book, "cmd-a"))
    result = place.call("get_command", command="tides old")
    assert "`tides old` is deprecated, and nothing replaces it." in text_of(result)
    assert result.structured_content["deprecated"] is True


def test_a_command_that_is_not_there_is_an_error_with_names_and_a_way_on(here: Desk) -> None:
    here.reference.one = CommandAnswer(None, (), ("helios gw users list", "helios users list"))
    code, text = here.error("get_command", command="helios get-users")
    assert code == "NOT_FOUND"
    assert "“helios get-users”" in text
    assert "Did you mean `helios gw users list` or `helios users list`?" in text
    assert "list_commands" in text
    assert "report_gap" not in text


def test_an_endpoint_is_sent_to_the_tool_that_knows_them(here: Desk) -> None:
    for name in ("GET /api/v1/users", "/api/v1/users", "https://helios.example/api/v1/users"):
        assert "get_api_endpoint" in here.error("get_command", command=name)[1]
    assert "get_api_endpoint" not in here.error("get_command", command="get users")[1]


def test_who_may_report_a_gap_is_told_of_that(here: Desk) -> None:
    here.caller = member()
    assert "report_gap" in here.error("get_command", command="helios get-users")[1]
    here.caller = replace(here.caller, read_only=True)
    assert "report_gap" not in here.error("get_command", command="helios get-users")[1]


def test_a_group_names_the_commands_that_begin_with_it(here: Desk, helios: Catalogue) -> None:
    ids = [placed.entry.id for placed in helios.entries if (placed.entry.name or "").startswith("helios gw")]
    here.reference.one = CommandAnswer(None, hits(helios, *ids))
    code, text = here.error("get_command", command="helios gw")
    assert code == "NOT_FOUND"
    assert f"{len(ids)} commands begin so" in text
    assert text.count("`helios gw") == MAX_BEGINNING
    assert f"and {len(ids) - MAX_BEGINNING} more" in text


@pytest.mark.parametrize(
    ("asked", "path", "method"),
    [
        ({"path": "/api/v1/users"}, "/api/v1/users", None),
        ({"path": "/api/v1/users", "method": "get"}, "/api/v1/users", "GET"),
        ({"path": "post /api/v1/users"}, "/api/v1/users", "POST"),
        ({"path": "POST /api/v1/users", "method": "POST"}, "/api/v1/users", "POST"),
        (
            {"url": "https://helios.example/api/v1/users", "verb": "DELETE"},
            "https://helios.example/api/v1/users",
            "DELETE",
        ),
    ],
)
def test_a_method_may_stand_beside_the_path_or_before_it(
    here: Desk, helios: Catalogue, asked: dict[str, str], path: str, method: str | None
) -> None:
    here.reference.paths = EndpointAnswer(hits(helios, "api-get-groups"))
    here.data("get_api_endpoint", **asked)
    assert here.reference.asked == [(path, method)]


def test_two_methods_are_refused(here: Desk) -> None:
    assert here.error("get_api_endpoint", path="GET /api/v1/users", method="POST")[0] == "INVALID_INPUT"


def test_an_endpoint_is_told_with_method_and_path_first(here: Desk, helios: Catalogue) -> None:
    here.reference.paths = EndpointAnswer(hits(helios, "api-get-groups"))
    result = here.call("get_api_endpoint", path="/api/v1/groups")
    assert text_of(result).startswith("```\nGET /api/v1/groups\n```")
    (one,) = result.structured_content["endpoints"]
    assert (one["method"], one["pathTemplate"]) == ("GET", "/api/v1/groups")


def test_every_method_of_a_path_is_told(here: Desk, helios: Catalogue) -> None:
    ids = [placed.entry.id for placed in helios.entries if placed.entry.type == "api"][:5]
    here.reference.paths = EndpointAnswer(hits(helios, *ids))
    result = here.call("get_api_endpoint", path="/api/v1/users/7")
    assert text_of(result).startswith("5 methods of this path.")
    assert [one["id"] for one in result.structured_content["endpoints"]] == ids


def test_a_method_that_a_path_has_not_is_answered_with_those_it_has(here: Desk) -> None:
    here.reference.paths = EndpointAnswer((), ("GET", "POST"))
    code, text = here.error("get_api_endpoint", path="/api/v1/users", method="DELETE")
    assert code == "NOT_FOUND"
    assert "no method DELETE" in text
    assert "GET, POST" in text


def test_a_path_that_is_not_there_is_an_error_with_names(here: Desk) -> None:
    here.reference.paths = EndpointAnswer((), (), ("GET /api/v1/users",))
    code, text = here.error("get_api_endpoint", path="/api/v1/user")
    assert code == "NOT_FOUND"
    assert "Did you mean `GET /api/v1/users`?" in text


def test_the_text_never_says_the_same_twice(helios: Catalogue, here: Desk) -> None:
    text = text_of(answering(here, helios, "cmd-gw-users-list").call("get_command", command="x"))
    assert text.count("**Syntax:**") == 0
    assert text.count("List all Google Workspace users") == 1
