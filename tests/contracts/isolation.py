"""Two organisations in one deployment, each calling the memory's tools over HTTP with a token of its own."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from commonplace.identity.principals import Principal
from commonplace.kernel.limits import Limiter
from commonplace.memory.operations import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.memory.upkeep import carry_on
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.throttle import Throttle
from tests.contracts.engines import ENGINES
from tests.fakes.identity_stores import Clock
from tests.fakes.memories import CountingEmbeddings, Remembering
from tests.unit.web.mcp.world import BASE_URL, NO_LIMITS, ByToken, Context, Counters, body_of, call, modern
from tests.unit.web.mcp.world import Clock as EpochClock

ORGANISATIONS = ("acme", "other")
PATH = "/mcp/memory"


@dataclass
class Together(Remembering):
    """Ids and times depend on what the organisation that acts has done itself, and on nobody else."""

    acting: str = "acme"
    ticks: Counter[str] = field(default_factory=Counter)
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Every id that was made for an organisation, of entries and of work."""
    hurried: bool = False
    """Whether calls have time for one batch only."""

    def clock(self) -> datetime:
        self.ticks[self.acting] += 1
        return datetime.fromtimestamp(Clock.now, UTC) + timedelta(seconds=self.ticks[self.acting])

    def new_id(self) -> str:
        made = hashlib.sha256(f"{self.acting} {len(self.ids[self.acting])}".encode()).digest()
        self.ids[self.acting].append(str(UUID(bytes=made[:16])))
        return self.ids[self.acting][-1]

    def handles(self, organisation: str) -> list[str]:
        """Of all its work, in the order in which it was begun."""
        return [id for owner, id in self.jobs.kept if owner == organisation]

    def carry_on_all(self, organisation: str) -> None:
        """A stretch of each of its jobs."""
        self.acting = organisation
        for job in list(self.jobs.unfinished(organisation)):
            carry_on(self.memory, organisation, job.id, lambda: True)

    def state(self, organisation: str) -> str:
        """Everything that is kept of an organisation, wherever it is kept."""
        return repr(
            (
                self.store.kept.get(organisation),
                sorted((id, job) for (owner, id), (job, _) in self.jobs.kept.items() if owner == organisation),
                sorted((key[1:], text) for key, text in self.jobs.pieces.items() if key[0] == organisation),
                sorted((key[1:], n) for key, n in self.counts.kept.items() if key[0] == organisation),
                sorted(self.caches.caches[organisation].kept) if organisation in self.caches.caches else [],
                sorted(held for held in self.engine.versions() if held[0].startswith(f"{organisation}/")),
                [record for record in self.store.audit.records if record.organisation == organisation],
                [record for record in self.jobs.audit.records if record.organisation == organisation],
            )
        )


class _Now:
    """Stands for whatever the deployment of the moment has."""

    def __init__(self) -> None:
        self.world: Together | None = None
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        assert self.world is not None
        return getattr(self.world.memory, name)

    def monotonic(self) -> float:
        """A call has as many seconds as it needs, or next to none."""
        assert self.world is not None
        self.seconds += 60.0 if self.world.hurried else 0.0
        return self.seconds


NOW = _Now()


@cache
def gateway() -> Gateway:
    """The application, built once: what it serves is whatever `NOW` stands for."""
    services = MemoryServices(memory=cast(Any, NOW), monotonic=NOW.monotonic)
    throttle = Throttle(Limiter(Counters(), EpochClock()), NO_LIMITS)
    accounts = {f"token-of-{name}": _member(name) for name in ORGANISATIONS}
    app = create_app(
        [memory_toolset(services)],
        Surface(base_url=BASE_URL, spend=throttle.spend),
        throttle=throttle,
        principals=ByToken(accounts),
    )
    return Gateway(app)


def _member(organisation: str) -> Principal:
    return Principal(
        subject=f"agent:of-{organisation}",
        organisation=organisation,
        tier="vibecoder",
        scopes=frozenset({"memory:admin"}),
        account=hashlib.sha256(organisation.encode()).hexdigest()[:32],
    )


@contextmanager
def together(kind: str, folder: Path, fixture: Callable[[str], Any]) -> Iterator[Together]:
    """A deployment with an engine of this kind, and nothing in it. A batch is one entry: much is left to jobs."""
    model = CountingEmbeddings()
    with ENGINES[kind](folder, fixture) as make:
        yield Together(make(model), model, batch=1)


def asked(world: Together, organisation: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What this organisation is answered: the result of the call, or the error of the protocol."""
    NOW.world, world.acting = world, organisation
    headers = {"authorization": f"Bearer token-of-{organisation}", "x-organisation": other_than(organisation)}
    event = modern("tools/call", call(tool, **arguments), headers, path=PATH)
    body: dict[str, Any] = body_of(gateway()(event, cast(Any, Context())))
    result: dict[str, Any] = body.get("result") or body["error"]
    return result


def other_than(organisation: str) -> str:
    return next(name for name in ORGANISATIONS if name != organisation)


def comparable(tool: str, result: dict[str, Any]) -> Any:
    """An answer without what the other's texts may move in it.

    That is the order of a search alone: how much a word weighs depends on how often it stands in the whole index.
    """
    data = result.get("structuredContent") or {}
    if tool != "kb_search" or "entries" not in data:
        return json.loads(json.dumps({name: value for name, value in result.items() if name != "_meta"}))
    shown = [(entry["id"], *entry.get("duplicates", ())) for entry in data["entries"]]
    return sorted(id for ids in shown for id in ids), data["fallback"]
