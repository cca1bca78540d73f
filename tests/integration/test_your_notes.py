"""A folder of notes as people write them in Obsidian, from the first start to a note that an agent proposed."""

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace.documents.content.document import SHOWS_EVERYTHING
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import EDIT_SECONDS, Serving, commonplace, found, separately, serving, wait
from tests.unit.docs.pages import ROOT, commands

pytestmark = pytest.mark.laptop

VAULT = Path(__file__).parents[1] / "fixtures" / "vault"
SHOWN = SHOWS_EVERYTHING


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(VAULT, tmp_path_factory.mktemp("notes") / "Allotment"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def dev(vault: Path, data: Path) -> Iterator[Serving]:
    with serving(str(vault), "--everything", "--tier", "vibecoder", "--data", str(data)) as dev:
        yield dev


def page(dev: Serving, path: str) -> str:
    answer = httpx.get(f"{dev.url}{path}", timeout=60, trust_env=False, follow_redirects=True)
    assert answer.status_code == 200, (path, answer.text)
    return html.unescape(answer.text)


def call(dev: Serving, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(f"{dev.url}/mcp/knowledge", json=message, timeout=60, trust_env=False).json()["result"]


def tool(dev: Serving, name: str, **arguments: Any) -> Any:
    answer = call(dev, "tools/call", name=name, arguments=arguments)
    assert not answer.get("isError"), answer
    return answer


def test_a_vault_that_says_nothing_about_publishing_shows_nothing_and_is_offered_everything(vault: Path) -> None:
    done = separately("dev", "--once", str(vault))
    assert done.returncode == 0, done.stdout + done.stderr
    reasons = "10 have no `publish: true`, 2 have malformed frontmatter"
    offer = f"To read all of them here: commonplace dev {vault} --everything"
    assert f"Shows 0 of 12 files: {reasons}. {offer}" in done.stdout


def test_with_everything_twelve_of_twelve_are_shown_and_what_is_wrong_is_still_said(dev: Serving) -> None:
    assert "Shows 12 of 12 files" in dev.output
    assert SHOWN in dev.output
    assert "Week 3.md:2:14: error: the frontmatter is not valid YAML" in dev.output
    assert "Compost.md:3:1: error: the frontmatter is not valid YAML (there is a tab" in dev.output
    titles = {
        "2024-05-01": "2024-05-01",
        "bea": "Bea",
        "compost": "Compost",
        "chutney": "Green tomato chutney",
        "home": "Plot 14",
        "plan": "Plan",
        "reading": "No dig, twenty years on",
        "seed-list": "Seed list",
        "slugs": "Slugs",
        "tools": "Tools",
        "watering": "Watering",
        "week-3": "Week 3",
    }
    entries = httpx.get(f"{dev.url}/api/v1/entries?limit=50", timeout=60, trust_env=False).json()["entries"]
    assert {entry["id"]: entry["title"] for entry in entries} == titles


def test_what_obsidian_writes_is_read_as_there(dev: Serving) -> None:
    assert "<mark>forty in one night</mark>" in page(dev, "/d/file/slugs")
    assert "neighbours" not in page(dev, "/d/file/slugs")
    assert 'class="callout callout-tip"' in page(dev, "/d/file/watering")
    assert 'datetime="2024-05-01"' in page(dev, "/d/file/watering")
    assert "Broad beans were sown under glass" in page(dev, "/d/file/chutney"), "a part of another note is embedded"
    assert 'href="/t/recipe%2Fpreserve"' in page(dev, "/d/file/chutney")
    assert 'href="/d/file/plan"' in page(dev, "/d/file/seed-list")
    assert 'href="/t/spring"' in page(dev, "/t")
    picture = re.search(r'<img[^>]+src="([^"]+plot\.png[^"]*)"', page(dev, "/d/file/home"))
    assert picture
    assert httpx.get(f"{dev.url}{picture[1]}", timeout=60, trust_env=False).headers["content-type"] == "image/png"


def test_the_home_page_is_the_home_note_under_its_name(dev: Serving) -> None:
    home = page(dev, "/")
    assert "<h1>Plot 14</h1>" in home
    assert "The diary of an allotment" in home
    assert 'href="/d/file/seed-list"' in home


def test_pages_the_api_and_agents_are_told_that_everything_is_shown(dev: Serving) -> None:
    for path in ("/", "/d/file/slugs", "/llms.txt"):
        assert SHOWN in page(dev, path)
    assert httpx.get(f"{dev.url}/health", timeout=60, trust_env=False).json()["everything"] is True
    assert httpx.get(f"{dev.url}/api/v1/manifest", timeout=60, trust_env=False).json()["everything"] is True
    status = tool(dev, "sync_status")
    assert status["structuredContent"]["everything"] is True
    assert SHOWN in status["content"][0]["text"]
    client = {"name": "test", "version": "1"}
    hello = call(dev, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    assert "unpublished files included" in hello["instructions"]


def test_no_commit_is_named_that_the_user_does_not_have_and_no_day_of_the_copy(dev: Serving) -> None:
    shown = page(dev, "/d/file/slugs")
    assert "Cite this page" in shown
    assert "commit" not in shown
    assert "Last changed" not in shown


def test_a_note_that_says_that_it_is_private_stays_so(dev: Serving, vault: Path) -> None:
    (vault / "Shed.md").write_text("---\npublish: false\n---\nThe key is under the zinnia pot.\n", encoding="utf-8")
    (vault / "Half.md").write_text("---\ndraft: true\n---\nHalf a thought about zinnia.\n", encoding="utf-8")
    (vault / "Marrow.md").write_text("A marrow of nine pounds.\n", encoding="utf-8")
    wait(lambda: "Marrow" in found(dev.url, "marrow of nine pounds"), EDIT_SECONDS)
    assert "Marrow" in found(dev.url, "marrow of nine pounds"), dev.output
    assert not {"Shed", "Half"} & set(found(dev.url, "zinnia"))
    assert httpx.get(f"{dev.url}/d/file/shed", timeout=60, trust_env=False).status_code == 404
    for name in ("Shed", "Half", "Marrow"):
        (vault / f"{name}.md").unlink()


def test_a_proposal_is_listed_and_put_into_the_folder_by_hand(dev: Serving, vault: Path, data: Path) -> None:
    named = ("--data", str(data))
    assert "Nothing is proposed" in commonplace("proposals", *named).stdout
    made = tool(dev, "create_draft", title="Garlic", contentType="article", content="Planted in October.")
    path = made["structuredContent"]["path"]
    listed = commonplace("proposals", *named)
    assert listed.returncode == 0, listed.stderr
    assert re.search(rf"^1 .*{re.escape(path)} +no *$", listed.stdout, re.MULTILINE), listed.stdout
    refused = separately("proposals", "apply", "1", *named)
    assert refused.returncode == 1
    assert "+Planted in October." in refused.stdout
    assert not (vault / path).exists()
    applied = commonplace("proposals", "apply", "1", "--yes", *named)
    assert applied.returncode == 0, applied.stderr
    assert "to publish it: `publish: true`" in applied.stdout
    assert "Planted in October." in (vault / path).read_text(encoding="utf-8")
    assert re.search(r" +yes *$", commonplace("proposals", *named).stdout, re.MULTILINE)
    assert "in the folder already" in commonplace("proposals", "apply", "1", "--yes", *named).stdout


def test_a_proposal_overwrites_nothing_and_leaves_the_folder_never(dev: Serving, vault: Path, data: Path) -> None:
    named = ("--data", str(data))
    made = tool(dev, "create_draft", title="Leeks", contentType="article", content="Under the fleece.")
    path, number = made["structuredContent"]["path"], "2"
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    (vault / path).write_text("My own leeks.\n", encoding="utf-8")
    refused = separately("proposals", "apply", number, "--yes", *named)
    assert refused.returncode == 1
    assert "is there already; nothing was written" in refused.stderr
    assert (vault / path).read_text(encoding="utf-8") == "My own leeks.\n"
    (vault / path).unlink()
    elsewhere = data.parent / "elsewhere"
    (vault / path).parent.rename(elsewhere)
    (vault / path).parent.symlink_to(elsewhere)
    refused = separately("proposals", "apply", number, "--yes", *named)
    assert refused.returncode == 1
    assert "A symbolic link is on the way" in refused.stderr
    assert not (elsewhere / Path(path).name).exists()
    (vault / path).parent.unlink()
    elsewhere.rename((vault / path).parent)
    unknown = separately("proposals", "apply", "77", *named)
    assert "There is no proposal 77" in unknown.stderr


def test_a_repository_elsewhere_is_served_by_its_address_and_a_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Clone(tmp_path / "far" / "garden")
    theirs.write("README.md", document("The far garden", "Far away.\n"))
    theirs.write("notes/a.md", document("A"))
    head = theirs.commit("Start", at="2021-03-04T05:06:07Z")
    url = theirs.folder.as_uri()
    with serving(url) as dev:
        assert f"ready: {dev.url} (fetched again at each start; Ctrl-C ends it)" in dev.output
        assert "<h1>The far garden</h1>" in page(dev, "/")
        assert "4 March 2021" in page(dev, "/")
        assert f"(commit {head[:12]})" in page(dev, "/d/file/a")
    near = Clone(tmp_path / "kelp" / "garden")
    near.write("index.md", document("Near"))
    near.commit("Start")
    monkeypatch.chdir(tmp_path)
    done = separately("dev", "--once", "kelp/garden")
    assert done.returncode == 0, done.stderr
    assert "Shows 1 of 1 file" in done.stdout


def test_every_command_of_the_page_runs(dev: Serving, vault: Path, data: Path, tmp_path: Path) -> None:
    theirs = Clone(tmp_path / "notes.git")
    theirs.write("README.md", document("Theirs"))
    theirs.commit("Start")
    tool(dev, "create_draft", title="Parsnips", contentType="article", content="After the first frost.")
    for command in commands(ROOT / "docs" / "start" / "your-notes.md"):
        name, *rest = command.words[1:]
        here = [str(vault) if word == "~/Notes" else word for word in rest]
        words = [theirs.folder.as_uri() if "/name" in word or "://" in word else word for word in here]
        match name:
            case "dev":
                done = separately("dev", "--once", *words)
            case "proposals":
                done = separately("proposals", *words, *(["--yes"] if words else []), "--data", str(data))
            case _:
                done = separately(name, *words)
        failed = done.returncode != (1 if name == "validate" else 0) and "in the folder already" not in done.stdout
        assert not failed, (command, done.stdout, done.stderr)
