"""The console's pages of the memory: search, an entry with its history, changes, figures."""

import re
from pathlib import Path

import pytest

from commonplace.kernel.audit import Author
from commonplace.memory.console import memory_pages
from commonplace.memory.model import EntryId
from commonplace.memory.operations import MemoryServices
from tests.console_app import Browser, Deployment
from tests.fakes.authority import ALICE, BOB, Accounts, standing
from tests.fakes.identity_stores import MemoryAudit
from tests.fakes.memories import Remembering, remembering

OWN = Author(organisation="default", account="a" * 32)
TEXT = "Lock rows in one order, or two transactions block each other."


@pytest.fixture
def team(tmp_path: Path) -> Remembering:
    return remembering(tmp_path)


@pytest.fixture
def audit() -> MemoryAudit:
    return MemoryAudit()


@pytest.fixture
def member(team: Remembering, audit: MemoryAudit) -> Browser:
    standings = Accounts({ALICE: standing("member"), BOB: standing("public")})
    pages = memory_pages(MemoryServices(memory=team.memory))
    return Deployment(lambda _: [pages], standings=standings, audit=audit).browser(ALICE)


def place(id: str) -> str:
    return f"/console/memory/entries/{id}"


def done(member: Browser, id: str, action: str, **fields: str) -> str:
    """The page that an action leads to."""
    answer = member.post(place(id), {"action": action, **fields})
    assert answer.status_code == 303, answer.text
    return str(member.get(answer.headers["location"]).text)


def test_entries_are_listed_filtered_and_found(team: Remembering, member: Browser) -> None:
    ids = [team.add(f"{TEXT} {number}", OWN, source_story=f"S-{number % 2}") for number in range(25)]
    team.settle()
    path, listed = "/console/memory", list[str]()
    while path:
        body = member.get(path).text
        listed += re.findall(r"entries/([0-9a-f-]{36})", body)
        path = "".join(re.findall(r'rel="next" href="([^"]+)"', body)).replace("&amp;", "&")
    assert listed == ids[::-1]
    assert ids[1] not in member.get("/console/memory?source_story=S-0").text
    assert TEXT in member.get("/console/memory?q=transactions&role=dev").text
    assert "No results." in member.get("/console/memory?q=zebra&entry_type=template").text


def test_an_entry_is_edited_and_its_history_is_shown(team: Remembering, member: Browser, audit: MemoryAudit) -> None:
    id = team.add(TEXT, OWN)
    body = done(
        member,
        id,
        "save",
        content="Sort the ids.",
        tags="db\nlocks",
        roles="qa",
        confidence="0.9",
        expected_version="1",
    )
    entry = team.memory.get(OWN, id)
    assert (entry.content, entry.tags, entry.roles) == ("Sort the ids.", ("db", "locks"), ("qa",))
    assert "content, roles, tags, confidence" in body
    assert TEXT in body
    assert [record.event for record in team.store.audit.records] == ["memory.add", "memory.update"]
    assert audit.records


def test_a_change_of_an_old_version_is_refused_and_loses_no_word(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, OWN)
    done(member, id, "save", content="First.", roles="dev", expected_version="1")
    answer = member.post(place(id), {"action": "save", "content": "Mine.", "roles": "dev", "expected_version": "1"})
    assert answer.status_code == 409
    assert "The entry is in version 2, not 1." in answer.text
    assert "Mine." in answer.text
    assert team.memory.get(OWN, id).content == "First."


def test_what_a_form_does_not_send_stays(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, OWN, tags=("db",))
    done(member, id, "save", content="First.", roles="dev", expected_version="1")
    assert team.memory.get(OWN, id).tags == ("db",)


def test_a_refused_form_does_not_overwrite_what_others_changed_meanwhile(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, OWN)
    done(member, id, "save", content="First.", roles="dev", confidence="1", entry_type="fact", expected_version="1")
    sent = {"action": "save", "content": "Mine.", "roles": "dev", "entry_type": "fact", "expected_version": "1"}
    answer = member.post(place(id), {**sent, "confidence": "7"})
    assert answer.status_code == 422
    (version,) = re.findall(r'name="expected_version" value="(\d+)"', answer.text.partition("<legend>Move")[0])
    assert member.post(place(id), {**sent, "confidence": "1", "expected_version": version}).status_code == 409
    assert team.memory.get(OWN, id).content == "First."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("content", ""), ("content", "x" * 40_000), ("content", "\x1b[31m"), ("confidence", ""), ("roles", "")),
        *(("tags", "x" * 65), ("tags", "\n".join(map(str, range(31))))),
    ],
)
def test_what_an_edit_cannot_have_is_refused_at_its_field(
    team: Remembering, member: Browser, name: str, value: str
) -> None:
    id = team.add(TEXT, OWN)
    sent = {"action": "save", "content": "New.", "roles": "dev", "confidence": "1", "entry_type": "fact", "tags": ""}
    sent = {one: text for one, text in {**sent, name: value}.items() if text or one != "roles"}
    answer = member.post(place(id), {**sent, "expected_version": "1"})
    assert answer.status_code in (413, 422), answer.headers
    assert f'id="save-{name}-error"' in answer.text
    assert team.memory.get(OWN, id).content == TEXT


def test_the_help_of_lines_is_two_sentences(team: Remembering, member: Browser) -> None:
    assert "Replace its tags. One a line." in member.get(place(team.add(TEXT, OWN))).text


def test_an_entry_is_moved(team: Remembering, member: Browser) -> None:
    parent, id = team.add("A summary.", OWN), team.add(TEXT, OWN, source_story="S-1")
    done(member, id, "move", source_story="S-2", source_file="", parent_id=parent, expected_version="1")
    moved = team.memory.get(OWN, id)
    assert (moved.source_story, moved.source_file, moved.parent_id) == ("S-2", None, parent)
    done(member, id, "move", source_story="", source_file="", parent_id="", expected_version="2")
    assert team.memory.get(OWN, id).parent_id is None
    done(member, id, "move", source_story=" ", source_file="f.md", parent_id="", expected_version="3")
    assert team.memory.get(OWN, id).source_story is None
    answer = member.post(place(id), {"action": "move", "parent_id": "of-nobody", "expected_version": "4"})
    assert 'id="move-parent-id-error"' in answer.text


def test_an_entry_is_deleted_and_restored(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, OWN)
    assert "Tick that you are sure first." in member.post(place(id), {"action": "delete"}).text
    assert "This entry is deleted." in done(member, id, "delete", sure="yes")
    assert "Restored." in done(member, id, "restore")
    assert team.memory.get(OWN, id).content == TEXT


def test_votes_and_figures_are_shown(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, OWN)
    assert "4.0, mean of 1 vote" in done(member, id, "rate", relevance="4")
    body = member.get("/console/memory/figures").text
    assert "4.0 (mean of 1 votes)" in body
    assert "unknown: no stories" in body


@pytest.mark.parametrize("path", ["/console/memory", "/console/memory/figures", place(EntryId("0" * 8))])
def test_only_members_see_pages(team: Remembering, path: str) -> None:
    pages = memory_pages(MemoryServices(memory=team.memory))
    deployment = Deployment(lambda _: [pages], standings=Accounts({BOB: standing("public")}))
    assert deployment.browser(BOB).get(path).status_code == 403


def test_another_organisations_entry_is_unknown(team: Remembering, member: Browser) -> None:
    id = team.add(TEXT, Author(organisation="other", account="b" * 32))
    assert member.get(place(id)).status_code == 404
    assert member.post(place(id), {"action": "delete", "sure": "yes"}).status_code == 404
