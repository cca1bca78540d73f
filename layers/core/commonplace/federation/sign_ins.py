"""People's sign-ins at partners: begun and finished in the browser of one person, then tokens of that person alone.

A token is sealed for one organisation, account and partner: moved to another place it does not open. A partner that
gives a new refresh token each time may take a second use of one for theft, so a token is claimed before it is renewed,
and whoever is late waits for the result.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.federation.model import Challenge, Partner, PartnerFailed, SignInNeeded
from commonplace.identity.secrets import SealBroken, digest, fresh, same, seal, unseal
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Forbidden, InvalidInput, Unavailable
from commonplace.kernel.fetch import fetchable
from commonplace.kernel.items import encode
from commonplace.kernel.records import Change, Records, Room

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthToken

    from commonplace.federation.client.connection import Connections
    from commonplace.federation.client.oauth import Client, Server

T = TypeVar("T")

CALLBACK, DOCUMENT = "/console/commons/callback", "/console/commons/client.json"
"""Where a partner sends people back, and the document that says who this deployment is."""
PENDING_SECONDS = 600
KEPT_SECONDS = 180 * 86_400
"""A token that nobody has renewed for so long is forgotten."""
EARLY_SECONDS = 60
"""Before its end a token is renewed."""
BUSY_SECONDS = 15
"""Longer than a renewal takes: whoever claimed it has given up by then."""
ATTEMPTS, PAUSE_SECONDS = 20, 0.2

REASONS = {
    "no_sign_in": "it does not say who signs people in there",
    "no_pkce": "its authorization server does not take PKCE with S256",
    "no_client": "its authorization server takes no client that it does not know. An operator can name one: "
    "commonplace partners client",
    "other_resource": "its metadata is of another address",
    "other_issuer": "its authorization server says that it is another one",
    "registration_refused": "its authorization server did not take this deployment as a client",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A person's token at a partner; the partition names organisation and partner."""

    id: str
    """The account's name in records."""
    revision: int
    sealed: bytes
    renew_at: int
    """Epoch milliseconds; 0 where nobody said."""
    busy_until: int = 0
    """Epoch milliseconds until which somebody renews it."""
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A sign-in that has begun."""

    id: str
    """The hash of its `state`."""
    revision: int
    account: str
    partner: str
    session: str
    """The hash of what the browser's session is known by."""
    sealed: bytes
    expires_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """This deployment as a client: of a partner's authorization server, by an operator, or by registration."""

    id: str
    revision: int
    sealed: bytes


TOKENS = Room("partnertokens", Token)
PENDING = Room("partnersignins", Pending)
CLIENTS = Room("partnerclients", Registered)


