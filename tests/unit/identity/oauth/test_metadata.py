"""What clients discover (ids M of the list of negative tests)."""

import json
import re

import pytest

from commonplace.identity import keyring
from commonplace.identity.settings import AuthSettings
from commonplace.kernel.environment import SettingsError
from tests.unit.identity.oauth.world import BASE, ENVIRONMENT, World

SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
RESOURCE = "/.well-known/oauth-protected-resource"
EVERY = [SERVER, RESOURCE, "/.well-known/jwks.json"]
RESOURCES = ["/mcp", "/mcp/knowledge", "/mcp/memory", "/mcp/reference", "/mcp/all", "/api"]


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_m1_resource_metadata_at_the_root_is_that_of_the_origin(world: World) -> None:
    mcp, root = world.send("GET", f"{RESOURCE}/mcp").json(), world.send("GET", RESOURCE).json()
    assert root == mcp | {"resource": BASE}
    assert mcp == {
        "resource": f"{BASE}/mcp",
        "authorization_servers": [BASE],
        "scopes_supported": ["knowledge:read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Garden",
        "resource_documentation": f"{BASE}/connect",
    }


@pytest.mark.parametrize("path", ["", *RESOURCES])
def test_m1_each_document_is_about_the_resource_that_its_address_names(world: World, path: str) -> None:
    """RFC 9728, section 3.3."""
    told = world.send("GET", RESOURCE + path).json()
    assert told["resource"] == BASE + path
    assert told["authorization_servers"] == [BASE]


def test_a_client_that_asks_for_the_origin_gets_a_token_for_mcp(world: World) -> None:
    client = world.register()["client_id"]
    code = world.code(client, resource=world.send("GET", RESOURCE).json()["resource"])
    told = world.exchange(client, code, resource=f"{BASE}/").json()
    assert (
        world.services.token_endpoint.introspect(told["access_token"], world.clients.find(client))["aud"]
        == f"{BASE}/mcp"
    )


@pytest.mark.parametrize(
    "suffix", ["/mcp-other", "/mcp/attic", "/mcp/knowledge/more", "/mcp/../api", "/API", "/x", "/"]
)
@pytest.mark.parametrize("path", [SERVER, RESOURCE])
def test_m1_unknown_suffix_is_nothing(world: World, path: str, suffix: str) -> None:
    answer = world.send("GET", path + suffix)
    assert answer.status == 404
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", RESOURCES)
def test_no_issuer_but_the_origin_has_a_document(world: World, path: str) -> None:
    """RFC 8414, section 3.3: it would have to name an issuer that there is not."""
    assert world.send("GET", SERVER + path).status == 404


@pytest.mark.parametrize("path", ["", *RESOURCES])
def test_nobody_is_told_of_an_openid_provider_that_there_is_not(world: World, path: str) -> None:
    assert world.send("GET", OPENID + path).status == 404
    assert world.send("GET", path + OPENID).status == 404


@pytest.mark.parametrize("path", EVERY)
def test_m2_every_url_comes_from_the_configuration(world: World, path: str) -> None:
    poisoned = world.send(
        "GET",
        path,
        host="evil.example",
        x_forwarded_host="evil.example",
        x_forwarded_proto="http",
        forwarded="host=evil.example;proto=http",
    )
    assert poisoned.body == world.send("GET", path).body
    assert "evil" not in str(poisoned)


def test_m2_issuer_is_the_configured_url(world: World) -> None:
    told = world.send("GET", SERVER).json()
    assert told["issuer"] == BASE
    assert told["authorization_endpoint"] == f"{BASE}/authorize"
    assert told["jwks_uri"] == f"{BASE}/.well-known/jwks.json"


def test_m3_only_what_is_safe_is_offered(world: World) -> None:
    told = world.send("GET", SERVER).json()
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["response_types_supported"] == ["code"]
    assert told["response_modes_supported"] == ["query"]
    granted = ["authorization_code", "refresh_token", "client_credentials"]
    assert told["grant_types_supported"] == [*granted, "urn:ietf:params:oauth:grant-type:token-exchange"]
    assert told["authorization_response_iss_parameter_supported"] is True
    assert told["client_id_metadata_document_supported"] is True


def test_m4_client_authentication_is_told_for_each_endpoint(world: World) -> None:
    told = world.send("GET", SERVER).json()
    methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]
    for endpoint, expected in (("token", methods), ("revocation", methods), ("introspection", methods[1:])):
        assert told[f"{endpoint}_endpoint_auth_methods_supported"] == expected
        assert told[f"{endpoint}_endpoint_auth_signing_alg_values_supported"] == ["ES256", "RS256"]


