"""A bound on time holds whatever the work does, and what the work says comes through."""

from threading import Event

import pytest

from commonplace.identity.ethereum.rpc import within


def test_what_the_work_gives_is_given() -> None:
    assert within(5, lambda: 7) == 7
    assert within(5, lambda: None) is None


def test_what_the_work_raises_is_raised() -> None:
    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        within(5, fails)


def test_work_that_takes_too_long_is_left_to_itself() -> None:
    release, ended = Event(), Event()

    def waits() -> None:
        release.wait(30)
        ended.set()

    with pytest.raises(TimeoutError):
        within(0.01, waits)
    assert not ended.is_set()
    release.set()
    assert ended.wait(60), "it ends when it can, and nobody hears of it"
