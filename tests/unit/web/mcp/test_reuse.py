"""One process, many invocations: nothing is left behind, nothing is mixed up, whatever came before."""

import asyncio
import gc
import logging
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.web.gateway import Gateway
from commonplace.web.mcp.calls import MAX_THREADS
from tests.unit.web.mcp.world import META, World, body_of, call, event, legacy, modern

SEQUENTIAL, CONCURRENT = 1_000, 200
GROWTH_BYTES = 5_000_000
GROWTH_BLOCKS = 2_000
"""Python objects, roughly: two for each invocation would be a leak."""
PROGRESS = {"_meta": META | {"progressToken": "p"}}


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.release.set()


def asked(number: int) -> dict[str, Any]:
    """One of many kinds of requests; each says who it is, in its id and in its argument."""
    era = (modern, legacy)[number % 2]
    params = call("echo", text=f"caller {number}")
    match number // 2 % 5:
        case 0:
            return era("tools/call", params, id=number)
        case 1:
            return era("tools/call", call("find", text=f"caller {number}"), id=number)
        case 2:
            return era("tools/call", call("narrate", text=f"caller {number}") | PROGRESS, id=number)
        case 3:
            return era("prompts/get", {"name": "ask", "arguments": {"topic": f"caller {number}"}}, id=number)
        case _:
            return era("tools/call", params, id=f"{number}")


def is_answered(number: int, answer: dict[str, Any]) -> bool:
    body = body_of(answer)
    told = body["result"].get("structuredContent") or body["result"]["messages"][0]["content"]
    expected = (f"caller {number}", f"Tell me about caller {number}.")
    return answer["statusCode"] == 200 and str(body["id"]) == str(number) and told["text"] in expected


def tasks_of(world: World) -> set[asyncio.Task[Any]]:
    """Those of this thread's loop, which is the gateway's."""
    return asyncio.all_tasks(world.handler._loops.settle())


def threads_beside_the_pool() -> int:
    """The pool itself has its bound, whatever is given up."""
    working = [thread for thread in threading.enumerate() if thread.name.startswith("mcp-tool")]
    assert len(working) <= MAX_THREADS
    return threading.active_count() - len(working)


def held() -> tuple[int, int]:
    """Bytes of this process in memory, as far as the system says, and blocks that Python holds."""
    gc.collect()
    told = Path("/proc/self/statm")
    pages = int(told.read_text().split()[1]) if told.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE"), sys.getallocatedblocks()


def wait_slowly(world: World, number: int) -> None:
    """A call that reaches its deadline; its thread goes on until the world is released."""
    era = (modern, legacy)[number % 2]
    answer = world.ask(era("tools/call", call("wait", text="slow"), id=number), milliseconds_left=1_020)
    assert (answer["statusCode"], body_of(answer)["id"]) == (504, number)


def test_a_thousand_invocations_leave_nothing_behind(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, logger="commonplace.web.mcp.edge")
    for number in range(100):
        assert is_answered(number, world.ask(asked(number)))
    wait_slowly(world, 7)
    threads, (resident, blocks) = threads_beside_the_pool(), held()
    for number in range(SEQUENTIAL):
        assert is_answered(number, world.ask(asked(number)))
        assert not tasks_of(world)
        if number == SEQUENTIAL // 2:
            wait_slowly(world, number)
    world.records.clear()
    after = held()
    assert after[0] - resident < GROWTH_BYTES
    assert after[1] - blocks < GROWTH_BLOCKS
    assert threads_beside_the_pool() == threads
    world.release.set()
    assert is_answered(1, world.ask(asked(1)))


def test_invocations_side_by_side_get_their_own_answers(world: World) -> None:
    """Each in a thread with a loop of its own, all at once; one of them reaches its deadline."""
    begun = threading.Barrier(CONCURRENT)

    def handle(number: int) -> bool:
        begun.wait(60)
        if number == CONCURRENT // 2:
            wait_slowly(world, number)
        answered = is_answered(number, world.ask(asked(number)))
        return answered and not tasks_of(world)

    before = threads_beside_the_pool()
    with ThreadPoolExecutor(CONCURRENT) as threads:
        answered = list(threads.map(handle, range(CONCURRENT)))
    assert answered == [True] * CONCURRENT
    assert threads_beside_the_pool() == before


def test_an_answer_after_a_deadline_is_the_next_callers_own(world: World) -> None:
    """What an abandoned thread says when it is done reaches nobody."""
    wait_slowly(world, 1)
    world.release.set()
    for number in range(2, 20):
        assert is_answered(number, world.ask(asked(number)))


def test_a_warm_up_event_is_answered_without_the_application(world: World) -> None:
    assert world.ask({"source": "aws.events", "detail-type": "Scheduled Event"}) == {"ok": True}


def test_a_gateway_works_in_a_thread_without_a_loop(world: World) -> None:
    """Python 3.14 gives no thread a loop unasked, and `asyncio.run` takes the main one's away."""
    asyncio.set_event_loop(None)
    assert is_answered(3, world.ask(asked(3)))
    asyncio.run(asyncio.sleep(0))
    assert is_answered(4, world.ask(asked(4)))


def test_what_a_request_leaves_behind_ends_with_it() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            ended.append("lingering")
            raise

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["kept"] = asyncio.get_running_loop().create_task(linger())
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": HTTPStatus.ACCEPTED, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    answer = Gateway(app)(event(""), cast(Any, None))
    assert ended == ["lingering"]
    assert (answer["statusCode"], type(answer["statusCode"])) == (202, int)
