"""What went round the front door is refused, with either payload and by every function."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from commonplace.kernel.errors import Forbidden, Unavailable
from commonplace.web.gateway import Gateway
from commonplace.web.origin import ORIGIN_HEADER, VIEWER_HEADER, entered
from tests.unit.documents.rest.events import payload_1, payload_2

Event = Callable[..., dict[str, Any]]
both_payloads = pytest.mark.parametrize("event", [payload_2, payload_1])
DOOR = "the value of the door"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Tells what reached it."""
    request = Request(scope)
    client = request.client.host if request.client else None
    await JSONResponse({"client": client, "headers": dict(request.headers)})(scope, receive, send)


def ask(event: dict[str, Any], knows: Callable[[str], bool] | None = DOOR.__eq__) -> dict[str, Any]:
    return Gateway(app, origin=knows)(event, cast(Any, None))


@both_payloads
def test_what_comes_through_the_door_gets_in(event: Event) -> None:
    answer = ask(event("/", **{ORIGIN_HEADER: DOOR}))
    assert answer["statusCode"] == 200


@both_payloads
@pytest.mark.parametrize("headers", [{}, {ORIGIN_HEADER: ""}, {ORIGIN_HEADER: "guessed"}, {ORIGIN_HEADER: f"{DOOR},x"}])
def test_what_goes_round_the_door_is_refused_with_the_envelope(event: Event, headers: dict[str, str]) -> None:
    answer = ask(event("/", **headers))
    assert answer["statusCode"] == 403
    assert answer["headers"]["cache-control"] == "no-store"
    error = json.loads(answer["body"])["error"]
    assert (error["code"], set(error)) == ("FORBIDDEN", {"code", "message", "details"})
    assert "guessed" not in answer["body"]


@both_payloads
def test_the_applications_never_see_the_value_of_the_door(event: Event) -> None:
    told = ask(event("/", **{ORIGIN_HEADER: DOOR, "X-Other": "1"}))["body"]
    assert DOOR not in told
    assert ORIGIN_HEADER not in json.loads(told)["headers"]
    assert json.loads(told)["headers"]["x-other"] == "1"


@both_payloads
@pytest.mark.parametrize("address", ["203.0.113.9", "2001:db8::7"])
def test_the_caller_is_whom_the_door_saw(event: Event, address: str) -> None:
    told = json.loads(ask(event("/", **{ORIGIN_HEADER: DOOR, VIEWER_HEADER: address}))["body"])
    assert told["client"] == address
    assert VIEWER_HEADER not in told["headers"]


@both_payloads
def test_what_is_no_address_is_nobodys(event: Event) -> None:
    told = json.loads(ask(event("/", **{ORIGIN_HEADER: DOOR, VIEWER_HEADER: "somebody else"}))["body"])
    assert told["client"] == "192.0.2.1"


@both_payloads
def test_without_a_door_nobody_can_say_where_they_come_from(event: Event) -> None:
    told = json.loads(ask(event("/", **{VIEWER_HEADER: "203.0.113.9"}), None)["body"])
    assert told["client"] == "192.0.2.1"


@both_payloads
def test_whoever_cannot_tell_lets_nobody_in(event: Event) -> None:
    def away(value: str) -> bool:
        raise Unavailable("The origin of this request cannot be verified now.")

    answer = ask(event("/", **{ORIGIN_HEADER: DOOR}), away)
    assert (answer["statusCode"], answer["headers"]["retry-after"]) == (503, "5")


def test_schedules_need_no_door() -> None:
    assert ask({"source": "aws.events"}) == {"ok": True}


def test_header_names_are_read_in_any_case() -> None:
    event = payload_1("/") | {"headers": {"X-Commonplace-Origin": DOOR}}
    assert ORIGIN_HEADER not in entered(event, DOOR.__eq__)["headers"]
    with pytest.raises(Forbidden):
        entered(payload_1("/"), DOOR.__eq__)
