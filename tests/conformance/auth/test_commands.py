"""Operators make agents and tokens, see what clients may do, and end it, while the deployment runs."""

import json
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from commonplace_local import cli
from tests.conformance.auth.conftest import MEMBER, Place
from tests.person import Person, query_of

pytestmark = pytest.mark.laptop

CALLBACK = "http://127.0.0.1:9/callback"
VERIFIER = "v" * 43
CHALLENGE = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM"
"""S256 of it."""
READ = ("get_document", {"id": "same-pool-same-day", "contentType": "pattern"})


def commonplace(place: Place, *words: str) -> Result:
    done = CliRunner().invoke(cli.app, [*words, "--data", str(place.dev.data)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def listed(place: Place, *words: str) -> list[dict[str, str]]:
    done = commonplace(place, *words, "--json")
    assert done.exit_code == 0, done.stderr
    rows: list[dict[str, str]] = json.loads(done.stdout)
    return rows


def call(place: Place, token: str, tool: str, arguments: dict[str, Any]) -> httpx.Response:
    return httpx.post(
        place.mcp,
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
        headers={"authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=60,
    )


def test_a_service_token_works_until_it_is_revoked(place: Place) -> None:
    minted = commonplace(
        place, "tokens", "mint", "--org", "tide-pools", "--agent", "nightly", "--scopes", "knowledge:read"
    )
    assert minted.exit_code == 0, minted.stderr
    token = minted.stdout.strip()
    assert call(place, token, *READ).json()["result"].get("isError") is not True

    (grant,) = (row for row in listed(place, "grants", "list") if row["client"] == "nightly")
    assert (grant["organisation"], grant["kind"], grant["scopes"]) == ("tide-pools", "agent", "knowledge:read")
    assert commonplace(place, "grants", "revoke", grant["grant"]).exit_code == 0

    refused = call(place, token, *READ)
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


def test_a_service_token_cannot_be_widened_by_asking(place: Place) -> None:
    words = ("--org", "tide-pools", "--agent", "reader", "--scopes", "knowledge:read", "--tier", "vibecoder")
    token = commonplace(place, "tokens", "mint", *words).stdout.strip()

    refused = call(place, token, "create_draft", {"contentType": "pattern", "title": "No", "content": "Nothing."})

    assert refused.status_code == 200
    assert refused.json()["result"]["isError"] is True


def test_an_agent_gets_tokens_for_itself(place: Place) -> None:
    words = ("--agent", "--org", "tide-pools", "--scopes", "knowledge:read", "--tier", "member")
    added = commonplace(place, "clients", "add", "watcher", *words)
    assert added.exit_code == 0, added.stderr
    told = dict(line.split() for line in added.stdout.splitlines())

    answer = httpx.post(
        f"{place.base}/token",
        data={"grant_type": "client_credentials", "resource": place.mcp},
        auth=(told["client_id"], told["client_secret"]),
        trust_env=False,
        timeout=60,
    )

    assert answer.status_code == 200, answer.text
    token = answer.json()["access_token"]
    assert call(place, token, *READ).json()["result"].get("isError") is not True
    assert commonplace(place, "clients", "remove", told["client_id"]).exit_code == 0
    assert call(place, token, *READ).status_code == 401


def test_an_operator_ends_everything_of_an_account(place: Place) -> None:
    registered = httpx.post(
        f"{place.base}/register",
        json={"client_name": "Notebook", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"},
        trust_env=False,
        timeout=60,
    ).json()
    asked = {
        "response_type": "code",
        "client_id": registered["client_id"],
        "redirect_uri": CALLBACK,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": place.mcp,
    }
    led_to = Person(MEMBER).decide(f"{place.base}/authorize?{httpx.QueryParams(asked)}")
    form = {
        "grant_type": "authorization_code",
        "code": query_of(led_to)["code"],
        "redirect_uri": CALLBACK,
        "client_id": registered["client_id"],
        "code_verifier": VERIFIER,
    }
    tokens = httpx.post(f"{place.base}/token", data=form, trust_env=False, timeout=60).json()
    assert call(place, tokens["access_token"], *READ).status_code == 200
    rows = listed(place, "grants", "list", "--subject", MEMBER.address.lower())
    assert "Notebook" in [row["client"] for row in rows]
    assert MEMBER.address.lower() not in json.dumps(rows).lower()

    assert commonplace(place, "grants", "revoke", "--subject", MEMBER.address).exit_code == 0

    assert listed(place, "grants", "list", "--subject", MEMBER.address) == []
    assert call(place, tokens["access_token"], *READ).status_code == 401
    events = {row["event"] for row in listed(place, "grants", "records")}
    assert {"signin", "grant", "revoke"} <= events


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("grants", "revoke"), "Name a grant"),
        (("grants", "records", "--denied", "--memory"), "exclude each other"),
        (("grants", "records", "--memory", "--console"), "exclude each other"),
        (("grants", "revoke", "00000000"), "commonplace grants list"),
        (("clients", "remove", "nobody"), "commonplace clients list"),
        (("tokens", "mint", "--org", "a", "--agent", "b", "--scopes", "everything"), "knowledge:read"),
        (("tokens", "mint", "--org", "a", "--agent", "b", "--scopes", "knowledge:read", "--path", "/x"), "/mcp"),
        (("tokens", "mint", "--org", "A!", "--agent", "b", "--scopes", "knowledge:read"), "organisation"),
    ],
)
def test_what_cannot_be_done_says_what_can(words: tuple[str, ...], told: str, place: Place) -> None:
    done = commonplace(place, *words)

    assert done.exit_code == 1
    assert told in done.stderr
