"""One test for each awkward input that a real knowledge base has shown: the rows are numbered as they were found.

Rows about runs of the sync (15 to 20, 30, 32) are tested here for what a run relies on: verdicts, types and ids that
are functions of bytes and paths alone.
"""

import json
import random
from collections.abc import Callable

from commonplace.documents.content.graph import Broken, LinkResolver, ToDocument, ToFile, build_graph
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.paths import Exclusions, assign_ids, assign_names
from commonplace.documents.content.reader import Invalid, Published, Unpublished, contents_of, judge
from commonplace.documents.content.schemas import content_adapter
from commonplace.repository.blobs import git_blob_sha
from commonplace.repository.link import Link
from tests.unit.documents.content.entries import summary
from tests.unit.documents.content.files import codes, markdown, normalised, published, reason

CANARY = "CANARY-PRIVATE-7731"

HardCase = Callable[[str], bytes]


def test_01_a_document_without_a_date_has_none(hard_case: HardCase) -> None:
    document = normalised(hard_case("no-date"), "data/links/seed-exchange.md")
    assert document.date is None
    assert "date" not in document.metadata
    assert codes(document) == {("date", "missing-date")}


def test_02_a_long_name_is_served_and_shortened_only_with_a_hash() -> None:
    fits, too_long = "a-" * 32 + "b", "x" * 240
    ids = assign_ids({f"data/links/{fits}.md": "link", f"data/links/{too_long}.md": "link"})
    assert ids[f"data/links/{fits}.md"] == fits
    shortened = ids[f"data/links/{too_long}.md"]
    assert len(shortened) == 200
    assert shortened != too_long[:200]


def test_03_every_index_page_has_its_own_id_made_of_its_folder() -> None:
    folders = ["", "data/", "data/links/", "docs/rpp/", "docs/"] + [f"docs/area-{n}/" for n in range(21)]
    ids = assign_ids({f"{folder}index.md": "index" for folder in folders})
    assert len(set(ids.values())) == 26
    assert ids["index.md"] == "index"
    assert ids["docs/rpp/index.md"] == "docs-rpp-index"
    resolver = LinkResolver(ids, [])
    assert resolver.resolve("index.md", Link("docs/rpp/", None, "link", "", 1)) == ToDocument("docs/rpp/index.md")


def test_04_files_of_one_name_and_type_keep_apart() -> None:
    ids = assign_ids({"docs/a/guide-to-care.md": "guide", "docs/b/guide-to-care.md": "guide"})
    assert ids == {"docs/a/guide-to-care.md": "docs-a-guide-to-care", "docs/b/guide-to-care.md": "docs-b-guide-to-care"}
    across_types = assign_ids({"docs/a/care.md": "guide", "data/concepts/care.md": "tag"})
    assert set(across_types.values()) == {"care"}


def test_05_spaces_capitals_ampersands_and_dashes_make_plain_ids() -> None:
    names = {
        "Open Orchard – Planting Plan": "open-orchard-planting-plan",
        "Shared Tools & the Future of Sheds": "shared-tools-the-future-of-sheds",
        "Care Work - Ideas, Limits and Tools": "care-work-ideas-limits-and-tools",
        "Patterns": "patterns",
    }
    assert assign_ids({f"data/links/{name}.md": "link" for name in names}) == {
        f"data/links/{name}.md": slug for name, slug in names.items()
    }


def test_06_dots_in_names_are_just_dots() -> None:
    ids = assign_ids(
        {"notes/Gardens aren't things... they grow..md": "file", "notes/going/index.md.md": "file"},
    )
    assert ids["notes/Gardens aren't things... they grow..md"] == "gardens-arent-things-they-grow"
    assert ids["notes/going/index.md.md"] == "index-md"
    link = Link("notes/Gardens aren't things... they grow..md", None, "link", "", 1)
    assert LinkResolver(ids, []).resolve("notes/a.md", link) == ToDocument(link.target)


def test_07_the_ugliest_names_are_content_and_get_ids() -> None:
    ugly = [
        "docs/circle/⬜️ ORC-17 Plan v2 invitation + questions (for panel + guests) .md",
        "docs/circle/Who's @ the #1 $hed [draft]\N{NO-BREAK SPACE}.md",
        "docs/circle/🌱.md",
        "docs/circle/план.md",
        'docs/circle/"quoted" 100%.md',
    ]
    ids = assign_ids(dict.fromkeys(ugly, "file"))
    assert all(Exclusions().is_content(path) for path in ugly)
    assert len(set(ids.values())) == len(ugly)
    assert ids[ugly[0]] == "orc-17-plan-v2-invitation-questions-for-panel-guests"
    assert ids["docs/circle/🌱.md"].startswith("untitled-")


