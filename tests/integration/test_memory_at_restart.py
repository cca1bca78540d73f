"""What a laptop remembers, whose index is gone or whose work was interrupted."""

from pathlib import Path

import pytest

from commonplace.kernel.audit import AuditRecord
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.model import Entry, EntryId, Job, content_hash
from commonplace.memory.store import DynamoEntries
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import plain_folder

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


def memory(laptop: Laptop) -> tuple[DynamoEntries, DynamoJobs]:
    told, client = laptop.outputs(), laptop.cloud.client("dynamodb")
    tables = told["RecordsTable"], told["ActivityTable"]
    return DynamoEntries(client, *tables), DynamoJobs(client, *tables)


def test_a_start_without_the_index_makes_it_anew_and_one_in_the_middle_of_a_job_goes_on(tmp_path: Path) -> None:
    with laptop(tmp_path) as first:
        assert not first.remembers()
        audit = AuditRecord(event="memory.add", outcome="ok", at=1, organisation="default")
        memory(first)[0].add("default", [an_entry()], audit)
        first.wait()
        index = first.index_file.with_name("memory.sqlite")
        assert index.exists()
    index.unlink()
    with laptop(tmp_path) as second:
        second.wait()
        assert second.remembers()
        assert not index.exists(), "what was taken is not told again"
        second.look_after_records()
        second.wait()
        assert index.exists()
        job = Job(organisation="default", id="left", kind="rebuild", created_at=NOW, updated_at=NOW, total=1)
        memory(second)[1].create(job)
    with laptop(tmp_path) as third:
        third.wait()
        jobs = memory(third)[1]
        assert jobs.job("default", "left")
        assert list(jobs.unfinished("default")) == []
