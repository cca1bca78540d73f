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
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.federation.model import Challenge, Client, Grant, Partner, PartnerFailed, Refused, Server, SignInNeeded
from commonplace.federation.rooms import PARTNERS
from commonplace.identity.secrets import SealBroken, digest, fresh, same, seal, unseal
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Forbidden, InvalidInput, NotFound, Unavailable
from commonplace.kernel.fetch import fetchable
from commonplace.kernel.items import Item, decoded, encode
from commonplace.kernel.records import Change, Records, Room

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthToken

    from commonplace.federation.client.connection import Connections

T = TypeVar("T")

CALLBACK, DOCUMENT = "/console/commons/callback", "/console/commons/client.json"
"""Where a partner sends people back, and the document that says who this deployment is."""
PENDING_SECONDS = 600
KEPT_SECONDS = 180 * 86_400
"""A token that nobody has renewed for so long is forgotten."""
EARLY_SECONDS = 60
"""Before its end a token is renewed."""
RENEWAL_SECONDS = 10.0
"""Longer than a search waits: a server that answers late has given a new token all the same, which is stored."""
BUSY_SECONDS = 15
"""Whoever claimed a renewal so long ago has ended with its process."""
PAUSE_SECONDS = 0.1

REASONS = {
    "no_sign_in": "it does not say who signs people in there",
    "no_pkce": "its authorization server does not take PKCE with S256",
    "no_client": "its authorization server takes no client that it does not know. An operator can name one: "
    "commonplace partners client",
    "other_resource": "its metadata is of another address",
    "other_issuer": "its authorization server says that it is another one",
    "odd_endpoint": "the address where people consent has parameters of its own that clash with those of a sign-in",
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
    """This deployment as a client of a partner's authorization server: `named` by an operator, or `made` by us."""

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
    _renewals: set[asyncio.Task[str | None]] = field(default_factory=set)

    @property
    def callback(self) -> str:
        return f"{self.base_url}{CALLBACK}"

    def discover(self, partner: Partner) -> Server:
        """Return who signs people in at a partner. Raises InvalidInput."""
        from commonplace.federation.client import oauth

        connections = self.connections()
        try:
            found = oauth.discover(connections.http, partner.url, partner.challenge or Challenge())
            server = connections.run(found)
        except PartnerFailed as error:
            raise _nobody(partner, error) from None
        if not fetchable(server.authorization_endpoint, loopback=self.loopback):
            raise InvalidInput(f"Nobody can sign in at {partner.title}: its page for that has no public address.")
        return server

    def accept(self, author: Author, partner: Partner, server: Server) -> None:
        """Remember who signs people in at a partner: nobody is led elsewhere before somebody has looked again."""
        if server.issuer == partner.issuer:
            return

        def decide(change: Change) -> None:
            where = PARTNERS.at(author.organisation, partner.id)
            moved: dict[str, Any] = {"issuer": server.issuer, "added": partner.added_at}
            change.writes.append(
                self.records.table.update(where, "SET #issuer = :issuer", "#addedAt = :added", **moved)
            )
            details = {"partner": partner.id, "issuer": server.issuer[:400]}
            change.record(author.record("partner issuer accepted", self.clock(), **details))

        self.records.change(author.organisation, decide)

    def begin(self, author: Author, partner: Partner, session: str) -> str:
        """Return the address where a person signs in at a partner; it is good for ten minutes, in this session alone.

        Raises InvalidInput where nobody can sign in there, and Forbidden where another server does that by now.
        """
        from commonplace.federation.client import oauth

        server = self.discover(partner)
        if partner.issuer and server.issuer != partner.issuer:
            raise Forbidden(
                f"{partner.title} now uses another authorization server: {server.issuer[:200]}",
                hint="An administrator of partners has to review it first, on its page.",
            )
        self.accept(author, partner, server)
        state, verifier = fresh(), secrets.token_urlsafe(48)
        try:
            client = self._client(author, partner, server)
            url = oauth.authorization_url(server, client, state=state, verifier=verifier, redirect=self.callback)
        except PartnerFailed as error:
            raise _nobody(partner, error) from None
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
        return url

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
        """Exchange the code of a sign-in, and store the tokens. Raises Forbidden, InvalidInput, and NotFound for a
        partner that was removed in the meantime."""
        from commonplace.federation.client import oauth

        values = self._opened(pending.sealed, "sign-in", author, partner)
        if values is None:
            raise Forbidden("The partner has changed since you began.", hint="Begin again at /console/partners.")
        server, client = Server.of(values["server"]), Client(**values["client"])
        if (issuer or server.names_issuer) and not same(issuer, server.issuer):
            raise Forbidden(f"This answer is not by the authorization server of {partner.title}.")
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.callback}
        form["code_verifier"] = values["verifier"]
        connections = self.connections()
        try:
            given = connections.run(oauth.token(connections.http, server, client, form))
        except PartnerFailed as error:
            self._unknown(author, partner, error)
            raise InvalidInput(f"{partner.title} issued no token ({error.reason}).", hint="Sign in again.") from None

        def decide(change: Change) -> None:
            if (now := self.records.get(author.organisation, PARTNERS, partner.id)) is None or now.url != partner.url:
                raise NotFound(f"{partner.title} was removed in the meantime.")
            # Another sign-in of the same person gives way: the newest consent counts.
            grant = Grant(given.access_token, given.refresh_token or "", server, client)
            token = self._token(author, partner, grant, given)
            where = _place(author, partner)
            change.writes.append(self.records.table.put(where, encode(token)))
            change.require(PARTNERS, partner.id, "#addedAt = :added", added=partner.added_at)
            details = {"partner": partner.id, "issuer": server.issuer[:400]}
            change.record(author.record("partner sign-in", self.clock(), **details))

        self.records.change(author.organisation, decide)

    def signed_in(self, author: Author, partners: Sequence[Partner]) -> set[str]:
        """Return the partners at which a person has signed in."""
        known = {partner.id: partner for partner in partners}
        keys = [_place(author, one) for one in partners] if author.account else []
        found = {str(item["pk"]).rpartition("#")[2]: decoded(Token, item) for item in self.records.table.get_many(keys)}
        return {id for id, token in found.items() if token and self._opened(token.sealed, "token", author, known[id])}

    async def asked(self, author: Author, partner: Partner, ask: Callable[[str | None], Awaitable[T]]) -> T:
        """Ask a partner with the person's token, where it wants any, and again with a new one where that is refused.

        Raises what `ask` does, SignInNeeded among it, and PartnerFailed where the token cannot be renewed.
        """
        if partner.challenge is None:
            return await ask(None)
        token = await self.bearer(author, partner)
        try:
            return await ask(token)
        except SignInNeeded as needed:
            if token is None or needed.lacking or (token := await self.bearer(author, partner, token)) is None:
                raise
        try:
            return await ask(token)
        except SignInNeeded:  # it refuses what it has just given, and would each time
            held, _ = await self._in_thread(self._held, author, partner)
            if held is not None:
                await self._in_thread(self._drop, author, partner, held)
            raise

    async def bearer(self, author: Author, partner: Partner, refused: str = "") -> str | None:
        """Return a person's access token, renewed where it is due, or where it is the one that the partner `refused`.

        None is a person who has to sign in. Raises PartnerFailed.
        """
        until = time.monotonic() + RENEWAL_SECONDS
        while author.account:
            held, grant = await self._in_thread(self._held, author, partner)
            if held is None or grant is None:
                return None
            now = int(self.clock() * 1_000)
            if grant.access_token != refused and not 0 < held.renew_at <= now:
                return grant.access_token
            if not grant.refresh_token:
                await self._in_thread(self._drop, author, partner, held)
                return None
            if held.busy_until <= now and (mine := await self._in_thread(self._claimed, author, partner, held, now)):
                # A caller who goes away meanwhile ends nothing: the answer is stored all the same.
                renewal = asyncio.ensure_future(self._renewed(author, partner, mine, grant))
                self._renewals.add(renewal)
                renewal.add_done_callback(self._ended)
                return await asyncio.shield(renewal)
            if time.monotonic() > until:
                raise PartnerFailed("no_token")
            await asyncio.sleep(PAUSE_SECONDS)
        return None

    def _ended(self, renewal: asyncio.Task[str | None]) -> None:
        self._renewals.discard(renewal)
        if not renewal.cancelled():
            renewal.exception()  # whoever waits has it; where nobody does, it is no news

    def sign_out(self, author: Author, partner: Partner) -> None:
        """Forget a person's tokens at a partner, there too where it takes that."""
        from commonplace.federation.client import oauth

        held, grant = self._held(author, partner)
        if held is None:
            return
        where = _place(author, partner)

        def decide(change: Change) -> None:
            change.writes.append(self.records.table.delete(where))
            change.record(author.record("partner sign-out", self.clock(), partner=partner.id))

        self.records.change(author.organisation, decide)
        if grant is not None:
            connections = self.connections()
            try:
                connections.run(oauth.revoke(connections.http, grant))
            except PartnerFailed:
                raise Unavailable(
                    f"The token is deleted here, but {partner.title} did not confirm that it is revoked.",
                    hint=f"It ends there by itself, or you revoke it at {grant.server.issuer}.",
                ) from None

    def name_client(self, author: Author, partner: Partner, id: str, secret: str) -> str:
        """Store the client that a partner's authorization server knows this deployment as; return that server.

        The secret goes to no other server, whatever the partner says later. Raises InvalidInput.
        """
        from commonplace.federation.client import oauth

        server = self.discover(partner)
        client = Client(id=id, secret=secret, method=oauth.method_of(server, secret))
        self._store_client(author, partner, "named", server, client)
        return server.issuer

    def _client(self, author: Author, partner: Partner, server: Server) -> Client:
        """Return what this deployment is to a server: as an operator named it, by its document, or by registration."""
        from mcp.shared.auth import OAuthClientMetadata

        from commonplace.federation.client import oauth

        if (named := self._stored_client(author, partner, "named", server)) is not None:
            return named
        if server.reads_documents and self.base_url.startswith("https://"):
            return Client(id=f"{self.base_url}{DOCUMENT}")
        if not server.registration_endpoint:
            raise PartnerFailed("no_client")
        known = self._stored_client(author, partner, "made", server)
        if known is not None and not 0 < known.expires_at <= self.clock():
            return known
        connections = self.connections()
        metadata = OAuthClientMetadata.model_validate(client_metadata(self.base_url, self.name))
        made = connections.run(oauth.register(connections.http, server, metadata))
        self._store_client(author, partner, "made", server, made)
        return made

    def _stored_client(self, author: Author, partner: Partner, how: str, server: Server) -> Client | None:
        stored = self.records.get(author.organisation, CLIENTS, how, partner.id)
        if stored is None:
            return None
        try:
            return Client(**unseal(self.key().decode(), _client_purpose(author, partner, server), stored.sealed))
        except SealBroken:
            return None  # of another server

    def _store_client(self, author: Author, partner: Partner, how: str, server: Server, client: Client) -> None:
        sealed = seal(self.key().decode(), _client_purpose(author, partner, server), asdict(client))

        def decide(change: Change) -> None:
            where = CLIENTS.at(author.organisation, how, partner.id)
            stored = Registered(id=how, revision=1, sealed=sealed)
            change.writes.append(self.records.table.put(where, encode(stored)))
            details = {"partner": partner.id, "issuer": server.issuer[:400], "client": client.id[:300]}
            change.record(author.record("partner client", self.clock(), **details))

        self.records.change(author.organisation, decide)

    def _unknown(self, author: Author, partner: Partner, error: PartnerFailed) -> None:
        """Forget a registration that the server does not know any more: the next sign-in makes another."""
        if error.reason in ("invalid_client", "unauthorized_client"):
            self.records.table.write(self.records.table.delete(CLIENTS.at(author.organisation, "made", partner.id)))

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        return await self.connections().in_thread(work, *given)

    def _held(self, author: Author, partner: Partner) -> tuple[Token | None, Grant | None]:
        held = self.records.get(author.organisation, TOKENS, author.account, partner.id)
        values = self._opened(held.sealed, "token", author, partner) if held else None
        return held, Grant.of(values) if values else None

    def _claimed(self, author: Author, partner: Partner, held: Token, now: int) -> Token | None:
        """Return the token as it is claimed for renewal; None where somebody else was faster."""
        table, until = self.records.table, now + BUSY_SECONDS * 1_000
        where = _place(author, partner)
        moved = "SET #busyUntil = :until ADD #revision :one"
        claim = table.update(where, moved, "#revision = :revision", until=until, one=1, revision=held.revision)
        if table.write(claim) is None:
            return None
        return replace(held, revision=held.revision + 1, busy_until=until)

    async def _renewed(self, author: Author, partner: Partner, held: Token, grant: Grant) -> str | None:
        from commonplace.federation.client import oauth

        form = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
        connections = self.connections()
        try:
            given = await oauth.token(connections.http, grant.server, grant.client, form, RENEWAL_SECONDS)
        except Refused as error:
            await self._in_thread(self._drop, author, partner, held)
            await self._in_thread(self._unknown, author, partner, error)
            return None
        except PartnerFailed:
            await self._in_thread(self._release, author, partner, held)
            raise PartnerFailed("no_token") from None
        # A server that gives no new refresh token means the old one to go on (RFC 6749, section 6).
        new = replace(grant, access_token=given.access_token, refresh_token=given.refresh_token or grant.refresh_token)
        token = self._token(author, partner, new, given, revision=held.revision + 1)
        return given.access_token if await self._in_thread(self._stored, author, partner, held, token) else None

    def _stored(self, author: Author, partner: Partner, held: Token, token: Token) -> bool:
        """Store a renewed token. Whoever signed out, or in anew, meanwhile has the last word."""
        table, where = self.records.table, _place(author, partner)
        return table.write(table.put(where, encode(token), "#revision = :revision", revision=held.revision)) is not None

    def _release(self, author: Author, partner: Partner, held: Token) -> None:
        table, where = self.records.table, _place(author, partner)
        moved = "SET #busyUntil = :zero"
        table.write(table.update(where, moved, "#revision = :revision", zero=0, revision=held.revision))

    def _drop(self, author: Author, partner: Partner, held: Token) -> None:
        table, where = self.records.table, _place(author, partner)
        table.write(table.delete(where, "#revision = :revision", revision=held.revision))

    def _token(self, author: Author, partner: Partner, grant: Grant, given: OAuthToken, *, revision: int = 1) -> Token:
        now, seconds = self.clock(), given.expires_in or 0
        return Token(
            id=author.account,
            revision=revision,
            sealed=self._sealed(asdict(grant), "token", author, partner),
            renew_at=int((now + max(seconds - EARLY_SECONDS, seconds / 2)) * 1_000) if seconds > 0 else 0,
            expires_at=int(now) + KEPT_SECONDS,
        )

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
    """Delete everybody's tokens at a partner, and the clients that this deployment is there. Raises Unavailable."""
    table = records.table
    keys = [TOKENS.at(organisation, one.id, partner) for one in records.list(organisation, TOKENS, partner)]
    keys += [CLIENTS.at(organisation, how, partner) for how in ("named", "made")]
    if table.write_many(map(table.delete, keys)):
        raise Unavailable("Not all sign-ins could be deleted.", hint="Try once more.")


def _nobody(partner: Partner, error: PartnerFailed) -> InvalidInput:
    return InvalidInput(f"Nobody can sign in at {partner.title}: {REASONS.get(error.reason, error.reason)}.")


def _place(author: Author, partner: Partner) -> Item:
    """Return the key of a person's token at a partner."""
    return TOKENS.at(author.organisation, author.account, partner.id)


def _client_purpose(author: Author, partner: Partner, server: Server) -> str:
    whose = (author.organisation, partner.id, partner.added_at, server.issuer, server.token_endpoint)
    return f"partner client {json.dumps(whose)}"


def _purpose(what: str, author: Author, partner: Partner) -> str:
    whose = (author.organisation, author.account, partner.id, partner.url, partner.added_at)
    return f"partner {what} {json.dumps(whose)}"
