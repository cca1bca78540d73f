"""The detector that a deployment has chosen."""

from commonplace.kernel.configuration import missing
from commonplace.redaction.ports import Detector
from commonplace.redaction.settings import RedactSettings


def detector(settings: RedactSettings) -> Detector:
    """Raises SettingsError where the local model is chosen and its folder is not there, or cannot work."""
    if settings.detector == "comprehend":
        from commonplace.kernel import aws
        from commonplace.redaction.comprehend import Comprehend

        return Comprehend(aws.comprehend())
    if settings.model_folder is None:
        raise missing(RedactSettings, "model_folder")
    from commonplace.redaction.rampart import Rampart

    return Rampart(settings.model_folder)
