"""Finding a running deployment, rehearsing a run, and the text of reports."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.findings import Finding
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.sync.report import Counts, Report, SkippedFile
from commonplace.documents.sync.steps import Steps
from commonplace.kernel.objects import PreconditionFailed
from commonplace.repository.github_credentials import SecretCredentials
from commonplace.repository.github_secrets import GitHubSecret
from commonplace.repository.problems import Problem
from commonplace_local import deployment
from commonplace_local.deployment import ENDPOINT_FILE, NEEDED, Deployment, announced, find, laptop, laptops
from commonplace_local.dry_run import ForgetfulState, Overlay, ReadOnlyRepository, rehearse
from commonplace_local.errors import CommandError
from commonplace_local.github.api import GitHubApi
from commonplace_local.github.git import GitRepository
from commonplace_local.github.server import GitHubServer
from commonplace_local.project import PROJECT
from commonplace_local.reports import CAUSES, failure_text, rehearsal_text, report_text
from tests.fakes.store import FakeObjectStore
from tests.integration.repositories import Clone, client_of, document

OUTPUTS = dict.fromkeys(NEEDED, "x") | {"BaseUrl": "http://127.0.0.1:1/"}
RUNNING = Deployment(OUTPUTS, "http://127.0.0.1:2", "KEY")


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    user = Clone(tmp_path / "garden")
    user.write("docs/crabs.md", document("Crabs", type="article"))
    user.write("docs/whelks.md", document("Whelks", type="article"))
    user.commit()
    return user


@pytest.fixture
def server(user: Clone) -> Iterator[GitHubServer]:
    with GitHubServer(GitHubApi(GitRepository(user.git_dir), "reef/garden")) as server:
        yield server


def repository(server: GitHubServer) -> ReadOnlyRepository:
    secret = GitHubSecret("webhook", token="token-of-a-test")
    client = client_of(server)
    return ReadOnlyRepository(client, "reef/garden", "main", SecretCredentials(lambda: secret))


def publish(store: FakeObjectStore, server: GitHubServer) -> None:
    """A real run, whose writes stay."""
    steps = Steps(store, repository(server), ForgetfulState(0), bucket="", exclusions=Exclusions())
    event = {"run": "real", "full": False}
    answer = steps.plan(event)
    items = store.get(answer["items"]["key"])
    assert items is not None
    for item in json.loads(items.body):
        steps.store(event | {"item": item})
    assert steps.publish(event)["action"] == "published"


def contents(store: FakeObjectStore) -> dict[str, str]:
    return {item.key: item.etag for item in store.list("")}


def test_rehearsal_tells_new_changed_and_removed_and_writes_nothing(user: Clone, server: GitHubServer) -> None:
    store = FakeObjectStore()
    publish(store, server)
    user.write("docs/limpets.md", document("Limpets", type="article"))
    user.write("docs/crabs.md", document("Crabs", "Changed.\n", type="article"))
    (user.folder / "docs/whelks.md").unlink()
    user.commit()
    before = contents(store)
    told = rehearse(store, repository(server), Exclusions(), full=False)
    assert told.report is not None
    assert (told.new, told.changed, told.same) == (("article/limpets",), ("article/crabs",), ())
    assert told.report.removed == ["article/whelks"]
    assert contents(store) == before
    assert server.api.statuses == ()
    text = rehearsal_text(told)
    assert "## New (1)\n- article/limpets" in text
    assert "## Removed (1)\n- article/whelks" in text


def test_rehearsal_of_nothing_says_so(server: GitHubServer) -> None:
    store = FakeObjectStore()
    publish(store, server)
    assert "would change nothing" in rehearsal_text(rehearse(store, repository(server), Exclusions(), full=False))


def test_full_rehearsal_knows_what_would_be_written_again_unchanged(server: GitHubServer) -> None:
    store = FakeObjectStore()
    publish(store, server)
    told = rehearse(store, repository(server), Exclusions(), full=True)
    assert (told.new, told.changed) == ((), ())
    assert sorted(told.same) == ["article/crabs", "article/whelks"]


def test_overlay_reads_through_and_keeps_writes_to_itself() -> None:
    below = FakeObjectStore()
    etag = below.put("a", b"1")
    below.put("b", b"2")
    overlay = Overlay(below)
    with pytest.raises(PreconditionFailed):
        overlay.put("a", b"9", if_absent=True)
    with pytest.raises(PreconditionFailed):
        overlay.put("c", b"9", if_match=etag)
    overlay.put("a", b"3", if_match=etag)
    overlay.put("c", b"4", if_absent=True)
    overlay.delete(["b", "nothing"])
    assert [item.key for item in overlay.list("")] == ["a", "c"]
    found = overlay.get("a")
    assert found is not None
    assert found.body == b"3"
    assert overlay.get_if_changed("a", found.etag) is None
    assert overlay.get("b") is None
    with pytest.raises(KeyError):
        overlay.get_if_changed("b", None)
    assert sorted(item.key for item in below.list("")) == ["a", "b"]


@pytest.fixture
def running_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "running"
    monkeypatch.setattr(deployment, "RUNNING_FOLDER", folder)
    return folder


def test_a_running_laptop_is_found_and_a_dead_one_is_not(tmp_path: Path, running_folder: Path) -> None:
    file = tmp_path / ENDPOINT_FILE
    with announced(tmp_path, RUNNING):
        (note,) = running_folder.iterdir()
        assert (laptop(tmp_path), laptop(), laptops()) == (RUNNING, RUNNING, {tmp_path: RUNNING})
        assert {one.stat().st_mode & 0o777 for one in (file, note)} == {0o600}
        assert "KEY" not in repr(RUNNING)
        for one in (file, note):
            one.write_text(json.dumps(json.loads(one.read_text()) | {"pid": 2**22 + 1}))
        for data in (tmp_path, None):
            with pytest.raises(CommandError, match="No laptop cloud"):
                laptop(data)
    assert not file.exists()
    assert list(running_folder.iterdir()) == []


def test_notes_of_the_dead_are_swept_at_the_next_start(tmp_path: Path, running_folder: Path) -> None:
    running_folder.mkdir()
    dead = running_folder / f"{2**22 + 1}.json"
    dead.write_text("{}")
    with announced(tmp_path, RUNNING):
        assert not dead.exists()


def test_outputs_of_a_deployment_are_read_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({"Other": {"A": "b"}, "Commonplace-dev": OUTPUTS}))
    assert find(outputs=file).outputs == OUTPUTS
    file.write_text(json.dumps({"Commonplace-dev": {"ContentBucket": "x"}}))
    with pytest.raises(CommandError, match="lacks the outputs ActivityTable"):
        find(outputs=file)
    file.write_text("not JSON")
    with pytest.raises(CommandError, match="cannot be read"):
        find(outputs=file)


def test_report_text_puts_reasons_before_details() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    problem = Problem(
        "malformed-frontmatter", "The frontmatter is not valid YAML.", "Quote the value.", line=2, column=9
    )
    report = Report(
        run="a-1",
        commit_sha="a" * 40,
        generation=3,
        started_at=moment,
        finished_at=moment,
        counts=Counts(documents=2, stored=1, unchanged=1),
        stored=[DocumentRef("article/crabs")],
        skipped=[SkippedFile(path="docs/bad.md", reason="unreadable", problem=problem, kept_last_good=True)],
        skipped_by_reason={"draft": 1, "without `publish: true`": 7},
        findings=[
            Finding("docs/bad.md", problem),
            Finding("docs/crabs.md", Problem("broken-link", "there is no file `x.md`", "correct the path", line=4)),
        ],
        pending=1,
    )
    text = report_text(report)
    assert text.index("7 without `publish: true`") < text.index("1 draft")
    assert "docs/bad.md:2:9: error: The frontmatter is not valid YAML. (Quote the value.)" in text
    assert "## Served in their previous version (1)\n- docs/bad.md" in text
    assert "docs/crabs.md:4: warning: there is no file `x.md` (correct the path)" in text
    assert "Found 2 problems (1 error, 1 warning), no hints" in text
    assert "1 file pending" in text


def test_report_text_names_the_files_that_are_not_published() -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    skipped = [SkippedFile(path=f"docs/{number}.md", reason="without `publish: true`") for number in range(12)]
    report = Report(
        run="a-1",
        commit_sha="a" * 40,
        generation=3,
        started_at=moment,
        finished_at=moment,
        counts=Counts(),
        skipped=skipped,
        skipped_by_reason={"without `publish: true`": 12},
    )
    text = report_text(report)
    assert "12 without `publish: true`\n        docs/0.md" in text
    assert "... and 2 more (--all)" in text
    assert "docs/11.md" not in text and "docs/11.md" in report_text(report, verbose=True)


def test_what_ended_a_run_is_said_in_words_where_the_runbook_knows_it() -> None:
    runbook = (PROJECT / "docs" / "operate" / "runbooks" / "sync-failed.md").read_text(encoding="utf-8")
    assert [name for name in CAUSES if f"| `{name}` |" not in runbook] == []
    assert failure_text("UntrustedTree") == "UntrustedTree, the branch is empty, missing, or too large to list"
    assert failure_text("SomethingElse") == "SomethingElse"
