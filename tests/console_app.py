"""The console over stores in memory: real sessions and rights, stand-ins for the chain and for AWS alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from httpx2 import Response
from starlette.applications import Starlette
from starlette.testclient import TestClient

from commonplace.capabilities import CAPABILITIES
from commonplace.identity.access_tokens import member_id, subject_hash
from commonplace.identity.accounts import Denials, Profile
from commonplace.identity.oidc_sessions import NO_PROVIDER
from commonplace.identity.roles import RoleMap
from commonplace.identity.sessions import COOKIE, Sessions, Visitors, csrf_token, open_session
from commonplace.kernel.audit import AuditLog
from commonplace.kernel.limits import CounterStore, Limiter
from commonplace.web.pages.console import ASSETS, Console, create_console
from commonplace.web.pages.declaration import ConsolePages
from commonplace.web.pages.frame import Frame, PageContext
from commonplace.web.stack import Limits
from tests.fakes.authority import ALICE, KEY, Accounts, Counters
from tests.fakes.identity_stores import Clock, MemoryAudit, MemorySignIns

ORIGIN = "https://garden.example.org"
PUBLIC = cast(PageContext, SimpleNamespace(settings=SimpleNamespace(site_tier="public")))
"""As far as the console's home reads it: a deployment that everybody may read."""
FORM = {"origin": ORIGIN, "sec-fetch-site": "same-origin"}


@dataclass
class Deployment:
    """One console, for a test to look at and to change."""

    pages: Callable[[Frame], Sequence[ConsolePages]]
    origin: str = ORIGIN
    clock: Clock = field(default_factory=Clock)
    standings: Accounts = field(default_factory=Accounts)
    audit: AuditLog = field(default_factory=MemoryAudit)
    denied: MemoryAudit = field(default_factory=MemoryAudit)
    counters: CounterStore = field(default_factory=Counters)
    reads: int = 0
    sign_ins: MemorySignIns = field(default_factory=lambda: MemorySignIns(Clock()))
    app: Starlette = field(init=False)

    def __post_init__(self) -> None:
        self.sign_ins.clock = self.clock
        links = [link for capability in CAPABILITIES for link in capability.links]
        frame = Frame("The garden", base_url=self.origin, links=links, assets_path=ASSETS)
        sessions = Sessions(self.sign_ins, NO_PROVIDER, self.clock)
        roles = RoleMap()
        self.app = create_console(
            Console(
                frame=frame,
                declared=self.pages(frame),
                visitors=Visitors(sessions, self.standings, lambda *of: member_id(KEY, *of)),
                audit=self.audit,
                denials=Denials(self.denied.write, self.clock),
                limits=Limits(Limiter(self.counters, self.clock), self.reads, 0),
                clock=self.clock,
                origin=self.origin,
                organisation="garden",
                ways=lambda need: roles.ways(need.tier, need.scope),
            )
        )

    def browser(self, subject: str | None = ALICE, address: str = "203.0.113.7") -> "Browser":
        """Of somebody who has just signed in, or of nobody."""
        http = TestClient(
            self.app, base_url=ORIGIN, follow_redirects=False, raise_server_exceptions=False, client=(address, 1)
        )
        made = Browser(http)
        if subject is not None:
            profile = Profile(subject=subject, kind="wallet", address=subject, name="alice.eth")
            made.cookie = open_session(self.sign_ins, profile, subject_hash(KEY, subject), self.clock())
        return made


@dataclass
class Browser:
    """One browser; `cookie` is that of its session, empty when there is none."""

    http: TestClient
    cookie: str = ""

    @property
    def csrf(self) -> str:
        return csrf_token(self.cookie)

    def get(self, path: str, **headers: str) -> Response:
        return self.http.get(path, headers=self._with(headers))

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Response:
        """As a form of ours is sent, with its token unless `fields` bring another."""
        sent = {"csrf": self.csrf, **(fields or {})}
        return self.http.post(path, data=sent, headers=self._with({**FORM, **headers}))

    def _with(self, headers: dict[str, str]) -> dict[str, str]:
        return {**headers, "cookie": f"{COOKIE}={self.cookie}"} if self.cookie else headers
