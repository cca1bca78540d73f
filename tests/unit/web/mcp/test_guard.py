"""Who may do what over MCP: R1 to R11 of the negative tests, by name, over events of the gateway in both eras."""

import base64
import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.identity.principals import TIERS, Tier, covers
from commonplace.identity.secrets import digest
from tests.examples import examples
from tests.fakes.access_tokens import ROSA, Realm, standing
from tests.unit.documents.tools.calling import ORIGIN
from tests.unit.web.mcp.guarded import METADATA, Guarded, bearer, outcome, resource
from tests.unit.web.mcp.world import META, body_of, call, event, legacy, modern

ERAS = pytest.mark.parametrize("era", [modern, legacy])
LINK = call("save_link", url="https://example.org/kelp", title="Kelp forests")
DRAFT = call("create_draft", contentType="guide", title="How to seed", content="Text.")
AGENT = "agent:gardener"
PATTERN_PAGE = f"{ORIGIN}/d/pattern/rotating-stewardship"
GROUP_PAGE = f"{ORIGIN}/d/group/seed-library"


def challenge(answer: dict[str, Any]) -> str:
    return str(answer["headers"].get("www-authenticate"))


def names(answer: dict[str, Any], kind: str = "tools") -> set[str]:
    return {row.get("name") for row in body_of(answer)["result"][kind]}


@pytest.fixture
def here() -> Guarded:
    return Guarded()


# R1


@ERAS
def test_r1_who_brings_no_token_is_told_where_to_get_one_and_of_no_error(here: Guarded, era: Any) -> None:
    answer = here.ask(era("tools/call", LINK))
    assert answer["statusCode"] == 401
    assert challenge(answer) == f'Bearer scope="knowledge:read knowledge:write", resource_metadata="{METADATA}/mcp"'
    assert answer["headers"]["cache-control"] == "no-store"
    body = body_of(answer)
    assert (body["id"], body["error"]["code"], body["error"]["data"]["code"]) == (1, 401, "UNAUTHORIZED")


@ERAS
@pytest.mark.parametrize(
    ("method", "params", "scopes"),
    [
        ("tools/call", call("recall", text="x"), "memory:read"),
        ("tools/call", call("remember", text="x"), "memory:read memory:write"),
        ("tools/call", call("purge"), "memory:read memory:admin"),
        ("resources/read", {"uri": "mcp://memory/log"}, "memory:read"),
        ("resources/read", {"uri": "mcp://memory/entries/7"}, "memory:read"),
        ("prompts/get", {"name": "reflect"}, "memory:read"),
    ],
)
def test_r1_every_operation_that_is_not_open_asks_for_what_it_takes(
    here: Guarded, era: Any, method: str, params: dict[str, Any], scopes: str
) -> None:
    answer = here.ask(era(method, params, path="/mcp/memory"))
    assert outcome(answer) == "401"
    assert challenge(answer) == f'Bearer scope="{scopes}", resource_metadata="{METADATA}/mcp/memory"'


@ERAS
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", call("list_groups")),
        ("tools/list", {}),
        ("resources/list", {}),
        ("resources/read", {"uri": "mcp://superbenefit/data/ontology"}),
        ("prompts/get", {"name": "research-topic", "arguments": {"topic": "kelp"}}),
    ],
)
def test_r1_what_is_public_takes_no_token(here: Guarded, era: Any, method: str, params: dict[str, Any]) -> None:
    assert outcome(here.ask(era(method, params))) == "ok"


def test_r1_the_old_handshake_and_the_new_discovery_take_no_token(here: Guarded) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    assert outcome(here.ask(legacy("initialize", hello))) == "ok"
    assert outcome(here.ask(modern("server/discover"))) == "ok"


