"""Fields become what the ontology says, and every deviation is reported with its line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.content.schemas import content_adapter
from commonplace.repository.markdown import ParsedFile
from commonplace.search.text import plain
from tests.unit.documents.content.files import codes, markdown, normalised, published


def field(name: str, value: Any, content_type: str = "file") -> tuple[Any, str | None]:
    """The normalised value of one field, and the code of what was reported about it."""
    document = normalised(markdown(**{"type": content_type, "title": "A", "description": "B", name: value}))
    reported = [code for where, code in codes(document) if where == name and code != "missing-field"]
    return document.metadata.get(name), reported[0] if reported else None


@pytest.mark.parametrize(
    ("value", "expected", "code"),
    [
        (["a-b", "c"], ["a-b", "c"], None),
        ([], [], None),
        ("one", ["one"], None),
        ("one, two,", ["one", "two"], None),
        ("one two", ["one", "two"], None),
        ("mutual aid, two", ["mutual-aid", "two"], "odd-tag"),
        ("#one #two, #three", ["one", "two", "three"], "odd-tag"),
        (["#One Two", "one-two"], ["one-two"], "odd-tag"),
        (["größe", "野草", "c++", "a/b_c"], ["grösse", "野草", "c++", "a/b_c"], "odd-tag"),
        (["野草", "прилив", "a/b_c", "3.10"], ["野草", "прилив", "a/b_c", "3.10"], None),
        (["c++"], ["c++"], "odd-tag"),
        (["a", None, ""], ["a"], "null-field"),
        ([2024, True], ["2024", "true"], None),
        (["a", {"b": "c"}], ["a"], "wrong-shape"),
        ({"a": "b"}, [], "wrong-shape"),
    ],
)
def test_tags_become_lower_case_words(value: Any, expected: list[str], code: str | None) -> None:
    assert field("tags", value) == (expected, code)


@pytest.mark.parametrize(
    ("value", "expected", "code"),
    [
        (["Rosa Lind", "Ivo"], ["Rosa Lind", "Ivo"], None),
        ("Lind, Rosa", ["Lind, Rosa"], None),
        (1984, ["1984"], None),
        ([["Rosa Lind"]], ["Rosa Lind"], "wrong-shape"),
        ([{"name": "Rosa"}], [], "wrong-shape"),
        ({"name": "Rosa"}, None, "wrong-shape"),
        (["[[Rosa Lind]]"], ["[[Rosa Lind]]"], None),
    ],
)
def test_lists_are_lists_of_texts(value: Any, expected: list[str] | None, code: str | None) -> None:
    assert field("author", value) == (expected, code)


@pytest.mark.parametrize(
    ("value", "expected", "code"),
    [
        ("2024-02-29", "2024-02-29", None),
        ("2024-05-01T23:59:59Z", "2024-05-01", None),
        ("2024-05-01 08:00:00+02:00", "2024-05-01", None),
        ("2024-03-05 23:30:00 +1300", "2024-03-05", None),
        ("2024-03-05 23:30:00 +0000 UTC", "2024-03-05", None),
        ("2024-03-05 23:30:00 Europe/Berlin", "2024-03-05", None),
        ("2024-03-05 23:30 (CET)", "2024-03-05", None),
        ("2024-03-05+13:00", "2024-03-05", None),
        ("2024-03-05Z", "2024-03-05", None),
        ("2024-03-05 23:30:00 -0500", "2024-03-05", None),
        ("2024-03-05 23:30:00 +13", "2024-03-05", None),
        ("2024-03-05T23:30", "2024-03-05", None),
        ("2024-03-05 23:30", "2024-03-05", None),
        ("2024-03-05  9:05", "2024-03-05", None),
        ("2024-03-05T23:30:00.123456Z", "2024-03-05", None),
        ("2024-03-05T23:30:00,5 UTC", "2024-03-05", None),
        ("2024-03-05 23:30 UTC", "2024-03-05", None),
        ("2024-03-05 23:30:00 NZDT", "2024-03-05", None),
        ("2024-03-05 23:30 GMT+13:00", "2024-03-05", None),
        ("2024-03-05T23:30+13:00[Pacific/Auckland]", "2024-03-05", None),
        ("2024-03-05 11:30 PM", "2024-03-05", None),
        ("2024-03-05, 11:30 p.m.", "2024-03-05", None),
        ("2024-03-05t23:30:00z", "2024-03-05", None),
        ("2024-3-5", "2024-03-05", None),
        ("2024/03/05", "2024-03-05", None),
        ("2024/3/5 9:05", "2024-03-05", None),
        ("2024.03.05", "2024-03-05", None),
        ("20240305", "2024-03-05", None),
        (20240305, "2024-03-05", None),
        ("20240305T233000Z", "2024-03-05", None),
        ("202403052330", "2024-03-05", None),
        (20240305233000, "2024-03-05", None),
        ("[[2024-03-05]]", "2024-03-05", None),
        ("20240501", "2024-05-01", None),
        ("20241301", None, "bad-date"),
        ("2024-3-32", None, "bad-date"),
        ("2024/02/30", None, "bad-date"),
        ("2024-03-05 25:00", None, "bad-date"),
        ("2024-03-05 23:75", None, "bad-date"),
        ("2024-03-05 or so", None, "bad-date"),
        ("2024-03/05", None, "bad-date"),
        ("0000-01-01", None, "bad-date"),
        ("05/03/2024", None, "bad-date"),
        ("3/5/24", None, "bad-date"),
        ("05.03.2024", None, "bad-date"),
        ("5 March 2024", None, "bad-date"),
        ("2024-03", None, "bad-date"),
        ("2024-065", None, "bad-date"),
        ("1709681400", None, "bad-date"),
        (1709681400000, None, "bad-date"),
        ("۱۴۰۳-۰۱-۰۱", None, "bad-date"),
        (20240305.5, None, "bad-date"),
        ("2023-02-29", None, "bad-date"),
        ("01-05-2024", None, "bad-date"),
        ("2024-W01-1", None, "bad-date"),
        ("May 2024", None, "bad-date"),
        (2024, None, "bad-date"),
        (True, None, "bad-date"),
        (["2024-05-01"], None, "bad-date"),
    ],
)
def test_dates_begin_with_the_year_or_are_absent_and_never_guessed(
    value: Any, expected: str | None, code: str | None
) -> None:
    assert field("date", value) == field("eventDate", value, "gathering") == (expected, code)


@pytest.mark.parametrize(
    ("value", "expected", "code"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d", None),
        (" <http://example.org> ", "http://example.org", None),
        ("javascript:alert(1)", None, "bad-url"),
        ("data:text/html,x", None, "bad-url"),
        ("ftp://example.org", None, "bad-url"),
        ("//example.org", None, "bad-url"),
        ("example.org", None, "bad-url"),
        ("https://", None, "bad-url"),
        ("https://[broken", None, "bad-url"),
        ("https://example.org/a b", None, "bad-url"),
        ("https://example.org/\x07", None, "bad-url"),
        ("https://example.org/" + "a" * 3000, None, "bad-url"),
        (["https://example.org"], None, "bad-url"),
    ],
)
def test_urls_are_web_addresses(value: Any, expected: str | None, code: str | None) -> None:
    assert field("url", value) == (expected, code)


@pytest.mark.parametrize(
    ("name", "content_type", "value", "expected", "code"),
    [
        ("group", "file", "seed-library", "seed-library", None),
        ("group", "file", "[[Seed Library|seeds]]", "seeds", None),
        ("group", "file", ["a", "b"], "a, b", "wrong-shape"),
        ("group", "file", ["a"], "a", None),
        ("aliases", "file", "Doggo, Woofer", ["Doggo", "Woofer"], None),
        ("relatedPatterns", "pattern", "two-pairs-of-eyes", ["two-pairs-of-eyes"], None),
        ("group", "file", {"a": 1}, None, "wrong-shape"),
        ("permalink", "file", 42, "42", None),
        ("status", "question", "Open", "open", None),
        ("status", "question", "someday", "someday", "unknown-value"),
        ("status", "project", "paused", "paused", None),
        ("email", "person", "mailto:hello@example.org", "hello@example.org", None),
        ("email", "person", "hello", None, "wrong-shape"),
        ("banner_x", "file", 0.5, 0.5, None),
        ("banner_x", "file", "half", None, "wrong-shape"),
        ("context", "pattern", "Line one\n\nline two\n", "Line one\n\nline two", None),
        ("coordinates", "place", {"lat": 52.5, "lng": 13}, {"lat": 52.5, "lng": 13}, None),
        ("coordinates", "place", {"latitude": 52.5, "longitude": 13}, {"lat": 52.5, "lng": 13}, "wrong-shape"),
        ("coordinates", "place", [52.5, 13.4], {"lat": 52.5, "lng": 13.4}, "wrong-shape"),
        ("coordinates", "place", "52.5, -13.4", {"lat": 52.5, "lng": -13.4}, "wrong-shape"),
        ("coordinates", "place", {"lat": 152.5, "lng": 13}, None, "wrong-shape"),
        ("coordinates", "place", "here", None, "wrong-shape"),
    ],
)
def test_values_fit_the_kind_of_their_field(
    name: str, content_type: str, value: Any, expected: Any, code: str | None
) -> None:
    assert field(name, value, content_type) == (expected, code)


def test_a_field_without_a_value_is_absent() -> None:
    assert field("description", None) == (None, "null-field")
    assert field("banner", "  ") == (None, "null-field")
    assert field("date", "") == field("url", "") == field("author", " ") == (None, "null-field")


SCALARS = ["3.10", "1e3", "0x10", "yes", "True", "2024-01-01", "007", "1_000", "+1", "-0", ".5", "1.0", "12:30", "0o7"]


@pytest.mark.parametrize("style", ["[{}]", "\n- {}", "[a, {}]", "\n- a\n- {}  # a comment", "{}", "'{}'"])
@pytest.mark.parametrize("written", SCALARS)
def test_what_is_written_in_a_list_is_what_stands_there(written: str, style: str) -> None:
    value = style.format(written)
    fields = f"tags: {value}\naliases: {value}\nauthor: {value}\ntitle: {written}\nrelease: {written}"
    document = normalised(f"---\npublish: true\n{fields}\n---\n".encode())
    assert (document.tags[-1], document.aliases[-1], document.author[-1]) == (written.casefold(), written, written)
    assert (document.title, document.release) == (written, written)
    assert {code for _, code in codes(document)} <= {"missing-description", "missing-date", "odd-tag"}
    assert published(f"---\npublish: true\nown: {value}\n---\n".encode()).frontmatter["own"] is not None


def test_every_number_of_a_long_list_stands_as_written() -> None:
    written = [f"{number}.10" for number in range(6000)]
    document = normalised(f"---\npublish: true\ntags: [{', '.join(written)}]\n---\n".encode())
    assert list(document.tags) == written


def test_null_in_a_list_is_nothing_and_its_word_in_quotes_is_one() -> None:
    assert field("tags", ["a", "null"]) == (["a", "null"], None)
    document = normalised(b"---\npublish: true\ntags: [a, null, ~]\n---\n")
    assert document.tags == ("a",)
    assert ("tags", "null-field") in codes(document)


def test_aliases_lose_the_hash_sign_and_doubles() -> None:
    assert field("aliases", ["#care", "care", "Care work"]) == (["care", "Care work"], None)


def test_an_earlier_name_of_a_field_still_counts() -> None:
    document = normalised(markdown(type="link", title="A", description="B", source="https://example.org"))
    assert document.url == "https://example.org"
    assert "source" not in document.metadata
    assert ("source", "renamed-field") in codes(document)


def test_the_present_name_of_a_field_wins_over_an_earlier_one() -> None:
    document = normalised(markdown(source="https://old.example.org", url="https://example.org"))
    assert document.url == "https://example.org"
    assert normalised(markdown(source="https://old.example.org", url=None)).url == "https://old.example.org"


def test_fields_in_another_letter_case_are_understood() -> None:
    document = normalised(markdown(Type="pattern", Title="A", TAGS=["x"]))
    assert (document.content_type, document.title, document.tags) == ("pattern", "A", ("x",))


def test_unknown_fields_are_kept_and_likely_slips_are_reported() -> None:
    document = normalised(markdown(title="A", desciption="B", shelf={"row": [1, 2]}))
    assert document.metadata["shelf"] == {"row": [1, 2]}
    assert ("desciption", "unknown-field") in codes(document)
    assert ("shelf", "unknown-field") not in codes(document)


def test_created_is_taken_for_a_date_and_no_other_field() -> None:
    (hint,) = [one.hint for one in normalised(markdown(created="2024-02-30")).problems if one.field == "created"]
    assert hint == "is it `date`?"
    assert ("created", "unknown-field") not in codes(normalised(markdown(date="2024-02-28", created="2024-02-30")))


def test_problems_stand_on_the_line_of_their_field() -> None:
    raw = b"---\npublish: true\ntitle: A\n\n# a comment\ndate: yesterday\ntags:\n  - X\n---\n"
    lines = {problem.field: problem.line for problem in normalised(raw).problems}
    assert (lines["date"], lines["tags"]) == (6, 7)
    assert lines["description"] == 1, "what is missing is missing at the top"


def test_a_link_without_an_address_is_reported_and_served() -> None:
    document = normalised(markdown(type="link", title="A", description="B"))
    assert document.content_type == "link"
    assert ("url", "missing-field") in codes(document)


def test_one_empty_field_is_reported_once() -> None:
    assert [problem.code for problem in normalised(markdown(title="A", description=None, date=None)).problems] == [
        "null-field",
        "null-field",
    ]


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# First\n# Second\n", "First"),
        ("Intro\n\n## Not this\n\n# This #\n", "This"),
        ("The title\n=========\n", "The title"),
        ("```\n# code\n```\n# Real\n", "Real"),
        ("~~~~\n~~~\n# code\n~~~~\n# Real\n", "Real"),
        ("    # code\n# [Linked](x.md) `code`\n", "Linked code"),
        ("#hashtag\r\n# After\r\n", "After"),
        ("# Salt &amp; \\*water\\*\n", "Salt & *water*"),
        ("# 2 * 3 = 6 and `a*b`\n", "2 * 3 = 6 and a*b"),
        ("# ~~Old~~ _new_ ==tide== <kbd>K</kbd>[^1]\n\n[^1]: x\n", "Old new tide K"),
        ("# [Pools][p]\n\n[p]: pools.md\n", "Pools"),
        ("Two\nlines\n===\n", "Two lines"),
        ("<pre>\n# code\n</pre>\n\n- # item\n\n> # quote\n\n# Real\n", "Real"),
        ("```\n```python\n# code\n```\n# Real\n", "Real"),
    ],
)
def test_the_first_heading_is_a_title_and_nothing_to_mend(body: str, title: str) -> None:
    document = normalised(markdown(body), "notes/the-well.md")
    assert document.title == document.metadata["title"] == title
    assert [code for field, code in codes(document) if field == "title"] == []


@pytest.mark.parametrize("body", ["#\n", "", "## Second level\n", "#hashtag\n"])
def test_without_a_heading_the_name_is_the_title_and_nothing_to_mend(body: str) -> None:
    document = normalised(markdown(body), "notes/the-well.md")
    assert document.title == document.metadata["title"] == "the-well"
    assert [code for field, code in codes(document) if field == "title"] == []


def test_the_front_page_of_a_folder_is_called_like_the_folder() -> None:
    assert normalised(markdown(), "docs/garden/README.md").title == "garden"
    assert normalised(markdown(), "README.md").title == "README"


def test_a_title_is_one_line() -> None:
    assert normalised(markdown(title="Two\nlines\t and \N{NO-BREAK SPACE} more\x07")).title == "Two lines and more"
    assert normalised(markdown(title="👩\u200d🌾 farm")).title == "👩\u200d🌾 farm"


def test_no_message_quotes_a_value() -> None:
    secret = "CANARY-5512"
    fields = {name: secret for name in ONTOLOGY.fields if name not in ("type", "title")} | {"list": [secret]}
    document = normalised(markdown(f"# {secret}\n", title=None, **(fields | {"publish": True, "draft": None})))
    assert document.problems
    assert not [problem for problem in document.problems if secret in f"{problem.message} {problem.hint}"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    frontmatter=st.dictionaries(st.sampled_from([*ONTOLOGY.fields, "source", "Title", "x"]), json_values, max_size=8),
    content_type=st.sampled_from([*ONTOLOGY.types, "concept", None]),
    path=st.text(max_size=20),
)
def test_whatever_is_authored_normalises_to_json_that_fits_its_model(
    frontmatter: dict[str, Any], content_type: str | None, path: str
) -> None:
    document = normalise(path, ParsedFile(frontmatter | {"type": content_type}, "Text", 1))
    assert document.title
    json.dumps(document.metadata, allow_nan=False)
    assert content_adapter.validate_python(document.metadata).model_dump()["title"] == document.title


@given(frontmatter=st.dictionaries(st.sampled_from([*ONTOLOGY.fields]), json_values, max_size=8))
def test_normalising_what_was_normalised_changes_nothing(frontmatter: dict[str, Any]) -> None:
    once = normalise("a.md", ParsedFile(frontmatter, "Text", 1))
    again = normalise("a.md", ParsedFile(once.metadata, "Text", 1))
    assert {**again.metadata, "originalType": None} == {**once.metadata, "originalType": None}


@pytest.mark.parametrize(
    ("authored", "named"),
    [
        ("![[attachments/cove.png]]", "attachments/cove.png"),
        ("![[cove.png|600]]", "cove.png"),
        ("[[attachments/low tide.png#x]]", "attachments/low tide.png"),
        ("attachments/low%20tide.png", "attachments/low tide.png"),
        ("https://example.org/low%20tide.png", "https://example.org/low%20tide.png"),
    ],
)
def test_a_banner_is_the_image_that_its_embed_names(authored: str, named: str) -> None:
    assert normalised(markdown(title="A", banner=authored)).banner == named


def test_an_author_is_a_name_though_it_is_written_as_a_link() -> None:
    assert normalised(markdown(title="A", author=["[[data/people/rosa.md|Rosa Lind]]", "Ines"])).author == (
        "Rosa Lind",
        "Ines",
    )
    assert normalised(markdown(title="A", author="Rosa Lind")).author == ("Rosa Lind",)
    assert normalised(markdown(title="A")).author == ()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[[page|name]]", "name"),
        ("[[page\\|name]]", "name"),
        ("[[folder/page]]", "folder/page"),
        ("[[folder/page#Heading]] and more", "folder/page > Heading and more"),
        ("[[page#Part#Chapter]]", "page > Part > Chapter"),
        ("[[page#^block]]", "page"),
        ("[[#Heading]]", "Heading"),
        ("[[2024|2025]]", "2025"),
        ("![[chart.png|300]] of ![[map|the bay]]", "chart.png of the bay"),
        ("[a](b.md) ![c](https://example.org/a_(b)) [d](<e f.md>)", "a c d"),
        ("[[[a](b)]] [![c](d)](e) [see [[f]]](g)", "a c see f"),
        ("[1] (x) [ ] 2 * 3 a_b", "[1] (x) [ ] 2 * 3 a_b"),
        ("Seen %%not this%% here", "Seen  here"),
    ],
)
def test_links_in_a_title_a_description_and_an_alias_become_their_text(written: str, shown: str) -> None:
    document = normalised(markdown(title=written, description=written, aliases=[written]))
    assert document.title == " ".join(shown.split()) or document.title == shown
    assert (document.description, document.metadata["description"]) == (shown, shown)
    if "%%" not in written:
        assert document.aliases == (shown,)


def test_a_heading_that_is_a_title_is_read_without_links_and_comments() -> None:
    document = normalised(markdown("%%\n# Not this\n%%\n\n# The [[page|name]] of *it* <!-- no --> %%not%%\n"))
    assert document.title == "The name of it"
    assert normalised(markdown("Text.\n", title="[[ ]]"), "notes/by name.md").title == "by name"


def test_tags_of_the_text_come_after_those_of_the_frontmatter_each_once_and_with_its_line() -> None:
    document = normalised(markdown("#Sea and #Inbox//To-Read/ \n#shore #sea\n", title="A", tags=["Shore", "a b"]))
    assert document.tags == ("shore", "a-b", "sea", "inbox/to-read")
    assert document.metadata["tags"] == ["shore", "a-b"]
    assert document.tag_lines == {"shore": 4, "a-b": 4, "sea": 8, "inbox/to-read": 8}


def test_an_address_that_never_ends_takes_no_more_time_than_its_length() -> None:
    endless = "[x](" + "<a>" * 200
    assert normalised(markdown(title=endless)).title == endless
    assert plain(endless) == endless
