"""What a run does to the store, case by case."""

import json
import re
import unicodedata
from typing import Any

import pytest

from commonplace.documents.content import paths
from commonplace.documents.content.document import Document
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.reader import Unpublished, Verdict, judge
from commonplace.documents.sync import plan
from commonplace.documents.sync.keys import HISTORY_KEY, KNOWN_KEY, STAGED_PREFIX, SUMMARY_KEY, report_key
from commonplace.documents.sync.report import History, Report
from commonplace.kernel.objects import NotStorable
from commonplace.repository.blobs import BlobSha
from commonplace.repository.ports import RepositoryRateLimited, RepositoryUnavailable, UntrustedTree
from commonplace.repository.problems import Problem
from tests.fakes.repository import EPOCH, FakeRepository
from tests.unit.documents.sync.drive import World, page


def documents(world: World) -> dict[str, Document]:
    found = {}
    for key, stored in world.objects.objects.items():
        if key.startswith("content/"):
            found[key] = Document.model_validate_json(stored.body)
    return found


def summary(world: World) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(world.objects.objects[SUMMARY_KEY].body)
    return found


def test_a_push_ends_as_documents_in_the_store() -> None:
    world = World()
    commit = world.push({"data/concepts/tide.md": page("Tide", "Twice a day.\r\n")})
    world.sync()
    document = documents(world)["content/tag/tide.json"]
    assert (document.title, document.content, document.commit_sha) == ("Tide", "Twice a day.\r\n", commit)
    assert world.objects.objects["raw/data/concepts/tide.md"].body == page("Tide", "Twice a day.\r\n")
    assert [entry.ref for entry in world.manifest().documents] == ["tag/tide"]


def test_a_document_names_its_file_on_github_and_none_where_the_repository_is_a_stand_in() -> None:
    def source_url(web_url: str | None) -> str | None:
        world = World()
        world.repository.web_url = web_url
        world.push({"notes/Low tide.md": page("Low tide", "It goes out.\n")})
        world.sync()
        (entry,) = world.manifest().documents
        return entry.source_url

    commit = FakeRepository().push({})
    assert source_url("https://github.com/example/knowledge") == (
        f"https://github.com/example/knowledge/blob/{commit}/notes/Low%20tide.md"
    )
    assert source_url(None) is None


def test_an_unpublished_file_leaves_no_trace_outside_the_operators_report() -> None:
    world = World()
    world.push({"notes/secret.md": page("Hidden", "CANARY", publish=False), "notes/open.md": page("Open")})
    world.sync()
    for key, stored in world.objects.objects.items():
        assert b"CANARY" not in stored.body and b"Hidden" not in stored.body, key
        if not key.startswith("operations/r"):
            assert b"secret" not in stored.body and "secret" not in key, key


def test_unpublishing_removes_document_raw_copy_and_node() -> None:
    world = World()
    world.push({"notes/a.md": page("A", "[b](notes/b.md)\n"), "notes/b.md": page("B")})
    world.sync()
    world.push({"notes/a.md": page("A", "[b](notes/b.md)\n"), "notes/b.md": page("B", publish=False)})
    world.sync()
    assert set(documents(world)) == {"content/file/a.json"}
    assert "raw/notes/b.md" not in world.objects.objects
    graph = json.loads(world.objects.objects[world.manifest().graph_key or ""].body)
    assert [node["ref"] for node in graph["nodes"]] == ["file/a"]
    assert len(graph["broken"]) == 1


@pytest.mark.parametrize("path", [".secret.md", "notes/.secret.md"])
def test_a_hidden_file_leaves_no_trace_but_a_finding(path: str) -> None:
    world = World()
    world.push({path: page("Hidden", "CANARY"), "notes/open.md": page("Open", f"[x](/{path})\n")})
    world.sync()
    assert [entry.ref for entry in world.manifest().documents] == ["file/open"]
    for key, stored in world.objects.objects.items():
        assert b"CANARY" not in stored.body and b"Hidden" not in stored.body, key
    report = json.loads(world.objects.objects[report_key(world.manifest().commit_sha)].body)
    assert (path, "excluded") in {(one["path"], one["problem"]["code"]) for one in report["findings"]}


