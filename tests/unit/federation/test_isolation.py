"""What partners are told of who asks, and what organisations see of each other's partners: nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mcp.server.mcpserver import MCPServer

from commonplace.federation.partners import Partners
from commonplace.kernel.audit import Author
from tests.fakes.partners import partner
from tests.unit.federation.asking import approve, ask, caller, offered, search, told

ADA = Author(organisation="garden", account="account-ada")
VI = Author(organisation="orchard", account="account-vi")
SECRETS = {
    name: f"eyJhbGciOiJFUzI1NiJ9.{name}-5c1f0e" for name in ("subject", "account", "grant", "token", "display_name")
}


def knowing(title: str) -> MCPServer:
    made = MCPServer("partner")

    @made.tool(description="Search.", annotations={"readOnlyHint": True})  # type: ignore[arg-type]
    def search(query: str) -> dict[str, Any]:
        return {"results": [{"title": title, "snippet": query}]}

    return made


def test_a_partner_is_sent_no_byte_of_its_caller(partners: Partners) -> None:
    by = caller("garden-of-secrets", **SECRETS)
    by = replace(by, address="203.0.113.77")
    author = replace(ADA, organisation="garden-of-secrets")
    offer = offered(partners, 10)
    with partner() as (url, seen):
        partners.add(author, "reef", url, title="Title of ours")
        approve(partners, author, "reef")
        ask(offer, "list_sources", by)
        ask(offer, "search_commons", by, query="nets", sources=["own", "reef"], limit=7)
        ask(offer, "reef__read", by, page="7")
        ask(offer, "reef__search_knowledge", by, query="twine")
    sent = b"".join(seen.raw)
    assert [word in sent for word in (b'"nets"', b'"7"', b'"twine"')] == [True] * 3
    for word in (*SECRETS.values(), "eyJ", "garden-of-secrets", "account-ada", "203.0.113.77", "Title of ours", "reef"):
        assert word.encode() not in sent, word
    assert not {b"authorization", b"cookie", b"forwarded", b"referer"} & set(sent.lower().replace(b"'", b" ").split())


def test_organisations_with_partners_of_one_name_get_the_answers_of_their_own(partners: Partners) -> None:
    offer = offered(partners, 10)
    with partner(knowing("Apples")) as (apples, _), partner(knowing("Pears")) as (pears, _):
        for author, url in ((ADA, apples), (VI, pears)):
            partners.add(author, "reef", url)
            approve(partners, author, "reef")
        for organisation, title, other in (("garden", "Apples", "Pears"), ("orchard", "Pears", "Apples")) * 2:
            assert [one["title"] for one in search(offer, organisation)["results"]] == [title]
            text = ask(offer, "reef__search", caller(organisation), query="nets")["text"]
            assert (title in text, other in text) == (True, False)
        assert str(ask(offer, "list_sources", caller("garden"))).count(apples) == 1
        assert pears not in str(ask(offer, "list_sources", caller("garden")))


def test_a_breaker_that_one_organisation_has_opened_is_closed_for_others(partners: Partners) -> None:
    offer = offered(partners, 10)
    with partner() as (url, _):
        for author in (ADA, VI):
            partners.add(author, "reef", url)
            approve(partners, author, "reef")
    states = [told(search(offer))["reef"] for _ in range(4)]
    assert states == ["failed unreachable"] * 3 + ["left_alone"]
    assert told(search(offer, "orchard"))["reef"] == "failed unreachable"
    for organisation, state in (("garden", "left_alone"), ("orchard", "failed")):
        _, reef = ask(offer, "list_sources", caller(organisation))["sources"]
        assert (reef["name"], reef["status"]) == ("reef", state)
