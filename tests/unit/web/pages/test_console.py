"""The console's frame: session, right, form, record, in this order."""

from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

from commonplace.identity.authorization import Need
from commonplace.identity.records import SESSION_SECONDS
from commonplace.identity.sessions import COOKIE
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.web.pages.declaration import Action, ConsolePage, ConsolePages, Done, View, Visit
from tests.console_app import ORIGIN, Browser, Deployment
from tests.fakes.authority import ALICE, BOB, standing
from tests.fakes.identity_stores import MemoryAudit

MEMBERS = Need("member", "knowledge:write")
OPERATORS = Need("member", "knowledge:admin")

BEDS = """{% extends "console.html" %}
{% block page %}
<h1>Beds</h1>
<p id="wrong">{{ wrong }}</p>
<form method="post"><input type="hidden" name="csrf" value="{{ csrf }}"><input name="bed">
<button name="action" value="water">Water</button></form>
{% endblock %}
"""


class Links(HTMLParser):
    """Addresses and texts of the console's menu."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "nav":
            self._inside = given.get("aria-label") == "Console"
        if tag == "a" and self._inside:
            self.found.append(str(given["href"]))

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "nav"


@dataclass
class Beds:
    """A capability with pages, and what was done on them."""

    folder: Path
    watered: list[str] = field(default_factory=list)
    shown: int = 0

    def pages(self) -> ConsolePages:
        (self.folder / "beds.html").write_text(BEDS, encoding="utf-8")
        home = ConsolePage(path="", title="You", show=self._show)
        beds = ConsolePage(
            path="beds",
            title="Beds",
            show=self._show,
            need=MEMBERS,
            actions={
                "water": Action(self._water, recorded=("bed",)),
                "dig": Action(self._water, need=OPERATORS),
                "break": Action(self._break),
            },
            messages={"watered": "The bed has been watered."},
        )
        single = ConsolePage(path="beds/{bed}", title="One bed", show=self._show, need=MEMBERS)
        keys = ConsolePage(path="keys", title="Keys", show=self._show, need=OPERATORS)
        return ConsolePages(pages=[beds, single, keys, home], templates=self.folder)

    async def _show(self, visit: Visit) -> View:
        self.shown += 1
        return View("beds.html", {"wrong": visit.request.path_params.get("bed", "")})

    async def _water(self, visit: Visit) -> Done | View:
        bed = visit.value("bed")
        if bed == "rose":
            raise Conflict("The roses are full.")
        if not bed:
            return View("beds.html", {"wrong": "Name a bed."}, 422)
        self.watered.append(bed)
        return Done("watered", {"bed": bed})

    async def _break(self, visit: Visit) -> Done:
        raise ZeroDivisionError("a secret detail")


@pytest.fixture
def beds(tmp_path: Path) -> Beds:
    return Beds(tmp_path)


@pytest.fixture
def garden(beds: Beds) -> Deployment:
    made = Deployment(lambda _: [beds.pages()])
    made.standings.held[ALICE] = standing("member")
    return made


@pytest.fixture
def alice(garden: Deployment) -> Browser:
    return garden.browser()


def records(garden: Deployment) -> list[AuditRecord]:
    assert isinstance(garden.audit, MemoryAudit)
    return garden.audit.records


# ---- sessions


@pytest.mark.parametrize("path", ["/console", "/console/beds", "/console/beds/one", "/console/keys?of=shed&x=1"])
def test_nobody_is_sent_to_sign_in_and_back(garden: Deployment, beds: Beds, path: str) -> None:
    answer = garden.browser(None).get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/account?next={quote(path, safe='')}")
    assert answer.headers["cache-control"] == "private, no-store"
    assert beds.shown == 0


@pytest.mark.parametrize(
    "path",
    [
        "/console//evil.example",
        "/console/%2e%2e/evil",
        "/console/\\evil.example",
        "//evil.example/console",
        "/console%0d%0a",
    ],
)
def test_no_address_leads_elsewhere(garden: Deployment, path: str) -> None:
    answer = garden.browser(None).get(path)
    where = answer.headers.get("location", "")
    assert answer.status_code == 404 or where.startswith("/account?next=%2Fconsole")
    assert "evil" not in where or where.startswith("/account?next=%2Fconsole%2F")


def test_a_session_ends_after_twelve_hours(garden: Deployment, alice: Browser) -> None:
    garden.clock.forward(SESSION_SECONDS - 1)
    assert alice.get("/console/beds").status_code == 200
    garden.clock.forward(1)
    assert alice.get("/console/beds").status_code == 303


@pytest.mark.parametrize("cookie", ["", "cpn_guessed", "x" * 5_000, "\u00fc"])
def test_a_cookie_that_is_no_session_is_nobody(garden: Deployment, cookie: str) -> None:
    stranger = garden.browser(None)
    answer = stranger.http.get("/console", headers={b"cookie": f"{COOKIE}={cookie}".encode("latin-1")})
    assert answer.status_code == 303


def test_a_session_that_was_ended_elsewhere_is_nobody(garden: Deployment, alice: Browser) -> None:
    garden.browser(ALICE)
    assert alice.post("/console/signout").status_code == 303
    assert alice.get("/console").status_code == 303


def test_a_record_under_another_cookie_opens_nothing(garden: Deployment, alice: Browser) -> None:
    """Whoever can write to the table still cannot read, or become, somebody: the profile is under the cookie."""
    bob = garden.browser(BOB)
    theirs = next(one for one in garden.sign_ins.sessions.values() if one.hash != _hash(bob))
    garden.sign_ins.put_session(replace(theirs, hash=_hash(bob)))
    assert bob.get("/console").status_code == 303


def test_a_store_that_does_not_answer_lets_nobody_in(garden: Deployment, alice: Browser, beds: Beds) -> None:
    garden.sign_ins.session = _unavailable  # type: ignore[method-assign,assignment]
    assert alice.get("/console/beds").status_code == 503
    assert alice.post("/console/beds", {"action": "water", "bed": "iris"}).status_code == 503
    assert (beds.shown, beds.watered) == (0, [])


def test_a_bearer_token_is_of_no_use(garden: Deployment) -> None:
    assert garden.browser(None).get("/console", authorization="Bearer x").status_code == 303


# ---- rights


def test_the_menu_shows_what_the_person_may(garden: Deployment, alice: Browser) -> None:
    assert Links(alice.get("/console").text).found == ["/console", "/console/beds", "/account"]
    garden.standings.held[ALICE] = standing("member", "knowledge:admin")
    assert Links(alice.get("/console").text).found == ["/console", "/console/beds", "/console/keys", "/account"]
    garden.standings.held[ALICE] = standing("public")
    assert Links(alice.get("/console").text).found == ["/console", "/account"]


def test_who_lacks_the_tier_is_told_how_to_get_it(garden: Deployment, beds: Beds) -> None:
    answer = garden.browser(BOB).get("/console/beds")
    assert answer.status_code == 403
    assert "wear the hat 30.3.5 (member)" in answer.text
    assert beds.shown == 0


def test_who_lacks_the_scope_is_refused_and_recorded(garden: Deployment, alice: Browser) -> None:
    answer = alice.get("/console/keys")
    assert answer.status_code == 403
    assert "No role of this deployment gives access." in answer.text
    (told,) = garden.denied.records
    assert (told.reason, told.client, dict(told.details)) == ("scope", "console", {"scope": "knowledge:admin"})
    assert ALICE not in repr(told)


def test_a_role_that_is_gone_is_gone_with_the_next_request(garden: Deployment, alice: Browser, beds: Beds) -> None:
    assert alice.get("/console/beds").status_code == 200
    garden.standings.held[ALICE] = standing("public")
    assert alice.get("/console/beds").status_code == 403
    assert alice.post("/console/beds", {"action": "water", "bed": "iris"}).status_code == 403
    assert beds.watered == []


def test_while_roles_cannot_be_read_nobody_is_more_than_the_public(
    garden: Deployment, alice: Browser, beds: Beds
) -> None:
    garden.standings.down = True
    assert alice.get("/console").status_code == 200
    assert Links(alice.get("/console").text).found == ["/console", "/account"]
    assert alice.get("/console/beds").status_code == 503
    assert alice.post("/console/beds", {"action": "water", "bed": "iris"}).status_code == 503
    assert beds.watered == []


def test_nothing_that_a_browser_sends_gives_a_right(garden: Deployment) -> None:
    bob = garden.browser(BOB)
    for query in ("?tier=member", "?scope=knowledge:admin", "?roles=member"):
        assert (
            bob.get(f"/console/beds{query}", **{"x-tier": "member", "x-scopes": "knowledge:admin"}).status_code == 403
        )


# ---- actions


def test_an_action_is_done_and_the_page_says_so_once(garden: Deployment, alice: Browser, beds: Beds) -> None:
    answer = alice.post("/console/beds", {"action": "water", "bed": "iris"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/beds?bed=iris&done=watered")
    assert beds.watered == ["iris"]
    assert "The bed has been watered." in alice.get(answer.headers["location"]).text
    assert "The bed has been watered." not in alice.get("/console/beds?done=<b>words</b>").text


def test_an_action_is_recorded_by_the_names_of_things(garden: Deployment, alice: Browser) -> None:
    alice.post("/console/beds", {"action": "water", "bed": "iris", "note": "private words"})
    (told,) = records(garden)
    assert (told.event, told.outcome, told.organisation, told.client) == ("console", "ok", "default", "console")
    assert dict(told.details) == {"page": "beds", "action": "water", "form.bed": "iris"}
    assert ALICE not in repr(told)
    assert "private" not in repr(told)


def test_an_action_that_fails_is_recorded_as_such(garden: Deployment, alice: Browser) -> None:
    answer = alice.post("/console/beds", {"action": "water", "bed": "rose"})
    assert (answer.status_code, "The roses are full." in answer.text) == (409, True)
    assert [(one.outcome, one.reason) for one in records(garden)] == [("ok", ""), ("failed", "conflict")]


def test_a_defect_shows_nothing_and_is_recorded(garden: Deployment, alice: Browser) -> None:
    answer = alice.post("/console/beds", {"action": "break"})
    assert (answer.status_code, "secret detail" in answer.text) == (500, False)
    assert records(garden)[-1].reason == "internal_error"


def test_what_cannot_be_recorded_is_not_done(garden: Deployment, alice: Browser, beds: Beds) -> None:
    garden.audit.write = _unavailable  # type: ignore[method-assign,assignment]
    assert alice.post("/console/beds", {"action": "water", "bed": "iris"}).status_code == 503
    assert beds.watered == []


def test_a_form_with_a_mistake_comes_back(alice: Browser) -> None:
    answer = alice.post("/console/beds", {"action": "water", "bed": ""})
    assert (answer.status_code, "Name a bed." in answer.text) == (422, True)


def test_an_action_may_need_more_than_its_page(garden: Deployment, alice: Browser, beds: Beds) -> None:
    assert alice.post("/console/beds", {"action": "dig", "bed": "iris"}).status_code == 403
    assert (beds.watered, records(garden)) == ([], [])
    garden.standings.held[ALICE] = standing("member", "knowledge:admin")
    assert alice.post("/console/beds", {"action": "dig", "bed": "iris"}).status_code == 303


def test_an_action_that_a_page_does_not_have_is_refused(alice: Browser, beds: Beds) -> None:
    answer = alice.post("/console/beds", {"action": "burn"})
    assert answer.status_code == 400
    assert "water, dig, break" in answer.text
    assert alice.post("/console", {"action": "water", "bed": "iris"}).status_code == 405
    assert beds.watered == []


@pytest.mark.parametrize("csrf", ["", "0" * 64, "\u00fc", "x" * 10_000])
def test_without_the_token_of_the_session_nothing_is_done(alice: Browser, beds: Beds, csrf: str) -> None:
    answer = alice.post("/console/beds", {"action": "water", "bed": "iris", "csrf": csrf})
    assert answer.status_code == 403
    assert beds.watered == []


def test_the_token_of_another_session_is_of_no_use(garden: Deployment, alice: Browser, beds: Beds) -> None:
    """Of another person, and of another browser of the same."""
    for other in (garden.browser(BOB), garden.browser(ALICE)):
        answer = alice.post("/console/beds", {"action": "water", "bed": "iris", "csrf": other.csrf})
        assert answer.status_code == 403
    assert beds.watered == []


def test_a_token_that_comes_twice_is_refused(alice: Browser, beds: Beds) -> None:
    body = f"csrf={alice.csrf}&csrf={alice.csrf}&action=water&bed=iris"
    headers = {"cookie": f"{COOKIE}={alice.cookie}", "content-type": "application/x-www-form-urlencoded"}
    assert alice.http.post("/console/beds", content=body, headers=headers).status_code == 400
    assert beds.watered == []


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "cross-site"},
        {"origin": ORIGIN, "sec-fetch-site": "same-site"},
        {"origin": f"{ORIGIN}.evil.example"},
        {"origin": "http://garden.example.org"},
    ],
)
@pytest.mark.parametrize("path", ["/console/beds", "/console/signout"])
def test_a_page_of_another_site_does_nothing_even_with_the_token(
    alice: Browser, beds: Beds, headers: dict[str, str], path: str
) -> None:
    assert alice.post(path, {"action": "water", "bed": "iris"}, **headers).status_code == 403
    assert beds.watered == []
    assert alice.get("/console").status_code == 200, "still signed in"


def test_a_form_from_a_page_without_referrer_is_ours(alice: Browser, beds: Beds) -> None:
    sent = alice.post("/console/beds", {"action": "water", "bed": "iris"}, origin="null")
    assert (sent.status_code, beds.watered) == (303, ["iris"])


def test_a_form_has_a_bound(alice: Browser, beds: Beds) -> None:
    assert alice.post("/console/beds", {"action": "water", "bed": "x" * 300_000}).status_code == 413
    many = {f"field{number}": "1" for number in range(80)}
    assert alice.post("/console/beds", {"action": "water", "bed": "iris", **many}).status_code == 400
    assert beds.watered == []


def test_a_body_that_is_no_form_is_refused(alice: Browser, beds: Beds) -> None:
    headers = {"cookie": f"{COOKIE}={alice.cookie}", "content-type": "application/json"}
    sent = {"csrf": alice.csrf, "action": "water", "bed": "iris"}
    assert alice.http.post("/console/beds", json=sent, headers=headers).status_code == 400
    assert beds.watered == []


def test_looking_changes_nothing(garden: Deployment, alice: Browser, beds: Beds) -> None:
    before = garden.sign_ins.dump()
    for path in ("/console", f"/console/beds?action=water&bed=iris&csrf={alice.csrf}", "/console/beds/one"):
        assert alice.get(path).status_code == 200
        assert alice.http.head(path, headers={"cookie": f"{COOKIE}={alice.cookie}"}).content == b""
    assert alice.get("/console/signout").status_code == 405
    assert (beds.watered, records(garden), garden.sign_ins.dump()) == ([], [], before)


def test_a_form_of_a_session_that_is_over_does_nothing(garden: Deployment, alice: Browser, beds: Beds) -> None:
    garden.clock.forward(SESSION_SECONDS)
    answer = alice.post("/console/beds", {"action": "water", "bed": "iris"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?next=%2Fconsole%2Fbeds")
    assert beds.watered == []


# ---- signing out, and answers


def test_signing_out_ends_the_session_and_drops_the_cookie(garden: Deployment, alice: Browser) -> None:
    answer = alice.post("/console/signout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert f"{COOKIE}=" in answer.headers["set-cookie"]
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert garden.sign_ins.sessions == {}
    assert alice.get("/console").status_code == 303


def test_signing_out_needs_the_token(garden: Deployment, alice: Browser) -> None:
    assert alice.post("/console/signout", {"csrf": "guessed"}).status_code == 403
    assert alice.get("/console").status_code == 200


@pytest.mark.parametrize("path", ["/console", "/console/keys", "/console/nothing", "/console/signout"])
def test_no_cache_keeps_an_answer_and_no_site_frames_it(alice: Browser, path: str) -> None:
    answer = alice.get(path)
    assert "no-store" in answer.headers["cache-control"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "etag" not in answer.headers
    assert alice.cookie not in answer.text


def test_a_person_is_counted_wherever_they_come_from(garden: Deployment, beds: Beds) -> None:
    counted = Deployment(lambda _: [beds.pages()], reads=2)
    browsers = [counted.browser(ALICE, f"203.0.113.{number}") for number in range(3)]
    assert [one.get("/console").status_code for one in browsers] == [200, 200, 429]
    assert counted.browser(BOB, "203.0.113.9").get("/console").status_code == 200


def _hash(browser: Browser) -> str:
    from commonplace.identity.secrets import digest

    return digest(browser.cookie)


def _unavailable(*_: object) -> None:
    raise Unavailable("The table does not answer.")
