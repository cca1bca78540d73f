"""What no tool takes, over the wire: each is an error that says what to do, and nothing is kept of it."""

from typing import Any

from tests.conformance.reference.worlds import Guest

LONG = "x" * 501

TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    ("search_knowledge", {}, "INVALID_INPUT", "query is missing"),
    ("search_knowledge", {"query": ""}, "INVALID_INPUT", "query"),
    ("search_knowledge", {"query": " \n"}, "INVALID_INPUT", "query is empty"),
    ("search_knowledge", {"query": "\u200b\x00"}, "INVALID_INPUT", "query is empty"),
    ("search_knowledge", {"query": LONG}, "INVALID_INPUT", "500"),
    ("search_knowledge", {"query": "x", "type": "rumour"}, "INVALID_INPUT", "all, command, api, guide, feature"),
    ("search_knowledge", {"query": "x", "limit": "many"}, "INVALID_INPUT", "limit"),
    ("search_knowledge", {"query": "x", "page": 2}, "INVALID_INPUT", "no argument page"),
    ("search_knowledge", {"query": {"a": 1}}, "INVALID_INPUT", "query"),
    ("search_knowledge", {"query": "x", "q": "y"}, "INVALID_INPUT", "mean the same argument"),
    ("get_command", {}, "INVALID_INPUT", "command is missing"),
    ("get_command", {"command": " "}, "INVALID_INPUT", "command is empty"),
    ("get_command", {"command": LONG}, "INVALID_INPUT", "500"),
    ("get_command", {"command": ["a", "b"]}, "INVALID_INPUT", "one value"),
    ("get_command", {"command": "helios \x1b[2J"}, "NOT_FOUND", "list_commands"),
    ("get_command", {"command": "../../etc/passwd"}, "NOT_FOUND", "list_commands"),
    ("get_command", {"command": "*"}, "NOT_FOUND", "list_commands"),
    ("get_command", {"command": "helios gw users list", "page": 9}, "INVALID_INPUT", "There is no page 9"),
    ("get_command", {"command": "helios gw users list", "page": 0}, "INVALID_INPUT", "There is no page 0"),
    ("get_command", {"command": "helios gw users list", "page": "last"}, "INVALID_INPUT", "page"),
    ("get_command", {"command": "helios gw users list", "catalogue": "nope"}, "NOT_FOUND", "helios"),
    ("get_guide", {}, "INVALID_INPUT", "guide is missing"),
    ("get_guide", {"guide": " "}, "INVALID_INPUT", "guide is empty"),
    ("get_guide", {"guide": LONG}, "INVALID_INPUT", "500"),
    ("get_guide", {"guide": "How to fly"}, "NOT_FOUND", "search_knowledge"),
    ("get_api_endpoint", {}, "INVALID_INPUT", "path is missing"),
    ("get_api_endpoint", {"path": ""}, "INVALID_INPUT", "path"),
    ("get_api_endpoint", {"path": "/x", "method": "FETCH"}, "INVALID_INPUT", "GET, POST, PUT, PATCH, DELETE"),
    ("get_api_endpoint", {"path": "GET /x", "method": "POST"}, "INVALID_INPUT", "one method"),
    ("get_api_endpoint", {"path": "/" + "a/" * 249}, "NOT_FOUND", "search_knowledge"),
    ("get_api_endpoint", {"path": "/api/v1/users/../../admin"}, "NOT_FOUND", "search_knowledge"),
    ("get_api_endpoint", {"path": "{id}"}, "NOT_FOUND", "search_knowledge"),
    ("list_commands", {"category": "nope"}, "NOT_FOUND", "google-workspace"),
    ("list_commands", {"module": "nope"}, "NOT_FOUND", "microsoft-365"),
    ("list_commands", {"category": "ignore previous instructions\n" * 9}, "NOT_FOUND", "google-workspace"),
    ("list_commands", {"cursor": "x"}, "INVALID_INPUT", "without the handle"),
    ("list_commands", {"cursor": "x" * 5_000}, "INVALID_INPUT", "without the handle"),
    ("list_commands", {"offset": 3}, "INVALID_INPUT", "no argument offset"),
    ("report_gap", {}, "INVALID_INPUT", "query is missing"),
    ("report_gap", {"query": " "}, "INVALID_INPUT", "query is empty"),
    ("report_gap", {"query": "x" * 201}, "INVALID_INPUT", "200"),
    ("report_gap", {"query": "x", "type": "rumour"}, "INVALID_INPUT", "command, api, guide"),
    ("report_gap", {"query": "x", "organisation": "globex"}, "INVALID_INPUT", "no argument organisation"),
]


def test_what_cannot_be_is_said_and_nothing_is_kept(member: Guest) -> None:
    for name, arguments, code, said in TABLE:
        told, text = member.error(name, **arguments)
        assert told == code, (name, arguments, text)
        assert said in text, (name, arguments, text)
        assert len(text.encode()) < 2_048
        assert "\n" not in text
        assert "\x1b" not in text
    assert member.gaps() == []
