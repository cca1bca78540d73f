"""Settings, declared once: from a declaration come environment variable, context key, check and documentation.

A room has classes of `Settings`; each field of them is a `setting`. A function reads the classes it composes with
`from_environ`. `infra` reads the same declarations for its context keys, and sets for each function what it reads.
"""

import json
import re
from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from pydantic import Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from commonplace.kernel.environment import WEB_URL, SettingsError, web_url

_ARN = re.compile(r"arn:[a-z-]+:(?P<service>[a-z-]+):[a-z0-9-]*:[0-9]*:.+")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value may be. Values arrive as text, from the environment and from the context of a deployment alike."""

    valid: str
    """Completes `It must be …`."""
    read: Callable[[str], Any]
    """The text as a value. None, or ValueError, for what is malformed."""
    listed: bool = False
    """Items with commas between them; in the context a JSON list as well, and there each item once."""
    compact: bool = False
    """JSON, written to functions' variables without needless spaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What is said of a setting beside its type."""

    kind: Kind
    variable: str | None
    key: str | None
    """In the context of a deployment; None for what no operator chooses."""
    context: Kind
    """What the context may say, where that is less than what the variable may."""
    default: Any
    """Of a deployment that says nothing: text, or what is written as text by `str`. None: there is none."""
    required: bool
    """Whether functions cannot do without the variable."""
    shown: str | None
    """The default in the documentation, where it is no value."""


def setting(
    kind: Kind,
    variable: str | None = None,
    *,
    key: str | None = None,
    default: Any = ...,
    deployed: Any = ...,
    context: Kind | None = None,
    shown: str | None = None,
    secret: bool = False,
) -> Any:
    """A field of a `Settings` class, which the docstring below it documents.

    Without `default` the variable must be set; None makes it optional. `deployed` is the default of the context key,
    where it is another one. A secret is not part of the `repr`.
    """
    assumed = default if deployed is ... else deployed
    declaration = Declaration(
        kind=kind,
        variable=variable,
        key=key,
        context=context or kind,
        default=None if assumed is ... else assumed,
        required=default is ...,
        shown=shown,
    )
    extra: dict[str, Any] = {"declaration": declaration}
    return Field(default=default, validation_alias=variable, repr=not secret, json_schema_extra=extra)


def setting_of(settings: "type[Settings]", name: str) -> Any:
    """The same once more, for a class that inherits two of the name."""
    return copy(settings.model_fields[name])


def declaration(field: FieldInfo) -> Declaration:
    extra: Any = field.json_schema_extra
    found: Declaration = extra["declaration"]
    return found


class Settings(BaseSettings):
    """The settings of one part of a function. Made directly it takes values as they are, and reads no environment."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_default=True,
        case_sensitive=True,
        enable_decoding=False,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Blank variables count as not set. Raises SettingsError, which names the variable and what it may be."""
        source = EnvSettingsSource(cls)
        source.env_vars = {name: text for name, value in environ.items() if (text := value.strip())}
        found = {name: source.get_field_value(field, name)[0] for name, field in cls.model_fields.items()}
        given = {name: text for name, text in found.items() if text is not None}
        try:
            return cls.model_validate(cls.completed(given))
        except ValidationError as error:
            raise _complaint(cls, error) from None  # the cause would quote what was given, secrets included

    @classmethod
    def completed(cls, given: dict[str, str]) -> dict[str, str]:
        """What the environment says, by field, with what follows from it. May raise SettingsError."""
        return given

    @field_validator("*", mode="before")
    @classmethod
    def _read(cls, value: Any, info: Any) -> Any:
        field = cls.model_fields.get(info.field_name)
        return read(declaration(field).kind, value) if field and isinstance(value, str) else value

    def __hash__(self) -> int:
        """Connections are remembered by settings, some of which hold mappings."""
        return hash((type(self), *(value for value in self.__dict__.values() if isinstance(value, Hashable))))


def read(kind: Kind, text: str) -> Any:
    """Raises ValueError for what is malformed."""
    value = kind.read(text)
    if value is None:
        raise ValueError(f"it must be {kind.valid}")
    return value


def missing(settings: type[Settings], name: str) -> SettingsError:
    """Of a field that has to be given."""
    declared = declaration(settings.model_fields[name])
    return SettingsError(f"{declared.variable} is not set. It must be {declared.kind.valid}.")


def _complaint(settings: type[Settings], error: ValidationError) -> SettingsError:
    first = error.errors(include_url=False, include_input=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, SettingsError):
        return cause
    where = first["loc"][0]
    name = next(name for name, field in settings.model_fields.items() if where in (name, field.validation_alias))
    if first["type"] == "missing":
        return missing(settings, name)
    declared = declaration(settings.model_fields[name])
    return SettingsError(f"{declared.variable} is malformed. It must be {declared.kind.valid}.")


def text(valid: str) -> Kind:
    return Kind(valid, str)


def matching(pattern: str, valid: str) -> Kind:
    return Kind(valid, lambda given: given if re.fullmatch(pattern, given) else None)


def one_of(*values: str) -> Kind:
    return Kind(f"one of: {', '.join(values)}", lambda given: given if given in values else None)


def whole(low: int, high: int, note: str = "") -> Kind:
    def number(given: str) -> int | None:
        return int(given) if re.fullmatch(r"[0-9]{1,15}", given) and low <= int(given) <= high else None

    return Kind(f"a whole number from {low} to {high}{note}", number)


def listed(item: Kind, valid: str, every: str | None = None) -> Kind:
    """Items with commas between them, each once and in order. `every` stands alone for all there are."""

    def items(given: str) -> tuple[str, ...] | None:
        if given == every:
            return (given,)
        found = [item.read(each.strip()) for each in given.split(",")]
        return None if None in found else tuple(dict.fromkeys(found))

    return Kind(valid, items, listed=True)


def json_object(valid: str) -> Kind:
    """Kept as it is written."""
    return Kind(valid, lambda given: given if isinstance(json.loads(given), dict) else None)


def arn(service: str) -> Kind:
    def of_service(given: str) -> str | None:
        match = _ARN.fullmatch(given)
        return given if match and match["service"] == service else None

    return Kind(f"an ARN of {service}, arn:aws:{service}:REGION:ACCOUNT:...", of_service)


def at_most(size: int, kind: Kind) -> Kind:
    """Whose text has so many bytes at most."""

    def fitting(given: str) -> Any:
        if (found := len(given.encode())) > size:
            raise ValueError(f"it has {found} bytes; a function can be told {size}")
        return kind.read(given)

    return replace(kind, read=fitting)


COUNT = whole(0, 1_000_000, ", 0 for no limit")
FLAG = Kind("true or false", {"true": True, "false": False}.get)
URL = Kind(WEB_URL, web_url)
"""An origin, with or without a path: https, or http to this very machine; no trailing slash."""
SECRET_ARN = arn("secretsmanager")
