"""Every test ends: signals reach what it starts however the suite was started, and waiting has a deadline."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import INHERITED, ended

ROOT = Path(__file__).parents[2]
WAITS = "import signal; print('ready', flush=True); signal.pause()"


def test_signals_have_their_default_action_here_and_in_what_is_started() -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ()) & set(INHERITED)
    for number in INHERITED:
        started = subprocess.Popen(
            [sys.executable, "-S", "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        with ended(started) as process:
            assert process.stdout and process.stdout.readline() == b"ready\n"
            process.send_signal(number)
            assert process.wait(30) == -number


def run(command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a suite of its own by a command line of the shell, in which `$@` is pytest with the arguments."""
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    words = ["sh", "-c", command, "sh", *program]
    return subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_suite_that_a_script_started_in_the_background_can_interrupt_what_it_starts() -> None:
    name = "test_signals_have_their_default_action_here_and_in_what_is_started"
    done = run('trap "" INT TERM HUP QUIT; exec "$@"', f"tests/unit/test_processes.py::{name}")
    assert done.returncode == 0, done.stdout


HANGS = f"""
import subprocess, sys
from tests.processes import ended

def test_hangs():
    with ended(subprocess.Popen([sys.executable, "-S", "-c", {WAITS!r}], stdout=subprocess.PIPE, text=True)) as process:
        print("pid", process.pid)
        process.stdout.readline()
        process.stdout.readline()

def test_follows():
    pass
"""


def test_a_wait_without_end_fails_at_its_deadline_leaves_no_process_and_lets_the_next_test_run(tmp_path: Path) -> None:
    file = tmp_path / "test_waits.py"
    file.write_text(HANGS, encoding="utf-8")
    done = run('exec "$@"', "-c", "pyproject.toml", "--rootdir", ".", "-o", "timeout=1", str(file))
    assert "1 failed, 1 passed" in done.stdout
    found = re.search(r"pid (\d+)", done.stdout)
    assert found
    assert not Path(f"/proc/{found[1]}").exists()


def test_every_test_has_a_deadline_and_a_later_one_that_ends_its_process(pytestconfig: pytest.Config) -> None:
    soft = float(os.environ.get("PYTEST_TIMEOUT", pytestconfig.getini("timeout")))
    assert 0 < soft < float(pytestconfig.getini("faulthandler_timeout"))
    assert pytestconfig.getini("faulthandler_exit_on_timeout")
