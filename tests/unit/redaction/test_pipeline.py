import logging
import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.redaction.model import Policy
from commonplace.redaction.pipeline import MAX_CHARACTERS, Pipeline
from commonplace.redaction.ports import Redactor
from tests.fakes.detectors import KnownNames, NoAnswer
from tests.unit.redaction import examples

POLICY = Policy()
SECRETS = examples.secrets()
EVERY = {name: value for name, (_, value) in examples.PERSONAL.items()} | SECRETS
"""One of every class that is found without an introduction."""

IN_PIECES = (
    *("email", "phone, international", "phone, KE", "phone, US", "card", "card, in one", "iban", "iban, in one", "ip"),
    *("ssn", "cpf", "codice fiscale", "host", "aws", "github", "stripe", "google", "openai", "npm", "sendgrid", "jwt"),
)

words = st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "Z", "S", "Cf", "Mn")), max_size=30)
WRITTEN = (
    *("the build failed", "because the cache was stale", "## Cause", "- use `uv sync`", "`pip`", "42 %", "|", "\n\n"),
    *("\n```\nx = 1\n```\n", "> quoted", "see [docs](https://docs.example/)", "*note*", "1.", "äöü", "日本語", "\t"),
)
prose = st.lists(st.sampled_from(WRITTEN), max_size=8).map(" ".join)


def redact(
    fields: Mapping[str, str] | str, policy: Policy = POLICY, redactor: Redactor | None = None
) -> dict[str, str]:
    fields = {"content": fields} if isinstance(fields, str) else fields
    return dict((redactor or Pipeline()).redact(fields, policy).fields)


