"""The console's pages of organisations: what members see and do there, and what nobody else learns."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from commonplace.governance import console, conversation, processes, structure
from commonplace.governance.console import DECLARED, GovernancePages, forms_of
from commonplace.governance.model import Member, new_id
from commonplace.governance.store import MEMBERS
from commonplace.identity.accounts import Profile
from commonplace.identity.sessions import open_session
from commonplace.kernel.errors import Forbidden
from tests.console_app import ORIGIN, Browser, Deployment
from tests.fakes.authority import ALICE
from tests.fakes.governance import Tide

AT = "/console/governance/tide"


@dataclass
class Desk:
    """The console over the organisation of the tests, and a browser for each of its people."""

    tide: Tide
    deployment: Deployment

    def browser(self, name: str) -> Browser:
        made = self.deployment.browser(None)
        profile = Profile(subject=name, kind="wallet", address=ALICE, name=name)
        made.cookie = open_session(
            self.deployment.sign_ins, profile, f"account-{name.lower()}", self.deployment.clock()
        )
        return made

    def see(self, name: str, path: str, status: int = 200) -> str:
        answer = self.browser(name).get(path if path.startswith("/") else f"{AT}/{path}".rstrip("/"))
        assert answer.status_code == status, text(answer.text)
        return str(answer.text)

    def do(self, who: str, path: str, action: str, status: int = 303, /, **fields: str) -> str:
        """Send a form; return where it leads, or the page on which it is refused."""
        path = path if path.startswith("/") else f"{AT}/{path}".rstrip("/")
        answer = self.browser(who).post(path, {"action": action, **fields})
        assert answer.status_code == status, text(answer.text)
        return str(answer.headers["location"] if status == 303 else answer.text)


@pytest.fixture
def desk(tide: Tide) -> Desk:
    pages = GovernancePages(tide.governance, ORIGIN).pages()
    return Desk(tide, Deployment(lambda _: [pages]))


def text(body: str) -> str:
    """As it is read, without marks."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def below(location: str) -> str:
    """What an address names below the organisation."""
    return urlsplit(location).path.removeprefix(f"{AT}/")


def everywhere(tide: Tide) -> list[str]:
    """A page of each kind."""
    topic = tide.do("Ada", processes.open_topic, channel_id=tide.channel().id, title="Gate", description="Paint it.")
    role = tide.role("Tide", "Leader")
    policy = tide.do("Ada", structure.create_policy, role_id=role.id, title="Boots", abstract="Dry.", text="# Boots")
    paths = [f"teams/{role.team}", f"roles/{role.id}", f"members/{tide.member('Ada').id}", f"policies/{policy.id}"]
    paths += [f"channels/{tide.channel().id}", f"messages/{topic.id}"]
    tabs = ["", "me", "members", "channels", "policies", "journal", "agents", "invitations", "settings"]
    return [*tabs, *paths]


def test_pages_of_an_organisation_are_for_its_members(desk: Desk) -> None:
    for path in everywhere(desk.tide):
        assert "Tide" in desk.see("Ada", path)
        assert desk.see("Stranger", path, 404) == desk.see(
            "Stranger", f"/console/governance/nowhere/{path}".rstrip("/"), 404
        )


def test_an_organisation_is_founded_and_others_join_by_a_link_that_is_shown_once(desk: Desk) -> None:
    start = "/console/governance"
    assert "You are in no organisation yet" in desk.see("Nim", start)
    refused = desk.do("Nim", start, "found_organisation", 409, name="House", slug="house", firstname="Nim")
    assert "This deployment uses this name." in text(refused)
    assert 'value="House"' in refused
    assert "<details open>" in refused
    led = desk.do("Nim", start, "found_organisation", name="Dunes", slug="dunes", firstname="Nim")
    assert urlsplit(led).path == f"{start}/dunes"
    shown = text(desk.do("Nim", f"{start}/dunes/invitations", "invite", 200, note="for Oda"))
    (link,) = re.findall(rf"{ORIGIN}(\S+)", shown)
    assert link not in text(desk.see("Nim", f"{start}/dunes/invitations"))
    desk.see("Oda", f"{start}/dunes", 404)
    assert "You are invited to Dunes" in text(desk.see("Oda", link))
    secret = link.partition("=")[2]
    led = desk.do("Oda", link, "accept_invitation", firstname="Oda", secret=secret)
    assert "Welcome: you are a member." in desk.see("Oda", led)
    assert "This invitation is no longer valid." in text(desk.see("Pim", link, 404))
    assert desk.see("Pim", f"{start}/dunes/join?invitation=x", 404) == desk.see(
        "Pim", f"{start}/moor/join?invitation=x", 404
    )


