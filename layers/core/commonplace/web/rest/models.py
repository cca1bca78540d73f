"""The shapes of answers, for the OpenAPI document and those who generate clients from it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class ErrorBody(Shape):
    code: str = Field(description="Stable: program against it.")
    message: str = Field(description="A sentence for people.")
    details: dict[str, Any] = Field(description="What helps to mend it: `hint`, `fields`, `nearest` ...")


class Error(Shape):
    """Every error of every address."""

    error: ErrorBody
