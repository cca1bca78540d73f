"""A node that is away, wrong or strange is Unavailable, within its time and with as many questions as configured."""

import gc
import logging
import socket
import time
from collections.abc import Callable

import pytest

from commonplace.identity.ethereum.rpc import ASIDE_SECONDS, MAX_ANSWER_BYTES, PAUSE_SECONDS, Rpc
from commonplace.kernel.errors import Unavailable
from tests.fakes.ethereum_node import (
    Fault,
    StandInNode,
    dripping,
    endless,
    hanging_up,
    redirect,
    silent,
    standing_in,
    status,
)

HATS = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"


class Monotonic:
    """Seconds that only a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _rpc(*urls: str, seconds: float = 30.0, monotonic: Callable[[], float] = time.monotonic) -> Rpc:
    return Rpc(lambda: urls, 10, question_seconds=seconds, monotonic=monotonic)


def _refusing() -> str:
    """An address where nothing listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_a_clear_answer_is_given_as_bytes_and_the_chain_is_asked_for_once(node: StandInNode) -> None:
    node.results["eth_call"] = "0x0aff"
    rpc = _rpc(node.url)
    assert [rpc.call(b"\x01", to=HATS), rpc.call(b"\x01")] == [b"\x0a\xff", b"\x0a\xff"]
    assert node.asked == ["eth_chainId", "eth_call", "eth_call"]


def test_an_address_has_code_when_there_is_a_byte_of_it(node: StandInNode) -> None:
    rpc = _rpc(node.url)
    assert not rpc.has_code(HATS)
    node.results["eth_getCode"] = "0x60"
    assert rpc.has_code(HATS)


def test_a_refused_connection_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        _rpc(_refusing()).call(b"\x01")


FAULTS: dict[str, Callable[[StandInNode], Fault]] = {
    "HTTP 429": lambda node: status(429),
    "HTTP 500": lambda node: status(500),
    "HTTP 202": lambda node: status(202),
    "redirect": lambda node: redirect(f"{node.url}/elsewhere"),
    "hangs up": lambda node: hanging_up,
    "endless": lambda node: endless,
    "silent": silent,
    "dripping": dripping,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_transport_that_fails_is_unavailable_in_time_and_after_one_request(fault: str, node: StandInNode) -> None:
    node.fault = FAULTS[fault](node)
    started = time.monotonic()
    with pytest.raises(Unavailable):
        _rpc(node.url, seconds=0.3).call(b"\x01")
    # A bound that is far above the limit, and far below what any of these would take without one.
    assert time.monotonic() - started < 5
    assert node.asked == ["eth_chainId"]


def test_a_redirect_is_not_followed(node: StandInNode) -> None:
    node.fault = redirect(f"{node.url}/elsewhere")
    with pytest.raises(Unavailable):
        _rpc(node.url).call(b"\x01")
    assert node.paths == ["/"]


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>busy</html>",
        b"",
        b"[]",
        b"null",
        b'"0x01"',
        b'{"jsonrpc":"2.0","id":1,"result":null}',
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":2,"result":"0x0a"}',
        b'{"jsonrpc":"2.0","id":1,"result":"0a"}',
        b'{"jsonrpc":"2.0","id":1,"result":"0x0"}',
        b'{"jsonrpc":"2.0","id":1,"result":10}',
        b'{"jsonrpc":"2.0","id":1,"result":["0x0a"]}',
        b"[" * 100_000,
        b" " * (MAX_ANSWER_BYTES + 1),
    ],
)
def test_content_that_is_no_answer_is_unavailable(raw: bytes, node: StandInNode) -> None:
    rpc = _rpc(node.url)
    node.results["eth_call"] = "0x01"
    rpc.call(b"\x01")
    node.raw = raw
    gc.collect()  # no finalizer of an earlier test may run at the depth that brackets lead to
    with pytest.raises(Unavailable):
        rpc.call(b"\x01")


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32_005, "message": "limit exceeded"},
        {"code": -32_005, "message": "rate limit: execution reverted"},
        {"code": -32_000, "message": "header not found"},
        {"code": -32_603, "message": "internal error"},
        {"code": -32_601, "message": "the method eth_call does not exist"},
        {"message": "busy"},
        "busy",
    ],
)
def test_an_error_of_the_node_is_unavailable_and_never_a_refusal(error: object, node: StandInNode) -> None:
    node.error = error  # type: ignore[assignment]
    with pytest.raises(Unavailable):
        _rpc(node.url).call(b"\x01")


@pytest.mark.parametrize(
    "error",
    [
        {"code": 3, "message": "execution reverted: no", "data": "0x"},
        {"code": -32_000, "message": "execution reverted"},
        {"code": -32_603, "message": "EVM error OutOfGas"},
        {"code": -32_603, "message": "EVM error MemoryOOG"},
        {"code": -32_015, "message": "VM execution error."},
        {"code": -32_000, "message": "out of gas"},
        {"code": -32_000, "message": "invalid opcode: INVALID"},
    ],
)
def test_a_contract_that_fails_is_an_answer_of_its_own(error: dict[str, object], node: StandInNode) -> None:
    node.error = error
    assert _rpc(node.url).call(b"\x01") is None


