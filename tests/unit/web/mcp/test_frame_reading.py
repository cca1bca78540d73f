"""Resources, prompts and completions: what is asked for by address or name."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Call, Caller, Resource, Text, Toolset
from commonplace.web.mcp.server import build_server
from tests.fakes.toolsets import SECRET, account, as_caller, tides
from tests.unit.web.mcp.talking import ERAS, ask


def served(caller: Caller | None = None, *toolsets: Toolset) -> Any:
    server = build_server(toolsets or [tides()], Surface(base_url="https://tides.example"))
    return as_caller(server, caller) if caller else server


def read(uri: str, caller: Caller | None = None, mode: str = "auto", *toolsets: Toolset) -> Any:
    return ask(served(caller, *toolsets), lambda client: client.read_resource(uri), mode)


def failing(error: Exception) -> Toolset:
    def fail(call: Call) -> Text:
        raise error

    broken = Resource(uri="x://broken", name="b", title="B", description="B.", mime_type="text/plain", read=fail)
    return Toolset(name="broken", title="Broken", instructions="Not at all.", resources=(broken,))


@pytest.mark.parametrize("mode", ERAS)
def test_a_fixed_resource_and_one_of_a_template_are_read_as_text(mode: str) -> None:
    fixed = read("tide://about", mode=mode)
    assert (fixed.contents[0].text, fixed.contents[0].mime_type) == ("about tides", "text/plain")
    one = read("tide://pools/pool-7", mode=mode)
    assert (one.contents[0].text, one.contents[0].mime_type) == ("# pool-7", "text/markdown")


def test_what_is_no_text_is_read_as_bytes_at_a_path_with_slashes() -> None:
    found = read("tide://raw/a/b%20c/%C3%A9.png").contents[0]
    assert found.uri == "tide://raw/a/b%20c/%C3%A9.png"
    assert found.blob == "YS9iIGMvw6kucG5n"


def test_a_read_may_be_kept_for_a_minute_by_who_asked() -> None:
    found = read("tide://about")
    assert (found.ttl_ms, found.cache_scope) == (60_000, "private")


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    "uri",
    [
        "tide://nothing",
        "tide://pools/crab",
        "tide://pools/a/b",
        "tide://raw/../secret",
        "tide://raw/a/%2e%2e/b",
        "tide://raw/a%00b",
        "tide://raw//etc/passwd",
        "tide://raw/..%5Cb",
        "x" * 5_000,
    ],
)
def test_what_is_not_there_is_refused_by_its_address(uri: str, mode: str) -> None:
    refused = read(uri, mode=mode)
    assert isinstance(refused, MCPError)
    assert (refused.code, refused.message) == (-32602, "Resource not found")
    assert refused.data["uri"] == uri[:256]


def test_a_miss_names_the_nearest() -> None:
    assert read("tide://pools/crab").data["hint"] == "Nearest: pool-0."


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("caller", [Caller(), account("public")])
def test_a_resource_of_another_tier_is_denied(caller: Caller, mode: str) -> None:
    refused = read("tide://log", caller, mode)
    assert isinstance(refused, MCPError)
    assert (refused.code, refused.message) == (403, "Access denied. This resource requires member access.")


def test_a_member_reads_what_members_may() -> None:
    assert read("tide://log", account("member")).contents[0].text == "log"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (RuntimeError(SECRET), -32603, "Internal error"),
        (
            Unavailable("The store does not answer.", retry_after_seconds=4),
            503,
            "UNAVAILABLE: The store does not answer. Try again in 4 seconds.",
        ),
    ],
)
def test_a_failure_while_reading_says_what_the_caller_may_know(
    error: Exception, code: int, message: str, mode: str
) -> None:
    refused = read("x://broken", None, mode, failing(error))
    assert isinstance(refused, MCPError)
    assert (refused.code, refused.message) == (code, message)


def test_a_resource_that_no_response_can_carry_is_refused() -> None:
    large = Resource(
        uri="x://large",
        name="l",
        title="L",
        description="L.",
        mime_type="text/plain",
        read=lambda call: "x" * 4_000_000,
    )
    refused = read("x://large", None, "auto", Toolset(name="x", title="X", instructions="X.", resources=(large,)))
    assert refused.code == 413


@pytest.mark.parametrize("mode", ERAS)
def test_a_prompt_is_made_with_what_was_given(mode: str) -> None:
    found = ask(served(), lambda client: client.get_prompt("plan", {"pool": "pool-3", "colour": "red"}), mode)
    assert found.messages[0].role == "user"
    assert found.messages[0].content.text == "Plan a visit to pool-3."


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("name", "arguments", "code", "message"),
    [
        ("nothing", {}, -32602, "Unknown prompt: nothing"),
        ("plan", {}, -32602, "Missing arguments: pool"),
        ("plan", {"pool": " "}, -32602, "Missing arguments: pool"),
        ("review", {}, 403, "Access denied. This prompt requires member access."),
    ],
)
def test_a_prompt_that_cannot_be_made_is_an_error_of_the_protocol(
    name: str, arguments: dict[str, str], code: int, message: str, mode: str
) -> None:
    refused = ask(served(), lambda client: client.get_prompt(name, arguments), mode)
    assert isinstance(refused, MCPError)
    assert (refused.code, refused.message) == (code, message)


POOL = ResourceTemplateReference(type="ref/resource", uri="tide://pools/{id}")
PLAN = PromptReference(type="ref/prompt", name="plan")


@pytest.mark.parametrize("mode", ERAS)
def test_completions_are_cut_at_a_hundred_and_say_how_many_there_are(mode: str) -> None:
    found = ask(served(), lambda client: client.complete(POOL, {"name": "id", "value": ""}), mode).completion
    assert (len(found.values), found.total, found.has_more) == (100, 250, True)


def test_completions_fit_what_is_typed_and_know_what_was_given() -> None:
    found = ask(
        served(),
        lambda client: client.complete(
            PLAN, {"name": "pool", "value": "west-pool-24"}, context_arguments={"shore": "west-"}
        ),
    ).completion
    assert found.values == ["west-pool-24", *(f"west-pool-24{at}" for at in range(10))]
    assert not found.has_more


@pytest.mark.parametrize(
    ("reference", "argument"),
    [
        (PromptReference(type="ref/prompt", name="nothing"), "pool"),
        (ResourceTemplateReference(type="ref/resource", uri="tide://nothing/{id}"), "id"),
        (PLAN, "colour"),
    ],
)
def test_completions_of_what_is_not_there_are_refused(reference: Any, argument: str) -> None:
    refused = ask(served(), lambda client: client.complete(reference, {"name": argument, "value": ""}))
    assert isinstance(refused, MCPError)
    assert refused.code == -32602


@pytest.mark.parametrize(("reference", "argument", "typed"), [(PLAN, "shore", "w"), (POOL, "id", "x" * 5_000)])
def test_an_argument_that_nobody_completes_has_no_values(reference: Any, argument: str, typed: str) -> None:
    found = ask(served(), lambda client: client.complete(reference, {"name": argument, "value": typed}))
    assert (found.completion.values, found.completion.total) == ([], 0)
