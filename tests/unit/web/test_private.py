"""A private deployment shows what is published to accounts of its tier, and nothing of it to anybody else."""

import re
from typing import get_args

import pytest
from httpx2 import Response
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.testclient import TestClient

from commonplace.documents.content.library import Library
from commonplace.identity.access_tokens import member_id, subject_hash
from commonplace.identity.accounts import Profile
from commonplace.identity.oidc_sessions import NO_PROVIDER
from commonplace.identity.principals import Tier
from commonplace.identity.resources import Resources
from commonplace.identity.sessions import COOKIE, Sessions, Visitors, open_session
from commonplace.identity.settings import SessionSettings
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.pages.app import UNGUARDED, members
from commonplace.web.pages.app import readers as readers_of_pages
from commonplace.web.rest import app
from commonplace.web.rest.account import MONITORED
from commonplace.web.rest.account import UNGUARDED as UNGUARDED_OF_REST
from commonplace.web.rest.account import readers as readers_of_rest
from commonplace.web.rest.declaration import Site
from commonplace.web.settings import RestSettings
from commonplace.web.stack import Private
from tests.fakes.access_tokens import ISSUER, ROSA, Realm, standing
from tests.fakes.authority import KEY, Counters
from tests.fakes.identity_stores import MemorySignIns
from tests.fakes.library import COMMIT, FakeLibrary, garden
from tests.fakes.search import FakeSearch
from tests.one_loop import one_loop
from tests.rest_app import rest_app
from tests.site_app import ENVIRONMENT, site_app

__all__ = ["one_loop"]

HTML = {"accept": "text/html,application/xhtml+xml"}
RESOURCES = Resources(ISSUER, ("knowledge",), ("knowledge",))


class Deployment:
    """The site and REST of members, and people with sessions and tokens."""

    def __init__(self, tier: Tier = "member") -> None:
        self.realm, self.store = Realm(), FakeLibrary()
        self.sign_ins = MemorySignIns(self.realm.clock)
        self.store.attach("seedlings.png", "image/png", b"\x89PNG\r\n\x1a\n")
        self.store.publish(garden())
        sessions = Sessions(self.sign_ins, NO_PROVIDER, self.realm.clock)
        visitors = Visitors(sessions, self.realm.accounts, lambda *of: member_id(KEY, *of))
        accounts = Accounts(self.realm.principals, Challenges(RESOURCES), RESOURCES.api)
        pages = Middleware(Private, tier=tier, find=readers_of_pages(visitors), unguarded=UNGUARDED)
        self.site = site_app(self.store, private=pages, SITE_TIER=tier)
        self.rest = rest_app(
            Library(self.store),
            FakeSearch(),
            Site(reads_per_minute=0, searches_per_minute=0),
            Limiter(Counters(), self.realm.clock),
            accounts=accounts,
            private=Middleware(
                Private,
                tier=tier,
                find=readers_of_rest(accounts, visitors),
                unguarded=UNGUARDED_OF_REST,
                monitored=MONITORED,
            ),
        )

    def account(self, tier: Tier) -> None:
        self.realm.accounts.standings[ROSA] = standing(tier)

    def session(self) -> dict[str, str]:
        """The header of Rosa's browser."""
        profile = Profile(subject=ROSA, kind="wallet", address=ROSA)
        cookie = open_session(self.sign_ins, profile, subject_hash(KEY, ROSA), self.realm.clock())
        return {"cookie": f"{COOKIE}={cookie}"}

    def token(self) -> dict[str, str]:
        """The header of a program of Rosa's."""
        claims = self.realm.granted(RESOURCES.api, "knowledge:read")
        return {"authorization": f"Bearer {self.realm.sign(claims.as_claims())}"}

    def pages(self) -> TestClient:
        return TestClient(self.site, base_url=ISSUER, follow_redirects=False)

    def api(self) -> TestClient:
        return TestClient(self.rest, base_url=ISSUER, follow_redirects=False)


@pytest.fixture
def here() -> Deployment:
    return Deployment()


