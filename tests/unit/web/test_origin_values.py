from typing import Any, cast

import pytest

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.secrets import FRESH_SECONDS, KEPT_SECONDS
from commonplace.web.origin import PAUSE_SECONDS, RETRY_SECONDS, OriginValues, origin_values
from tests.fakes.vault import Vault


class Door:
    """The values over a vault and a clock of the test's."""

    def __init__(self, **stages: dict[str, str]) -> None:
        self.vault, self.now = Vault(**stages), 1_000.0
        self.knows = OriginValues(lambda: cast(Any, self.vault), "arn", monotonic=lambda: self.now)


@pytest.mark.parametrize("presented", ["now", "soon"])
def test_the_value_in_use_and_the_next_one_are_known_by_one_read(presented: str) -> None:
    door = Door(current={"value": "now", "next": "soon"})
    assert [door.knows(presented) for _ in range(3)] == [True] * 3
    assert door.vault.asked == ["AWSCURRENT"]


@pytest.mark.parametrize("presented", ["", "no", "now ", "NOW", "nöw", "\ud800"])
def test_any_other_value_is_not(presented: str) -> None:
    assert not Door(current={"value": "now", "next": "soon"}).knows(presented)


def test_a_new_value_is_found_though_another_was_read() -> None:
    door = Door(current={"value": "now"})
    assert door.knows("now")
    door.vault.versions["version-current"] = '{"value": "new"}'
    assert door.knows("new")
    assert not door.knows("now")


def test_strangers_cannot_keep_secrets_manager_busy() -> None:
    door = Door(current={"value": "now"})
    assert not any(door.knows(f"guess {each}") for each in range(1000))
    assert len(door.vault.asked) == 4  # the first read, and one look at all three stages
    door.now += PAUSE_SECONDS
    assert not door.knows("guess")
    assert len(door.vault.asked) == 7


def test_a_value_that_was_taken_back_is_forgotten_in_time() -> None:
    door = Door(current={"value": "now"})
    assert door.knows("now")
    door.vault.versions["version-current"] = '{"value": "new"}'
    door.now += FRESH_SECONDS
    assert not door.knows("now")


def test_what_is_known_serves_while_secrets_manager_is_away_but_not_for_ever() -> None:
    door = Door(current={"value": "now"})
    assert door.knows("now")
    door.vault.away = True
    door.now += KEPT_SECONDS - 1
    assert door.knows("now")
    door.now += 1
    with pytest.raises(Unavailable):
        door.knows("now")
    door.vault.away = False
    door.now += RETRY_SECONDS
    assert door.knows("now")


def test_not_every_request_waits_for_a_secrets_manager_that_does_not_answer() -> None:
    door = Door(current={"value": "now"})
    assert door.knows("now")
    door.vault.away = True
    door.now += FRESH_SECONDS
    assert all(door.knows("now") for _ in range(100))
    assert door.vault.refused == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"value": ""}', '{"value": 1}', "plain"])
def test_a_malformed_secret_lets_nobody_in_and_is_not_quoted(text: str, caplog: pytest.LogCaptureFixture) -> None:
    door = Door(current={"value": "now"})
    door.vault.versions["version-current"] = text
    with pytest.raises(Unavailable):
        door.knows("plain")
    assert "plain" not in caplog.text


def test_the_log_names_no_value(caplog: pytest.LogCaptureFixture) -> None:
    door = Door(current={"value": "now"})
    door.vault.away = True
    with pytest.raises(Unavailable):
        door.knows("presented")
    assert "cannot be read" in caplog.text
    assert "presented" not in caplog.text


def test_without_the_variable_there_is_no_door() -> None:
    assert origin_values({}) is None
    assert origin_values({"ORIGIN_SECRET_ARN": " "}) is None


def test_a_variable_that_is_no_secret_is_refused_at_the_start() -> None:
    with pytest.raises(SettingsError, match="ORIGIN_SECRET_ARN"):
        origin_values({"ORIGIN_SECRET_ARN": "arn:aws:s3:::bucket"})
    assert origin_values({"ORIGIN_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:x"})
