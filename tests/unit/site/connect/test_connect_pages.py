"""What is made from the table: the page of the docs, the page of a deployment, the registry's entry, the command."""

import json
import os
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from commonplace.site.connect.clients import Endpoint, clients
from commonplace.site.connect.registry import server_json
from commonplace_local.connect_page import connect_page
from tests.site_app import site_app
from tests.unit.docs.pages import ROOT

PAGE = ROOT / "docs" / "agents" / "connect.md"
AT = Endpoint.of("Field Book", "https://knowledge.example.org")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Opens and closes, ids and links of a page; raises where tags do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.text: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.ids |= {value for name, value in attrs if name == "id" and value}
        self.links += [value for name, value in attrs if name == "href" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(html: str) -> Outline:
    read = Outline()
    read.feed(html)
    read.close()
    assert read.open == []
    return read


def page_of(name: str, base_url: str) -> str:
    return TestClient(site_app(SITE_NAME=name, BASE_URL=base_url)).get("/connect").text


def test_the_docs_page_is_the_table() -> None:
    if os.environ.get("UPDATE_SNAPSHOTS"):
        PAGE.write_text(connect_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == connect_page(), "UPDATE_SNAPSHOTS=1 writes it anew"


def test_the_page_of_a_deployment_shows_every_client_with_its_address() -> None:
    read = outline(page_of("Field Book", "https://knowledge.example.org"))
    assert {client.key for client in clients(AT)} <= read.ids
    assert all(f"#{client.key}" in read.links for client in clients(AT))
    assert {client.button.url for client in clients(AT) if client.button} <= set(read.links)
    assert AT.url in "".join(read.text)


def test_a_site_name_is_text_and_never_markup() -> None:
    read = outline(page_of('<script>alert("x")</script>', "https://knowledge.example.org"))
    assert read.scripts == 3
    assert "<script>alert" in "".join(read.text)


def test_clients_that_run_elsewhere_are_told_apart_on_this_machine() -> None:
    assert "public https address" in page_of("Field Book", "http://127.0.0.1:8787")
    assert "public https address" not in page_of("Field Book", "https://knowledge.example.org")


def test_the_registry_entry_keeps_to_its_schema() -> None:
    told: dict[str, Any] = server_json(AT, "1.0.0")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", told["name"])
    assert told["name"] == "org.example.knowledge/field-book"
    assert 1 <= len(told["description"]) <= 100
    assert 1 <= len(told["title"]) <= 100
    assert told["remotes"] == [{"type": "streamable-http", "url": "https://knowledge.example.org/mcp"}]
    assert told["$schema"].endswith("/2025-12-11/server.schema.json")


def run(*words: str) -> tuple[int, str]:
    import typer

    from commonplace_local.cli.connect import connect as connect_command

    app = typer.Typer()
    app.command()(connect_command)
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.output + (f"{done.exception} {getattr(done.exception, 'hint', '')}")


def test_the_command_prints_one_client() -> None:
    code, told = run("codex", "--url", "https://knowledge.example.org", "--name", "Field Book")
    assert code == 0
    assert "codex mcp add field-book --url https://knowledge.example.org/mcp" in told
    assert "Cursor" not in told


def test_the_command_prints_all_of_them_for_the_laptop() -> None:
    code, told = run()
    assert code == 0
    assert all(client.title in told for client in clients(AT))
    assert "http://127.0.0.1:8787/mcp" in told


def test_the_command_prints_the_registry_entry() -> None:
    _, told = run("--server-json", "--url", "https://knowledge.example.org")
    assert json.loads(told[: told.rindex("}") + 1])["name"] == "org.example.knowledge/commonplace"


@pytest.mark.parametrize(
    ("words", "said"), [(("netscape",), "Known: claude"), (("--url", "http://knowledge.example.org"), "https://")]
)
def test_the_command_says_what_would_be_valid(words: tuple[str, ...], said: str) -> None:
    code, told = run(*words)
    assert code != 0
    assert said in told