def test_a_link_makes_a_member_by_name_only_somebodys(desk: Desk) -> None:
    known = Member(id=new_id("mb"), firstname="Pell", joined_at=desk.tide.store.now())
    desk.tide.store.change(desk.tide.access("Ada"), lambda act: act.add(MEMBERS, known))
    place = f"members/{known.id}"
    assert "Write a direct message" not in desk.see("Vi", place)
    (link,) = re.findall(rf"{ORIGIN}(\S+)", text(desk.do("Vi", place, "invite", 200)))
    desk.do("Oda", link, "accept_invitation", firstname="Oda", secret=link.partition("=")[2])
    assert desk.tide.access("Oda").member.id == known.id
    assert "Make a link" not in desk.see("Vi", place)


def test_structure_is_changed_by_forms_and_the_journal_tells_it_in_names(desk: Desk) -> None:
    tide = desk.tide
    root = tide.team("Tide")
    team = below(desk.do("Guest", f"teams/{root.id}", "create_team", name="Pool", mission="Keep it full."))
    role = below(desk.do("Guest", team, "create_role", title="Keeper", duties="Open\nClose"))
    page = text(desk.see("Guest", role))
    assert "Open" in page
    assert "Close" in page
    revision = str(tide.role("Pool", "Keeper").revision)
    desk.do("Guest", role, "assign_role", member_id=tide.member("Vi").id, revision=revision)
    stale = desk.do("Ada", role, "change_role", 409, title="Warden", revision=revision)
    assert 'value="Warden"' in stale
    journal = text(desk.see("Ada", "journal"))
    assert "member: Guest → Vi" in journal
    assert "Keep it full." in journal
    only = text(desk.see("Ada", f"journal?team_id={root.id}&target_type=teams"))
    assert "Keep it full." not in only
    assert "Role" in text(desk.see("Ada", f"journal?team_id={team.removeprefix('teams/')}&target_type=roles"))
    assert "I am sure" in desk.see("Ada", team)
    refused = desk.do("Ada", team, "delete_team", 422, revision="1")
    assert "Nothing was done." in refused


def test_policies_are_written_by_the_holder_of_their_role_and_shown_as_text(desk: Desk) -> None:
    role = f"roles/{desk.tide.role('Watch', 'Leader').id}"
    assert 'value="create_policy"' not in desk.see("Ada", role)
    desk.do("Ada", role, "create_policy", 403, title="Boots", abstract="Dry.", text="x")
    policy = below(desk.do("Vi", role, "create_policy", title="Boots <b>", abstract="Dry.", text="# <script>"))
    assert "# &lt;script&gt;" in desk.see("Guest", policy)
    assert "Boots &lt;b&gt;" in desk.see("Guest", "policies")
    assert 'value="change_policy"' not in desk.see("Guest", policy)
    desk.do("Vi", policy, "change_policy", title="Boots", abstract="Dry.", text="Wear them.", revision="1")
    assert "Wear them." in desk.see("Guest", policy)
    assert below(desk.do("Vi", policy, "delete_policy", revision="2", sure="yes")) == "policies"


def test_a_topic_with_an_objection_is_not_accepted_until_it_is_resolved(desk: Desk) -> None:
    channel = f"channels/{desk.tide.channel().id}"
    topic = below(desk.do("Ada", channel, "open_topic", title="Gate", description="Paint it green."))
    desk.do("Vi", topic, "ask_clarification", question="Which green?")
    assert "Gate" in desk.see("Ada", "/console/governance")
    (question,) = re.findall(r'<option value="([^"]+)">Which green\?', desk.see("Ada", topic))
    desk.do("Ada", topic, "answer_clarification", question_id=question, answer="Moss.")
    assert 'value="seek_consent"' not in desk.see("Vi", topic)
    desk.do("Ada", topic, "seek_consent")
    assert "needs a reason" in desk.do("Vi", topic, "respond", 422, response="objection")
    desk.do("Vi", topic, "respond", response="objection", reason="It is too dark.")
    refused = text(desk.do("Ada", topic, "accept", 409))
    assert "An objection is open. Vi can answer again" in refused
    desk.do("Vi", topic, "respond", response="consent", reason="")
    desk.do("Ada", topic, "modify", changes="A light one.")
    body = text(desk.see("Guest", topic))
    assert "topic modified" in body
    assert "A light one." in body
    assert 'value="respond"' not in body


