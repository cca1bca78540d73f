"""Personal data in what agents add to the memory, where a deployment wants none there."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any, Literal

import pytest

from commonplace.memory.personal_data import EntryRedaction
from commonplace.redaction.pipeline import Pipeline
from tests.fakes.redaction import WordRedactor
from tests.unit.memory.tools.teams import Team

FACT: dict[str, Any] = {"content": "Ask Anneliese first.", "entry_type": "fact", "roles": ["dev"], "tags": ["cars"]}

Screened = Callable[[Literal["mask", "refuse"]], Team]


@pytest.fixture
def screened(here: Team) -> Screened:
    def team(mode: Literal["mask", "refuse"]) -> Team:
        here.told["entry_redaction"] = EntryRedaction(WordRedactor("Anneliese", "anneliese"), mode)
        return here

    return team


def test_without_it_an_entry_is_kept_as_it_is(here: Team) -> None:
    assert here.data("kb_get", id=here.data("kb_add", **FACT)["id"])["content"] == "Ask Anneliese first."


def test_what_is_added_is_kept_masked_and_tags_that_tell_somebody_are_left_out(screened: Screened) -> None:
    team = screened("mask")
    id = team.data("kb_add", **FACT | {"tags": ["cars", "anneliese"]})["id"]
    entry = team.data("kb_get", id=id)
    assert (entry["content"], entry["tags"]) == ("Ask [NAME] first.", ["cars"])


def test_what_is_masked_alike_is_a_duplicate(screened: Screened) -> None:
    team = screened("mask")
    first = team.data("kb_add", **FACT)
    again = team.data("kb_add", **FACT | {"content": "Ask [NAME] first."})
    assert (again["duplicate"], again["id"]) == (True, first["id"])


def test_a_change_is_masked_and_leaves_what_it_does_not_name(screened: Screened) -> None:
    team = screened("mask")
    id = team.add("Cars are red.", tags=["cars"])
    team.data("kb_update", id=id, confidence=0.7)
    team.data("kb_update", id=id, content="Anneliese says that cars are blue.")
    entry = team.data("kb_get", id=id)
    assert (entry["content"], entry["tags"]) == ("[NAME] says that cars are blue.", ["cars"])


@pytest.mark.parametrize("tool", ["kb_add", "kb_update"])
def test_where_it_refuses_nothing_is_stored_and_the_kinds_are_named(screened: Screened, tool: str) -> None:
    team = screened("refuse")
    id = team.add("Cars are red.")
    arguments = FACT if tool == "kb_add" else {"id": id, "tags": ["anneliese"]}
    code, text = team.error(tool, **arguments)
    assert (code, "1 NAME" in text, "Anneliese" in text) == ("INVALID_INPUT", True, False)
    assert team.data("kb_list")["total"] == 1
    assert team.data("kb_get", id=id)["version"] == 1


def test_a_placeholder_that_was_written_is_nothing_to_refuse(screened: Screened) -> None:
    assert screened("refuse").data("kb_add", **FACT | {"content": "Ask [NAME] first."})["success"]


@pytest.mark.parametrize("mode", ["mask", "refuse"])
def test_without_an_answer_nothing_is_stored(screened: Screened, mode: Literal["mask", "refuse"]) -> None:
    team = screened(mode)
    assert team.error("kb_add", **FACT | {"content": "Gone is Anneliese."})[0] == "UNAVAILABLE"
    assert team.data("kb_list")["total"] == 0


KEY = "AKIA" + "Q7RZ4XN2LMPV6TBD"
PRIVATE_KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA7x3' * 9}\n-----END RSA PRIVATE KEY-----"

SECRET_FIELDS = [
    ({"content": f"Deploy it so:\n\nexport AWS_ACCESS_KEY_ID={KEY}"}, "`content`", "aws key id", "line 3"),
    ({"content": PRIVATE_KEY}, "`content`", "a private key", "line 1"),
    ({"content": "Open postgres://app:Tr0ub4dor3@db.example/app first."}, "`content`", "a password in an", "line 1"),
    ({"tags": ["cars", KEY]}, "`tags`", "aws key id", "line 1"),
    ({"source_file": f"notes/{KEY}.md"}, "`source_file`", "aws key id", "line 1"),
    ({"source_story": KEY}, "`source_story`", "aws key id", "line 1"),
    ({"metadata": {"run": {"log": ["fine", f"with {KEY}"]}}}, "`metadata`", "aws key id", "line 1"),
    ({"metadata": {"db_password": "Tr0ub4dor&3x"}}, "`metadata`", "a password", "line 1"),
    ({"metadata": {KEY: 1}}, "`metadata`", "aws key id", "line 1"),
]


def entry(**told: Any) -> dict[str, Any]:
    return {"content": "Cars are red.", "entry_type": "fact", "roles": ["dev"]} | told


@pytest.mark.parametrize(("fields", "place", "kind", "line"), SECRET_FIELDS)
def test_a_secret_is_refused_without_any_redaction_and_never_repeated(
    here: Team, fields: dict[str, Any], place: str, kind: str, line: str
) -> None:
    id = here.add("Trains are green.")
    code, text = here.error("kb_update", id=id, **fields)
    assert (code, all(word in text for word in (place, kind, line))) == ("INVALID_INPUT", True)
    code, text = here.error("kb_add", **entry(**fields))
    assert (code, all(word in text for word in (place, kind, line))) == ("INVALID_INPUT", True)
    done = here.data("kb_bulk_import", entries=[entry(**fields), entry(content="Bikes are blue.")])
    (error,) = done["errors"]
    assert (done["imported"], error.startswith("entries[0]: "), place in error, kind in error) == (1, True, True, True)
    assert not any(value in text + error for value in (KEY, "MIIEpAI", "Tr0ub4dor"))
    assert (here.data("kb_list")["total"], here.data("kb_get", id=id)["version"]) == (2, 1)


def test_what_only_shows_where_a_secret_stands_is_kept(here: Team) -> None:
    assert here.data("kb_add", **entry(content="Set password: <YOUR_PASSWORD> and api_key=[API_KEY]."))["success"]
    words = "cache queue retry shard index token batch score query chunk vector label"
    assert here.data("kb_add", **entry(content=f"Lesson 7: {words}."))["success"]
    assert here.error("kb_add", **entry(content=f"The wallet's seed phrase: {words}."))[0] == "INVALID_INPUT"
    assert here.data("kb_add", **entry(content="The token budget is 4,575 tokens; the key idea is reuse."))["success"]


def test_an_import_is_masked_with_its_metadata_and_names_as_well(here: Team) -> None:
    here.told["entry_redaction"] = EntryRedaction(Pipeline(), "mask")
    mail = "a.lindqvist@northwind.example"
    one = entry(
        content=f"Ask {mail} or use {KEY}.",
        source_file=f"notes/{mail}/lessons.md",
        metadata={"asked": {"who": [mail]}, "n": 3},
    )
    done = here.data("kb_bulk_import", entries=[one, entry(content="Bikes are blue.", parent_ref="0"), entry()])
    kept = here.data("kb_get", id=done["ids"]["0"])
    assert kept["content"] == "Ask [EMAIL] or use [API_KEY]."
    assert ("[EMAIL]" in kept["source_file"], mail in kept["source_file"]) == (True, False)
    assert kept["metadata"] == {"asked": {"who": ["[EMAIL]"]}, "n": 3}
    again = here.data("kb_bulk_import", entries=[one])
    assert (again["skipped"], again["ids"]["0"]) == (1, done["ids"]["0"])


def test_an_import_is_refused_entry_by_entry(here: Team) -> None:
    here.told["entry_redaction"] = EntryRedaction(Pipeline(), "refuse")
    given = [entry(content="Ask a.lindqvist@northwind.example."), entry(metadata={"who": KEY}), entry()]
    done = here.data("kb_bulk_import", entries=given)
    assert (done["imported"], len(done["errors"])) == (1, 2)
    assert "1 EMAIL" in done["errors"][0]
    assert "1 API_KEY" in done["errors"][1]


def test_nothing_of_an_import_waits_before_it_is_redacted(here: Team) -> None:
    here.told["entry_redaction"] = EntryRedaction(Pipeline(), "mask")
    code, text = here.error("kb_bulk_import", entries=[entry(content=f"Lesson {n}.") for n in range(101)])
    assert (code, "100" in text) == ("TOO_LARGE", True)
    assert here.world.jobs.kept == {}


def test_an_import_stores_nothing_when_the_redaction_does_not_answer(here: Team) -> None:
    here.told["entry_redaction"] = EntryRedaction(WordRedactor("Anneliese"), "mask")
    given = [entry(), entry(content="Gone is Anneliese.")]
    assert here.error("kb_bulk_import", entries=given)[0] == "UNAVAILABLE"
    assert here.data("kb_list")["total"] == 0


def test_the_rules_for_secrets_are_loaded_by_the_first_write_alone() -> None:
    program = "import sys, commonplace.memory.tools.toolset; print('commonplace.redaction.secret_rules' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
