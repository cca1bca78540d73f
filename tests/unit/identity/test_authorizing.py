"""Requests at /authorize: who may hear of an error, and of which (A* and U* of the list of negative tests)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.oauth.authorization_request import (
    LocalRefusal,
    RequestRefused,
    answer_url,
    read_query,
    understand,
)
from commonplace.identity.oauth.clients import Clients
from commonplace.identity.records import AuthorizationRequest, Client
from commonplace.kernel.errors import Unavailable
from tests.fakes.authority import APP, BASE, LAPTOP, MCP, OTHER, REDIRECT, VERIFIER, Authority, challenge_of, told

LOOPBACK = "http://127.0.0.1:5555/back?x=1"


@pytest.fixture
def authority() -> Authority:
    return Authority()


def refused(authority: Authority, *more: tuple[str, str], **changes: str | None) -> dict[str, str]:
    """What the client hears, which is at its redirect URI."""
    with pytest.raises(RequestRefused) as caught:
        authority.understand(*more, **changes)
    assert caught.value.url.startswith("https://app.example.net/callback?kept=1&error=")
    answer = told(caught.value.url)
    assert answer["error"] == caught.value.code
    assert (answer["iss"], answer["kept"]) == (BASE, "1")
    return answer


def test_a_request_is_understood(authority: Authority) -> None:
    asked = authority.understand()

    assert asked.client is APP
    assert asked.request == AuthorizationRequest(
        client_id="app",
        redirect_uri=REDIRECT,
        redirect_given=True,
        resource=MCP,
        scopes=("knowledge:read", "knowledge:write"),
        challenge=challenge_of(VERIFIER),
        state="st&te =\N{SNOWMAN}",
    )


def test_a1_plain_is_refused(authority: Authority) -> None:
    assert refused(authority, code_challenge_method="plain")["error"] == "invalid_request"


def test_a2_a_challenge_without_a_method_is_refused(authority: Authority) -> None:
    assert refused(authority, code_challenge_method=None)["error"] == "invalid_request"
    assert refused(authority, code_challenge_method="")["error"] == "invalid_request"


def test_a3_an_unknown_method_is_not_taken_for_plain(authority: Authority) -> None:
    assert refused(authority, code_challenge_method="S512")["error"] == "invalid_request"
    assert refused(authority, code_challenge_method="s256")["error"] == "invalid_request"


@pytest.mark.parametrize(
    "challenge", [None, "", "c" * 42, "c" * 44, "c" * 42 + "=", "c" * 42 + "+", "c" * 43 + "\n", "é" * 43]
)
def test_a3_a_challenge_is_43_characters_of_base64url(authority: Authority, challenge: str | None) -> None:
    assert refused(authority, code_challenge=challenge)["error"] == "invalid_request"


def test_a4_a_confidential_client_needs_pkce_too(authority: Authority) -> None:
    with pytest.raises(RequestRefused) as caught:
        authority.understand(
            client_id=OTHER.id, redirect_uri=OTHER.redirect_uris[0], code_challenge=None, code_challenge_method=None
        )
    assert caught.value.code == "invalid_request"
    assert refused(authority, code_challenge=None, code_challenge_method=None)["error"] == "invalid_request"


@pytest.mark.parametrize("response_type", [None, "", "token", "code token", "Code", "none"])
def test_a5_another_response_type_is_unsupported(authority: Authority, response_type: str | None) -> None:
    assert refused(authority, response_type=response_type)["error"] == "unsupported_response_type"


def test_a5_a_client_that_is_not_registered_for_codes_gets_none(authority: Authority) -> None:
    client = Client(
        id="app", name="x", source="registered", redirect_uris=(REDIRECT,), grant_types=("client_credentials",)
    )
    authority.known.clients["app"] = client

    assert refused(authority)["error"] == "unsupported_response_type"


@pytest.mark.parametrize("mode", ["fragment", "form_post"])
def test_answers_are_in_the_query_alone(authority: Authority, mode: str) -> None:
    assert refused(authority, response_mode=mode)["error"] == "invalid_request"
    authority.understand(response_mode="query")


@pytest.mark.parametrize(
    "resource",
    ["https://other.example/mcp", f"{MCP}#x", "/mcp", "mcp", "javascript:alert(1)", f"{BASE}:443/mcp", f"{MCP}?x=1"],
)
def test_a6_the_resource_of_another_is_no_target(authority: Authority, resource: str) -> None:
    assert refused(authority, resource=resource)["error"] == "invalid_target"


def test_a6_two_resources_are_no_target(authority: Authority) -> None:
    assert refused(authority, ("resource", f"{BASE}/api"))["error"] == "invalid_target"
    assert refused(authority, ("resource", MCP))["error"] == "invalid_target"


def test_a7_the_resource_has_a_default_and_one_spelling(authority: Authority) -> None:
    assert authority.understand(resource=None).request.resource == MCP
    assert authority.understand(resource="").request.resource == MCP
    assert authority.understand(resource=BASE).request.resource == MCP
    assert authority.understand(resource="HTTPS://KB.example.ORG/mcp/").request.resource == MCP
    assert authority.understand(resource=f"{BASE}/mcp/hive", scope=None).request.resource == f"{BASE}/mcp/hive"
    for other in ("/mcp-other", "/mcp/other", "/mcp/../api", "/MCP"):
        assert refused(authority, resource=BASE + other)["error"] == "invalid_target"


def test_a8_unknown_scopes_are_dropped(authority: Authority) -> None:
    asked = authority.understand(scope="openid knowledge:write offline_access knowledge:write profile")

    assert asked.request.scopes == ("knowledge:write",)


def test_a8_only_unknown_scopes_are_an_error(authority: Authority) -> None:
    assert refused(authority, scope="openid profile")["error"] == "invalid_scope"
    assert refused(authority, scope="knowledge:own")["error"] == "invalid_scope"


@pytest.mark.parametrize("scope", [None, "", "offline_access"])
def test_a8_without_scopes_reading_is_meant(authority: Authority, scope: str | None) -> None:
    assert authority.understand(scope=scope).request.scopes == ("knowledge:read", "memory:read")


@pytest.mark.parametrize("scope", ['knowledge:read "', "knowledge:read \\", "knowledge:read\tx", "é", "x" * 65])
def test_a8_scopes_with_characters_that_no_scope_has_are_refused(authority: Authority, scope: str) -> None:
    assert refused(authority, scope=scope)["error"] == "invalid_scope"


def test_scopes_of_another_resource_are_dropped(authority: Authority) -> None:
    asked = authority.understand(resource=f"{BASE}/mcp/hive", scope="hive:read knowledge:read")

    assert asked.request.scopes == ("hive:read",)
    assert refused(authority, resource=f"{BASE}/mcp/hive", scope="knowledge:read")["error"] == "invalid_scope"


def test_a_client_with_a_bound_asks_for_no_more(authority: Authority) -> None:
    authority.known.clients["app"] = Client(
        id="app", name="x", source="operator", redirect_uris=(REDIRECT,), scopes=("knowledge:read",)
    )

    assert authority.understand(scope="knowledge:read knowledge:write").request.scopes == ("knowledge:read",)
    assert refused(authority, scope="knowledge:write")["error"] == "invalid_scope"


def test_a9_errors_carry_the_state_as_it_came_or_none(authority: Authority) -> None:
    assert refused(authority, response_type="token")["state"] == "st&te =\N{SNOWMAN}"
    assert "state" not in refused(authority, response_type="token", state=None)
    assert "state" not in refused(authority, response_type="token", state="")


def test_a9_bytes_that_are_no_text_come_back_as_they_were(authority: Authority) -> None:
    query = b"client_id=app&redirect_uri=https%3A%2F%2Fapp.example.net%2Fcallback%3Fkept%3D1&state=%FF%00+%C3%28"
    with pytest.raises(RequestRefused) as caught:
        understand(read_query(query), authority.known, authority.resources, issuer=BASE)

    assert "state=%FF%00+%C3%28&iss=" in caught.value.url


@settings(deadline=None)
@given(state=st.text(min_size=1, max_size=50), own=st.sampled_from(["", "?", "?a=1", "?a=1&", "?state=own%20"]))
def test_a9_any_state_survives_the_way_back(state: str, own: str) -> None:
    state = state.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    url = answer_url("https://app.example/x" + own, issuer=BASE, state=state, code="c")
    added = url.rpartition("code=c&")[2]

    assert url.startswith("https://app.example/x" + own)
    assert dict(read_query(added.encode())) == {"state": state, "iss": BASE}


def test_a_state_that_is_too_long_is_refused_and_not_echoed(authority: Authority) -> None:
    answer = refused(authority, state="s" * 4_097)

    assert answer["error"] == "invalid_request"
    assert "state" not in answer


def test_a10_the_query_of_the_redirect_uri_survives(authority: Authority) -> None:
    assert refused(authority, response_type="token")["kept"] == "1"
    assert answer_url("https://a.example/b", issuer=BASE, state=None, code="c").startswith("https://a.example/b?code=c")


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_a11_what_decides_where_errors_go_comes_once(authority: Authority, name: str) -> None:
    for value in ("app", REDIRECT, "x"):
        with pytest.raises(LocalRefusal):
            authority.understand((name, value))


@pytest.mark.parametrize("name", ["response_type", "scope", "state", "code_challenge", "code_challenge_method"])
def test_a11_anything_else_that_comes_twice_is_an_error(authority: Authority, name: str) -> None:
    answer = refused(authority, (name, "S256"))

    assert answer["error"] == "invalid_request"
    assert ("state" in answer) == (name != "state")


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/callback",
        "https://app.example.net/callback?kept=1&more=1",
        "https://app.example.net/callback",
        "https://app.example.net:443/callback?kept=1",
        "https://APP.example.net/callback?kept=1",
        "https://app.example.net/callback?kept=1#",
        "javascript:alert(1)",
        "x",
    ],
)
def test_u1_an_unregistered_redirect_is_a_page_of_ours(authority: Authority, uri: str) -> None:
    with pytest.raises(LocalRefusal):
        authority.understand(redirect_uri=uri)


@pytest.mark.parametrize("client_id", [None, "", "unknown", "é", "x" * 5_000, "\udcff"])
def test_u2_an_unknown_client_is_a_page_of_ours(authority: Authority, client_id: str | None) -> None:
    for uri in (REDIRECT, "https://evil.example/"):
        params = [("redirect_uri", uri)] + ([] if client_id is None else [("client_id", client_id)])
        with pytest.raises(LocalRefusal):
            understand(params, authority.known, authority.resources, issuer=BASE)


def test_u3_a_loopback_redirect_may_have_any_port(authority: Authority) -> None:
    asked = authority.understand(client_id=LAPTOP.id, redirect_uri=LOOPBACK)
    assert asked.request.redirect_uri == LOOPBACK

    for other in ("http://localhost:5555/back?x=1", "http://127.0.0.1:5555/back", "https://127.0.0.1:5555/back?x=1"):
        with pytest.raises(LocalRefusal):
            authority.understand(client_id=LAPTOP.id, redirect_uri=other)


def test_u7_one_registered_redirect_need_not_be_named(authority: Authority) -> None:
    request = authority.understand(redirect_uri=None).request
    assert (request.redirect_uri, request.redirect_given) == (REDIRECT, False)

    with pytest.raises(LocalRefusal):
        authority.understand(client_id=OTHER.id, redirect_uri=None)


def test_a_registered_redirect_that_is_no_longer_allowed_is_not_used(authority: Authority) -> None:
    authority.known.clients["app"] = Client(
        id="app", name="x", source="registered", redirect_uris=("http://app.example/",)
    )
    for named in (None, "http://app.example/"):
        with pytest.raises(LocalRefusal):
            authority.understand(redirect_uri=named)


def test_descriptions_never_echo_what_came(authority: Authority) -> None:
    for name in ("response_type", "code_challenge", "code_challenge_method", "resource", "scope", "response_mode"):
        answer = refused(authority, **{name: 'mark"er\\'})
        assert "mark" not in answer["error_description"]


def test_a_request_with_very_many_parts_is_refused() -> None:
    with pytest.raises(LocalRefusal):
        read_query(b"&".join(b"a=1" for _ in range(100)))


def test_words_of_prompt_are_kept(authority: Authority) -> None:
    assert authority.understand(prompt="consent login").prompts == {"consent", "login"}


def test_a_store_that_is_away_is_no_unknown_client(authority: Authority) -> None:
    class Away(Clients):
        def __init__(self) -> None:
            pass

        def find(self, client_id: str, network: str = "") -> Client:
            raise Unavailable("away")

    with pytest.raises(Unavailable):
        understand(authority.query(), Away(), authority.resources, issuer=BASE)
