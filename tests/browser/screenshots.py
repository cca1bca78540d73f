"""Takes the pictures of the documentation: `python -m tests.browser.screenshots`. They end up in docs/images."""

import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser, Page, expect

from commonplace.identity.records import Client
from commonplace.identity.wallets import Named
from tests.browser.chromium import browsing
from tests.browser.hosting import hosted
from tests.browser.reading import DRAWN, SAMPLE
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import TEST_WALLET, Wallet
from tests.fakes.authority import standing
from tests.fakes.authorization_server import AuthorizationServer
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import serving, started

FOLDER = Path(__file__).parents[2] / "docs/images"
PORT = 8787
KEY = "0x" + "a1" * 32
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}}
DESK: dict[str, Any] = {"viewport": {"width": 760, "height": 600}}
SITE = "https://assistant.example/oauth/client.json"
MAX_BYTES = 150_000
DAY_SECONDS = 86_400
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 720}}
SITE_PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "site-home": ("/", WIDE),
    "site-home-phone": ("/", {**PHONE, "color_scheme": "dark"}),
    "site-search": ("/search?q=tiide+pol", WIDE),
    "site-document": ("/d/study/the-whelks-of-lantern-cove", WIDE),
    "site-document-phone": ("/d/study/the-whelks-of-lantern-cove", {**PHONE, "color_scheme": "dark"}),
    "site-map": ("/map", {"viewport": {"width": 1280, "height": 640}}),
    "site-map-phone": ("/map", {**PHONE, "color_scheme": "dark"}),
    "site-not-found": ("/docs/pool-desk/how-record-are-checked", WIDE),
    "console-sync": ("/console/sync", WIDE),
    "console-why": ("/console/why?q=drafts/winter-survey-plan.md", WIDE),
}
"""Name of a picture -> page of the sample, and the browser that shows it."""

PAGE_TYPES = {
    "home": "/",
    "search": "/search?q=tiide+pol",
    "document": "/d/study/the-whelks-of-lantern-cove",
    "formulas": "/d/file/drawn",
    "list": "/types/pattern",
    "browse": "/types",
    "map": "/map",
    "connect": "/connect",
    "api": "/docs",
    "not-found": "/docs/pool-desk/how-record-are-checked",
    "console": "/console/sync",
    "chat": "/console/chat",
}
"""Name of a picture of four looks -> the page: at 390 and 1280 pixels, light and dark."""
HEIGHT = 430
"""Pixels of each look in such a picture."""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with hosted(PORT) as server, browsing() as browser:
        prepare(server)
        with opened(browser, server, **PHONE, color_scheme="light") as visit:
            visit.go(request(server, "desk"))
            take(visit.page, "sign-in-light")
        with opened(browser, server, **PHONE, color_scheme="dark") as visit:
            visit.go(request(server, "desk"))
            take(visit.page, "sign-in-dark")
            allow(visit, lambda: take(visit.page, "consent-phone"))
        server.clock.forward(DAY_SECONDS)
        with opened(browser, server, **DESK, color_scheme="light") as visit:
            visit.go(request(server, SITE))
            allow(visit, lambda: take(visit.page, "consent-desktop"))
            visit.go(f"{server.settings.issuer}/account")
            visit.heading("Connected apps")
            take(visit.page, "connected-apps")
    with TemporaryDirectory() as data, serving("--data", data) as dev, browsing() as browser:
        take_site(browser, dev.url, FOLDER)
    with TemporaryDirectory() as work:
        folder = Path(work)
        user = Clone(Path(shutil.copytree(SAMPLE, folder / "library")))
        user.write("drawn.md", document("Formulas and diagrams", DRAWN))
        user.commit("Draw")
        with started(user, folder / "data") as dev, browsing() as browser:
            take_looks(browser, dev.url, FOLDER)


def take_site(browser: Browser, url: str, folder: Path) -> None:
    """Every picture of the site, as a member sees it whom the laptop knows."""
    for name, (path, looks) in SITE_PICTURES.items():
        with visiting(browser, None, at=[url], **{"color_scheme": "light", **looks}) as visit:
            if path.startswith("/console"):
                visit.go(f"{url}/account")
                visit.press("Ada, member")
                visit.heading("Connected apps")
            visit.go(f"{url}{path}")
            take(visit.page, name, folder, full_page=False)
            visit.check()


