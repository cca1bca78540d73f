"""What holds for every page and every file that they load."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.identity.oauth import pages
from commonplace.identity.oauth.pages.html import (
    content_security_policy,
    destination,
    listed,
    plain,
    span,
)
from commonplace.identity.oauth.pages.waap import Waap
from commonplace.web.pages.frame import day, moment
from tests.unit.identity.oauth.pages.conftest import Browser, World, path

FOLDER = Path(pages.__file__).parent
TEMPLATES = sorted((FOLDER / "templates").glob("*.html"))
ASSETS = sorted(file for file in (FOLDER / "assets").iterdir() if file.name != "waap.js")
WAAP = '{"methods": ["email", "social"], "socials": ["github"], "theme": "dark", "title": "\\"Here\\" </script>"}'


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda file: file.name)
def test_no_template_has_a_script_a_style_or_a_handler_of_its_own(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
    assert "| safe" not in text
    assert "autoescape" not in text


def test_nothing_is_loaded_from_elsewhere() -> None:
    for file in [*TEMPLATES, *ASSETS]:
        assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", file.read_text())


@pytest.mark.parametrize("file", [file for file in ASSETS if file.suffix == ".js"], ids=lambda file: file.name)
def test_no_script_writes_markup(file: Path) -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", file.read_text()
    )


def test_every_file_that_a_page_names_is_served(alice: Browser) -> None:
    named = {name for file in [*TEMPLATES, *ASSETS] for name in re.findall(r"/auth/assets/([\w.]+)", file.read_text())}
    assert named
    for name in sorted(named - {"waap.js"}):
        answer = alice.get(f"/auth/assets/{name}")
        assert answer.status_code == 200, name
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-type"].startswith(("text/css", "text/javascript"))


def test_a_file_that_is_known_is_not_sent_again(alice: Browser) -> None:
    tag = alice.get("/auth/assets/page.js").headers["etag"]
    assert alice.get("/auth/assets/page.js", **{"if-none-match": tag}).status_code == 304


@pytest.mark.parametrize("name", ["nothing.js", "..%2fwords.py", "%2e%2e/words.py", "", ".", "page.js%00"])
def test_no_other_file_is_served(alice: Browser, name: str) -> None:
    assert alice.get(f"/auth/assets/{name}").status_code == 404


def test_without_waap_there_is_no_trace_of_it(alice: Browser) -> None:
    page = alice.get("/account")
    assert "waap" not in page.text
    assert "waap" not in str(page.headers)
    assert "frame-src" not in page.headers["content-security-policy"]


def test_with_waap_its_frame_and_its_windows_are_let_in(make_world: Callable[..., World]) -> None:
    world = make_world(WAAP=WAAP)
    browser = world.browser()
    for page in (browser.get("/account"), browser.get(path(world.site))):
        assert "frame-src https://waap.xyz;" in page.headers["content-security-policy"]
        assert page.headers["cross-origin-opener-policy"] == "same-origin-allow-popups"
        assert 'id="waap"' in page.text
        assert "&lt;/script&gt;" in page.text
        assert "Continue with e-mail or a social account" in page.text


def test_with_waap_other_pages_stay_as_closed_as_before(make_world: Callable[..., World]) -> None:
    world = make_world(WAAP=WAAP)
    browser = world.browser()
    page = browser.consent_page(path(world.site))
    assert "frame-src" not in page.headers["content-security-policy"]
    assert page.headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize(
    "told",
    [
        {"methods": ["wallet"]},
        {"methods": []},
        {"methods": "email"},
        {"socials": ["myspace"]},
        {"theme": "pink"},
        {"title": "t" * 81},
        {"title": 7},
        {"authenticationMethods": ["email"]},
    ],
)
def test_nonsense_about_waap_is_found_when_the_server_is_built(
    make_world: Callable[..., World], told: dict[str, object]
) -> None:
    world = make_world(WAAP=json.dumps(told))
    with pytest.raises(ValueError, match="WaaP"):
        world.browser()


def test_waap_needs_nothing_said() -> None:
    waap = Waap.of({}, "Garden")
    assert waap.as_json("Garden") == {
        "methods": ["email", "social"],
        "socials": ["github", "discord", "google"],
        "theme": "auto",
        "title": "Sign in to Garden",
        "name": "Garden",
    }


def test_a_policy_lets_pictures_of_wallets_in_where_they_are_shown() -> None:
    assert "img-src 'self' data:;" in content_security_policy(icons=True)
    assert "data:" not in content_security_policy()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Plain", "Plain"),
        ("  two\n\tlines\u2028 ", "two lines"),
        ("a\u202eb\u2066c\u200dd\ufeff", "abcd"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301"),
        ("x" * 200, "x" * 79 + "…"),
        (None, "None"),
    ],
)
def test_text_of_others_is_one_line_of_visible_characters(text: object, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("https://App.example.com:8443/cb", ("site", "app.example.com:8443")),
        ("http://127.0.0.1:7777/cb", ("loopback", "127.0.0.1")),
        ("http://localhost/cb", ("loopback", "localhost")),
        ("http://[::1]:9/cb", ("loopback", "::1")),
        ("https://localhost:8443/cb", ("loopback", "localhost")),
        ("https://app.localhost/cb", ("loopback", "app.localhost")),
        ("https://127.0.0.2/cb", ("loopback", "127.0.0.2")),
        ("cursor://anysphere/cb", ("app", "cursor:")),
        ("com.example.app:/cb", ("app", "com.example.app:")),
    ],
)
def test_where_a_browser_is_sent_is_named(uri: str, place: tuple[str, str]) -> None:
    assert destination(uri) == place


def test_times_are_told_in_words() -> None:
    assert day(1_800_000_000) == "15 January 2027"
    assert moment(1_800_000_000) == "15 January 2027, 08:00 UTC"
    assert [span(seconds) for seconds in (1, 90, 600, 3_600, 30 * 86_400)] == [
        *("1 second", "90 seconds", "10 minutes", "1 hour", "30 days")
    ]
    assert [listed([]), listed(["a"]), listed(["a", "b", "c"])] == ["", "a", "a, b and c"]
