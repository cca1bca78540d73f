"""What a laptop remembers, after a start that came too early for its index."""

from pathlib import Path

import pytest

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.model import Entry, EntryId, Job, content_hash
from commonplace.memory.store import DynamoEntries
from local.dev.laptop import Laptop
from local.dev.source import plain_folder

pytestmark = pytest.mark.laptop

NOW = "2026-01-02T03:04:05.000006Z"
ID = EntryId("00000000-0000-4000-8000-000000000001")


def an_entry() -> Entry:
    content = "Tides turn twice a day."
    return Entry(
        organisation="default",
        id=ID,
        content=content,
        content_hash=content_hash(content),
        entry_type="fact",
        roles=("all",),
        tags=(),
        confidence=1.0,
        created_at=NOW,
        updated_at=NOW,
    )


def laptop(folder: Path) -> Laptop:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    return Laptop(plain_folder(source, "example/garden"), folder / "data")


def test_what_was_not_indexed_before_the_end_is_indexed_after_the_start(tmp_path: Path) -> None:
    with laptop(tmp_path) as first:
        assert not first.remembers()
        told = first.outputs()
        client = first.cloud.client("dynamodb")
        audit = AuditRecord(event="memory.add", outcome="ok", at=1, organisation="default")
        DynamoEntries(client, told["RecordsTable"], told["ActivityTable"]).add("default", [an_entry()], audit)
        job = Job(organisation="default", id="left", kind="rebuild", created_at=NOW, updated_at=NOW, total=1)
        first.wait()
        index = first.index_file.with_name("memory.sqlite")
        assert index.exists()
        # As if the process had ended with its messages in the queue.
        key = {"pk": {"S": "default#memory#jobs"}, "sk": {"S": "left"}}
        DynamoJobs(client, told["RecordsTable"], told["ActivityTable"]).create(job)
        assert client.get_item(TableName=told["RecordsTable"], Key=key)["Item"]
    index.unlink()
    with laptop(tmp_path) as second:
        second.wait()
        assert second.remembers()
        assert not index.exists(), "a restart announces nothing by itself"
        second.look_after_records()
        second.wait()
        assert index.exists()
        told = second.outputs()
        jobs = DynamoJobs(second.cloud.client("dynamodb"), told["RecordsTable"], told["ActivityTable"])
        assert list(jobs.unfinished("default")) == []
