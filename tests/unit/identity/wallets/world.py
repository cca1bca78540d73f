"""Sign-in with a wallet as browsers reach it: HTTP API events, real signatures, a node that counts its questions."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.ethereum.signatures import SiweSignatures
from commonplace.identity.oauth.server.app import create_app
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.identity.wallets import NAMELESS, Named, SignIn, SignInSettings
from commonplace.web.gateway import Gateway
from tests.fakes.ethereum import FakeHats, address_of, signed
from tests.fakes.ethereum_node import StandInNode, standing_in
from tests.unit.identity.oauth.world import BASE, KEY, Answer, World

COOKIE = "b" * 43
CHALLENGE = "__Host-cp_challenge"
HOST = "kb.example.org"
ME, OTHER = 1, 2
"""Private keys."""


@dataclass
class Names:
    """`wallets.Names`: the same for everybody."""

    named: Named = field(default_factory=lambda: NAMELESS)

    def of(self, address: str) -> Named:
        return self.named


class Wallets(World):
    """The authorization server, its sign-in judged by the real check with `node` behind it."""

    def __init__(self, node: StandInNode, **environment: str) -> None:
        super().__init__(**({"AUTH_RATE_LIMIT": "0"} | environment))
        self.node, self.names, self.endpoints = node, Names(), [node.url]
        self.hats = FakeHats(self.clock)
        self.sign_in = SignIn(
            self.sign_ins,
            SiweSignatures(Rpc(lambda: self.endpoints, 10)),
            standings=MappedStandings(RoleMap(organisation="default"), self.hats),
            names=self.names,
            limiter=self.limiter,
            settings=SignInSettings(
                base_url=BASE,
                site_name="Garden",
                organisation="default",
                sign_ins_per_hour=self.settings.sign_ins_per_hour,
            ),
            audit=self.audit,
            subject_hash=lambda subject: subject_hash(KEY, subject),
            clock=self.clock,
        )
        self.services.sign_in = self.sign_in
        self._gateway = Gateway(create_app(self.services))

    def nonce(self, address: str | None = None, cookie: str = COOKIE) -> Answer:
        query = f"address={address}" if address is not None else ""
        return self.send("GET", "/siwe/nonce", query=query, cookie=f"{CHALLENGE}={cookie}")

    def asked(self, key: int = ME, cookie: str = COOKIE) -> dict[str, Any]:
        """A challenge for the account of this key: `{nonce, id, message}`."""
        answer = self.nonce(address_of(key), cookie)
        assert answer.status == 200, answer.body
        return dict(answer.json())

    def verify(self, body: Mapping[str, Any], cookie: str | None = COOKIE) -> Answer:
        headers = {} if cookie is None else {"cookie": f"{CHALLENGE}={cookie}"}
        return self.send("POST", "/siwe/verify", json.dumps(body), content_type="application/json", **headers)

    def signs_in(self, key: int = ME) -> Answer:
        """The whole way, by a text of ours."""
        asked = self.asked(key)
        return self.verify({"id": asked["id"], "signature": signed(asked["message"], key)})

    def own_text(self, nonce: str, **changed: str | None) -> str:
        """A text that a client writes: `changed` are its lines by name, None leaves one out."""
        now = self.clock()
        lines: dict[str, str | None] = {
            "URI": f"{BASE}/authorize",
            "Version": "1",
            "Chain ID": "10",
            "Nonce": nonce,
            "Issued At": moment(now),
            "Expiration Time": moment(now + 300),
        }
        lines.update({name.replace("_", " "): value for name, value in changed.items()})
        told = [f"{name}: {value}" for name, value in lines.items() if value is not None]
        head = f"{HOST} wants you to sign in with your Ethereum account:\n{address_of(ME)}\n\nSign in.\n\n"
        return head + "\n".join(told)

    def sends_own(self, text: str, key: int = ME, **more: Any) -> Answer:
        return self.verify({"message": text, "signature": signed(text, key)} | more)

    def refusals(self) -> list[tuple[str, str]]:
        """Outcome and reason of every sign-in that was recorded."""
        return [(outcome, reason) for event, outcome, reason in self.audit.events() if event == "signin"]


@contextmanager
def wallets(**environment: str) -> Iterator[Wallets]:
    with standing_in() as node:
        yield Wallets(node, **environment)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
