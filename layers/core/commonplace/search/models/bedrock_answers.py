"""What Bedrock's refusals mean: try again, or do without. No text of the service stands in what is raised or logged."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NoConnection
from botocore.parsers import ResponseParserError

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient

logger = logging.getLogger(__name__)

PASSING = {
    "ThrottlingException",
    "TooManyRequestsException",
    "ServiceUnavailableException",
    "InternalServerException",
    "ModelTimeoutException",
    "ModelNotReadyException",
    "ModelErrorException",
    "DependencyFailedException",
    "BadGatewayException",
}
"""Codes of `bedrock-runtime` and `bedrock-agent-runtime` that a later call may not meet."""

PASSING_STATUS = {408, 424, 429}

HINTS = {
    "AccessDeniedException": "Allow the function bedrock:InvokeModel (and bedrock:Rerank) for this model; the"
    " account may have to enable it in the Bedrock console of this region.",
    "ResourceNotFoundException": "The model is not offered in this region: set BEDROCK_REGION to one that has it.",
    "ValidationException": "Bedrock does not take this request: the model may not be offered in this region.",
}


@contextmanager
def translated(model: str) -> Iterator[None]:
    """Raises Transient for what may pass and Unavailable for what will not, in place of botocore's errors."""
    try:
        yield
    except ClientError as error:
        raise _refused(model, error) from error
    except (NoConnection, HTTPClientError, IncompleteReadError) as error:
        raise Transient(f"The model {model} is out of reach.") from error
    except (ResponseParserError, TypeError, ValueError, AttributeError) as error:
        # botocore's parser trusts the service: an answer of another shape ends in whatever its code runs into.
        raise unreadable(model) from error
    except BotoCoreError as error:
        logger.error("a model cannot be called", extra={"model": model, "error": type(error).__name__})
        raise Unavailable(f"The model {model} cannot be called.") from error


def unreadable(model: str) -> Transient:
    return Transient(f"The model {model} gave an answer that cannot be read.")


def code_of(error: BaseException | None) -> str:
    """Bedrock's name for a refusal; empty when it is none."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _refused(model: str, error: ClientError) -> Unavailable:
    code = code_of(error)
    metadata = error.response.get("ResponseMetadata", {})
    status = metadata.get("HTTPStatusCode", 0)
    if code in PASSING or status in PASSING_STATUS or status >= 500:
        return Transient(f"The model {model} does not answer now ({code or status}).")
    logger.error("a model refuses", extra={"model": model, "code": code, "requestId": metadata.get("RequestId")})
    return Unavailable(f"The model {model} refuses ({code or status}).", hint=HINTS.get(code))