def test_08_malformed_frontmatter_is_reported_with_its_place_and_without_its_text(hard_case: HardCase) -> None:
    swallowed = judge(hard_case("body-text-inside-unclosed-block"))
    assert isinstance(swallowed, Invalid)
    assert (swallowed.problem.code, swallowed.problem.line) == ("malformed-frontmatter", 7)
    colon = judge(hard_case("colon-in-value"))
    assert isinstance(colon, Invalid)
    assert (colon.problem.line, colon.problem.column) == (2, 25)
    assert colon.problem.hint == "put quotes around a value that contains `: `"
    assert CANARY not in repr(swallowed)


def test_09_malformed_frontmatter_that_says_private_is_private(hard_case: HardCase) -> None:
    for name in ("malformed-and-private", "malformed-draft"):
        verdict = judge(hard_case(name))
        assert isinstance(verdict, Unpublished)
        assert verdict.problem is not None
        assert CANARY not in repr(verdict)
    assert isinstance(judge(hard_case("colon-in-value")), Invalid), (
        "one that says `publish: true` keeps its last version"
    )


def test_10_a_date_that_does_not_exist_is_reported_not_raised(hard_case: HardCase) -> None:
    for name in ("impossible-date", "day-first-date"):
        document = normalised(hard_case(name))
        assert document.date is None
        assert ("date", "bad-date") in codes(document)
    assert published(hard_case("impossible-date")).frontmatter["date"] == "2023-13-06"


def test_11_nulls_vanish_and_single_values_become_lists(hard_case: HardCase) -> None:
    raw = hard_case("nulls-and-bare-strings")
    document = normalised(raw, "data/resources/patterns/shed.md")
    assert document.metadata == {
        "type": "pattern",
        "title": "Shared tool shed",
        "author": ["Rosa Lind"],
        "tags": ["commons"],
        "harvester": ["Ivo Brandt"],
        "publish": True,
    }
    assert {field for field, code in codes(document) if code == "null-field"} == {"description", "aliases", "url"}
    assert "wrong-shape" not in {code for _, code in codes(document)}
    assert published(raw).frontmatter["author"] == "Rosa Lind", "what was authored stays beside it"


def test_12_only_the_boolean_true_publishes(hard_case: HardCase) -> None:
    assert reason(judge(hard_case("publish-without-value"))) == "without `publish: true`"
    for value in ('"true"', "yes", "on", "1", "1.0", "[true]", "null", "false", "TRUE!", ""):
        assert isinstance(judge(f"---\npublish: {value}\n---\n".encode()), Unpublished), value
    assert isinstance(judge(b"---\npublish: true\n---\n"), Published)


def test_13_unknown_and_older_types_fall_back_and_keep_what_was_written(hard_case: HardCase) -> None:
    alias = normalised(hard_case("type-alias"), "docs/mutual-aid.md")
    assert (alias.content_type, alias.metadata["originalType"]) == ("tag", "concept")
    unknown = normalised(hard_case("type-unknown"), "data/concepts/bread.md")
    assert (unknown.content_type, unknown.metadata["originalType"]) == ("tag", "activity")
    assert ("type", "unknown-type") in codes(unknown)
    assert normalised(hard_case("type-comma-list")).content_type == "pattern"
    assert normalised(markdown(), "docs/ics/index.md").content_type == "file"


def test_14_the_frontmatter_wins_over_the_folder() -> None:
    assert normalised(markdown(type="pattern"), "docs/rpp/rota.md").content_type == "pattern"
    assert normalised(markdown(type="article"), "data/concepts/rota.md").content_type == "article"


def test_15_a_retyped_file_answers_to_another_reference() -> None:
    path = "docs/circle/articles/rota.md"
    before, after = (normalised(markdown(type=name), path).content_type for name in ("link", "article"))
    assert (before, after) == ("link", "article")
    assert assign_ids({path: before}) == assign_ids({path: after}) == {path: "rota"}


