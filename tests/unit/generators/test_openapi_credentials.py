"""No credential of an API document comes into an entry, wherever it stands."""

from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from commonplace_generators.catalogue_file import written
from commonplace_generators.openapi.credentials import masked, scrubbed, secret
from tests.unit.generators.openapi_documents import made, operation

GITHUB = "ghp_" + "a1B2" * 9
STRIPE = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
PLAIN = "correct-horse-battery"


def everywhere(credential: str) -> dict[str, Any]:
    """A document that has it in every place an example may stand."""
    login = {
        "type": "object",
        "required": ["user", "password"],
        "properties": {
            "user": {"type": "string"},
            "password": {"type": "string", "example": credential, "default": credential},
            "apiKey": {"type": "string", "enum": [credential]},
            "nested": {
                "type": "object",
                "example": {"client_secret": credential, "list": [{"accessToken": credential}]},
            },
        },
    }
    body = {
        "description": f"Send `Authorization: Bearer {credential}`.\n\n```\ncurl -u me:{credential} https://x.example\n```",
        "parameters": [
            {
                "name": "X-Api-Key",
                "in": "header",
                "required": True,
                "example": credential,
                "schema": {"default": credential},
            },
            {"name": "access_token", "in": "query", "schema": {"type": "string", "default": credential}},
            {"name": "tide", "in": "cookie", "schema": {"type": "string", "default": credential, "enum": [credential]}},
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": login,
                    "examples": {"a": {"value": {"password": credential, "token": credential}}},
                }
            }
        },
        "responses": {
            "200": {
                "description": "Fine",
                "content": {
                    "application/json": {
                        "schema": {"properties": {"token": {"type": "string", "example": credential}}},
                        "example": {
                            "session": {"refresh_token": credential},
                            "url": f"https://me:{credential}@x.example",
                        },
                    }
                },
            }
        },
        "security": [{"key": [], "basic": []}],
    }
    schemes = {
        "key": {
            "type": "apiKey",
            "in": "cookie",
            "name": "tide",
            "description": f"Use {credential}",
            "x-example": credential,
        },
        "basic": {"type": "http", "scheme": "basic", "description": credential},
    }
    server = {"url": f"https://me:{credential}@x.example/api"}
    return operation(body, method="post", components={"securitySchemes": schemes}, servers=[server])


@pytest.mark.parametrize("credential", [GITHUB, STRIPE, JWT, PLAIN])
def test_a_credential_in_an_example_comes_into_no_entry(credential: str) -> None:
    text = written(made(everywhere(credential)).entries).decode()
    assert credential not in text
    assert "<password>" in text


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "clientSecret",
        "X-API-Key",
        "access_token",
        "AuthToken",
        "privateKey",
        "Authorization",
        "refresh-token",
        "PIN",
    ],
)
def test_a_name_says_that_it_holds_a_credential(name: str) -> None:
    assert secret(name)


@pytest.mark.parametrize(
    "name", ["key", "tokenType", "passwordPolicy", "name", "monkey", "max_tokens_per_day", "primary_key", ""]
)
def test_a_name_that_only_sounds_like_one_does_not(name: str) -> None:
    assert not secret(name)


@pytest.mark.parametrize(
    "text",
    [
        "Uses Basic authentication, or a bearer token in the header.",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $TOKEN",
        "Set `X-API-Key: YOUR_KEY`.",
        "https://example.com/a?page=2&key_id=7",
        "Token based pagination: pass `token` again.",
    ],
)
def test_a_text_without_a_credential_stays_as_it_is(text: str) -> None:
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"token {GITHUB}",
        f"curl -H 'Authorization: Bearer {JWT}'",
        "Authorization: Basic dXNlcjpwYXNzd29yZA==",
        "https://user:s3cr3tpass@db.example.com/x",
        "https://x.example/?api_key=abcdef12345&page=1",
        '{"password": "hunter2secret"}',
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----",
        "AKIAIOSFODNN7EXAMPLE",
    ],
)
def test_what_looks_like_a_credential_is_replaced(text: str) -> None:
    found = scrubbed(text)
    kept = ("hunter2", "s3cr3t", "abcdef12345", "dXNlcj", "MIIEow", "AKIAIO", GITHUB, JWT)
    assert not any(one in found for one in kept)
    assert found != text


@drawn(st.text(max_size=300))
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    assert scrubbed(scrubbed(text)) == scrubbed(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["password", "a", "token"]), inner, max_size=3)
    ),
    max_leaves=20,
)


@drawn(VALUES)
def test_no_text_stays_under_a_name_that_holds_a_credential(value: Any) -> None:
    def walked(one: Any, name: str) -> None:
        if isinstance(one, dict):
            for key, inner in one.items():
                walked(inner, key)
        elif isinstance(one, list):
            for inner in one:
                walked(inner, name)
        elif secret(name) and isinstance(one, str):
            assert one == f"<{name}>"

    walked(masked(value), "")


def test_a_count_and_a_switch_are_no_credentials_whatever_they_are_called() -> None:
    schema = {
        "required": ["max_tokens", "skip_pin", "pin"],
        "properties": {
            "max_tokens": {"type": "integer", "example": 16},
            "skip_pin": {"type": "boolean"},
            "pin": {"type": "integer", "example": 4711},
        },
    }
    body = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    (found,) = made(operation(body, method="post")).entries
    assert '{"max_tokens": 16, "pin": "<pin>", "skip_pin": true}' in found.examples[0].code
