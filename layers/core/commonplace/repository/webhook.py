"""The webhook: verification and parsing of GitHub's deliveries, and hints that start or prolong runs of their sources.

A hint only says that a branch may have moved: the payload's file lists are never read.
"""

import base64
import binascii
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never

from commonplace.kernel.errors import BadRequest, CommonplaceError, Forbidden, TooLarge, Unavailable
from commonplace.repository.ports import RunState, SyncState, Workflow

logger = logging.getLogger(__name__)

STARTING = timedelta(seconds=60)
"""So long a claim without an execution counts as a run that is just being started."""
CLAIM_ATTEMPTS = 3
"""The claim may change hands between looking and taking; each round then looks again."""

COMMIT_DIGITS = 12
"""Of the commit in the name of a catalogue's run: Step Functions takes 80 characters."""

MAX_BODY_BYTES = 25 * 1024 * 1024
"""GitHub delivers no payload above it."""

_SHA = re.compile(r"[0-9a-f]{40}")
_NO_COMMIT = "0" * 40
_DELIVERY = re.compile(r"[A-Za-z0-9-]{1,100}")

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hint:
    reason: str
    """`push`, `schedule` or `operator`."""
    commit_sha: str | None = None
    """Names the run; what is synced is whatever the branch's head is by then."""
    delivery: str | None = None
    full: bool = False
    """Read everything anew, whatever is known."""


@dataclass(frozen=True, slots=True)
class Started:
    run: str


@dataclass(frozen=True, slots=True)
class Queued:
    """The running run goes round once more before it ends."""

    run: str


@dataclass(frozen=True, slots=True)
class Duplicate:
    reason: str


