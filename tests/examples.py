"""How many examples a property test tries."""

import os

SOAK = "COMMONPLACE_TEST_SOAK"
SOAKING = bool(os.environ.get(SOAK))
"""Whether this is `make soak`: the long versions of tests that look for rare faults."""


def examples(usual: int, soak: int | None = None) -> int:
    """`usual` in every run, `soak` (ten times as many unless given) in `make soak`."""
    return usual if not SOAKING else soak or usual * 10
