"""Starting, recognising and ending a process, with a made-up node: a program that waits."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.errors import CommandError
from local.opensearch import process
from local.opensearch.java import Java
from local.opensearch.node import NodeRecord, cluster_of, forget, last_port
from local.opensearch.process import Options, command_of, end, is_ours, kill, launch, pid_file, release

WAITS = "import signal\nsignal.pause()\n"
DEAF = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[2], "w").close()
while True:
    signal.pause()
"""
LIMIT_SECONDS = 20
JAVA = Java(Path("/nowhere"), 25)


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return condition()


def make_program(folder: Path, code: str = WAITS) -> Path:
    script = folder / "opensearch-program" / "bin" / "opensearch"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{sys.executable}\n{code}")
    script.chmod(0o755)
    return script.parents[1]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(process, "as_node", dict)  # whoever runs the tests can run the made-up program
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


@pytest.fixture
def detached(state: Path, tmp_path: Path) -> Iterator[int]:
    pid = launch(state, make_program(tmp_path), JAVA, Options(), detached=True).pid
    assert until(lambda: is_ours(pid, state))
    yield pid
    kill(pid, state)


def test_a_detached_node_goes_on_without_its_starter(detached: int, state: Path) -> None:
    assert is_ours(detached, state)
    assert os.getsid(detached) == detached != os.getsid(0)


def test_our_node_is_ended_and_waited_for(detached: int, state: Path) -> None:
    assert end(detached, state)
    assert not is_ours(detached, state)
    assert not end(detached, state)


def test_the_node_of_another_folder_is_left_alone(detached: int, state: Path, tmp_path: Path) -> None:
    assert not end(detached, tmp_path / "another")
    assert is_ours(detached, state)


def test_a_process_that_was_given_the_number_of_a_dead_node_is_left_alone(state: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", WAITS])
    try:
        assert not end(stranger.pid, state)
        kill(stranger.pid, state)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_node_that_does_not_heed_is_killed(state: Path, tmp_path: Path) -> None:
    pid = launch(state, make_program(tmp_path, DEAF), JAVA, Options(), detached=True).pid
    assert until(pid_file(state).exists)
    assert end(pid, state, seconds=0.2)
    assert not is_ours(pid, state)


def test_a_node_with_an_owner_ends_when_it_is_released(state: Path, tmp_path: Path) -> None:
    started = launch(state, make_program(tmp_path), JAVA, Options(), detached=False)
    assert started.owner is not None
    assert until(lambda: is_ours(started.pid, state))
    release(started.owner)
    assert not is_ours(started.pid, state)
    assert state.exists()


def test_what_is_to_go_with_an_owner_goes(state: Path, tmp_path: Path) -> None:
    started = launch(state, make_program(tmp_path), JAVA, Options(), detached=False, wipe=state)
    assert started.owner is not None
    release(started.owner)
    assert not state.exists()


def test_a_crash_of_the_node_keeps_its_data_and_ends_the_keeper(state: Path, tmp_path: Path) -> None:
    started = launch(state, make_program(tmp_path), JAVA, Options(), detached=False, wipe=state)
    assert started.owner is not None
    assert until(lambda: is_ours(started.pid, state))
    kill(started.pid, state)
    assert until(lambda: started.owner is not None and started.owner.poll() is not None)
    release(started.owner)
    assert state.exists()


def test_a_politely_ended_keeper_takes_its_node_along(state: Path, tmp_path: Path) -> None:
    started = launch(state, make_program(tmp_path), JAVA, Options(), detached=False)
    assert started.owner is not None
    assert until(lambda: is_ours(started.pid, state))
    started.owner.send_signal(signal.SIGTERM)
    started.owner.wait(LIMIT_SECONDS)
    assert not is_ours(started.pid, state)
    release(started.owner)


def test_a_program_that_is_not_there_is_said_in_words(state: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="could not be started"):
        launch(state, tmp_path / "missing", JAVA, Options(), detached=True)


def test_a_process_that_is_gone_has_no_command() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert command_of(gone.pid) == ""
    assert sys.executable in command_of(os.getpid()) or "python" in command_of(os.getpid())


def test_the_same_is_found_out_where_there_is_no_proc(
    detached: int, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PROCESSES", Path("/nowhere"))
    assert is_ours(detached, state)
    assert not is_ours(os.getpid(), state)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = NodeRecord(17, "http://127.0.0.1:4711", "commonplace-one")
    record.write(tmp_path)
    assert NodeRecord.read(tmp_path) == record
    forget(tmp_path)
    assert NodeRecord.read(tmp_path) is None
    assert last_port(tmp_path) == 4711


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x", "url": "", "cluster": ""}', "{", "null"])
def test_a_record_that_makes_no_sense_is_no_record(text: str, tmp_path: Path) -> None:
    (tmp_path / "node.json").write_text(text)
    assert NodeRecord.read(tmp_path) is None


def test_a_stale_record_names_no_running_node(state: Path) -> None:
    record = NodeRecord(os.getpid(), "http://127.0.0.1:1", "commonplace-one")
    record.write(state)
    assert json.loads((state / "node.json").read_text())["pid"] == os.getpid()
    assert not record.runs(state)
    assert not record.answers()


def test_a_cluster_keeps_its_name_and_no_two_have_the_same(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    assert cluster_of(tmp_path / "one") == cluster_of(tmp_path / "one") != cluster_of(tmp_path / "other")
