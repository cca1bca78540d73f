"""The base of answers: one pydantic model writes, describes and exemplifies each."""

from collections.abc import Iterable
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from commonplace.kernel.stored import Stored
from commonplace.web.representations import PAGE_BYTES, encode, fitting

A = TypeVar("A", bound="Answer")

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


class Answer(BaseModel):
    """An answer or a part of one: camelCase outside. A member with a default is left out unless it was set."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)

    @classmethod
    def of(cls, stored: Stored) -> Self:
        """Return an answer about something stored."""
        # With `from_attributes`, which reads one attribute after the other, a list takes seven times as long.
        return cls.model_validate(vars(stored))

    def to_json(self) -> bytes:
        """Return compact UTF-8 JSON. Lone surrogates, which UTF-8 cannot carry, are escaped."""
        try:
            return self.model_dump_json(by_alias=True, exclude_unset=True).encode()
        except ValueError:
            return encode(self.model_dump(mode="json", by_alias=True, exclude_unset=True))


def json_bytes(answer: Answer) -> int:
    return len(answer.to_json())


def leading(answers: Iterable[A], budget: int = PAGE_BYTES) -> list[A]:
    """Return as many of them as stay within the budget of bytes, at least one: see `representations.fitting`."""
    every = list(answers)
    # Measured together first: they nearly always fit, and one by one takes twice as long.
    together = len(_ANY.dump_json(every, by_alias=True))
    return every if together <= budget else fitting(every, json_bytes, budget)


class ErrorBody(Answer):
    code: str = Field(description="Stable: program against it.")
    message: str = Field(description="A sentence for people.")
    details: dict[str, Any] = Field(description="What helps to fix it: `hint`, `fields`, `nearest` ...")


class Error(Answer):
    """Every error of every address."""

    error: ErrorBody
