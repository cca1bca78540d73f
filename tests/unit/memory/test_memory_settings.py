"""What the memory is told by its environment."""

import pytest

from commonplace.kernel.environment import SettingsError
from commonplace.memory.settings import MemorySettings, MemoryToolSettings

ENVIRONMENT = {"RECORDS_TABLE": "records", "CACHE_TABLE": "cache", "ACTIVITY_TABLE": "activity"}


def test_without_a_table_nothing_is_remembered() -> None:
    assert MemorySettings.where_remembered({}) is None
    assert MemorySettings.where_remembered(ENVIRONMENT | {"RECORDS_TABLE": " "}) is None


def test_what_nobody_says_is_as_the_seed_has_it() -> None:
    told = MemoryToolSettings.where_remembered(ENVIRONMENT)

    assert told is not None
    assert (told.records_table, told.cache_table, told.activity_table) == ("records", "cache", "activity")
    assert (told.organisation, told.default_limit, told.min_confidence, told.batch) == ("default", 10, 0.5, 100)


def test_the_settings_of_the_seed_are_honoured() -> None:
    told = MemoryToolSettings.where_remembered(
        ENVIRONMENT
        | {
            "ORGANISATION": "acme",
            "KB_DEFAULT_SEARCH_LIMIT": "25",
            "KB_MIN_CONFIDENCE": "0.75",
            "KB_BATCH_SIZE": "50",
        }
    )

    assert told is not None
    assert (told.organisation, told.default_limit, told.min_confidence, told.batch) == ("acme", 25, 0.75, 50)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ORGANISATION", "Acme"),
        ("KB_DEFAULT_SEARCH_LIMIT", "51"),
        ("KB_DEFAULT_SEARCH_LIMIT", "0"),
        ("KB_MIN_CONFIDENCE", "1.1"),
        ("KB_MIN_CONFIDENCE", "half"),
        ("KB_BATCH_SIZE", "101"),
        ("KB_FUSION", "rrf:a,b"),
    ],
)
def test_a_malformed_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        MemoryToolSettings.where_remembered(ENVIRONMENT | {name: value})


@pytest.mark.parametrize("name", ["CACHE_TABLE", "ACTIVITY_TABLE"])
def test_a_table_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is not set."):
        MemoryToolSettings.where_remembered(ENVIRONMENT | {name: ""})