def test_messages_are_answered_and_reacted_to_and_direct_ones_are_for_two(desk: Desk) -> None:
    channel = f"channels/{desk.tide.channel().id}"
    desk.do("Vi", channel, "send_message", text="Low <i>water</i> at six.")
    (message,) = set(re.findall(r"/(messages/[^\"]+)", desk.see("Ada", channel)))
    assert "Low &lt;i&gt;water" in desk.see("Ada", message)
    desk.do("Ada", message, "send_message", text="I come.")
    id = message.removeprefix("messages/")
    desk.do("Ada", message, "react_to_message", message_id=id, emoji="👍")
    assert "👍 1, yours" in desk.see("Ada", message)
    assert "1 reply" in text(desk.see("Vi", channel))
    assert "I come." in desk.see("Vi", message)
    direct = below(desk.do("Ada", f"members/{desk.tide.member('Vi').id}", "open_direct"))
    desk.do("Ada", direct, "send_message", text="Canary")
    assert "Canary" in desk.see("Vi", direct)
    assert desk.see("Guest", direct, 404) == desk.see("Guest", "channels/ch_none", 404)
    assert 'value="open_topic"' not in desk.see("Vi", direct)


def test_owners_change_settings_transfer_and_remove_and_others_leave(desk: Desk) -> None:
    tide = desk.tide
    desk.do("Ada", "settings", "change_settings", name="High Tide", revision="1")
    assert "High Tide" in desk.see("Vi", "")
    guest = f"members/{tide.member('Guest').id}"
    assert 'value="remove_member"' not in desk.see("Vi", guest)
    desk.do("Vi", guest, "remove_member", 403, sure="yes")
    desk.do("Ada", guest, "remove_member", sure="yes")
    desk.see("Guest", "", 404)
    assert "Assign: Leader (Watch)" in text(desk.do("Vi", "settings", "leave_organisation", 409, sure="yes"))
    vi = tide.member("Vi").id
    desk.do("Vi", f"members/{vi}", "change_profile", firstname="Vivian")
    assert "Vivian" in desk.see("Ada", "members")
    desk.do("Ada", f"members/{vi}", "transfer_ownership", sure="yes")
    assert 'value="change_settings"' in desk.see("Vi", "settings")


def test_long_lists_are_shown_in_pages_and_choices_are_bounded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    tide = desk.tide
    root, channel = tide.team("Tide").id, tide.channel().id
    for number in range(60):
        tide.do("Vi", conversation.send_message, channel_id=channel, text=f"number {number:02}")
    seen, path = "", f"{AT}/channels/{channel}"
    while path:
        body = desk.see("Vi", path)
        seen += body
        path = html.unescape("".join(re.findall(r'rel="next" href="([^"]+)"', body)))
    assert re.findall(r"number (\d\d)", seen) == [f"{number:02}" for number in range(59, -1, -1)]
    assert f'<option value="{root}"' in desk.see("Vi", f"teams/{tide.team('Watch').id}")
    monkeypatch.setattr(console, "MOST", 1)  # more are not offered by name: their id is written
    assert '<input id="change_team-parent-team-id"' in desk.see("Vi", f"teams/{tide.team('Watch').id}")
    assert '<input id="assign_role-member-id"' in desk.see("Vi", f"roles/{tide.role('Watch', 'Leader').id}")
    assert '<input id="filter-team-id"' in desk.see("Vi", "journal")


