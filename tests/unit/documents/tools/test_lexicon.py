"""`define_term` and `search_lexicon`."""

from typing import Any

import pytest

from commonplace.documents.content.document import Document
from commonplace.documents.tools import documents, lexicon
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.web.mcp.budgets import DEFAULT_TOKENS
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import cost
from tests.fakes.library import make
from tests.unit.documents.tools.calling import ORIGIN, called, data, services

SOURCE = "https://github.com/example/shore/blob/4b825dc/tags/zonation.md"


def term(document_id: str, **told: Any) -> Document:
    return make("tag", document_id, f"tags/{document_id}.md", **told)


def shore() -> list[Document]:
    return [
        term(
            "zonation",
            description="Bands of life between the tide marks.",
            aliases=["banding"],
            source_url=SOURCE,
            content="\r\n# Zonation\r\n\r\nEach band has its own animals.\r\n",
            metadata={"relatedTerms": ["[[Tide Pools]]", "splash zone", "tag/tide-pools"]},
        ),
        term("tide-pools", title="Tide Pools", description="Water that stays"),
        make("file", "survey", "notes/survey.md", tags=["zonation", "banding", "low-water"]),
        make("file", "rota", "notes/rota.md", tags=["banding", "low-water"]),
    ]


def asked(name: str, told: list[Document] | None = None, **arguments: Any) -> Answer:
    return called(lexicon.tools(services(shore() if told is None else told)), name, **arguments)


def test_definition_says_what_the_term_means_and_where_that_stands() -> None:
    answer = asked("define_term", term="#Banding")
    assert data(answer) == {
        "term": "Zonation",
        "contentType": "tag",
        "id": "zonation",
        "definition": "Bands of life between the tide marks.",
        "text": "# Zonation\r\n\r\nEach band has its own animals.",
        "truncated": False,
        "aliases": ["banding"],
        "related": [{"title": "Tide Pools", "id": "tide-pools"}, {"title": "splash zone"}],
        "documents": 2,
        "documentUrl": f"{ORIGIN}/d/tag/zonation",
    }
    assert answer.links[0].uri == "mcp://superbenefit/documents/tag/zonation"


def test_definition_says_the_same_as_text() -> None:
    answer = asked("define_term", term="zonation")
    for said in ("Zonation", "tag/zonation", "2 documents", "banding", "Tide Pools (tag/tide-pools)", "splash zone"):
        assert said in answer.text
    for said in (f"{ORIGIN}/d/tag/zonation", "Bands of life between the tide marks.", "Each band has its own animals."):
        assert said in answer.text


def test_entry_without_a_description_is_defined_by_its_text() -> None:
    answer = asked("define_term", [term("kelp", content="Grows in forests.")], term="kelp")
    assert "definition" not in data(answer)
    assert answer.text.endswith("\n\nGrows in forests.")


def test_aliases_that_only_spell_another_name_differently_are_not_told() -> None:
    told = [
        term("tide-pool", title="Tide pool", aliases=["tide-pool", "rock_pool", "TIDE POOL", "rock pool", "lagoon"])
    ]
    assert data(asked("define_term", told, term="lagoon"))["aliases"] == ["rock_pool", "lagoon"]
    assert "aliases" not in data(asked("define_term", [term("kelp", aliases=["#Kelp"])], term="kelp"))


def test_long_entry_is_cut_and_get_document_goes_on_where_it_stopped() -> None:
    body = "".join(f"Paragraph {number} tells of kelp.\r\n\r\n" for number in range(2_000))
    using = services([term("kelp", content=body, description="Seaweed. " * 400)])
    answer = called(lexicon.tools(using), "define_term", term="kelp")
    told = data(answer)
    assert told["truncated"] is True
    assert cost(answer) <= DEFAULT_TOKENS
    assert len(answer.text.encode()) < 10_000
    assert 'get_document goes on with contentType "tag", id "kelp"' in answer.text[:1_500]
    page = called(documents.tools(using), "get_document", contentType="tag", id="kelp", cursor=told["nextCursor"])
    assert body.startswith(told["text"])
    assert body[len(told["text"]) :].lstrip().startswith(data(page)["content"][:200].lstrip())


def library() -> list[Document]:
    return [
        *shore(),
        term("decentralization", title="Decentralization", description="No middle."),
        term("dao", title="DAO", aliases=["Decentralized Autonomous Organization"]),
        make(
            "pattern", "keeper-of-keys", "p/keys.md", title="Keeper of Keys", aliases=["Key keeper"], content="Carries."
        ),
        make("practice", "zonation-walk", "p/walk.md", title="Zonation Walks", content="Along the shore."),
        make("pattern", "zona-tions", "p/zona-tions.md", title="Zona-tions"),
        make("pattern", "shared", "p/shared.md", title="Shared name"),
        make("practice", "shared", "q/shared.md", title="Shared name"),
    ]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("Keeper of keys", "pattern/keeper-of-keys"),
        ("key keepers", "pattern/keeper-of-keys"),
        ("pattern/keeper-of-keys", "pattern/keeper-of-keys"),
        ("zonation walk", "practice/zonation-walk"),
        ("zonation", "tag/zonation"),
        ("decentralisation", "tag/decentralization"),
        ("Decentralised autonomous organisations", "tag/dao"),
        ("DAOs", "tag/dao"),
        ("Zona-tions", "pattern/zona-tions"),
        ("zonations", "tag/zonation"),
    ],
)
def test_every_document_with_a_title_or_an_alias_is_defined_in_any_spelling(text: str, ref: str) -> None:
    answer = asked("define_term", library(), term=text)
    told = data(answer)
    assert f"{told['contentType']}/{told['id']}" == ref
    assert ref in answer.text


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("What is a DAO?", "tag/dao"),
        ("what are DAOs", "tag/dao"),
        ("define zonation", "tag/zonation"),
        ("what does decentralisation mean?", "tag/decentralization"),
        ("Who is the Keeper of Keys?", "pattern/keeper-of-keys"),
        ("¿qué es una DAO?", "tag/dao"),
    ],
)
def test_a_question_asks_for_its_subject(text: str, ref: str) -> None:
    told = data(asked("define_term", library(), term=text))
    assert f"{told['contentType']}/{told['id']}" == ref