@ERAS
@pytest.mark.parametrize(
    ("method", "params", "page"),
    [
        ("tools/call", call("get_document", id="rotating-stewardship", contentType="pattern"), PATTERN_PAGE),
        ("tools/call", call("get_document", id="Rotating stewardship"), PATTERN_PAGE),
        ("tools/call", call("fetch", id="pattern/rotating-stewardship#2"), PATTERN_PAGE),
        ("tools/call", call("search_with_documents", query="who & what"), f"{ORIGIN}/search?q=who+%26+what"),
        ("resources/read", {"uri": "mcp://superbenefit/documents/pattern/rotating-stewardship"}, PATTERN_PAGE),
        ("resources/read", {"uri": "mcp://superbenefit/raw/data/groups/seed-library.md"}, GROUP_PAGE),
    ],
)
def test_r1_a_refusal_names_the_page_where_anybody_reads_the_same(
    here: Guarded, era: Any, method: str, params: dict[str, Any], page: str
) -> None:
    answer = here.ask(era(method, params))
    assert outcome(answer) == "401"
    said = f"Sign in, and try again. Anybody can read it at {page} in a browser."
    assert body_of(answer)["error"]["data"]["hint"] == said
    private = Guarded(tier="member").ask(era(method, params))
    assert (outcome(private), body_of(private)["error"]["data"]["hint"]) == ("401", "Sign in, and try again.")


@ERAS
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", call("get_document", id="nothing-of-that-name")),
        ("tools/call", call("get_document", id=["pattern"])),
        ("tools/call", {"name": "get_document", "arguments": "pattern"}),
        ("tools/call", {"name": "get_document"}),
        ("tools/call", LINK),
        ("resources/read", {"uri": "mcp://superbenefit/documents/pattern/nothing"}),
        ("resources/read", {"uri": "mcp://superbenefit/raw/nothing.md"}),
    ],
)
def test_r1_a_refusal_of_what_stands_nowhere_names_no_page(
    here: Guarded, era: Any, method: str, params: dict[str, Any]
) -> None:
    answer = here.ask(era(method, params))
    assert (outcome(answer), body_of(answer)["error"]["data"]["hint"]) == ("401", "Sign in, and try again.")


# R2


@ERAS
@pytest.mark.parametrize("token", ["garbage", "a.b.c", "Bearer x", "x" * 5_000, "ä", "null", "a b c", ","])
def test_r2_a_token_that_is_none_of_ours_is_invalid_even_for_what_is_public(
    here: Guarded, era: Any, token: str
) -> None:
    answer = here.ask(era("tools/call", call("list_groups"), bearer(token)))
    assert challenge(answer) == (
        f'Bearer error="invalid_token", scope="knowledge:read", resource_metadata="{METADATA}/mcp"'
    )
    assert token not in json.dumps(body_of(answer)) + challenge(answer).partition("scope")[0] or token == ","


@ERAS
@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "bearer", "Basic cm9zYTpyb3Nl", "DPoP abc", "Bearerabc"])
def test_r2_no_token_and_other_schemes_are_no_credentials(here: Guarded, era: Any, header: str) -> None:
    assert outcome(here.ask(era("tools/call", LINK, {"authorization": header}))) == "401"
    assert outcome(here.ask(era("tools/call", call("list_groups"), {"authorization": header}))) == "ok"


@ERAS
def test_r2_a_token_counts_in_its_header_alone(here: Guarded, era: Any) -> None:
    here.realm.account("vibecoder")
    token = here.realm.token(resource(), "knowledge:write")
    asked = era("tools/call", LINK | {"access_token": token, "_meta": META | {"authorization": f"Bearer {token}"}})
    asked["rawQueryString"] = f"access_token={token}"
    asked["headers"] |= {"cookie": f"access_token={token}", "x-access-token": token}
    asked["cookies"] = [f"access_token={token}"]
    assert outcome(here.ask(asked)) == "401"


# R3


@ERAS
@pytest.mark.parametrize(
    "audience",
    [
        *map(resource, ("/mcp/knowledge", "/mcp/all", "/mcp/", "/mcp-other", "/MCP", "/api", "")),
        *("https://evil.example/mcp", "https://kb.example.org:8443/mcp", "http://kb.example.org/mcp"),
    ],
)
def test_r3_a_token_for_another_audience_is_invalid(here: Guarded, era: Any, audience: str) -> None:
    here.realm.account("vibecoder")
    token = here.realm.token(audience, "knowledge:write")
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == "401 invalid_token"


