import base64
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.errors import BadRequest, Unavailable
from commonplace.repository.webhook import MAX_BODY_BYTES, Followed, Hint, Poker, Receiver, Started
from tests.fakes.state import FakeSyncState, FakeWorkflow
from tests.unit.functions.deliveries import BRANCH, REPOSITORY, SECRET, SHA, Event, delivery, push, sign


class Webhook:
    """The receiver over fakes."""

    def __init__(self) -> None:
        self.state, self.workflow = FakeSyncState(), FakeWorkflow()
        poker = Poker(self.state, self.workflow, now=lambda: self.state.now)
        self.receiver = Receiver([Followed("", REPOSITORY, BRANCH, poker.poke)], lambda: SECRET)

    def send(self, event: Event) -> tuple[int, dict[str, Any]]:
        answer = self.receiver.receive(event)
        return answer["statusCode"], json.loads(answer["body"])

    def end_run(self, *, done: bool) -> None:
        """What the last steps of the running run do, or, if it is not done, nothing but its end."""
        run = self.state.running
        assert run is not None
        self.workflow.alive.discard(run)
        if done:
            assert self.state.finish(run, self.state.pokes)
        else:
            self.state.release(run)


@pytest.fixture
def webhook() -> Webhook:
    return Webhook()


def refusal(answer: tuple[int, dict[str, Any]]) -> tuple[int, str]:
    status, body = answer
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "details"}
    return status, body["error"]["code"]


def test_a_push_starts_a_run_named_after_its_commit(webhook: Webhook) -> None:
    assert webhook.send(delivery(push())) == (202, {"status": "started", "run": f"{SHA}-1"})
    assert webhook.workflow.started == [
        (f"{SHA}-1", {"source": "", "run": f"{SHA}-1", "reason": "push", "full": False})
    ]


def test_answers_are_json_and_not_stored(webhook: Webhook) -> None:
    headers = webhook.receiver.receive(delivery(push()))["headers"]

    assert headers == {"content-type": "application/json; charset=utf-8", "cache-control": "no-store"}


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=abc", "sha256=ü", "\ud800"])
def test_a_wrong_signature_is_forbidden(webhook: Webhook, signature: str) -> None:
    event = delivery(push())
    event["headers"]["x-hub-signature-256"] = signature

    assert refusal(webhook.send(event)) == (403, "FORBIDDEN")
    assert webhook.state.pokes == 0


def test_a_missing_signature_is_forbidden(webhook: Webhook) -> None:
    event = delivery(push())
    del event["headers"]["x-hub-signature-256"]

    assert refusal(webhook.send(event)) == (403, "FORBIDDEN")


def test_a_signature_with_another_secret_is_forbidden(webhook: Webhook) -> None:
    body = json.dumps(push()).encode()

    assert refusal(webhook.send(delivery(body, signature=sign(body, "another")))) == (403, "FORBIDDEN")


def test_the_signature_is_of_the_bytes_and_not_of_their_meaning(webhook: Webhook) -> None:
    body = json.dumps(push(), indent=3).encode()
    event = delivery(body, signature=sign(json.dumps(push()).encode()))

    assert refusal(webhook.send(event)) == (403, "FORBIDDEN")
    assert webhook.send(delivery(body))[0] == 202


@pytest.mark.parametrize("encoded", [True, False])
def test_a_body_above_25_megabytes_is_too_large(webhook: Webhook, encoded: bool) -> None:
    body = b" " * (MAX_BODY_BYTES + 1)
    event = delivery(b"", signature=sign(body))
    event |= {"body": base64.b64encode(body).decode() if encoded else body.decode(), "isBase64Encoded": encoded}

    assert refusal(webhook.send(event)) == (413, "TOO_LARGE")


def test_a_body_of_25_megabytes_is_read(webhook: Webhook) -> None:
    body = json.dumps(push()).encode()
    assert webhook.send(delivery(body + b" " * (MAX_BODY_BYTES - len(body))))[0] == 202


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"3", b'"text"', b"null", b"\xff\xfe\x00", b"payload=%7B%7D", b"[" * 100_000, b"1" * 5000],
)
def test_a_body_that_is_no_json_object_is_a_bad_request(webhook: Webhook, body: bytes) -> None:
    for event in ("push", "ping"):
        assert refusal(webhook.send(delivery(body, event=event))) == (400, "BAD_REQUEST")


def test_what_is_not_json_is_not_looked_at_before_its_signature(webhook: Webhook) -> None:
    assert refusal(webhook.send(delivery(b"{", signature="sha256=0"))) == (403, "FORBIDDEN")


