"""Sign-in at partners, through to a call, at a server of FastMCP with OAuth: whose a token is, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from commonplace.federation.client.connection import Connections
from commonplace.federation.commons import Commons
from commonplace.federation.model import Challenge, PartnerFailed, pin
from commonplace.federation.partners import COMPARED_SECONDS, Partners
from commonplace.federation.sign_ins import CLIENTS, PENDING_SECONDS, TOKENS, SignIns
from commonplace.kernel.audit import Author
from commonplace.kernel.audit_store import PARTNERS as KIND
from commonplace.kernel.errors import Forbidden, InvalidInput, Unavailable
from commonplace.kernel.records import Records
from commonplace.kernel.table import Table
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.identity_stores import Clock
from tests.fakes.one_at_a_time import OneAtATime
from tests.fakes.partners import Seen, serving
from tests.fakes.partners_sign_in import consented, revoked, signed_partner, used_up

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ADA = Author(organisation="garden", account="a" * 32)
VI = replace(ADA, account="b" * 32)
SESSION = "session-of-ada"
BASE = "http://127.0.0.1:8788"


@pytest.fixture
def partners(dynamodb: DynamoDBClient, connections: Connections, clock: Clock) -> Partners:
    client: Any = OneAtATime(dynamodb)
    records = Records(Table(client, new_table(dynamodb, "records")), new_table(dynamodb, "activity"), KIND)
    sign_ins = SignIns(
        records, lambda: connections, lambda: b"k" * 40, base_url=BASE, name="Garden", loopback=True, clock=clock
    )
    return Partners(records, lambda: connections, sign_ins, loopback=True, clock=clock)


@pytest.fixture(scope="module")
def signed() -> Iterator[tuple[str, InMemoryOAuthProvider, Seen]]:
    with signed_partner() as found:
        yield found


def bearer(partners: Partners, by: Author = ADA, partner: Any = None) -> str | None:
    partner = partner or partners.get("garden", "reef")
    return partners.connections().run(of(partners).bearer(by, partner))


def of(partners: Partners) -> SignIns:
    assert partners.sign_ins is not None
    return partners.sign_ins


def sign_in(partners: Partners, by: Author = ADA, session: str = SESSION) -> None:
    sign_ins, partner = of(partners), partners.get("garden", "reef")
    back = consented(sign_ins.begin(by, partner, session))
    sign_ins.finish(by, partner, sign_ins.pending(by, back["state"], session), back["code"], back.get("iss", ""))


def ready(partners: Partners, url: str) -> Commons:
    """Add a partner, sign in as Ada, and approve its tools."""
    assert partners.add(ADA, "reef", url).tools == []
    sign_in(partners)
    review = partners.review(ADA, "reef")
    assert review.partner.search == "search_knowledge"
    partners.approve(ADA, "reef", {tool.id: pin(tool.offered) for tool in review.tools})
    return Commons(partners, "garden.example", "Garden", deadline=5.0)


def status(commons: Commons, by: Author = ADA) -> str:
    found = commons.search(by, "nets", 10, lambda _, __: [], via=())
    return next(source.status for source in found.sources if source.name == "reef")


def test_a_person_signs_in_and_searches_and_others_are_asked_to(partners: Partners, signed: Any) -> None:
    url, _, seen = signed
    with pytest.raises(Forbidden, match="signed in there"):
        partners.add(ADA, "reef", url)
        partners.review(ADA, "reef")
    partners.remove(ADA, "reef")
    commons = ready(partners, url)
    assert (status(commons), status(commons, VI)) == ("ok", "sign_in")
    partner = partners.get("garden", "reef")
    assert commons.signed_in(ADA, [partner]) == {"reef"}
    assert commons.signed_in(VI, [partner]) == set()
    assert commons.status("garden", partner, partners.tools("garden", "reef"), signed_in=False) == "sign_in"
    assert not any(account.encode() in raw for raw in seen.raw for account in (ADA.account, VI.account, SESSION))


def test_an_answer_is_taken_once_in_the_session_and_by_the_person_that_it_is_for(
    partners: Partners, signed: Any, clock: Clock
) -> None:
    partners.add(ADA, "reef", signed[0])
    sign_ins, partner = of(partners), partners.get("garden", "reef")
    back = consented(sign_ins.begin(ADA, partner, SESSION))
    elsewhere = replace(ADA, organisation="orchard")
    for by, session in ((VI, SESSION), (ADA, "session-of-vi"), (elsewhere, SESSION)):
        with pytest.raises(Forbidden, match="not of your session"):
            sign_ins.pending(by, back["state"], session)
    pending = sign_ins.pending(ADA, back["state"], SESSION)
    with pytest.raises(Forbidden, match="used already"):
        sign_ins.pending(ADA, back["state"], SESSION)
    with pytest.raises(Forbidden, match="not by the authorization server"):
        sign_ins.finish(ADA, partner, pending, back["code"], "https://other.example")
    with pytest.raises(InvalidInput, match="invalid_grant"):
        sign_ins.finish(ADA, partner, pending, "another code", "")
    late = consented(sign_ins.begin(ADA, partner, SESSION))
    clock.now += PENDING_SECONDS + 1
    with pytest.raises(Forbidden, match="longer than ten minutes"):
        sign_ins.pending(ADA, late["state"], SESSION)
    assert bearer(partners) is None


def test_a_due_token_is_renewed_once_however_many_want_it(partners: Partners, signed: Any, clock: Clock) -> None:
    url, provider, seen = signed
    commons = ready(partners, url)
    before = set(provider.refresh_tokens)
    clock.now += 3_600
    seen.methods.clear()
    found: list[str | None] = []
    each = [threading.Thread(target=lambda: found.append(bearer(partners))) for _ in range(6)]
    for one in each:
        one.start()
    for one in each:
        one.join()
    assert len(set(found)) == 1 and found[0] in provider.access_tokens
    assert len(seen.methods) == 1, seen.methods
    assert len(before ^ set(provider.refresh_tokens)) == 2
    assert status(commons) == "ok"


def test_a_token_that_is_refused_is_renewed_and_one_that_cannot_be_is_over(partners: Partners, signed: Any) -> None:
    url, provider, _ = signed
    commons = ready(partners, url)
    revoked(provider, whole=False)
    assert status(commons) == "ok"
    revoked(provider)
    assert (status(commons), status(commons)) == ("sign_in", "sign_in")
    assert partners.records.get("garden", TOKENS, ADA.account, "reef") is None
    sign_in(partners)
    assert status(commons) == "ok"


def test_a_renewal_whose_answer_was_lost_ends_in_a_new_sign_in(partners: Partners, signed: Any, clock: Clock) -> None:
    url, provider, _ = signed
    commons = ready(partners, url)
    used_up(provider)
    clock.now += 3_600
    assert status(commons) == "sign_in"
    sign_in(partners)
    assert status(commons) == "ok"


def test_a_server_that_is_down_costs_the_call_and_not_the_token(
    partners: Partners, connections: Connections, clock: Clock
) -> None:
    with signed_partner() as (url, _, _):
        ready(partners, url)
    clock.now += 3_600
    with pytest.raises(PartnerFailed, match="no_token"):
        bearer(partners)
    held = partners.records.get("garden", TOKENS, ADA.account, "reef")
    assert held is not None and held.busy_until == 0


def test_a_token_opens_for_its_person_and_partner_alone(
    partners: Partners, signed: Any, dynamodb: DynamoDBClient
) -> None:
    url, provider, _ = signed
    ready(partners, url)
    table, partner = partners.records.table, partners.get("garden", "reef")
    held = table.get(TOKENS.at("garden", ADA.account, "reef"))
    assert held is not None
    for where in (TOKENS.at("garden", VI.account, "reef"), TOKENS.at("orchard", ADA.account, "reef")):
        table.write(table.put(where, {**held, **where, "id": where["sk"]}))
    assert bearer(partners, VI) is None
    assert bearer(partners, replace(ADA, organisation="orchard")) is None
    assert bearer(partners, ADA, replace(partner, url="https://other.example/mcp")) is None
    assert bearer(partners) in provider.access_tokens
    stored = repr(dump(dynamodb, table.name))
    assert not any(token in stored for token in (*provider.access_tokens, *provider.refresh_tokens))


def test_who_signs_out_is_forgotten_there_too_and_a_removed_partner_keeps_no_token(
    partners: Partners, signed: Any
) -> None:
    url, provider, _ = signed
    commons = ready(partners, url)
    partner = partners.get("garden", "reef")
    token = bearer(partners)
    of(partners).sign_out(ADA, partner)
    assert token not in provider.access_tokens
    assert status(commons) == "sign_in"
    sign_in(partners)
    partners.remove(ADA, "reef")
    assert list(partners.records.list("garden", TOKENS, "reef")) == []


def test_where_nobody_can_register_an_operator_names_the_client(partners: Partners) -> None:
    with signed_partner() as (url, provider, _), signed_partner(registers=False) as (closed, strict, _):
        partners.add(ADA, "reef", closed)
        sign_ins, partner = of(partners), partners.get("garden", "reef")
        with pytest.raises(InvalidInput, match="takes no client that it does not know"):
            sign_ins.begin(ADA, partner, SESSION)
        partners.add(ADA, "open", url)
        sign_ins.begin(ADA, partners.get("garden", "open"), SESSION)
        (known,) = provider.clients.values()
        changed = {"client_id": "named", "client_secret": "s3cret", "token_endpoint_auth_method": "client_secret_post"}
        strict.clients["named"] = known.model_copy(update=changed)
        assert sign_ins.name_client(ADA, partner, "named", "s3cret").rstrip("/") == closed.removesuffix("/mcp")
        sign_in(partners)
        assert bearer(partners) in strict.access_tokens
        # The secret goes to no other server, which the partner may name tomorrow.
        assert "client_id=named" not in sign_ins.begin(
            ADA, replace(partner, url=url, challenge=None, issuer=""), SESSION
        )


def metadata(**changed: Any) -> Starlette:
    """Return a partner that refuses everybody, whose metadata is as it says."""

    def base(request: Request) -> str:
        return f"{request.url.scheme}://{request.url.netloc}"

    async def refuse(request: Request) -> Response:
        return Response(status_code=401)

    async def resource(request: Request) -> Response:
        here = base(request)
        return JSONResponse({"resource": changed.get("resource", f"{here}/mcp"), "authorization_servers": [here]})

    async def server(request: Request) -> Response:
        here = base(request)
        found: dict[str, Any] = {"issuer": here, "authorization_endpoint": f"{here}/a", "token_endpoint": f"{here}/t"}
        found |= {"code_challenge_methods_supported": ["S256"], "registration_endpoint": f"{here}/r"}
        return JSONResponse(found | {name: value for name, value in changed.items() if name not in OURS})

    async def register(request: Request) -> Response:
        return JSONResponse({"client_id": "made", "redirect_uris": []}, 201)

    async def token(request: Request) -> Response:
        status, body = changed["tokens"].pop(0)
        return JSONResponse(body, status)

    return Starlette(
        routes=[
            Route("/mcp", refuse, methods=["POST"]),
            Route("/.well-known/oauth-protected-resource/mcp", resource),
            Route("/.well-known/oauth-authorization-server", server),
            *([Route("/r", register, methods=["POST"])] if "register" in changed else []),
            Route("/t", token, methods=["POST"]),
        ]
    )


OURS = ("resource", "register", "tokens")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"resource": "https://other.example/mcp"}, "metadata is of another address"),
        ({"issuer": "https://other.example"}, "says that it is another one"),
        ({"code_challenge_methods_supported": ["plain"]}, "does not take PKCE"),
        ({"registration_endpoint": "http://169.254.169.254/r"}, "url_not_allowed"),
        ({"registration_endpoint": None}, "takes no client that it does not know"),
    ],
)
def test_metadata_that_leads_astray_ends_the_sign_in(partners: Partners, changed: dict[str, Any], says: str) -> None:
    with serving(metadata(**changed)) as url:
        partners.add(ADA, "reef", url)
        with pytest.raises(InvalidInput, match=says):
            of(partners).begin(ADA, partners.get("garden", "reef"), SESSION)


def test_who_signs_people_in_is_remembered_until_somebody_looks_again(partners: Partners) -> None:
    with serving(metadata()) as url, serving(metadata()) as other:
        partners.add(ADA, "reef", url)
        partner = partners.get("garden", "reef")
        assert partner.issuer == url.removesuffix("/mcp")
        moved = replace(partner, url=other, challenge=Challenge())
        with pytest.raises(Forbidden, match="now uses another authorization server"):
            of(partners).begin(ADA, moved, SESSION)
        of(partners).accept(ADA, moved, of(partners).discover(moved))
        assert partners.get("garden", "reef").issuer == other.removesuffix("/mcp")


def test_an_address_of_consent_with_parameters_of_ours_is_refused(partners: Partners) -> None:
    with serving(metadata(authorization_endpoint="http://127.0.0.1:9/a?client_id=other", register=True)) as url:
        partners.add(ADA, "reef", url)
        with pytest.raises(InvalidInput, match="parameters of its own"):
            of(partners).begin(ADA, partners.get("garden", "reef"), SESSION)


ANSWERS: dict[str, tuple[int, dict[str, Any], str]] = {
    "huge end": (200, {"access_token": "b", "expires_in": 10**40}, "b"),
    "huge token": (200, {"access_token": "x" * 450_000}, "no_token"),
    "no such code": (400, {"error": "bad_refresh_token"}, ""),
    "no in disguise": (200, {"error": "bad_refresh_token"}, ""),
    "unknown client": (401, {"error": "invalid_client"}, ""),
    "busy": (429, {}, "no_token"),
    "broken": (500, {}, "no_token"),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_an_answer_to_a_renewal_is_taken_for_what_it_is(partners: Partners, clock: Clock, how: str) -> None:
    status, body, outcome = ANSWERS[how]
    answers = [(200, {"access_token": "a", "refresh_token": "r", "expires_in": 100}), (status, body)]
    with serving(metadata(register=True, tokens=answers)) as url:
        partners.add(ADA, "reef", url)
        sign_ins, partner = of(partners), partners.get("garden", "reef")
        state = dict(parse_qsl(urlsplit(sign_ins.begin(ADA, partner, SESSION)).query))["state"]
        sign_ins.finish(ADA, partner, sign_ins.pending(ADA, state, SESSION), "code", "")
        clock.now += 3_600
        if outcome == "no_token":
            with pytest.raises(PartnerFailed, match=outcome):
                bearer(partners)
        else:
            assert bearer(partners) == (outcome or None)
        held = partners.records.get("garden", TOKENS, ADA.account, "reef")
        assert (held is None) == (outcome == "")
        assert held is None or held.busy_until == 0
        registered = partners.records.get("garden", CLIENTS, "made", "reef")
        assert (registered is None) == (how == "unknown client")


def test_many_renewals_at_once_hold_up_nobody(partners: Partners, signed: Any, clock: Clock) -> None:
    commons = ready(partners, signed[0])
    people = [replace(ADA, account=f"{number:032d}") for number in range(12)]
    for one in people:
        sign_in(partners, one, f"session-{one.account}")
    clock.now += 3_600
    with ThreadPoolExecutor(len(people)) as pool:
        assert list(pool.map(partial(status, commons), people)) == ["ok"] * len(people)


def test_what_is_one_callers_fault_closes_a_partner_for_nobody(partners: Partners, signed: Any) -> None:
    commons = ready(partners, signed[0])
    partner, (tool,) = partners.get("garden", "reef"), partners.tools("garden", "reef")
    for _ in range(4):
        with pytest.raises((InvalidInput, Unavailable)):
            commons.call(ADA, partner, tool, {"wrong": 1}, ())
    assert status(commons) == "ok"


def test_a_tool_that_a_partner_lists_no_longer_is_called_by_nobody(
    partners: Partners, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with signed_partner() as (url, _, seen):
        commons = ready(partners, url)
        clock.now += COMPARED_SECONDS
        connections = partners.connections()

        async def other(*_: Any, **__: Any) -> Any:
            return [], partners.get("garden", "reef").contact

        monkeypatch.setattr(connections, "tools", other)
        seen.methods.clear()
        assert (status(commons), status(commons)) == ("withheld", "withheld")
        assert "POST tools/call" not in seen.methods


def test_a_removal_that_broke_off_is_done_again_and_leaves_no_approval(
    partners: Partners, signed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(partners, signed[0])
    with monkeypatch.context() as broken:
        broken.setattr(Table, "write_many", lambda *_: 1)
        with pytest.raises(Unavailable):
            partners.remove(ADA, "reef")
    partners.remove(ADA, "reef")
    assert (partners.tools("garden", "reef"), list(partners.records.list("garden", TOKENS, "reef"))) == ([], [])