class Poker:
    """Pokes one source over its run state and the workflow engine: the knowledge base, or the catalogue `source`."""

    def __init__(
        self,
        state: SyncState,
        workflow: Workflow,
        source: str = "",
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._state = state
        self._workflow = workflow
        self._source = source
        self._now = now

    def poke(self, hint: Hint) -> Started | Queued | Duplicate:
        """Raises Unavailable when no run could be started; the hint stays open, so a redelivery does the work."""
        if duplicate := self._duplicate(hint):
            return duplicate
        self._state.poke(hint.delivery)
        for _ in range(CLAIM_ATTEMPTS):
            run = self._name(hint)
            if self._state.claim(run):
                return self._start(run, hint)
            holder = self._state.read()
            if holder.running is None:
                continue
            if self._is_alive(holder):
                return self._queued(holder.running, hint)
            if self._state.claim(run, replacing=holder.running):
                logger.warning("took over from a run that ended without a word", extra={"run": holder.running})
                return self._start(run, hint)
        raise Unavailable("Runs change too fast to join one. The push is queued.")

    def _name(self, hint: Hint) -> str:
        """Of an execution: no two are ever called alike, of whatever source."""
        attempt = self._state.next_attempt()
        if not self._source:
            return f"{hint.commit_sha or 'reconcile'}-{attempt}"
        return f"{self._source}-{(hint.commit_sha or 'reconcile')[:COMMIT_DIGITS]}-{attempt}"

    def _duplicate(self, hint: Hint) -> Duplicate | None:
        number = self._state.delivery(hint.delivery) if hint.delivery else None
        if number is None:
            return None
        state = self._state.read()
        if number <= state.done:
            return Duplicate("the run for this delivery is done")
        if self._is_alive(state):
            return Duplicate("the run for this delivery has not ended yet")
        return None

    def _is_alive(self, state: RunState) -> bool:
        """Whether a run holds the claim and will look at the hints before it ends."""
        if state.running is None:
            return False
        since = state.running_since
        starting = since is not None and self._now() - since < STARTING
        return starting or self._workflow.is_running(state.running)

    def _start(self, run: str, hint: Hint) -> Started:
        try:
            given = {"source": self._source, "run": run, "reason": hint.reason, "full": hint.full}
            self._workflow.start(run, given)
        except Exception as error:
            self._state.release(run)
            logger.error("the run could not be started", extra={"run": run, "error": type(error).__name__})
            raise Unavailable("The run could not be started. The push is queued; send it again.") from error
        return Started(run)

    def _queued(self, run: str, hint: Hint) -> Queued:
        if hint.full:
            raise Unavailable(
                "A run is under way, and a full one cannot join it.",
                hint="Ask again when it has ended.",
                retry_after_seconds=60,
            )
        return Queued(run)


Outcome = Started | Queued | Duplicate


@dataclass(frozen=True, slots=True)
class Followed:
    name: str
    """Of the catalogue; empty for the knowledge base."""
    repository: str
    """`owner/name`."""
    branch: str
    poke: Callable[[Hint], Outcome]


def poke_each(followed: Sequence[Followed], hint: Hint) -> dict[str, Outcome]:
    """By name. One that cannot be poked keeps no other from it; its error is raised when all have had their turn."""
    outcomes: dict[str, Outcome] = {}
    failed: Exception | None = None
    for one in followed:
        try:
            outcomes[one.name] = one.poke(hint)
        except Exception as error:  # noqa: BLE001  whatever it is, the others have their turn first
            failed = failed or error
    if failed is not None:
        raise failed
    return outcomes


@dataclass(frozen=True, slots=True)
class Delivery:
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Ping:
    pass


@dataclass(frozen=True, slots=True)
class Push:
    commit_sha: str
    delivery: str | None
    concerned: tuple[Followed, ...]
    """Those that follow the branch."""


@dataclass(frozen=True, slots=True)
class Ignored:
    reason: str


class Receiver:
    """Answers deliveries (HTTP API events, payload 1.0 and 2.0), schedules and operators."""

    def __init__(self, followed: Sequence[Followed], webhook_secret: Callable[[], str]) -> None:
        """The first is the knowledge base."""
        self._followed = tuple(followed)
        self._secret = webhook_secret

    def receive(self, event: Mapping[str, Any]) -> Answer:
        """A response in API Gateway's shape; a refusal is the error envelope."""
        try:
            delivery = read_delivery(event)
            verify(delivery, self._secret())
            status, body = self._act(classify(delivery, self._followed))
        except CommonplaceError as error:
            status, body = error.status, error.envelope()
            logger.info("delivery refused", extra={"status": status, "code": error.code})
        else:
            logger.info("delivery answered", extra={"status": status, "answer": body["status"]})
        return response(status, body)

    def remind(self, event: Mapping[str, Any]) -> Answer:
        """A schedule's event or an operator's `{"source": "commonplace.operator", "full": bool, "only": name}`.

        Without `only` everything is looked at; an empty one is the knowledge base, else it is a catalogue's name.
        """
        match event.get("source"):
            case "aws.events":
                hint, chosen = Hint("schedule"), self._followed
            case "commonplace.operator":
                hint, chosen = Hint("operator", full=event.get("full") is True), self._chosen(event.get("only"))
            case _:
                raise BadRequest(
                    "This event has an unknown sender.",
                    hint='Valid: a GitHub delivery, a schedule\'s event, or {"source": "commonplace.operator"}.',
                )
        return describe_all(poke_each(chosen, hint))[1]

    def _chosen(self, only: object) -> tuple[Followed, ...]:
        if only is None:
            return self._followed
        chosen = tuple(one for one in self._followed if one.name == only)
        if not chosen:
            names = ", ".join(one.name for one in self._followed if one.name) or "none is configured"
            raise BadRequest("There is no such catalogue.", hint=f"Catalogues: {names}.")
        return chosen

    def _act(self, verdict: Push | Ping | Ignored) -> tuple[int, Answer]:
        match verdict:
            case Ping():
                first = self._followed[0]
                return 200, {"status": "pong", "repository": first.repository, "branch": first.branch}
            case Ignored(reason):
                return 200, {"status": "ignored", "reason": reason}
            case Push(commit_sha, delivery, concerned):
                return describe_all(poke_each(concerned, Hint("push", commit_sha, delivery)))
            case _:
                assert_never(verdict)


def response(status: int, body: Mapping[str, Any]) -> Answer:
    headers = {"content-type": "application/json; charset=utf-8", "cache-control": "no-store"}
    if retry := body.get("error", {}).get("details", {}).get("retryAfterSeconds"):
        headers["retry-after"] = str(retry)
    return {"statusCode": status, "headers": headers, "body": json.dumps(body), "isBase64Encoded": False}


def describe_all(outcomes: Mapping[str, Outcome]) -> tuple[int, Answer]:
    """What became of the knowledge base, or else of the first catalogue, and beside it of each catalogue."""
    told = {name: describe(outcome) for name, outcome in outcomes.items()}
    status, body = next(iter(told.values()))
    catalogues = {name: answer for name, (_, answer) in told.items() if name}
    return max(status, *(each for each, _ in told.values())), body | ({"catalogues": catalogues} if catalogues else {})


def describe(outcome: Outcome) -> tuple[int, Answer]:
    match outcome:
        case Started(run):
            return 202, {"status": "started", "run": run}
        case Queued(run):
            return 202, {"status": "queued", "run": run}
        case Duplicate(reason):
            return 200, {"status": "duplicate", "reason": reason}
        case _:
            assert_never(outcome)


def read_delivery(event: Mapping[str, Any]) -> Delivery:
    """Headers and the very bytes that were sent. Raises TooLarge and BadRequest."""
    text = event.get("body")
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b""
    encoded = event.get("isBase64Encoded") is True
    if len(raw) > (MAX_BODY_BYTES // 3 * 4 + 8 if encoded else MAX_BODY_BYTES):
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES} bytes.")
    if encoded:
        try:
            raw = base64.b64decode(raw, validate=True)
        except binascii.Error:
            raise BadRequest("The body is not the base64 it claims to be.") from None
    if len(raw) > MAX_BODY_BYTES:
        raise TooLarge(f"The body is larger than {MAX_BODY_BYTES} bytes.")
    return Delivery(_headers(event), raw)


def verify(delivery: Delivery, secret: str) -> None:
    """Raises Forbidden unless `X-Hub-Signature-256` is the HMAC of the body (GitHub docs, "Validating deliveries")."""
    given = delivery.headers.get("x-hub-signature-256", "")
    expected = "sha256=" + hmac.new(secret.encode(), delivery.body, hashlib.sha256).hexdigest()
    # As bytes: compare_digest refuses text outside ASCII.
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass")):
        raise Forbidden("The signature is missing or wrong.", hint="Sign the body with the webhook's secret, SHA-256.")


def classify(delivery: Delivery, followed: Sequence[Followed]) -> Push | Ping | Ignored:
    """What a verified delivery asks for. Raises BadRequest when it is not a JSON object, or a push names no commit."""
    payload = _payload(delivery.body)
    match delivery.headers.get("x-github-event"):
        case "ping":
            return Ping()
        case "push":
            pass
        case _:
            return Ignored("unknown event")
    source = payload.get("repository")
    name = source.get("full_name") if isinstance(source, dict) else None
    of_repository = [one for one in followed if isinstance(name, str) and one.repository.casefold() == name.casefold()]
    if not of_repository:
        return Ignored("other repository")
    concerned = tuple(one for one in of_repository if payload.get("ref") == f"refs/heads/{one.branch}")
    if not concerned:
        return Ignored("other ref")
    after = payload.get("after")
    if not isinstance(after, str) or not _SHA.fullmatch(after):
        raise BadRequest("after is not a commit.", hint="It must be 40 hexadecimal digits in lower case.")
    if payload.get("deleted") is True or after == _NO_COMMIT:
        return Ignored("branch deleted")
    guid = delivery.headers.get("x-github-delivery", "")
    return Push(
        commit_sha=after,
        delivery=guid if _DELIVERY.fullmatch(guid) else None,
        concerned=concerned,
    )


def _payload(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise BadRequest("The body is not a JSON object.", hint="Set the webhook's content type to application/json.")
    return payload


def _headers(event: Mapping[str, Any]) -> dict[str, str]:
    """Payload 2.0 has lower-case names, payload 1.0 has them as they were sent, and a list for each beside them."""
    found: dict[str, str] = {}
    for name, values in _items(event.get("multiValueHeaders")):
        if isinstance(values, list) and values and isinstance(values[-1], str):
            found[name.lower()] = values[-1]
    for name, value in _items(event.get("headers")):
        if isinstance(value, str):
            found[name.lower()] = value
    return found


def _items(headers: object) -> list[tuple[str, Any]]:
    return (
        [(name, value) for name, value in headers.items() if isinstance(name, str)] if isinstance(headers, dict) else []
    )
