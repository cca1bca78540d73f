"""A node that belongs to one process and ends with it, however that ends: for tests, and for `commonplace dev`."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from local.opensearch.configuration import Options
from local.opensearch.folders import Home, find_home, state_for, temporary_state
from local.opensearch.process import Started, kill
from local.opensearch.record import NodeRecord
from local.opensearch.starting import bring_up, ensure_engine, take_down
from local.opensearch.telling import Tell, silently


class OwnedNode:
    """`data` keeps what is stored for the next start; without it, it goes with the node.

    The folder may lie elsewhere when root asks: the node's user must be able to enter it.
    """

    def __init__(
        self,
        data: Path | None = None,
        *,
        home: Home | None = None,
        options: Options | None = None,
        tell: Tell = silently,
    ) -> None:
        self._home, self._options, self._tell = home or find_home(), options or Options(), tell
        self._data = data
        self._running: tuple[NodeRecord, Started] | None = None
        self._state: Path | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when an index can be written. Raises RequirementMissing, or CommandError with nothing running."""
        engine = ensure_engine(self._home, self._tell)
        if self._state is None:
            self._state = state_for(self._data, self._home) if self._data else temporary_state()
        wipe = None if self._data else self._state
        try:
            self._running = bring_up(self._state, engine, self._options, self._tell, detached=False, wipe=wipe)
        except BaseException:
            self.stop()
            raise
        self._options = replace(self._options, port=self._running[0].port)

    def stop(self) -> None:
        """Ends the node, and waits until it is gone."""
        if self._running and self._state:
            take_down(self._state, self._running[1])
        self._running = None
        if self._state and self._data is None:
            shutil.rmtree(self._state, ignore_errors=True)
            self._state = None

    def kill(self) -> None:
        """Ends the node as a power cut does; `restart` brings it back with what it had stored."""
        record, started = self._running or _not_running()
        if self._state:
            kill(record.pid, self._state)
            if started.owner is not None:
                started.owner.wait()  # released before it sees the crash, it would clear the data away
            take_down(self._state, started)
        self._running = None

    def restart(self) -> None:
        """Starts the node again, at the same address."""
        self.start()

    @property
    def url(self) -> str:
        return (self._running or _not_running())[0].url

    @property
    def pid(self) -> int:
        return (self._running or _not_running())[0].pid

    @property
    def folder(self) -> Path | None:
        """Where its data is; None before the first start."""
        return self._state


def _not_running() -> tuple[NodeRecord, Started]:
    raise RuntimeError("The node does not run.")
