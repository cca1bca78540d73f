"""The two security roles of a stage inside an OpenSearch domain, made through its own security API.

Standard library and botocore alone: the bootstrap function carries no client of OpenSearch.
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

logger = logging.getLogger(__name__)

READER = {
    "cluster_permissions": ["cluster_composite_ops_ro"],
    "actions": ["read", "indices:admin/aliases/get", "indices:admin/mappings/get", "indices:monitor/stats"],
}
"""Searches, and what an index is: its aliases, the facts in its mapping, and whether it was written."""

WRITER = {
    "cluster_permissions": ["cluster_composite_ops", "indices:data/read/scroll/clear"],
    "actions": ["crud", "manage"],
}
"""Everything that can be done to an index, and nothing that can be done to the cluster. A deletion by query scrolls and
tidies up after itself, which is in no group of the security plugin."""

REVISION = hashlib.sha256(json.dumps([READER, WRITER]).encode()).hexdigest()[:12]
"""Of what the roles may do. CloudFormation asks again only when a property has changed, so this is one."""

DELAYS = (1, 2, 4, 8, 15, 15, 15, 30, 30, 30)
"""Seconds between tries: a new domain, and a new right to ask it, take a while until every node knows them."""

AGAIN = (401, 403, 429, 500, 502, 503, 504)

ATTEMPT_SECONDS = 10

Sleep = Callable[[float], None]


class RolesRefused(Exception):
    """The domain did not take a role. The text names the request and its status, and nothing of the answer."""


class DomainRoles:
    """Makes and removes `{names}-reader` and `{names}-writer`, which reach indexes named `{names}-*` and no other.

    Every request states the whole role, so doing it again changes nothing. The calls end before `deadline` on `clock`.
    """

    def __init__(
        self,
        endpoint: str,
        names: str,
        credentials: Credentials,
        region: str,
        *,
        deadline: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = time.sleep,
    ) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._names = names
        self._signer = SigV4Auth(credentials, "es", region)
        self._deadline = deadline
        self._clock = clock
        self._sleep = sleep
        self._opener = build_opener(_NoRedirects)

    def grant(self, readers: Sequence[str], writers: Sequence[str]) -> None:
        """Makes both roles and gives them to these IAM roles (ARNs) alone. Raises RolesRefused."""
        for kind, role, members in (("reader", READER, readers), ("writer", WRITER, writers)):
            name = f"{self._names}-{kind}"
            permissions = {"index_patterns": [f"{self._names}-*"], "allowed_actions": list(role["actions"])}
            self._ask(
                "PUT",
                f"roles/{name}",
                {"cluster_permissions": list(role["cluster_permissions"]), "index_permissions": [permissions]},
            )
            self._ask("PUT", f"rolesmapping/{name}", {"backend_roles": list(members), "hosts": [], "users": []})

    def revoke(self) -> None:
        """Removes both; what is not there is as good as removed. Raises RolesRefused."""
        for kind in ("reader", "writer"):
            self._ask("DELETE", f"rolesmapping/{self._names}-{kind}")
            self._ask("DELETE", f"roles/{self._names}-{kind}")

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> None:
        outcome = ""
        for delay in (*DELAYS, None):
            outcome, final = self._attempt(method, path, body)
            if not outcome:
                return
            if final or delay is None or self._clock() + delay >= self._deadline:
                break
            logger.info("the domain is asked again", extra={"path": path, "outcome": outcome, "after_seconds": delay})
            self._sleep(delay)
        raise RolesRefused(f"{method} {path}: {outcome}")

    def _attempt(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[str, bool]:
        """Return what went wrong, in a word, and whether trying again is useless. No word means success."""
        url = f"{self._endpoint}/_plugins/_security/api/{path}"
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json"} if data else {}
        unsigned = AWSRequest(method=method, url=url, data=data, headers=headers)
        self._signer.add_auth(unsigned)
        request = Request(url, data=data, headers=dict(unsigned.headers), method=method)  # noqa: S310 - ours, see handler
        seconds = max(1.0, min(ATTEMPT_SECONDS, self._deadline - self._clock()))
        try:
            with self._opener.open(request, timeout=seconds):
                return "", True
        except HTTPError as error:
            with error:
                gone = method == "DELETE" and error.code == 404
                return ("" if gone else f"status {error.code}"), error.code not in AGAIN
        except (OSError, HTTPException) as error:
            return type(error).__name__, False


class _NoRedirects(HTTPRedirectHandler):
    """A signature is for one host; it is not carried on to another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
