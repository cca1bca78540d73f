"""The accounts of a laptop on the sign-in page: a form that signs in without a script, and nobody else's browser."""

from urllib.parse import urlencode

import pytest
from httpx2 import Response

from commonplace.identity.local_accounts import LocalAccount
from tests.fakes.authorization_server import AuthorizationServer
from tests.unit.identity.oauth.pages.conftest import ISSUER, Browser, World, fields, path

ACCOUNTS = (LocalAccount("Ada", "member"), LocalAccount("Guest", "public"))
SESSION = "__Host-cp_session"


@pytest.fixture
def laptop() -> World:
    return World(AuthorizationServer(ISSUER, local=ACCOUNTS))


def choose(browser: Browser, page: Response, account: str = "ada", **changed: str) -> Response:
    """Presses the button of this account."""
    shown, _, _ = page.text.partition("</form>")
    sent = dict(fields(Response(200, text=shown))) | {"account": account} | changed
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": "null", "sec-fetch-site": "same-origin"}
    return browser.http.post("/account/local", content=urlencode(sent), headers=headers)


def test_whoever_chooses_an_account_is_signed_in_as_it(laptop: World) -> None:
    browser = laptop.browser()
    page = browser.get("/account")
    assert "Ada, member" in page.text
    assert "Guest, public" in page.text
    assert page.text.index("Guest, public") < page.text.index("With your wallet")
    answer = choose(browser, page)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    shown = browser.get("/account").text
    assert "<h1>Connected apps</h1>" in shown
    assert "<bdi>Ada</bdi>" in shown


def test_the_sign_in_is_recorded_with_its_tier(laptop: World) -> None:
    browser = laptop.browser()
    choose(browser, browser.get("/account"))
    (record,) = [one for one in laptop.server.audit.records if one.event == "signin"]
    assert (record.outcome, record.details["kind"], record.details["tier"]) == ("ok", "local", "member")
    assert "ada" not in record.subject


def test_a_clients_request_goes_on_after_the_choice(laptop: World) -> None:
    browser = laptop.browser()
    answer = choose(browser, browser.get(path(laptop.site)))
    asked = browser.get(answer.headers["location"])
    assert "Allow <bdi>Site app</bdi>" in asked.text
    browser.decide(asked)
    (grant,) = laptop.server.grants.all()
    assert set(grant.scopes) == {"knowledge:read", "knowledge:write"}


def test_a_request_of_another_browser_is_not_gone_on_with(laptop: World) -> None:
    asked = laptop.browser().get(path(laptop.site))
    other = laptop.browser()
    handle = dict(fields(asked))["handle"]
    answer = choose(other, other.get("/account"), stateId=handle)
    assert answer.status_code == 403
    assert SESSION not in other.http.cookies


@pytest.mark.parametrize(
    ("wanted", "leads_to"),
    [
        ("/console/sync?run=1", "/console/sync?run=1"),
        ("/", "/"),
        ("//evil.example", "/account"),
        ("/\\evil.example", "/account"),
        ("https://evil.example", "/account"),
        ("console", "/account"),
        ("/console\r\nset-cookie: a=b", "/account"),
    ],
)
def test_a_sign_in_leads_to_paths_of_this_site_alone(laptop: World, wanted: str, leads_to: str) -> None:
    browser = laptop.browser()
    page = browser.get(f"/account?{urlencode({'next': wanted})}")
    assert dict(fields(page))["next"] == leads_to
    assert choose(browser, page, next=wanted).headers["location"] == leads_to
    assert browser.get(f"/account?{urlencode({'next': wanted})}").headers["location"] == leads_to


def test_a_form_of_another_site_or_page_signs_nobody_in(laptop: World) -> None:
    browser = laptop.browser()
    page = browser.get("/account")
    shown = dict(fields(page)) | {"account": "ada"}
    own = {"content-type": "application/x-www-form-urlencoded", "origin": ISSUER, "sec-fetch-site": "same-origin"}
    for changed, headers in (
        ({}, {"origin": "https://evil.example"}),
        ({}, {"sec-fetch-site": "cross-site"}),
        ({"csrf": ""}, {}),
        ({"csrf": "0" * 64}, {}),
    ):
        answer = browser.http.post("/account/local", content=urlencode(shown | changed), headers=own | headers)
        assert answer.status_code == 403
    stranger = laptop.browser()
    assert stranger.http.post("/account/local", content=urlencode(shown), headers=own).status_code == 403
    assert not laptop.server.sign_ins.sessions


def test_an_account_that_is_not_there_is_refused(laptop: World) -> None:
    browser = laptop.browser()
    answer = choose(browser, browser.get("/account"), "eve")
    assert answer.status_code == 400
    assert "There is no such local account." in answer.text
    assert not laptop.server.sign_ins.sessions


def test_a_deployment_has_no_chooser_and_no_way_round_it(world: World, alice: Browser) -> None:
    page = alice.get("/account")
    assert "laptop" not in page.text
    assert "__Host-cp_local" not in page.headers.get("set-cookie", "")
    own = {"content-type": "application/x-www-form-urlencoded", "origin": ISSUER}
    answer = alice.http.post("/account/local", content="account=ada", headers=own)
    assert answer.status_code == 404
    assert not world.server.sign_ins.sessions
