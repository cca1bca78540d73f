"""Settings of the redaction: of the function that does it, and of the functions that call it."""

from pathlib import Path

from commonplace.kernel.configuration import FLAG, Kind, Settings, arn, one_of, setting
from commonplace.kernel.settings import Deployment


class RedactionSettings(Settings):
    """Of functions that have texts redacted before they store them."""

    redact_function: str = setting(arn("lambda"), "REDACT_FUNCTION")
    """The function that takes personal data and secrets out of texts."""
    keep_public_identities: bool = setting(
        FLAG, "PII_KEEP_PUBLIC_IDENTITIES", key="piiKeepPublicIdentities", default=True
    )
    """Whether wallet addresses and ENS names stay in what is contributed: in an organisation on a chain they are
    public. With `false` they are masked like an account's number."""


class RedactSettings(Deployment):
    """Of the function itself."""

    detector: str = setting(one_of("local", "comprehend"), "PII_DETECTOR", key="piiDetector", default="local")
    """What finds names and addresses in contributions, beside the rules: `local` (a small model inside the
    function), or `comprehend` (Amazon Comprehend; English and Spanish)."""
    model_folder: Path | None = setting(Kind("the folder of the model Rampart", Path), "PII_MODEL_FOLDER", default=None)
    """The folder of the local model; a layer of the function has it, and `commonplace dev` fetches it."""
