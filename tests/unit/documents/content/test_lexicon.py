"""Terms: what a text names, what is nearest to it, and what a keyword finds."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.retrieval.sets import documents
from commonplace.documents.content.document import Document
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.lexicon import Lexicon, Likeness, Term, lexicon_of
from commonplace.documents.content.library import Library
from commonplace.kernel.terms import bare, forms, key, squeezed
from tests.fakes.library import FakeLibrary, make


def catalogue(told: Sequence[Document], **manifest: object) -> Catalogue:
    return Library(FakeLibrary(told, **manifest)).edition().catalogue


def lexicon(*told: Document) -> Lexicon:
    return Lexicon(catalogue(told))


def term(document_id: str, title: str | None = None, *aliases: str, **told: object) -> Document:
    title = title or document_id.replace("-", " ").capitalize()
    return make("tag", document_id, f"tags/{document_id}.md", title=title, aliases=list(aliases), **told)


def bearing(number: int, *tags: str) -> Document:
    return make("file", f"f-{number}", f"notes/f-{number}.md", tags=list(tags))


def refs(terms: Sequence[Term]) -> list[str]:
    return [term.entry.ref if term.entry else term.name for term in terms]


SHORE = (
    term("mutual-aid", "Mutual Aid", "neighbour help"),
    term("policies"),
    term("moss", "Moss"),
    term("defi", "Decentralised Finance (DeFi)", "#open finance"),
    term("cafe", "Café Tech"),
    term("co-op", "Co-op"),
)


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("Mutual Aid", "tag/mutual-aid"),
        ("mutual-aid", "tag/mutual-aid"),
        ("mutual_aid", "tag/mutual-aid"),
        ("MUTUAL  AID", "tag/mutual-aid"),
        ("#mutual-aid", "tag/mutual-aid"),
        ("“Mutual Aid”", "tag/mutual-aid"),
        ("'#mutual aid'", "tag/mutual-aid"),
        ("`mutual–aid`", "tag/mutual-aid"),
        ("[[Mutual Aid]]", "tag/mutual-aid"),
        ("[[tags/mutual-aid|Mutual Aid]]", "tag/mutual-aid"),
        ("tag/mutual-aid", "tag/mutual-aid"),
        ("concept/mutual-aid", "tag/mutual-aid"),
        ("Neighbour Help", "tag/mutual-aid"),
        ("#neighbour-help", "tag/mutual-aid"),
        ("neighbour helps", "tag/mutual-aid"),
        ("policy", "tag/policies"),
        ("Policy?", "tag/policies"),
        ("mosses", "tag/moss"),
        ("Decentralised Finance", "tag/defi"),
        ("DEFI", "tag/defi"),
        ("open-finance", "tag/defi"),
        ("cafe tech", "tag/cafe"),
        ("coop", "tag/co-op"),
        ("Coops", "tag/co-op"),
    ],
)
def test_term_answers_to_every_way_of_writing_its_names(text: str, ref: str) -> None:
    assert refs(lexicon(*SHORE).resolve(text)) == [ref]


def test_nothing_answers_to_what_no_term_is_called() -> None:
    for text in ["", "   ", "#", '""', "[[]]", "!!!", "tag/", "tag/../mutual-aid", "mutual", "🌊"]:
        assert lexicon(*SHORE).resolve(text) == []


def test_terms_in_any_script_answer() -> None:
    known = lexicon(term("d-1", "Взаимопомощь"), term("d-2", "相互扶助"))
    assert refs(known.resolve("взаимопомощь")) == ["tag/d-1"]
    assert refs(known.resolve("#相互扶助")) == ["tag/d-2"]


def test_ambiguous_name_answers_with_all_it_may_mean() -> None:
    known = lexicon(term("shore", "Shore", "edge"), term("graph-edge", "Graph edge", "edge"))
    assert refs(known.resolve("Edge")) == ["tag/graph-edge", "tag/shore"]
    assert refs(known.resolve("tag/shore")) == ["tag/shore"]


def test_title_comes_before_an_alias_and_an_alias_before_a_plural() -> None:
    known = lexicon(term("a", "Edge"), term("b", "Bound", "edge"), term("c", "Circle", "bounds"))
    assert refs(known.resolve("edge")) == ["tag/a"]
    assert refs(known.resolve("bounds")) == ["tag/c"]


def test_title_as_it_is_written_tells_namesakes_apart() -> None:
    known = lexicon(term("upper", "DAO"), term("lower", "Dao"))
    assert refs(known.resolve("Dao")) == ["tag/lower"]
    assert refs(known.resolve("dao")) == ["tag/upper", "tag/lower"]


def test_former_id_still_answers() -> None:
    told = [term("tide", "Tide")]
    known = Lexicon(catalogue(told, former_refs={"tag/ebb-and-flow": "tags/tide.md"}))
    assert refs(known.resolve("ebb and flow")) == ["tag/tide"]


def test_documents_of_other_types_are_no_terms() -> None:
    assert lexicon(make("pattern", "tide", "artifacts/patterns/tide.md", title="Tide")).resolve("tide") == []


def test_document_with_two_tags_of_a_term_counts_once() -> None:
    known = lexicon(term("tides", "Tides", "ebb"), bearing(1, "tide", "ebb"), bearing(2, "tides"), bearing(3, "moon"))
    (found,) = known.resolve("tide")
    assert found.documents == 2


def test_tag_without_a_document_is_told_apart() -> None:
    known = lexicon(term("tides"), bearing(1, "low-water", "moon"), bearing(2, "low-water"), bearing(3, "tide"))
    assert known.resolve("Low Water") == [Term("low-water", 2)]
    assert known.resolve("moons") == [Term("moon", 1)]
    assert [(one.name, one.documents) for one in known.undefined] == [("low-water", 2), ("moon", 1)]


def test_nearest_terms_are_alike_begin_alike_or_share_a_word() -> None:
    known = lexicon(*SHORE, term("governance"), term("regeneration"))
    assert refs(known.nearest("govrnance"))[0] == "tag/governance"
    assert refs(known.nearest("regen")) == ["tag/regeneration"]
    assert refs(known.nearest("aid among strangers")) == []
    assert refs(known.nearest("mutual help at sea"))[0] == "tag/mutual-aid"
    assert known.nearest("") == []
    assert known.nearest("qqqq") == []


def test_nearest_terms_are_bounded() -> None:
    known = lexicon(*(term(f"tide-{letter}") for letter in "abcdefgh"))
    assert len(known.nearest("tide-x")) == 3
    assert len(known.nearest("tide-x", 5)) == 5


def test_large_lexicon_is_compared_with_what_begins_alike() -> None:
    known = lexicon(*(term(f"word-{number:04}") for number in range(2_100)), term("governance"))
    assert refs(known.nearest("govrnance", 1)) == ["tag/governance"]


def test_search_puts_exact_before_prefix_before_word_before_substring_before_fuzzy() -> None:
    known = lexicon(
        term("fuzzy", "Tida"),
        term("sub", "Riptide"),
        term("told", "Moon", description="What pulls the tides."),
        term("word", "Spring tide"),
        term("pre", "Tidepool"),
        term("exact", "Tide"),
        term("other", "Kelp"),
    )
    assert [(match.term.entry.id, match.likeness) for match in known.search("tide") if match.term.entry] == [
        ("exact", Likeness.EXACT),
        ("pre", Likeness.PREFIX),
        ("word", Likeness.WORD),
        ("told", Likeness.WORD),
        ("sub", Likeness.SUBSTRING),
        ("fuzzy", Likeness.FUZZY),
    ]


def test_search_finds_aliases_and_undefined_tags_and_prefers_what_is_used() -> None:
    known = lexicon(
        term("kelp", "Kelp", "sea tangle"), term("eel", "Sea eel"), bearing(1, "sea-level", "kelp"), bearing(2, "kelp")
    )
    assert refs([match.term for match in known.search("sea")]) == ["tag/kelp", "sea-level", "tag/eel"]
    assert refs([match.term for match in known.search("tangle")]) == ["tag/kelp"]


def test_search_for_nothing_finds_nothing() -> None:
    assert lexicon(*SHORE).search("  #!? ") == []


def test_every_term_of_the_sample_answers_to_all_its_names() -> None:
    known = Lexicon(catalogue(list(documents())))
    assert len(known.defined) > 5
    for one in known.defined:
        assert one.entry
        for name in (one.entry.title, one.entry.id, *one.entry.aliases):
            for text in (name, f"#{name}", name.upper(), f'"{name}"', f"{name}{'' if name.endswith('s') else 's'}"):
                assert refs(known.resolve(text)) == [one.entry.ref], text


def test_lexicon_is_built_once_per_catalogue() -> None:
    first = catalogue(SHORE)
    assert lexicon_of(first) is lexicon_of(first)
    assert lexicon_of(catalogue(SHORE)) is not lexicon_of(first)


@given(st.text(max_size=40))
def test_any_text_can_be_asked_for(text: str) -> None:
    known = lexicon(*SHORE)
    known.resolve(text)
    known.search(text)
    known.nearest(text)


@given(st.text(max_size=40))
@example("-«0")
@example("𝙰")
def test_spelling_is_stable(text: str) -> None:
    assert key(key(text)) == key(text)
    assert bare(bare(text)) == bare(text)
    assert squeezed(squeezed(text)) == squeezed(text)


@pytest.mark.parametrize(("one", "many"), [("tide", "tides"), ("bush", "bushes"), ("policy", "policies")])
def test_singular_and_plural_are_forms_of_each_other(one: str, many: str) -> None:
    assert many in forms(one)
    assert one in forms(many)


@pytest.mark.parametrize(("word", "not_its_singular"), [("us", "u"), ("moss", "mos")])
def test_not_every_s_is_a_plural(word: str, not_its_singular: str) -> None:
    assert not_its_singular not in forms(word)
