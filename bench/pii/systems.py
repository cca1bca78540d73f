"""The redactions that are measured: rules alone, the model alone, and both as they are built."""

from collections.abc import Mapping, Sequence

from bench.pii.score import Masked, System, masked_in
from commonplace.redaction.model import Policy
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.ports import Detector, Redactor, Survived

RULES, MODEL, BOTH = "rules", "model", "both"


def systems(detector: Detector) -> Mapping[str, System]:
    """By name. The model alone is what it says of the text as it was written, code and all."""

    def model(text: str) -> Sequence[Masked]:
        return [Masked(span.start, span.end, span.kind) for span in detector.detect([text])[0]]

    return {RULES: whole(Pipeline()), MODEL: model, BOTH: whole(Pipeline(detector))}


def whole(redactor: Redactor) -> System:
    """What is missing of a text after its redaction. A text that is refused is not stored: all of it is gone."""

    def system(text: str) -> Sequence[Masked]:
        try:
            redacted = redactor.redact({"content": text}, Policy())
        except Survived:
            return [Masked(0, len(text), "REDACTED")]
        return masked_in(text, redacted.fields["content"])

    return system
