"""Lists of documents by filters alone and in words, and the way in of a newcomer, on the sample knowledge base."""

import pytest

from commonplace.documents.content.document import Document, Entry
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.intents import listing, parts, way_in
from commonplace.documents.content.library import Library
from commonplace.search.filters import Filters
from tests.fakes.library import make
from tests.unit.documents.tools.published import SAMPLE, synced
from tests.unit.documents.tools.worlds import world


@pytest.fixture(scope="module")
def sample() -> Catalogue:
    return Library(synced(SAMPLE)).edition().catalogue


def listed(catalogue: Catalogue, text: str, wanted: Filters | None = None) -> list[Entry] | None:
    found = listing(catalogue, text, wanted or Filters())
    return None if found is None else list(found.entries)


@pytest.mark.parametrize(
    ("text", "types", "authors", "tags", "year"),
    [
        ("all patterns", {"pattern"}, set(), set(), ""),
        ("List all the patterns", {"pattern"}, set(), set(), ""),
        ("patterns", {"pattern"}, set(), set(), ""),
        ("PATTERNS", {"pattern"}, set(), set(), ""),
        ("which patterns are there?", {"pattern"}, set(), set(), ""),
        ("show me the newest studies", {"study"}, set(), set(), ""),
        ("latest case study", {"study"}, set(), set(), ""),
        ("recent stories", {"study", "article", "guide"}, set(), set(), ""),
        ("all resources", {"pattern", "practice", "primitive", "protocol", "playbook", "question"}, set(), set(), ""),
        ("protocols and practices", {"protocol", "practice"}, set(), set(), ""),
        ("all concepts", {"tag"}, set(), set(), ""),
        ("list the people", {"person"}, set(), set(), ""),
        ("everything Amara wrote", set(), {"Amara Quill"}, set(), ""),
        ("documents by Ines Farrow", set(), {"Ines Farrow"}, set(), ""),
        ("what did Tobias write?", set(), {"Tobias Lund"}, set(), ""),
        ("everything by Wendeline Marsh", set(), {"Wendeline Marsh"}, set(), ""),
        ("Amara Quill's patterns", {"pattern"}, {"Amara Quill"}, set(), ""),
        ("all patterns tagged data-quality", {"pattern"}, set(), {"data-quality"}, ""),
        ("documents tagged #citizen science", set(), set(), {"citizen-science"}, ""),
        ("patterns from 2024", {"pattern"}, set(), set(), "2024"),
        ("documents of 2025-02", set(), set(), set(), "2025-02"),
        ("articles by Amara from 2025", {"article"}, {"Amara Quill"}, set(), "2025"),
        ("newest documents", set(), set(), set(), ""),
        ("what's new", set(), set(), set(), ""),
        ("alle Protokolle", {"protocol"}, set(), set(), ""),
        ("tous les projets", {"project"}, set(), set(), ""),
        ("todos los lugares", {"place"}, set(), set(), ""),
        ("tutti i documenti di Amara", set(), {"Amara Quill"}, set(), ""),
        ("todos os documentos de 2024", set(), set(), set(), "2024"),
    ],
)
def test_a_question_for_a_list_is_answered_with_all_that_it_names_and_nothing_else(
    sample: Catalogue, text: str, types: set[str], authors: set[str], tags: set[str], year: str
) -> None:
    def meant(entry: Entry) -> bool:
        return (
            (not types or entry.content_type in types)
            and authors.issubset(entry.author)
            and tags.issubset(entry.tags)
            and (entry.date or "").startswith(year)
        )

    found = listed(sample, text)
    assert found
    assert {entry.ref for entry in found} == {entry.ref for entry in sample.entries if meant(entry)}
    dates = [entry.date or "" for entry in found]
    assert dates == sorted(dates, reverse=True), "newest first, those without a date last"


@pytest.mark.parametrize(
    "text",
    [
        *("limpets", "pattern", "what is a pattern?", "what are patterns?", "the pattern of the tides"),
        *("all patterns about tides", "Amara Quill", "who is Amara?", "everything we know", "Everything We Know?"),
        *("quadrat", "quadrats", "all quadrats", "tide pool", "documents by Nobody Here"),
        *("all documents tagged nothing-of-this", "all recipes", "releases", "counting in 2024", "newest anemone"),
        *("Two pairs of eyes", "how many eyes are enough", "latest on whelks", "where are the places with whelks"),
        *("why we count limpets", '"all patterns"'),
    ],
)
def test_a_subject_or_a_name_is_no_list(sample: Catalogue, text: str) -> None:
    assert listed(sample, text) is None


