"""The function that takes personal data and secrets out of texts."""

from constructs import Construct

from commonplace_local.wheel_models import RAMPART
from infra.functions import Platform, PythonFunction, accept
from infra.providers import MODELS

LOCAL = "local"


def redaction_function(scope: Construct, platform: Platform) -> PythonFunction:
    """It reads neither tables nor buckets: what it is given it forgets."""
    configuration = platform.configuration
    local = configuration.pii_detector == LOCAL
    platform.wire(PII_MODEL_FOLDER=f"{MODELS}/{RAMPART.name}" if local else None)
    function = PythonFunction(
        scope,
        "Redaction",
        platform,
        name="redact",
        description="Takes personal data and secrets out of texts before they are stored",
        memory_mb=1769 if local else 512,  # one whole processor, which the model keeps busy
        timeout_seconds=15,
        error_threshold=1,
        snap_start=configuration.snap_start,
        carries=[RAMPART] if local else [],
    )
    if not local:
        function.allow(["comprehend:DetectPiiEntities"], ["*"])
        accept(function.role, "Comprehend looks for personal data in no particular resource.", "IAM5[Resource::*]")
    platform.wire(REDACT_FUNCTION=function.live.function_arn)
    return function
