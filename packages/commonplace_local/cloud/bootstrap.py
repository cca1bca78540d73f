"""Entry point of one execution environment: `bootstrap.py HANDLER`, run as a script in a process of its own.

It is `python -m awslambdaric HANDLER` with an eye on the parent: standard input is a pipe that nobody writes to, and
when it closes the parent has gone, however it went, so this process goes too. It imports nothing of the project but the
loop of a function that streams: what a handler can import is what the host put on `PYTHONPATH`.
"""

import importlib
import importlib.util
import os
import sys
import threading
from pathlib import Path
from typing import Any

STAND_IN_FLAG = "--stand-in"
WRAPPER = "AWS_LAMBDA_EXEC_WRAPPER"


def leave_with_the_parent() -> None:
    lifeline = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what a handler starts must not hold the lifeline, nor read from it
    os.close(nothing)

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def bring_the_key() -> None:
    """Has the client of the Runtime API end its User-Agent with the access key of the run (`runtime.py`)."""
    client: Any = importlib.import_module("runtime_client")
    plain, key = client.initialize_client, os.environ["AWS_ACCESS_KEY_ID"]
    client.initialize_client = lambda agent: plain(f"{agent} {key}")


def main(arguments: list[str]) -> None:
    leave_with_the_parent()
    if WRAPPER in os.environ:
        # The template's functions have one wrapper, which starts this loop in place of AWS's.
        runtime: Any = importlib.import_module("commonplace.web.stream_runtime")
        agent = f"{runtime.AGENT} {os.environ['AWS_ACCESS_KEY_ID']}"
        runtime.Runtime(os.environ["AWS_LAMBDA_RUNTIME_API"], agent).run(arguments[0])
    if STAND_IN_FLAG in arguments or importlib.util.find_spec("runtime_client") is None:
        sys.path.insert(0, str(Path(__file__).parent / "stand_in"))
    else:
        bring_the_key()
    from awslambdaric.__main__ import main as run

    run([sys.argv[0], arguments[0]])


if __name__ == "__main__":
    main(sys.argv[1:])
