"""A run of a catalogue's sync, step by step: what is fetched, published or refused, and what is said of it."""

import json
import logging
from datetime import UTC, datetime

import pytest

from commonplace.reference import library as reference_keys
from commonplace.reference.library import catalogues_prefix, manifest_key
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source import bounds
from commonplace.reference.sync import plan
from commonplace.reference.sync.plan import STATUS_CHARACTERS, catalogue_status_line
from commonplace.repository.ports import RepositoryRateLimited, RepositoryUnavailable, UntrustedTree
from tests.fakes.store import Crash
from tests.unit.reference.sync.catalogue_drive import FOLDER, NAME, CatalogueWorld, command, entries, guide

GOOD = {"commands.json": entries(command("list"), command("get")), "guides/start.md": guide("Start")}
STEPS = ["plan", "publish", "finish"]
AGAIN = ["plan", "finish"]


@pytest.fixture
def world() -> CatalogueWorld:
    world = CatalogueWorld()
    world.save(GOOD)
    world.sync()
    return world


def test_a_first_run_publishes_the_folder_as_one_catalogue() -> None:
    world = CatalogueWorld()
    commit = world.save(GOOD)

    assert world.sync() == STEPS
    manifest, catalogue = world.manifest, world.catalogue
    assert manifest is not None
    assert set(world.titles) == {"list", "get", "guides-start"}
    assert (catalogue.commit_sha, catalogue.generation, catalogue.repository) == (commit, 1, "example/knowledge")
    assert {placed.path for placed in catalogue.entries} == {f"{FOLDER}/{path}" for path in GOOD}
    assert manifest.files.keys() == {f"{FOLDER}/{path}" for path in GOOD}
    assert manifest.versions == {"list": 1, "get": 1, "guides-start": 1}
    assert (world.report.status, world.report.by_type) == ("published", {"command": 2, "guide": 1})


def test_a_run_that_finds_nothing_new_costs_one_question(world: CatalogueWorld) -> None:
    world.repository.log.clear()

    assert world.sync() == AGAIN
    assert world.repository.log == ["head"]


def test_only_what_has_changed_is_fetched_and_only_that_gets_a_new_generation(world: CatalogueWorld) -> None:
    world.repository.log.clear()
    world.save(GOOD | {"guides/start.md": guide("Begin here")})
    world.sync()

    assert world.repository.log.count("blob") == 1
    assert world.manifest is not None
    assert world.manifest.versions == {"list": 1, "get": 1, "guides-start": 2}
    report = world.report
    assert (report.added, report.changed, report.removed) == ([], ["guides-start"], [])


def test_a_push_that_leaves_the_folder_alone_publishes_nothing(world: CatalogueWorld) -> None:
    before = world.manifest
    commit = world.save(GOOD, beside={"README": b"another"})

    assert world.sync() == AGAIN
    assert world.manifest == before
    assert world.report.commit_sha == commit
    world.repository.log.clear()
    assert world.sync() == AGAIN
    assert world.repository.log == ["head"]


def test_nothing_outside_the_folder_and_no_source_of_a_generator_is_fetched() -> None:
    world = CatalogueWorld()
    world.save(GOOD | {"sources/openapi.json": b"{}", "README.md": b"# x", "shot.png": b"png"}, {"notes.json": b"["})
    world.sync()

    assert world.repository.log.count("blob") == len(GOOD)
    assert world.report.status == "published"


def test_many_files_come_as_one_archive() -> None:
    world = CatalogueWorld()
    world.save({f"commands/{n}.json": entries(command(f"c{n}")) for n in range(60)})

    assert world.sync() == ["plan", "archive", "publish", "finish"]
    assert len(world.titles) == 60


def test_a_repository_that_is_large_beside_the_folder_is_not_downloaded_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "ARCHIVE_BYTES", 100_000)
    world = CatalogueWorld()
    world.save({f"commands/{n}.json": entries(command(f"c{n}")) for n in range(60)}, {"film.mov": b"x" * 100_000})

    assert "archive" not in world.sync()
    assert len(world.titles) == 60


BAD = {
    "malformed-file": {"commands.json": b'{"entries": ['},
    "duplicate-id": {"more.json": entries(command("list", name="helios more", syntax="helios more"))},
    "dangling-relation": {"more.json": entries(command("more", relatedIds=["nowhere"]))},
    "missing-field": {"more.json": entries({"id": "more", "type": "command", "category": "users"})},
    "malformed-settings": {"catalogue.yaml": b"title: [\n"},
}


