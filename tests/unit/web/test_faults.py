"""Faults of inputs in words that say what would be valid, and never a value."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from commonplace.web.faults import MAX_CHARACTERS, words


class Sample(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("reef", min_length=1, max_length=3)
    id: str = Field("a", pattern="^[a-z]$")
    limit: int = Field(5, ge=1, le=100)
    share: float = Field(0.5, gt=0, lt=1, allow_inf_nan=False)
    kind: Literal["all", "own"] = "all"
    tags: list[str] = Field(default=[], min_length=0, max_length=1)
    day: date | None = None
    whole: bool = True
    parts: dict[str, int] = Field(default={})

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        if value == "x":
            raise ValueError("Take another name.")
        return value


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": ""}, "must have at least 1 character"),
        ({"name": "secret"}, "must have at most 3 characters"),
        ({"name": 7}, "must be a text"),
        ({"name": "x"}, "Take another name"),
        ({"id": "secret"}, "must match ^[a-z]$"),
        ({"limit": 0}, "must be at least 1"),
        ({"limit": 101}, "must be at most 100"),
        ({"limit": "secret"}, "must be a whole number"),
        ({"limit": 1.5}, "must be a whole number"),
        ({"share": 0}, "must be more than 0"),
        ({"share": 1}, "must be less than 1"),
        ({"share": "secret"}, "must be a number"),
        ({"kind": "secret"}, "must be 'all' or 'own'"),
        ({"tags": "secret"}, "must be a list"),
        ({"tags": ["a", "b"]}, "must have at most 1 entry"),
        ({"day": "secret"}, "must be a date, such as 2026-03-06"),
        ({"whole": "secret"}, "must be true or false"),
        ({"parts": "secret"}, "must be an object"),
        ({"more": "secret"}, "is not known here"),
    ],
)
def test_a_fault_says_what_would_be_valid_and_no_value(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Sample.model_validate(given)
    assert [words(one) for one in refused.value.errors()] == [says]
    assert "secret" not in says


def test_what_is_missing_is_missing_and_long_words_are_cut() -> None:
    with pytest.raises(ValidationError) as missing:
        TypeAdapter(Annotated[BaseModel, Field()]).validate_python(7)
    assert [words(one) for one in missing.value.errors()] == ["must be an object"]
    assert words({"type": "missing", "msg": "Field required"}) == "is missing"
    assert len(words({"type": "value_error", "msg": "x" * 1_000})) == MAX_CHARACTERS
    assert words({"type": "something_new", "msg": "Something else."}) == "Something else"