def filled(path: str) -> str:
    """With names of what is published in place of what is in braces."""
    named = re.sub(r"\{(content_?[tT]ype|type)\}", "pattern", path).replace("{id}", "rotating-stewardship")
    return re.sub(r"\{[^}]*\}", "x", named)


def leaks(answer: Response) -> list[str]:
    """Names of what is published."""
    words = ("stewardship", "seed-library", "Seed swap", COMMIT[:7])
    return [word for word in words if word in answer.text.replace("rotating-stewardship", "")]


def test_a_stranger_is_shown_nothing_of_the_site(here: Deployment) -> None:
    client = here.pages()
    paths = [filled(route.path) for route in here.site.routes if isinstance(route, Route)]
    guarded = [path for path in paths if not path.startswith(UNGUARDED)]
    assert len(guarded) > 15
    assert {"/", "/search", "/feed.xml", "/sitemap.xml", "/d/pattern/rotating-stewardship"} <= set(guarded)
    for path in [*guarded, "/nothing"]:
        shown = client.get(path, headers=HTML)
        assert (shown.status_code, shown.headers["cache-control"]) == (303, "private, no-store"), path
        assert shown.headers["location"].startswith("/account?next=%2F"), path
        asked = client.get(path, headers={"accept": "*/*"})
        assert (asked.status_code, leaks(asked)) == (401, []), path
        assert client.post(path).status_code == 401, path
        assert client.head(path).status_code == 401, path


def test_a_stranger_is_told_nothing_over_rest(here: Deployment) -> None:
    client = here.api()
    described = [filled(path) for path in here.rest.openapi()["paths"]]
    guarded = [path for path in described if path not in UNGUARDED_OF_REST]
    guarded += ["/llms.txt", "/llms-full.txt", "/feed.json", "/openapi.json"]
    assert len(guarded) > 23
    for path in [*guarded, "/api/v1/nothing"]:
        asked = client.get(path, headers=HTML)
        assert (asked.status_code, asked.headers["cache-control"], leaks(asked)) == (401, "no-store", []), path
        assert "/.well-known/oauth-protected-resource/api" in asked.headers["www-authenticate"], path


def test_a_stranger_signs_in_before_the_page_of_the_api_names_what_is_published(here: Deployment) -> None:
    answer = here.api().get("/docs", headers=HTML)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?next=%2Fdocs")
    assert answer.headers["cache-control"] == "private, no-store"
    here.account("member")
    page = here.api().get("/docs", headers=HTML | here.session())
    assert (page.status_code, page.headers["cache-control"]) == (200, "private, no-store")
    assert "rotating-stewardship" in page.text


@pytest.mark.parametrize("headers", ["session", "token"])
def test_who_has_the_tier_reads_and_no_shared_cache_keeps_it(here: Deployment, headers: str) -> None:
    here.account("member")
    sent = getattr(here, headers)()
    wanted = [(here.api(), path) for path in ("/api/v1/entries", "/llms.txt", "/feed.json", "/openapi.json")]
    wanted += [(here.api(), "/api/v1/attachments/seedlings.png")]
    if headers == "session":
        wanted += [(here.pages(), path) for path in ("/", "/d/pattern/rotating-stewardship", "/feed.xml", "/map")]
    for client, path in wanted:
        answer = client.get(path, headers=sent | HTML)
        assert answer.status_code == 200, path
        assert answer.headers["cache-control"] == "private, no-store", path
        assert {"Authorization", "Cookie"} <= set(answer.headers["vary"].split(", ")), path
        assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("tier", ["public", "member"])
def test_who_has_a_lower_tier_is_told_so_and_nothing_else(tier: Tier) -> None:
    here = Deployment("member" if tier == "public" else "vibecoder")
    here.account(tier)
    for client, headers in ((here.pages(), here.session()), (here.api(), here.session()), (here.api(), here.token())):
        for path in ("/", "/search?q=steward", "/api/v1/entries", "/feed.json", "/llms.txt"):
            answer = client.get(path, headers=headers | HTML)
            assert (answer.status_code, leaks(answer)) == (403, []), path
            assert "accounts of the tier" in answer.text


