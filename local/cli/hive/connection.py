"""The connection to the hive of a running Commonplace, over REST."""

import getpass
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from commonplace.kernel.environment import is_loopback
from local.access import Grant, Place, granted
from local.errors import CommandError

SECONDS, CONNECT_SECONDS = 30.0, 5.0
ATTEMPTS = 4
LONGEST_WAIT_SECONDS = 60
"""That a command waits by itself for a server that says when to come back."""
MAX_LISTED = 100
MINT = (
    "Put a token into COMMONPLACE_TOKEN. An operator makes one: commonplace tokens mint --org ORGANISATION "
    '--agent NAME --scopes "hive:read hive:write hive:admin" --tier vibecoder --path /api'
)


class Refused(CommandError):
    """What the server answered instead, in its own words."""

    def __init__(self, status: int, error: Mapping[str, Any]) -> None:
        details = error.get("details")
        self.details: Mapping[str, Any] = details if isinstance(details, dict) else {}
        hint = MINT if status == httpx.codes.UNAUTHORIZED else str(self.details.get("hint") or "")
        super().__init__(str(error.get("message") or f"The server answers {status}."), hint)
        self.status = status
        self.code = str(error.get("code") or "")

    @property
    def wait_seconds(self) -> int | None:
        """What it asks for before the next try."""
        wait = self.details.get("retryAfterSeconds")
        return int(wait) if isinstance(wait, int | float) else None


class HiveServer:
    """`/api/v1/hive` of one deployment. Every call raises CommandError, and Refused for what the server answers."""

    def __init__(
        self,
        url: str,
        token: str | None,
    ) -> None:
        self.url = url.rstrip("/")
        self._http = httpx.Client(
            base_url=f"{self.url}/api/v1/hive",
            headers={"user-agent": "commonplace", **({"authorization": f"Bearer {token}"} if token else {})},
            timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS),
            trust_env=not is_loopback(urlsplit(url).hostname),
        )

    def close(self) -> None:
        self._http.close()

    def rest(self, method: str, path: str, *, body: Any = None, **query: Any) -> dict[str, Any]:
        """Return the answer of an operation's route."""
        return self._call(method, path.removeprefix("/hive/"), params=query, json=body)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        given = {name: value for name, value in query.items() if value not in (None, False)}
        return self._call("GET", path, params=given)

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        return self._call("POST", path, json=body)

    def put(self, path: str, **body: Any) -> dict[str, Any]:
        return self._call("PUT", path, json=body)

    def pages(self, path: str, name: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Every row of a list; the next page is read when it is needed."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, limit=MAX_LISTED, **query)
            yield from page[name]
            cursor = page.get("nextCursor")
            if not cursor:
                return

    def _call(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """Tried again where the server asks for a moment; what was done already is then a duplicate, or decided."""
        for attempt in range(ATTEMPTS):
            try:
                return self._once(method, path, **sent)
            except Refused as refused:
                wait = refused.wait_seconds
                if wait is None or wait > LONGEST_WAIT_SECONDS or attempt == ATTEMPTS - 1:
                    raise
                time.sleep(wait)
        raise AssertionError("a call ends")

    def _once(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        try:
            answer = self._http.request(method, path, **sent)
        except httpx.HTTPError as error:
            away = f"{urlsplit(self.url).netloc} does not answer ({type(error).__name__})."
            raise CommandError(away, "Is it running? Try its /health.") from None
        try:
            body = answer.json()
        except ValueError:
            body = {}
        if answer.is_success and isinstance(body, dict):
            return body
        told = body.get("error") if isinstance(body, dict) else None
        raise Refused(answer.status_code, told if isinstance(told, dict) else {})


@contextmanager
def opened(place: Place, *scopes: str) -> Iterator[HiveServer]:
    """The hive there; it says which. Where no token is given one is made, which ends with the block."""
    reviewer = "hive:admin" in scopes
    grant = Grant(agent=_agent(), scopes=scopes, path="/api", tier="vibecoder" if reviewer else "member")
    with granted(place, grant) as access:
        server = HiveServer(access.url, access.token)
        try:
            yield server
        finally:
            server.close()


def _agent() -> str:
    """Decisions are on record by this name."""
    try:
        user = re.sub(r"[^a-z0-9-]+", "-", getpass.getuser().lower()).strip("-")
    except (OSError, KeyError):
        user = ""
    return f"cli-{user}"[:40].rstrip("-")
