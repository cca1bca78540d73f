"""Messages to webhooks, with a real receiver on loopback: signatures, attempts over a day, and what is never sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from commonplace.governance import structure, webhooks
from commonplace.governance.deliveries import ATTEMPTS_AT, Deliveries
from commonplace.governance.store import HOOK_SECRETS, HOOKS, JOURNAL
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound
from commonplace.kernel.fetch import FetchFailed
from commonplace.kernel.guarded_http import GuardedHttp, Network
from commonplace.kernel.items import key
from tests.fakes.governance import Tide
from tests.fakes.queue import Queue

KEY = "k" * 48


@dataclass
class Receiver:
    """What arrived, and how it answers: statuses in order, the last one for good; 0 never answers."""

    url: str
    answers: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    at: list[float] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)


@contextmanager
def receiver(clock: Any) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            here.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            here.at.append(clock())
            here.arrived.set()
            status = here.answers.pop(0) if len(here.answers) > 1 else here.answers[0]
            if not status:
                here.release.wait(60)
                return
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("location", f"{here.url}/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = Receiver(f"http://127.0.0.1:{server.server_port}/hooks")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield here
    finally:
        here.release.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class World:
    tide: Tide
    queue: Queue
    http: GuardedHttp = field(default_factory=lambda: GuardedHttp(loopback=True))

    @property
    def deliveries(self) -> Deliveries:
        queue: Any = self.queue
        more: Any = {"sqs": queue, "queue_url": "queue", "sealing_key": lambda: KEY, "clock": self.tide.clock}
        return Deliveries(store=self.tide.store, http=self.http, **more)

    def add(self, url: str) -> tuple[str, str]:
        """Return the id of a new webhook, and its secret."""
        hook, secret = self.tide.do("Ada", webhooks.add_webhook, url=url)
        return hook.id, secret

    def act(self) -> str:
        """Let an agent write something, and the stream say so; return the record's id."""
        helper = self.tide.agent("Vi")
        done = self.tide.act(helper, "send_message", channel_id=self.tide.channel().id, text="A canary: 4711")
        assert done.decision_id
        self.streamed(done.decision_id)
        return done.decision_id

    def streamed(self, decision: str) -> None:
        pk = JOURNAL.partition(self.tide.slug)
        self.queue.send_message(QueueUrl="", MessageBody=json.dumps({"table": "records", "pk": pk, "sk": decision}))

    def run(self, late: float = 0) -> None:
        """Deliver until nothing is left, however long it takes, each message so late."""
        while (due := self.queue.next_due) is not None:
            self.tide.clock.now = max(self.tide.clock.now, due) + late
            self.queue.deliver(self.deliveries)


def crash(*_: Any) -> Any:
    raise ConnectionError


@pytest.fixture
def world(tide: Tide) -> World:
    tide.governance = replace(tide.governance, sealing_key=lambda: KEY, loopback=True)
    return World(tide, Queue(tide.clock))


def verified(secret: str, headers: dict[str, str], body: bytes) -> Any:
    """Return a message that the library verifies as of now, whatever time the test has."""
    at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    signed = Webhook(secret).sign(headers["webhook-id"], at, body.decode())
    assert signed in headers["webhook-signature"].split()
    now = datetime.now(UTC)
    fresh = headers | {
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(headers["webhook-id"], now, body.decode()),
    }
    return Webhook(secret).verify(body, fresh)


def test_an_action_of_an_agent_arrives_signed_and_says_ids_and_types_alone(world: World) -> None:
    with receiver(world.tide.clock) as there:
        _, secret = world.add(there.url)
        decision = world.act()
        world.run()
        ((headers, body),) = there.got
        message = verified(secret, headers, body)
        with pytest.raises(WebhookVerificationError):
            Webhook(f"whsec_{'A' * 43}=").verify(body, headers)
    record = next(one for one in world.tide.all(JOURNAL) if one.id == decision)
    data = {"orgaId": "tide", "decisionId": decision, "targetType": "messages", "targetId": record.target}
    data |= {"memberId": world.tide.member("Vi").id, "client": "Helper"}
    assert message == {"type": "agent.action", "timestamp": record.at, "data": data}
    assert headers["webhook-id"] == decision
    assert headers["content-type"] == "application/json"
    assert b"canary" not in body


def test_what_people_do_and_what_was_granted_is_no_event(world: World) -> None:
    with receiver(world.tide.clock) as there:
        world.add(there.url)
        world.tide.do("Ada", structure.create_team, parent_team_id=world.tide.team("Tide").id, name="Pool", mission="")
        for one in world.tide.all(JOURNAL):
            world.streamed(one.id)
        world.tide.agent("Vi")
        world.streamed(world.tide.all(JOURNAL)[-1].id)
        world.streamed("01K000000000000000000000XX")
        world.run()
        assert not there.got