def test_roles_that_cannot_be_read_keep_people_out_for_the_time_being(here: Deployment) -> None:
    here.account("member")
    sent = here.session()
    here.realm.accounts.down = True
    for client, path in ((here.pages(), "/"), (here.api(), "/api/v1/entries")):
        answer = client.get(path, headers=sent)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")


def test_a_session_that_is_over_and_a_token_that_is_none_let_nobody_on(here: Deployment) -> None:
    here.account("member")
    sent = here.session()
    here.realm.clock.now += 13 * 3_600
    assert here.pages().get("/", headers=sent).status_code == 401
    assert here.api().get("/api/v1/entries", headers=sent).status_code == 401
    assert here.api().get("/api/v1/entries", headers={"authorization": "Bearer x"} | here.session()).status_code == 401


def test_a_person_comes_back_to_the_page_that_they_asked_for(here: Deployment) -> None:
    answer = here.pages().get("/search?q=a%20b&tag=x", headers=HTML)
    assert answer.headers["location"] == "/account?next=%2Fsearch%3Fq%3Da%2520b%26tag%3Dx"


def test_what_belongs_to_the_code_and_to_monitors_is_for_everybody(here: Deployment) -> None:
    assert here.pages().get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    for path in ("/icon.png", "/assets/site.css", "/assets/theme.css"):
        assert here.pages().get(path).status_code == 200
    assert here.api().get("/health").status_code == 200
    assert here.api().get("/api/v1/me").status_code == 401


@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_strangers_learn_the_status_alone_and_whoever_may_read_the_rest(here: Deployment, path: str) -> None:
    here.account("member")
    assert here.api().get(path).json() == {"status": "ok"}
    assert here.api().get(path, headers=here.session()).json() == {"status": "ok"}
    told = here.api().get(path, headers=here.token())
    assert (told.json()["commitSha"], told.json()["documents"]) == (COMMIT, 11)
    assert told.headers["cache-control"] == "private, no-store"
    here.store.unreachable = True
    away = here.api().get(path)
    assert (away.status_code, away.json()) == (503, {"status": "unavailable"})


def test_a_token_that_comes_to_health_counts_or_is_refused(here: Deployment) -> None:
    assert here.api().get("/health", headers={"authorization": "Bearer x"}).status_code == 401
    here.account("public")
    assert here.api().get("/health", headers=here.token()).status_code == 403


def test_an_error_page_names_neighbours_and_commit_where_the_request_was_let_through(here: Deployment) -> None:
    here.account("member")
    for path in ("/d/pattern/rotating-stewardshop", "/rotating-stewardshop"):
        assert set(leaks(here.pages().get(path, headers=here.session()))) >= {"stewardship", COMMIT[:7]}
    for path in ("/assets/stewardship", "/assets/rotating-stewardshop"):
        for headers in ({}, here.session(), HTML | here.session()):
            page = here.pages().get(path, headers=headers)
            assert (page.status_code, leaks(page), "Did you mean" in page.text) == (404, [], False)


def test_a_public_site_lets_crawlers_in() -> None:
    client = TestClient(site_app(FakeLibrary()), base_url=ISSUER)
    assert "Sitemap: " in client.get("/robots.txt").text


def test_nothing_starts_as_private_where_nobody_can_sign_in() -> None:
    private = RestSettings.from_environ({**ENVIRONMENT, "SITE_TIER": "member"})
    with pytest.raises(SettingsError, match="SITE_TIER is set"):
        app.application(private, None, [], ())
    with pytest.raises(SettingsError, match="is not set"):
        members("member", ENVIRONMENT)
    with pytest.raises(SettingsError, match="SITE_TIER is malformed"):
        RestSettings.from_environ({**ENVIRONMENT, "SITE_TIER": "everybody"})
    assert get_args(Tier) == ("public", "member", "vibecoder")
    assert SessionSettings.where_signed_in({}) is None
