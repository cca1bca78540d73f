"""The function that takes personal data and secrets out of texts, and what may call it."""

from collections.abc import Iterable

from constructs import Construct

from infra.functions import Platform, PythonFunction, accept
from infra.providers import MODELS
from infra.wheel_models import RAMPART

SOURCE = "functions/redact"
LOCAL = "local"


class Redaction(PythonFunction):
    """Reads neither tables nor buckets: what it is given it forgets."""

    def __init__(self, scope: Construct, construct_id: str, platform: Platform) -> None:
        configuration = platform.configuration
        local = configuration.pii_detector == LOCAL
        platform.wire(PII_MODEL_FOLDER=f"{MODELS}/{RAMPART.name}" if local else None)
        super().__init__(
            scope,
            construct_id,
            platform,
            name="redact",
            description="Takes personal data and secrets out of texts before they are stored",
            source=SOURCE,
            memory_mb=1769 if local else 512,  # one whole processor, which the model keeps busy
            timeout_seconds=15,
            error_threshold=1,
            snap_start=configuration.snap_start,
            carries=[RAMPART] if local else [],
        )
        if not local:
            self.allow(["comprehend:DetectPiiEntities"], ["*"])
            accept(self.role, "Comprehend looks for personal data in no particular resource.", "IAM5[Resource::*]")
        platform.wire(REDACT_FUNCTION=self.live.function_arn)

    def admit(self, functions: Iterable[PythonFunction]) -> None:
        """Lets them have texts redacted."""
        for function in functions:
            function.allow(["lambda:InvokeFunction"], [self.live.function_arn])
