"""Prompts: what they say, and what their arguments can be completed to."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.tools import completions, prompts
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.completions import fitting
from commonplace.web.mcp.declaration import Caller, Prompt
from tests.fakes.library import garden, make
from tests.unit.documents.tools.calling import CALL, services


@pytest.fixture
def using() -> KnowledgeServices:
    return services([*garden(), make("practice", "rota", "artifacts/practices/rota.md", title="Kitchen rota")])


def prompt(using: KnowledgeServices, name: str) -> Prompt:
    (found,) = (one for one in prompts.prompts(using) if one.name == name)
    return found


def completed(using: KnowledgeServices, name: str, argument: str, typed: str) -> Sequence[str]:
    (found,) = (one for one in prompt(using, name).arguments if one.name == argument)
    assert found.complete
    return found.complete(Caller(), typed, {})


def test_there_are_three_prompts_with_their_arguments(using: KnowledgeServices) -> None:
    told = {one.name: [(arg.name, arg.required) for arg in one.arguments] for one in prompts.prompts(using)}
    assert told == {
        "research-topic": [("topic", True), ("depth", False)],
        "explain-pattern": [("pattern", True)],
        "compare-practices": [("practice1", True), ("practice2", True)],
    }


def test_research_is_shallow_unless_it_is_asked_to_be_deep(using: KnowledgeServices) -> None:
    render = prompt(using, "research-topic").render
    shallow = render(CALL, {"topic": "consent"})
    assert 'Research the topic "consent" in the knowledge base of The garden.' in shallow
    assert "brief summary" in shallow
    assert render(CALL, {"topic": "consent", "depth": "Shallow "}) == shallow
    assert "thorough analysis" in render(CALL, {"topic": "consent", "depth": "deep"})


def test_unknown_depth_is_refused_with_the_valid_ones(using: KnowledgeServices) -> None:
    with pytest.raises(InvalidInput) as caught:
        prompt(using, "research-topic").render(CALL, {"topic": "consent", "depth": "abyssal"})
    assert caught.value.hint == "It is shallow or deep."


def test_pattern_is_explained_and_practices_are_compared(using: KnowledgeServices) -> None:
    explained = prompt(using, "explain-pattern").render(CALL, {"pattern": "Rotating stewardship"})
    assert 'Explain the pattern "Rotating stewardship"' in explained
    compared = prompt(using, "compare-practices").render(CALL, {"practice1": "Seed swap", "practice2": "Kitchen rota"})
    assert 'Compare "Seed swap" and "Kitchen rota"' in compared


def test_every_prompt_asks_for_sources(using: KnowledgeServices) -> None:
    for one in prompts.prompts(using):
        told = one.render(CALL, dict.fromkeys((argument.name for argument in one.arguments if argument.required), "x"))
        assert "Cite the title and documentUrl" in told
        assert "search_knowledge" in told


@given(st.text(max_size=400))
def test_argument_stays_inside_its_quotes(text: str) -> None:
    try:
        line = prompts.quoted({"topic": text}, "topic")
    except InvalidInput:
        return
    assert line.startswith('"')
    assert line.endswith('"')
    assert '"' not in line[1:-1]
    assert line.isprintable()
    assert len(line) <= prompts.MAX_ARGUMENT_CHARACTERS + 2


@pytest.mark.parametrize("text", ["", "  ", "\n\x00", "\u202e"])
def test_empty_argument_is_refused(using: KnowledgeServices, text: str) -> None:
    with pytest.raises(InvalidInput):
        prompt(using, "explain-pattern").render(CALL, {"pattern": text})


def test_topics_are_terms_and_tags(using: KnowledgeServices) -> None:
    assert completed(using, "research-topic", "topic", "") == ["Governance", "governance", "roles", "seeds"]
    assert completed(using, "research-topic", "topic", "GOV") == ["Governance", "governance"]
    assert completed(using, "research-topic", "depth", "d") == ["deep"]


def test_patterns_and_practices_are_titles(using: KnowledgeServices) -> None:
    assert completed(using, "explain-pattern", "pattern", "") == ["Rotating stewardship"]
    assert completed(using, "compare-practices", "practice2", "") == [
        "Kitchen rota",
        "Seed swap",
        "Rotating stewardship",
    ]


def test_values_that_begin_so_come_before_words_and_words_before_the_rest() -> None:
    values = ["Ebb tide", "riptide", "Tidepool", "kelp", "spring-tide", "tide"]
    assert fitting(values, "TIDE") == ["Tidepool", "tide", "Ebb tide", "spring-tide", "riptide"]
    assert fitting(values, " ") == values
    assert fitting(values, "zzz") == []


def test_terms_are_completed_for_whoever_asks(using: KnowledgeServices) -> None:
    assert completions.completer(using, completions.terms)(Caller(), "gov", {}) == ["Governance"]
