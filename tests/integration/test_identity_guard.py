"""Wallets, tokens and the guard over a whole deployment: the right ones write, the others are told why not."""

import json
import secrets
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.integration.conftest import WALLETS
from tests.integration.running_dev import Dev, commonplace
from tests.person import Person, Wallet, query_of

pytestmark = pytest.mark.laptop

CALLBACK = "http://127.0.0.1:9/callback"
VERIFIER = "v" * 43
CHALLENGE = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
"""S256 of it."""
MODERN, LEGACY = "2026-07-28", "2025-11-25"
BOTH = "knowledge:read knowledge:write"

ERAS = pytest.mark.parametrize("version", [MODERN, LEGACY])


@dataclass
class Deployment:
    """`commonplace dev` with two wallets on the operator's list, and one client."""

    dev: Dev
    client: str = ""

    def __post_init__(self) -> None:
        asked = {"client_name": "Notebook", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
        self.client = httpx.post(f"{self.dev.url}/register", json=asked, trust_env=False, timeout=60).json()[
            "client_id"
        ]

    def token(self, who: Wallet, path: str = "/mcp", scope: str = BOTH) -> str:
        """What the client has when this person has signed in and allowed all of it."""
        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": CALLBACK,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": self.dev.url + path,
            "scope": scope,
        }
        led_to = Person(who).decide(f"{self.dev.url}/authorize?{httpx.QueryParams(asked)}")
        form = {
            "grant_type": "authorization_code",
            "code": query_of(led_to)["code"],
            "redirect_uri": CALLBACK,
            "client_id": self.client,
            "code_verifier": VERIFIER,
        }
        told = httpx.post(f"{self.dev.url}/token", data=form, trust_env=False, timeout=60).json()
        token: str = told["access_token"]
        return token

    def call(
        self, token: str | None, tool: str, arguments: dict[str, Any], version: str, path: str = "/mcp"
    ) -> httpx.Response:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
        if version == MODERN:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            headers |= {"mcp-method": "tools/call", "mcp-name": tool}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return httpx.post(f"{self.dev.url}{path}", json=message, headers=headers, trust_env=False, timeout=60)


@pytest.fixture(scope="module")
def place(team: Dev) -> Deployment:
    return Deployment(team)


def told(answer: httpx.Response) -> tuple[bool, str]:
    """Whether the call was refused, and the text that a model reads."""
    assert answer.status_code == 200, answer.text
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        text = [line for line in text.splitlines() if line.startswith("data:")][-1].removeprefix("data:")
    result = json.loads(text)["result"]
    return result.get("isError", False), result["content"][0]["text"]


def link() -> dict[str, Any]:
    name = secrets.token_hex(4)
    return {"url": f"https://example.org/{name}", "title": f"Kelp {name}"}


def draft() -> dict[str, Any]:
    return {"contentType": "guide", "title": f"How to seed {secrets.token_hex(4)}", "content": "Text."}


@ERAS
def test_tools_of_members_and_contributors_work_for_the_right_wallets_and_refuse_the_others(
    place: Deployment, version: str
) -> None:
    opened = {}
    for tier, who in WALLETS.items():
        token = place.token(who)
        for tool, arguments in (("save_link", link()), ("create_draft", draft())):
            opened[tier, tool] = told(place.call(token, tool, arguments, version))
    denied = {key: text for key, (refused, text) in opened.items() if refused}
    assert denied == {
        ("public", "save_link"): "Access denied. This tool requires member access.",
        ("public", "create_draft"): "Access denied. This tool requires vibecoder access.",
        ("member", "create_draft"): "Access denied. This tool requires vibecoder access.",
    }
    assert all(text.startswith("Proposal ") for refused, text in opened.values() if not refused)


@ERAS
def test_who_brings_no_token_is_asked_to_sign_in_and_who_lacks_a_scope_to_consent(
    place: Deployment, version: str
) -> None:
    metadata = f'resource_metadata="{place.dev.url}/.well-known/oauth-protected-resource/mcp"'
    nobody = place.call(None, "save_link", link(), version)
    assert nobody.status_code == 401
    assert nobody.headers["www-authenticate"] == f'Bearer scope="{BOTH}", {metadata}'
    reader = place.token(WALLETS["member"], scope="knowledge:read")
    lacking = place.call(reader, "save_link", link(), version)
    assert lacking.status_code == 403
    assert lacking.headers["www-authenticate"] == (
        f'Bearer error="insufficient_scope", scope="knowledge:write", {metadata}'
    )
    assert told(place.call(reader, "list_groups", {}, version))[0] is False


@ERAS
def test_a_token_is_for_its_path_alone(place: Deployment, version: str) -> None:
    token = place.token(WALLETS["member"], "/mcp/knowledge")
    assert told(place.call(token, "save_link", link(), version, "/mcp/knowledge"))[0] is False
    for path in ("/mcp", "/mcp/all"):
        assert place.call(token, "save_link", link(), version, path).status_code == 401
    answer = httpx.get(
        f"{place.dev.url}/api/v1/me", headers={"authorization": f"Bearer {token}"}, trust_env=False, timeout=60
    )
    assert answer.status_code == 401


@ERAS
def test_a_grant_that_an_operator_ends_refuses_the_next_call(place: Deployment, version: str) -> None:
    token = place.token(WALLETS["vibecoder"])
    assert told(place.call(token, "list_groups", {}, version))[0] is False
    done = commonplace("grants", "revoke", "--subject", WALLETS["vibecoder"].address, "--data", str(place.dev.data))
    assert done.returncode == 0, done.stderr
    refused = place.call(token, "list_groups", {}, version)
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


def test_the_api_says_who_calls(place: Deployment) -> None:
    token = place.token(WALLETS["member"], "/api")
    me = httpx.get(
        f"{place.dev.url}/api/v1/me", headers={"authorization": f"Bearer {token}"}, trust_env=False, timeout=60
    )
    assert me.status_code == 200, me.text
    found = me.json()
    assert (found["subject"], found["tier"], found["organisation"]) == (WALLETS["member"].address, "member", "default")
    assert found["scopes"] == ["knowledge:write"] or found["scopes"] == BOTH.split()
    nobody = httpx.get(f"{place.dev.url}/api/v1/me", trust_env=False, timeout=60)
    assert "/.well-known/oauth-protected-resource/api" in nobody.headers["www-authenticate"]
