"""Names that a list of given names tells, in many languages, and words of software that it leaves alone."""

import pytest

from commonplace.redaction.given_names import find_given_names, folded, given_names


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span in find_given_names(text)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the fix by Kazimierz Kwiatkowska-Maj holds", "Kazimierz Kwiatkowska-Maj"),
        ("Ask Oddvar van der Linden first", "Oddvar van der Linden"),
        ("vette észre Kerekes Orsolya tegnap", "Kerekes Orsolya"),
        ("phát hiện Nguyễn Hoàng Phúc hôm nay", "Nguyễn Hoàng Phúc"),
        ("notes of Ji-won Kang:", "Ji-won Kang"),
        ("signed Дмитрий Орлов", "Дмитрий Орлов"),
        ("see K. L. Prasad on that", "K. L. Prasad"),
        ("CONTACT: ANTONIO LOPEZ DIAZ", "ANTONIO LOPEZ DIAZ"),
        ("talk to pedro about it", "pedro"),
        ("and Frank fixed it", "Frank"),
        ("told Dr. Amina Yusuf so", "Dr. Amina Yusuf"),
    ],
)
def test_a_name_is_found_whole(text: str, name: str) -> None:
    assert found(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "Grace periods and Art direction, Long Animation Frames, Rich Text Editor",
        "Jenkins, Cassandra and Travis run it; Hopper plans",
        "May I ask? The page may load in June.",
        "Abbey Road and the Maria Street cluster",
        "JSON, DAG-based, HUGO_ENV and `anna` of Faker",
        "Elements of the DOM: Node, Link, Script",
    ],
)
def test_words_and_products_are_left(text: str) -> None:
    assert found(text) == []


def test_the_list_is_folded_and_has_no_ordinary_word() -> None:
    names = given_names()
    assert len(names) > 15_000
    assert all(folded(name) == name for name in names)
    assert not names & {"run", "will", "page", "paris", "june", "server", "mark"}


@pytest.mark.parametrize("piece", ["Anna ", "Anna-", "anna van ", "A. ", "ask ", "Anna,\n"])
def test_no_repetition_makes_it_slow(piece: str) -> None:
    assert list(find_given_names(piece * (20_000 // len(piece)))) is not None
