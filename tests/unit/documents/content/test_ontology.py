"""The ontology says what the seed says, and what knowledge bases moved on to."""

import pytest

from commonplace.documents.content.ontology import ONTOLOGY, Ontology
from commonplace.kernel.errors import InvalidInput

SEED_FOLDERS = {
    "artifacts/patterns": "pattern",
    "artifacts/practices": "practice",
    "artifacts/primitives": "primitive",
    "artifacts/protocols": "protocol",
    "artifacts/playbooks": "playbook",
    "artifacts/questions": "question",
    "artifacts/studies": "study",
    "artifacts/articles": "article",
    "data/people": "person",
    "data/groups": "group",
    "data/projects": "project",
    "data/places": "place",
    "data/gatherings": "gathering",
    "links": "link",
    "tags": "tag",
    "notes": "file",
    "drafts": "file",
}
LATER_FOLDERS = {
    "data/resources/patterns": "pattern",
    "data/resources/practices": "practice",
    "data/resources/primitives": "primitive",
    "data/resources/protocols": "protocol",
    "data/resources/playbooks": "playbook",
    "data/stories/studies": "study",
    "data/stories/articles": "article",
    "data/stories/guides": "guide",
    "data/links": "link",
    "data/concepts": "tag",
    "data/questions": "question",
    "docs": "file",
    "somewhere/else": "file",
}
SEED_FIELDS = {
    "file": "type title description date publish draft permalink author group",
    "link": "url",
    "tag": "aliases relatedTerms category",
    "resource": "release hasPart isPartOf",
    "pattern": "context problem solution relatedPatterns release hasPart isPartOf title",
    "practice": "patterns practitioners",
    "primitive": "category",
    "protocol": "steps",
    "playbook": "hasPart",
    "question": "status related proposedBy",
    "story": "release",
    "study": "release",
    "article": "url curator harvester release",
    "person": "aliases roles groups homepage email image",
    "group": "aliases members homepage logo",
    "project": "status lead homepage",
    "place": "coordinates region",
    "gathering": "eventDate location attendees homepage",
}


def test_folders_imply_types_of_both_layouts() -> None:
    for folder, content_type in [*SEED_FOLDERS.items(), *LATER_FOLDERS.items()]:
        assert ONTOLOGY.type_of_path(f"{folder}/a.md") == content_type
        assert ONTOLOGY.type_of_path(f"{folder}/deeper/still/a.md") == content_type


def test_a_folder_name_matches_whole() -> None:
    assert ONTOLOGY.type_of_path("artifacts/primitives-framework/a.md") == "file"
    assert ONTOLOGY.type_of_path("data/linksX/a.md") == "file"
    assert ONTOLOGY.type_of_path("links.md") == "file"
    assert ONTOLOGY.type_of_path("elsewhere/links/a.md") == "file"


def test_the_longest_folder_wins_whatever_the_order_of_the_table() -> None:
    fields = {"title": {"kind": "line", "description": "t"}}
    types = {
        "file": {"description": "f", "fields": ["title"]},
        "outer": {"parent": "file", "description": "o", "prefixes": ["a"]},
        "inner": {"parent": "file", "description": "i", "prefixes": ["a/b"]},
    }
    assert Ontology({"fields": fields, "types": types}).type_of_path("a/b/c.md") == "inner"
    swapped = {name: types[name] for name in ("file", "inner", "outer")}
    assert Ontology({"fields": fields, "types": swapped}).type_of_path("a/b/c.md") == "inner"


def test_types_have_the_fields_of_the_seed() -> None:
    for content_type, fields in SEED_FIELDS.items():
        assert set(fields.split()) <= ONTOLOGY.types[content_type].fields.keys()


def test_fields_do_not_leak_to_other_types() -> None:
    assert "coordinates" not in ONTOLOGY.types["person"].fields
    assert "release" not in ONTOLOGY.types["link"].fields


def test_enums_belong_to_their_type() -> None:
    assert ONTOLOGY.types["question"].fields["status"].enum == ("open", "exploring", "resolved")
    assert ONTOLOGY.types["project"].fields["status"].enum == ("active", "completed", "paused", "archived")
    assert [name for name, field in ONTOLOGY.types["link"].fields.items() if field.required] == ["title", "url"]
    assert not ONTOLOGY.types["article"].fields["url"].required


def test_parents_are_those_of_the_seed_and_a_guide_is_a_story() -> None:
    assert {name: set(ONTOLOGY.children(name)) for name in ("reference", "resource", "story", "data")} == {
        "reference": {"index", "link", "tag"},
        "resource": {"pattern", "practice", "primitive", "protocol", "playbook", "question"},
        "story": {"study", "article", "guide"},
        "data": {"person", "group", "project", "place", "gathering"},
    }


def test_a_grouping_as_a_filter_stands_for_its_children() -> None:
    assert set(ONTOLOGY.expand("story")) == {"story", "study", "article", "guide"}
    assert ONTOLOGY.expand("pattern") == ("pattern",)
    assert ONTOLOGY.expand("file") == ("file",), "the root stands for plain files, or it would filter nothing"
    assert ONTOLOGY.expand(" Concept ") == ("tag",)


def test_an_unknown_filter_names_the_types_there_are() -> None:
    with pytest.raises(InvalidInput) as raised:
        ONTOLOGY.expand("patern")
    assert raised.value.hint is not None
    assert "did you mean `pattern`?" in raised.value.hint
    assert "gathering" in raised.value.hint


@pytest.mark.parametrize(
    ("authored", "content_type", "code"),
    [
        ("pattern", "pattern", None),
        ("Pattern", "pattern", "aliased-type"),
        ("concept", "tag", "aliased-type"),
        ("note", "file", "aliased-type"),
        ("entity", "file", "aliased-type"),
        ("guide", "guide", None),
        ("something, Pattern", "pattern", "aliased-type"),
        (["tag", "pattern"], "tag", "aliased-type"),
        (None, "practice", None),
        ("activity", "practice", "unknown-type"),
        ("", "practice", "wrong-shape"),
        (7, "practice", "wrong-shape"),
        ({"a": 1}, "practice", "wrong-shape"),
        ("resource", "practice", None),
        ("story", "story", "abstract-type"),
    ],
)
def test_the_frontmatter_decides_the_type_if_it_can(authored: object, content_type: str, code: str | None) -> None:
    resolved, problem = ONTOLOGY.resolve_type(authored, "artifacts/practices/a.md")
    assert resolved == content_type
    assert (problem and problem.code) == code


def test_a_type_value_in_a_message_is_cut_and_printable() -> None:
    _, problem = ONTOLOGY.resolve_type("x\n" * 100, "a.md")
    assert problem is not None
    assert "\n" not in problem.message
    assert len(problem.message) < 150


def test_field_names_are_found_in_other_spellings() -> None:
    assert [
        ONTOLOGY.field_name(name) for name in ("linkType", "link_type", "Link-Type", "source", "banner_x", "xyz")
    ] == [
        "linkType",
        "linkType",
        "linkType",
        "url",
        "banner_x",
        None,
    ]


def test_the_fingerprint_follows_the_content_of_the_table() -> None:
    types = {"file": {"description": "f", "fields": ["title"]}}
    one, same, other = (
        Ontology({"fields": {"title": {"kind": "line", "description": text}}, "types": types}).fingerprint
        for text in ("a", "a", "b")
    )
    assert one == same != other


def test_a_table_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown types"):
        Ontology({"aliases": {"a": "b"}, "fields": {}, "types": {}})
    with pytest.raises(KeyError):
        Ontology({"fields": {}, "types": {"a": {"description": "", "parent": "b"}}})


def test_the_description_names_every_type_with_its_fields() -> None:
    described = ONTOLOGY.describe()
    by_name = {row["name"]: row for row in described["types"]}
    assert by_name.keys() == ONTOLOGY.types.keys()
    assert by_name["question"]["enums"] == {"status": ["open", "exploring", "resolved"]}
    assert by_name["guide"]["parent"] == "story"
    assert described["folders"]["data/concepts"] == "tag"
    assert described["aliases"]["concept"] == "tag"