@dataclass(slots=True)
class SignIns:
    """Safe for threads. Every method raises Unavailable."""

    records: Records
    connections: Callable[[], Connections]
    key: Callable[[], bytes]
    """The key that everything here is sealed under."""
    base_url: str
    name: str
    """Of this deployment, as people read it where they consent."""
    loopback: bool = False
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    @property
    def callback(self) -> str:
        return f"{self.base_url}{CALLBACK}"

    def begin(self, author: Author, partner: Partner, session: str) -> str:
        """Return the address where a person signs in at a partner; it is good for ten minutes, in this session alone.

        Raises InvalidInput where nobody can sign in there.
        """
        from commonplace.federation.client import oauth

        connections = self.connections()
        try:
            found = oauth.discover(connections.http, partner.url, partner.challenge or Challenge())
            server = connections.run(found)
            client = self._client(author, partner, server)
        except PartnerFailed as error:
            why = REASONS.get(error.reason, error.reason)
            raise InvalidInput(f"Nobody can sign in at {partner.title}: {why}.") from None
        if not fetchable(server.authorization_endpoint, loopback=self.loopback):
            raise InvalidInput(f"Nobody can sign in at {partner.title}: its page for that has no public address.")
        state, verifier = fresh(), secrets.token_urlsafe(48)
        given = {"server": asdict(server), "client": asdict(client), "verifier": verifier}
        pending = Pending(
            id=digest(state),
            revision=1,
            account=author.account,
            partner=partner.id,
            session=digest(session),
            sealed=self._sealed(given, "sign-in", author, partner),
            expires_at=int(self.clock()) + PENDING_SECONDS,
        )
        where = PENDING.at(author.organisation, pending.id)
        self.records.table.write(self.records.table.new(where, encode(pending)))
        return oauth.authorization_url(server, client, state=state, verifier=verifier, redirect=self.callback)

    def pending(self, author: Author, state: str, session: str) -> Pending:
        """Return the sign-in that an answer of a partner belongs to, once: it is over then, whatever comes of it.

        Raises Forbidden for one of another person or session, one that was used, and one that took too long.
        """
        table, where = self.records.table, PENDING.at(author.organisation, digest(state))
        pending = self.records.get(author.organisation, PENDING, digest(state))
        whole = (
            pending is not None
            and pending.expires_at > self.clock()
            and same(pending.account, author.account)
            and same(pending.session, digest(session))
        )
        # What is not theirs stays for whose it is.
        if not whole or table.write(table.delete(where, "attribute_exists(pk)")) is None or pending is None:
            raise Forbidden(
                "This sign-in is not of your session, was used already, or took longer than ten minutes.",
                hint="Begin again at /console/partners.",
            )
        return pending

    def finish(self, author: Author, partner: Partner, pending: Pending, code: str, issuer: str) -> None:
        """Exchange the code of a sign-in, and store the tokens. Raises Forbidden, and InvalidInput."""
        from commonplace.federation.client import oauth

        values = self._opened(pending.sealed, "sign-in", author, partner)
        if values is None:
            raise Forbidden("The partner has changed since you began.", hint="Begin again at /console/partners.")
        server, client = oauth.Server(**values["server"]), oauth.Client(**values["client"])
        if (issuer or server.names_issuer) and not same(issuer, server.issuer):
            raise Forbidden(f"This answer is not by the authorization server of {partner.title}.")
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.callback}
        connections = self.connections()
        try:
            given = connections.run(
                oauth.token(connections.http, server, client, **form, code_verifier=values["verifier"])
            )
        except PartnerFailed as error:
            raise InvalidInput(f"{partner.title} gave no token ({error.reason}).", hint="Sign in once more.") from None

        def decide(change: Change) -> None:
            # Another sign-in of the same person gives way: the newest consent counts.
            token = self._token(author, partner, server, client, given)
            change.writes.append(
                self.records.table.put(TOKENS.at(author.organisation, token.id, partner.id), encode(token))
            )
            change.record(author.record("partner sign-in", self.clock(), partner=partner.id, issuer=server.issuer))

        self.records.change(author.organisation, decide)

    def signed_in(self, author: Author, partners: Sequence[str]) -> set[str]:
        """Return the partners at which a person has signed in."""
        keys = [TOKENS.at(author.organisation, author.account, one) for one in partners] if author.account else []
        return {str(item["pk"]).rpartition("#")[2] for item in self.records.table.get_many(keys)}

    async def asked(self, author: Author, partner: Partner, ask: Callable[[str | None], Awaitable[T]]) -> T:
        """Ask a partner with the person's token, where it wants any, and again with a new one where that is refused.

        Raises what `ask` does, SignInNeeded among it, and PartnerFailed where the token cannot be renewed.
        """
        if partner.challenge is None:
            return await ask(None)
        token = await asyncio.to_thread(self.bearer, author, partner)
        try:
            return await ask(token)
        except SignInNeeded:
            if token is None or (token := await asyncio.to_thread(self.bearer, author, partner, token)) is None:
                raise
            return await ask(token)

    def bearer(self, author: Author, partner: Partner, refused: str = "") -> str | None:
        """Return a person's access token, renewed where it is due, or where it is the one that the partner `refused`.

        None is a person who has to sign in. Raises PartnerFailed.
        """
        for _ in range(ATTEMPTS if author.account else 0):
            held = self.records.get(author.organisation, TOKENS, author.account, partner.id)
            values = self._opened(held.sealed, "token", author, partner) if held else None
            if held is None or values is None:
                return None
            now, token = int(self.clock() * 1_000), str(values["access_token"])
            if token != refused and not 0 < held.renew_at <= now:
                return token
            if not values["refresh_token"]:
                self._drop(author, partner, held)
                return None
            if held.busy_until <= now and (mine := self._claimed(author, partner, held, now)):
                return self._renewed(author, partner, mine, values)
            self.sleep(PAUSE_SECONDS)
        if author.account:
            raise PartnerFailed("busy")
        return None

    def sign_out(self, author: Author, partner: Partner) -> None:
        """Forget a person's tokens at a partner, there too where it takes that."""
        from commonplace.federation.client import oauth

        held = self.records.get(author.organisation, TOKENS, author.account, partner.id)
        if held is None:
            return
        where = TOKENS.at(author.organisation, held.id, partner.id)

        def decide(change: Change) -> None:
            change.writes.append(self.records.table.delete(where))
            change.record(author.record("partner sign-out", self.clock(), partner=partner.id))

        self.records.change(author.organisation, decide)
        if (values := self._opened(held.sealed, "token", author, partner)) is not None:
            server, client = oauth.Server(**values["server"]), oauth.Client(**values["client"])
            connections = self.connections()
            try:
                given = values["refresh_token"] or values["access_token"]
                connections.run(oauth.revoke(connections.http, server, client, given))
            except PartnerFailed:
                raise Unavailable(
                    f"The token is deleted here, but {partner.title} did not answer when it was to be revoked.",
                    hint=f"It ends there by itself, or you revoke it at {server.issuer}.",
                ) from None

    def name_client(self, author: Author, partner: Partner, id: str, secret: str) -> str:
        """Store the client that a partner's authorization server knows this deployment as; return that server.

        The secret goes to no other server, whatever the partner says later. Raises InvalidInput.
        """
        from commonplace.federation.client import oauth

        connections = self.connections()
        try:
            found = oauth.discover(connections.http, partner.url, partner.challenge or Challenge())
            server = connections.run(found)
        except PartnerFailed as error:
            raise InvalidInput(f"{partner.title}: {REASONS.get(error.reason, error.reason)}.") from None
        client = oauth.Client(id=id, secret=secret, method=oauth.method_of(server, secret))
        self._store_client(author, "named", partner.id, server, client)
        return server.issuer

    def _client(self, author: Author, partner: Partner, server: Server) -> Client:
        """Return what this deployment is to a server: as an operator named it, by its document, or by registration."""
        from mcp.shared.auth import OAuthClientMetadata

        from commonplace.federation.client import oauth

        if (named := self._stored_client(author, "named", partner.id, server)) is not None:
            return named
        if server.reads_documents and self.base_url.startswith("https://"):
            return oauth.Client(id=f"{self.base_url}{DOCUMENT}")
        if not server.registration_endpoint:
            raise PartnerFailed("no_client")
        id = digest(f"{server.issuer} {self.callback}")
        if (known := self._stored_client(author, "made", id, server)) is not None:
            return known
        connections, metadata = (
            self.connections(),
            OAuthClientMetadata.model_validate(client_metadata(self.base_url, self.name)),
        )
        made = connections.run(oauth.register(connections.http, server, metadata))
        self._store_client(author, "made", id, server, made)
        return made

    def _stored_client(self, author: Author, how: str, id: str, server: Server) -> Client | None:
        from commonplace.federation.client import oauth

        stored = self.records.get(author.organisation, CLIENTS, id, how)
        if stored is None:
            return None
        try:
            values = unseal(self.key().decode(), _client_purpose(author, id, server), stored.sealed)
        except SealBroken:
            return None  # of another server
        return oauth.Client(**values)

    def _store_client(self, author: Author, how: str, id: str, server: Server, client: Client) -> None:
        sealed = seal(self.key().decode(), _client_purpose(author, id, server), asdict(client))
        stored = Registered(id=id, revision=1, sealed=sealed)

        def decide(change: Change) -> None:
            where = CLIENTS.at(author.organisation, id, how)
            change.writes.append(self.records.table.put(where, encode(stored)))
            change.record(author.record("partner client", self.clock(), issuer=server.issuer, client=client.id[:300]))

        self.records.change(author.organisation, decide)

    def _claimed(self, author: Author, partner: Partner, held: Token, now: int) -> Token | None:
        """Return the token as it is claimed for renewal; None where somebody else was faster."""
        table, until = self.records.table, now + BUSY_SECONDS * 1_000
        where = TOKENS.at(author.organisation, held.id, partner.id)
        moved = "SET #busyUntil = :until ADD #revision :one"
        claim = table.update(where, moved, "#revision = :revision", until=until, one=1, revision=held.revision)
        if table.write(claim) is None:
            return None
        return replace(held, revision=held.revision + 1, busy_until=until)

    def _renewed(self, author: Author, partner: Partner, held: Token, values: Mapping[str, Any]) -> str | None:
        from commonplace.federation.client import oauth

        server, client = oauth.Server(**values["server"]), oauth.Client(**values["client"])
        connections, table = self.connections(), self.records.table
        where = TOKENS.at(author.organisation, held.id, partner.id)
        form = {"grant_type": "refresh_token", "refresh_token": values["refresh_token"]}
        try:
            given = connections.run(oauth.token(connections.http, server, client, **form))
        except PartnerFailed as error:
            if error.reason in ("invalid_grant", "invalid_client", "unauthorized_client"):
                self._drop(author, partner, held)
                return None
            moved = "SET #busyUntil = :zero"
            table.write(table.update(where, moved, "#revision = :revision", zero=0, revision=held.revision))
            raise
        # A server that gives no new refresh token means the old one to go on (RFC 6749, section 6).
        given.refresh_token = given.refresh_token or values["refresh_token"]
        token = self._token(author, partner, server, client, given, revision=held.revision + 1)
        # Whoever signed out, or in anew, meanwhile has the last word.
        put = table.put(where, encode(token), "#revision = :revision", revision=held.revision)
        return given.access_token if table.write(put) is not None else None

    def _token(
        self, author: Author, partner: Partner, server: Server, client: Client, given: OAuthToken, *, revision: int = 1
    ) -> Token:
        now = self.clock()
        seconds = given.expires_in or 0
        values = {
            "access_token": given.access_token,
            "refresh_token": given.refresh_token or "",
            "server": asdict(server),
            "client": asdict(client),
        }
        return Token(
            id=author.account,
            revision=revision,
            sealed=self._sealed(values, "token", author, partner),
            renew_at=int((now + max(seconds - EARLY_SECONDS, seconds / 2)) * 1_000) if seconds > 0 else 0,
            expires_at=int(now) + KEPT_SECONDS,
        )

    def _drop(self, author: Author, partner: Partner, held: Token) -> None:
        table = self.records.table
        where = TOKENS.at(author.organisation, held.id, partner.id)
        table.write(table.delete(where, "#revision = :revision", revision=held.revision))

    def _sealed(self, values: Mapping[str, Any], what: str, author: Author, partner: Partner) -> bytes:
        return seal(self.key().decode(), _purpose(what, author, partner), values)

    def _opened(self, sealed: bytes, what: str, author: Author, partner: Partner) -> dict[str, Any] | None:
        """Return what is sealed; None for what is of somebody else, or of a partner that was another one then."""
        try:
            return unseal(self.key().decode(), _purpose(what, author, partner), sealed)
        except SealBroken:
            return None


def client_metadata(base_url: str, name: str) -> dict[str, Any]:
    """Return what a registration says of this deployment (RFC 7591), and with its own address the client document."""
    return {
        "client_name": name,
        "client_uri": base_url,
        "redirect_uris": [f"{base_url}{CALLBACK}"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "web",
    }


def forget_tokens(records: Records, organisation: str, partner: str) -> None:
    """Delete everybody's tokens at a partner, and the client that an operator has named for it."""
    table = records.table
    held = records.list(organisation, TOKENS, partner)
    table.write_many(table.delete(TOKENS.at(organisation, one.id, partner)) for one in held)
    table.write(table.delete(CLIENTS.at(organisation, partner, "named")))


def _client_purpose(author: Author, id: str, server: Server) -> str:
    return f"partner client {json.dumps((author.organisation, id, server.issuer, server.token_endpoint))}"


def _purpose(what: str, author: Author, partner: Partner) -> str:
    whose = (author.organisation, author.account, partner.id, partner.url, partner.added_at)
    return f"partner {what} {json.dumps(whose)}"