def plain(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


@given(name=st.sampled_from(sorted(EVERY)), before=prose, after=prose)
def test_no_datum_survives_at_any_place_in_prose(name: str, before: str, after: str) -> None:
    text = f"{before}\n\nIt is {EVERY[name]} here.\n\n{after}"
    assert EVERY[name] not in redact(text)["content"]


@given(name=st.sampled_from(sorted(SECRETS)), before=prose, after=prose, fence=st.sampled_from(["```", "~~~~", "`"]))
def test_no_secret_survives_in_code(name: str, before: str, after: str, fence: str) -> None:
    end = "" if fence == "`" else "\n"
    text = f"{before}\n\n{fence}{end}key {SECRETS[name]} x{end}{fence}\n{after}"
    assert SECRETS[name] not in redact(text)["content"]


@given(name=st.sampled_from(sorted(EVERY)), field=st.sampled_from(["title", "tags.0", "framework", "run_id"]))
def test_no_datum_survives_in_a_small_field(name: str, field: str) -> None:
    left = redact({"content": "How the cache is cleared.", field: EVERY[name]})
    assert EVERY[name] not in left[field]
    assert left["content"] == "How the cache is cleared."


@given(name=st.sampled_from(IN_PIECES), data=st.data(), between=st.booleans())
def test_no_datum_survives_in_pieces_over_two_fields(name: str, data: st.DataObject, between: bool) -> None:
    value = EVERY[name]
    cut = data.draw(st.integers(2, len(value) - 2))
    middle = {"framework": "django", "tags.0": "cache"} if between else {}
    left = redact({"content": f"Write it to {value[:cut]}", **middle, "tags.1": value[cut:]})
    assert plain(value) not in plain("".join((left["content"], left["tags.1"])))
    assert plain(value) not in plain("".join(left.values()))


@given(value=st.sampled_from(sorted(EVERY)), fields=st.dictionaries(st.sampled_from("abcd"), prose | words, min_size=1))
def test_redacting_the_result_changes_nothing(value: str, fields: dict[str, str]) -> None:
    once = redact(fields | {"c": fields.get("c", "") + " " + EVERY[value]})
    assert redact(once) == once


@given(fields=st.dictionaries(st.sampled_from("abcd"), prose, min_size=1))
def test_text_without_findings_is_returned_as_it_is(fields: dict[str, str]) -> None:
    assert redact(fields) == fields


@given(text=st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=40)
@given(name=st.sampled_from(["email", "card", "phone, international", "iban", "ip", "ssn"]), data=st.data())
def test_invisible_characters_and_other_digits_hide_nothing(name: str, data: st.DataObject) -> None:
    value = EVERY[name]
    wide = data.draw(st.booleans())
    written = "".join(chr(ord(c) + 0xFEE0) if wide and (c.isdigit() or c in "@.") else c for c in value)
    place = data.draw(st.integers(1, len(written) - 1))
    hidden = data.draw(st.sampled_from(["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", ""]))
    written = written[:place] + hidden + written[place:]
    left = redact(f"Grüße\u200b an {written} dort")["content"]
    assert left.startswith("Grüße\u200b an [") and left.endswith("] dort")


def test_values_are_taken_out_of_every_other_field() -> None:
    left = redact(
        {"content": "Ask jane.roe@example.org", "title": "JANE.ROE@EXAMPLE.ORG", "tags.0": "jane-roe-example-org"}
    )
    assert left == {"content": "Ask [EMAIL]", "title": "[EMAIL]", "tags.0": "[EMAIL]"}


def test_name_that_is_found_once_is_masked_everywhere() -> None:
    fields = {
        "content": "Ask Ada Marchetti. `git log --author=ada.marchetti`",
        "tags.0": "ada-marchetti",
        "title": "By Marchetti",
    }
    left = redact(fields, redactor=Pipeline(KnownNames("Ada Marchetti")))
    assert left == {"content": "Ask [NAME]. `git log --author=[NAME]`", "tags.0": "[NAME]", "title": "By [NAME]"}


def test_name_that_is_a_word_too_is_masked_where_it_is_written_as_a_name() -> None:
    left = redact("Ask Will. It will work, says Will.", redactor=Pipeline(KnownNames("Will")))
    assert left["content"] == "Ask [NAME]. It will work, says [NAME]."


def test_single_name_is_masked_in_prose_alone() -> None:
    left = redact("Sigrun asks. `sigrun install`", redactor=Pipeline(KnownNames("Sigrun")))
    assert left["content"] == "[NAME] asks. `sigrun install`"


@pytest.mark.parametrize("text", ["Paket asks. `paket install`", "[Paket](https://paket.example/a) says: use Paket."])
def test_word_that_is_a_package_or_a_host_is_no_person(text: str) -> None:
    assert redact(text, redactor=Pipeline(KnownNames("Paket")))["content"] == text


def test_pieces_of_a_known_value_are_masked() -> None:
    left = redact({"content": "Ask jane.roe@example.org", "a": "jane.roe", "b": "x", "c": "example.org"})
    assert "jane.roe" not in left["a"] and left["b"] == "x" and "example" not in left["c"]


def test_name_in_pieces_is_read_by_the_detector_as_well() -> None:
    left = redact(
        {"content": "Seen beside zorblax", "tags.0": "quentar"}, redactor=Pipeline(KnownNames("zorblax quentar"))
    )
    assert left == {"content": "Seen beside [NAME]", "tags.0": "[NAME]"}


def test_allowed_text_at_the_end_of_a_field_is_no_piece_of_the_next() -> None:
    fields = {"content": "Write to help@example.org", "tags.0": "python"}
    assert redact(fields, Policy(allowed=("help@example.org",))) == fields


def test_fields_that_say_nothing_together_are_kept() -> None:
    fields = {
        "content": "Since version 2",
        "framework": "django",
        "version": "5.2.1",
        "tags.0": "python3",
        "tags.1": "aws",
    }
    assert redact(fields) == fields


def test_detector_reads_prose_without_code_addresses_and_what_is_explained() -> None:
    detector = KnownNames("Nobody Here")
    text = "Commit 3f786850e387550fdab836ed7e6dc881de23001b by jane@example.org broke `run(Jane)`, see https://e.example/Jane"
    redact(text, redactor=Pipeline(detector))
    assert "Commit" in detector.read[0] and "broke" in detector.read[0]
    for hidden in ("3f786850", "jane@", "Jane"):
        assert hidden not in detector.read[0]


def test_products_and_people_after_whom_methods_are_called_are_no_persons() -> None:
    text = "Jenkins runs Dijkstra"
    assert redact(text, redactor=Pipeline(KnownNames("Jenkins", "Dijkstra"))) == {"content": text}


def test_text_is_read_once_more_only_where_something_changed() -> None:
    detector = KnownNames("Ada Marchetti")
    redact({"a": "Ask Ada Marchetti", "b": "nothing"}, redactor=Pipeline(detector))
    alone = [text for text in detector.read if not text.endswith(" nothing")]
    assert sorted(alone) == ["Ask Ada Marchetti", "Ask \ufffc", "nothing"]
    assert len(detector.read) == 4


def test_patterns_of_an_organisation_are_masked_in_code_too() -> None:
    left = redact("PROJ-17 and `PROJ-18`", Policy(patterns=(r"PROJ-\d+",)))
    assert left["content"] == "[REDACTED] and `[REDACTED]`"


@pytest.mark.parametrize("pattern", ["(", r"(?=x)", r"(a)\1", "[z-a]"])
def test_pattern_that_is_none_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput, match="Pattern 2") as refused:
        redact("text", Policy(patterns=("x", pattern)))
    assert refused.value.hint and "RE2" in refused.value.hint