def take_looks(browser: Browser, url: str, folder: Path) -> None:
    """A picture of each type of page in its four looks, side by side."""
    rows: dict[str, list[bytes]] = {name: [] for name in PAGE_TYPES}
    for viewport in ({"width": 390, "height": 844}, {"width": 1280, "height": 844}):
        for scheme in ("light", "dark"):
            with visiting(browser, None, at=[url], viewport=viewport, color_scheme=scheme) as visit:
                visit.go(f"{url}/account")
                visit.press("Ada, member")
                visit.heading("Connected apps")
                for name, path in PAGE_TYPES.items():
                    visit.go(f"{url}{path}")
                    if name == "formulas":
                        expect(visit.page.locator("details", has_text="Source of the diagram")).to_be_visible()
                    rows[name].append(visit.page.screenshot(animations="disabled"))
                visit.check()
    page = browser.new_page(viewport={"width": 1800, "height": HEIGHT})
    for name, looks in rows.items():
        shown = "".join(f'<img src="data:image/png;base64,{b64encode(look).decode()}">' for look in looks)
        style = f"body{{display:flex;gap:8px;margin:0;width:max-content}}img{{height:{HEIGHT}px}}"
        page.set_content(f"<style>{style}</style><body>{shown}</body>")
        file = folder / f"page-{name}.jpg"
        page.locator("body").screenshot(path=file, type="jpeg", quality=75)
        if (size := file.stat().st_size) > MAX_BYTES:
            raise ValueError(f"{file.name} has {size} bytes: more than {MAX_BYTES}")


def prepare(server: AuthorizationServer) -> None:
    """A member with a name, an app on her computer and an app of a web site."""
    address = Wallet(KEY).account
    server.standings.held[address] = standing("member")
    server.names.names[address] = Named(name="alice.eth")
    desk = Client(id="desk", name="Desk Notes", source="registered", redirect_uris=(f"{server.settings.issuer}/icon",))
    server.client_store.add_client(desk)
    site = Client(id=SITE, name="Assistant", source="document", redirect_uris=("https://assistant.example/callback",))
    server.client_store.keep_document(SITE, site, int(server.clock.now) + 2 * DAY_SECONDS)


@contextmanager
def opened(browser: Browser, server: AuthorizationServer, **context: Any) -> Iterator[Visit]:
    wallet = Wallet(KEY, announced=[TEST_WALLET | {"name": "Your wallet", "icon": ICON}])
    with visiting(browser, wallet, at=[server.settings.issuer], **context) as visit:
        visit.context.route("https://assistant.example/**", lambda route: route.fulfill(body="Back"))
        yield visit


def request(server: AuthorizationServer, client: str) -> str:
    issuer = server.settings.issuer
    back = f"{issuer}/icon" if client == "desk" else "https://assistant.example/callback"
    values = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": back,
        "resource": f"{issuer}/mcp",
        "scope": "knowledge:read knowledge:write knowledge:admin"
        if client == "desk"
        else "knowledge:read knowledge:write",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    }
    return f"{issuer}/authorize?{urlencode(values)}"


def allow(visit: Visit, look: Callable[[], None]) -> None:
    """Signs in, looks at the consent page, and allows."""
    visit.sign_in("Your wallet")
    expect(visit.page.get_by_role("button", name="Allow")).to_be_visible()
    look()
    with visit.page.expect_navigation():
        visit.press("Allow")


def take(page: Page, name: str, folder: Path = FOLDER, *, full_page: bool = True) -> None:
    expect(page.get_by_role("button").or_(page.get_by_role("heading")).first).to_be_visible()
    file = folder / f"{name}.png"
    page.screenshot(path=file, full_page=full_page, animations="disabled")
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{file.name} has {size} bytes: more than {MAX_BYTES}")


ICON = "data:image/svg+xml," + quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><rect width='24' height='24' rx='5' fill='#0b6e4f'/>"
    "<path d='M5 9h14v8H5zM14 12h5v2h-5z' fill='none' stroke='white' stroke-width='1.6'/></svg>"
)

if __name__ == "__main__":
    main()
