"""The base of models that are stored as JSON."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Stored(BaseModel):
    """Base of everything kept as JSON: camelCase outside, snake_case inside."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore", defer_build=True
    )

    def to_json(self) -> bytes:
        """UTF-8 JSON with camelCase names, in declaration order, so that equal values are equal bytes."""
        return self.model_dump_json(by_alias=True).encode()