def test_a_contract_that_fails_is_not_asked_for_at_the_next_endpoint(node: StandInNode) -> None:
    node.error = {"code": 3, "message": "execution reverted"}
    with standing_in() as second:
        assert _rpc(node.url, second.url).call(b"\x01") is None
        assert second.asked == []


def test_whether_there_is_code_is_never_a_matter_of_an_error(node: StandInNode) -> None:
    node.error = {"code": 3, "message": "execution reverted"}
    with pytest.raises(Unavailable):
        _rpc(node.url).has_code(HATS)


def test_a_node_of_another_chain_is_unavailable_and_is_asked_nothing_else(node: StandInNode) -> None:
    node.results["eth_chainId"] = "0x1"
    with pytest.raises(Unavailable):
        _rpc(node.url).call(b"\x01")
    assert node.asked == ["eth_chainId"]


def test_the_second_endpoint_answers_when_the_first_is_away_and_then_is_asked_first(node: StandInNode) -> None:
    monotonic = Monotonic()
    with standing_in() as second:
        second.results["eth_call"] = "0x02"
        node.fault = status(500)
        rpc = _rpc(node.url, second.url, monotonic=monotonic)
        assert [rpc.call(b"\x01"), rpc.call(b"\x01")] == [b"\x02", b"\x02"]
        assert node.asked == ["eth_chainId"]
        node.fault = None
        node.results["eth_call"] = "0x01"
        monotonic.now += ASIDE_SECONDS
        assert rpc.call(b"\x01") == b"\x01"


def test_a_second_endpoint_of_another_chain_is_no_fall_back(node: StandInNode) -> None:
    node.fault = status(500)
    with standing_in(chain_id=1) as second, pytest.raises(Unavailable):
        second.results["eth_call"] = "0x02"
        _rpc(node.url, second.url).call(b"\x01")


def test_each_endpoint_sees_each_question_once_and_none_while_all_are_down(node: StandInNode) -> None:
    monotonic = Monotonic()
    rpc = _rpc(node.url, monotonic=monotonic)
    node.fault = status(500)
    for _ in range(5):
        with pytest.raises(Unavailable):
            rpc.call(b"\x01")
    assert len(node.asked) == 2
    node.fault = None
    monotonic.now += PAUSE_SECONDS
    assert rpc.call(b"\x01") == b""


def test_without_an_endpoint_the_chain_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        _rpc().call(b"\x01")


@pytest.mark.parametrize(
    "url",
    [
        "http://rpc.example.org/",
        "ftp://127.0.0.1/",
        "https://user:word@rpc.example.org/",
        "http://127.0.0.1.example.org/",
        "",
    ],
)
def test_an_endpoint_must_be_https_or_on_this_machine(url: str) -> None:
    with pytest.raises(Unavailable):
        _rpc(url).call(b"\x01")


def test_no_log_and_no_error_names_an_endpoint(node: StandInNode, caplog: pytest.LogCaptureFixture) -> None:
    node.fault = status(500)
    with caplog.at_level(logging.INFO), pytest.raises(Unavailable) as raised:
        _rpc(f"{node.url}/v2/secret-key").call(b"\x01")
    told = [(record.getMessage(), vars(record)["reason"]) for record in caplog.records]
    assert told == [("an endpoint of a chain did not answer", "http_500"), ("auth event", "optimism")]
    assert "secret-key" not in f"{[vars(one) for one in caplog.records]} {raised.value} {raised.value.envelope()}"


def test_only_a_vital_chain_that_no_endpoint_answers_for_is_counted(
    node: StandInNode, caplog: pytest.LogCaptureFixture
) -> None:
    def counted(rpc: Rpc) -> int:
        caplog.clear()
        with pytest.raises(Unavailable):
            rpc.call(b"\x01")
        return sum(getattr(record, "event", "") == "rpc" for record in caplog.records)

    with standing_in() as second:
        node.fault = status(500)
        _rpc(node.url, second.url).call(b"\x01")
    assert not [record for record in caplog.records if record.getMessage() == "auth event"]
    assert counted(_rpc(node.url)) == 1
    assert counted(_rpc()) == 1
    assert counted(Rpc(lambda: [node.url], 10, vital=False)) == 0


def test_a_connection_that_was_idle_is_not_trusted(node: StandInNode) -> None:
    wall = Monotonic()
    rpc = Rpc(lambda: [node.url], 10, clock=wall)
    rpc.call(b"\x01")
    wall.now += 3_600
    assert rpc.call(b"\x01") == b""
