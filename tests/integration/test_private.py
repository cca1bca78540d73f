"""A deployment for members alone, on the laptop cloud: what a stranger, a guest and a member get."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from commonplace_local.cli.smoke.checks import CHECKS
from commonplace_local.cli.smoke.site import Site, run
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.integration.running_dev import garden
from tests.members_template import for_members

pytestmark = pytest.mark.laptop

HTML = {"accept": "text/html"}
SECRET = re.compile("crabs", re.IGNORECASE)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}},
}


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    folder = tmp_path_factory.mktemp("private")
    with Laptop(clone(garden(folder / "clone").folder), folder / "data", template=for_members()) as laptop:
        laptop.push()
        laptop.wait()
        yield laptop


class Browser:
    """Keeps cookies, those for TLS alone included: this machine counts as safe."""

    def __init__(self, url: str) -> None:
        self._url, self._cookies = url, dict[str, str]()

    def get(self, path: str) -> httpx.Response:
        return self._kept(httpx.get(f"{self._url}{path}", headers=self._sent(), timeout=60, trust_env=False))

    def sign_in(self, name: str, path: str) -> httpx.Response:
        """As the local account; what `path` leads to."""
        page = self.get(self.get(path).headers["location"])
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text)) | {"account": name}
        sent = self._sent() | {"origin": self._url}
        url = f"{self._url}/account/local"
        answer = self._kept(httpx.post(url, data=fields, headers=sent, timeout=60, trust_env=False))
        assert urlsplit(answer.headers["location"]).path == path
        return self.get(answer.headers["location"])

    def _sent(self) -> dict[str, str]:
        return HTML | {"cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}

    def _kept(self, answer: httpx.Response) -> httpx.Response:
        for each in answer.headers.get_list("set-cookie"):
            name, _, value = each.partition(";")[0].partition("=")
            self._cookies[name] = value
        return answer


def test_a_stranger_is_sent_to_sign_in_and_programs_are_refused(laptop: Laptop) -> None:
    assert laptop.indexed()
    with httpx.Client(base_url=laptop.url, timeout=60, trust_env=False) as http:
        for path in ("/", "/search?q=crabs", "/d/article/crabs", "/connect", "/nothing"):
            answer = http.get(path, headers=HTML)
            assert (answer.status_code, answer.headers["cache-control"]) == (303, "private, no-store"), path
        for path in ("/feed.xml", "/sitemap.xml", "/feed.json", "/llms.txt", "/llms-full.txt", "/openapi.json"):
            assert http.get(path).status_code == 401, path
        for path in ("/entries", "/search?q=crabs", "/entries/article/crabs", "/manifest", "/graph"):
            answer = http.get(f"/api/v1{path}")
            assert answer.status_code == 401, path
            assert "resource_metadata=" in answer.headers["www-authenticate"]
            assert not SECRET.search(answer.text)
        refused = http.post("/mcp", json=HELLO, headers={"accept": "application/json, text/event-stream"})
        assert refused.status_code == 401
        assert http.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
        assert http.get("/health").json() == {"status": "ok"}
        for path in ("/assets/crabs", "/assets/article/crabs", "/robots.txt", "/assets/site.css"):
            for method in ("GET", "HEAD", "POST"):
                page = http.request(method, path)
                assert not SECRET.search(page.text) and "commit" not in page.text.lower(), (method, path)


def test_a_member_reads_what_they_asked_for_after_signing_in(laptop: Laptop) -> None:
    browser = Browser(laptop.url)
    page = browser.sign_in("ada", "/d/article/crabs")
    assert (page.status_code, page.headers["cache-control"]) == (200, "private, no-store")
    assert "Crabs walk sideways." in page.text
    found = browser.get("/search?q=crabs")
    assert (found.status_code, "/d/article/crabs" in found.text) == (200, True)
    assert json.loads(browser.get("/api/v1/entries").text)["total"] == 2
    assert browser.get("/feed.xml").status_code == 200


def test_a_guest_is_told_that_it_is_for_members(laptop: Laptop) -> None:
    page = Browser(laptop.url).sign_in("guest", "/d/article/crabs")
    assert page.status_code == 403
    assert "This knowledge base is for accounts of the tier member." in page.text
    assert "sideways" not in page.text
    home = Browser(laptop.url).sign_in("guest", "/console").text
    assert "This knowledge base is for accounts of the tier member." in home
    assert "<li>Nothing yet</li>" in home
    assert "Everybody may read" not in home


def test_smoke_finds_a_deployment_for_members_sound(laptop: Laptop) -> None:
    findings = {each.name: each for each in run(Site(laptop.url, None, 30), CHECKS)}
    assert {name: each.detail for name, each in findings.items() if each.outcome == "failed"} == {}
    assert findings["site"].detail == "for members: leads to the sign-in"
    assert {findings[name].detail for name in ("llms.txt", "search", "mcp", "tools")} == {"for members: 401"}
    assert findings["challenge"].outcome == "ok"
