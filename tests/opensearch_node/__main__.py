"""Run a node until Ctrl-C: `python -m tests.opensearch_node [HEAP]`, such as 2g."""

import signal
import sys

from commonplace_local.errors import CommandError
from tests.opensearch_node.node import OwnedNode

try:
    with OwnedNode(heap=(sys.argv[1:] or ["512m"])[0]) as node:
        print(f"OpenSearch is ready: {node.url} (Ctrl-C ends it)", flush=True)
        signal.pause()
except CommandError as error:
    sys.exit(f"{error.message}\n{error.hint}")
except KeyboardInterrupt:
    pass
