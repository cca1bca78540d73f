"""How questions about real products are judged, and how a catalogue of one comes about."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from commonplace.search.text import fold
from tests.acceptance.products.__main__ import (
    FRESH,
    Kind,
    Question,
    answered,
    catalogue_of,
    judged,
    main,
    questions,
    rows,
)

PAGES = {
    "tide": "Usage: tide <COMMAND>\n\nCommands:\n  undo  Takes back the last count\n",
    "tide undo": "Takes back the last count.\n\nUsage: tide undo [OPTIONS]\n\nOptions:\n      --yes  Asks nothing\n",
}


def test_a_program_is_read_from_what_was_stored_of_it_and_its_questions_are_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = json.dumps({"format": 1, "program": ["tide"], "pages": PAGES})
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "tide.json").write_text(json.dumps({"raw": raw}))
    catalogue = catalogue_of({"name": "tide", "kind": "help", "title": "Tide", "depth": 2}, tmp_path)
    assert catalogue is not None
    assert "tide undo" in {placed.entry.called for placed in catalogue.entries}
    made = [Question("tide", "typed", "tide undo --yes", ("tide undo",), held=False)]
    monkeypatch.setattr("tests.acceptance.products.__main__.questions", lambda: made)
    outcomes = list(answered([catalogue], None))
    assert [one.verdict for one in outcomes] == ["right"]
    assert [row["good %"] for row in rows(outcomes) if row["kind"] == "all"] == [100.0, None, 100.0]


def test_an_operation_is_known_with_the_path_of_its_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Desk", "version": "1"},
        "servers": [{"url": "https://desk.example/api/v1"}],
        "paths": {"/pools": {"post": {"summary": "Add a pool"}}},
    }
    (tmp_path / "desk.json").write_text(json.dumps(whole))
    product = {"name": "desk", "kind": "openapi", "title": "Desk", "source": "desk.json"}
    catalogue = catalogue_of(product, tmp_path)
    assert catalogue is not None
    made = [Question("desk", "typed", "POST /api/v1/pools", ("POST /pools",), held=True)]
    monkeypatch.setattr("tests.acceptance.products.__main__.questions", lambda: made)
    assert [one.verdict for one in answered([catalogue], None)] == ["right"]


def test_a_folder_without_material_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--embeddings", "none", "--products", "desk"]) == 1
    assert "There is no material" in capsys.readouterr().out


def test_there_are_200_questions_each_once_half_of_every_kind_held_and_of_fresh_products_all() -> None:
    fresh = set(yaml.safe_load(FRESH.read_text()))
    assert len({fold(one.text) for one in questions()}) == len(questions())
    assert all(one.held for one in questions() if one.of in fresh)
    others = [one for one in questions() if one.of not in fresh]
    assert min(len(others), 2 * (len(questions()) - len(others))) >= 200
    for kind, number in Counter(one.kind for one in others).items():
        assert sum(one.held for one in others if one.kind == kind) == number // 2
    assert all(one.right for one in questions() if one.kind not in ("made up", "nothing"))


def result(*names: str, text: str = "") -> dict[str, Any]:
    return {"structuredContent": {"results": [{"name": one} for one in names]}, "content": [{"text": text}]}


def refusal(text: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"text": text}]}


VERDICTS: Sequence[tuple[Kind, str, dict[str, Any], str]] = [
    ("paraphrase", "take it back", result("a b", "c", "tide undo"), "right"),
    ("paraphrase", "take it back", result("a", "b", "c", "tide undo"), "wrong"),
    ("paraphrase", "take it back", result(), "refused wrongly"),
    ("typed", "tide undo 3", result("tide undo"), "right"),
    ("typed", "tide undo 3", result("tide", "tide undo"), "wrong"),
    ("typed", "tide undo 3", refusal("Did you mean `tide undo`?"), "refused wrongly"),
    ("misspelt", "tide udno", refusal("Did you mean `tide undo`?"), "refused rightly"),
    ("misspelt", "tide udno", refusal("Did you mean `tide undo-all`?"), "refused wrongly"),
    ("made up", "tide unmake", result("tide undo"), "wrong"),
    ("made up", "tide unmake", refusal("No."), "refused rightly"),
    ("nothing", "book a table", result(), "refused rightly"),
]


@pytest.mark.parametrize(("kind", "text", "answer", "verdict"), VERDICTS)
def test_an_answer_is_judged_by_what_was_asked(kind: Kind, text: str, answer: dict[str, Any], verdict: str) -> None:
    assert judged(Question("tide", kind, text, ("tide undo",), held=False), lambda *_: answer).verdict == verdict


def test_an_option_that_does_not_exist_has_to_be_said_with_the_nearest_one() -> None:
    question = Question("tide", "option", "tide undo --yess", ("--yes",), held=False)
    assert judged(question, lambda *_: result("tide undo", text="`--yes` asks nothing")).verdict == "wrong"
    assert judged(question, lambda *_: refusal("There is no command “tide undo --yess”.")).verdict == "refused wrongly"
    longer = Question("tide", "option", "tide undo -f 1 --ye", ("--yes",), held=False)
    other = result("tide undo", text="There is no option -f; `--yes` asks nothing")
    assert judged(longer, lambda *_: other).verdict == "wrong"
    said = "tide undo has no such option: `--yess`. Nearest: `--yes`."
    assert judged(question, lambda *_: result("tide undo", text=said)).verdict == "refused rightly"
