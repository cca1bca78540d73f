"""Who may call which of the hive's endpoints, and what others are told."""

from typing import Any

import pytest

from tests.fakes.access_tokens import ISSUER, standing
from tests.unit.hive.rest.desks import API, HIVE, LOCKS, Desk, Somebody

METADATA = f'resource_metadata="{ISSUER}/.well-known/oauth-protected-resource/api"'
ID = "hv_01JDXYZ8K4QW7M2N6P9R3T4VBC"
READING = (("GET", "/search?q=lock"), ("GET", f"/items/{ID}"), ("GET", "/contributions"))
WRITING = (("POST", "/contributions"), ("DELETE", f"/items/{ID}"), ("POST", f"/items/{ID}/outcomes"))
REVIEWING = (
    ("GET", "/pending"),
    ("GET", f"/pending/{ID}"),
    *(("POST", f"/pending/{ID}/{what}") for what in ("approve", "reject", "flag", "mask", "words")),
    ("GET", "/items"),
    ("PUT", f"/items/{ID}/publication"),
    ("PUT", f"/items/{ID}/validity"),
    ("GET", "/rules"),
    ("PUT", "/rules"),
    ("GET", "/stats"),
)
EVERY = (*READING, *WRITING, *REVIEWING)


def asked(who: Somebody, method: str, path: str) -> Any:
    return who.ask(method, path, {} if method in ("POST", "PUT") else None)


def test_every_endpoint_is_one_of_these(here: Desk) -> None:
    described = here.client.get("/api/v1/openapi.json").json()["paths"]
    there = {
        (method.upper(), path.removeprefix(HIVE).replace("{id}", ID))
        for path, methods in described.items()
        if path.startswith(HIVE)
        for method in methods
    }
    assert there == {(method, path.partition("?")[0]) for method, path in EVERY}


def test_without_a_token_everything_asks_for_one(here: Desk) -> None:
    for method, path in EVERY:
        answer = asked(Somebody(here.client, None), method, path)
        assert answer.status_code == 401, path
        assert METADATA in answer.headers["www-authenticate"]
        assert answer.headers["cache-control"] == "no-store"


def test_a_token_for_another_resource_is_refused(here: Desk) -> None:
    here.realm.account("vibecoder", "agent:a", "acme")
    token = here.realm.token(f"{ISSUER}/mcp/hive", "hive:admin", subject="agent:a")
    for method, path in EVERY:
        answer = asked(Somebody(here.client, token), method, path)
        assert answer.status_code == 401, path
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("scope", "endpoints"), [("hive:read", (*WRITING, *REVIEWING)), ("hive:admin", REVIEWING)], ids=["reader", "member"]
)
def test_who_only_reads_or_contributes_is_refused_more(here: Desk, scope: str, endpoints: tuple[Any, ...]) -> None:
    who = here.somebody("a", scope)
    for method, path in endpoints:
        answer = asked(who, method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN"), path


def test_a_person_whose_token_lacks_the_scope_is_told_which(here: Desk) -> None:
    subject = here.realm.account("vibecoder", organisation="acme")
    assert "hive:admin" in standing("vibecoder").scopes
    person = Somebody(here.client, here.realm.token(API, "hive:read", subject=subject))
    answer = person.ask("POST", "/contributions", {"content": LOCKS, "category": "bug_fix"})
    assert answer.status_code == 403
    assert answer.headers["www-authenticate"] == f'Bearer error="insufficient_scope", scope="hive:write", {METADATA}'
    assert 'scope="hive:admin"' in person.ask("GET", "/pending").headers["www-authenticate"]


def test_a_token_for_other_kinds_of_things_reaches_nothing_here(here: Desk) -> None:
    answer = here.somebody("a", resource_scopes=frozenset({"entries"})).ask("GET", "/contributions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")


def test_while_roles_cannot_be_read_everything_waits(here: Desk) -> None:
    subject = here.realm.account("member", organisation="acme")
    person = Somebody(here.client, here.realm.token(API, "hive:read", subject=subject))
    here.realm.accounts.down = True
    answer = person.ask("GET", "/contributions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")


def test_an_account_of_no_organisation_has_no_hive(here: Desk) -> None:
    subject = here.realm.account("member", "agent:a", None)
    nobody = Somebody(here.client, here.realm.token(API, "hive:write", subject=subject))
    assert nobody.refused("GET", "/contributions")[:2] == (403, "FORBIDDEN")


def test_another_method_is_405_and_says_which_there_are(here: Desk) -> None:
    answer = here.client.put(f"{HIVE}/contributions")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, POST, OPTIONS"
    assert answer.json()["error"]["details"]["allowed"] == ["GET", "HEAD", "POST", "OPTIONS"]
    assert here.client.put(f"{HIVE}/items/{ID}").headers["allow"] == "GET, HEAD, DELETE, OPTIONS"
