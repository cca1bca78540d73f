"""Settings of the redaction: of the function that does it, and of the functions that call it."""

from pathlib import Path

from commonplace.kernel.configuration import FLAG, Kind, Settings, arn, one_of, setting
from commonplace.kernel.settings import Deployment


class RedactionSettings(Settings):
    """Of functions that have texts redacted before they store them."""

    redact_function: str = setting(arn("lambda"), "REDACT_FUNCTION")
    """The function that redacts texts."""
    keep_public_identities: bool = setting(
        FLAG, "PII_KEEP_PUBLIC_IDENTITIES", key="piiKeepPublicIdentities", default=True
    )
    """Whether contributions keep wallet addresses and ENS names; `false` masks them."""


class RedactSettings(Deployment):
    """Of the function itself."""

    detector: str = setting(one_of("local", "comprehend"), "PII_DETECTOR", key="piiDetector", default="local")
    """Detector of names and addresses, beside rules: `local` (a model in the function) or `comprehend` (Amazon
    Comprehend; English and Spanish)."""
    model_folder: Path | None = setting(Kind("the folder of the model Rampart", Path), "PII_MODEL_FOLDER", default=None)
    """The folder of the local model."""
