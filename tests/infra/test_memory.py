"""What the memory's adapters ask of DynamoDB is what the roles of their functions allow, and no more than that is."""

from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from typing import Any

import boto3
import pytest
from moto import mock_aws

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.job_store import DynamoJobs, DynamoQueryCounts
from commonplace.memory.model import Entry, EntryId, Job, Vote, content_hash
from commonplace.memory.records import Once
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage import DynamoUsage
from commonplace.search.store import DynamoNote, DynamoVectorCaches
from tests.dynamodb_fixture import new_table
from tests.infra.templates import Template, as_list

ORGANISATION = "acme"
NOW = "2026-01-02T03:04:05.000006Z"
TABLES = {"records": "StateRecords", "cache": "StateCache", "activity": "StateActivity"}
OF_TRANSACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}

Asked = tuple[str, str, str]
"""Table, action, partition."""


class Memory:
    """The adapters of the memory on tables of their own, and all that they have asked for."""

    def __init__(self) -> None:
        client = boto3.client("dynamodb", region_name="us-east-1")
        names = {kind: new_table(client, kind) for kind in TABLES}
        self._kinds = {name: kind for kind, name in names.items()}
        self.asked: set[Asked] = set()
        client.meta.events.register("provide-client-params.dynamodb.*", self._note)
        self.entries = DynamoEntries(client, names["records"], names["activity"])
        self.jobs = DynamoJobs(client, names["records"], names["activity"])
        self.usage = DynamoUsage(client, names["records"], names["activity"])
        self.counts = DynamoQueryCounts(client, names["records"])
        self.vectors = DynamoVectorCaches(client, names["cache"])
        self.notes = [DynamoNote(client, names["activity"], name) for name in ("documents", "memory")]

    def _note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self.asked |= {(self._kinds[table], action, key["S"]) for table, action, key in _asked(model.name, params)}


def _asked(operation: str, params: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, str]]]:
    match operation:
        case "TransactWriteItems":
            for write in params["TransactItems"]:
                ((kind, one),) = write.items()
                yield one["TableName"], OF_TRANSACTIONS[kind], (one.get("Key") or one["Item"])["pk"]
        case "BatchGetItem":
            for table, wanted in params["RequestItems"].items():
                yield from ((table, operation, key["pk"]) for key in wanted["Keys"])
        case "BatchWriteItem":
            for table, requests in params["RequestItems"].items():
                for ((_, request),) in (one.items() for one in requests):
                    yield table, operation, (request.get("Item") or request["Key"])["pk"]
        case "Query":
            yield params["TableName"], operation, params["ExpressionAttributeValues"][":pk"]
        case _:
            yield params["TableName"], operation, (params.get("Key") or params["Item"])["pk"]


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "example")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "example")
    with mock_aws():
        yield Memory()


def entry(number: int, content: str, revision: int = 1) -> Entry:
    return Entry(
        organisation=ORGANISATION,
        id=EntryId(f"00000000-0000-4000-8000-{number:012d}"),
        content=content,
        content_hash=content_hash(content),
        entry_type="fact",
        roles=("all",),
        tags=("a",),
        confidence=1.0,
        created_at=NOW,
        updated_at=NOW,
        revision=revision,
    )


def audit() -> AuditRecord:
    return AuditRecord(event="memory.add", outcome="ok", at=1, organisation=ORGANISATION)


def job(step: int = 0) -> Job:
    return Job(organisation=ORGANISATION, id="one", kind="import", created_at=NOW, updated_at=NOW, step=step)


def use(memory: Memory, id: EntryId) -> None:
    """What is noted of stories and lessons learned again."""
    usage = memory.usage
    assert usage.recur(ORGANISATION, id, "STORY-2", NOW, audit())
    usage.searched(ORGANISATION, "STORY-2", 5)
    usage.recorded(ORGANISATION, "STORY-2", 1_000)


