"""What a terminal shows of a search and of how it came about."""

from typing import Any

import pytest

from commonplace_local.cli.search import print_explanation, results_text

HIT: dict[str, Any] = {
    "id": "pools",
    "contentType": "pattern",
    "title": "Tide pools",
    "documentUrl": "https://kb.example.org/d/pattern/pools",
    "heading": "Low water",
    "score": 0.754,
    "snippet": "Crabs hide under stones.",
    "duplicates": [],
}
ANSWER: dict[str, Any] = {
    "results": [HIT],
    "total": 7,
    "totalRelation": "candidates",
    "suggestion": None,
    "fallback": False,
    "reranked": False,
    "tookMs": 3,
}
STANDING = {"lexical": [31, 0.25], "vector": None, "belowFloor": 0.125, "held": 4, "admitted": False}
EXPLANATION: dict[str, Any] = {
    "engine": "opensearch",
    "index": "commonplace-dev-documents-1a2b",
    "model": None,
    "reranker": "bedrock-amazon",
    "fusion": "min-max, words 0.5, meaning 0.5",
    "filters": {"contentTypes": ["pattern"], "group": None, "tagsAny": []},
    "lexicalHits": 12,
    "vectorHits": 40,
    "namedHits": 1,
    "candidates": 20,
    "hits": [
        {
            "id": "pattern/pools",
            "rank": 1,
            "score": 0.754,
            "named": 0.95,
            "rerankScore": None,
            "lexical": {"rank": 2, "score": 11.5, "share": 0.8},
            "vector": None,
        }
    ],
    "timingsMs": {"embed": 0.25, "whole": 12.34},
    "expectation": None,
}
EXPECTATION = {
    "id": "tag/neap-tide",
    "verdict": "filtered-out",
    "sentence": "It has not the type pattern.",
    "standing": STANDING,
}


def explained(capsys: pytest.CaptureFixture[str], *, publication_known: bool = True, **more: Any) -> str:
    print_explanation(EXPLANATION | more, publication_known=publication_known)
    return capsys.readouterr().out


def test_a_result_is_a_paragraph_with_place_and_passage() -> None:
    lines = results_text(ANSWER).splitlines()
    assert lines == [
        "1. Tide pools  (0.75)",
        "   pattern/pools · Low water",
        "   Crabs hide under stones.",
        "   https://kb.example.org/d/pattern/pools",
        "",
        "7 candidates, 3 ms",
    ]


def test_where_a_file_is_searched_no_address_is_shown_that_leads_nowhere() -> None:
    relative = HIT | {"documentUrl": "/d/pattern/pools"}
    assert "/d/" not in results_text(ANSWER | {"results": [relative]})


def test_the_notes_say_how_it_was_searched() -> None:
    words = ANSWER | {"totalRelation": "exact", "fallback": True, "reranked": True}
    assert results_text(words).splitlines()[-1] == "7 found, 3 ms, by words only, reranked"


def test_a_correction_stands_before_the_results_and_where_there_are_none() -> None:
    corrected = ANSWER | {"suggestion": "tide pools"}
    assert results_text(corrected).startswith("Did you mean: tide pools\n\n1. Tide pools")
    nothing = corrected | {"results": [], "total": 0}
    assert results_text(nothing) == "Nothing was found.\n\nDid you mean: tide pools"
    assert results_text(nothing | {"suggestion": None}) == "Nothing was found."


def test_a_weak_match_says_so_below_the_sentence_that_nothing_fits() -> None:
    weak = ANSWER | {"results": [HIT | {"fit": "weak"}], "hints": ["Nothing here is about this."]}
    assert results_text(weak).startswith("Nothing here is about this.\n\n1. Tide pools  (0.75, weak match)\n")


def test_near_duplicates_are_named_below_the_one_that_is_shown() -> None:
    shown = ANSWER | {"results": [HIT | {"duplicates": ["file/a", "file/b"]}]}
    assert "   Near-duplicates: file/a, file/b\n" in results_text(shown)


def test_whole_documents_follow_their_paragraph_and_missing_ones_are_said_so() -> None:
    results = [
        HIT | {"document": {"content": "\r\n# Pools\r\n\r\nLow.\r\n"}},
        HIT | {"id": "gone", "document": None},
        HIT | {"id": "huge", "document": None},
    ]
    text = results_text(ANSWER | {"results": results, "documentsLeftOut": ["pattern/huge"]})
    assert "   https://kb.example.org/d/pattern/pools\n\n# Pools\n\nLow.\n\n2." in text
    assert "   (The document no longer exists.)\n\n3." in text
    assert "   (The document is too large for the answer.)\n" in text


def test_a_terminal_is_not_obeyed_by_texts_of_the_repository(capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b]0;owned\x07[bold]x[/bold]"
    shown = results_text(ANSWER | {"results": [HIT | {"title": evil, "snippet": evil}], "suggestion": evil})
    told = explained(capsys, expectation=EXPECTATION | {"sentence": evil})
    assert "\x1b" not in shown + told
    assert "[bold]x[/bold]" in told


def test_an_explanation_tells_engine_models_filters_and_legs(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [" ".join(line.split()) for line in explained(capsys).splitlines()]
    assert rows[1:7] == [
        "engine opensearch, index commonplace-dev-documents-1a2b",
        "model none, words only",
        "fusion min-max, words 0.5, meaning 0.5",
        "reranker bedrock-amazon",
        "filters contentTypes pattern",
        "found 12 by words, 40 by meaning, 1 by name; 20 candidates",
    ]
    assert "# document score words: rank score share meaning: rank score share name rerank" in rows
    assert "1 pattern/pools 0.754 2 11.500 0.800 - - - 0.950 -" in rows
    assert rows[-1] == "ms: embed 0.2, whole 12.3"


def test_an_expected_document_gets_its_verdict_sentence_and_places(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [" ".join(line.split()) for line in explained(capsys, expectation=EXPECTATION).splitlines()]
    assert rows[-6:] == [
        "Expected tag/neap-tide: filtered-out",
        "It has not the type pattern.",
        "by words rank 31, score 0.250",
        "by meaning not found: its similarity is 0.125",
        "in the index generation 4",
        "passes the filters no",
    ]


def test_of_an_index_file_it_is_said_that_publication_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    told = explained(capsys, publication_known=False, expectation=EXPECTATION | {"standing": None})
    assert told.splitlines()[-1].startswith("Unknown whether it is published")
    assert "not known" not in explained(capsys, expectation=EXPECTATION)


def test_a_question_that_was_never_asked_has_no_explanation(capsys: pytest.CaptureFixture[str]) -> None:
    print_explanation(None, publication_known=True)
    assert "No explanation" in capsys.readouterr().out
