"""The keeper of a node: starts it and, when it has an owner, ends it with that owner. A script: `python keeper.py`.

Reads one JSON object from its standard input (command, environment, folder, log, user) and answers with the node's pid.
Detached, it ends at once and the node goes on. Else it stays: when its input closes, which happens however its owner
ends, it ends the node, and removes `wipe` if that was given. It ends when the node does.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from typing import Any

PATIENCE_SECONDS = 30


def start(wanted: dict[str, Any]) -> "subprocess.Popen[bytes]":
    """A session of its own: a Ctrl-C at the terminal is for the owner, who ends the node in order."""
    with open(wanted["log"], "ab") as log:  # noqa: PTH123  nothing is imported that takes time
        return subprocess.Popen(
            wanted["command"],
            cwd=wanted["folder"],
            env=wanted["environment"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **wanted["user"],
        )


def keep(process: "subprocess.Popen[bytes]", orphaned: threading.Event, wipe: str | None) -> None:
    """Returns when the node has ended, by itself or since its owner is gone."""

    def listen() -> None:
        while os.read(0, 1024):
            pass
        orphaned.set()

    def end() -> None:
        orphaned.wait()
        process.terminate()
        time.sleep(PATIENCE_SECONDS)
        process.kill()

    for work in (listen, end):
        threading.Thread(target=work, daemon=True).start()
    process.wait()
    if orphaned.is_set() and wipe:
        shutil.rmtree(wipe, ignore_errors=True)


def main() -> None:
    orphaned = threading.Event()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # A handler, since what is ignored here would be ignored by the node as well.
        signal.signal(number, lambda *_: orphaned.set())
    wanted = json.loads(sys.stdin.buffer.readline())
    process = start(wanted)
    os.write(1, f"{process.pid}\n".encode())
    os.close(1)
    if not wanted["detached"]:
        keep(process, orphaned, wanted["wipe"])
    os._exit(0)  # a thread may still read


if __name__ == "__main__":
    main()
