"""The custom resource on Lambda that makes the functions' roles inside the OpenSearch domain, for CloudFormation."""

import os
from collections.abc import Mapping
from typing import Any

from commonplace.kernel.telemetry import instrument
from commonplace.search.opensearch.bootstrap import bootstrap

SPARE_SECONDS = 40
"""Of the function's time, for the answer."""


def _answer(event: Mapping[str, Any], context: Any) -> None:
    bootstrap(event, context.get_remaining_time_in_millis() / 1000 - SPARE_SECONDS)


handler = instrument(_answer, os.environ)