def former_slug(text: str) -> str:
    """As the first rule of ids had it, which took nothing but Latin letters."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", letters.casefold()).strip("-")


def test_an_id_of_the_former_rule_answers_as_an_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = {f"notes/{name}.md": page(name) for name in ("Прилив", "北京 guide", "🌱", "Über uns", "plan")}
    tree |= {"a/план.md": page("One"), "b/план.md": page("Two")}
    world = World()
    world.push(tree)
    with monkeypatch.context() as former:
        former.setattr(paths, "slug", former_slug)
        former.setattr(plan, "ID_RULE_VERSION", "1")
        world.configure(None)
        world.sync()
    before = {entry.path: entry.ref for entry in world.manifest().documents}
    assert before["notes/Прилив.md"].startswith("file/untitled-") and before["notes/北京 guide.md"] == "file/guide"
    world.configure(None)
    world.state.poke()
    world.sync()
    after = {entry.path: entry.ref for entry in world.manifest().documents}
    assert after == before | {
        "notes/Прилив.md": "file/priliv",
        "notes/北京 guide.md": "file/beijing-guide",
        "notes/plan.md": after["notes/plan.md"],
        "a/план.md": "file/a-plan",
        "b/план.md": "file/b-plan",
    }
    catalogue = Catalogue(world.manifest())
    for path, ref in before.items():
        found = catalogue.resolve(*ref.split("/", 1))
        assert found is not None and found.entry.path == path
        assert found.former is (after[path] != ref)
    assert set(documents(world)) == {f"content/{ref}.json" for ref in after.values()}


def test_moving_a_file_that_keeps_its_name_leaves_one_document_under_the_same_id() -> None:
    world = World()
    world.push({"tags/tide.md": page("Tide")})
    world.sync()
    world.push({"data/concepts/tide.md": page("Tide")})
    world.sync()
    assert {document.path for document in documents(world).values()} == {"data/concepts/tide.md"}


def test_a_retyped_file_is_served_under_its_new_type_only_and_still_answers_to_the_old() -> None:
    world = World()
    world.push({"docs/reef.md": page("Reef", type="link")})
    world.sync()
    world.push({"docs/reef.md": page("Reef", type="article")})
    world.sync()
    assert set(documents(world)) == {"content/article/reef.json"}
    assert world.manifest().former_refs == {"link/reef": "docs/reef.md"}


def test_two_files_that_swap_names_swap_documents() -> None:
    world = World()
    world.push({"notes/a.md": page("One"), "notes/b.md": page("Two")})
    world.sync()
    world.push({"notes/a.md": page("Two"), "notes/b.md": page("One")})
    world.sync()
    titles = {key: document.title for key, document in documents(world).items()}
    assert titles == {"content/file/a.json": "Two", "content/file/b.json": "One"}


def test_a_second_file_of_the_same_name_requalifies_the_first_which_keeps_answering_to_its_old_id() -> None:
    world = World()
    world.push({"notes/one/index.md": page("One")})
    world.sync()
    (before,) = world.manifest().documents
    world.push({"notes/one/index.md": page("One"), "notes/two/index.md": page("Two")})
    world.sync()
    after = world.manifest()
    assert len({entry.ref for entry in after.documents}) == 2
    assert before.ref not in after.by_ref
    assert after.former_refs[before.ref] == "notes/one/index.md"


def test_malformed_frontmatter_keeps_the_last_good_version_and_is_reported() -> None:
    world = World()
    world.push({"notes/a.md": page("Good")})
    world.sync()
    commit = world.push({"notes/a.md": b"---\ntitle: A: B\npublish: true\n---\nNew"})
    world.sync()
    assert documents(world)["content/file/a.json"].title == "Good"
    report = json.loads(world.objects.objects[report_key(commit)].body)
    (skipped,) = report["skipped"]
    assert skipped["keptLastGood"] and skipped["problem"]["line"] == 2


def test_a_damaged_raw_copy_of_a_last_good_version_is_mended_in_the_run_that_finds_the_file_unreadable() -> None:
    world = World()
    world.push({"notes/a.md": page("Good")})
    world.sync()
    world.objects.delete(["raw/notes/a.md"])
    world.push({"notes/a.md": b"---\ntitle: A: B\npublish: true\n---\nNew"})
    world.sync()
    assert world.objects.objects["raw/notes/a.md"].body == page("Good")
    assert world.manifest().pending == 0


def test_a_removed_file_whose_frontmatter_was_unreadable_is_removed() -> None:
    world = World()
    world.push({"notes/a.md": page("Good"), "notes/b.md": page("B")})
    world.sync()
    world.push({"notes/a.md": b"---\ntitle: A: B\n---\n", "notes/b.md": page("B")})
    world.sync()
    world.push({"notes/b.md": page("B")})
    world.sync()
    assert set(documents(world)) == {"content/file/b.json"}


def test_a_blob_that_cannot_be_fetched_keeps_the_old_document_pending_until_it_can() -> None:
    world = World()
    world.push({"notes/a.md": page("Old")})
    world.sync()
    world.push({"notes/a.md": page("New")})
    lost = next(sha for sha, raw in world.repository.blobs.items() if raw == page("New"))
    world.repository.lost_blobs.add(lost)
    world.sync()
    assert documents(world)["content/file/a.json"].title == "Old"
    assert world.manifest().pending == 1
    world.repository.lost_blobs.clear()
    world.sync()
    assert documents(world)["content/file/a.json"].title == "New"
    assert world.manifest().pending == 0


def test_a_run_without_news_asks_github_once_and_writes_no_document() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.sync()
    before, world.repository.log = dict(world.objects.objects), []
    assert world.sync() == ["plan", "finish"]
    assert world.repository.log == ["head"]
    changed = {key for key, stored in world.objects.objects.items() if before.get(key) != stored}
    assert changed == {SUMMARY_KEY}


def test_a_push_of_one_file_costs_five_calls() -> None:
    world = World()
    world.push({f"notes/{n}.md": page(f"N{n}") for n in range(9)})
    world.sync()
    world.repository.log = []
    world.push({f"notes/{n}.md": page(f"N{n}") for n in range(9)} | {"notes/3.md": page("Changed")})
    world.sync()
    assert world.repository.log == ["head", "tree", "blob", "last_changed", "set_status"]
    report = json.loads(world.objects.objects[report_key(world.repository.order[-1])].body)
    assert report["githubCalls"] == 5
    assert list(json.loads(world.objects.objects[report_key(world.repository.order[-1])].body)["stored"]) == ["file/3"]


def test_many_files_come_by_one_archive_and_what_it_lacks_by_blob() -> None:
    world = World()
    tree = {f"notes/{n}.md": page(f"N{n}") for n in range(60)}
    world.push(tree)
    absent = next(sha for sha, raw in world.repository.blobs.items() if raw == page("N7"))
    world.repository.lost_blobs.add(absent)
    taken = world.sync()
    assert taken == ["plan", "archive", "store", "publish", "finish"]
    assert len(documents(world)) == 59
    assert world.manifest().pending == 1


def test_embedded_images_are_served_and_nothing_else_of_the_repository_is() -> None:
    world = World()
    tree = {
        "notes/a.md": page("A", "![[attachments/crab.png]] and [data](files/table.csv)\n"),
        "attachments/crab.png": b"\x89PNG crab",
        "attachments/other.png": b"\x89PNG other",
        "files/table.csv": b"a,b\n",
    }
    world.push(tree)
    world.sync()
    attachments = {item.path: item for item in world.manifest().attachments}
    assert set(attachments) == {"attachments/crab.png", "files/table.csv"}
    assert attachments["attachments/crab.png"].media_type == "image/png"
    assert world.objects.objects[attachments["files/table.csv"].key].body == b"a,b\n"
    assert not any(b"other" in stored.body for key, stored in world.objects.objects.items() if key.startswith("att"))


def test_the_logo_is_served_as_soon_as_the_configuration_names_it_and_no_longer_than_that() -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "attachments/logo.svg": b"<svg/>", "attachments/other.svg": b"<svg></svg>"})
    world.sync()
    assert world.manifest().attachments == []
    for logo, served in (("attachments/logo.svg", ["attachments/logo.svg"]), ("attachments/none.svg", []), (None, [])):
        world.configure(logo)
        world.state.poke()
        world.sync()
        assert [item.path for item in world.manifest().attachments] == served


def test_a_linked_file_that_may_be_a_document_is_never_served_as_an_attachment() -> None:
    world = World()
    hidden = page("Hidden", "CANARY", publish=False)
    world.push({"notes/a.md": page("A", "[b](notes/b.markdown)\n"), "notes/b.markdown": hidden})
    world.sync()
    assert world.manifest().attachments == []
    assert not any(b"CANARY" in stored.body for stored in world.objects.objects.values())


def test_an_empty_tree_fails_the_run_and_removes_nothing() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.sync()
    world.push({})
    with pytest.raises(UntrustedTree):
        world.sync()
    assert set(documents(world)) == {"content/file/a.json"}


def test_when_github_is_down_the_run_fails_whole_and_the_next_one_heals() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.repository.failures = [RepositoryUnavailable("503")]
    assert world.sync() == ["fail"]
    assert summary(world)["status"] == "failed" and summary(world)["error"] == "RepositoryUnavailable"
    assert world.state.running is None and world.state.done == 0
    world.sync()
    assert summary(world)["status"] == "succeeded"
    assert set(documents(world)) == {"content/file/a.json"}


def test_a_failure_is_taken_back_by_the_next_run_even_when_nothing_has_changed() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.sync()
    world.repository.failures = [RepositoryUnavailable("503")]
    world.sync()
    assert summary(world)["status"] == "failed"
    world.sync()
    assert summary(world)["status"] == "succeeded"


def test_the_files_of_an_archive_wait_in_one_object_which_is_gone_once_they_are_published() -> None:
    world = World()
    world.push({f"notes/{number}.md": page(f"Page {number}", publish=number % 2 == 0) for number in range(120)})
    run = world.start()
    while next(run) != "archive":
        pass
    staged = [stored for key, stored in world.objects.objects.items() if key.startswith(STAGED_PREFIX)]
    assert len(staged) == 1 and b"Page 112" in staged[0].body and b"Page 113" not in staged[0].body
    assert list(run) == ["publish", "finish"]
    assert len(documents(world)) == 60
    assert not [key for key in world.objects.objects if key.startswith(STAGED_PREFIX)]


def test_what_a_page_of_an_archive_embeds_is_served_however_its_name_is_written() -> None:
    world = World()
    pages = {f"notes/{number}.md": page(f"Page {number}") for number in range(60)}
    embedding = {"notes/a.md": page("A", "![plain](../shown/crab.png) ![odd](../shown/tide%2Epng)\n")}
    world.push(pages | embedding | {"shown/crab.png": b"\x89PNG crab", "shown/tide.png": b"\x89PNG tide"})
    world.sync()
    assert {item.path for item in world.manifest().attachments} == {"shown/crab.png", "shown/tide.png"}


@pytest.mark.parametrize("call", ["head", "tree", "archive", "last_changed"])
def test_a_rate_limit_makes_the_run_wait_as_long_as_github_told(call: str) -> None:
    world = World()
    world.push({f"notes/{n}.md": page(f"N{n}") for n in range(60)})
    plan = world.steps.plan
    names = ["head", "tree", "archive", "last_changed"]
    limit = RepositoryRateLimited(EPOCH)
    answers: list[str] = []
    original = world.repository._call

    def limited(name: str) -> None:
        original(name)
        if name == call and not answers:
            answers.append(name)
            raise limit

    world.repository._call = limited  # type: ignore[method-assign]
    assert call in names
    answer = plan({"run": "r"})
    if call in {"head", "tree"}:
        assert (answer["action"], answer["waitUntil"]) == ("wait", "2026-01-01T00:00:00Z")
        answer = plan({"run": "r"})
    answer = world.steps.archive({"run": "r"})
    if call == "archive":
        assert answer["action"] == "wait"
        answer = world.steps.archive({"run": "r"})
    answer = world.steps.publish({"run": "r"})
    if call == "last_changed":
        assert answer["action"] == "wait"
        answer = world.steps.publish({"run": "r"})
    assert answer["action"] == "published"


def test_what_one_item_would_fetch_is_fetched_with_the_plan() -> None:
    world = World()
    world.push({f"notes/{number}.md": page(f"Page {number}") for number in range(5)})
    assert world.sync() == ["plan", "publish", "finish"]
    world.push({f"notes/{number}.md": page(f"Newer {number}") for number in range(6)})
    assert world.sync() == ["plan", "store", "store", "publish", "finish"]
    assert {document.title for document in documents(world).values()} == {f"Newer {number}" for number in range(6)}


def test_a_limit_that_is_met_while_planning_is_waited_for_and_nothing_is_left_out() -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "notes/b.md": page("B")})
    fetch = world.repository.blob
    asked: list[BlobSha] = []

    def limited(blob_sha: BlobSha) -> bytes:
        asked.append(blob_sha)
        if len(asked) == 2:
            raise RepositoryRateLimited(EPOCH)
        return fetch(blob_sha)

    world.repository.blob = limited  # type: ignore[method-assign]
    assert world.sync() == ["plan", "plan", "publish", "finish"]
    assert world.manifest().pending == 0 and len(documents(world)) == 2


def test_an_item_waits_for_the_limit_a_bounded_number_of_times() -> None:
    world = World()
    world.push({f"notes/{number}.md": page(f"Page {number}") for number in range(6)})
    world.steps.plan({"run": "r"})
    whole, item = world.items("operations/runs/r/items.json")
    world.steps.store({"run": "r", "item": whole})
    event = {"run": "r", "item": item}
    for waits in range(8):
        world.repository.failures = [RepositoryRateLimited(EPOCH)]
        answer = world.steps.store(event | {"waits": waits})
        assert (answer["action"], answer["waits"]) == ("wait", waits + 1)
    world.repository.failures = [RepositoryRateLimited(EPOCH)]
    assert world.steps.store(event | {"waits": 8})["action"] == "stored"
    world.steps.publish({"run": "r"})
    assert world.manifest().pending == 1


def test_an_overtaken_run_plans_anew_instead_of_going_back() -> None:
    world = World()
    world.push({"notes/a.md": page("Old")})
    slow = world.start()
    assert next(slow) == "plan"
    world.push({"notes/a.md": page("New")})
    world.sync()
    assert documents(world)["content/file/a.json"].title == "New"
    rest = list(slow)
    assert rest[0] == "publish"
    assert documents(world)["content/file/a.json"].title == "New"


def test_a_hint_that_comes_during_a_run_makes_it_go_round_once_more() -> None:
    world = World()
    world.push({"notes/a.md": page("Old")})
    run = world.start()
    next(run)
    world.push({"notes/a.md": page("New")})
    assert list(run).count("plan") == 1
    assert documents(world)["content/file/a.json"].title == "New"
    assert (world.state.done, world.state.running) == (2, None)


def test_a_damaged_object_is_rewritten_and_a_foreign_one_removed() -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "notes/b.md": page("B")})
    world.sync()
    world.objects.put("content/file/a.json", b"{}")
    world.objects.put("content/file/ghost.json", b"{}")
    world.objects.delete(["raw/notes/b.md"])
    world.sync()
    assert {document.title for document in documents(world).values()} == {"A", "B"}
    assert world.objects.objects["raw/notes/b.md"].body == page("B")


def test_a_backfill_reads_and_writes_everything_again() -> None:
    world = World()
    world.push({f"notes/{n}.md": page(f"N{n}") for n in range(3)})
    world.sync()
    world.repository.log = []
    world.sync(full=True)
    assert world.repository.log.count("blob") == 3
    assert {entry.generation for entry in world.manifest().documents} == {2}


def test_another_pipeline_rewrites_every_document_from_its_raw_copy() -> None:
    world = World()
    world.push({f"notes/{n}.md": page(f"N{n}") for n in range(3)})
    world.sync()
    world.repository.log = []
    world.steps.pipeline = "another"
    world.sync()
    assert "blob" not in world.repository.log and "archive" not in world.repository.log
    assert {entry.generation for entry in world.manifest().documents} == {2}
    assert world.manifest().pipeline == "another"


def test_a_parser_that_shuts_a_gate_takes_the_document_out_even_though_its_bytes_are_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "notes/b.md": page("B")})
    world.sync()

    def stricter(raw: bytes, *, everything: bool) -> Verdict:
        assert not everything
        return Unpublished("shut by new rules", Problem("publish-false", "shut")) if raw == page("B") else judge(raw)

    monkeypatch.setattr("commonplace.documents.sync.publication.judge", stricter)
    world.steps.pipeline = "another"
    world.sync()
    assert set(documents(world)) == {"content/file/a.json"}
    assert "raw/notes/b.md" not in world.objects.objects
    assert world.manifest().pending == 0


def test_showing_everything_and_taking_it_back_reads_every_file_anew() -> None:
    world = World()
    world.push(
        {
            "notes/a.md": b"# A\n",
            "notes/b.md": page("B", publish=False),
            "notes/c.md": page("C"),
            "notes/d.md": b"---\ndraft: true\n---\nText.\n",
        }
    )
    world.sync()
    assert [entry.title for entry in world.manifest().documents] == ["C"]
    world.configure(None, everything=True)
    world.sync()
    assert [entry.title for entry in world.manifest().documents] == ["A", "C"]
    assert world.manifest().everything
    world.configure(None)
    world.sync()
    assert [entry.title for entry in world.manifest().documents] == ["C"]
    assert not world.manifest().everything
    assert "raw/notes/a.md" not in world.objects.objects
    report = Report.model_validate_json(world.objects.objects[report_key(world.manifest().commit_sha)].body)
    reasons = {item.path: item.reason for item in report.skipped}
    assert reasons["notes/a.md"] == "no frontmatter"


def test_a_manifest_says_that_its_commit_is_only_a_working_copy() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.sync()
    assert not world.manifest().working_copy
    world.repository.working_copy = True
    world.push({"notes/a.md": page("A", "Changed.\n")})
    world.sync()
    assert world.manifest().working_copy


def test_what_was_learned_of_shut_files_names_no_path() -> None:
    world = World()
    world.push({"notes/secret.md": page("Hidden", publish=False), "notes/open.md": page("Open")})
    world.sync()
    known = world.objects.objects[KNOWN_KEY].body
    assert b"secret" not in known and b'"unpublished"' in known


def test_documents_carry_the_time_of_the_last_commit_that_touched_them() -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "notes/b.md": page("B")})
    world.push({"notes/a.md": page("A2"), "notes/b.md": page("B")})
    world.sync()
    times = {entry.id: entry.updated_at for entry in world.manifest().documents}
    assert times["b"] == EPOCH and times["a"] is not None and times["a"] > EPOCH


def test_a_problem_of_an_attachment_is_reported_once_however_often_the_branch_is_synced() -> None:
    world = World()
    tree = {"notes/a.md": page("A", "![map](.hidden/map.png)\n"), ".hidden/map.png": b"x"}
    for number in range(3):
        world.push({**tree, "notes/b.md": page("B", f"Take {number}.\n")})
        world.sync()
    report = json.loads(world.objects.objects[report_key(world.manifest().commit_sha)].body)
    found = [one["problem"]["code"] for one in report["findings"] if one["path"] == "notes/a.md"]
    assert found.count("attachment-not-served") == 1


def reported(world: World) -> Report:
    return Report.model_validate_json(world.objects.objects[report_key(world.manifest().commit_sha)].body)


@pytest.mark.parametrize(
    "name",
    [
        "two\nlines.md",
        "a\rreturn.md",
        "a\ttab.md",
        "a\x01control.md",
        "a\x7fdelete.md",
        "a\x85next line.md",
        "a\u2028separator.md",
        f"{'deep/' * 210}long.md",
        f"{'é' * 520}.md",
    ],
)
def test_a_file_that_no_store_takes_is_a_finding_and_the_others_are_published(name: str) -> None:
    world = World()
    world.push({f"notes/{name}": page("Odd"), "notes/fine.md": page("Fine")})
    world.sync()
    assert [entry.path for entry in world.manifest().documents] == ["notes/fine.md"]
    report = reported(world)
    assert [(one.path, one.problem.code) for one in report.findings if one.problem.severity != "hint"] == [
        (f"notes/{name}", "not-stored")
    ]
    assert report.findings == sorted(report.findings, key=lambda one: one.path)
    assert (report.pending, summary(world)["status"]) == (0, "succeeded")
    assert name.encode("utf-8", "replace") not in world.objects.objects[SUMMARY_KEY].body


@pytest.mark.parametrize(
    "name",
    [
        *("back\\slash.md", "dot..md", " lead.md", "trail .md", "q?x#y%20z.md", 'am&<>".md', "é.md", "e\u0301.md"),
        *("folder.md/x.md", "\ufffd.md"),
    ],
)
def test_an_odd_name_is_published(name: str) -> None:
    world = World()
    world.push({f"notes/{name}": page("Odd"), "notes/é.md": page("Composed"), "notes/UP.md": page("Up")})
    world.sync()
    assert f"notes/{name}" in {entry.path for entry in world.manifest().documents}
    assert f"raw/notes/{name}" in world.objects.objects


@pytest.mark.parametrize("error", [NotStorable("no"), ValueError(), TypeError(), KeyError(), RecursionError()])
def test_a_document_that_cannot_be_stored_keeps_its_last_version_and_is_tried_again(error: Exception) -> None:
    world = World()
    world.push({"notes/a.md": page("A", "First."), "notes/b.md": page("B")})
    world.sync()
    world.push({"notes/a.md": page("A", "Second."), "notes/b.md": page("B", "New.")})
    world.objects.refused = {"raw/notes/a.md": error}
    assert world.sync()[-1] == "finish"
    assert {entry.path for entry in world.manifest().documents} == {"notes/a.md", "notes/b.md"}
    assert documents(world)["content/file/a.json"].content == "First."
    report = reported(world)
    assert report.pending == 1
    assert [(one.path, one.reason, one.kept_last_good) for one in report.skipped] == [
        ("notes/a.md", "the file could not be stored", True)
    ]
    world.objects.refused = {}
    world.sync()
    assert documents(world)["content/file/a.json"].content == "Second."
    assert reported(world).pending == 0


def test_a_file_that_takes_too_long_is_pending_and_the_next_run_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.push({"notes/a.md": page("A", "First."), "notes/b.md": page("B", "[b](b.md)")})
    world.sync()
    world.push({"notes/a.md": page("A", "Second."), "notes/b.md": page("B", "[b](b.md)"), "notes/c.md": page("C")})
    with monkeypatch.context() as patch:
        patch.setattr("commonplace.documents.sync.publication.FILE_SECONDS", -1)
        assert world.sync()[-1] == "finish"
    assert {entry.path for entry in world.manifest().documents} == {"notes/a.md", "notes/b.md"}
    assert documents(world)["content/file/a.json"].content == "First."
    report = reported(world)
    assert [(one.path, one.kept_last_good) for one in report.skipped] == [("notes/a.md", True), ("notes/c.md", False)]
    assert report.pending == 2
    world.sync()
    assert documents(world)["content/file/a.json"].content == "Second."
    assert reported(world).pending == 0


def test_a_run_that_is_out_of_time_publishes_what_it_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.push({"notes/a.md": page("A"), "notes/b.md": page("B")})
    with monkeypatch.context() as patch:
        patch.setattr("commonplace.documents.sync.publication.READING_SECONDS", -1)
        assert world.sync()[-1] == "finish"
    assert (world.manifest().documents, reported(world).pending) == ([], 2)
    world.sync()
    assert len(world.manifest().documents) == 2


def test_a_failed_step_is_known_at_once_with_the_file_that_it_failed_at() -> None:
    world = World()
    world.push({"notes/a.md": page("A")})
    world.sync()
    world.push({"notes/a.md": page("A", "New.")})
    world.objects.refused = {"raw/notes/a.md": OSError("disk")}
    steps = world.start()
    with pytest.raises(OSError, match="disk") as raised:
        list(steps)
    run = world.state.read().running
    world.steps.stumbled({"run": run}, raised.value)
    assert (summary(world)["status"], summary(world)["error"]) == ("failed", "OSError")
    assert "notes/a.md" not in json.dumps(summary(world)["error"])
    world.steps.fail({"run": run, "error": "OSError"})
    history = History.model_validate_json(world.objects.objects[HISTORY_KEY].body)
    assert [(one.status, one.error, one.file) for one in history.runs] == [
        ("failed", "OSError", "notes/a.md"),
        ("succeeded", None, ""),
    ]
    world.objects.refused = {}
    world.sync()
    assert summary(world)["status"] == "succeeded"