@ERAS
def test_r3_every_path_takes_its_own_tokens_with_and_without_a_slash(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    paths = ("/mcp", "/mcp/knowledge", "/mcp/memory", "/mcp/all")
    tokens = {path: here.realm.token(resource(path), "knowledge:read", "memory:read") for path in paths}
    for path, slash, other in product(paths, ("", "/"), paths):
        told = outcome(here.ask(era("tools/list", headers=bearer(tokens[other]), path=path + slash)))
        assert told == ("ok" if path == other else "401 invalid_token"), (path, other)


# R4


@ERAS
def test_r4_a_scope_that_consent_would_grant_is_asked_for_by_http(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    answer = here.ask(era("tools/call", LINK, bearer(here.realm.token(resource(), "knowledge:read"))))
    assert answer["statusCode"] == 403
    assert challenge(answer) == (
        f'Bearer error="insufficient_scope", scope="knowledge:write", resource_metadata="{METADATA}/mcp"'
    )
    assert body_of(answer)["error"]["data"]["code"] == "FORBIDDEN"
    assert not here.proposals.opened


@ERAS
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", call("recall", text="x")),
        ("resources/read", {"uri": "mcp://memory/log"}),
        ("resources/read", {"uri": "mcp://memory/entries/7"}),
        ("prompts/get", {"name": "reflect"}),
    ],
)
def test_r4_resources_and_prompts_take_scopes_like_tools(
    here: Guarded, era: Any, method: str, params: dict[str, Any]
) -> None:
    here.realm.account("member")
    lacking, having = (here.realm.token(resource("/mcp/all"), scope) for scope in ("knowledge:write", "memory:read"))
    answer = here.ask(era(method, params, bearer(lacking), path="/mcp/all"))
    assert outcome(answer) == "403 insufficient_scope"
    assert 'scope="memory:read"' in challenge(answer)
    assert outcome(here.ask(era(method, params, bearer(having), path="/mcp/all"))) == "ok"


