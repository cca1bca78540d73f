"""`commonplace dev` over a real chain: what a token may follows the hats of its wallet, and the chain's silence."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.client import OAuthClient
from tests.browser.deployment import Deployment, deployed
from tests.chain.node import HATS, Chain
from tests.person import Person, query_of, wallet

pytestmark = [pytest.mark.node, pytest.mark.laptop]


@pytest.fixture
def deployment(tmp_path: Path, own_chain: Chain) -> Iterator[Deployment]:
    with deployed(tmp_path, own_chain) as running:
        yield running


def _connected(app: OAuthClient, person: Person) -> dict[str, Any]:
    app.answers.append(query_of(person.decide(app.url())))
    return app.exchange()


def _refreshed(app: OAuthClient, tokens: dict[str, Any]) -> httpx.Response:
    form = {"grant_type": "refresh_token", "client_id": app.client_id, "refresh_token": tokens["refresh_token"]}
    return httpx.post(f"{app.issuer}/token", data=form, timeout=60)


def _saves(deployment: Deployment, tokens: dict[str, Any], title: str) -> bool:
    """Whether a tool of members runs; whatever keeps it from that leaves reading alone."""
    assert "error" not in deployment.search(tokens["access_token"]).json()
    answer = deployment.save(tokens["access_token"], title)
    told = answer.json() if answer.status_code == 200 else {}
    return answer.status_code == 200 and "result" in told and not told["result"].get("isError")


def test_what_a_token_may_follows_the_hats_of_its_wallet_and_never_rises_in_silence(deployment: Deployment) -> None:
    chain, person = deployment.chain, Person(wallet(77))
    app = OAuthClient(deployment.url, "http://127.0.0.1:9/callback")
    app.register("Desk app")

    chain.give_hat("30.3.5", person.wallet.address)
    tokens = _connected(app, person)
    assert tokens["scope"] == "knowledge:read knowledge:write"
    assert _saves(deployment, tokens, "By a member")

    chain.take_hat("30.3.5", person.wallet.address)
    tokens = _refreshed(app, tokens).json()
    assert tokens["scope"] == "knowledge:read"

    chain.give_hat("30.3.1", person.wallet.address)
    tokens = _refreshed(app, tokens).json()
    assert tokens["scope"] == "knowledge:read knowledge:write"

    chain.stop()
    refused = _refreshed(app, tokens)
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (503, True)
    assert "error" not in deployment.search(tokens["access_token"]).json()
    assert httpx.get(f"{deployment.url}/api/v1/entries").status_code == 200
    signing_in = Person(wallet(78)).sign_in(deployment.url)
    assert signing_in.status_code == 503

    chain.start()
    chain.put("StandInHats", HATS)
    again = _wait_for_the_chain(app, tokens)
    assert again["scope"] == "knowledge:read", "the node has come back, and knows of no hats"


def _wait_for_the_chain(app: OAuthClient, tokens: dict[str, Any]) -> dict[str, Any]:
    """As a client does that is told when to come back. The refused refresh has spent nothing."""
    end = time.monotonic() + 60
    while (answer := _refreshed(app, tokens)).status_code == 503 and time.monotonic() < end:
        time.sleep(0.2)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
