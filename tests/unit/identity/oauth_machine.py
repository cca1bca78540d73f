"""A model of the authorization server, and a machine that compares it with the real thing after every step.

Two clients, two people, requests that are repeated, mixed up and raced, clocks that jump, roles that come and go. The
model knows nothing of hashes, transactions or tokens: only who was allowed what, and what has been used.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, precondition, rule

from commonplace.identity.oauth.authorization_request import RequestRefused, ValidRequest
from commonplace.identity.oauth.consent import Begun, RequestGone
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.principals import covers, reach
from commonplace.identity.records import AuthorizationRequest, Client
from commonplace.identity.secrets import digest
from tests.fakes.authority import (
    ALICE,
    APP,
    BASE,
    BOB,
    LAPTOP,
    MCP,
    OTHER,
    VERIFIER,
    Authority,
    profile,
    standing,
    stored,
    told,
)
from tests.fakes.identity_stores import Racing

DAY = 86_400
MAX_GRANTS = 10

CLIENTS = st.sampled_from([APP, OTHER])
PEOPLE = st.sampled_from([ALICE, BOB])
RESOURCES = st.sampled_from([MCP, f"{BASE}/mcp/all", f"{BASE}/mcp/knowledge"])
SCOPES = st.lists(
    st.sampled_from(["knowledge:read", "knowledge:write", "memory:read", "memory:write", "memory:admin"]),
    unique=True,
    max_size=3,
)
JUMPS = st.sampled_from([1, 20, 59, 60, 61, 1, 20, 61, 599, 600, 3_599, 3_600, DAY, 15 * DAY, 29 * DAY, 30 * DAY])
MEANWHILE = st.sampled_from(["nothing", "nothing", "nothing", "the same", "its heir", "revocation"])
WRONG = st.sampled_from(["nothing", "verifier", "resource", "client", "scope", "late", "seen by another"])
LOOPBACK = (
    *("http://127.0.0.1/back", "http://localhost/back", "https://localhost:8443/back", "https://127.0.0.2/back"),
    *("https://[::1]/back", "https://app.localhost/back"),
)
DESK = replace(LAPTOP, id="desk", redirect_uris=LOOPBACK)
WIDE = ["knowledge:read", "knowledge:write", "memory:admin"]
RIGHT = [None] * 6
"""The client that a code or token was made for, in most of the tries."""


@dataclass(eq=False)
class Request:
    begun: Begun
    asked: AuthorizationRequest
    expires_at: int
    used: bool = False


@dataclass(eq=False)
class GrantModel:
    id: str
    subject: str
    client: Client
    redirect_uri: str
    resource: str
    scopes: tuple[str, ...]
    created_at: int
    expires_at: int
    ended: bool = False

    def alive(self, now: int) -> bool:
        return not self.ended and now < self.expires_at


@dataclass(eq=False)
class CodeModel:
    code: str
    grant: GrantModel
    redirect_uri: str
    expires_at: int
    used: bool = False


@dataclass(eq=False)
class TokenModel:
    token: str
    grant: GrantModel
    expires_at: int
    phase: str = "current"
    heir: "TokenModel | None" = None
    spent_at: int = 0


@dataclass(eq=False)
class AccessModel:
    answer: dict[str, Any]
    grant: GrantModel
    expires_at: int
    ended: bool = False


@dataclass
class Model:
    grants: list[GrantModel] = field(default_factory=list)
    tokens: list[TokenModel] = field(default_factory=list)
    accesses: list[AccessModel] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)


class OAuthMachine(RuleBasedStateMachine):
    """What holds whatever anybody does, and in whichever order."""

    check_every = 1
    """So many steps: a slow store is looked at less often."""

    requests = Bundle("requests")
    codes = Bundle("codes")
    tokens = Bundle("tokens")
    accesses = Bundle("accesses")

    def __init__(self) -> None:
        super().__init__()
        self.authority = self.make()
        self.authority.known.clients[DESK.id] = DESK
        self.model = Model()
        self.steps = 0

    def make(self) -> Authority:
        return Authority()

    def dump(self) -> str:
        return stored(self.authority)

    @property
    def now(self) -> int:
        return int(self.authority.clock.now)

    @initialize(target=tokens)
    def two_people_have_connected(self) -> Any:
        return multiple(*self.a_connection(APP, ALICE, MCP), *self.a_connection(OTHER, BOB, MCP))

    @precondition(lambda self: sum(grant.alive(self.now) for grant in self.model.grants) < 3)
    @rule(target=tokens, client=CLIENTS, subject=PEOPLE, resource=RESOURCES, wrong=WRONG, meanwhile=MEANWHILE)
    def a_person_connects(self, client: Client, subject: str, resource: str, wrong: str, meanwhile: str) -> Any:
        return multiple(*self.a_connection(client, subject, resource, wrong, meanwhile))

    def a_connection(
        self, client: Client, subject: str, resource: str, wrong: str = "nothing", meanwhile: str = "nothing"
    ) -> list[TokenModel]:
        """Something wrong is tried with the code first; then, now and then, it is tried a second time, by its client
        or by somebody who has only seen it."""
        code = self._answer(self._asked(client, resource, WIDE), subject, WIDE)
        assert code is not None
        if wrong == "late":
            self.authority.clock.forward(60)
        if wrong == "client":
            self._exchange(code, OTHER if client is APP else APP, "nothing", {})
        forms = {
            "verifier": {"code_verifier": "w" * 43},
            "resource": {"resource": f"{BASE}/api"},
            "scope": {"scope": "hive:read"},
        }
        found = self._exchange(code, client, "nothing", forms[wrong]) if wrong in forms else []
        found += self._exchange(code, client, meanwhile, {})
        if wrong == "seen by another":
            self._exchange(code, client, "nothing", forms["verifier"])
        return found

    @rule(seconds=JUMPS)
    def time_passes(self, seconds: int) -> None:
        self.authority.clock.forward(seconds)

    @rule(subject=PEOPLE, tier=st.sampled_from(["public", "member", "vibecoder"]))
    def roles_change(self, subject: str, tier: Any) -> None:
        self.authority.accounts.held[subject] = standing(tier)

    @rule(target=requests, client=CLIENTS, resource=RESOURCES, scopes=SCOPES)
    def a_client_asks(self, client: Client, resource: str, scopes: list[str]) -> Request:
        return self._asked(client, resource, scopes)

    def _asked(self, client: Client, resource: str, scopes: list[str], uri: str | None = None) -> Request:
        asked = self._understood(client, resource, scopes, uri).request
        begun = self.authority.consents.begin(asked)
        self.model.secrets |= set(begun)
        return Request(begun, asked, self.now + 600)

    def _understood(self, client: Client, resource: str, scopes: list[str], uri: str | None) -> ValidRequest:
        named = {"client_id": client.id, "redirect_uri": uri or client.redirect_uris[0], "resource": resource}
        known = self.authority.resources.catalogue(resource)
        wanted = [scope for scope in scopes if scope in known]
        return self.authority.understand(**named, scope=" ".join(wanted) or None)

    @rule(target=codes, subject=PEOPLE, uri=st.sampled_from(LOOPBACK))
    def a_program_on_a_computer_is_asked_for_each_time(self, subject: str, uri: str) -> Any:
        code = self._answer(self._asked(DESK, MCP, WIDE, uri), subject, WIDE)
        asked, held = self._understood(DESK, MCP, WIDE, uri), self.authority.accounts.held[subject]
        assert self.authority.consents.recalled(asked, profile(subject), held) is None
        return multiple(*([code] if code else []))

    @rule(
        place=st.sampled_from([(one, uri) for one in (APP, OTHER, DESK) for uri in one.redirect_uris]),
        subject=st.sampled_from([None, ALICE, BOB]),
        wrong=st.sampled_from([{"scope": "sing"}, {"response_type": "token"}, {"resource": "https://evil.example/"}]),
    )
    def an_error_leads_only_where_the_person_has_connected_it(
        self, place: tuple[Client, str], subject: str | None, wrong: dict[str, str]
    ) -> None:
        client, uri = place
        try:
            self.authority.understand(client_id=client.id, redirect_uri=uri, **wrong)
        except RequestRefused as error:
            signed_in = profile(subject) if subject else None
            heard = self.authority.consents.may_hear(error.client, error.redirect_uri, signed_in)
        else:
            raise AssertionError("this should have been refused")
        living = [one for one in self.model.grants if one.alive(self.now)]
        assert heard == ((subject, client, uri) in [(one.subject, one.client, one.redirect_uri) for one in living])

    @rule(target=codes, request=requests, subject=PEOPLE, allowed=SCOPES, all_of_it=st.booleans(), raced=st.booleans())
    def a_person_answers(self, request: Request, subject: str, allowed: list[str], all_of_it: bool, raced: bool) -> Any:
        won: list[Any] = []
        if raced:
            consents = self.authority.consents
            racing: Any = Racing(
                self.authority.signins, "take_pending", lambda: won.append(self._answer(request, subject, allowed))
            )
            consents.store = racing
            try:
                won.append(self._answer(request, subject, allowed))
            finally:
                consents.store = self.authority.signins
        else:
            ticked = list(request.asked.scopes) if all_of_it else allowed
            won.append(self._answer(request, subject, ticked))
        return multiple(*(code for code in won if code is not None))

    @rule(request=requests, other=requests, subject=PEOPLE)
    def another_browser_answers(self, request: Request, other: Request, subject: str) -> None:
        if other is request:
            return
        try:
            self.authority.decide(request.begun._replace(cookie=other.begun.cookie), subject)
        except RequestGone:
            return
        raise AssertionError("an answer from another browser was taken")

    def _answer(self, request: Request, subject: str, allowed: list[str]) -> CodeModel | None:
        held = self.authority.accounts.held[subject]
        try:
            answer = told(self.authority.decide(request.begun, subject, standing=held, allowed=allowed))
        except RequestGone:
            assert request.used or request.expires_at <= self.now
            return None
        assert not request.used, "a handle worked twice"
        assert self.now < request.expires_at
        request.used = True
        offered = reach(request.asked.scopes, held.scopes)
        expected = tuple(scope for scope in sorted(set(allowed)) if covers(offered, scope))
        if not expected:
            assert answer["error"] == "access_denied"
            return None
        return self._opened(request, subject, answer["code"], expected)

    def _opened(self, request: Request, subject: str, code: str, scopes: tuple[str, ...]) -> CodeModel:
        kept = self.authority.grants.code(digest(code))
        assert kept is not None and set(kept.scopes) == set(scopes)
        client = self.authority.known.clients[request.asked.client_id]
        grant = GrantModel(
            id=kept.grant_id,
            subject=subject,
            client=client,
            redirect_uri=request.asked.redirect_uri,
            resource=request.asked.resource,
            scopes=scopes,
            created_at=self.now,
            expires_at=self.now + 180 * DAY,
        )
        mine = [g for g in self.model.grants if (g.subject, g.client) == (subject, client) and g.alive(self.now)]
        for old in sorted(mine, key=lambda g: (g.created_at, g.id), reverse=True)[MAX_GRANTS - 1 :]:
            old.ended = True
        self.model.grants.append(grant)
        self.model.secrets.add(code)
        return CodeModel(code, grant, request.asked.redirect_uri, self.now + 60)

    @rule(
        target=tokens,
        code=codes,
        client=st.sampled_from([*RIGHT, APP, OTHER]),
        wrong=st.sampled_from([{}, {}, {}, {"code_verifier": "w" * 43}, {"redirect_uri": "https://evil.example/"}]),
        resource=st.sampled_from([None, None, MCP]),
        meanwhile=MEANWHILE,
    )
    def a_client_exchanges(
        self, code: CodeModel, client: Client | None, wrong: dict[str, str], resource: str | None, meanwhile: str
    ) -> Any:
        more = wrong | ({"resource": resource} if resource else {})
        return multiple(*self._exchange(code, client or code.grant.client, meanwhile, more))

    def _exchange(self, code: CodeModel, client: Client, meanwhile: str, more: dict[str, str]) -> list[TokenModel]:
        form = {"code": code.code, "redirect_uri": code.redirect_uri, "code_verifier": VERIFIER} | more
        found: list[TokenModel | None] = []

        def once(token_endpoint: Any) -> None:
            found.append(self._exchanged(code, client, form, self._call(token_endpoint.exchange, form, client)))

        self._raced("redeem", meanwhile, code.grant, once)
        return [token for token in found if token is not None]

    def _exchanged(
        self, code: CodeModel, client: Client, form: dict[str, str], got: dict[str, Any] | OAuthError
    ) -> TokenModel | None:
        grant, now = code.grant, self.now
        # A grant that is over is not there to be revoked; its code is unknown with it.
        if client is not grant.client or now >= grant.expires_at:
            _refused(got, "invalid_grant")
        elif form["code_verifier"] != VERIFIER or form["redirect_uri"] != code.redirect_uri:
            # Used or not: who cannot prove to be the client ends nothing.
            _refused(got, "invalid_grant")
        elif code.used:
            _refused(got, "invalid_grant")
            grant.ended = True
        elif grant.ended or now >= code.expires_at:
            _refused(got, "invalid_grant")
        elif form.get("resource", grant.resource) != grant.resource:
            _refused(got, "invalid_target")
        elif not all(covers(grant.scopes, scope) for scope in form.get("scope", "").split()):
            _refused(got, "invalid_scope")
        else:
            assert isinstance(got, dict), got
            code.used = True
            self._noted(got, grant)
            return self._token(got, grant)
        return None

    @precondition(lambda self: self.living())
    @rule(
        target=tokens, number=st.integers(0, 5), scopes=st.one_of(st.just([]), st.just([]), SCOPES), meanwhile=MEANWHILE
    )
    def a_client_refreshes(self, number: int, scopes: list[str], meanwhile: str) -> Any:
        living = self.living()
        return multiple(*self._refresh(living[-1 - number % len(living)], None, scopes, meanwhile))

    @precondition(lambda self: self.living())
    @rule(target=tokens, number=st.integers(0, 2), seconds=st.sampled_from([0, 60, 61]))
    def a_client_refreshes_twice(self, number: int, seconds: int) -> Any:
        living = self.living()
        token = living[-1 - number % len(living)]
        first = self._refresh(token, None, [], "nothing")
        self.authority.clock.forward(seconds)
        return multiple(*first, *self._refresh(token, None, [], "nothing"))

    @precondition(lambda self: self.living())
    @rule(target=tokens, number=st.integers(0, 2), before=st.sampled_from([1, 59, 1_800, 3_599]))
    def a_client_stays_to_the_end(self, number: int, before: int) -> Any:
        living = self.living()
        token, found = living[-1 - number % len(living)], []
        while token.grant.expires_at - self.now > 29 * DAY and token.phase == "current":
            self.authority.clock.forward(29 * DAY)
            heirs = self._refresh(token, None, [], "nothing")
            if not heirs:
                break
            found += heirs
            token = heirs[-1]
        self.authority.clock.now = max(self.authority.clock.now, token.grant.expires_at - before)
        return multiple(*found, *self._refresh(token, None, [], "nothing"))

    @rule(target=tokens, token=tokens, client=st.sampled_from([None, None, APP, OTHER]), away=st.booleans())
    def anything_is_tried(self, token: TokenModel, client: Client | None, away: bool) -> Any:
        self.authority.accounts.down = away
        try:
            return multiple(*self._refresh(token, client, [], "nothing"))
        finally:
            self.authority.accounts.down = False

    def living(self) -> list[TokenModel]:
        return [one for one in self.model.tokens if one.grant.alive(self.now) and self.now < one.expires_at]

    def _refresh(self, token: TokenModel, client: Client | None, scopes: list[str], meanwhile: str) -> list[TokenModel]:
        client = client or token.grant.client
        form = {"refresh_token": token.token} | ({"scope": " ".join(scopes)} if scopes else {})
        found: list[TokenModel | None] = []

        def once(token_endpoint: Any) -> None:
            found.append(self._refreshed(token, client, scopes, self._call(token_endpoint.refresh, form, client)))

        self._raced("retried" if token.phase == "spent" else "rotate", meanwhile, token.grant, once, token)
        return [heir for heir in found if heir is not None]

    def _refreshed(
        self, token: TokenModel, client: Client, scopes: list[str], got: dict[str, Any] | OAuthError
    ) -> TokenModel | None:
        grant, now, heir = token.grant, self.now, token.heir
        if client is not grant.client or now >= token.expires_at or not grant.alive(now):
            _refused(got, "invalid_grant")
        elif token.phase == "void" or (heir is not None and (heir.phase != "current" or now >= heir.expires_at)):
            _refused(got, "invalid_grant")
            grant.ended = True
        elif not all(covers(grant.scopes, scope) for scope in scopes):
            _refused(got, "invalid_scope")
        elif self.authority.accounts.down:
            _refused(got, "temporarily_unavailable")
        else:
            assert isinstance(got, dict), got
            self._noted(got, grant)
            return self._succeeded(token, got)
        return None

    def _succeeded(self, token: TokenModel, got: dict[str, Any]) -> TokenModel | None:
        """The heir, if it is a new one."""
        heir = token.heir
        if heir is not None and self.now - token.spent_at <= 60:
            assert got["refresh_token"] == heir.token
            return None
        if heir is not None:
            heir.phase = "void"
        token.phase, token.heir, token.spent_at = "spent", self._token(got, token.grant), self.now
        return token.heir

    @rule(token=tokens, client=st.sampled_from([None, APP, OTHER]))
    def a_client_revokes_a_refresh_token(self, token: TokenModel, client: Client | None) -> None:
        client = client or token.grant.client
        self.authority.token_endpoint.revoke(token.token, client)
        if client is token.grant.client and self.now < token.expires_at:
            token.grant.ended = True

    @rule(number=st.integers(0, 20), client=st.sampled_from([None, APP, OTHER]))
    def a_client_revokes_an_access_token(self, number: int, client: Client | None) -> None:
        if not self.model.accesses:
            return
        access = self.model.accesses[number % len(self.model.accesses)]
        client = client or access.grant.client
        self.authority.token_endpoint.revoke(access.answer["access_token"], client)
        access.ended = access.ended or client is access.grant.client

    @rule(subject=PEOPLE)
    def a_person_revokes_all(self, subject: str) -> None:
        alive = [grant for grant in self.model.grants if grant.subject == subject and grant.alive(self.now)]
        assert self.authority.connections.revoke_all(subject) == len(alive)
        for grant in alive:
            grant.ended = True

    @rule(secret=requests, token=tokens)
    def secrets_are_not_taken_for_one_another(self, secret: Request, token: TokenModel) -> None:
        for wrong in (*secret.begun, token.token):
            form = {"code": wrong, "redirect_uri": APP.redirect_uris[0], "code_verifier": VERIFIER}
            _refused(self._call(self.authority.token_endpoint.exchange, form, APP), "invalid_grant")
        for wrong in secret.begun:
            _refused(self._call(self.authority.token_endpoint.refresh, {"refresh_token": wrong}, APP), "invalid_grant")

    @invariant()
    def the_store_is_as_the_model(self) -> None:
        self.steps += 1
        if self.steps % self.check_every == 0:
            self.compare()

    def compare(self) -> None:
        self.an_access_token_is_good_exactly_while_it_should_be()
        self.refresh_tokens_are_in_the_phase_they_should_be_in()
        self.people_see_the_grants_that_live()

    def an_access_token_is_good_exactly_while_it_should_be(self) -> None:
        for access in self.model.accesses:
            good = access.grant.alive(self.now) and self.now < access.expires_at and not access.ended
            assert self.authority.active(access.answer) == good

    def refresh_tokens_are_in_the_phase_they_should_be_in(self) -> None:
        for token in self.model.tokens:
            kept = self.authority.grants.refresh(digest(token.token))
            assert (kept is None) == (self.now >= token.expires_at)
            assert kept is None or kept.phase == token.phase
        for grant in self.model.grants:
            lines = [one for one in self.model.tokens if one.grant is grant and one.phase == "current"]
            assert len(lines) <= 1, "two lines of one grant live"

    def people_see_the_grants_that_live(self) -> None:
        for subject in (ALICE, BOB):
            alive = {one.id for one in self.model.grants if one.subject == subject and one.alive(self.now)}
            assert {grant.id for grant in self.authority.connections.of(subject)} == alive

    def teardown(self) -> None:
        """L1: what is stored tells no secret, and names nobody."""
        self.compare()
        kept = self.dump()
        for secret in (*self.model.secrets, ALICE, BOB, "alice.eth", "bob.eth"):
            assert secret not in kept

    def _call(self, method: Callable[..., dict[str, Any]], form: Any, client: Client) -> dict[str, Any] | OAuthError:
        try:
            return method(form, client, "192.0.2.1")
        except OAuthError as error:
            return error

    def _raced(
        self,
        method: str,
        meanwhile: str,
        grant: GrantModel,
        once: Callable[[Any], None],
        token: TokenModel | None = None,
    ) -> None:
        """Does it, with something else between its reading and its writing."""
        if meanwhile == "nothing":
            once(self.authority.token_endpoint)
            return

        def revoke() -> None:
            if self.authority.grants.revoke(grant.id, "person", self.now):
                grant.ended = True

        def the_same() -> None:
            once(self.authority.token_endpoint)

        def the_heir() -> None:
            if token is not None and token.heir is not None:
                form = {"refresh_token": token.heir.token}
                got = self._call(self.authority.token_endpoint.refresh, form, grant.client)
                self._refreshed(token.heir, grant.client, [], got)

        first = {"revocation": revoke, "its heir": the_heir}.get(meanwhile, the_same)
        racing: Any = Racing(self.authority.grants, method, first)
        once(self.authority.token_endpoint_over(racing))

    def _noted(self, got: dict[str, Any], grant: GrantModel) -> None:
        """An access token: never for longer, for more, or for another resource than its grant."""
        claims = self.authority.claims(got)
        held = self.authority.accounts.held[grant.subject]
        assert digest(claims.grant) == grant.id
        assert claims.expires_at <= grant.expires_at
        assert claims.expires_at == self.now + got["expires_in"]
        assert (claims.audience, claims.subject, claims.client_id) == (grant.resource, grant.subject, grant.client.id)
        assert all(covers(grant.scopes, scope) and covers(held.scopes, scope) for scope in claims.scopes)
        assert claims.tier == held.tier
        assert got["scope"] == " ".join(claims.scopes)
        self.model.accesses.append(AccessModel(got, grant, claims.expires_at))
        self.model.secrets |= {got["access_token"], got["refresh_token"], claims.grant}

    def _token(self, got: dict[str, Any], grant: GrantModel) -> TokenModel:
        token = TokenModel(got["refresh_token"], grant, min(self.now + 30 * DAY, grant.expires_at))
        assert all(other.token != token.token for other in self.model.tokens)
        self.model.tokens.append(token)
        return token


def _refused(got: dict[str, Any] | OAuthError, code: str) -> None:
    assert isinstance(got, OAuthError), "this should have been refused"
    assert got.code == code, (got.code, got.reason, code)
