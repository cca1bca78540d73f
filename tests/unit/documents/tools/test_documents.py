"""`get_document`: which document is meant, what is said of it, and how a long one goes on."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools import connector, documents, pagination
from commonplace.documents.tools.names import locate
from commonplace.kernel.errors import CommonplaceError, InvalidInput, NotFound, Unavailable
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS
from commonplace.web.mcp.declaration import Answer
from commonplace.web.mcp.rendering import MAX_ERROR_BYTES, cost, sentence
from tests.fakes.library import COMMIT, garden, make
from tests.unit.documents.rest.told import GARDEN
from tests.unit.documents.tools.calling import ORIGIN, called, data
from tests.unit.documents.tools.worlds import World, world

GARDEN_CATALOGUE = world().services().library.edition().catalogue

STEWARDSHIP = "pattern/rotating-stewardship"
SOURCE = f"https://github.com/example/garden/blob/{COMMIT}/artifacts/patterns/rotating-stewardship.md"


def get(at: World, name: str, content_type: str | None = None, **asked: Any) -> Answer:
    return called(documents.tools(at.services()), "get_document", contentType=content_type, id=name, **asked)


def ref(answer: Answer) -> str:
    told = data(answer)
    return f"{told['contentType']}/{told['id']}"


def long(paragraphs: int = 2_000, **told: Any) -> World:
    text = "\r\n\r\n".join(f"Paragraph {number} — on seeds." for number in range(paragraphs))
    return world([make("file", "long", "docs/long.md", content=text, **told)], graph=None)


def test_a_document_comes_with_its_metadata_and_its_text_as_in_the_file() -> None:
    told = data(get(world(), "rotating-stewardship", "pattern"))
    assert told == {
        "contentType": "pattern",
        "id": "rotating-stewardship",
        "title": "Rotating stewardship",
        "description": "How a circle passes its responsibilities on every season.",
        "date": "2026-02-14",
        "updatedAt": "2026-03-20T17:04:05Z",
        "group": "seed-library",
        "release": "first-harvest",
        "tags": ["governance", "roles"],
        "documentUrl": f"{ORIGIN}/d/{STEWARDSHIP}",
        "sourceUrl": SOURCE,
        "content": GARDEN[STEWARDSHIP].content,  # type: ignore[index]
        "characters": len(GARDEN[STEWARDSHIP].content),  # type: ignore[index]
        "truncated": False,
    }


def test_the_text_says_the_same_as_the_data() -> None:
    answer = get(world(), "rotating-stewardship", "pattern")
    told = data(answer)
    assert answer.text.endswith(told["content"])
    for name in ("title", "description", "date", "group", "release", "documentUrl", "sourceUrl"):
        assert told[name] in answer.text
    assert "governance, roles" in answer.text
    assert answer.links[0].uri == f"mcp://superbenefit/documents/{STEWARDSHIP}"


@pytest.mark.parametrize("document", garden(), ids=lambda document: str(document.ref))
def test_every_document_answers_to_each_of_its_names(document: Any) -> None:
    at = world()
    for name in (document.ref, document.path, f"/{document.path}", document.title, document.title.upper()):
        assert ref(get(at, name)) == document.ref


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("pattern", "rotating-stewardship"),
        ("Patterns", "Rotating Stewardship"),
        ("resource", "rotating-stewardship"),
        ("pattern", STEWARDSHIP),
        ("tag", STEWARDSHIP),
        (None, STEWARDSHIP),
        ("", "rotating-stewardship"),
        ("pattern", "rotating-stewardship.md"),
        (None, " rotating-stewardship "),
        (None, "artifacts/patterns/rotating-stewardship"),
        (None, "/stewardship/"),
        ("pattern", "Stewardship Rota"),
        (None, f"mcp://superbenefit/documents/{STEWARDSHIP}"),
        (None, "mcp://superbenefit/raw/artifacts/patterns/rotating-stewardship.md"),
        (None, f"https://garden.example.org/api/v1/entries/{STEWARDSHIP}"),
        (None, f"https://garden.example.org/api/v1/entries/{STEWARDSHIP}.md"),
        (None, f"{ORIGIN}/d/{STEWARDSHIP}"),
        (None, f"{ORIGIN}/d/{STEWARDSHIP}#seasons"),
        (None, SOURCE),
        (None, "https://github.com/example/garden/blob/main/artifacts/patterns/rotating-stewardship.md"),
        (None, "https://github.com/example/garden/blob/main/artifacts/patterns/rotating-stewardship.md?plain=1#L3"),
        ("no-such-type", STEWARDSHIP),
    ],
)
def test_a_document_is_found_however_it_is_named(content_type: str | None, name: str) -> None:
    assert ref(get(world(), name, content_type)) == STEWARDSHIP


def test_a_path_with_spaces_may_be_percent_encoded() -> None:
    found = get(world(), "https://github.com/example/garden/blob/main/artifacts/practices/Seed%20swap.md")
    assert ref(found) == "practice/seed-swap"


def test_the_address_of_what_a_document_is_about_names_it() -> None:
    assert ref(get(world(), "https://example.org/atlas")) == "link/seed-atlas"


def test_a_former_name_answers_and_the_present_one_is_said() -> None:
    answer = get(world(), "swapping-seeds", "practice")
    assert ref(answer) == "practice/seed-swap"
    assert data(answer)["formerId"] == "swapping-seeds"
    assert "swapping-seeds" in answer.text
    assert "practice/seed-swap" in answer.text


@pytest.mark.parametrize(
    ("content_type", "name", "hint"),
    [
        ("pattern", "rotating-stewards", f"Did you mean {STEWARDSHIP}?"),
        ("tag", "rotating-stewardship", f"Did you mean {STEWARDSHIP}?"),
        (None, "pattern/rotating-steward", f"Did you mean {STEWARDSHIP}?"),
        ("tag", "zzz", "Find it with search_knowledge."),
        (None, "https://elsewhere.example/zzz", "Find it with search_knowledge."),
        ("poem", "zzz", f"Valid types: {', '.join(ONTOLOGY.types)}."),
    ],
)
def test_a_miss_names_the_nearest_or_the_valid_types(content_type: str | None, name: str, hint: str) -> None:
    with pytest.raises(NotFound) as missed:
        get(world(), name, content_type)
    assert missed.value.hint == hint


def test_a_name_that_means_nothing_is_not_found_in_few_words() -> None:
    for name in ["", "/", "a/b/c", "../../etc/passwd", "\x00", "#", "tag/", "/tag", "x" * 5_000, "\ud800"]:
        with pytest.raises(CommonplaceError) as missed:
            get(world(), name)
        assert missed.value.code == "NOT_FOUND"
        assert len(sentence(missed.value).encode("utf-8", "replace")) < MAX_ERROR_BYTES
        assert "\x00" not in sentence(missed.value)


@given(st.text(max_size=100), st.none() | st.text(max_size=20))
def test_any_name_is_a_document_or_an_error_that_can_be_told(name: str, content_type: str | None) -> None:
    try:
        locate(GARDEN_CATALOGUE, DocumentAddresses(), content_type, name)
    except CommonplaceError as error:
        assert sentence(error).encode()


def test_a_title_of_several_documents_asks_which() -> None:
    told = [make("file", "one", "a/one.md", title="Rota"), make("guide", "two", "b/two.md", title="Rota")]
    at = world(told, graph=None)
    with pytest.raises(InvalidInput) as refused:
        get(at, "rota")
    assert refused.value.hint == "Ask for one of: file/one, guide/two."
    assert ref(get(at, "rota", "guide")) == "guide/two"


def test_a_page_of_another_type_is_not_taken_for_an_id() -> None:
    with pytest.raises(NotFound):
        get(world(), "index", "tag")


def pages(at: World, name: str, **asked: Any) -> list[Answer]:
    told = [get(at, name, **asked)]
    while (cursor := data(told[-1]).get("nextCursor")) is not None:
        told.append(get(at, name, cursor=cursor, **asked))
    return told


@pytest.mark.parametrize("asked", [{}, {"maxTokens": 500}, {"maxTokens": 3_000}, {"maxTokens": 20_000}])
def test_pages_of_a_long_document_are_the_document(asked: dict[str, int]) -> None:
    at = long()
    told = pages(at, "file/long", **asked)
    (entry,) = at.services().library.manifest().documents
    (stored,) = at.services().library.documents([entry])
    assert stored is not None
    assert "".join(data(page)["content"] for page in told) == pagination.body_of(stored)
    budget = asked.get("maxTokens", DOCUMENT_TOKENS)
    assert all(cost(page) <= budget for page in told)
    assert all(cost(page) >= 0.9 * budget for page in told[:-1])
    assert [data(page)["truncated"] for page in told] == [True] * (len(told) - 1) + [False]


def test_a_page_that_nobody_asked_more_of_is_cut_by_no_client() -> None:
    assert all(len(page.text.encode()) <= 20_000 for page in pages(long(), "file/long"))


def test_a_deployment_says_how_large_a_page_is_that_nobody_asked_more_of() -> None:
    using = long().services(document_tokens=2_300)
    answers = [called(documents.tools(using), "get_document", id="file/long")]
    answers += [called(connector.tools(using), "fetch", id="file/long")]
    for answer in answers:
        assert 0.9 * 2_300 <= cost(answer) <= 2_300
        assert len(answer.text.encode()) <= 8_192, "as much as every client shows at once"


def test_pages_have_numbers_too() -> None:
    at = long()
    first, second, *_ = pages(at, "file/long", maxTokens=2_000)
    assert data(get(at, "file/long", cursor="1", maxTokens=2_000)) == data(first)
    assert data(get(at, "file/long", cursor="2", maxTokens=2_000)) == data(second)
    with pytest.raises(InvalidInput, match="no page 99"):
        get(at, "file/long", cursor="99")


def test_a_page_says_early_that_there_is_more_and_how_to_get_it() -> None:
    answer = get(long(description="A long one. " * 300, tags=[f"tag-{at}" for at in range(200)]), "file/long")
    start = answer.text.encode()[:2_048].decode("utf-8", "ignore")
    assert "characters 1 to " in start
    assert data(answer)["nextCursor"] in start
    assert len(data(answer)["tags"]) == documents.MAX_TAGS


def test_a_document_that_changes_is_read_anew() -> None:
    at = long()
    cursor = data(get(at, "file/long"))["nextCursor"]
    at.store.publish([make("file", "long", "docs/long.md", content="Short now.")])
    with pytest.raises(InvalidInput, match="has changed"):
        get(at, "file/long", cursor=cursor)


def test_a_cursor_of_another_document_is_refused() -> None:
    cursor = data(get(long(), "file/long"))["nextCursor"]
    with pytest.raises(InvalidInput, match="handle"):
        get(world(), STEWARDSHIP, cursor=cursor)


def test_full_text_has_a_tier_of_its_own() -> None:
    (tool,) = documents.tools(world().services(full_text_tier="vibecoder"))
    assert tool.tier == "vibecoder"
    (tool,) = documents.tools(world().services())
    assert tool.tier == "member"


def test_a_store_that_does_not_answer_is_unavailable() -> None:
    at = world()
    at.store.unreachable = True
    with pytest.raises(Unavailable):
        get(at, STEWARDSHIP)
