"""No function on AWS shows what nobody has published, whoever set it so."""

from typing import Any

import pytest

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.settings import Everything
from commonplace.kernel.telemetry import instrument
from commonplace_local.project import TEMPLATE


def answer(event: dict[str, Any], _context: object) -> dict[str, Any]:
    return event


@pytest.mark.parametrize(
    "endpoint",
    ["", "https://s3.eu-central-1.amazonaws.com", "http://192.168.1.7:9", "http://localhost.example.org"],
)
def test_a_function_that_is_not_on_this_machine_refuses_to_start_with_everything(endpoint: str) -> None:
    with pytest.raises(SettingsError, match=r"SHOW_EVERYTHING|AWS_ENDPOINT_URL"):
        instrument(answer, {"STAGE": "dev", "SHOW_EVERYTHING": "true", "AWS_ENDPOINT_URL": endpoint})


def test_a_word_that_is_neither_true_nor_false_is_refused() -> None:
    with pytest.raises(SettingsError, match="SHOW_EVERYTHING"):
        Everything.from_environ({"SHOW_EVERYTHING": "yes", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"})


def test_on_a_laptop_it_is_taken_and_by_default_off() -> None:
    assert Everything.from_environ({"SHOW_EVERYTHING": "true", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}).everything
    assert not Everything.from_environ({}).everything


def test_the_committed_template_never_sets_it() -> None:
    assert "SHOW_EVERYTHING" not in TEMPLATE.read_text(encoding="utf-8")
