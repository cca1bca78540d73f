"""Extracts of documents that were found: never more than there is room for, and nothing that is not in them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.tools.extracts import Extracts
from commonplace.web.mcp.budgets import escaped, estimate_tokens

LEFT_OUT = re.compile(r"\n*\[… ([\d,]+) characters left out …\]\n*")

paragraphs = st.sampled_from(
    [
        *("# Roles\n", "## Who carries what\n", "Every season the circle asks. " * 30, "roles\r\n", "\n\n"),
        *("- [a](b)\n- [c](d)\n- [e](f)\n", "| a | b |\n" * 200, "```\n# code\n```\n", "漢字。" * 400, "x" * 3_000),
    ]
)
queries = st.sampled_from(["roles", "who carries what?", "", "zzz"])
bodies = st.none() | st.lists(paragraphs, max_size=12).map("\n\n".join)


@given(st.lists(bodies, max_size=4), queries, st.integers(-50, 6_000))
def test_an_extract_is_part_of_its_document_and_fits(found: list[str | None], query: str, room: int) -> None:
    told = Extracts(query, found, ["Every season"] * len(found)).within(room)
    spent = 0
    for body, one in zip(found, told, strict=True):
        if body is None or one is None:
            assert body is not None or one is None
            continue
        spent += estimate_tokens(escaped(LEFT_OUT.sub("", one.text)))
        assert (one.complete, one.whole) == (one.text == body, len(body))
        left_out = sum(int(size.replace(",", "")) for size in LEFT_OUT.findall(one.text))
        assert one.given + left_out == len(body)
        assert all(stretch.strip() in body for stretch in LEFT_OUT.split(one.text)[::2])
    assert spent <= max(room, 0)


@given(st.lists(bodies, min_size=1, max_size=4))
def test_where_there_is_room_for_all_every_document_is_whole(found: list[str | None]) -> None:
    told = Extracts("roles", found, [""] * len(found)).within(10**9)
    assert [one.text if one else None for one in told] == found


def test_the_passage_that_was_shown_is_among_what_is_given() -> None:
    parts = [f"## Part {number}\n\n{'Other words that nobody asked for. ' * 40}" for number in range(20)]
    parts[13] += "\n\nThe ferry leaves at noon from the long pier."
    (one,) = Extracts("boats", ["\n\n".join(parts)], ["The ferry leaves at noon from the long pier."]).within(800)
    assert one is not None
    assert "The ferry leaves at noon" in one.text


def test_a_list_of_links_counts_for_less_than_what_is_said() -> None:
    links = "## Roles and roles\n\n" + "\n".join(
        f"- [Roles {number}](https://example.org/{number})" for number in range(40)
    )
    said = "## After that\n\n" + "Roles are handed on by the season, and roles end. " * 20
    filler = "\n\n".join(f"## Filler {number}\n\n{'Nothing of it. ' * 60}" for number in range(10))
    (one,) = Extracts("roles", [f"{links}\n\n{filler}\n\n{said}"], [""]).within(330)
    assert one is not None
    assert "handed on by the season" in one.text
    assert "example.org" not in one.text
