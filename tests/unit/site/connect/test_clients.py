"""The table of clients: what is copied out of it works as it stands."""

import base64
import json
import shlex
import tomllib
from urllib.parse import parse_qs, urlsplit

import pytest

from commonplace.site.connect.clients import Client, Endpoint, Step, clients, short_name

AT = Endpoint.of("Field Book", "https://knowledge.example.org")
LOCAL = Endpoint.of("Field Book", "http://127.0.0.1:8787")
KEYS = [client.key for client in clients(AT)]


def client(key: str, at: Endpoint = AT) -> Client:
    return next(each for each in clients(at) if each.key == key)


def copies(at: Endpoint = AT) -> list[tuple[str, Step]]:
    return [(each.key, step) for each in clients(at) for step in (*each.steps, each.removal) if step.copy is not None]


def test_every_client_that_people_ask_for_is_there() -> None:
    assert {"claude", "claude-code", "claude-desktop", "chatgpt", "cursor", "vscode"} <= set(KEYS)
    assert {"windsurf", "codex", "gemini", "inspector"} <= set(KEYS)
    assert len(set(KEYS)) == len(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_every_client_is_given_the_address_and_a_way_back(key: str) -> None:
    assert any(AT.url in (step.copy or "") for step in client(key).steps)
    assert client(key).removal.text


@pytest.mark.parametrize(("key", "step"), copies(), ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_copied_can_be_read_by_what_it_is_for(key: str, step: Step) -> None:
    assert step.copy is not None
    if step.language == "json":
        assert json.loads(step.copy)
    elif step.language == "toml":
        assert tomllib.loads(step.copy)["mcp_servers"][AT.name]["url"] == AT.url
    elif step.language == "sh":
        assert AT.name in step.copy or key == "inspector"
        assert len(shlex.split(step.copy)) > 2


def test_the_button_for_cursor_carries_the_configuration() -> None:
    button = client("cursor").button
    assert button is not None
    asked = parse_qs(urlsplit(button.url).query)
    assert asked["name"] == [AT.name]
    assert json.loads(base64.b64decode(asked["config"][0])) == {"url": AT.url}


def test_the_button_for_vs_code_carries_the_configuration() -> None:
    button = client("vscode").button
    assert button is not None
    asked = parse_qs(urlsplit(button.url).query)
    assert json.loads(asked["config"][0]) == {"type": "http", "url": AT.url}


def test_a_command_for_vs_code_is_one_json_argument() -> None:
    command = next(step.copy for step in client("vscode").steps if step.language == "sh")
    words = shlex.split(command or "")
    assert json.loads(words[2]) == {"name": AT.name, "type": "http", "url": AT.url}


def test_plain_http_is_allowed_to_mcp_remote_on_this_machine_only() -> None:
    assert "--allow-http" in str(client("claude-desktop", LOCAL).steps)
    assert "--allow-http" not in str(client("claude-desktop").steps)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8787", "https://localhost", "http://knowledge.example.org"])
def test_an_address_that_others_cannot_reach_is_not_public(url: str) -> None:
    assert not Endpoint.of("Field Book", url).public
    assert AT.public


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("Field Book", "field-book"),
        ("  Bücher & Töne! ", "bucher-tone"),
        ("知識", "commonplace"),
        ("x" * 80, "x" * 30),
        ("A" * 29 + " b", "a" * 29),
        ("'; rm -rf /", "rm-rf"),
    ],
)
def test_the_short_name_is_safe_everywhere(site: str, name: str) -> None:
    assert short_name(site) == name


def test_a_toolset_has_an_address_of_its_own() -> None:
    assert Endpoint.of("Field Book", "https://knowledge.example.org/", "memory").url.endswith("org/mcp/memory")