def rate(memory: Memory, id: EntryId) -> None:
    """Votes, twice, and what is told of all that was noted."""
    usage = memory.usage
    usage.vote(ORGANISATION, Vote(id, "STORY-2", "a", 3))
    usage.vote(ORGANISATION, Vote(id, "STORY-2", "a", 4))
    usage.rating(ORGANISATION, id)
    usage.lowest(ORGANISATION, 5)
    usage.recurring(ORGANISATION, 5)
    usage.totals(ORGANISATION)


def answer_calls(memory: Memory) -> None:
    """All that a tool may come to."""
    store, first, second = memory.entries, entry(1, "first"), entry(2, "second")
    store.add(ORGANISATION, [first], audit())
    once = Once(key="k", request="r", expires_at=2**32)
    store.add_once(ORGANISATION, second, audit(), once)
    store.add_once(ORGANISATION, entry(3, "second"), audit(), Once(key="l", request="r", expires_at=2**32))
    store.add_once(ORGANISATION, second, audit(), once)
    store.replace(ORGANISATION, entry(1, "changed", revision=2), first, audit())
    store.get(ORGANISATION, first.id)
    use(memory, first.id)
    rate(memory, first.id)
    store.get_many(ORGANISATION, [first.id, second.id])
    store.holders(ORGANISATION, [second.content_hash])
    list(store.cards(ORGANISATION))
    store.touch(ORGANISATION, [first.id])
    store.forget_parent(ORGANISATION, [first.id], second.id)
    store.delete(ORGANISATION, second.id, audit())
    memory.jobs.create(job(), ["piece"], audit())
    memory.jobs.job(ORGANISATION, "one")
    memory.jobs.piece(ORGANISATION, "one", 0)
    memory.jobs.advance(job(1), job())
    list(memory.jobs.unfinished(ORGANISATION))
    memory.counts.count(ORGANISATION, "dev", "qa")
    memory.counts.counts(ORGANISATION)
    memory.vectors.of(ORGANISATION).known(["a"])
    memory.vectors.of(ORGANISATION).remember({"a": [1.0]})
    memory.vectors.size(ORGANISATION)
    memory.vectors.clear(ORGANISATION)


def carry_on(memory: Memory) -> None:
    """All that events, jobs and comparisons come to."""
    store = memory.entries
    store.get_many(ORGANISATION, [EntryId("x")])
    store.get(ORGANISATION, EntryId("x"))
    list(store.cards(ORGANISATION))
    list(store.organisations())
    store.holders(ORGANISATION, [content_hash("new")])
    store.add(ORGANISATION, [entry(4, "new")], audit())
    use(memory, entry(4, "new").id)
    store.touch(ORGANISATION, [EntryId("x")])
    store.forget_parent(ORGANISATION, [EntryId("x")], EntryId("y"))
    memory.jobs.job(ORGANISATION, "one")
    memory.jobs.piece(ORGANISATION, "one", 0)
    memory.jobs.advance(job(1), job())
    list(memory.jobs.unfinished(ORGANISATION))
    memory.vectors.of(ORGANISATION).known(["a"])
    memory.vectors.of(ORGANISATION).remember({"a": [1.0]})

    for note in memory.notes:
        note.put()
        noted = note.read()
        assert noted is not None
        note.clear(noted)


def read(memory: Memory) -> None:
    """What an index is built from."""
    for note in memory.notes:
        note.put()
    store = memory.entries
    store.get_many(ORGANISATION, [EntryId("x")])
    list(store.cards(ORGANISATION))
    list(store.organisations())
    memory.vectors.of(ORGANISATION).known(["a"])
    memory.vectors.of(ORGANISATION).remember({"a": [1.0]})