@ERAS
def test_r4_a_token_for_reading_alone_cannot_write(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    claims = here.realm.granted(resource(), "knowledge:write")
    token = here.realm.sign(replace(claims, permission="readonly").as_claims())
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == "403 insufficient_scope"


# R5


def test_r5_the_name_in_the_body_decides(here: Guarded) -> None:
    lying = modern("tools/call", LINK, {"mcp-name": "list_groups"})
    assert outcome(here.ask(lying)) == "401"
    older = legacy("tools/call", LINK, {"mcp-name": "list_groups", "mcp-method": "tools/list"})
    assert outcome(here.ask(older)) == "401"
    assert not here.proposals.opened


def test_r5_a_header_that_lies_is_400(here: Guarded) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:write")
    for asked in (
        modern("tools/call", LINK, {"mcp-name": "list_groups", **bearer(token)}),
        modern("tools/call", call("list_groups"), {"mcp-name": "save_link"}),
        modern("tools/call", LINK, {"mcp-method": "tools/list", **bearer(token)}),
    ):
        answer = here.ask(asked)
        assert (answer["statusCode"], body_of(answer)["error"]["code"]) == (400, -32020)
    assert not here.proposals.opened


# R6


@ERAS
@pytest.mark.parametrize(
    "params",
    [
        *([], ["save_link"], None, "save_link", 7, {"uri": "save_link"}),
        *({"name": name} for name in (["save_link"], {"name": "save_link"}, None, 7)),
        *({"name": name} for name in ("Save_Link", " save_link", "save_link\u0000", "knowledge_save_link")),
    ],
    ids=str,
)
def test_r6_whatever_stands_in_params_is_no_way_round(here: Guarded, era: Any, params: Any) -> None:
    arguments = {"arguments": LINK["arguments"]} if isinstance(params, dict) else {}
    whole = params | arguments if isinstance(params, dict) else params
    asked = era("tools/call", LINK) | {
        "body": base64.b64encode(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": whole}).encode()
        ).decode()
    }
    answer = here.ask(asked)
    assert answer["statusCode"] in (200, 400, 401)
    assert answer["statusCode"] != 200 or "error" in body_of(answer)
    assert not here.proposals.opened


@ERAS
@pytest.mark.parametrize(
    "uri", [7, None, ["mcp://memory/log"], "mcp://memory/entries/", "mcp://memory/log/", "x" * 9_000]
)
def test_r6_an_address_that_is_none_reads_nothing(here: Guarded, era: Any, uri: Any) -> None:
    answer = here.ask(era("resources/read", {"uri": uri}, path="/mcp/memory"))
    assert answer["statusCode"] in (200, 400)
    assert "error" in body_of(answer)


@ERAS
@pytest.mark.parametrize("uri", ["mcp://memory/%6cog", "MCP://memory/log", "mcp://MEMORY/log", "mcp://memory/./log"])
def test_r6_another_spelling_of_an_address_reads_nothing_without_a_token(here: Guarded, era: Any, uri: str) -> None:
    answer = here.ask(era("resources/read", {"uri": uri}, path="/mcp/memory"))
    assert outcome(answer) == "401" or "error" in body_of(answer)


def test_r6_a_call_sent_as_a_notification_runs_nothing(here: Guarded) -> None:
    for era in (modern, legacy):
        answer = here.ask(era("tools/call", LINK, id=None))
        assert answer["statusCode"] in (202, 401)
    assert not here.proposals.opened


def test_r6_a_key_that_is_given_twice_is_judged_as_it_is_read(here: Guarded) -> None:
    body = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_groups", "name": "save_link", '
    body += f'"arguments": {json.dumps(LINK["arguments"])}}}}}'
    answer = here.ask(event(body, {"mcp-protocol-version": "2025-11-25"}))
    assert outcome(answer) == "401"
    assert not here.proposals.opened


# R7


@ERAS
def test_r7_a_tool_is_listed_before_its_scope_is_granted(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:read")
    listed = here.ask(era("tools/list", headers=bearer(token)))
    assert "save_link" in names(listed)
    assert "create_draft" not in names(listed)
    if era is modern:
        told = body_of(listed)["result"]
        assert (told["ttlMs"] <= 60_000, told["cacheScope"]) == (True, "private")


@ERAS
def test_r7_a_tier_that_the_account_lacks_is_told_to_the_model_and_not_to_the_client(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:read")
    answer = here.ask(era("tools/call", DRAFT, bearer(token)))
    assert outcome(answer) == "denied: Access denied. This tool requires vibecoder access."
    assert "www-authenticate" not in answer["headers"]
    assert here.records[-1].outcome == "ACCESS_DENIED"


@ERAS
def test_what_an_account_was_refused_is_recorded_once_in_ten_minutes(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:read")
    for _ in range(3):
        here.ask(era("tools/call", DRAFT, bearer(token)))
        here.ask(era("tools/call", LINK, bearer(token)))
    here.ask(era("tools/call", DRAFT))

    tier, consent = here.realm.refused
    assert (tier.event, tier.outcome, tier.reason, consent.reason) == ("denied", "denied", "tier", "consent")
    assert (tier.organisation, tier.client, tier.subject) == ("default", "client", digest(ROSA))
    assert tier.details == {"scope": "knowledge:write"}
    assert ROSA not in repr(here.realm.refused)
    assert token not in repr(here.realm.refused)

    here.realm.clock.forward(600)
    here.ask(era("tools/call", DRAFT, bearer(token)))
    assert [one.reason for one in here.realm.refused] == ["tier", "consent", "tier"]


@ERAS
def test_whoever_comes_with_a_token_that_was_revoked_is_recorded(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    claims = here.realm.granted(resource(), "knowledge:read")
    token = here.realm.sign(claims.as_claims())
    here.realm.grants.revoke(digest(claims.grant), "person", int(here.realm.clock.now))

    assert here.ask(era("tools/call", LINK, bearer(token)))["statusCode"] == 401
    assert here.ask(era("tools/call", LINK, bearer("invented")))["statusCode"] == 401

    (known,) = here.realm.refused
    assert (known.reason, known.grant) == ("grant_over", digest(claims.grant))


@ERAS
def test_r7_a_scope_that_no_consent_can_grant_is_told_to_the_model(here: Guarded, era: Any) -> None:
    here.realm.accounts.standings[ROSA] = replace(standing("member"), scopes=frozenset({"knowledge:read"}))
    token = here.realm.token(resource(), "knowledge:read")
    answer = here.ask(era("tools/call", LINK, bearer(token)))
    assert outcome(answer) == "denied: Access denied. This tool requires the scope knowledge:write."


@ERAS
def test_r7_an_agent_cannot_be_asked_for_more(here: Guarded, era: Any) -> None:
    here.realm.account("vibecoder", AGENT)
    token = here.realm.token(resource(), "knowledge:read", subject=AGENT)
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))).startswith("denied: Access denied.")
    assert "save_link" not in names(here.ask(era("tools/list", headers=bearer(token))))


@ERAS
def test_r7_resources_and_prompts_of_another_tier_are_refused_in_words(here: Guarded, era: Any) -> None:
    token = here.realm.token(resource("/mcp/memory"), "memory:read")
    for method, params in (("resources/read", {"uri": "mcp://memory/log"}), ("prompts/get", {"name": "reflect"})):
        body = body_of(here.ask(era(method, params, bearer(token), path="/mcp/memory")))
        assert body["error"]["code"] == 403
        assert body["error"]["message"].endswith("requires member access.")


@ERAS
def test_r7_lists_show_what_an_account_may_ever_do(here: Guarded, era: Any) -> None:
    def shown(tier: Tier | None, *scopes: str, **claims: Any) -> set[str]:
        headers: Any = {}
        if tier is not None:
            here.realm.account(tier)
            headers = bearer(here.realm.token(resource("/mcp/memory"), *scopes, **claims))
        return names(here.ask(era("tools/list", headers=headers, path="/mcp/memory")))

    everything = {"about_memory", "recall", "remember", "purge", "list_teams"}
    assert shown(None) == everything
    assert shown("public", "memory:admin") == {"about_memory"}
    assert shown("member") == everything - {"purge"}
    assert shown("vibecoder", "memory:read") == everything
    assert shown("vibecoder", "memory:admin", resource_scopes=("entries",)) == everything - {"list_teams"}
    assert shown("vibecoder", "memory:admin", resource_scopes=("teams",)) == {"about_memory", "list_teams"}
    assert shown("vibecoder", "memory:admin", resource_scopes=()) == {"about_memory"}


@ERAS
def test_r7_other_lists_follow_the_account_too(here: Guarded, era: Any) -> None:
    for tier, sees in (("public", False), ("member", True)):
        here.realm.account(tier)  # type: ignore[arg-type]
        headers = bearer(here.realm.token(resource("/mcp/memory"), "knowledge:read"))
        rows = [
            names(here.ask(era(method, headers=headers, path="/mcp/memory")), kind)
            for method, kind in (
                ("prompts/list", "prompts"),
                ("resources/list", "resources"),
                ("resources/templates/list", "resourceTemplates"),
            )
        ]
        assert [bool(found) for found in rows] == [sees] * 3


@ERAS
def test_r7_completions_are_for_whoever_may_read_what_they_complete(here: Guarded, era: Any) -> None:
    asked = {
        "ref": {"type": "ref/resource", "uri": "mcp://memory/entries/{id}"},
        "argument": {"name": "id", "value": ""},
    }

    def values(headers: Any) -> list[str]:
        answer = here.ask(era("completion/complete", asked, headers, path="/mcp/memory"))
        found: list[str] = body_of(answer)["result"]["completion"]["values"]
        return found

    here.realm.account("member")
    assert values({}) == []
    assert values(bearer(here.realm.token(resource("/mcp/memory"), "knowledge:read"))) == []
    assert values(bearer(here.realm.token(resource("/mcp/memory"), "memory:read"))) == ["first", "second"]


# R8


@ERAS
def test_r8_a_tier_that_was_lost_refuses_the_next_call(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:write")
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == "ok"
    here.realm.account("public")
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == (
        "denied: Access denied. This tool requires member access."
    )
    assert "save_link" not in names(here.ask(era("tools/list", headers=bearer(token))))


@ERAS
def test_r8_a_revoked_grant_is_401_at_once_even_for_what_is_public(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    claims = here.realm.granted(resource(), "knowledge:write")
    token = here.realm.sign(claims.as_claims())
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == "ok"
    here.realm.grants.revoke(here.realm.grant_of(claims).id, "by its owner", int(here.realm.clock.now))
    for params in (LINK, call("list_groups")):
        assert outcome(here.ask(era("tools/call", params, bearer(token)))) == "401 invalid_token"


@ERAS
def test_r8_roles_that_cannot_be_read_elevate_nobody_and_say_so(here: Guarded, era: Any) -> None:
    here.realm.account("vibecoder")
    token = here.realm.token(resource(), "knowledge:write")
    here.realm.accounts.down = True
    answer = here.ask(era("tools/call", LINK, bearer(token)))
    text = body_of(answer)["result"]["content"][0]["text"]
    assert (outcome(answer), "Try again in 30 seconds." in text) == ("unavailable", True)
    assert outcome(here.ask(era("tools/call", call("list_groups"), bearer(token)))) == "ok"
    assert "create_draft" in names(here.ask(era("tools/list", headers=bearer(token))))
    document = {"uri": "mcp://superbenefit/documents/pattern/rotating-stewardship"}
    refused = body_of(here.ask(era("resources/read", document, bearer(token))))["error"]
    assert (refused["code"], refused["data"]["retryAfterSeconds"]) == (503, 30)
    here.realm.accounts.down = False
    assert outcome(here.ask(era("tools/call", LINK, bearer(token)))) == "ok"


@ERAS
def test_r8_a_store_that_does_not_answer_is_503_and_no_verdict(here: Guarded, era: Any) -> None:
    token = here.realm.token(resource(), "knowledge:read")
    here.realm.grants.down = True
    answer = here.ask(era("tools/list", headers=bearer(token)))
    assert (answer["statusCode"], "www-authenticate" in answer["headers"]) == (503, False)
    assert int(answer["headers"]["retry-after"]) > 0
    assert outcome(here.ask(era("tools/list"))) == "ok"


# R9


@ERAS
def test_r9_metadata_is_where_the_configuration_says_whatever_the_request(here: Guarded, era: Any) -> None:
    for path, slash in product(("/mcp", "/mcp/knowledge", "/mcp/all"), ("", "/")):
        for headers in ({}, bearer("garbage")):
            sent: Any = {"host": "abc123.execute-api.eu-central-1.amazonaws.com", "x-forwarded-proto": "http"}
            sent |= {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"} | headers
            asked = era("tools/call", LINK, sent, path=path + slash)
            asked["rawQueryString"] = 'x="evil.example"'
            assert f'resource_metadata="{METADATA}{path}"' in challenge(here.ask(asked))


@ERAS
@pytest.mark.parametrize("words", ['evil"', "evil\\", "evil\r\nset-cookie: x=1", "evil", "ëvil"])
def test_r9_no_word_of_the_caller_stands_in_a_challenge(here: Guarded, era: Any, words: str) -> None:
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:read")
    params = LINK | {"arguments": {"url": words, "title": words}, "_meta": META | {"x": words}}
    for headers in ({}, bearer(token), bearer(words.replace("\r\n", " "))):
        answer = here.ask(era("tools/call", params, headers, id=words if words.isprintable() else 1))
        assert answer["statusCode"] in (401, 403)
        assert "vil" not in challenge(answer) and "set-cookie" not in answer["headers"]


# R10


@ERAS
def test_r10_a_cursor_of_another_account_is_like_one_of_nobody(era: Any) -> None:
    here = Guarded(page_size=1)
    here.realm.account("vibecoder")
    token = here.realm.token(resource(), "knowledge:read")
    cursor = body_of(here.ask(era("tools/list", headers=bearer(token))))["result"]["nextCursor"]
    assert outcome(here.ask(era("tools/list", {"cursor": cursor}, bearer(token)))) == "ok"
    other = here.realm.account("member", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
    foreign = here.realm.token(resource(), "knowledge:read", subject=other)
    for headers in (bearer(foreign), {}):
        assert outcome(here.ask(era("tools/list", {"cursor": cursor}, headers))) == "error -32602"
        assert outcome(here.ask(era("tools/list", {"cursor": "nonsense"}, headers))) == "error -32602"


# R11


@ERAS
def test_r11_no_credential_goes_on_to_tools(here: Guarded, era: Any) -> None:
    here.realm.account("member")
    token = here.realm.token(resource("/mcp/memory"), "memory:read")
    headers = bearer(token) | {"cookie": "session=secret-cookie", "proxy-authorization": "Basic c2VjcmV0"}
    assert outcome(here.ask(era("tools/call", call("recall", text="x"), headers, path="/mcp/memory"))) == "ok"
    (call_seen,) = here.seen
    scope = call_seen.context.request.scope
    told = repr(call_seen.caller) + repr({name: value for name, value in scope.items() if name != "aws.context"})
    assert not [secret for secret in (token, "secret-cookie", "c2VjcmV0", "authorization") if secret in told]


# Beyond the list


@ERAS
def test_a_proposal_names_whom_the_token_names(era: Any) -> None:
    here = Guarded(realm=Realm(names=True), names_authors=True)
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:write")
    arguments = LINK["arguments"] | {"author": "mallory.eth", "subject": "0xmallory"}
    here.ask(era("tools/call", LINK | {"arguments": LINK["arguments"]}, bearer(token)))
    (opened,) = here.proposals.opened.values()
    assert "rosa.eth" in opened.proposal.text
    here.ask(era("tools/call", LINK | {"arguments": arguments}, bearer(token)))
    assert not [one for one in here.proposals.opened.values() if "mallory" in one.proposal.text]


@ERAS
def test_kinds_of_things_bound_a_token(here: Guarded, era: Any) -> None:
    here.realm.account("vibecoder")
    for kinds, name, told in (
        (("entries",), "recall", "ok"),
        (
            ("teams",),
            "recall",
            "denied: Access denied. This tool is beyond the kinds of things that your token reaches.",
        ),
        (("teams",), "list_teams", "ok"),
        ((), "recall", "denied: Access denied. This tool is beyond the kinds of things that your token reaches."),
        ((), "about_memory", "ok"),
    ):
        token = here.realm.token(resource("/mcp/memory"), "memory:read", resource_scopes=kinds)
        params = call(name, text="x") if name == "recall" else call(name)
        assert outcome(here.ask(era("tools/call", params, bearer(token), path="/mcp/memory"))) == told


@ERAS
def test_a_deployment_for_reading_has_no_tool_to_sign_in_for(era: Any) -> None:
    for here, headers in ((Guarded(read_only=True), {}), (Guarded(), {"x-mcp-readonly": "true"})):
        assert outcome(here.ask(era("tools/call", LINK, headers))) == "error -32602"


@ERAS
def test_who_is_refused_is_counted_all_the_same(era: Any) -> None:
    here = Guarded(limits={"read": 2, "search": 0, "write": 1})
    statuses = [here.ask(era("tools/call", LINK))["statusCode"] for _ in range(2)]
    assert statuses == [401, 429]
    statuses = [here.ask(era("tools/list", headers=bearer("garbage")))["statusCode"] for _ in range(3)]
    assert statuses == [401, 401, 429]
    here.realm.account("member")
    token = here.realm.token(resource(), "knowledge:read")
    statuses = [here.ask(era("tools/call", LINK, bearer(token)))["statusCode"] for _ in range(2)]
    assert statuses == [403, 429]


@ERAS
def test_a_use_is_noted_with_the_network_it_came_from(here: Guarded, era: Any) -> None:
    claims = here.realm.granted(resource(), "knowledge:read")
    token = here.realm.sign(claims.as_claims())
    here.realm.clock.forward(301)
    here.ask(era("tools/list", headers=bearer(token) | {"x-forwarded-for": "203.0.113.9"}, address="192.0.2.77"))
    grant = here.realm.grant_of(claims)
    assert (grant.last_used_at, grant.last_used_from) == (int(here.realm.clock.now), "192.0.2.77")


TOOLS: dict[str, tuple[Tier, str, str, dict[str, Any]]] = {
    "list_groups": ("public", "knowledge:read", "/mcp", {}),
    "save_link": ("member", "knowledge:write", "/mcp", LINK["arguments"]),
    "create_draft": ("vibecoder", "knowledge:write", "/mcp", DRAFT["arguments"]),
    "about_memory": ("public", "memory:read", "/mcp/memory", {}),
    "recall": ("member", "memory:read", "/mcp/memory", {"text": "x"}),
    "remember": ("member", "memory:write", "/mcp/memory", {"text": "x"}),
    "purge": ("vibecoder", "memory:admin", "/mcp/memory", {}),
}
HELD: list[tuple[str, ...]] = [
    (),
    ("knowledge:read",),
    ("knowledge:write",),
    ("memory:read",),
    ("memory:admin",),
    ("knowledge:write", "memory:write"),
]


@ERAS
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/knowledge", "/mcp/memory", "/mcp/all"])
def test_the_whole_matrix_of_audience_scope_tier_and_tool(path: str, tier: Tier, era: Any) -> None:
    """Against what the rules say in words, written down a second time."""
    here = Guarded()
    may_ever = standing(tier).scopes
    here.realm.account(tier)
    for held in HELD:
        token = here.realm.token(resource(path), *held)
        for name, (needed, scope, home, arguments) in TOOLS.items():
            for asked_at in {home, "/mcp/all", path}:
                served = asked_at in ("/mcp/all", home) or (home == "/mcp" and asked_at == "/mcp/knowledge")
                told = outcome(here.ask(era("tools/call", call(name, **arguments), bearer(token), path=asked_at)))
                where = (path, tier, held, name, asked_at)
                if asked_at != path:
                    assert told == "401 invalid_token", where
                elif not served:
                    assert told == "error -32602", where
                elif needed == "public" and scope.endswith(":read"):
                    assert told == "ok", where
                elif TIERS.index(tier) < TIERS.index(needed):
                    assert told == f"denied: Access denied. This tool requires {needed} access.", where
                elif covers(held, scope) and covers(may_ever, scope):
                    assert told == "ok", where
                elif covers(may_ever, scope):
                    assert told == "403 insufficient_scope", where
                else:
                    assert told.startswith("denied: Access denied."), where


WORDS = st.sampled_from(["vibecoder", "admin", "memory:admin", "*", "true", ROSA, "default", "Bearer x", ""])
NAMES = st.sampled_from(
    "tier scope scopes roles sub org organisation principal authorization member client_id".split()  # noqa: SIM905
)


@settings(max_examples=examples(30, soak=600), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    headers=st.dictionaries(NAMES.map(lambda name: f"x-{name}"), WORDS, max_size=4),
    extra=st.dictionaries(NAMES, WORDS, max_size=4),
    arguments=st.dictionaries(NAMES, WORDS, max_size=4),
    meta=st.dictionaries(NAMES, WORDS, max_size=4),
    tier=st.sampled_from([None, "public", "member"]),
    old=st.booleans(),
)
def test_no_header_body_or_argument_widens_a_principal(
    headers: dict[str, str],
    extra: dict[str, str],
    arguments: dict[str, str],
    meta: dict[str, str],
    tier: Tier | None,
    old: bool,
) -> None:
    here, era = Guarded(), legacy if old else modern
    sent: dict[str, Any] = dict(headers)
    if tier is not None:
        here.realm.account(tier)
        sent |= bearer(here.realm.token(resource("/mcp/memory"), "memory:read"))
    params = extra | {"name": "purge", "arguments": arguments, "_meta": META | meta}
    answer = here.ask(era("tools/call", params, sent, path="/mcp/memory"))
    assert outcome(answer) == ("401" if tier is None else "denied: Access denied. This tool requires vibecoder access.")
    assert not here.seen


# Private deployments

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
ANYTHING = [
    modern("server/discover"),
    legacy("initialize", HELLO),
    *(
        era(method, params)
        for era in (modern, legacy)
        for method, params in (
            ("tools/list", {}),
            ("tools/call", call("search_knowledge", query="seeds")),
            ("tools/call", call("about_memory")),
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("prompts/list", {}),
            ("ping", {}),
        )
    ),
]


@pytest.mark.parametrize("asked", ANYTHING)
def test_a_private_deployment_answers_a_stranger_nothing_but_where_to_sign_in(asked: dict[str, Any]) -> None:
    answer = Guarded(tier="member").ask(asked)
    assert outcome(answer) == "401"
    assert challenge(answer) == f'Bearer scope="knowledge:read", resource_metadata="{METADATA}/mcp"'


@pytest.mark.parametrize(("tier", "status"), [("public", 403), ("member", 200), ("vibecoder", 200)])
def test_a_private_deployment_answers_accounts_of_its_tier(tier: Tier, status: int) -> None:
    here = Guarded(tier="member")
    here.realm.account(tier)
    token = bearer(here.realm.token(resource(), "knowledge:read"))
    for method, params in (("tools/list", {}), ("tools/call", call("search_knowledge", query="seeds"))):
        assert here.ask(modern(method, params, token))["statusCode"] == status
    assert here.ask(legacy("initialize", HELLO, token))["statusCode"] == status


def test_a_private_deployment_waits_for_roles_that_cannot_be_read() -> None:
    here = Guarded(tier="member")
    here.realm.account("member")
    token = bearer(here.realm.token(resource(), "knowledge:read"))
    here.realm.accounts.down = True
    answer = here.ask(modern("tools/list", {}, token))
    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (503, "30")