def test_16_swapped_names_swap_ids_and_nothing_else() -> None:
    tree = {"tags/a.md": "tag", "tags/b.md": "tag"}
    assert assign_ids(tree) == assign_ids(dict(reversed(tree.items()))) == {"tags/a.md": "a", "tags/b.md": "b"}


def test_17_a_move_that_keeps_the_file_name_keeps_the_id() -> None:
    assert assign_ids({"tags/care.md": "tag"})["tags/care.md"] == "care"
    assert assign_ids({"data/concepts/care.md": "tag"})["data/concepts/care.md"] == "care"


def test_18_a_push_of_four_thousand_paths_is_named_the_same_in_any_order() -> None:
    paths = [f"docs/{n % 37}/{n % 11}/note-{n % 400}.md" for n in range(4013)]
    shuffled = random.Random(7).sample(paths, len(paths))
    ids = assign_ids(dict.fromkeys(paths, "file"))
    assert assign_ids(dict.fromkeys(shuffled, "file")) == ids
    assert len(set(ids.values())) == len(set(paths))


def test_19_paths_that_came_and_went_leave_no_trace_in_ids() -> None:
    tree = {"notes/a.md": "file"}
    assign_ids(tree | {"other/a.md": "file"})
    assert assign_ids(tree) == {"notes/a.md": "a"}


