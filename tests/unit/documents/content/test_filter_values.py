"""Values of filters: read in any spelling, several at once, and accounted for where no document has them."""

import pytest

from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.filter_values import MAX_VALUES, resolved, unknown
from commonplace.documents.content.library import Library
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.kernel.errors import InvalidInput
from commonplace.search.filters import Filters
from tests.fakes.library import FakeLibrary, make


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    store = FakeLibrary()
    store.publish(
        [
            make(
                "file", "a", "a.md", group="pool-desk", author=["Quill, Amara"], tags=["data-quality"], status="Active"
            ),
            make("file", "b", "b.md", group="shore", author=["Ines"], aliases=["Ebb, flow"], tags=["Sea", "sea"]),
            make("file", "c", "c.md", group="Shore", release="first-low-water", tags=["sea"]),
            make("group", "pool-desk", "groups/pool-desk.md", title="The desk of pools"),
        ]
    )
    return Library(store).edition().catalogue


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (Filters(groups=("Pool Desk",)), Filters(groups=("pool-desk",))),
        (Filters(groups=("the desk of pools",)), Filters(groups=("pool-desk",))),
        (Filters(groups=("Shore", "shore")), Filters(groups=("Shore", "shore"))),
        (Filters(groups=("pool_desk,shore",)), Filters(groups=("pool-desk", "shore"))),
        (Filters(groups=("pool-desk", "POOL-DESK")), Filters(groups=("pool-desk",))),
        (Filters(statuses=("active",)), Filters(statuses=("Active",))),
        (Filters(releases=("First low water",)), Filters(releases=("first-low-water",))),
        (Filters(authors=("quill, amara",)), Filters(authors=("Quill, Amara",))),
        (Filters(authors=("Quill, Amara", "ines")), Filters(authors=("Quill, Amara", "Ines"))),
        (Filters(aliases=("ebb, flow",)), Filters(aliases=("Ebb, flow",))),
        (Filters(tags_all=("#Data quality, SEA",)), Filters(tags_all=("data-quality", "sea"))),
        (Filters(tags_any=("Sea",)), Filters(tags_any=("Sea",))),
        (Filters(content_types=("Patterns", "concept")), Filters(content_types=("pattern", "tag"))),
        (Filters(content_types=("resource",)), Filters(content_types=ONTOLOGY.expand("resource"))),
        (Filters(groups=(" ", ",")), Filters()),
        (Filters(groups=("nobody, ",)), Filters(groups=("nobody",))),
    ],
)
def test_values_are_found_among_those_that_documents_have(catalogue: Catalogue, asked: Filters, meant: Filters) -> None:
    assert resolved(catalogue, asked) == meant
    assert resolved(catalogue, meant) == meant


def test_a_value_that_no_document_has_is_accounted_for(catalogue: Catalogue) -> None:
    wanted = resolved(
        catalogue, Filters(groups=("shor", "shore"), authors=("Amara Quill",), tags_any=("zebra", "seaa"))
    )
    assert unknown(catalogue, wanted) == [
        "No group is called `shor`; did you mean `shore`? There are: pool-desk, shore, Shore.",
        "No author is called `Amara Quill`. There are: Quill, Amara, Ines.",
        "No tag is called `zebra`. There are: sea, Sea, data-quality.",
        "No tag is called `seaa`; did you mean `sea`? There are: sea, Sea, data-quality.",
    ]
    assert unknown(catalogue, Filters(groups=("shore",), tags_all=("sea",))) == []


def test_more_values_than_a_filter_takes_are_refused(catalogue: Catalogue) -> None:
    every = ",".join(map(str, range(MAX_VALUES)))
    assert len(resolved(catalogue, Filters(groups=(every,))).groups) == MAX_VALUES
    with pytest.raises(InvalidInput, match="at most"):
        resolved(catalogue, Filters(groups=(every, "another")))


def test_a_tag_of_very_many_levels_has_ten_parents_at_most() -> None:
    deep = make("file", "deep", "deep.md", tags=["/".join("abcdefghijklmnop"), "x"])
    assert len(deep.tag_branches) == 2 + 10 and "a/b/c" in deep.tag_branches
    assert len(make("file", "d", "d.md", tags=["/".join("a" * 30_000)]).tag_branches) == 11


def test_a_tag_that_others_lie_in_is_known() -> None:
    store = FakeLibrary()
    store.publish([make("file", "a", "a.md", tags=["inbox/to-read"])])
    known = Library(store).edition().catalogue
    assert unknown(known, Filters(tags_all=("inbox",))) == []
    assert resolved(known, Filters(tags_all=("Inbox", "inbox/To Read"))).tags_all == ("inbox", "inbox/to-read")
    assert "inbox/to-read" in unknown(known, Filters(tags_all=("inbox/to-reed",)))[0]
