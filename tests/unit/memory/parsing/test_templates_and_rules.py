"""Templates and CLAUDE.md: whole files with tags of where they lie, and one fact of each rule."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.entry_files import Parsed, Unread
from commonplace.memory.model import MAX_CONTENT_BYTES
from commonplace.memory.validation import Refused, imports
from commonplace_local.memory import claude, templates

FOLDER = Path(__file__).parents[3] / "fixtures" / "memory"


@pytest.mark.parametrize(
    ("path", "tags", "roles"),
    [
        ("plans/stories/UAT/WRKF-000/_templates/PROOF-TEMPLATE.md", ("proof", "documentation", "template"), ("dev",)),
        ("operations/RUNBOOK.md", ("operations", "runbook", "template"), ("dev",)),
        ("templates/operations/RUNBOOK.md", ("operations", "runbook", "template"), ("dev",)),
        ("docs/architecture/ADR-TEMPLATE.md", ("architecture", "adr", "template"), ("dev", "pm")),
        ("_templates/QA-GATE.template.md", ("qa", "gate", "verification", "template"), ("qa",)),
        ("templates/Story Template.md", ("story", "template"), ("pm",)),
        ("templates/notes.md", ("notes", "template"), ("dev", "qa")),
        ("../elsewhere/TEST_PLAN.md", ("elsewhere", "test", "plan", "testing", "template"), ("dev", "qa")),
    ],
)
def test_tags_come_from_the_path_and_roles_from_the_kind(path: str, tags: tuple[str, ...], roles: tuple[str]) -> None:
    (seed,) = templates.parse("# Title\n\nText.\n", path).seeds
    assert (seed.tags, seed.roles, seed.entry_type, seed.source_file) == (tags, roles, "template", path)


def test_a_template_is_kept_whole_with_its_title_beside_it() -> None:
    text = (FOLDER / "templates" / "operations" / "RUNBOOK.md").read_text(encoding="utf-8")
    (seed,) = templates.parse(text, "templates/operations/RUNBOOK.md").seeds
    assert seed.content == text.rstrip("\n")
    assert seed.metadata == {"title": "Runbook: NAME OF THE ALARM"}


def test_roles_can_be_said_for_all_templates() -> None:
    (seed,) = templates.parse("# T\n", "ADR.md", ("qa",)).seeds
    assert seed.roles == ("qa",)


def test_what_does_not_fit_or_is_empty_is_left_out_and_named() -> None:
    assert templates.parse(" \n\n", "a.md") == Parsed((), unread=(Unread(1, "the file is empty"),))
    told = templates.parse("é" * MAX_CONTENT_BYTES, "b.md")
    assert told.seeds == ()
    assert "65,536 bytes, more than the 32,768" in told.unread[0].reason


def test_each_rule_is_a_fact_with_the_headings_above_it_as_tags() -> None:
    found = claude.parse((FOLDER / "CLAUDE.md").read_text(encoding="utf-8"), "CLAUDE.md")
    assert [(one.content, one.tags) for one in found.seeds] == [
        ("Use named exports.", ("code-style", "rule")),
        ("Infer types from Zod schemas; never write both.", ("code-style", "rule")),
        ("Order imports: packages, then `@harbour/*`, then relative ones.", ("code-style", "imports", "rule")),
        ("Run one package with:\n```sh\npnpm --filter @harbour/berths test\n```", ("testing", "rule")),
        ("Never do: sleep in a test", ("testing", "rule")),
        ("Never do: share a database between workers", ("testing", "rule")),
        ("Fixtures: Give each row a fixed UUID.", ("testing", "rule")),
        ("part: title; rule: at most 72 characters", ("commits", "rule")),
        ("part: body; rule: says why", ("commits", "rule")),
    ]
    assert [one.reason for one in found.unread] == ["takes in docs/overview.md; parse that as well"]
    assert {one.roles for one in found.seeds} == {("dev",)}
    assert found.seeds[2].metadata == {"heading": "Harbour booking > Code style > Imports"}
    assert not [one for one in imports([seed.as_import() for seed in found.seeds]) if isinstance(one, Refused)]


def test_a_sentence_that_announces_nothing_is_a_rule_and_an_empty_file_says_so() -> None:
    assert [one.content for one in claude.parse("Remember this:\n\n# Next\n\nA rule.\n").seeds] == [
        "Remember this:",
        "A rule.",
    ]
    assert claude.parse("# Only a heading\n").remarks == ("There is no rule in it: no list item and no paragraph.",)


@given(st.text(alphabet=st.sampled_from("#-*`[](){}:|> \n\t\r01@Ab.\u00e9\U0001f30a_~/"), max_size=400))
def test_any_text_is_parsed_into_entries_that_can_be_imported(text: str) -> None:
    found = [*claude.parse(text).seeds, *templates.parse(text, "docs/A.md").seeds]
    taken = imports([one.as_import() for one in found]) if found else []
    assert [one for one in taken if isinstance(one, Refused)] == []
