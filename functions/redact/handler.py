"""The function that takes personal data and secrets out of texts. It stores nothing, and logs none of them.

The model is opened while this is imported: without it there is no function, and whoever calls it stores nothing.
"""

import gc

gc.disable()  # while this imports; `instrument` enables it again

import os

from commonplace.kernel.telemetry import instrument
from commonplace.redaction.function import RedactFunction, detector
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.settings import RedactSettings

SETTINGS = RedactSettings.from_environ(os.environ)
handler = instrument(RedactFunction(Pipeline(detector(SETTINGS))), os.environ)
