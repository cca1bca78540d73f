"""Messages in the index: what comes into it, who finds what, and that it is the store which decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from commonplace.governance import conversation, processes, structure
from commonplace.governance.collection import collection
from commonplace.governance.index_source import StoredMessages
from commonplace.governance.model import Message
from commonplace.governance.search import MessageSearch
from commonplace.governance.search_tool import SearchArguments, search_messages
from commonplace.governance.store import MESSAGES
from commonplace.identity.principals import ANONYMOUS
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.kernel.records import Change
from commonplace.search.collections import IndexContext, IndexFunction
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.settings import RetrievalSettings
from commonplace.web.mcp.declaration import Call, Caller
from commonplace.web.operations import Actor
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.governance import Tide, agent, person
from tests.fakes.store import FakeObjectStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MODEL = FakeEmbeddings()


class Indexed:
    """The organisation of the tests, its index, and searches in it."""

    def __init__(self, tide: Tide, client: DynamoDBClient, folder: Path) -> None:
        environ = {"GOVERNANCE_SCHEME": "swarmrise", "RECORDS_TABLE": tide.store.table.name, "ACTIVITY_TABLE": "none"}
        context = IndexContext(
            environ=environ,
            settings=RetrievalSettings(index_location=(folder / "documents.sqlite").as_uri()),
            objects=FakeObjectStore(),
            dynamodb=lambda: client,
            models=[MODEL],
            note=lambda _collection: None,
            changes=None,
        )
        found = collection(context)
        assert found is not None
        self.tide, self.collection, self.function = tide, found, IndexFunction([found])
        self.engine = cast(EmbeddedEngine, found.operations.indexers[0].engine)
        self.using = replace(tide.governance, search=MessageSearch(self.engine, [MODEL], tide.store))

    def take(self, *messages: Message, room: str = "messages") -> Any:
        bodies = [{"table": "records", "pk": f"tide#gov#{room}", "sk": one.id} for one in messages]
        records = [{"messageId": str(at), "body": json.dumps(body)} for at, body in enumerate(bodies)]
        return self.function({"Records": records}, None)

    def say(self, who: str, text: str, team: str | None = None, parent: str | None = None) -> Message:
        """Send a message, and have it indexed."""
        channel = self.tide.channel(team).id
        said: Message = self.tide.do(who, conversation.send_message, channel_id=channel, text=text, parent_id=parent)
        self.take(said, room="replies" if parent else "messages")
        return said

    def remove(self, message: Message) -> None:
        """Remove a message as a failed import does."""
        table = self.tide.store.table
        table.write(table.delete(MESSAGES.at("tide", message.id)))

    def reader(self, who: str, *roles: tuple[str, str], kinds: tuple[str, ...] | None = None) -> Actor:
        """Return an agent of a member for roles of these teams and titles."""
        return agent("tide", self.tide.member(who), [self.tide.role(*one).id for one in roles], kinds)

    def find(self, actor: Actor, query: str = "heron", **given: Any) -> Any:
        call = Call(Caller(actor.principal))
        return search_messages(self.using, call, SearchArguments(query=query, **given)).data

    def ids(self, actor: Actor, query: str = "heron", **given: Any) -> list[str]:
        return [one.message_id for one in self.find(actor, query, **given).hits]


@pytest.fixture
def indexed(tide: Tide, dynamodb_client: DynamoDBClient, tmp_path: Path) -> Iterator[Indexed]:
    found = Indexed(tide, dynamodb_client, tmp_path)
    yield found
    found.engine.close()


def test_without_governance_there_is_no_such_collection() -> None:
    assert collection(cast(Any, SimpleNamespace(environ={"RECORDS_TABLE": "records"}))) is None


def test_messages_come_into_the_index_and_leave_it_as_the_store_has_them(indexed: Indexed) -> None:
    one = indexed.say("Ada", "The heron stands in the inlet.")
    two = indexed.say("Vi", "I saw the heron, too.", parent=one.id)
    assert dict(indexed.engine.versions()) == {f"tide/{one.id}": 1, f"tide/{two.id}": 1}

    indexed.remove(one)
    assert indexed.take(one) == {"batchItemFailures": []}
    assert dict(indexed.engine.versions()) == {f"tide/{two.id}": 1}


@pytest.mark.parametrize("room", ["gov#direct", "gov#direct-replies", "gov#answers", "memory#entries"])
def test_the_collection_claims_no_event_of_another_room(indexed: Indexed, room: str) -> None:
    body = {"table": "records", "pk": f"tide#{room}", "sk": "dm_1.2"}
    assert not indexed.collection.claims(json.dumps(body))


def test_direct_messages_are_in_no_index(indexed: Indexed) -> None:
    tide = indexed.tide
    channel = tide.do("Ada", conversation.open_direct, member_id=tide.member("Vi").id)
    secret = tide.do("Ada", conversation.send_message, channel_id=channel.id, text="The heron is a secret.")
    indexed.take(secret)  # as if a bug had named it
    indexed.take(secret, room="direct")
    assert StoredMessages(tide.store).published().versions == {}
    assert dict(indexed.engine.versions()) == {}
    for actor in (indexed.reader("Ada", ("Tide", "Leader")), indexed.reader("Vi")):
        assert indexed.ids(actor) == []
        with pytest.raises(NotFound):
            indexed.ids(actor, channel_id=channel.id)


def test_a_search_finds_what_the_roles_of_the_token_reach(indexed: Indexed) -> None:
    everybody = indexed.say("Ada", "A heron for everybody.")
    watch = indexed.say("Vi", "A heron for the watch.", "Watch")
    narrowed, whole = indexed.reader("Vi"), indexed.reader("Vi", ("Watch", "Leader"))
    assert indexed.ids(narrowed) == [everybody.id]
    assert {*indexed.ids(whole)} == {everybody.id, watch.id}
    assert indexed.ids(whole, channel_id=indexed.tide.channel("Watch").id) == [watch.id]
    with pytest.raises(NotFound):
        indexed.ids(narrowed, channel_id=indexed.tide.channel("Watch").id)


def test_the_store_decides_about_what_the_index_proposes(indexed: Indexed) -> None:
    said = indexed.say("Ada", "The heron stands in the inlet.")
    indexed.remove(said)  # and the index does not know yet
    assert indexed.ids(indexed.reader("Guest")) == []


def test_two_organisations_never_cross(indexed: Indexed) -> None:
    tide = indexed.tide
    mine = indexed.say("Ada", "The heron stands in the inlet.")
    tide.do("Eve", structure.found_organisation, slug="ebb", name="Ebb", firstname="Eve")
    (eve,) = tide.store.memberships(tide.person("Eve").principal.account or "")
    # The same channel and message, under the other organisation's name.
    channel, change = tide.channel(), Change(tide.store.table, "ebb")
    change.add(MESSAGES, Message(id=f"{channel.id}.1", author=eve.member, text="A heron of Ebb.", created_at="2026"))
    tide.store.table.transact(change.writes)
    indexed.function({"source": "aws.events", "collection": "messages"}, None)
    assert len(dict(indexed.engine.versions())) == 2
    assert indexed.ids(indexed.reader("Guest")) == [mine.id]
    stranger = agent("ebb", tide.member("Ada"), [])
    with pytest.raises(NotFound):
        indexed.find(stranger)


def test_a_process_is_found_by_what_it_is_about_and_only_by_tokens_for_topics(indexed: Indexed) -> None:
    tide = indexed.tide
    topic = tide.do(
        "Ada", processes.open_topic, channel_id=tide.channel().id, title="Protect the heron", description="By a fence."
    )
    tide.do("Vi", processes.ask_clarification, message_id=topic.id, question="Which zebra?")
    indexed.function({"source": "aws.events", "collection": "messages"}, None)
    reader = indexed.reader("Guest")
    assert indexed.ids(reader, "fence") == [topic.id]
    assert indexed.ids(reader, "zebra") == []
    assert indexed.ids(indexed.reader("Guest", kinds=("organisation", "messages")), "fence") == []


def test_pages_follow_one_another_and_name_who_said_it_where(indexed: Indexed) -> None:
    said = {indexed.say("Vi", f"Heron number {at}: it is grey, and it waits.", "Watch").id for at in range(5)}
    reader = indexed.reader("Vi", ("Watch", "Leader"))
    found, cursor = [], None
    while True:
        page = indexed.find(reader, limit=2, cursor=cursor)
        found += page.hits
        if (cursor := page.next) is None:
            break
    assert len(found) == 5
    assert {one.message_id for one in found} == said
    assert {(one.author_name, one.channel_name) for one in found} == {("Vi", "Watch")}
    assert all("Heron" in one.excerpt and 0 < one.score <= 1 for one in found)
    foreign = indexed.find(reader, limit=2).next
    with pytest.raises(InvalidInput):
        indexed.find(indexed.reader("Guest"), limit=2, cursor=foreign)


@pytest.mark.parametrize("query", ["  ", " a "])
def test_a_query_has_two_characters(indexed: Indexed, query: str) -> None:
    with pytest.raises(InvalidInput):
        indexed.find(indexed.reader("Ada"), query)


def test_nobody_searches_without_a_membership(indexed: Indexed) -> None:
    for actor in (Actor(ANONYMOUS), person("account-ada")):
        with pytest.raises(NotFound):
            indexed.find(actor)