def test_broken_base64_is_a_bad_request(webhook: Webhook) -> None:
    assert refusal(webhook.send(delivery(push()) | {"body": "%%%"})) == (400, "BAD_REQUEST")


def test_a_ping_gets_a_pong(webhook: Webhook) -> None:
    status, body = webhook.send(delivery({"zen": "Keep it simple.", "hook_id": 1}, event="ping"))

    assert (status, body["status"]) == (200, "pong")
    assert webhook.state.pokes == 0


@pytest.mark.parametrize(
    ("payload", "event", "reason"),
    [
        (push(), "issues", "unknown event"),
        (push(), None, "unknown event"),
        (push(ref="refs/heads/other"), "push", "other ref"),
        (push(ref="refs/tags/main"), "push", "other ref"),
        (push(ref=None), "push", "other ref"),
        (push(repository={"full_name": "octo/other"}), "push", "other repository"),
        (push(repository="octo/notes"), "push", "other repository"),
        (push(repository={}), "push", "other repository"),
        (push(deleted=True, after="0" * 40), "push", "branch deleted"),
        (push(after="0" * 40), "push", "branch deleted"),
        ({}, "push", "other repository"),
    ],
)
def test_what_does_not_concern_the_branch_is_ignored_with_a_reason(
    webhook: Webhook, payload: dict[str, Any], event: str | None, reason: str
) -> None:
    assert webhook.send(delivery(payload, event=event)) == (200, {"status": "ignored", "reason": reason})
    assert (webhook.state.pokes, webhook.workflow.started) == (0, [])


def test_the_name_of_the_repository_is_compared_as_github_does(webhook: Webhook) -> None:
    assert webhook.send(delivery(push(repository={"full_name": "Octo/Notes"})))[0] == 202


def test_a_new_or_forced_branch_is_a_push_like_any_other(webhook: Webhook) -> None:
    assert webhook.send(delivery(push(before="0" * 40, created=True, forced=True)))[0] == 202


def test_payload_1_0_is_read_too(webhook: Webhook) -> None:
    body = json.dumps(push())
    headers = {"X-Hub-Signature-256": sign(body.encode()), "X-GitHub-Event": "push", "X-GitHub-Delivery": "guid-1"}
    context = {"stage": "$default", "httpMethod": "POST"}
    event = {"version": "1.0", "requestContext": context, "body": body, "isBase64Encoded": False}

    assert webhook.send(event | {"headers": headers})[0] == 202
    many = {name: [value] for name, value in headers.items()}
    assert webhook.send(event | {"headers": None, "multiValueHeaders": many})[1]["status"] == "duplicate"


def test_a_push_during_a_run_is_queued_behind_it(webhook: Webhook) -> None:
    webhook.send(delivery(push()))

    answer = webhook.send(delivery(push(after="6a" * 20), guid="guid-2"))
    assert answer == (202, {"status": "queued", "run": f"{SHA}-1"})
    assert len(webhook.workflow.started) == 1
    assert not webhook.state.finish(f"{SHA}-1", 1)


def test_a_duplicate_of_a_delivery_in_progress_starts_nothing(webhook: Webhook) -> None:
    webhook.send(delivery(push()))

    answer = webhook.send(delivery(push()))
    assert answer == (200, {"status": "duplicate", "reason": "the run for this delivery has not ended yet"})
    assert webhook.state.pokes == 1


def test_a_duplicate_of_a_queued_delivery_starts_nothing(webhook: Webhook) -> None:
    webhook.send(delivery(push()))
    webhook.send(delivery(push(), guid="guid-2"))

    assert webhook.send(delivery(push(), guid="guid-2"))[1]["status"] == "duplicate"
    assert (webhook.state.pokes, len(webhook.workflow.started)) == (2, 1)


def test_a_duplicate_of_a_finished_delivery_starts_nothing(webhook: Webhook) -> None:
    webhook.send(delivery(push()))
    webhook.end_run(done=True)

    answer = webhook.send(delivery(push()))
    assert answer == (200, {"status": "duplicate", "reason": "the run for this delivery is done"})
    assert len(webhook.workflow.started) == 1


def test_a_redelivery_of_a_failed_delivery_does_the_work(webhook: Webhook) -> None:
    webhook.send(delivery(push()))
    webhook.end_run(done=False)

    assert webhook.send(delivery(push())) == (202, {"status": "started", "run": f"{SHA}-2"})


def test_deliveries_without_a_usable_id_are_never_duplicates(webhook: Webhook) -> None:
    for guid in (None, "", "x" * 200, "a#b"):
        webhook.send(delivery(push(), guid=guid))
        webhook.end_run(done=True)

    assert len(webhook.workflow.started) == 4


