"""`commonplace search` of a deployment that its outputs lead to, over real HTTP."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from commonplace.documents.rest.services import Explanations
from commonplace.kernel.operator_key import fresh_key, key_hash
from commonplace.web.rest.declaration import Site
from commonplace_local import cli
from commonplace_local.cli.operators import KEY_VARIABLE
from commonplace_local.deployment import NEEDED
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.search import hit
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.told import ToldSearch

KEY = fresh_key()


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[Path]:
    """The outputs of a stack whose API serves the garden."""
    world = World(FakeLibrary(garden()), ToldSearch(hit("pattern", "rotating-stewardship"), suggestion="stewardship"))
    client = world.client(
        Site(reads_per_minute=0, searches_per_minute=0), Explanations(operator_key_hash=key_hash(KEY))
    )

    class Serving(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = {"authorization": key} if (key := self.headers.get("authorization")) else {}
            answer = client.get(self.path, headers=given)
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Serving)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    told = dict.fromkeys(NEEDED, "x") | {"BaseUrl": f"http://127.0.0.1:{server.server_address[1]}/"}
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({"Commonplace-prod": told}))
    yield file
    server.shutdown()
    thread.join()
    server.server_close()


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, ["search", *arguments])
    return done.exit_code, done.output


def test_a_deployment_is_asked_at_its_own_address(outputs: Path) -> None:
    code, output = run("stewrdship", "--outputs", str(outputs))
    assert code == 0
    assert output.startswith("Did you mean: stewardship\n\n1. rotating-stewardship  (0.75)\n")


def test_an_address_does_as_well(outputs: Path) -> None:
    url = json.loads(outputs.read_text())["Commonplace-prod"]["BaseUrl"]
    assert run("stewrdship", "--url", url) == run("stewrdship", "--outputs", str(outputs))
    assert run("x", "--url", "kb")[1].startswith("commonplace search: kb is not the address of a deployment.")


def test_an_operator_has_it_explained(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    code, output = run("x", "--outputs", str(outputs), "--expect", "tag/governance")
    assert code == 0
    assert "tag/governance is number 31." in output
    assert "not known" not in output
    assert KEY not in output


def test_nobody_else_has_it_explained(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    code, output = run("x", "--outputs", str(outputs), "--explain")
    assert code == 1
    assert output == (
        "commonplace search: Explanations are for operators.\n"
        f"Set {KEY_VARIABLE} to the operators' key of this deployment.\n"
    )


def test_the_json_is_the_answer_of_the_interface(outputs: Path) -> None:
    code, output = run("x", "--outputs", str(outputs), "--json", "--documents")
    assert code == 0
    assert json.loads(output)["results"][0]["document"]["path"] == "artifacts/patterns/rotating-stewardship.md"


def test_a_stack_that_is_not_running_is_not_replaced_by_what_a_laptop_kept(tmp_path: Path) -> None:
    code, output = run("x", "--outputs", str(tmp_path / "nowhere.json"))
    assert code == 1
    assert "cannot be read as JSON" in output
