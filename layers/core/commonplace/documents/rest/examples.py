"""Example answers about one made-up document, for the OpenAPI document: `examples.json`, and errors."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from commonplace import __version__
from commonplace.web.rest import documentation
from commonplace.web.rest.documentation import ErrorExample, error_body

EXAMPLES: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
for _health in (EXAMPLES["health"], EXAMPLES["unhealthy"]):
    _health["version"] = __version__
PATH = EXAMPLES["document"]["path"]
_NAME = "pattern/rotating-stewardship"
ERRORS: dict[int, ErrorExample] = {
    400: (
        "The cursor is of another search.",
        error_body("BAD_REQUEST", "This cursor does not belong to this search.", field="cursor", hint="Leave it out."),
    ),
    401: (
        "A credential is needed, and no valid one came: an access token, or for explanations the operators' key.",
        error_body("UNAUTHORIZED", "Explanations are for operators.", hint="Send `Authorization: Bearer KEY`."),
    ),
    403: (
        "Nobody may do this here.",
        error_body("FORBIDDEN", "Explanations are disabled here.", hint="Operators make a key."),
    ),
    404: (
        "Nothing published answers to this name.",
        error_body("NOT_FOUND", "There is no such document.", nearest=[_NAME], hint=f"Did you mean {_NAME}?"),
    ),
}
"""Errors that say something else here than elsewhere."""

answers = partial(documentation.answers, refusals=ERRORS)
