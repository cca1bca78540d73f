"""What acceptance says of answers to people's questions: each statement holds for good ones and fails for others."""

from tests.acceptance.questions import DAOS, MISSPELT, NOTHING, QUESTIONS, TAGGED, TITLED, Answered, statements
from tests.acceptance.reading import Page
from tests.acceptance.truth import Statement

TAGGED_PATTERN = "data/patterns/ears.md"
PUBLISHED = {
    DAOS: Page("published", "A DAO is an organisation.", "DAOs"),
    TITLED: Page("published", "Foundations.", "What is a DAO?"),
    TAGGED_PATTERN: Page("published", "Listen twice.", "Ears", tags=("data-quality",)),
}
REFS = {"tag/daos": DAOS, "link/what": TITLED, "pattern/ears": TAGGED_PATTERN}
SILENT = Answered([], None)
GOOD = dict.fromkeys((*NOTHING, *MISSPELT, *(text for text, _ in TAGGED)), SILENT)
GOOD |= {question.text: Answered([DAOS, TITLED], None) for question in QUESTIONS}
GOOD["which of our patterns are about good data"] = Answered([DAOS, TAGGED_PATTERN], None)


def false(**changed: Answered) -> list[str]:
    """Statements that do not hold when MCP answers some questions otherwise than REST."""
    other = GOOD | {text.replace("_", " "): answer for text, answer in changed.items()}
    return [item.text for item in _of(other) if not item.holds]


def _of(answers: dict[str, Answered]) -> list[Statement]:
    return list(statements(PUBLISHED, REFS, {"REST": GOOD, "MCP": answers}))


def test_good_answers_make_every_statement_true() -> None:
    assert false() == []


def test_a_question_that_finds_only_one_of_its_documents_fails() -> None:
    assert '"what is a dao" finds what it is about in the first 2' in false(what_is_a_dao=Answered([DAOS], None))


def test_something_found_for_words_that_nobody_wrote_fails() -> None:
    assert "words that nobody wrote find nothing, by MCP" in false(xyzzy_blorb=Answered([DAOS], None))


def test_a_suggestion_of_another_word_fails() -> None:
    assert "suggestions that make no sense, by MCP" in false(vitalk=Answered([], "vital"))


def test_patterns_that_lack_the_tag_fail() -> None:
    text = "which of our patterns are about good data"
    told = [item.text for item in _of(GOOD | {text: Answered([DAOS], None)}) if not item.holds]
    assert f'"{text}" finds patterns with that tag in the first 5' in told


def test_an_interface_that_orders_otherwise_fails() -> None:
    assert false(what_is_a_dao=Answered([TITLED, DAOS], None)) == ["questions that REST and MCP answer alike"]


def test_questions_about_files_that_a_clone_lacks_are_counted_and_not_asked() -> None:
    skipped = next(item for item in _of(GOOD) if item.expected is None)
    assert skipped.found == sum(not {*question.files} <= PUBLISHED.keys() for question in QUESTIONS)
