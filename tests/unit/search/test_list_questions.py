"""Which questions ask for a list, and of what."""

import pytest

from commonplace.search.filters import Filters
from commonplace.search.list_questions import Names, read

TYPES = {
    "S": {"pattern": "pattern", "study": "study", "case study": "study", "story": "story"},
    "T": {
        "patterns": "pattern",
        "practices": "practice",
        "case studies": "study",
        "stories": "story",
        "muster": "pattern",
        "patrones": "pattern",
    },
}
NAMES: Names = {
    **{phrase: (part, (name,)) for part, named in TYPES.items() for phrase, name in named.items()},
    "@ada lovett": ("A", ("Ada Lovett",)),
    "@ada": ("A", ("Ada Lovett",)),
    "@ines": ("A", ("Ines Farrow",)),
    "#governance": ("G", ("governance",)),
    "#shared ownership": ("G", ("shared-ownership",)),
}

PATTERNS = Filters(content_types=("pattern",))
NEWEST = Filters()
ADA = Filters(authors=("Ada Lovett",))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("all patterns", PATTERNS),
        ("patterns", PATTERNS),
        ("List all the patterns, please", PATTERNS),
        ("ALL PATTERNS", PATTERNS),
        ("which patterns are there?", PATTERNS),
        ("What patterns do we have?", PATTERNS),
        ("how many patterns are there", PATTERNS),
        ("every pattern", PATTERNS),
        ("all patterns and practices", Filters(content_types=("pattern", "practice"))),
        ("newest documents", NEWEST),
        ("show me the 5 latest documents", NEWEST),
        ("what's new?", NEWEST),
        ("everything", NEWEST),
        ("latest case study", Filters(content_types=("study",))),
        ("what is the most recent case study?", Filters(content_types=("study",))),
        ("recent stories", Filters(content_types=("story",))),
        ("everything Ada wrote", ADA),
        ("documents by Ada Lovett", ADA),
        ("what did Ada write?", ADA),
        ("everything written by Ada and Ines", Filters(authors=("Ada Lovett", "Ines Farrow"))),
        ("Ada's patterns", Filters(content_types=("pattern",), authors=("Ada Lovett",))),
        ("all patterns tagged governance", Filters(content_types=("pattern",), tags_all=("governance",))),
        ("pages tagged #shared-ownership and governance", Filters(tags_all=("shared-ownership", "governance"))),
        ("patterns from 2024", Filters(content_types=("pattern",), date_from="2024", date_to="2024")),
        ("all documents since 2024-05", Filters(date_from="2024-05")),
        ("documents until 2023", Filters(date_to="2023")),
        (
            "stories by Ada from 2023 to 2024",
            Filters(content_types=("story",), authors=("Ada Lovett",), date_from="2023", date_to="2024"),
        ),
        ("todos los patrones", PATTERNS),
        ("¿qué documentos hay?", NEWEST),
        ("documentos más recientes", NEWEST),
        ("tous les documents de Ada", ADA),
        ("les derniers documents", NEWEST),
        ("alle Muster", PATTERNS),
        ("welche Dokumente gibt es von Ada?", ADA),
        ("alles, was Ada geschrieben hat", ADA),
        ("neueste Dokumente", NEWEST),
        ("todos os documentos de 2024", Filters(date_from="2024", date_to="2024")),
        ("tutti i documenti più recenti", NEWEST),
    ],
)
def test_a_question_whose_every_word_is_of_a_list_asks_for_one(text: str, wanted: Filters) -> None:
    assert read(text, NAMES) == (wanted, "newest")


def test_a_list_has_the_order_that_the_question_names() -> None:
    assert read("oldest patterns", NAMES) == (PATTERNS, "oldest")
    assert read("recently updated pages", NAMES) == (NEWEST, "changed")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "???",
        "pattern",
        "the pattern",
        "what is a pattern?",
        "what are patterns?",
        "what is the pattern",
        "show me the pattern",
        "documents",
        "all",
        "newest",
        "Ada",
        "Ada Lovett",
        "who is Ada?",
        "Ada patterns",
        "governance",
        "governance patterns",
        "all patterns about governance",
        "everything about governance",
        "patterns of governance",
        "stories of change",
        "all patterns tagged unheard-of",
        "documents by Somebody",
        "patterns 2024",
        "what the patterns wrote",
        "list",
        "5 patterns",
        "how do patterns spread",
        "latest case study on tides",
        "why is everything by Ada so short",
        '"all patterns"',
        "a new pattern language for gardens",
        "in 2024",
        "tagged governance",
        "all patterns " * 9,
    ],
)
def test_a_question_with_a_subject_or_without_a_noun_asks_for_none(text: str) -> None:
    assert read(text, NAMES) is None
