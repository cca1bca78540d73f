"""Whose requests are counted together: never those of two clients, and never those of two networks of one client."""

import json
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from commonplace.identity.oauth.server.endpoint import spend_client
from commonplace.identity.records import Client
from tests.examples import examples
from tests.fakes.authority import Counters
from tests.unit.identity.oauth.world import World, answered, payload

ids = st.text(max_size=12) | st.sampled_from(['a", "b', "a", "b", '["a"]', "https://app.example.net/client.json"])
addresses = st.sampled_from(["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1", "a", ""])
callers = st.tuples(ids, st.booleans(), addresses)


def counted(caller: tuple[str, bool, str]) -> set[str]:
    """The counters that a request of this client from this address comes to."""
    client_id, confidential, address = caller
    world, counters = World(), Counters()
    world.limiter._counters = counters
    client = Client(
        id=client_id, name="App", source="registered", auth_method="client_secret_post" if confidential else "none"
    )
    spend_client(world.services, Request({"type": "http", "client": (address, 0)}), "token", client)
    return set(counters.counts)


@settings(deadline=None, max_examples=examples(30, soak=600))
@given(one=callers, other=callers)
def test_l4_two_callers_never_share_a_counter(one: tuple[str, bool, str], other: tuple[str, bool, str]) -> None:
    def who(caller: tuple[str, bool, str]) -> tuple[str, ...]:
        client_id, confidential, address = caller
        return (client_id,) if confidential else (client_id, address or "unknown")

    assert (counted(one) == counted(other)) is (who(one) == who(other))


def test_addresses_of_one_subscriber_are_one_network() -> None:
    assert counted(("a", False, "2001:db8::1")) == counted(("a", False, "2001:db8::2"))


def test_client_that_proves_itself_is_one_wherever_it_calls_from() -> None:
    assert counted(("a", True, "192.0.2.1")) == counted(("a", True, "192.0.2.2"))


def test_headers_of_a_caller_do_not_say_where_it_is() -> None:
    world = World(AUTH_RATE_LIMIT="1")
    statuses = [world.send("POST", "/token", "x", x_forwarded_for=f"198.51.100.{number}").status for number in range(6)]
    assert statuses == [400] * 5 + [429]


def test_gateways_of_the_older_kind_are_understood_too() -> None:
    world = World()
    event = payload("POST", "/token", "grant_type=refresh_token&client_id=nobody")
    old: dict[str, Any] = {
        "version": "1.0",
        "resource": "/{proxy+}",
        "path": "/token",
        "httpMethod": "POST",
        "headers": event["headers"] | {"content-type": "application/x-www-form-urlencoded"},
        "multiValueHeaders": None,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"httpMethod": "POST", "path": "/token", "identity": {"sourceIp": "192.0.2.1"}},
        "body": event["body"],
        "isBase64Encoded": False,
    }
    answer = answered(world._gateway(old, cast(Any, None)))
    assert (answer.status, json.loads(answer.body)["error"]) == (401, "invalid_client")
    assert answer.headers["cache-control"] == "no-store"
