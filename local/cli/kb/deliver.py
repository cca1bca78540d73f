"""Files of entries sent to the memory, one after the other, and told of even where it stops."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

import typer

from commonplace.memory.client.client import MemoryClient, Told
from local.access import Grant, Place
from local.cli.kb.connection import GRANT, SEED_SECONDS, reached
from local.cli.kb.progress import progress
from local.errors import CommandError

AGAIN = "Run the same command again: it goes on where it stopped."


class Sent(Protocol):
    """What became of a file."""

    @property
    def errors(self) -> Mapping[int, str]: ...


S = TypeVar("S", bound=Sent)


def deliver(
    files: Mapping[str, list[Any]],
    send: Callable[[MemoryClient, list[Any], Told], S],
    tell: Callable[[Mapping[str, S]], None],
    place: Place,
    grant: Grant = GRANT,
) -> None:
    """Sends each file, then tells of those that are done. Ends with 1 where an entry was refused."""
    done: dict[str, S] = {}
    try:
        with reached(place, SEED_SECONDS, grant) as client:
            for name, entries in files.items():
                with progress(name) as told:
                    told(0, len(entries))
                    done[name] = send(client, entries, partial(told, total=len(entries)))
    except CommandError as error:
        tell(done)
        raise CommandError(error.message, f"{error.hint} {AGAIN}".strip()) from error
    except KeyboardInterrupt:
        tell(done)
        typer.echo(f"Stopped. {AGAIN}", err=True)
        raise
    tell(done)
    if any(one.errors for one in done.values()):
        raise typer.Exit(1)
