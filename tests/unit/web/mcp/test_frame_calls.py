"""A call of a tool from the request to the answer."""

import logging
from typing import Any

import pytest
from mcp import Client

from commonplace.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable
from commonplace.web.mcp.calls import CallRecord, Surface
from commonplace.web.mcp.declaration import Answer, Call, Caller, Output
from commonplace.web.mcp.rendering import ERROR_META, MAX_ERROR_BYTES
from commonplace.web.mcp.server import build_server
from tests.fakes.toolsets import (
    SECRET,
    Asked,
    Entry,
    Found,
    Spending,
    Written,
    account,
    as_caller,
    raising,
    said,
    search,
    tides,
    tool,
    write,
)
from tests.unit.web.mcp.talking import ERAS, ask, call, text_of


class Loose(Output):
    anything: Any


def served(*more: Any, caller: Caller | None = None, **surface: Any) -> Any:
    server = build_server([tides(*more)], Surface(base_url="https://tides.example", **surface))
    return as_caller(server, caller) if caller else server


@pytest.mark.parametrize("mode", ERAS)
def test_an_answer_says_the_same_as_text_and_as_data_and_links_on(mode: str) -> None:
    result = call(served(), "search_pools", {"query": "rock", "limit": 2}, mode)
    assert not result.is_error
    assert text_of(result) == "rock 0\nrock 1"
    assert result.structured_content == {
        "hits": [{"id": "pool-0", "title": "rock 0"}, {"id": "pool-1", "title": "rock 1"}]
    }
    assert result.content[1].uri == "tide://pools/pool-0"
    assert result.content[1].mime_type == "text/markdown"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("caller", "name", "tier"),
    [
        (Caller(), "read_log", "member"),
        (account("public"), "read_log", "member"),
        (account("member"), "write_log", "vibecoder"),
    ],
)
def test_a_tier_that_is_missing_is_said_in_the_words_agreed_on(caller: Caller, name: str, tier: str, mode: str) -> None:
    result = call(served(caller=caller), name, {"title": "x"}, mode)
    assert result.is_error
    assert text_of(result) == f"Access denied. This tool requires {tier} access."


def test_a_call_is_counted_by_the_class_of_its_tool_and_a_denied_one_too() -> None:
    spending, caller = Spending(), account("public")
    server = served(caller=caller, spend=spending)
    call(server, "search_pools", {"query": "x"})
    call(server, "read_log")
    assert spending.spent == [(caller, "search"), (caller, "read")]


def test_asking_for_a_tool_that_writes_counts_even_where_it_does_not_exist() -> None:
    spending, caller = Spending(), account("vibecoder", read_only=True)
    call(served(caller=caller, spend=spending), "write_log", {"title": "x"})
    assert spending.spent == [(caller, "write")]


def test_an_exact_tool_refuses_a_number_beyond_its_bounds_and_still_knows_other_names() -> None:
    exact = tool(search, "search_exactly", arguments=Asked, output=Found, exact=True)
    for limit in (0, 21, "99"):
        result = call(served(exact), "search_exactly", {"q": "rock", "limit": limit})
        assert result.is_error
        assert text_of(result).startswith("INVALID_INPUT: limit: must be ")
    assert not call(served(exact), "search_exactly", {"q": "rock", "top_k": "20"}).is_error


def test_a_tool_may_take_more_values_than_others() -> None:
    many = {"title": "x", "tags": [str(number) for number in range(2_000)]}
    wide = tool(write, "write_much", arguments=Entry, output=Written, read_only=False, max_values=3_000)
    assert not call(served(wide), "write_much", many).is_error
    refused = call(served(wide, caller=account("vibecoder")), "write_log", many)
    assert text_of(refused).endswith("Hint: At most 2000 values, 12 levels deep.")


def test_what_was_forgiven_is_noted_in_the_text_and_in_the_data() -> None:
    result = call(served(), "search_pools", {"q": "rock", "top_k": "99", "colour": "red"})
    assert result.structured_content["notes"] == [
        "limit was taken as 20, the most there is.",
        "Left out, for there is no such argument: colour. Arguments here: query (required), limit, filters, whole.",
    ]
    assert "\n\nNote: limit was taken as 20" in text_of(result)


def test_a_shape_that_others_have_fixed_gets_no_notes() -> None:
    server = served(tool(said("{}"), "fetch", verbatim=True))
    result = call(server, "fetch", {"colour": "red"})
    assert text_of(result) == "{}"
    assert "notes" not in result.structured_content
    found = ask(server, lambda client: client.list_tools()).tools[-1]
    assert "notes" not in found.output_schema["properties"]


def test_a_tool_that_writes_refuses_what_it_does_not_know() -> None:
    result = call(served(caller=account("vibecoder")), "write_log", {"title": "x", "publish": True})
    assert result.is_error
    assert text_of(result).startswith("INVALID_INPUT: There is no argument publish. Hint: Arguments here: title")


