"""The custom resource that creates the roles inside the OpenSearch domain."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.kernel import aws
from commonplace.kernel.custom_resource import ResourceRequest, answer
from commonplace.kernel.environment import WEB_URL, web_url
from commonplace.search.opensearch.roles import DomainRoles, RolesRefused

logger = logging.getLogger(__name__)

NAMES = re.compile(r"commonplace-[a-z][a-z0-9-]{0,15}")
ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/.{1,512}")


def bootstrap(
    event: Mapping[str, Any],
    seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Answers a request of CloudFormation, whatever happens, trying for so many seconds.

    Only an answer that cannot be put is an error.
    """
    request = ResourceRequest.parse(event)
    deadline = clock() + seconds
    failure: str | None = None
    try:
        endpoint, names = web_url(str(request.properties.get("Endpoint", ""))), str(request.properties.get("Names", ""))
        if endpoint is None or not NAMES.fullmatch(names):
            raise ValueError(f"Endpoint must be {WEB_URL}, and Names commonplace-STAGE")
        credentials, region = aws.credentials(), aws.region()
        if credentials is None or region is None:
            raise ValueError("the function has no credentials or no region")
        roles = DomainRoles(endpoint, names, credentials, region, deadline=deadline, clock=clock, sleep=sleep)
        if request.kind == "Delete":
            roles.revoke()
        else:
            roles.grant(_members(request, "Readers"), _members(request, "Writers"))
    except (RolesRefused, ValueError) as error:
        failure = str(error)
    except Exception as error:
        # An unanswered request would hold the stack until its time limit.
        logger.exception("the roles could not be made")
        failure = type(error).__name__
    if failure and request.kind == "Delete":
        # What the roles were for is going; a domain that does not answer any more must not keep the stack.
        logger.warning("the roles could not be removed", extra={"failure": failure})
        failure = None
    answer(request, "domain-roles", failure, sleep=sleep)


def _members(request: ResourceRequest, name: str) -> list[str]:
    given = request.properties.get(name, [])
    if isinstance(given, list) and all(isinstance(each, str) and ROLE.fullmatch(each) for each in given):
        return given
    raise ValueError(f"{name} is a list of ARNs of IAM roles")