def test_20_a_blob_is_known_by_the_id_git_gives_it() -> None:
    assert git_blob_sha(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_blob_sha(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_21_names_that_differ_in_case_only_do_not_collide() -> None:
    ids = assign_ids({"data/concepts/Patterns.md": "tag", "data/concepts/patterns.md": "tag"})
    assert len(set(ids.values())) == 2
    assert all(name.startswith("data-concepts-patterns-") for name in ids.values())


def test_22_letter_case_of_files_and_folders_does_not_change_what_is_content() -> None:
    exclusions = Exclusions(["tools/", "README.md"])
    assert exclusions.is_content("data/readme.md")
    assert exclusions.is_content("data/README.MD")
    assert not exclusions.is_content("readme.md")
    assert not exclusions.is_content("Tools/readme.md")


def test_23_tool_folders_hold_no_content() -> None:
    folders = ["archive", "tmp", "tools", "templates", ".obsidian", ".github", "drafts", "attachments"]
    assert not any(Exclusions().is_content(f"{folder}/a.md") for folder in folders)
    assert Exclusions().is_content("docs/archives/a.md")
    assert Exclusions().is_content("toolshed/a.md")


def test_24_a_body_keeps_its_line_ends(hard_case: HardCase) -> None:
    file = published(hard_case("crlf-line-ends"))
    assert file.frontmatter == {"title": "Windows garden", "publish": True}
    assert file.body == "\r\nFirst line.\r\nSecond line.\r\n"
    assert file.body_line == 5


def test_25_rules_in_the_body_belong_to_the_body(hard_case: HardCase) -> None:
    file = published(hard_case("rules-in-body"))
    assert file.frontmatter == {"title": "Three parts", "publish": True}
    assert file.body.startswith("Part one\n\n---\n")
    assert file.body.endswith("Part three\n")


def test_26_a_banner_leads_to_its_attachment(hard_case: HardCase) -> None:
    file = published(hard_case("banner-embed"))
    (link,) = contents_of(file).links
    assert (link.kind, link.line) == ("embed", 4)
    attachment = "attachments/long-table_1.png"
    assert LinkResolver([], [attachment]).resolve("data/a.md", link) == ToFile(attachment)
    assert LinkResolver([], []).resolve("data/a.md", link) == Broken()
    assert assign_names([attachment]) == {attachment: "long-table_1.png"}


def test_27_nothing_of_an_unpublished_file_is_said(hard_case: HardCase) -> None:
    private = [f"---\ntitle: {CANARY}\npublish: false\n---\n{CANARY}\n".encode(), f"{CANARY}\n".encode()]
    private += [
        hard_case(name) for name in ("malformed-and-private", "malformed-draft", "body-text-inside-unclosed-block")
    ]
    private += [f"---\n{CANARY}: *{CANARY}\n{CANARY}: [\n---\n".encode(), f"---\n!!{CANARY} {CANARY}\n---\n".encode()]
    private += [f"---\n{CANARY}: a\n{CANARY}: b\n---\n".encode()]
    for raw in private:
        verdict = judge(raw)
        assert not isinstance(verdict, Published)
        assert CANARY not in repr(verdict)


def test_28_a_link_to_an_unpublished_document_is_broken_and_names_nothing() -> None:
    body = "See [our plan](docs/circle/secret-plan.md) and [care](data/concepts/care.md).\n"
    file = published(markdown(body))
    entries = [summary("notes/a.md"), summary("data/concepts/care.md", "tag")]
    graph, _ = build_graph(entries, {"notes/a.md": contents_of(file).links}, [])
    assert [(edge.source, edge.target) for edge in graph.edges] == [("file/a", "tag/care")]
    assert [(link.target, link.suggestion) for link in graph.broken] == [("docs/circle/secret-plan.md", None)]
    assert {node.path for node in graph.nodes} == {"notes/a.md", "data/concepts/care.md"}


def test_29_aliases_are_names_without_their_hash_sign() -> None:
    document = normalised(markdown(type="tag", title="Care", aliases=["#mutual-care", "Care Work"]))
    assert document.aliases == ("mutual-care", "Care Work")
    link = Link("Mutual-Care", None, "wiki", "", 1)
    resolver = LinkResolver(["tags/care.md"], [], {"#mutual-care": "tags/care.md"})
    assert resolver.resolve("a.md", link) == ToDocument("tags/care.md")


def test_30_a_file_that_became_unreadable_can_still_be_unpublished() -> None:
    readable = b"---\ntitle: Well\npublish: true\n---\n"
    broken = b"---\ntitle: Well: dry\npublish: %s\n---\n"
    assert isinstance(judge(readable), Published)
    assert isinstance(judge(broken % b"true"), Invalid)
    assert isinstance(judge(broken % b"false"), Unpublished)


def test_31_an_empty_file_is_unpublished_and_no_problem(hard_case: HardCase) -> None:
    assert reason(judge(hard_case("zero-bytes"))) == "empty file"
    assert reason(judge(hard_case("no-frontmatter"))) == "no frontmatter"


def test_32_the_same_bytes_are_always_judged_the_same(hard_case: HardCase) -> None:
    raw = hard_case("nulls-and-bare-strings")
    assert judge(raw) == judge(bytes(raw))
    assert normalise("a.md", published(raw)) == normalise("a.md", published(raw))


def test_33_a_file_of_more_than_a_megabyte_is_read_whole() -> None:
    body = "A line of the long book.\n" * 60_000
    assert published(markdown(body)).body == body
    too_large = judge(b"---\npublish: true\n---\n" + b"x" * 5_000_001)
    assert isinstance(too_large, Invalid)
    assert too_large.problem.code == "too-large"


def test_34_script_links_are_no_links_and_markup_stays_as_authored(hard_case: HardCase) -> None:
    raw = hard_case("html-and-script-links")
    file = published(raw)
    assert [link.target for link in contents_of(file).links] == ["secret.md", "x.png", "here.md"]
    assert file.body.encode() == raw.partition(b"publish: true\n---\n")[2]


def test_35_titles_that_look_like_other_things_are_titles() -> None:
    def titled(value: str, body: str = "Text.\n", path: str = "notes/the-well.md") -> str:
        return normalised(f"---\ntitle: {value}\npublish: true\n---\n{body}".encode(), path).title

    assert titled("2024") == "2024"
    assert titled("1.10") == "1.10"
    assert titled("true") == "true"
    assert titled("1:30") == "1:30"
    assert titled("null", "# The *old* well\n") == "The old well"
    assert titled("null") == "the-well"
    assert titled("''", path="docs/rpp/index.md") == "rpp"


def test_every_normalised_document_fits_its_model_and_is_json(hard_case: HardCase) -> None:
    for name in ("no-date", "nulls-and-bare-strings", "type-alias", "yaml-1-1-words", "banner-embed"):
        metadata = normalised(hard_case(name)).metadata
        assert content_adapter.validate_python(metadata).model_dump()["type"] == metadata["type"]
        assert json.loads(json.dumps(metadata, allow_nan=False)) == metadata


def test_every_type_of_the_seed_is_known() -> None:
    seed = "file reference index link tag resource pattern practice primitive protocol playbook question story study "
    seed += "article data person group project place gathering"
    assert set(seed.split()) | {"guide"} == ONTOLOGY.types.keys()
