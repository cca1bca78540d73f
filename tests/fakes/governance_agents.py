"""Agents of members at `/mcp/governance`: tokens with grants, the guard, and everything that one of them can read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, cast

from commonplace.governance.governance import Governance
from commonplace.governance.memberships import StoredMemberships
from commonplace.governance.store import CHANNELS, MEMBERS, POLICIES, TEAMS, room_of
from commonplace.governance.toolset import governance_toolset
from commonplace.identity.authorization import Verdict
from commonplace.identity.memberships import ChosenMembership
from commonplace.identity.resources import Resources
from commonplace.identity.store.grants import DynamoGrants
from commonplace.identity.tokens import AccessClaims
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.limits import Limiter
from commonplace.kernel.records import Room
from commonplace.web.challenges import Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Call
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.mcp.throttle import Throttle
from tests.fakes.access_tokens import Realm
from tests.fakes.governance import Tide
from tests.fakes.identity_stores import Clock
from tests.unit.web.mcp.guarded import bearer, outcome, resource
from tests.unit.web.mcp.world import BASE_URL, NO_LIMITS, Context, Counters, body_of, call, modern

PATH = "/mcp/governance"
SCHEME = "swarmrise"
LISTS = ("", "/teams", "/members", "/roles", "/channels", "/decisions", "/policies", "/topics", "/governance-tools")
ARGUMENTS: Mapping[str, Room[Any]] = {"team": TEAMS, "member": MEMBERS, "channel": CHANNELS}

Seen = Mapping[str, str]
"""Address -> text, or how it was refused."""


class Agents:
    """The organisations of a store, behind the guard."""

    def __init__(self, governance: Governance, limits: Any = NO_LIMITS, *, stored: DynamoGrants | None = None) -> None:
        """`stored` is where grants are, in place of memory: agents that act need it."""
        self.governance = governance
        self.toolset = governance_toolset(governance, SCHEME)
        clock = Clock()
        clock.now = governance.store.clock()
        self.realm = Realm(clock, memberships=StoredMemberships(governance.store), stored=stored)
        throttle = Throttle(Limiter(Counters(), clock), limits, toolsets={"governance": limits})
        self.handler = Gateway(
            create_app(
                [self.toolset],
                Surface(base_url=BASE_URL, spend=throttle.spend, record=lambda _: None, page_size=100),
                throttle=throttle,
                principals=self.realm.principals,
                challenges=Challenges(Resources(BASE_URL, ("knowledge",), ("knowledge", "governance"))),
                apart=(),
            )
        )

    def claims(
        self,
        tide: Tide,
        name: str,
        roles: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        *,
        acts: bool = False,
        client: str = "Helper",
    ) -> AccessClaims:
        """Return what a token of a new grant of a member says: for all roles and kinds, unless they are named."""
        member = tide.member(name)
        held = tuple(sorted(member.roles)) if roles is None else tuple(roles)
        chosen = ChosenMembership(organisation=tide.slug, member=member.id, roles=held)
        opened = {"subject_hash": member.account, "membership": chosen, "client_name": client}
        opened |= {"resource_scopes": None if kinds is None else tuple(kinds)}
        opened |= {"permission": "action" if acts else "readonly"}
        scopes = ("governance:read", "governance:write", "governance:decide")[: 3 if acts else 1]
        subject = self.realm.account("public")
        return self.realm.granted(resource(PATH), *scopes, subject=subject, opened=opened)

    def token(self, tide: Tide, name: str, **narrowed: Any) -> str:
        return self.signed(self.claims(tide, name, **narrowed))

    def signed(self, claims: AccessClaims, **other: Any) -> str:
        """Return a token of a grant, which may claim something else."""
        chosen = self.realm.grant_of(claims).membership
        assert chosen is not None
        acts = {"gov_org": chosen.organisation, "gov_member": chosen.member, "gov_roles": list(chosen.roles)}
        return self.realm.sign(claims.as_claims() | acts | other)

    def ask(self, token: str, method: str, params: Mapping[str, Any], era: Callable[..., Any] = modern) -> Any:
        return self.handler(era(method, dict(params), bearer(token), path=PATH), cast(Any, Context()))

    def read(self, token: str, address: str, era: Callable[..., Any] = modern) -> str:
        """Return the text at an address, or how it was refused, word for word."""
        answer = self.ask(token, "resources/read", {"uri": address}, era)
        if (told := outcome(answer)) != "ok":
            error = body_of(answer).get("error", {}) if answer["statusCode"] == 200 else {}
            return f"{told} {error.get('message', '')} {(error.get('data') or {}).get('hint', '')}"
        text: str = body_of(answer)["result"]["contents"][0]["text"]
        return text

    def act(self, token: str, tool: str, era: Callable[..., Any] = modern, **given: Any) -> Any:
        """Return the response to a call of a tool."""
        return self.ask(token, "tools/call", call(tool, **given), era)

    def search(self, token: str, words: str) -> str:
        return json.dumps(body_of(self.ask(token, "tools/call", call("search_messages", query=words))))

    def everything(self, tide: Tide, token: str) -> Seen:
        """Return all that a token reads: every list, page by page, and every address that the organisation has, those
        that nobody told it included; what is listed, and completions."""
        store, base = self.governance.store, f"{SCHEME}://orgas/{tide.slug}"
        places = [f"{base}{one}" for one in LISTS]
        rooms: dict[str, Room[Any]] = {"teams": TEAMS, "members": MEMBERS, "policies": POLICIES}
        places += [f"{base}/{path}/{one.id}" for path, room in rooms.items() for one in store.all(tide.slug, room)]
        for channel in store.all(tide.slug, CHANNELS):
            messages = f"{base}/channels/{channel.id}/messages"
            found = store.all(tide.slug, room_of(channel.id), f"{channel.id}.")
            places += [messages, *(f"{messages}/{one.id}/thread" for one in found)]
        seen = {place: self.read(token, place) for place in places}
        onward = list(seen)
        while onward:
            text = seen[onward.pop()]
            following = json.loads(text).get("next") if text.startswith("{") else None
            if following and following not in seen:
                seen[following] = self.read(token, following)
                onward.append(following)
        listed = body_of(self.ask(token, "resources/list", {}))
        ref = {
            "type": "ref/resource",
            "uri": f"{SCHEME}://orgas/{{orgaId}}/channels/{{channelId}}/messages{{?limit,cursor}}",
        }
        completed = self.ask(token, "completion/complete", {"ref": ref, "argument": {"name": "channelId", "value": ""}})
        seen |= self.prompts(tide, token)
        return seen | {"listed": json.dumps(listed), "completed": json.dumps(body_of(completed))}

    def prompt(self, token: str, name: str, **given: str) -> str:
        """Return the text of a prompt, or how it was refused, word for word."""
        answer = self.ask(token, "prompts/get", {"name": name, "arguments": given})
        if (told := outcome(answer)) != "ok":
            error = body_of(answer).get("error", {})
            return f"{told} {error.get('message', '') if isinstance(error, dict) else ''}"
        text: str = body_of(answer)["result"]["messages"][0]["content"]["text"]
        return text

    def prompts(self, tide: Tide, token: str) -> Seen:
        """Return every prompt with every argument that the organisation has for it, told or not."""
        store = self.governance.store
        ids = {f"{kind}Id": [one.id for one in store.all(tide.slug, room)] for kind, room in ARGUMENTS.items()}
        ids |= {"orgaId": [tide.slug]}
        ids |= {"messageId": [one.id for id in ids["channelId"] for one in store.all(tide.slug, room_of(id), f"{id}.")]}
        asked = [(one.name, one.arguments[0].name) for one in self.toolset.prompts]
        return {
            f"{name} {id}": self.prompt(token, name, **{argument: id})
            for name, argument in asked
            for id in ids[argument]
        }

    def at(self, call: Call, place: str) -> str:
        """Return what a caller reads at an address without the guard's limits: an agent, or a person in the console."""
        for one in self.toolset.templates:
            if (given := match(pattern_of(one.uri_template), place)) is not None:
                need = self.toolset.need_of(one)
                if call.caller.principal.membership is not None and call.caller.verdict(need) is not Verdict.ALLOWED:
                    return f"refused: {need.kind}"
                try:
                    return str(one.read(call, given)[0])
                except CommonplaceError as error:
                    return f"refused: {error.message}"
        raise AssertionError(f"no address: {place}")


OWN = frozenset({"you", "mine", "yours", "awaitsYou", "youNominated", "reacted", "next"})
"""What reads otherwise for each reader."""


def within(narrow: Any, wide: Any) -> bool:
    """Return whether everything in one JSON value stands in another, but for what reads otherwise for each reader."""
    if isinstance(narrow, dict):
        return isinstance(wide, dict) and all(
            name in OWN or (name in wide and within(value, wide[name])) for name, value in narrow.items()
        )
    if isinstance(narrow, list):
        return isinstance(wide, list) and all(any(within(one, other) for other in wide) for one in narrow)
    return bool(narrow == wide) or narrow == ""


class Numbered:
    """Ids in their order, for two histories that are to have the same ones."""

    def __init__(self) -> None:
        self.numbers = count(1)

    def __call__(self, _: str = "") -> str:
        return f"{next(self.numbers):026}"


def address_of(place: str) -> str | None:
    """Return the id of the channel in an address."""
    return place.partition("/channels/")[2].partition("/")[0] or None