@pytest.mark.parametrize(
    ("stage", "role", "work"),
    [
        ("template", "McpRole", answer_calls),
        ("template", "IndexRole", carry_on),
        ("opensearch", "MigrationBuild", read),
    ],
)
def test_a_role_allows_what_the_adapters_ask_for(
    memory: Memory, stage: str, role: str, work: Callable[[Memory], None], request: pytest.FixtureRequest
) -> None:
    work(memory)
    granted = allowed(request.getfixturevalue(stage), role)
    assert memory.asked
    assert {one for one in memory.asked if not any(covers(each, one) for each in granted)} == set()


def test_answering_calls_needs_all_that_its_role_allows(memory: Memory, template: Template) -> None:
    answer_calls(memory)
    ours = [each for each in allowed(template, "McpRole") if "memory#" in each[2] or each[2].endswith("#vectors")]
    assert [each for each in ours if not any(covers(each, one) for one in memory.asked)] == []


def test_an_index_that_is_built_anew_changes_no_entry(opensearch: Template) -> None:
    actions = {action for table, action, _ in allowed(opensearch, "MigrationBuild") if table == "records"}
    assert actions == {"GetItem", "BatchGetItem", "Query"}


def test_what_carries_on_takes_no_entry_out(template: Template) -> None:
    granted = [each for each in allowed(template, "IndexRole") if each[:2] == ("records", "DeleteItem")]
    assert [key for _, _, key in granted if "#memory#" in key] == ["*#memory#facet#*", "*#memory#recurring"]


def test_who_reads_documents_alone_reaches_nothing_that_is_remembered(template: Template) -> None:
    for role in ("SiteRole", "AuthRole", "Webhook", "SyncRun", "SyncStore", "Signing"):
        reached = [key for table, _, key in allowed(template, role) if table == "records"]
        assert not [key for key in reached if fnmatch("acme#memory#entries", key)], role
        assert not [key for _, _, key in allowed(template, role) if key.endswith("#vectors")], role


def test_what_a_guard_may_write_of_the_memory_is_no_record_of_identity(template: Template) -> None:
    for role in ("McpRole", "IndexRole"):
        written = {key for table, action, key in allowed(template, role) if (table, action) == ("activity", "PutItem")}
        assert "memory#*" in written
        assert not [key for key in written if fnmatch("audit#acme", key)]


def test_the_pipe_reads_the_stream_and_sends_to_its_queues_and_nothing_else(template: Template) -> None:
    reading, sending = template.statements("IndexRecordsRole")
    assert {action.partition(":")[0] for action in as_list(reading["Action"])} == {"dynamodb"}
    assert reading["Resource"]["Fn::GetAtt"][1] == "StreamArn"
    assert as_list(sending["Action"]) == ["sqs:SendMessage"]
    assert {each["Fn::GetAtt"][0].rstrip("0123456789ABCDEF") for each in sending["Resource"]} == {
        "IndexRecordsQueue",
        "IndexRecordsDeadLetters",
    }


def test_the_pipes_role_is_for_this_pipe_of_this_account(template: Template) -> None:
    (role,) = [each for name, each in template.of("AWS::IAM::Role").items() if name.startswith("IndexRecordsRole")]
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "pipes.amazonaws.com"}
    own = statement["Condition"]["StringEquals"]
    assert own["aws:SourceAccount"] == {"Ref": "AWS::AccountId"}
    assert own["aws:SourceArn"]["Fn::Join"][1][-1] == ":pipe/commonplace-dev-records"


def allowed(template: Template, role: str) -> list[Asked]:
    """What the role may do with which items of our tables."""
    found: list[Asked] = []
    for statement in template.statements(role):
        keys = statement.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
        tables = [kind for kind, name in TABLES.items() if name in str(statement["Resource"])]
        actions = [str(action).removeprefix("dynamodb:") for action in as_list(statement["Action"])]
        found += [(table, action, key) for table in tables for action in actions for key in as_list(keys)]
    return found


def covers(granted: Asked, asked: Asked) -> bool:
    return granted[:2] == asked[:2] and fnmatch(asked[2], granted[2])
