"""Text that gives orders to agents. Pure."""

from collections.abc import Sequence

from commonplace.hive.model import Mark


def orders(text: str) -> Sequence[Mark]:  # noqa: ARG001 - follows
    """What in a text gives orders to agents, or hides."""
    return ()