@pytest.mark.parametrize("code", BAD)
def test_a_catalogue_with_an_error_is_refused_whole_and_the_last_good_one_goes_on(
    world: CatalogueWorld, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    manifest, catalogue = world.manifest, world.catalogue
    good = GOOD | {"guides/new.md": guide("New")}
    commit = world.save(good | BAD[code])

    assert world.sync() == STEPS
    assert (world.manifest, world.catalogue) == (manifest, catalogue)
    assert (world.report.status, world.report.commit_sha) == ("refused", commit)
    assert code in world.codes()
    assert world.report.published_commit == catalogue.commit_sha
    (status,) = [status for status in world.repository.statuses if status[0] == commit]
    assert status[1] == "failure" and status[2].startswith("Refused: ") and len(status[2]) <= STATUS_CHARACTERS
    (warned,) = [record for record in caplog.records if record.getMessage() == "catalogue refused"]
    assert (warned.levelno, vars(warned)["catalogue"]) == (logging.WARNING, NAME)


def test_a_refused_head_is_not_judged_again_until_it_moves(world: CatalogueWorld) -> None:
    world.save(GOOD | BAD["malformed-file"])
    world.sync()
    world.repository.log.clear()

    assert world.sync() == AGAIN
    assert world.repository.log == ["head"]
    assert world.report.status == "refused"
    commit = world.save(GOOD | BAD["malformed-file"], beside={"README": b"more"})
    assert world.sync() == ["plan", "publish", "finish"]
    assert world.repository.log.count("blob") == 0
    assert (world.report.status, world.report.commit_sha) == ("refused", commit)


def test_other_rules_judge_a_refused_head_again(world: CatalogueWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.save(GOOD | BAD["malformed-file"])
    world.sync()
    monkeypatch.setattr(plan, "READER_VERSION", "another")
    world.steps = world.of(world.source)

    assert "publish" in world.sync()


def test_a_mended_catalogue_is_published_and_said_to_be_well(world: CatalogueWorld) -> None:
    generation = world.catalogue.generation
    world.save(GOOD | BAD["malformed-file"])
    world.sync()
    commit = world.save(GOOD | {"commands.json": entries(command("list"))})
    world.sync()

    assert world.report.status == "published"
    assert world.report.removed == ["get"]
    assert world.catalogue.generation > generation
    assert world.repository.statuses[-1][:2] == (commit, "success")


def test_a_mistake_that_is_taken_back_is_said_to_be_mended_and_publishes_nothing_new(world: CatalogueWorld) -> None:
    manifest = world.manifest
    world.save(GOOD | BAD["malformed-file"])
    world.sync()
    commit = world.save(GOOD)
    world.sync()

    assert world.manifest == manifest
    assert (world.report.status, world.report.errors) == ("published", [])
    assert world.repository.statuses[-1][:2] == (commit, "success")


def test_a_first_catalogue_with_errors_publishes_nothing() -> None:
    world = CatalogueWorld()
    world.save(BAD["malformed-file"])

    assert world.sync() == STEPS
    assert not [key for key in world.objects.objects if key.startswith("reference/")]
    assert (world.report.status, world.report.entries, world.report.published_commit) == ("refused", 0, None)


@pytest.mark.parametrize("files", [{}, {"sources/a.json": b"{}", "notes.txt": b"x", "README.md": b"# x"}])
def test_a_folder_without_a_catalogue_is_a_mistake_and_not_an_empty_catalogue(
    world: CatalogueWorld, files: dict[str, bytes]
) -> None:
    catalogue = world.catalogue
    world.save(files)
    world.sync()

    assert world.codes() == ["empty-catalogue"]
    assert FOLDER in world.report.problems[0].message
    assert world.catalogue == catalogue


def test_what_is_too_large_is_refused_before_anything_is_fetched(
    world: CatalogueWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_FILE_BYTES", 5_000)
    monkeypatch.setattr(bounds, "MAX_CATALOGUE_BYTES", 8_000)
    monkeypatch.setattr(bounds, "MAX_FILES", 3)
    world.repository.log.clear()
    world.save(GOOD | {"a.json": b" " * 9_000, "b.json": b"[]"})

    assert world.sync() == ["plan", "publish", "finish"]
    assert "blob" not in world.repository.log
    assert world.codes() == ["too-large", "too-many", "too-large"]
    assert world.report.problems[0].path == "a.json"


def test_files_that_are_not_to_be_published_are_read_once_and_not_kept() -> None:
    secret = guide("Nobody's business", publish="false")
    world = CatalogueWorld()
    world.save(GOOD | {"guides/secret.md": secret})
    world.sync()

    assert set(world.titles) == {"list", "get", "guides-start"}
    assert not [key for key, stored in world.objects.objects.items() if b"Nobody's" in stored.body]
    assert world.manifest is not None and f"{FOLDER}/guides/secret.md" not in world.manifest.files
    world.repository.log.clear()
    world.save(GOOD | {"guides/secret.md": secret}, beside={"README": b"more"})
    assert world.sync() == AGAIN
    assert "blob" not in world.repository.log
    world.save(GOOD | {"guides/secret.md": guide("Everybody's business")})
    world.sync()
    assert "Everybody's business" in world.titles.values()


def test_files_that_github_has_lost_leave_everything_as_it_was_and_the_next_run_tries_again(
    world: CatalogueWorld,
) -> None:
    manifest = world.manifest
    world.save(GOOD | {"guides/new.md": guide("New")})
    lost = next(sha for sha, raw in world.repository.blobs.items() if b"New" in raw)
    world.repository.lost_blobs.add(lost)
    world.sync()

    assert (world.report.status, world.codes()) == ("pending", ["not-fetched"])
    assert world.manifest == manifest
    world.repository.lost_blobs.clear()
    world.sync()
    assert (world.report.status, "New" in world.titles.values()) == ("published", True)


def test_a_run_that_fails_is_told_and_the_next_one_takes_it_back(world: CatalogueWorld) -> None:
    world.repository.failures.append(RepositoryUnavailable("502"))

    assert world.sync() == ["fail"]
    assert (world.report.status, world.report.error, world.report.entries) == ("failed", "RepositoryUnavailable", 3)
    assert world.sync() == AGAIN
    assert (world.report.status, world.report.error) == ("published", None)


def test_a_first_run_that_fails_is_told(world: CatalogueWorld) -> None:
    world = CatalogueWorld()
    world.save(GOOD)
    world.repository.failures.append(RepositoryUnavailable("502"))
    world.sync()

    assert (world.report.status, world.report.published_commit) == ("failed", None)


def test_an_empty_tree_fails_the_run_and_removes_nothing(world: CatalogueWorld) -> None:
    world.push({})

    with pytest.raises(UntrustedTree):
        world.sync()
    assert world.manifest is not None


def test_a_limit_is_waited_for(world: CatalogueWorld) -> None:
    until = datetime(2026, 3, 1, tzinfo=UTC)
    world.save(GOOD | {"guides/new.md": guide("New")})
    world.repository.failures.append(RepositoryRateLimited(until))

    assert world.sync() == ["plan", *STEPS]
    assert "New" in world.titles.values()


def test_an_object_that_somebody_has_removed_or_changed_is_made_again(world: CatalogueWorld) -> None:
    assert world.manifest is not None
    key = world.manifest.catalogue_key
    for damage in (
        lambda: world.objects.delete([key]),
        lambda: world.objects.put(world.manifest.catalogue_key, b"{}"),
        lambda: world.objects.delete([manifest_key(NAME)]),
    ):
        damage()
        world.sync()
        assert set(world.titles) == {"list", "get", "guides-start"}
        assert world.sync() == AGAIN


def test_a_backfill_reads_everything_again_and_gives_every_entry_a_new_generation(world: CatalogueWorld) -> None:
    world.repository.log.clear()

    assert world.sync(full=True) == STEPS
    assert world.repository.log.count("blob") == len(GOOD)
    assert world.manifest is not None
    assert set(world.manifest.versions.values()) == {world.catalogue.generation}


def test_generations_go_on_where_the_run_state_was_lost(world: CatalogueWorld) -> None:
    for title in ("one", "two"):
        world.save(GOOD | {"guides/start.md": guide(title)})
        world.sync()
    generation = world.catalogue.generation
    world.state.generation = 0
    world.save(GOOD)
    world.sync()

    assert world.catalogue.generation == generation + 1


def test_a_catalogue_that_moves_to_another_folder_is_read_from_there(world: CatalogueWorld) -> None:
    world.steps = world.of(CatalogueSource(NAME, world.source.repository, world.source.branch, "product"))
    world.push({f"product/{path}": raw for path, raw in GOOD.items()})
    world.sync()

    assert {placed.path for placed in world.catalogue.entries} == {f"product/{path}" for path in GOOD}
    assert world.manifest is not None and world.manifest.folder == "product"


def test_the_catalogue_before_is_kept_for_readers_that_hold_its_manifest(world: CatalogueWorld) -> None:
    seen = []
    for title in ("one", "two", "three"):
        assert world.manifest is not None
        seen.append(world.manifest.catalogue_key)
        world.save(GOOD | {"guides/start.md": guide(title)})
        world.sync()
    assert world.manifest is not None

    kept = {key for key in world.objects.objects if key.startswith(catalogues_prefix(NAME))}
    assert kept == {world.manifest.catalogue_key, seen[-1]}


def test_a_run_that_dies_between_any_two_writes_is_made_good_by_the_next() -> None:
    new = GOOD | {"commands.json": entries(command("list"), command("put"))}
    writes = 0
    while True:
        world = CatalogueWorld()
        world.save(GOOD)
        world.sync()
        old = world.titles
        world.save(new)
        world.objects.crash_after = writes
        try:
            world.sync()
        except Crash:
            pass
        else:
            break
        assert set(world.titles) in ({"list", "get", "guides-start"}, {"list", "put", "guides-start"}), old
        world.state.now = datetime(2027, 1, 1, tzinfo=UTC)
        world.sync()
        assert set(world.titles) == {"list", "put", "guides-start"}
        assert world.report.status == "published"
        assert sum(key.startswith(catalogues_prefix(NAME)) for key in world.objects.objects) <= 3
        blobs = [key for key in world.objects.objects if key.startswith(reference_keys.catalogue_blobs_prefix(NAME))]
        assert len(blobs) == len(new)
        assert world.sync() == AGAIN
        writes += 1
    assert writes >= 9


def test_a_run_that_was_overtaken_plans_anew(world: CatalogueWorld) -> None:
    world.save(GOOD | {"guides/start.md": guide("Old")})
    slow = world.start()
    assert next(slow) == "plan"
    world.save(GOOD | {"guides/start.md": guide("Newer")})
    world.sync()

    assert list(slow)[:2] == ["publish", "plan"]
    assert world.titles["guides-start"] == "Newer"


def test_a_run_that_was_overtaken_by_one_that_found_nothing_to_do_plans_anew(world: CatalogueWorld) -> None:
    world.save(GOOD | {"guides/start.md": guide("Mistake")})
    slow = world.start()
    assert next(slow) == "plan"
    world.save(GOOD)
    world.sync()

    assert list(slow)[:2] == ["publish", "plan"]
    assert world.titles["guides-start"] == "Start"


def test_a_stalled_run_never_publishes_what_another_has_removed(world: CatalogueWorld) -> None:
    world.save(GOOD | {"guides/start.md": guide("Mistake")})
    slow = world.start()

    def overtake() -> None:
        world.state.now = datetime(2027, 1, 1, tzinfo=UTC)
        world.save(GOOD)
        world.sync()

    world.objects.interrupt(5, overtake)  # its catalogue is there, and its manifest is not
    list(slow)
    assert world.titles["guides-start"] in ("Mistake", "Start")
    world.sync()
    assert world.titles["guides-start"] == "Start"


def test_the_status_names_the_file_and_counts_the_errors_within_githubs_bound(world: CatalogueWorld) -> None:
    world.save(GOOD | {f"{n}.json": b"[" for n in range(3)})
    world.sync()
    line = catalogue_status_line(world.report)

    assert line.startswith(f"Refused: {FOLDER}/0.json:1: ") and line.endswith(" (3 errors)")
    long = world.report.model_copy(
        update={"problems": [world.report.problems[0].model_copy(update={"message": "x" * 500})]}
    )
    assert len(catalogue_status_line(long)) == STATUS_CHARACTERS


def test_the_report_is_json_that_programs_can_read(world: CatalogueWorld) -> None:
    told = json.loads(world.report.to_json())

    assert {"status", "commitSha", "publishedCommit", "byType", "problems", "checkedAt"} <= told.keys()


@pytest.mark.parametrize("files", [{"catalogue.yaml": b"title: Helios\n"}, {"a.md": guide("A", publish="false")}])
def test_a_catalogue_without_an_entry_takes_nothing_away(world: CatalogueWorld, files: dict[str, bytes]) -> None:
    catalogue = world.catalogue
    world.save(files)
    world.sync()

    assert (world.report.status, world.codes()) == ("refused", ["empty-catalogue"])
    assert world.catalogue == catalogue
    assert world.sync() == AGAIN