def test_a_title_wins_over_a_list_in_singular_and_plural() -> None:
    documents = [make("pattern", "p", "p.md", title="A pattern"), make("tag", "t", "t.md", title="Pattern")]
    assert listed(catalogue_of(documents), "patterns") is None
    assert listed(catalogue_of(documents), "all patterns") is not None
    documents.append(make("file", "f", "f.md", aliases=["All patterns"]))
    assert listed(catalogue_of(documents), "all patterns") is None


def test_filters_hold_for_lists_in_words(sample: Catalogue) -> None:
    found = listed(sample, "all patterns", Filters(authors=("Amara Quill",)))
    assert found
    assert {entry.content_type for entry in found} == {"pattern"}
    assert all("Amara Quill" in entry.author for entry in found)


def test_a_list_says_what_it_is_and_how_to_search_instead(sample: Catalogue) -> None:
    found = listing(sample, "patterns by Amara from 2024", Filters())
    assert found
    assert "type pattern" in found.sentence
    assert "author Amara Quill" in found.sentence
    assert "2024" in found.sentence
    assert "newest first" in found.sentence
    assert "in quotes" in found.sentence
    bare = listing(sample, " ", Filters())
    assert bare
    assert len(bare.entries) == len(sample.entries)
    assert "in quotes" not in bare.sentence


@pytest.mark.parametrize(
    "text",
    [
        *("where do I start", "Where do I start?", "how do I join?", "how can I contribute", "How to get involved"),
        *("What is this?", "wo fange ich an?", "¿Por dónde empiezo?", "par où commencer ?"),
        *("come posso contribuire?", "por onde começar"),
    ],
)
def test_a_newcomer_is_shown_the_home_page(sample: Catalogue, text: str) -> None:
    found = way_in(sample, text)
    assert found
    assert found.path == "index.md"


@pytest.mark.parametrize("text", ["how do I join two lists", "start", "how do I count", "", "where do limpets start"])
def test_other_questions_have_no_way_in(sample: Catalogue, text: str) -> None:
    assert way_in(sample, text) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("where do I start", "guides/first.md"),
        ("how do I join", "CONTRIBUTING.md"),
        ("how can I contribute", "CONTRIBUTING.md"),
        ("what is this", "README.md"),
    ],
)
def test_a_document_that_names_itself_so_comes_before_the_home_page(text: str, path: str) -> None:
    documents = [
        make("file", "readme", "README.md", title="The garden"),
        make("file", "contributing", "CONTRIBUTING.md", title="Working on the garden"),
        make("guide", "first", "guides/first.md", title="A first season", aliases=["Start here"]),
        make("index", "guides", "guides/index.md", title="Guides"),
    ]
    found = way_in(catalogue_of(documents), text)
    assert found
    assert found.path == path


def test_without_a_home_page_the_only_highest_front_page_is_the_way_in() -> None:
    one = [make("index", "data", "data/index.md"), make("index", "deep", "data/deep/index.md")]
    found = way_in(catalogue_of(one), "where do I start")
    assert found
    assert found.path == "data/index.md"
    assert way_in(catalogue_of([*one, make("index", "docs", "docs/README.md")]), "where do I start") is None


def catalogue_of(documents: list[Document]) -> Catalogue:
    return world(documents).services().catalogue()


@pytest.mark.parametrize(
    ("text", "subject", "types"),
    [
        ("which of our patterns are about good data?", "good data", {"pattern"}),
        ("studies about quadrats", "quadrats", {"study"}),
        ("protocols and practices on counting", "counting", {"protocol", "practice"}),
        ("Muster über Daten", "daten", {"pattern"}),
        ("a question about patterns", "", set()),
        ("what do the tides say about patterns", "", set()),
        ("patterns about", "", set()),
        ("neap tides", "", set()),
    ],
)
def test_a_question_for_documents_of_a_type_has_a_subject(
    sample: Catalogue, text: str, subject: str, types: set[str]
) -> None:
    found = parts(sample, text, Filters())
    assert [(one.subject, set(one.of_type.content_types if one.of_type else ())) for one in found] == (
        [(subject, types)] if types else []
    )
    # A filter that is given leaves nothing to be read from the words.
    assert parts(sample, text, Filters(content_types=("tag",))) == []
