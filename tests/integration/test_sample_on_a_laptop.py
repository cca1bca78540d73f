"""The sample on a laptop: proposals that open in a browser, and contributions that wait for a review."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace_local.cli.dev import SAMPLE_HIVE, SAMPLE_ORGANISATION
from commonplace_local.knowledge_folder import SAMPLE
from commonplace_local.wheel_models import RAMPART
from tests.integration.running_dev import EDIT_SECONDS, Serving, commonplace, serving

pytestmark = pytest.mark.laptop

LINE = "3 pending contributions of the sample"
HOSTILE = "<script>alert(1)</script> & more"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sample")


@pytest.fixture(scope="module")
def dev(data: Path) -> Iterator[Serving]:
    with serving("--tier", "vibecoder", "--data", str(data)) as dev:
        yield dev


def files() -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in SAMPLE.rglob("*") if file.is_file()}


def proposed(dev: Serving, tool: str, **arguments: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    result = httpx.post(f"{dev.url}/mcp", json=message, timeout=60, trust_env=False).json()["result"]
    assert not result.get("isError"), result
    made: dict[str, Any] = result["structuredContent"]
    return made


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("save_link", {"url": "https://example.org/kelp", "title": f"Kelp {HOSTILE}", "description": HOSTILE}),
        ("create_draft", {"contentType": "pattern", "title": f"Wait {HOSTILE}", "content": f"Wait. {HOSTILE}"}),
    ],
)
def test_a_proposal_opens_at_its_address(dev: Serving, tool: str, arguments: dict[str, Any]) -> None:
    before = files()
    made = proposed(dev, tool, **arguments)
    assert made["url"].startswith(f"{dev.url}/")
    page = httpx.get(made["url"], headers={"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}, trust_env=False)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "<script" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page.text
    for shown in (made["handle"], made["path"], arguments["title"].partition(" ")[0]):
        assert shown in page.text
    assert "Commonplace-Draft" not in page.text
    assert httpx.head(made["url"], trust_env=False).status_code == 200
    assert httpx.get(f"{made['url']}1", trust_env=False).status_code == 404
    foreign = httpx.get(made["url"], headers={"host": "evil.example"}, trust_env=False)
    assert foreign.status_code == 421
    assert files() == before


def test_stylesheets_of_the_page_are_those_of_the_site(dev: Serving) -> None:
    for path in ("/assets/site.css", "/assets/theme.css", "/icon.png"):
        assert httpx.get(f"{dev.url}{path}", timeout=60, trust_env=False).status_code == 200


def test_the_organisation_of_the_sample_is_founded_once(dev: Serving, data: Path) -> None:
    dev.wait_for("The organisation of the sample: ", EDIT_SECONDS)
    file = str(SAMPLE_ORGANISATION)
    planned = commonplace("governance", "import", file, "--dry-run", "--data", str(data))
    assert planned.returncode == 0 and "low-water: 10 members" in planned.stderr
    again = commonplace("governance", "import", file, "--data", str(data))
    assert again.returncode == 1 and "There is an organisation low-water." in again.stderr


def pending(data: Path) -> list[dict[str, Any]]:
    done = commonplace("hive", "pending", "--json", "--data", str(data))
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["contributions"]
    return found


@pytest.mark.skipif(not RAMPART.folder.is_dir(), reason="the model of the redaction is not on this machine")
def test_three_contributions_wait_for_a_review_and_come_once(dev: Serving, data: Path) -> None:
    dev.wait_for(LINE, EDIT_SECONDS)
    waiting = pending(data)
    texts = [one["content"] for one in waiting]
    assert len(texts) == len(SAMPLE_HIVE.read_text(encoding="utf-8").splitlines()) == 3
    assert "[NAME] ([EMAIL]) noticed it" in texts[0]
    assert {one["agent"] for one in waiting} == {"agent:tide-desk"}
    done = commonplace("hive", "reject", waiting[2]["id"], "--reason", "Known already", "--data", str(data))
    assert done.returncode == 0, done.stderr
    dev.end()
    with serving("--data", str(data)) as again:
        again.wait_for("ready:")
        assert [one["id"] for one in pending(data)] == [one["id"] for one in waiting[:2]]
        assert LINE not in again.output