def test_a_run_that_died_is_replaced(webhook: Webhook) -> None:
    webhook.send(delivery(push()))
    webhook.workflow.alive.clear()
    webhook.state.now += timedelta(minutes=2)

    assert webhook.send(delivery(push(), guid="guid-2"))[1] == {"status": "started", "run": f"{SHA}-2"}
    assert webhook.state.running == f"{SHA}-2"


def test_a_run_that_is_just_being_started_is_left_alone(webhook: Webhook) -> None:
    webhook.state.claim("early-1")
    webhook.state.now += timedelta(seconds=59)

    assert webhook.send(delivery(push()))[1] == {"status": "queued", "run": "early-1"}


def test_a_run_that_cannot_be_started_leaves_the_hint_open(webhook: Webhook) -> None:
    webhook.workflow.refuses = True

    answer = webhook.receiver.receive(delivery(push()))
    assert refusal((answer["statusCode"], json.loads(answer["body"]))) == (503, "UNAVAILABLE")
    assert int(answer["headers"]["retry-after"]) > 0
    assert (webhook.state.pokes, webhook.state.done, webhook.state.running) == (1, 0, None)

    webhook.workflow.refuses = False
    assert webhook.send(delivery(push()))[1]["status"] == "started"


NO_COMMITS: tuple[object, ...] = (
    *(None, 7, True, [SHA], {}, "", "0", "../../x", "main", "5f" * 19, "5f" * 32, f"{SHA}5", SHA[:-1], SHA[:-1] + "g"),
    *(f"{SHA}\n", f" {SHA}", SHA.upper(), "5f" * 19 + "\u0665\u0665", "0x" + "5f" * 19, "0" * 39),
)


@pytest.mark.parametrize("after", NO_COMMITS)
def test_a_push_whose_commit_is_not_forty_hexadecimal_digits_is_refused(webhook: Webhook, after: object) -> None:
    status, body = webhook.send(delivery(push(after=after)))
    assert (status, body["error"]["code"]) == (400, "BAD_REQUEST")
    assert "40 hexadecimal digits" in body["error"]["details"]["hint"]
    assert (webhook.state.pokes, webhook.workflow.started) == (0, [])


def test_a_push_without_a_commit_is_refused(webhook: Webhook) -> None:
    without = {name: value for name, value in push().items() if name != "after"}
    assert refusal(webhook.send(delivery(without))) == (400, "BAD_REQUEST")


def test_the_schedule_pokes(webhook: Webhook) -> None:
    event = {"version": "0", "source": "aws.events", "detail-type": "Scheduled Event", "detail": {}}

    assert webhook.receiver.remind(event) == {"status": "started", "run": "reconcile-1"}
    assert webhook.workflow.started[0][1] == {"source": "", "run": "reconcile-1", "reason": "schedule", "full": False}


def test_an_operator_may_ask_for_everything_anew(webhook: Webhook) -> None:
    webhook.receiver.remind({"source": "commonplace.operator", "full": True})

    assert webhook.workflow.started[0][1] == {"source": "", "run": "reconcile-1", "reason": "operator", "full": True}


def test_a_full_run_does_not_silently_become_part_of_another(webhook: Webhook) -> None:
    webhook.send(delivery(push()))

    with pytest.raises(Unavailable, match="a full one cannot join it"):
        webhook.receiver.remind({"source": "commonplace.operator", "full": True})
    assert webhook.receiver.remind({"source": "commonplace.operator"}) == {"status": "queued", "run": f"{SHA}-1"}


def test_an_event_from_nobody_known_is_refused(webhook: Webhook) -> None:
    with pytest.raises(BadRequest):
        webhook.receiver.remind({"Records": []})


class Several:
    """A knowledge base, two catalogues in its repository, one on another branch of it, and one elsewhere."""

    def __init__(self) -> None:
        self.workflow = FakeWorkflow()
        places = {
            "": (REPOSITORY, BRANCH),
            "helios": (REPOSITORY, BRANCH),
            "next": (REPOSITORY, "v2"),
            "tides": ("octo/tides", BRANCH),
        }
        self.states = {name: FakeSyncState() for name in places}
        followed = [
            Followed(name, repository, branch, Poker(self.states[name], self.workflow, name).poke)
            for name, (repository, branch) in places.items()
        ]
        self.receiver = Receiver(followed, lambda: SECRET)

    def send(self, event: Event) -> tuple[int, dict[str, Any]]:
        answer = self.receiver.receive(event)
        return answer["statusCode"], json.loads(answer["body"])

    @property
    def woken(self) -> list[object]:
        return [given["source"] for _, given in self.workflow.started]