def test_a_document_that_is_no_term_is_told_as_what_it_is() -> None:
    answer = asked("define_term", library(), term="Keeper of Keys")
    assert "\npattern/keeper-of-keys\n" in answer.text
    assert "a tag of" not in answer.text
    assert answer.text.endswith("Carries.")


def test_a_name_of_two_documents_asks_which() -> None:
    with pytest.raises(InvalidInput) as refused:
        asked("define_term", library(), term="shared name")
    assert refused.value.hint == "Ask for one of: Shared name (pattern/shared), Shared name (practice/shared)."
    assert data(asked("define_term", library(), term="practice/shared"))["contentType"] == "practice"


def test_a_miss_names_the_nearest_of_all_documents() -> None:
    with pytest.raises(NotFound) as missed:
        asked("define_term", library(), term="keeper of the kees")
    assert missed.value.details["nearest"][0] == "Keeper of Keys"


def test_unknown_term_is_a_miss_that_names_the_nearest() -> None:
    with pytest.raises(NotFound) as caught:
        asked("define_term", term="zonnation")
    assert caught.value.message == 'Term "zonnation" not found in lexicon.'
    assert caught.value.hint == "Nearest terms: Zonation. search_knowledge finds documents that speak of it."
    assert caught.value.details["nearest"] == ["Zonation"]


def test_tag_without_an_entry_is_a_miss_that_says_how_much_it_is_used() -> None:
    with pytest.raises(NotFound) as caught:
        asked("define_term", term="Low water")
    assert caught.value.message == 'Term "Low water" not found in lexicon.'
    assert "`low-water` is a tag, used by 2 documents, not defined." in (caught.value.hint or "")


def test_ambiguous_term_lists_what_may_be_meant() -> None:
    told = [term("shore", aliases=["edge"]), term("graph-edge", aliases=["edge"])]
    with pytest.raises(InvalidInput) as caught:
        asked("define_term", told, term="edge")
    assert caught.value.hint == "Ask for one of: Graph edge (tag/graph-edge), Shore (tag/shore)."
    assert data(asked("define_term", told, term="tag/shore"))["id"] == "shore"


def test_term_is_shown_on_one_line_in_a_miss() -> None:
    with pytest.raises(NotFound) as caught:
        asked("define_term", term="a\nb\x1b[31m" + "c" * 150)
    assert "\n" not in caught.value.message
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message) < 130


def test_search_lists_defined_terms_and_tags_apart() -> None:
    answer = asked("search_lexicon", keyword="water")
    assert data(answer) == {
        "results": [
            {"term": "low-water", "documents": 2, "match": "word"},
            {
                "term": "Tide Pools",
                "id": "tide-pools",
                "definition": "Water that stays",
                "documents": 0,
                "match": "word",
            },
        ],
        "total": 2,
    }
    assert "- low-water: a tag, used by 2 documents, not defined" in answer.text
    assert "- Tide Pools (tag/tide-pools, 0 documents): Water that stays." in answer.text


def test_search_shows_as_many_as_were_asked_for_and_says_how_many_there_are() -> None:
    told = [term(f"tide-{number:02}") for number in range(30)]
    answer = asked("search_lexicon", told, keyword="tide", limit=7)
    assert (len(data(answer)["results"]), data(answer)["total"]) == (7, 30)
    assert answer.text.startswith('30 terms for "tide", the best 7 here.')


def test_many_long_results_stay_within_the_budget() -> None:
    told = [
        term(f"tide-{number:02}", description="Water comes, water goes. " * 40, aliases=[f"ebb {number}" * 3] * 40)
        for number in range(60)
    ]
    answer = asked("search_lexicon", told, keyword="tide", limit=50)
    assert 0 < len(data(answer)["results"]) < 50
    assert cost(answer) <= DEFAULT_TOKENS


def test_search_that_finds_nothing_says_so_and_what_to_do() -> None:
    answer = asked("search_lexicon", keyword="xyzzy")
    assert data(answer) == {"results": [], "total": 0}
    assert answer.text == (
        'No term has or resembles "xyzzy". The lexicon has 2 entries. search_knowledge finds documents.'
    )


def test_empty_lexicon_answers() -> None:
    assert data(asked("search_lexicon", [make("file", "a", "notes/a.md")], keyword="tide"))["total"] == 0
    with pytest.raises(NotFound):
        asked("define_term", [make("file", "a", "notes/a.md")], term="tide")