def test_a_message_is_sent_until_it_arrives_at_the_times_that_are_said(world: World) -> None:
    with receiver(world.tide.clock) as there:
        id, secret = world.add(there.url)
        there.answers = [500, 302, 429, 404, 503, 500, 400, 200]
        decision = world.act()
        begin = world.tide.clock.now
        world.run()
        assert [at - begin for at in there.at] == list(ATTEMPTS_AT)
        assert {headers["webhook-id"] for headers, _ in there.got} == {decision}
        stamps = [int(headers["webhook-timestamp"]) for headers, _ in there.got]
        assert stamps == [int(at) for at in there.at], "each attempt is signed anew"
        for headers, body in there.got:
            verified(secret, headers, body)
    (hook,) = world.tide.all(HOOKS)
    assert (hook.id, hook.failing_since, hook.off_at) == (id, None, None)


def test_an_address_that_takes_nothing_for_a_day_is_off_until_it_is_switched_on(world: World) -> None:
    with receiver(world.tide.clock) as there:
        id, _ = world.add(there.url)
        there.answers = [500]
        world.act()
        world.run()
        assert len(there.got) == len(ATTEMPTS_AT)
        (hook,) = world.tide.all(HOOKS)
        assert hook.off_because == "failing"
        world.act()
        world.run()
        assert len(there.got) == len(ATTEMPTS_AT), "nothing is sent to an address that is off"
        there.answers = [200]
        world.tide.do("Ada", webhooks.switch_webhook_on, webhook_id=id)
        world.act()
        world.run()
        assert len(there.got) == len(ATTEMPTS_AT) + 1


@pytest.mark.parametrize("late", [0.1, 0.4, 0.6, 0.9, 3])
def test_messages_that_a_queue_hands_out_late_have_all_their_attempts(world: World, late: float) -> None:
    with receiver(world.tide.clock) as there:
        world.add(there.url)
        there.answers = [500]
        world.act()
        world.run(late)
        after = [at - there.at[0] for at in there.at]
    assert len(after) == len(ATTEMPTS_AT)
    assert all(planned <= at <= planned + 2 * late + 1 for planned, at in zip(ATTEMPTS_AT, after, strict=True))
    assert world.tide.all(HOOKS)[0].off_because == "failing"


@pytest.mark.parametrize("seconds", [3, 400])
def test_a_day_of_failures_may_begin_after_a_cold_start_or_a_crash(world: World, seconds: float) -> None:
    with receiver(world.tide.clock) as there:
        world.add(there.url)
        there.answers = [500]
        world.act()
        world.queue.deliver(world.deliveries)  # its message is queued
        with pytest.raises(ConnectionError):
            world.queue.deliver(crash)
        world.tide.clock.now += seconds
        world.run()
    assert world.tide.all(HOOKS)[0].off_because == "failing"


def test_an_address_that_took_another_message_meanwhile_stays_on(world: World) -> None:
    table = world.tide.store.table
    with receiver(world.tide.clock) as there:
        id, _ = world.add(there.url)
        world.act()
        world.queue.deliver(world.deliveries)
        where = HOOKS.at(world.tide.slug, id)
        table.write(table.update(where, "SET #failingSince = :since", since=int(world.tide.clock.now) - 90_000))

        class Meanwhile(GuardedHttp):
            def post(self, *given: Any, **options: Any) -> int:
                there.answers = [500]
                table.write(table.update(where, "REMOVE #failingSince"))
                return super().post(*given, **options)

        world.http = Meanwhile(loopback=True)
        world.queue.deliver(world.deliveries)
        assert len(there.got) == 1
    assert world.tide.all(HOOKS)[0].off_at is None
    assert world.queue.messages, "it is tried again"


def test_nothing_is_sent_unsigned_when_a_webhook_goes_meanwhile(world: World) -> None:
    with receiver(world.tide.clock) as there:
        id, _ = world.add(there.url)
        world.act()
        world.queue.deliver(world.deliveries)
        read = world.tide.store.records.get

        def get(organisation: str, room: Any, id_: str) -> Any:
            found = read(organisation, room, id_)
            if room is JOURNAL:  # the webhook has been read, its secret has not
                world.tide.do("Ada", webhooks.remove_webhook, webhook_id=id)
            return found

        object.__setattr__(world.tide.store.records, "get", get)
        world.queue.deliver(world.deliveries)
        assert not there.got
    object.__setattr__(world.tide.store.records, "get", read)
    world.run()
    assert not world.tide.all(HOOKS), "nothing made it anew"


def test_an_address_that_is_gone_is_off_at_once(world: World) -> None:
    with receiver(world.tide.clock) as there:
        world.add(there.url)
        there.answers = [410]
        world.act()
        world.run()
        assert len(there.got) == 1
        assert world.tide.all(HOOKS)[0].off_because == "gone"


