"""Connected apps: what a person sees, and ends."""

import pytest

from commonplace.identity.records import Grant
from tests.unit.identity.oauth.pages.conftest import ALICE, BOB, ISSUER, Browser, World, path


def connect(world: World, browser: Browser) -> Grant:
    """One app more; the grant that came of it."""
    known = {grant.id for grant in world.server.grants.all()}
    browser.decide(browser.consent_page(path(world.loopback)))
    return next(grant for grant in world.server.grants.all() if grant.id not in known)


def test_nobody_sees_anything_without_signing_in(alice: Browser) -> None:
    assert "<h1>Sign in</h1>" in alice.get("/account").text
    answer = alice.get("/account/grants")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")
    assert alice.ask("/account/revoke", {"grant": "all"}).status_code == 401


def test_a_person_sees_their_apps(world: World, alice: Browser) -> None:
    grant = connect(world, alice)
    world.server.grants.touch(grant.id, int(world.server.clock.now) + 600, "203.0.113.9")
    page = " ".join(alice.get("/account").text.split())
    for told in (
        "<bdi>Desk app</bdi>",
        "127.0.0.1",
        "Search and read the knowledge base",
        "read and act",
        "203.0.113.9",
    ):
        assert told in page
    assert "15 January 2027, 08:00 UTC" in page


def test_programs_of_ours_get_the_same_as_json(world: World, alice: Browser) -> None:
    grant = connect(world, alice)
    (told,) = alice.get("/account/grants").json()["grants"]
    assert told == {
        "id": grant.id,
        "client": {
            "id": "loopback",
            "name": "Desk app",
            "redirectHost": "127.0.0.1",
            "source": "registered",
            "imitates": None,
        },
        "resource": f"{ISSUER}/mcp",
        "scopes": ["knowledge:read", "knowledge:write"],
        "permission": "action",
        "resourceScopes": None,
        "createdAt": "2027-01-15T08:00:00Z",
        "expiresAt": "2027-07-14T08:00:00Z",
        "lastUsedAt": "2027-01-15T08:00:00Z",
        "lastUsedFrom": "testclient",
    }


def test_one_app_is_disconnected(world: World, alice: Browser) -> None:
    first, second = connect(world, alice), connect(world, alice)
    answer = alice.ask("/account/revoke", {"grant": first.id})
    assert answer.json() == {"revoked": 1}
    assert [grant.id for grant in world.server.grants.all()] == [second.id]


def test_all_apps_are_disconnected(world: World, alice: Browser) -> None:
    connect(world, alice)
    connect(world, alice)
    connect(world, bob := world.browser(BOB))
    assert alice.ask("/account/revoke", {"grant": "all"}).json() == {"revoked": 2}
    assert len(bob.get("/account/grants").json()["grants"]) == 1


def test_nobody_disconnects_the_apps_of_others(world: World, alice: Browser) -> None:
    grant = connect(world, alice)
    bob = world.browser(BOB)
    bob.sign_in()
    assert bob.ask("/account/revoke", {"grant": grant.id}).status_code == 404
    assert grant.id not in bob.get("/account").text
    assert world.server.grants.grant(grant.id).revoked_at is None  # type: ignore[union-attr]


def test_an_app_that_was_disconnected_is_asked_for_again(world: World, alice: Browser) -> None:
    alice.decide(alice.consent_page(path(world.site)))
    assert alice.get(path(world.site)).status_code == 302
    alice.ask("/account/revoke", {"grant": "all"})
    assert alice.get(path(world.site)).status_code == 200


@pytest.mark.parametrize("where", ["/account/revoke", "/account/signout", "/oidc/start"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example", "x-commonplace-page": "1"},
        {"origin": "null", "x-commonplace-page": "1"},
        {"sec-fetch-site": "same-site", "x-commonplace-page": "1"},
        {"origin": ISSUER},
    ],
)
def test_no_other_site_can_have_it_done(world: World, alice: Browser, where: str, headers: dict[str, str]) -> None:
    connect(world, alice)
    answer = alice.http.post(where, json={"grant": "all"}, headers=headers)
    assert answer.status_code == 403
    assert len(list(world.server.grants.all())) == 1
    assert "<h1>Connected apps</h1>" in alice.get("/account").text


def test_a_form_cannot_have_it_done(world: World, alice: Browser) -> None:
    connect(world, alice)
    answer = alice.http.post("/account/revoke", data={"grant": "all"}, headers={"x-commonplace-page": "1"})
    assert answer.status_code == 400
    assert len(list(world.server.grants.all())) == 1


@pytest.mark.parametrize("grant", [None, "", 7, ["all"], "0" * 64, "x" * 10_000])
def test_what_names_no_grant_is_refused(alice: Browser, grant: object) -> None:
    alice.sign_in()
    assert alice.ask("/account/revoke", {"grant": grant}).status_code in (400, 404)


def test_signing_out_ends_the_session_for_good(world: World, alice: Browser) -> None:
    alice.sign_in()
    cookie = alice.http.cookies["__Host-cp_session"]
    answer = alice.ask("/account/signout", {})
    assert "Max-Age=0" in answer.headers["set-cookie"]
    alice.http.cookies.set("__Host-cp_session", cookie)
    assert "<h1>Sign in</h1>" in alice.get("/account").text
    assert not world.server.sign_ins.sessions


def test_apps_can_be_disconnected_while_no_chain_answers(world: World, alice: Browser) -> None:
    connect(world, alice)
    world.server.standings.down = world.server.check.down = True
    assert "<h1>Connected apps</h1>" in alice.get("/account").text
    assert alice.ask("/account/revoke", {"grant": "all"}).json() == {"revoked": 1}


def test_names_of_apps_are_escaped(world: World) -> None:
    browser = world.browser(ALICE)
    world.loopback = world.client("bad", '"><script>x</script>', "http://localhost/cb")
    connect(world, browser)
    page = browser.get("/account").text
    assert "<script>x" not in page
    assert "&#34;&gt;&lt;script&gt;x&lt;/script&gt;" in page
