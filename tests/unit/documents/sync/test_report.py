"""What the sync reports is what `validate` says of the same tree, however it came there."""

import json

from commonplace.documents.content.findings import Findings
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.validate import validate_tree
from commonplace.documents.sync.keys import SUMMARY_KEY, report_key
from commonplace.documents.sync.report import Report
from tests import mistakes
from tests.unit.documents.sync.drive import World, page


def reported(world: World) -> Report:
    return Report.model_validate_json(world.objects.objects[report_key(world.manifest().commit_sha)].body)


def validated(tree: dict[str, bytes]) -> Findings:
    return validate_tree(tree, tree.__getitem__, sizes={path: len(raw) for path, raw in tree.items()})


def test_the_sync_and_validate_say_the_same_of_every_mistake() -> None:
    world, tree = World(), mistakes.tree()
    world.push(tree)
    world.sync()
    report, before = reported(world), validated(tree)
    assert list(report.findings) == list(before.findings)
    assert str(report.tally) == str(before.tally) == mistakes.COUNT
    judged = report.judged(world.manifest())
    assert (judged.published, judged.skipped) == (before.published, before.skipped)
    assert set(judged.published) == mistakes.PUBLISHED


def test_the_count_stays_the_same_when_other_files_change() -> None:
    world, tree = World(), mistakes.tree()
    for number in range(3):
        world.push(tree | {"docs/more.md": page("More", f"Take {number}.\n")})
        world.sync()
        assert list(reported(world).findings) == list(
            validated(tree | {"docs/more.md": page("More", f"Take {number}.\n")}).findings
        )


def test_a_file_that_is_only_misplaced_is_fetched_once_and_its_text_kept_nowhere() -> None:
    world = World()
    world.push({"drafts/a.md": page("A", "SECRET"), "b.md": page("B")})
    world.sync()
    world.push({"drafts/a.md": page("A", "SECRET"), "b.md": page("B", "New.\n")})
    world.repository.log = []
    world.sync()
    assert world.repository.log.count("blob") == 1
    assert [one.path for one in reported(world).findings if one.problem.code == "excluded"] == ["drafts/a.md"]
    assert not any(b"SECRET" in stored.body for stored in world.objects.objects.values())
    world.push({"docs/a.md": page("A", "SECRET"), "b.md": page("B", "New.\n")})
    world.sync()
    assert {entry.path for entry in world.manifest().documents} == {"b.md", "docs/a.md"}


def test_the_last_good_version_does_not_hide_what_is_wrong_now() -> None:
    world, tree = World(), {"a.md": page("A", "[b](b.md)\n"), "b.md": page("B")}
    world.push(tree)
    world.sync()
    tree |= {"a.md": b"---\ntitle: A: B\npublish: true\n---\n"}
    world.push(tree)
    world.sync()
    assert list(reported(world).findings) == list(validated(tree).findings)
    assert {entry.path for entry in world.manifest().documents} == {"a.md", "b.md"}


def test_folders_of_another_source_are_not_missed() -> None:
    assert not Exclusions(elsewhere=["reference/"]).is_misplaced("reference/a.md")
    assert Exclusions(["reference/"]).is_misplaced("reference/a.md")


def test_the_public_summary_names_published_documents_and_counts_nothing_else() -> None:
    world = World()
    world.push({"a.md": page("A", "[b](b.md) [c](c.md)\n"), "b.md": b"---\npublish: yes\n---\n"})
    world.sync()
    summary = json.loads(world.objects.objects[SUMMARY_KEY].body)
    assert summary["counts"]["problems"] == summary["counts"]["brokenLinks"] == 2
    assert "b.md" not in json.dumps(summary) and "link" not in json.dumps(summary["notes"])
    assert reported(world).tally.problems == 3


def test_each_mistake_has_its_line_and_its_cure() -> None:
    findings = validated(mistakes.tree()).findings
    for path, mistake in mistakes.MISTAKES.items():
        found = [one.problem for one in findings if one.path == path]
        assert [(one.line, one.code, one.hint) for one in found] == [mistake]