def test_what_an_agent_gave_is_marked_on_every_page_and_words_mark_nothing(desk: Desk) -> None:
    tide = desk.tide
    helper, channel = tide.agent("Vi"), tide.channel().id
    fake = "by an agent: Fake"
    mine = tide.do("Vi", conversation.send_message, channel_id=channel, text=fake).id
    sent = tide.act(helper, "send_message", channel_id=channel, text="Low water").message_id
    tide.act(helper, "react_to_message", message_id=sent, emoji="👍")
    for page in (f"channels/{channel}", f"messages/{sent}"):
        body = desk.see("Guest", page)
        assert '<span class="badge">by an agent: <bdi>Helper</bdi></span>' in body
        assert "1 by agents" in text(body)
    assert 'class="badge"' not in desk.see("Guest", f"messages/{mine}")
    body = desk.see("Guest", "journal?target_type=messages")
    assert '<span class="badge">by an agent: Helper</span>' in body
    assert "AI Agent (via Vi)" in text(body)
    assert f"messages/{sent}" in body
    assert "Low water" not in body
    vote = tide.do("Ada", processes.open_vote, channel_id=channel, title="Which?", mode="single", options=["A", "B"]).id
    tide.act(helper, "cast_vote", message_id=vote, choices=["1"])
    tide.do("Guest", processes.cast_vote, message_id=vote, choices=["1"])
    seen = text(desk.see("Ada", f"messages/{vote}"))
    assert re.search(r"Vi by an agent: Helper ?, Guest|Guest ?, Vi by an agent: Helper", seen)


def test_an_owner_ends_agents_and_members_see_their_own(desk: Desk) -> None:
    tide = desk.tide
    helper = tide.agent("Vi")
    tide.act(helper, "send_message", channel_id=tide.channel().id, text="Hello")
    grant = str(helper.principal.grant)
    seen = text(desk.see("Ada", "agents"))
    for told in ("Helper acts", "Vi", "1 action, 0 refused", "since", "until", "Leader", "messages"):
        assert told in seen
    own = desk.see("Vi", "agents")
    assert "Helper" in own
    assert 'href="/account"' in own
    assert "end_agent" not in own
    assert "No agent has access." in desk.see("Guest", "agents")
    desk.do("Vi", "agents", "end_agent", 403, agent_id=grant, sure="yes")
    desk.do("Ada", "agents", "end_agent", agent_id=grant, sure="yes")
    assert "No agent has access." in desk.see("Ada", "agents")
    assert "Access of an agent" in text(desk.see("Guest", "journal?target_type=grants"))
    with pytest.raises(Forbidden, match="grant has ended"):
        tide.act(helper, "send_message", channel_id=tide.channel().id, text="Again")


def test_settings_switch_acting_off_and_on_and_limit_calls(desk: Desk) -> None:
    tide = desk.tide
    assert 'value="change_agents"' not in desk.see("Vi", "settings")
    desk.do("Vi", "settings", "change_agents", 403, revision="1", agents_act="true")
    refused = desk.do("Ada", "settings", "change_agents", 422, revision="1", reads_a_minute="601")
    assert "600" in text(refused)
    desk.do("Ada", "settings", "change_agents", revision="1", writes_a_minute="3")
    now = tide.store.organisation("tide")
    assert (now.agents_act, now.limits) == (False, {"write": 3})
    desk.do("Ada", "settings", "change_agents", revision="2", agents_act="true", writes_a_minute="")
    now = tide.store.organisation("tide")
    assert (now.agents_act, now.limits) == (True, {})


def test_what_awaits_a_member_is_what_the_prompt_reads(desk: Desk) -> None:
    tide = desk.tide
    topic = tide.do("Ada", processes.open_topic, channel_id=tide.channel().id, title="Gate", description="Paint.").id
    others = text(desk.see("Vi", "me")).partition("Open, waiting for others")
    assert "Gate" in others[2] and "Gate" not in others[0]
    tide.do("Ada", processes.move_on, message_id=topic, phase="consent")
    body = desk.see("Vi", "me")
    mine = text(body).partition("Open, waiting for others")
    assert "Gate" in mine[0].partition("Waiting for you")[2] and "Gate" not in mine[2].partition("Decisions")[0]
    assert f"messages/{topic}" in body
    assert f"roles/{tide.role('Watch', 'Leader').id}" in body


@pytest.mark.parametrize("page", sorted(set(DECLARED) - {"labels", "moves"}))
def test_fields_of_forms_are_those_of_their_operations(page: str) -> None:
    for form in forms_of(page).values():
        assert set(form.inputs.names) <= set(form.called.input.model_fields), form.name
