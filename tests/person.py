"""A person at a browser without a screen: signs in with a wallet of its own, and answers what a client asks for."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx

PAGE = {"x-commonplace-page": "1", "accept": "application/json"}


@dataclass
class Wallet:
    """An account that nobody but the tests has."""

    key: str

    @property
    def address(self) -> str:
        return str(self._account.address)

    def sign(self, text: str) -> str:
        from eth_account.messages import encode_defunct

        signature: bytes = self._account.sign_message(encode_defunct(text=text)).signature
        return "0x" + bytes(signature).hex()

    @property
    def _account(self) -> Any:
        from eth_account import Account

        return Account.from_key(self.key)


def wallet(number: int) -> Wallet:
    """One of many."""
    return Wallet(f"0x{number:064x}")


@dataclass
class Person:
    """Keeps cookies as a browser does that takes loopback addresses for safe."""

    wallet: Wallet
    cookies: dict[str, str] = field(default_factory=dict)
    seen: list[httpx.Response] = field(default_factory=list)
    client: Callable[[], Any] = lambda: httpx.Client(trust_env=False, timeout=60)
    """An HTTP client for one request."""

    def get(self, url: str, **headers: str) -> httpx.Response:
        return self._ask("GET", url, headers=headers)

    def post(self, url: str, *, form: list[tuple[str, str]] | None = None, json: Any = None) -> httpx.Response:
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        content = {"data": _form(form)} if form is not None else {"json": json}
        return self._ask("POST", url, headers={**PAGE, "origin": origin, "sec-fetch-site": "same-origin"}, **content)

    def sign_in(self, base: str, handle: str = "") -> httpx.Response:
        """Signs the server's text. `handle` says what for; empty is the page of connected apps."""
        query = {"address": self.wallet.address} | ({"state": handle} if handle else {})
        challenge = self._ask("GET", f"{base}/siwe/nonce?{httpx.QueryParams(query)}", headers=PAGE)
        assert challenge.status_code == 200, challenge.text
        told = challenge.json()
        answer = {"id": told["id"], "signature": self.wallet.sign(told["message"])}
        return self.post(f"{base}/siwe/verify", json=answer | ({"stateId": handle} if handle else {}))

    def open(self, url: str) -> "Page":
        """A page of the authorization server, or where it leads to at once."""
        return Page(self.get(url))

    def decide(self, url: str, *, allow: bool = True, scopes: Collection[str] | None = None) -> str:
        """From the client's address to the one that the client waits at. `scopes` are those that stay ticked."""
        page = self.open(url)
        if page.leads_to:
            return page.leads_to
        assert page.status == 200, page.text
        base = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        if page.handle:
            signed = self.sign_in(base, page.handle)
            assert signed.status_code == 200, signed.text
            page = self.open(url)
            if page.leads_to:
                return page.leads_to
        fields = [pair for pair in page.fields if pair[0] != "scope" or scopes is None or pair[1] in scopes]
        answer = self.post(urljoin(url, "/authorize"), form=[*fields, ("decision", "allow" if allow else "deny")])
        assert answer.status_code == 200, answer.text
        return str(answer.json()["redirectTo"])

    def _ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        headers: dict[str, str] = options.pop("headers", {})
        if self.cookies:
            headers = headers | {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        with self.client() as client:
            answer: httpx.Response = client.request(method, url, headers=headers, **options)
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                if morsel.value and morsel["max-age"] != "0":
                    self.cookies[name] = morsel.value
                else:
                    self.cookies.pop(name, None)
        self.seen.append(answer)
        return answer


class Page(HTMLParser):
    """What a person could read and tick."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__()
        self.status, self.text = answer.status_code, answer.text
        self.leads_to: str | None = answer.headers.get("location")
        self.handle: str | None = None
        """Of a request whose page asks for a sign-in."""
        self.fields: list[tuple[str, str]] = []
        self.feed(answer.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values: Mapping[str, str | None] = dict(attrs)
        if values.get("id") == "sign-in":
            self.handle = values.get("data-state")
        if tag == "input" and values.get("name") and "disabled" not in values:
            kind = values.get("type")
            if kind == "hidden" or (kind == "checkbox" and "checked" in values):
                self.fields.append((values["name"] or "", values.get("value") or ""))


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def _form(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped
