"""What names a record besides its title, and how surely."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.search.model import Record
from commonplace.search.names import Kind, grade, name_keys, names_of, query_keys
from commonplace.search.query import Query
from tests.unit.search.records import record

CELLS = record(
    "pattern/cells",
    title="Small groups (organizational pattern)",
    path="data/patterns/Cells.md",
    url="https://www.example.org/on-cells/?v=2",
    author=["Amara Quill", "rock.eth", "a16z (Andreessen Horowitz)"],
    tags=["governance/cell-work"],
    tag_branches=["governance", "governance/cell-work"],
)


def graded(query: str, named: Record = CELLS) -> float:
    """The grade of a record that an engine finds by a key it shares with the query."""
    asked = Query.of(query)
    found = [(kind, name) for kind, name in names_of(named) if {*name_keys(name, kind)} & {*query_keys(asked)}]
    assert grade(asked, found) == grade(asked, names_of(named))
    return grade(asked, found)


@pytest.mark.parametrize(
    "query",
    [
        *("small groups", "What are small groups?"),
        *("Amara Quill", "@amara-quill", "who is Amara Quill?", "@rock.eth", "author: Amara Quill", "a16z"),
        *(
            "cells",
            "Cells.md",
            "data/patterns/Cells.md",
            "./data/patterns/cells",
            "patterns/cells",
            r"data\patterns\cells.md",
        ),
        *("pattern/cells", "/d/pattern/cells", "/d/pattern/cells#roles", "https://kb.example.org/notes/pattern/cells"),
        "https://github.com/example/kb/blob/main/data/patterns/Cells.md",
        *("https://example.org/on-cells/?v=2", "http://example.org/on-cells/?v=2"),
        *("tag:governance", "tag: governance/cell-work", "#governance", "tags:Governance"),
    ],
)
def test_a_record_is_named_in_any_case_by_what_people_call_it(query: str) -> None:
    assert graded(query) > 0
    assert graded(query.upper()) == graded(query.lower())


@pytest.mark.parametrize(
    "query",
    [
        *("governance", "cell-work", "organizational pattern", "Quill", "data", "patterns", "data/patterns", "pattern"),
        *(
            "https://kb.example.org/cells",
            "https://example.org/on-cells",
            "other/cells",
            "articles by Amara Quill",
            "tag:",
        ),
    ],
)
def test_a_word_or_another_place_is_no_name(query: str) -> None:
    assert graded(query) == 0


def test_the_more_a_name_says_which_record_is_meant_the_earlier_it_is() -> None:
    titled = record("note/title", title="Pattern cells", path="t.md")

    path, stem, main, author, tag = map(
        graded, ("pattern/cells", "cells", "small groups", "amara quill", "tag:governance")
    )

    assert graded("pattern cells", titled) > path > graded("pattern/cells", titled) > 0
    assert path > stem > main > author > tag > 0
    deep, shallow = (record("note/a", path=path) for path in ("x/docs/intro.md", "docs/intro.md"))
    assert graded("https://example.org/x/docs/intro", deep) > graded("https://example.org/x/docs/intro", shallow) > 0


def test_what_belongs_to_an_organisation_is_named_by_no_path() -> None:
    entry = Record("org/1", 1, "fact", "1", "", (), path="src/cells.py", organisation="org")  # type: ignore[arg-type]

    assert [*names_of(entry)] == []


_SEGMENTS = st.text("abÉß-_ 潮.", min_size=1).filter(lambda segment: segment.strip(". ") == segment)


@given(st.lists(_SEGMENTS, min_size=1, max_size=4))
def test_every_path_names_its_document_with_and_without_its_ending(segments: list[str]) -> None:
    path = "/".join(segments)
    named = record("note/a", path=f"{path}.md")

    assert graded(f"{path}.md", named) > 0
    assert graded(path, named) > 0


def test_the_main_part_of_a_title_ends_before_a_parenthesis_that_explains_it() -> None:
    def mains(title: str) -> list[tuple[Kind, str]]:
        return [(kind, name) for kind, name in names_of(record("note/a", title=title, path="")) if kind == "m"]

    assert (
        mains("Cells (pattern)")
        == mains("Cells (pattern): a start")
        == mains("Cells - small (groups)")
        == [("m", "Cells")]
    )
    assert mains("How (not) to govern") == mains("(Cells)") == []
