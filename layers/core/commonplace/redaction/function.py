"""The function `redact`: what is asked of it, what it answers, and how little it says of what goes wrong.

An error of the caller is an answer, so that it arrives as it is. Everything else is an error of the function, which an
alarm counts. No error quotes what was given.
"""

import traceback
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

from commonplace.kernel.configuration import missing
from commonplace.kernel.errors import CommonplaceError, InvalidInput, Unavailable
from commonplace.kernel.terms import compatible_length
from commonplace.redaction.model import Policy
from commonplace.redaction.ports import Detector, Redactor, Survived
from commonplace.redaction.settings import RedactSettings

MAX_FIELDS, MAX_TEXT_BYTES = 64, 64_000
MAX_PATTERNS, MAX_ALLOWED = 100, 1_000

ORDINARY = """The cache was cold after each deploy, so the first request took 30 seconds and clients gave up. We warm it
now with a job that runs once the new version answers. Set `warm_on_start = true`; version 2.4.1 or later is needed."""
MAX_ORDINARY_SHARE = 0.1
"""The part of the words of this text, which holds nothing to mask, that a pattern may mask at most."""

Model = TypeVar("Model", bound=BaseModel)

SURVIVED = "SURVIVED"  # The code of `Survived`, which callers see as InvalidInput

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Allowed = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class _Asked(BaseModel):
    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, hide_input_in_errors=True
    )


class AskedPolicy(_Asked):
    """A `Policy` as it is sent."""

    keep_public_identities: bool = True
    patterns: Annotated[tuple[Pattern, ...], Field(max_length=MAX_PATTERNS)] = ()
    allowed: Annotated[tuple[Allowed, ...], Field(max_length=MAX_ALLOWED)] = ()


class FieldsAsked(_Asked):
    fields: Annotated[
        dict[Annotated[str, StringConstraints(max_length=64)], str], Field(min_length=1, max_length=MAX_FIELDS)
    ]
    policy: AskedPolicy = AskedPolicy()


class PatternsAsked(_Asked):
    patterns: Annotated[list[Pattern], Field(max_length=MAX_PATTERNS)]


class RedactFunction:
    """Answers `{"fields": {...}, "policy": {...}}` with what is left, `{"patterns": [...]}` with what is none."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def __call__(self, event: Mapping[str, Any], _context: object) -> dict[str, Any]:
        try:
            if "patterns" in event:
                found = {}
                for pattern in _parsed(PatternsAsked, event).patterns:
                    try:
                        text = self._redactor.redact({"text": ORDINARY}, Policy(patterns=(pattern,)))
                        if (share := text.shares["text"]) > MAX_ORDINARY_SHARE:
                            found[pattern] = f"it would mask {share:.0%} of an ordinary text"
                    except InvalidInput as error:
                        found[pattern] = error.message
                return {"invalid": found}
            asked = _parsed(FieldsAsked, event)
            size = sum(len(text.encode("utf-8", "replace")) for text in asked.fields.values())
            if size <= MAX_TEXT_BYTES:
                size = max(size, sum(map(compatible_length, asked.fields.values())))
            if size > MAX_TEXT_BYTES:
                raise InvalidInput(
                    f"The texts have {size} bytes together; {MAX_TEXT_BYTES} can be redacted at a time.",
                    hint="Send less text, or send it in parts.",
                )
            return asdict(self._redactor.redact(asked.fields, Policy(**dict(asked.policy))))
        except Unavailable as error:
            raise Unavailable(error.message) from None
        except CommonplaceError as error:
            code = SURVIVED if isinstance(error, Survived) else error.code
            return {"error": {"code": code, "message": error.message, "hint": error.hint}}
        except Exception as error:  # noqa: BLE001 - its words may hold what was given: type and place are told
            place = traceback.extract_tb(error.__traceback__)[-1]
            told = f"{type(error).__name__} in {place.name}, line {place.lineno} of {place.filename}"
        raise Unavailable(f"The redaction failed: {told}.")


def _parsed(model: type[Model], event: Mapping[str, Any]) -> Model:
    try:
        return model.model_validate(dict(event))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # Names of fields are the caller's own words, too.
        where = ".".join(str(part) for part in first["loc"][:1])
        raise InvalidInput(
            f"{where}: {first['msg']}.",
            hint=f"fields: 1 to {MAX_FIELDS} texts; patterns: at most {MAX_PATTERNS}; allowed: at most {MAX_ALLOWED}.",
        ) from None


def detector(settings: RedactSettings) -> Detector:
    """Return the detector that a deployment has chosen.

    Raises SettingsError where the local model is chosen and its folder is not there, or cannot work.
    """
    if settings.detector == "comprehend":
        from commonplace.kernel import aws
        from commonplace.redaction.comprehend import Comprehend

        return Comprehend(aws.comprehend())
    if settings.model_folder is None:
        raise missing(RedactSettings, "model_folder")
    from commonplace.redaction.rampart import Rampart

    return Rampart(settings.model_folder)
