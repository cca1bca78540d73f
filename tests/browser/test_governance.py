"""Organisations in a real browser: one is founded, somebody joins it, and they decide; by keys, and on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from commonplace.governance.console import DECLARED, MESSAGES, GovernancePages
from commonplace.governance.governance import Governance
from commonplace.governance.store import Store
from commonplace.kernel.errors import Forbidden
from tests.aws_fixture import aws, dynamodb_client, session
from tests.browser.hosting import hosted
from tests.browser.test_console import judged
from tests.browser.visiting import Visit, visiting
from tests.browser.wallet import Wallet, fresh_key
from tests.dynamodb_fixture import new_table
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.governance import Clock, Tide

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["aws", "dynamodb_client", "session"]

AT = "/console/governance"
SAYS = {
    one["button"]: MESSAGES[name] for page in DECLARED.values() for name, one in page.items() if isinstance(one, dict)
}
"""What is said after a button."""
TABS = ("Teams", "Members", "Channels", "Policies", "Journal", "Agents", "Invitations", "Settings")


@dataclass
class People:
    """Ada, who founded Tide, and Vi, who joined it by a link."""

    issuer: str
    ada: Visit
    vi: Visit

    def go(self, visit: Visit, path: str) -> Page:
        """Open a page of the organisation by a link that its pages have."""
        visit.go(f"{self.issuer}{AT}/tide/{path}".rstrip("/"))
        return visit.page

    def channel(self, visit: Visit, badge: str = "everybody") -> Page:
        page = self.go(visit, "channels")
        page.locator(".cards > li").filter(has_text=badge).get_by_role("link").first.click()
        return page


@pytest.fixture
def governance(aws: None, dynamodb_client: DynamoDBClient) -> Governance:
    tables = (new_table(dynamodb_client, name) for name in ("records", "activity", "identity"))
    return Governance(store=Store(dynamodb_client, *tables), reserved=frozenset({"house"}))


@pytest.fixture
def server(governance: Governance) -> Iterator[AuthorizationServer]:
    with hosted(console=lambda frame: [GovernancePages(governance, frame.base_url).pages()]) as running:
        yield running


@pytest.fixture
def people(browser: Browser, server: AuthorizationServer) -> Iterator[People]:
    at = server.settings.issuer
    with visiting(browser, Wallet(fresh_key()), at=[at]) as ada, visiting(browser, Wallet(fresh_key()), at=[at]) as vi:
        ada.go(f"{at}{AT}")
        ada.sign_in()
        ada.heading("Organisations")
        unfold(ada.page, "Found an organisation")
        fill(ada.page, {"name": "Tide", "slug": "tide", "firstname": "Ada"})
        ada.press("Found the organisation")
        ada.told("Founded. Invite others by a link.")
        ada.page.get_by_role("link", name="Invitations").click()
        ada.press("Make a link")
        link = ada.page.locator("pre").inner_text()
        vi.go(link)
        vi.sign_in()
        vi.heading("Become a member")
        fill(vi.page, {"firstname": "Vi"})
        vi.press("Join")
        vi.told("Welcome: you are a member.")
        yield People(at, ada, vi)
        ada.check()
        vi.check()


def unfold(page: Page, title: str) -> None:
    page.locator("summary").filter(has_text=re.compile(f"^{title}$")).click()


def fill(page: Page, values: dict[str, str]) -> None:
    """Fill fields that are seen, by their names."""
    for name, value in values.items():
        field(page, name).fill(value)


def field(page: Page, name: str) -> Locator:
    return page.locator(f"[name={name}]").locator("visible=true")


def done(visit: Visit, button: str) -> None:
    """Press a button, and wait until the page says that it is done."""
    visit.page.get_by_role("button", name=button, exact=True).locator("visible=true").first.click()
    visit.told(SAYS[button])


def test_a_topic_waits_for_an_objection_to_be_resolved(people: People) -> None:
    ada, vi = people.ada, people.vi
    page = people.channel(ada)
    unfold(page, "Open a topic")
    fill(page, {"title": "Paint the gate", "description": "Green, before the rain."})
    done(ada, "Open the topic")
    done(ada, "Ask for consent")
    vi.go(f"{people.issuer}{AT}")
    vi.page.get_by_role("link", name="Paint the gate").click()
    field(vi.page, "response").select_option("objection")
    vi.press("Respond")
    expect(vi.page.get_by_role("alert")).to_contain_text("An objection needs a reason.")
    expect(field(vi.page, "reason")).to_have_attribute("aria-invalid", "true")
    fill(vi.page, {"reason": "Nobody sees it at night."})
    done(vi, "Respond")
    ada.press("Accept")
    expect(ada.page.get_by_role("alert")).to_contain_text("An objection is open. Vi can answer again")
    field(vi.page, "response").select_option("consent")
    fill(vi.page, {"reason": ""})
    done(vi, "Respond")
    page.get_by_role("button", name="Accept", exact=True).click()
    ada.told("Moved on.")
    expect(page.locator("main")).to_contain_text("accepted")
    people.go(ada, "journal").get_by_role("link", name="Topic").click()
    ada.heading("Paint the gate")


def test_a_ranked_vote_is_closed_with_its_tally(people: People) -> None:
    ada, vi = people.ada, people.vi
    page = people.channel(ada)
    unfold(page, "Open a vote")
    fill(page, {"title": "Which colour?", "options": "Moss\nSky\nSand"})
    field(page, "mode").select_option("ranked")
    done(ada, "Open the vote")
    for visit, order in ((ada, ("Moss", "Sky", "Sand")), (vi, ("Sky", "Sand", "Moss"))):
        visit.go(page.url)
        for place, option in enumerate(order, 1):
            visit.page.get_by_label(f"Place {place}").select_option(label=option)
        done(visit, "Vote")
        expect(visit.page.get_by_label("Place 1")).to_have_value("1" if visit is ada else "2")
    expect(vi.page.get_by_role("button", name="Close the vote")).to_have_count(0)
    ada.page.reload()
    done(ada, "Close the vote")
    rows = page.get_by_role("row")
    expect(rows).to_have_text([re.compile(each) for each in ("Option", "Sky.*5.*2", "Moss.*4.*2", "Sand.*3.*2")])


def test_an_election_goes_from_secret_nominations_to_its_end(people: People) -> None:
    ada, vi = people.ada, people.vi
    page = people.channel(ada, "team")
    unfold(page, "Open an election")
    field(page, "role_id").select_option(label="Secretary")
    done(ada, "Open the election")
    field(page, "nominee_id").select_option(label="Vi")
    fill(page, {"reason": "Vi writes clearly."})
    done(ada, "Nominate")
    expect(page.get_by_text("Vi writes clearly.")).to_have_count(0)
    done(ada, "Show nominations and discuss")
    expect(page.get_by_text("Vi writes clearly.")).to_be_visible()
    unfold(page, "Propose a candidate")
    field(page, "candidate_id").select_option(label="Vi (1)")
    page.get_by_role("button", name="Propose a candidate").click()
    ada.told("Moved on.")
    field(page, "response").select_option("consent")
    done(ada, "Respond")
    done(ada, "Elect the candidate")
    expect(page.get_by_text("Elected: Vi")).to_be_visible()
    vi.go(page.url)
    vi.heading("Not Found")


def test_a_channel_is_gone_for_whoever_lost_the_role(people: People) -> None:
    ada, vi = people.ada, people.vi
    page = people.go(ada, "")
    page.locator("main").get_by_role("link", name="Tide").last.click()
    unfold(page, "Create a team")
    fill(page, {"name": "Watch", "mission": "Watch the water."})
    done(ada, "Create the team")
    team = page.url.partition("?")[0]
    for title, who in (("Leader", "Vi"), ("Leader", "Ada")):
        ada.go(team)
        page.get_by_role("link", name=title, exact=True).click()
        unfold(page, "Assign a role")
        field(page, "member_id").select_option(label=who)
        done(ada, "Assign")
        vi.go(team)
        if who == "Vi":
            vi.page.get_by_role("link", name="Open its channel").click()
            fill(vi.page, {"text": "Low water at six."})
            done(vi, "Send")
            channel = vi.page.url.partition("?")[0]
    vi.go(channel)
    vi.heading("Not Found")
    ada.go(channel)
    expect(page.get_by_text("Low water at six.")).to_be_visible()


def test_a_message_is_sent_and_answered_by_keys_alone(people: People) -> None:
    page = people.channel(people.ada)

    def reach(name: str) -> None:
        """Press Tab until what has this text or label has the focus."""
        for _ in range(80):
            page.keyboard.press("Tab")
            words = page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).innerText ?? ''")
            if words.strip().startswith(name):
                return
        pytest.fail(f"Tab does not reach {name}")

    reach("Text")
    page.keyboard.type("Low water at six.")
    reach("Send")
    page.keyboard.press("Enter")
    people.ada.told("Sent.")
    reach("no replies")
    page.keyboard.press("Enter")
    people.ada.heading("Thread")
    reach("React")
    page.keyboard.press("Enter")
    reach("👍")
    page.keyboard.press("Enter")
    people.ada.told("Done.")
    expect(page.get_by_role("button", name="👍 1, yours")).to_be_visible()
    reach("Text")
    page.keyboard.type("I come.")
    reach("Reply")
    page.keyboard.press("Enter")
    expect(page.get_by_text("I come.")).to_be_visible()


def test_an_owner_sees_an_agent_act_ends_it_and_lets_none_act(people: People, governance: Governance) -> None:
    tide = Tide(governance, Clock(governance.store.clock()))
    helper, other = tide.agent("Vi"), tide.agent("Vi", client="Other")
    said = {"channel_id": tide.channel().id, "text": "Low water at six."}
    tide.act(helper, "send_message", **said)
    page = people.channel(people.ada)
    expect(page.locator(".cards > li").filter(has_text="Low water").locator(".badge")).to_have_text(
        "by an agent: Helper"
    )
    newest = people.go(people.ada, "journal").locator(".cards > li").filter(has_text="AI Agent (via Vi)")
    expect(newest.locator(".badge")).to_have_text("by an agent: Helper")
    newest.get_by_role("link").first.click()
    expect(page.get_by_text("Low water at six.")).to_be_visible()

    people.go(people.ada, "")
    page.get_by_role("link", name="Agents", exact=True).click()
    unfold(page, "End an agent's access")
    field(page, "agent_id").select_option(label="Helper, for Vi")
    field(page, "sure").check()
    done(people.ada, "End it")
    with pytest.raises(Forbidden, match="grant has ended"):
        tide.act(helper, "send_message", **said)
    tide.act(other, "send_message", **said)

    people.go(people.ada, "settings")
    unfold(page, "Change what agents may do")
    field(page, "agents_act").uncheck()
    page.locator("details[open]").get_by_role("button", name="Save").click()
    people.ada.told("Saved.")
    with pytest.raises(Forbidden, match="only read"):
        tide.act(other, "send_message", **said)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_of_organisations_fit_and_are_for_everybody(
    browser: Browser, people: People, governance: Governance, scheme: str, width: int
) -> None:
    tide = Tide(governance, Clock(governance.store.clock()))
    tide.act(tide.agent("Ada"), "send_message", channel_id=tide.channel().id, text="By an agent.")
    page = people.channel(people.ada)
    long = "wordwithoutend" * 12
    places: list[tuple[str, str]] = [(f"{AT}", "Organisations")]
    for kind, fields, button in (
        ("Open a topic", {"title": long, "description": "Green."}, "Open the topic"),
        ("Open a vote", {"title": "Which?", "options": f"{long[:100]}\nSky"}, "Open the vote"),
    ):
        people.channel(people.ada)
        unfold(page, kind)
        fill(page, fields)
        if kind == "Open a vote":
            field(page, "mode").select_option("single")
        done(people.ada, button)
        places.append((page.url.removeprefix(people.issuer).partition("?")[0], fields["title"]))
    people.channel(people.ada)
    places.append((page.url.removeprefix(people.issuer), "Tide"))
    for link, opened in (("Tide", "Tide"), ("Leader", "Leader"), ("held by Ada", "Ada")):
        if opened == "Tide":
            people.go(people.ada, "")
        page.locator("main").get_by_role("link", name=link, exact=True).last.click()
        people.ada.heading(opened)
        places.append((page.url.removeprefix(people.issuer), opened))
    people.ada.page.go_back()
    unfold(page, "Create a policy")
    fill(page, {"title": "Boots", "abstract": "Dry feet.", "text": long * 20})
    done(people.ada, "Publish")
    places.append((page.url.removeprefix(people.issuer).partition("?")[0], "1. Boots"))
    places += [(f"{AT}/tide/{tab.lower()}" if tab != "Teams" else f"{AT}/tide", tab) for tab in TABS]
    places.append((f"{AT}/tide/me", "For Ada"))
    shape = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    state = people.ada.context.storage_state()
    with visiting(browser, None, at=[people.issuer], bypass_csp=True, storage_state=state, **shape) as looking:
        for path, title in places:
            looking.go(f"{people.issuer}{path}")
            for each in looking.page.locator("details").all():
                each.evaluate("(one) => { one.open = true; }")
            judged(looking, title)
