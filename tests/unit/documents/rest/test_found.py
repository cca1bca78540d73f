"""How many whole documents an answer has room for."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.rest.hits import answer
from commonplace.search.fitness import NOTHING_FITS
from commonplace.search.model import SearchRequest, SearchResults
from commonplace.web.representations import encode
from tests.fakes.library import make
from tests.fakes.search import hit

ASKED = SearchRequest("x", documents=True)

lengths = st.none() | st.integers(0, 3_000)


def found(*content: int | None) -> SearchResults:
    """Results with documents of so many characters, or with none."""
    hits = [
        hit("file", str(number), document=make("file", str(number), "é.md", content="é" * length) if length else None)
        for number, length in enumerate(content)
    ]
    return SearchResults("x", tuple(hits), len(hits), fallback=False, reranked=False, took_ms=3)


def told(results: SearchResults, max_bytes: int) -> bytes:
    return answer(results, ASKED, DocumentAddresses(), limit=20, max_bytes=max_bytes)


@given(st.lists(lengths, max_size=20), st.integers(0, 40_000))
def test_no_document_makes_an_answer_too_large_and_none_is_left_out_that_had_room(
    content: list[int | None], room: int
) -> None:
    results = found(*content)
    names = len(encode([f"file/{number}" for number in range(len(content))]))
    max_bytes = len(told(found(*[None] * len(content)), 0)) + names + room
    body = told(results, max_bytes)
    shown, left_out = json.loads(body)["results"], json.loads(body)["documentsLeftOut"]
    assert len(body) <= max_bytes
    for one, asked_for in zip(shown, results.results, strict=True):
        whole = b"null"
        if asked_for.document:
            whole = (
                encode({"documentUrl": f"/d/file/{asked_for.id}", "bannerUrl": None})[:-1]
                + b","
                + asked_for.document.to_json()[1:]
            )
        assert one["id"] == asked_for.id
        if f"file/{one['id']}" in left_out:
            assert one["document"] is None
            assert len(body) + len(whole) - len(b"null") + names > max_bytes
        else:
            assert one["document"] == json.loads(whole)


def test_a_hit_says_how_well_it_fits_and_a_hint_that_nothing_does() -> None:
    weak = replace(found(), results=(hit("file", "it", fit="weak"),), total=1, hint=NOTHING_FITS)
    body = json.loads(answer(weak, ASKED, DocumentAddresses(), limit=20, hints=["No tag is called `x`."]))
    assert (body["results"][0]["fit"], body["total"]) == ("weak", 1)
    assert body["hints"] == [NOTHING_FITS, "No tag is called `x`."]


def test_an_answer_that_is_too_large_without_any_document_is_given_all_the_same() -> None:
    body = json.loads(told(found(10, None, 10), 1))
    assert [one["document"] for one in body["results"]] == [None, None, None]
    assert body["documentsLeftOut"] == ["file/0", "file/2"]
