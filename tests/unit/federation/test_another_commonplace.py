"""Another Commonplace as a partner, over TLS: it fetches our client document, and people sign in in the console."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.federation.client import transport
from commonplace.federation.client.connection import Connections
from commonplace.federation.client.transport import GuardedTransport
from commonplace.federation.commons import Commons
from commonplace.federation.console import PartnerPages
from commonplace.federation.partners import Partners
from commonplace.federation.sign_ins import CALLBACK, DOCUMENT, SignIns, client_metadata
from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, subject_hash
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.oauth.server.app import create_app as authorization_app
from commonplace.identity.resources import Resources
from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import PARTNERS as KIND
from commonplace.kernel.guarded_http import GuardedHttp, Network
from commonplace.kernel.limits import Limiter
from commonplace.kernel.records import Records
from commonplace.kernel.table import Table
from commonplace.web.challenges import Challenges
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.throttle import Throttle
from commonplace.web.pages.declaration import ConsolePages
from tests.console_app import Browser, Deployment
from tests.dynamodb_fixture import new_table
from tests.fakes.authority import ALICE, BOB, KEY, standing
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.partners import Seen, serving, watched
from tests.person import Person, wallet
from tests.unit.documents.tools.worlds import finding
from tests.unit.kernel.tls_server import BESIDE, HOST, bundle, trusting
from tests.unit.web.mcp.world import NO_LIMITS, Counters

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

HERE, THERE = f"https://{BESIDE}", f"https://{HOST}"


class World:
    """Both deployments behind one port, by the name that is asked for."""

    def __init__(self, dynamodb: DynamoDBClient, folder: Path, stack: ExitStack) -> None:
        self.apps: dict[str, Any] = {}
        self.seen = Seen()
        address = stack.enter_context(
            serving(watched(self.serve, self.seen), ssl_certfile=str(bundle(folder)), lifespan="off")
        )
        port = int(address.split(":")[2].split("/")[0])
        network = Network(
            look_up=lambda *_: ["127.0.0.1"], public=lambda address: address == "127.0.0.1", port=port, context=trusting
        )
        self.partner = AuthorizationServer(THERE, fetcher=GuardedHttp(network=network))
        self.apps[HOST] = {"mcp": self.mcp(), "": authorization_app(self.partner.services)}
        guarded = partial(GuardedTransport, public=network.public, tls=trusting(), port=port)
        connections = stack.enter_context(closing(Connections(guarded)))
        records = Records(Table(dynamodb, new_table(dynamodb, "records")), new_table(dynamodb, "activity"), KIND)
        sign_ins = SignIns(records, lambda: connections, lambda: KEY, base_url=HERE, name="The garden")
        self.partners = Partners(records, lambda: connections, sign_ins)
        document = {"client_id": f"{HERE}{DOCUMENT}", **client_metadata(HERE, "The garden")}
        pages = ConsolePages(
            pages=PartnerPages(self.partners).pages(),
            templates=Path(transport.__file__).parent.parent / "templates",
            documents={DOCUMENT.removeprefix("/console/"): document},
        )
        self.console = Deployment(lambda _: [pages], origin=HERE)
        self.apps[BESIDE] = {"": self.console.app}

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope["headers"])[b"host"].decode().partition(":")[0]
        apps = self.apps[host]
        await apps.get(scope["path"].split("/")[1], apps[""])(scope, receive, send)

    def mcp(self) -> Any:
        """The knowledge of the partner, which answers to its members alone."""
        server = self.partner
        keys: Any = SimpleNamespace(jwks=lambda: json.dumps({"keys": list(server.keys.published(0))}))
        tokens = AccessTokens(THERE, RememberedKeys(keys, server.clock))
        principals = TokenPrincipals(tokens, server.grants, server.standings, server.clock, names=False)
        throttle = Throttle(Limiter(Counters(), server.clock), NO_LIMITS)
        return create_app(
            [knowledge_toolset(finding("article/crabs").services())],
            Surface(base_url=THERE, spend=throttle.spend),
            throttle=throttle,
            principals=principals,
            challenges=Challenges(Resources(THERE, ("knowledge",), ("knowledge",))),
            tier="member",
        )

    def person(self, number: int) -> Person:
        """Somebody with an account at the partner, who is a member there."""
        made = Person(wallet(number), client=lambda: TestClient(self.apps[HOST][""], THERE, follow_redirects=False))
        self.partner.standings.held[made.wallet.address] = standing("member")
        return made


@pytest.fixture
def world(dynamodb: DynamoDBClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    async def here(*_: object) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(transport, "look_up", here)
    with ExitStack() as stack:
        made = World(dynamodb, tmp_path, stack)
        made.console.standings.held[ALICE] = standing("vibecoder", organisation="garden")
        made.console.standings.held[BOB] = standing("member", organisation="garden")
        yield made


def path_of(location: str) -> str:
    assert location.startswith(HERE), location
    return location.removeprefix(HERE)


def test_a_person_adds_signs_in_approves_and_searches_in_the_console(world: World) -> None:
    alice = world.console.browser()
    added = alice.post("/console/partners", {"action": "add", "name": "reef", "url": f"{THERE}/mcp", "title": "Reef"})
    assert added.headers["location"] == "/console/partners/reef?done=added", added.text
    assert "Sign in at Reef" in alice.get("/console/partners/reef").text
    leads = alice.get("/console/partners/reef/sign-in")
    assert leads.status_code == 303 and leads.headers["location"].startswith(f"{THERE}/authorize?")
    assert f"client_id={HERE}{DOCUMENT}".replace(":", "%3A").replace("/", "%2F") in leads.headers["location"]
    back = world.person(1).decide(leads.headers["location"])
    assert path_of(back).startswith(f"{CALLBACK}?code=") and "iss=" in back
    assert "not of your session" in world.console.browser(BOB).get(path_of(back)).text
    assert alice.get(path_of(back)).headers["location"] == "/console/partners?done=signed_in"
    assert "used already" in alice.get(path_of(back)).text
    assert "You are signed in there." in alice.get("/console/partners").text
    alice.post("/console/partners/reef", {"action": "compare"})
    page = alice.get("/console/partners/reef").text
    pins = re.findall(r'name="tools" value="([^"]+)"', page)
    assert any(one.startswith("reef__search_knowledge ") for one in pins)
    approved = alice.post("/console/partners/reef", {"action": "approve", "tools": pins[0]})
    assert approved.headers["location"] == "/console/partners/reef?done=approved", approved.text
    search = next(one for one in pins if one.startswith("reef__search_knowledge "))
    alice.post("/console/partners/reef", {"action": "approve", "tools": search})
    assert status(world, ALICE) == "ok"
    assert status(world, BOB) == "sign_in"
    alice.post("/console/partners", {"action": "sign-out", "name": "reef"})
    assert status(world, ALICE) == "sign_in"
    held = [raw for raw in world.seen.raw if alice.cookie.encode() in raw or alice.csrf.encode() in raw]
    assert held == []


def test_members_sign_in_and_only_whoever_may_adds_and_approves(world: World) -> None:
    alice, bob = world.console.browser(), world.console.browser(BOB)
    add = {"action": "add", "name": "reef", "url": f"{THERE}/mcp"}
    assert bob.post("/console/partners", add).status_code == 403
    alice.post("/console/partners", add)
    shown = bob.get("/console/partners").text
    assert "Sign in at reef" in shown and "Add a partner" not in shown
    assert bob.get("/console/partners/reef").status_code == 403
    assert bob.get("/console/partners/reef/sign-in").status_code == 303
    wrong = alice.post("/console/partners", {"action": "add", "name": "Reef!", "url": "http://reef.example/mcp"})
    assert wrong.status_code == 422 and "cannot be the name of a partner" in wrong.text
    assert "access denied" in alice.get(declined(world, alice)).text
    unsure = alice.post("/console/partners/reef", {"action": "remove"})
    assert "Tick that you are sure first" in unsure.text
    alice.post("/console/partners/reef", {"action": "remove", "sure": "yes"})
    assert "None yet." in bob.get("/console/partners").text
    assert bob.get("/console/partners/reef/sign-in").status_code == 404


def test_the_client_document_is_for_anybody(world: World) -> None:
    answer = world.console.browser(None).get(DOCUMENT)
    assert answer.json()["client_id"] == f"{HERE}{DOCUMENT}"
    assert answer.json()["redirect_uris"] == [f"{HERE}{CALLBACK}"]
    assert world.console.browser(None).get("/console/partners").headers["location"].startswith("/account")


def declined(world: World, browser: Browser) -> str:
    leads = browser.get("/console/partners/reef/sign-in").headers["location"]
    return path_of(world.person(2).decide(leads, allow=False))


def status(world: World, subject: str) -> str:
    commons = Commons(world.partners, "garden.example", "Garden")
    author = Author(organisation="garden", account=subject_hash(KEY, subject))
    found = commons.search(author, "crabs", 5, lambda *_: [], via=())
    return found.sources[-1].status


def test_whom_another_site_sends_is_asked_before_anything_begins(world: World) -> None:
    alice = world.console.browser()
    alice.post("/console/partners", {"action": "add", "name": "reef", "url": f"{THERE}/mcp", "title": "Reef"})
    sent = alice.get("/console/partners/reef/sign-in", **{"sec-fetch-site": "cross-site"})
    assert sent.status_code == 200 and f"You go on to <bdi>{THERE}</bdi>" in sent.text
    assert alice.get("/console/partners/reef/sign-in", **{"sec-fetch-site": "same-origin"}).status_code == 303
