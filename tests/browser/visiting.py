"""One person's browser, and what went on in it that nobody sees."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from tests.browser.wallet import Wallet

SECONDS = 60
"""The first sign-in of a process loads what judges signatures, and a busy machine starts functions slowly."""
expect.set_options(timeout=SECONDS * 1_000)
REPEATED = ("content-type", "cookie", "origin", "x-commonplace-page")
VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`violated: ${event.effectiveDirective} ${event.blockedURI}`), true);"""


@dataclass(frozen=True)
class Sent:
    """A request to be sent again."""

    post_data: str
    headers: dict[str, str]


@dataclass
class Visit:
    """A page, its wallet, and notes of every request and complaint."""

    page: Page
    context: BrowserContext
    wallet: Wallet | None
    home: frozenset[str]
    requests: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def go(self, url: str) -> None:
        self.page.goto(url)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name).click()

    def sign_in(self, wallet: str = "Test Wallet") -> None:
        self.press(wallet)

    def verified(self) -> "Sent":
        """Signs in; the request by which that was done, as it went out with its cookies."""
        with self.page.expect_request("**/siwe/verify") as going:
            self.sign_in()
        headers = {name: value for name, value in going.value.all_headers().items() if name in REPEATED}
        return Sent(going.value.post_data or "", headers)

    def heading(self, text: str) -> None:
        """Waits for it."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)

    def told(self, text: str) -> None:
        """Waits until the page says so, where screen readers hear it."""
        expect(self.page.get_by_role("status")).to_have_text(text)

    def asked(self, path: str) -> int:
        """How many requests went to this path."""
        return sum(urlsplit(url).path == path for url in self.requests)

    def check(self) -> None:
        """Nothing was violated, broke, or was asked for elsewhere."""
        elsewhere = [url for url in self.requests if _origin(url) not in self.home]
        assert (self.violations, self.errors, elsewhere) == ([], [], [])


@contextmanager
def visiting(browser: Browser, wallet: Wallet | None, *, at: Sequence[str], **context: Any) -> Iterator[Visit]:
    """A browser without cookies; `at` are URLs of the origins where it may ask."""
    own = browser.new_context(**context)
    own.set_default_timeout(SECONDS * 1_000)
    try:
        own.add_init_script(VIOLATIONS)
        if wallet is not None:
            wallet.install(own)
        page = own.new_page()
        visit = Visit(page, own, wallet, frozenset(_origin(url) for url in at))
        own.on("request", lambda request: _note(visit, request))
        page.on("console", lambda message: _complaint(visit, message.text))
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        yield visit
    finally:
        own.close()


def _note(visit: Visit, request: Request) -> None:
    if not request.url.startswith("data:"):
        visit.requests.append(request.url)


def _complaint(visit: Visit, text: str) -> None:
    if text.startswith("violated:") or "Content Security Policy" in text:
        visit.violations.append(text)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
