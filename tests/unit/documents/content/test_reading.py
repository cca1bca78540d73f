"""Bytes to verdicts: the frontmatter's own rules."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commonplace.documents.content.reader import Invalid, Published, Unpublished, judge, parse
from commonplace.repository.markdown import ParsedFile
from commonplace.repository.problems import Problem
from tests.unit.documents.content.files import published, reason

HardCase = Callable[[str], bytes]


def problem_of(raw: bytes) -> Problem:
    verdict = judge(raw)
    assert isinstance(verdict, Invalid), verdict
    return verdict.problem


def test_words_of_yaml_1_1_stay_strings(hard_case: HardCase) -> None:
    assert published(hard_case("yaml-1-1-words")).frontmatter == {
        "title": "Words",
        "on": "yes",
        "day": "2024-05-01",
        "time": "12:30:45",
        "mode": "0755",
        "ratio": "1:2",
        "big": "1_000",
        "hex": "0x1F",
        "equals": "=",
        "merge": "<<",
        "publish": True,
    }


def test_numbers_that_json_readers_would_round_stay_strings() -> None:
    digits = "9" * 400
    file = published(f"---\npublish: true\nhat: {2**53}\nyear: 2024\nlong: {digits}\nhuge: {digits}.0\n---\n".encode())
    assert file.frontmatter == {"publish": True, "hat": str(2**53), "year": 2024, "long": digits, "huge": f"{digits}.0"}


def test_a_quoted_value_is_a_string_whatever_it_looks_like() -> None:
    file = published(b"---\npublish: true\na: '2024'\nb: \"true\"\nc: 'null'\n---\n")
    assert file.frontmatter == {"publish": True, "a": "2024", "b": "true", "c": "null"}


def test_lists_and_mappings_nest() -> None:
    file = published(b"---\npublish: true\na:\n  - x\n  - {b: [1, 2], c: }\n  - - y\n---\n")
    assert file.frontmatter["a"] == ["x", {"b": [1, 2], "c": None}, ["y"]]


def test_a_byte_order_mark_is_no_part_of_the_text(hard_case: HardCase) -> None:
    file = published(hard_case("byte-order-mark"))
    assert (file.frontmatter["title"], file.body) == ("Marked", "Text.\n")


def test_fields_know_their_lines(hard_case: HardCase) -> None:
    file = published(hard_case("rules-in-body"))
    assert file.lines == {"title": 2, "publish": 3}
    assert file.body_line == 5


def test_numbers_and_booleans_are_remembered_as_written() -> None:
    file = published(b"---\npublish: true\ntitle: 1.10\nalso: '1.10'\n---\n")
    assert file.authored == {"publish": "true", "title": "1.10"}


def test_a_file_may_end_with_its_frontmatter(hard_case: HardCase) -> None:
    assert published(hard_case("only-frontmatter")).body == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_understood(end: str) -> None:
    file = published(end.join(["---", "publish: true", "title: A", "---  ", "One", "Two"]).encode())
    assert file.frontmatter == {"publish": True, "title": "A"}
    assert (file.body, file.body_line, file.lines["title"]) == (f"One{end}Two", 5, 3)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("invalid-utf8", "invalid-utf8"),
        ("unclosed-frontmatter", "unclosed-frontmatter"),
        ("template-placeholder", "malformed-frontmatter"),
        ("duplicate-titles", "duplicate-key"),
        ("tab-indentation", "malformed-frontmatter"),
        ("aliases-that-multiply", "malformed-frontmatter"),
        ("nested-too-deeply", "nested-too-deeply"),
        ("list-as-frontmatter", "not-a-mapping"),
    ],
)
def test_unreadable_files_say_why_and_where(hard_case: HardCase, name: str, code: str) -> None:
    problem = problem_of(hard_case(name))
    assert problem.code == code
    assert problem.line is not None
    assert problem.hint or problem.code == "nested-too-deeply"
    assert problem.severity == "error"


def test_two_answers_to_publish_are_none(hard_case: HardCase) -> None:
    verdict = judge(hard_case("duplicate-keys"))
    assert isinstance(verdict, Unpublished)
    assert verdict.problem is not None
    assert verdict.problem.code == "duplicate-key"


def test_places_of_problems_count_from_the_first_line_of_the_file() -> None:
    duplicate = problem_of(b"---\r\npublish: true\r\ntags: 1\r\ntags: 2\r\n---\r\n")
    assert (duplicate.line, duplicate.column, duplicate.field) == (4, 1, "tags")
    assert problem_of("---\npublish: true\n---\nOne\nTwo \xff\n".encode("latin-1")).line == 5


def test_a_rule_at_the_top_is_not_frontmatter(hard_case: HardCase) -> None:
    assert reason(judge(hard_case("dashed-text-first"))) == "no frontmatter"
    assert reason(judge(hard_case("empty-frontmatter"))) == "without `publish: true`"
    assert reason(judge(b"----\npublish: true\n----\n")) == "no frontmatter"
    assert reason(judge(b"\n---\npublish: true\n---\n")) == "no frontmatter"


def test_a_line_that_only_begins_with_dashes_does_not_end_the_frontmatter() -> None:
    assert isinstance(judge(b"---\npublish: true\n---- \n---\n"), Invalid)
    file = published(b"---\npublish: true\ntext: |\n  ---\n---\nBody\n")
    assert (file.frontmatter["text"], file.body) == ("---\n", "Body\n")


@pytest.mark.parametrize("draft", ["", "null", "~", "false", "False"])
def test_no_draft_opens_the_gate(draft: str) -> None:
    assert isinstance(judge(f"---\npublish: true\ndraft: {draft}\n---\n".encode()), Published)


@pytest.mark.parametrize("draft", ["true", "yes", "no", "'false'", "0", "[]", "{}", "''", "later"])
def test_any_other_shape_of_draft_blocks(draft: str) -> None:
    assert reason(judge(f"---\npublish: true\ndraft: {draft}\n---\n".encode())) == "draft"


def test_letter_case_never_opens_the_gate_but_may_shut_it() -> None:
    assert isinstance(judge(b"---\nPublish: true\n---\n"), Unpublished)
    assert isinstance(judge(b"---\npublish: true\nDraft: true\n---\n"), Unpublished)
    assert isinstance(judge(b"---\npublish: true\nPUBLISH: false\n---\n"), Unpublished)


@pytest.mark.parametrize("line", ["publish: true", "publish:true", "'publish': True  # yes", "publish: true\ndraft:"])
def test_unreadable_frontmatter_that_says_published_keeps_the_last_version(line: str) -> None:
    assert isinstance(judge(f"---\ntitle: a: b\n{line}\n---\n".encode()), Invalid)


@pytest.mark.parametrize(
    "line",
    [
        "publish: false",
        "publish: no",
        "PUBLISH : False",
        '"publish": "true"',
        "publish:",
        "{x, publish: false",
        "draft: on",
    ],
)
def test_unreadable_frontmatter_that_says_private_is_private(line: str) -> None:
    verdict = judge(f"---\ntitle: a: b\npublish: true\n{line}\r\n---\n".encode())
    assert isinstance(verdict, Unpublished)
    assert verdict.problem is not None


def test_an_unreadable_encoding_does_not_hide_that_a_file_is_private() -> None:
    assert isinstance(judge(b"---\npublish: false\n---\n\xff"), Unpublished)


@pytest.mark.parametrize("value", ["*a", "&a b", "!!python/object:os.system x", "!!binary aGk=", "!!set {a}", "!x y"])
def test_anchors_aliases_and_tags_are_refused(value: str) -> None:
    assert problem_of(f"---\npublish: true\na: {value}\n---\n".encode()).code == "malformed-frontmatter"


def test_a_second_document_inside_the_frontmatter_is_refused() -> None:
    assert problem_of(b"---\npublish: true\n...\na: b\n---\n").code == "malformed-frontmatter"


def test_a_frontmatter_of_many_kilobytes_is_refused() -> None:
    assert problem_of(b"---\npublish: true\nnote: " + b"x" * 64_000 + b"\n---\n").code == "frontmatter-too-large"


def test_parse_reads_what_the_gate_keeps_back() -> None:
    file = parse(b"---\ntitle: Private\n---\nText")
    assert isinstance(file, ParsedFile)
    assert file.frontmatter == {"title": "Private"}
    assert parse(b"Text") is None
    assert isinstance(parse(b"---\na: b: c\n---\n"), Problem)


YAML_ALPHABET = "abctrue falsenull:- \n\r\t'\"[]{}#&*!|>%@`,?=~.0123456789\\publish draft\u2028\x85é🌱\x00"


@given(st.binary(max_size=400))
@example(b"---\n" + b"[" * 30_000 + b"\n---\n")
@example(b"---\n" + b"- " * 20_000 + b"\n---\n")
@example(b"---\n" + b"{a: " * 9_000 + b"\n---\n")
@example(b'---\na: "\\ud800"\npublish: true\n---\n')
def test_no_bytes_make_judging_raise(raw: bytes) -> None:
    for candidate in (raw, b"---\n" + raw + b"\n---\n" + raw):
        assert isinstance(judge(candidate), Published | Unpublished | Invalid)


@given(st.text(alphabet=YAML_ALPHABET, max_size=200))
def test_the_gate_opens_for_the_boolean_true_alone(block: str) -> None:
    verdict = judge(f"---\n{block}\n---\nBody".encode())
    if isinstance(verdict, Published):
        assert verdict.file.frontmatter["publish"] is True
        assert verdict.file.frontmatter.get("draft") in (None, False)
        verdict.file.body.encode()
        repr(verdict.file.frontmatter).encode()


values = st.sampled_from(["true", "True", "false", "null", "", "yes", "'true'", "1", "[true]", "{a: true}", "truth"])


@given(publish=st.none() | values, draft=st.none() | values)
def test_the_gate_knows_every_combination(publish: str | None, draft: str | None) -> None:
    lines = [f"{name}: {value}" for name, value in (("publish", publish), ("draft", draft)) if value is not None]
    verdict = judge("\n".join(["---", *lines, "title: A", "---", ""]).encode())
    opens = publish in ("true", "True") and draft in (None, "null", "", "false")
    assert isinstance(verdict, Published if opens else Unpublished)


@given(
    body=st.text(alphabet=st.characters(codec="utf-8")),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\N{ZERO WIDTH NO-BREAK SPACE}"]),
)
def test_every_body_comes_back_to_the_byte(body: str, end: str, mark: str) -> None:
    raw = f"{mark}---{end}publish: true{end}---{end}{body}".encode()
    assert published(raw).body == body