def test_pattern_that_would_backtrack_for_ever_is_matched_at_once() -> None:
    left = redact("a" * 30_000 + "!", Policy(patterns=(r"(a+)+$", r"(a|a)*b")))
    assert len(left["content"]) == 30_001


def test_pattern_that_matches_everything_ends() -> None:
    assert redact("one two", Policy(patterns=(r"\w+", ".*", ""))) == {"content": "[REDACTED]"}


def test_allowed_texts_are_kept_and_a_secret_never_is() -> None:
    key = SECRETS["github"]
    policy = Policy(allowed=("Help@Example.org", "ada", key))
    left = redact(f"help@example.org Ada {key} jane@example.org", policy, Pipeline(KnownNames("Ada")))
    assert left["content"] == "help@example.org Ada [API_KEY] [EMAIL]"


def test_placeholders_that_stand_there_are_kept_and_counted() -> None:
    result = Pipeline().redact({"a": "[EMAIL] and jane@example.org", "b": "x [NAME]", "c": ""}, POLICY)
    assert dict(result.fields) == {"a": "[EMAIL] and [EMAIL]", "b": "x [NAME]", "c": ""}
    assert dict(result.counts) == {"EMAIL": 2, "NAME": 1}
    assert dict(result.shares) == {"a": pytest.approx(2 / 3), "b": 0.5, "c": 0}


def test_parts_of_an_address_share_one_placeholder() -> None:
    assert redact("at 221B Baker Street, London NW1 6XE.") == {"content": "at [LOCATION]."}


def test_address_of_an_own_network_is_masked_whole_and_others_are_kept() -> None:
    text = "[a](https://wiki.corp.internal/page?x=1) [b](https://github.com/jane/repo) <http://203.0.113.7:8080/x>"
    assert redact(text)["content"] == "[a]([REDACTED]) [b](https://github.com/jane/repo) <http://[IP_ADDRESS]:8080/x>"


def test_personal_data_in_code_is_kept() -> None:
    text = "`jane@example.org`\n\n```\n+49 30 901820\n```\n"
    assert redact(text) == {"content": text}


def test_nothing_comes_back_when_the_detector_does_not_answer() -> None:
    with pytest.raises(Unavailable) as gone:
        redact("jane@example.org", redactor=Pipeline(NoAnswer()))
    assert "jane" not in str(gone.value)


def test_texts_that_are_too_long_are_refused_without_being_quoted() -> None:
    with pytest.raises(InvalidInput) as refused:
        redact({"a": "x" * MAX_CHARACTERS, "b": "jane@example.org"})
    assert "jane" not in str(refused.value)


def test_character_that_stands_for_a_sentence_costs_no_more_than_others() -> None:
    text = "\ufdfa" * 20_000
    assert redact(text) == {"content": text}


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    redact({name.replace(",", ""): f"It is {value}" for name, value in EVERY.items()})
    assert not caplog.records