def test_a_slow_address_fails_and_delays_no_other(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.governance.deliveries.DEADLINE_SECONDS", 0.2)
    with receiver(world.tide.clock) as slow, receiver(world.tide.clock) as quick:
        slow.answers = [0]
        first, _ = world.add(slow.url)
        world.add(quick.url)
        world.act()
        world.queue.deliver(world.deliveries)
        world.queue.deliver(world.deliveries)
        assert (len(slow.got), len(quick.got)) == (1, 1)
        assert {one.id: one.failing_since is None for one in world.tide.all(HOOKS)}[first] is False


def test_after_a_new_secret_both_sign_for_a_day(world: World) -> None:
    with receiver(world.tide.clock) as there:
        id, old = world.add(there.url)
        _, new = world.tide.do("Ada", webhooks.rotate_webhook_secret, webhook_id=id)
        world.act()
        world.run()
        world.tide.clock.now += webhooks.BOTH_SECONDS
        world.act()
        world.run()
        (both, body), (alone, later) = there.got
        for secret in (old, new):
            verified(secret, both, body)
        verified(new, alone, later)
        assert len(alone["webhook-signature"].split()) == 1
    stored = world.tide.store.table.get(HOOK_SECRETS.at("tide", id))
    assert new not in repr(stored)
    assert old not in repr(stored)


def test_a_crash_repeats_an_attempt_and_loses_nothing(world: World) -> None:
    with receiver(world.tide.clock) as there:
        world.add(there.url)
        world.act()
        work = world.deliveries

        def crashing(event: Any, context: Any) -> Any:
            work(event, context)
            raise RuntimeError("after it was sent")

        for _ in range(2):
            with pytest.raises(RuntimeError):
                world.queue.deliver(crashing)
        world.run()
        assert len(there.got) >= 2
        assert len({headers["webhook-id"] for headers, _ in there.got}) == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "10.0.0.8", "::1", "fd00::1"])
def test_nothing_is_sent_to_a_private_address(world: World, address: str) -> None:
    world.add("https://hooks.example.org/in")
    network = Network(look_up=lambda *_: [address])
    world.http = GuardedHttp(network=network)
    world.act()
    world.queue.deliver(world.deliveries)
    world.queue.deliver(world.deliveries)
    assert world.tide.all(HOOKS)[0].failing_since is not None
    with pytest.raises(FetchFailed, match="address_not_public"):
        GuardedHttp(network=network).post("https://hooks.example.org/in", b"{}", {}, seconds=1)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/in",
        "https://127.0.0.1/in",
        "https://example.org:8443/in",
        "https://user@example.org/in",
        "https://example.org/in#x",
        "http://169.254.169.254/in",
        "ftp://example.org/",
        "https://example.org/" + "a" * 3_000,
    ],
)
def test_addresses_that_cannot_be_used_are_refused(world: World, url: str) -> None:
    with pytest.raises(InvalidInput):
        world.add(url)


def test_this_machine_is_no_address_without_the_switch(world: World) -> None:
    world.tide.governance = replace(world.tide.governance, loopback=False)
    with pytest.raises(InvalidInput):
        world.add("http://127.0.0.1:8000/in")
    with pytest.raises(FetchFailed, match="url_not_allowed"):
        GuardedHttp().post("http://127.0.0.1:8000/in", b"{}", {}, seconds=1)


def test_an_organisation_has_five_webhooks_and_only_its_owner_changes_them(world: World) -> None:
    ids = [world.add(f"https://example.org/{number}")[0] for number in range(5)]
    with pytest.raises(Conflict, match="at most 5"):
        world.add("https://example.org/6")
    tide = world.tide
    for operation, given in (
        (webhooks.add_webhook, {"url": "https://example.org/x"}),
        (webhooks.rotate_webhook_secret, {"webhook_id": ids[0]}),
        (webhooks.switch_webhook_on, {"webhook_id": ids[0]}),
        (webhooks.remove_webhook, {"webhook_id": ids[0]}),
    ):
        with pytest.raises(Forbidden):
            tide.do("Vi", operation, **given)
        agent = tide.agent("Ada")
        with pytest.raises(Forbidden):
            operation.run(tide.governance, agent, operation.accepted({"orga_id": "tide", **given}))
    tide.do("Ada", webhooks.remove_webhook, webhook_id=ids[0])
    assert tide.store.table.get(HOOK_SECRETS.at("tide", ids[0])) is None
    with pytest.raises(NotFound):
        tide.do("Ada", webhooks.rotate_webhook_secret, webhook_id=ids[0])
    last = [one for one in tide.all(JOURNAL) if one.type == "Webhook"][-1]
    assert (last.before, last.after) == ({"host": "example.org"}, {})
    assert not tide.store.table.get(key("tide#gov#hooks", ids[0]))
