"""The sites of build-a-site.md, as the page has them, over the sample: built, and opened in a real browser."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import Browser, expect

from commonplace_local.knowledge_folder import SAMPLE
from tests.browser.visiting import visiting
from tests.conformance.mcp import clients
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import EDIT_SECONDS, Dev, started, wait
from tests.unit.docs.pages import ROOT, tokens

PAGE = ROOT / "docs" / "agents" / "build-a-site.md"
PACKAGES = Path(__file__).parent / "sites"
LOCAL = "http://127.0.0.1:8787"

pytestmark = [pytest.mark.laptop, pytest.mark.node]


def files() -> dict[str, str]:
    """Name -> text of every file that the page shows: a block's is what the paragraph before it ends with."""
    named = [one for one in tokens(PAGE) if one.type in ("inline", "fence")]
    found = ((re.search(r"`([^`]+)`:$", before.content), block) for before, block in pairwise(named))
    return {name[1]: block.content for name, block in found if name and block.type == "fence"}


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    folder = tmp_path_factory.mktemp("sites")
    user = Clone(folder / "knowledge-base")
    shutil.copytree(SAMPLE, user.folder, dirs_exist_ok=True)
    user.commit("The sample")
    with started(user, folder / "data") as running:
        yield running


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of a server of these files, on a port of its own: another origin than the API's."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def astro(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clients.Clients]:
    """The packages; its home is a project beside them, with the files of the page."""
    folder = ROOT / ".tools" / "sites"
    project = folder / tmp_path_factory.mktemp("astro").name
    packages = clients.or_skipped(project, PACKAGES, folder)
    for name, text in files().items():
        if name.startswith("src/"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text, encoding="utf-8")
    (project / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    yield packages
    shutil.rmtree(project)


def built(astro: clients.Clients, dev: Dev) -> Path:
    told = astro.run("astro/bin/astro.mjs", "build", KNOWLEDGE=dev.url, ASTRO_TELEMETRY_DISABLED="1")
    assert told.returncode == 0, told.stdout + told.stderr
    return astro.home / "dist"


def pages_of(site: Path) -> set[str]:
    return {page.parent.relative_to(site).as_posix() for page in site.rglob("index.html")}


def published(dev: Dev) -> set[str]:
    listed = httpx.get(f"{dev.url}/api/v1/manifest").json()["documents"]
    return {f"{one['contentType']}/{one['id']}" for one in listed}


def test_the_page_shows_the_version_that_is_tried() -> None:
    pinned = json.loads((PACKAGES / "package.json").read_text(encoding="utf-8"))["dependencies"]["astro"]
    assert f"npm install astro@{pinned}\n" in PAGE.read_text(encoding="utf-8")


def test_astro_makes_a_page_of_every_document(browser: Browser, dev: Dev, astro: clients.Clients) -> None:
    site = built(astro, dev)
    assert pages_of(site) == published(dev) | {"."}
    with served(site) as url, visiting(browser, None, at=[url, dev.url]) as visit:
        visit.go(url)
        visit.heading("What we know")
        visit.page.get_by_role("link", name="Lantern Cove", exact=True).click()
        visit.heading("Lantern Cove")
        picture = visit.page.get_by_role("img").first
        expect(picture).to_have_js_property("complete", value=True)
        assert picture.evaluate("image => image.naturalWidth") > 0
        inside = visit.page.locator("main a, body a").evaluate_all("links => links.map((link) => link.href)")
        assert [one for one in inside if one.startswith(f"{dev.url}/d/")] == []
        visit.check()


def test_what_has_changed_is_in_the_next_build(dev: Dev, astro: clients.Clients) -> None:
    built(astro, dev)
    added, removed = "docs/limpets.md", next(iter(sorted(dev.user.folder.rglob("lantern-cove.md"))))
    dev.user.write(added, document("Of limpets", "Limpets come home.\n", type="article"))
    removed.unlink()
    wait(lambda: "article/limpets" in published(dev), EDIT_SECONDS)
    site = built(astro, dev)
    assert pages_of(site) == published(dev) | {"."}
    assert "Limpets come home." in (site / "article/limpets/index.html").read_text(encoding="utf-8")
    assert not (site / "place/lantern-cove").exists()


def test_a_page_of_plain_javascript_lists_searches_and_shows(browser: Browser, dev: Dev, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(files()["index.html"].replace(LOCAL, dev.url), encoding="utf-8")
    with served(tmp_path) as url, visiting(browser, None, at=[url, dev.url]) as visit:
        visit.go(url)
        expect(visit.page.get_by_role("heading", level=2)).to_have_count(20)
        visit.page.get_by_label("Search").fill("number every pool")
        visit.press("Search")
        visit.page.get_by_role("link", name="A number for every pool").click()
        visit.heading("A number for every pool")
        expect(visit.page.get_by_role("article")).to_contain_text("Numbers are never used twice.")
        visit.go(f"{url}?document=pattern/nothing")
        expect(visit.page.get_by_role("alert")).to_have_text("This cannot be shown: There is no such document.")
        visit.check()