def test_bad_arguments_are_told_without_the_words_of_a_library() -> None:
    result = call(served(), "search_pools", {"query": "", "limit": "many"})
    assert result.is_error
    assert text_of(result).startswith("INVALID_INPUT: query: must have at least 1 character; limit: ")
    assert "pydantic" not in text_of(result)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (
            NotFound("There is no pool-9.", hint="Nearest: pool-0."),
            "NOT_FOUND: There is no pool-9. Hint: Nearest: pool-0.",
            "NOT_FOUND",
        ),
        (
            Unavailable("The index does not answer.", retry_after_seconds=3),
            "UNAVAILABLE: The index does not answer. Try again in 3 seconds.",
            "UNAVAILABLE",
        ),
        (Conflict("It is there."), "CONFLICT: It is there.", "CONFLICT"),
        (InvalidInput("No."), "INVALID_INPUT: No.", "INVALID_INPUT"),
    ],
)
def test_an_error_of_ours_is_read_by_the_model_and_its_code_by_programs(
    error: Exception, text: str, code: str, mode: str
) -> None:
    result = call(served(tool(raising(error), "fail")), "fail", {}, mode)
    assert result.is_error
    assert text_of(result) == text
    assert result.meta[ERROR_META]["code"] == code
    assert result.structured_content is None


def test_the_text_of_an_error_is_bounded() -> None:
    result = call(served(tool(raising(NotFound("ö" * 5_000)), "fail")), "fail")
    assert len(text_of(result).encode()) <= MAX_ERROR_BYTES
    assert text_of(result).endswith("…")


@pytest.mark.parametrize("mode", ERAS)
def test_an_unforeseen_error_is_logged_and_tells_nothing(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        result = call(served(tool(raising(RuntimeError(SECRET)), "fail")), "fail", {}, mode)
    assert result.is_error
    assert SECRET not in result.model_dump_json()
    assert text_of(result).startswith("INTERNAL_ERROR")
    assert SECRET in caplog.text


def test_an_answer_beyond_the_hard_limit_is_not_sent() -> None:
    result = call(served(tool(said("word " * 20_000), "fill")), "fill")
    assert result.is_error
    assert text_of(result).startswith("TOO_LARGE: This answer would be about 25")


@pytest.mark.parametrize("mode", ERAS)
def test_a_coroutine_may_answer_in_the_terms_of_the_sdk(mode: str) -> None:
    assert text_of(call(served(), "talk", {}, mode)).startswith("said in 202")


def test_every_call_is_recorded_once_without_words_of_the_caller() -> None:
    records: list[CallRecord] = []
    server = served(tool(raising(NotFound("No.")), "fail"), record=records.append)

    async def calls(client: Client) -> None:
        await client.call_tool("search_pools", {"query": "my secret wish"})
        await client.call_tool("fail", {})
        await client.call_tool("read_log", {})
        await client.read_resource("tide://pools/pool-1")
        await client.get_prompt("plan", {"pool": "my secret pool"})
        await client.call_tool("my secret tool", {})

    ask(server, calls)
    told = [(one.method, one.name, one.outcome, one.era, one.tier) for one in records]
    assert told == [
        ("tools/call", "search_pools", "ok", "modern", "public"),
        ("tools/call", "fail", "NOT_FOUND", "modern", "public"),
        ("tools/call", "read_log", "ACCESS_DENIED", "modern", "public"),
        ("resources/read", "tide://pools/{id}", "ok", "modern", "public"),
        ("prompts/get", "plan", "ok", "modern", "public"),
        ("tools/call", "unknown", "-32602", "modern", "public"),
    ]
    assert all(one.answer_tokens > 0 for one in records[:-1])
    assert all(one.client == "mcp" for one in records)
    assert "secret" not in str(records)


def test_a_record_that_fails_costs_nobody_an_answer() -> None:
    def broken(record: CallRecord) -> None:
        raise RuntimeError("no telemetry today")

    assert not call(served(record=broken), "search_pools", {"query": "x"}).is_error


@pytest.mark.parametrize("mode", ERAS)
def test_half_a_character_does_not_break_an_answer(mode: str) -> None:
    assert text_of(call(served(tool(said("half \ud800"), "halve", output=None)), "halve", {}, mode)) == "half ?"


def test_data_that_no_answer_can_carry_is_an_error_of_the_tool_alone(caplog: pytest.LogCaptureFixture) -> None:
    def run(asked: Call, arguments: Any) -> Answer:
        return Answer("text", Loose(anything={"half": "\ud800", "none": float("nan")}))

    result = call(served(tool(run, "break", output=Loose)), "break")
    assert text_of(result).startswith("INTERNAL_ERROR")


def test_parameters_that_travel_as_headers_are_found_without_listing_tools() -> None:
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    lookup = served(tool(said("x"), "sail", input_schema=schema)).get_tool_input_schema
    assert lookup("sail")["properties"] == schema["properties"]
    assert lookup("search_pools") is None
    assert lookup("nothing") is None