def test_a_push_wakes_every_source_of_its_repository_and_branch_and_no_other() -> None:
    several = Several()

    assert several.send(delivery(push())) == (
        202,
        {
            "status": "started",
            "run": f"{SHA}-1",
            "catalogues": {"helios": {"status": "started", "run": f"helios-{SHA[:12]}-1"}},
        },
    )
    assert several.woken == ["", "helios"]


def test_a_push_that_concerns_catalogues_alone_answers_for_the_first() -> None:
    several = Several()

    status, body = several.send(delivery(push(ref="refs/heads/v2")))

    assert (status, body["status"], body["run"]) == (202, "started", f"next-{SHA[:12]}-1")
    assert several.woken == ["next"]
    assert several.send(delivery(push(repository={"full_name": "Octo/Tides"})))[0] == 202
    assert several.woken == ["next", "tides"]


def test_a_delivery_again_wakes_only_the_source_whose_run_has_failed() -> None:
    several = Several()
    several.send(delivery(push()))
    several.workflow.alive.clear()
    several.states[""].finish(f"{SHA}-1", 1)
    several.states["helios"].release(f"helios-{SHA[:12]}-1")

    status, body = several.send(delivery(push()))

    assert (status, body["status"], body["catalogues"]["helios"]["status"]) == (202, "duplicate", "started")
    assert several.woken == ["", "helios", "helios"]


def test_a_source_that_cannot_be_woken_keeps_no_other_from_it() -> None:
    def fails(_: Hint) -> Started:
        raise ConnectionError("no table")

    woken: list[Hint] = []

    def wakes(hint: Hint) -> Started:
        woken.append(hint)
        return Started("run-1")

    followed = [Followed("", REPOSITORY, BRANCH, fails), Followed("helios", REPOSITORY, BRANCH, wakes)]
    with pytest.raises(ConnectionError, match="no table"):
        Receiver(followed, lambda: SECRET).remind({"source": "aws.events"})
    assert woken == [Hint("schedule")]


def test_the_schedule_wakes_all_and_an_operator_all_or_one() -> None:
    several = Several()
    operator = {"source": "commonplace.operator"}

    several.receiver.remind({"source": "aws.events"})
    assert several.woken == ["", "helios", "next", "tides"]
    several = Several()
    several.receiver.remind(operator | {"only": "next"})
    several.receiver.remind(operator | {"only": ""})
    assert several.woken == ["next", ""]
    with pytest.raises(BadRequest, match="no such catalogue") as refused:
        several.receiver.remind(operator | {"only": "nowhere"})
    assert refused.value.hint == "Catalogues: helios, next, tides."


@pytest.mark.parametrize("pushed", [True, False])
def test_names_of_runs_are_as_short_as_step_functions_wants_them(*, pushed: bool) -> None:
    state, workflow = FakeSyncState(), FakeWorkflow()
    poker = Poker(state, workflow, "c" * 40)
    state.attempts = 10**9
    receiver = Receiver([Followed("c" * 40, REPOSITORY, BRANCH, poker.poke)], lambda: SECRET)

    if pushed:
        receiver.receive(delivery(push()))
    else:
        receiver.remind({"source": "aws.events"})

    assert len(workflow.started[0][0]) <= 80


def test_logs_hold_neither_secret_nor_signature_nor_paths(webhook: Webhook, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    webhook.send(delivery(push()))
    webhook.send(delivery(push(), signature="sha256=bad"))

    text = " ".join(str(vars(record)) for record in caplog.records)
    assert "delivery answered" in text
    assert "delivery refused" in text
    for private in (SECRET, sign(json.dumps(push()).encode()), "sha256=", "a.md"):
        assert private not in text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("ref", "after", "before", "deleted", "repository", "commits")


@given(
    body=st.binary(max_size=200) | st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, JSON)),
    event=st.sampled_from(["push", "ping", "issues", None]) | st.text(max_size=10),
    guid=st.none() | st.text(max_size=20),
)
def test_no_signed_body_is_a_server_error(body: Any, event: str | None, guid: str | None) -> None:
    changed = push() | body if isinstance(body, dict) else body
    assert Webhook().send(delivery(changed, event=event, guid=guid))[0] < 500


@given(
    st.dictionaries(
        st.sampled_from(["headers", "multiValueHeaders", "body", "isBase64Encoded", "requestContext", "version"]),
        JSON
        | st.dictionaries(st.sampled_from(["X-Hub-Signature-256", "x-hub-signature-256", "x-github-event"]), JSON)
        | st.text(),
    )
)
def test_no_event_whatsoever_is_a_server_error(event: Event) -> None:
    assert Webhook().send(event)[0] in (400, 403, 413)
