"""The ports of the redaction."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from commonplace.kernel.errors import InvalidInput
from commonplace.redaction.model import Policy, Redacted, Span


class Survived(InvalidInput):
    """Something that was found stands in the result all the same: in another field, or in pieces. Nothing of it is
    named."""


class Redactor(Protocol):
    """Takes personal data and secrets out of texts. What it is given is stored and logged nowhere."""

    def redact(self, fields: Mapping[str, str], policy: Policy) -> Redacted:
        """The fields by the same names. What is found in one is taken out of all of them, and they are judged joined.

        Raises Survived where that cannot be done, InvalidInput for a pattern that is none or texts that are too long,
        and Unavailable when a detector does not answer: then nothing may be stored.
        """


class Detector(Protocol):
    """Finds personal data in prose: the local model, or a cloud's."""

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the spans of each text, in any order. Raises Unavailable."""
