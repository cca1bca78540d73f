"""The keeper of a node: starts it and ends it with its owner. A script: `python keeper.py`.

It reads one JSON object from its standard input (command, environment, folder, log, user, wipe) and answers with the
node's pid. When its input closes, which happens however its owner ends, it ends the node and removes `wipe`. It ends
when the node does.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

GRACE_SECONDS = 30
"""How long a node may take to end by itself before it is killed."""


def main() -> None:
    """Run the node that the first line of the input describes."""
    orphaned = threading.Event()
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        # A handler, since what is ignored here would be ignored by the node as well.
        signal.signal(number, lambda *_: orphaned.set())
    wanted = json.loads(sys.stdin.buffer.readline())
    with open(wanted["log"], "ab") as log:  # noqa: PTH123  nothing is imported that takes time
        process = subprocess.Popen(
            wanted["command"],
            cwd=wanted["folder"],
            env=wanted["environment"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C at the terminal is for the owner, who ends the node in order
            **wanted["user"],
        )
    os.write(1, f"{process.pid}\n".encode())
    os.close(1)

    def listen() -> None:
        while os.read(0, 1024):
            pass
        orphaned.set()

    def end() -> None:
        orphaned.wait()
        process.terminate()
        time.sleep(GRACE_SECONDS)
        process.kill()

    for work in (listen, end):
        threading.Thread(target=work, daemon=True).start()
    process.wait()
    if orphaned.is_set():
        shutil.rmtree(wanted["wipe"], ignore_errors=True)
    os._exit(0)  # a thread may still read


if __name__ == "__main__":
    main()