def test_m4_catalogue_is_the_servers_and_the_baseline_the_resources(world: World) -> None:
    server = world.send("GET", SERVER).json()["scopes_supported"]
    resource = world.send("GET", RESOURCE).json()["scopes_supported"]
    levels = ("read", "write", "admin")
    every = [f"{toolset}:{level}" for toolset in ("knowledge", "memory", "reference", "hive") for level in levels]
    assert server == [*every, "governance:read", "governance:write", "governance:decide", "commons:read"]
    assert resource == ["knowledge:read"]


@pytest.mark.parametrize("path", EVERY)
def test_m5_any_page_may_read_metadata(world: World, path: str) -> None:
    answer = world.send("OPTIONS", path, origin="https://app.example.net", access_control_request_method="GET")
    assert answer.status == 204
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert "MCP-Protocol-Version" in answer.headers["access-control-allow-headers"]
    for told in (answer, world.send("GET", path, origin="https://app.example.net")):
        assert told.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in told.headers


@pytest.mark.parametrize("path", ["/register", "/token", "/revoke"])
def test_m5_any_page_may_call_what_takes_no_cookie(world: World, path: str) -> None:
    answer = world.send("OPTIONS", path, origin="https://app.example.net", access_control_request_method="POST")
    assert answer.status == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "POST, OPTIONS"
    assert "Authorization" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/authorize", "/introspect", "/account", "/siwe/verify"])
@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
def test_m5_no_page_of_others_may_call_what_people_use(world: World, path: str, method: str) -> None:
    answer = world.send(method, path, origin="https://app.example.net", access_control_request_method="POST")
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", [SERVER, RESOURCE])
def test_m6_metadata_has_https_urls_alone(world: World, path: str) -> None:
    body = world.send("GET", path).body
    assert "http://" not in body
    assert len(re.findall("https://", body)) > 2


@pytest.mark.parametrize(
    "environment",
    [
        {"BASE_URL": ""},
        {"BASE_URL": "http://kb.example.org"},
        {"BASE_URL": "https://kb.example.org/path"},
        {"BASE_URL": "kb.example.org"},
        {"MCP_TOOLSETS": "Knowledge!"},
        {"ROLE_MAP": '{"tiers": {"member": ["no:scope"]}}'},
        {"ROLE_MAP": "nonsense"},
        {"SIGNING_SECRET_ARN": "secret"},
    ],
)
def test_m6_invalid_configuration_fails_at_start(environment: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        AuthSettings.from_environ(ENVIRONMENT | environment)


def test_m6_toolset_that_is_not_served_fails_at_start() -> None:
    with pytest.raises(ValueError, match="toolsets"):
        World(MCP_TOOLSETS="knowledge,attic")


@pytest.mark.parametrize("path", EVERY)
def test_metadata_may_be_cached_for_five_minutes(world: World, path: str) -> None:
    answer = world.send("GET", path)
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_head_is_get_without_the_document(world: World) -> None:
    answer = world.send("HEAD", SERVER)
    assert (answer.status, answer.body) == (200, "")
    assert answer.headers["cache-control"] == "public, max-age=300"


@pytest.mark.parametrize("path", EVERY)
def test_metadata_is_only_read(world: World, path: str) -> None:
    answer = world.send("POST", path, "{}")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


def test_keys_are_published_before_they_sign_and_nothing_private_is() -> None:
    world = World()
    world.ring.keys = keyring.next_ring(world.ring.keys, int(world.clock.now))
    told = json.loads(world.send("GET", "/.well-known/jwks.json").body)
    assert [key["kid"] for key in told["keys"]] == [key.kid for key in world.ring.keys]
    assert all(set(key) == {"kty", "crv", "x", "y", "kid", "use", "alg"} for key in told["keys"])


def test_no_cache_learns_that_there_is_no_key_yet() -> None:
    world = World()
    world.ring.keys = ()
    answer = world.send("GET", "/.well-known/jwks.json")
    assert answer.status == 503
    assert answer.headers["cache-control"] == "no-store"
