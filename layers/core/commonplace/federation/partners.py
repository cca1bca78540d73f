"""Partners of an organisation: added, reviewed, approved and removed by people, and compared with what they say now.

Nothing of a partner is offered before somebody has approved it as it is. A tool that changes is withheld until its new
texts are approved, and the others go on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from commonplace.federation.model import (
    MAX_TOOLS,
    NAME,
    Challenge,
    Contact,
    Partner,
    PartnerFailed,
    PartnerTool,
    SignInNeeded,
    cleaned,
    exposed,
    fault_of,
    pin,
    texts_of,
)
from commonplace.federation.rooms import PARTNERS, TOOLS
from commonplace.federation.sign_ins import SignIns, forget_tokens
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable
from commonplace.kernel.fetch import fetchable
from commonplace.kernel.items import decoded, encode
from commonplace.kernel.records import Change, Records, is_id
from commonplace.kernel.telemetry import count

if TYPE_CHECKING:
    from commonplace.federation.client.connection import Connections

MOST_PARTNERS = 20
COMPARED_SECONDS = 3_600
"""How long a comparison of a partner's list with the approved tools holds."""
TITLE_CHARACTERS = 80
APPROVED_AT_ONCE = 40
"""Tools, in one transaction with its audit record."""


HINTS = {
    "refused": "Check the path: that of an MCP server often ends in /mcp.",
    "malformed": "Check the path: that of an MCP server often ends in /mcp.",
    "unreachable": "Nothing answers there. Is it running, and is its certificate for this name?",
    "name_unknown": "There is no such host. Check the address.",
    "too_many_tools": f"A partner has at most {MAX_TOOLS} tools.",
}


class PartnerDown(Unavailable):
    """A partner gives no list of its tools. Pages show it where it was asked: the deployment itself is well."""

    code, status = "PARTNER_DOWN", 424


@dataclass(frozen=True, slots=True)
class Review:
    """A partner with its tools, for people who decide."""

    partner: Partner
    tools: Sequence[PartnerTool]
    faults: Mapping[str, str] = field(default_factory=dict)
    """Tools that no approval makes good, by their name at the partner, and why."""


@dataclass(frozen=True, slots=True)
class Partners:
    """Safe for threads. Every method raises Unavailable."""

    records: Records
    connections: Callable[[], Connections]
    sign_ins: SignIns | None = None
    """People's sign-ins at partners; None where nobody can sign in."""
    loopback: bool = False
    """Partners may be `http://` addresses of this machine: on a laptop alone."""
    clock: Callable[[], float] = time.time

    def all(self, organisation: str) -> list[Partner]:
        """Return the partners of an organisation, by name."""
        return list(self.records.list(organisation, PARTNERS))

    def get(self, organisation: str, name: str) -> Partner:
        """Return a partner. Raises NotFound."""
        if (found := self.records.get(organisation, PARTNERS, name)) is None:
            raise NotFound(f"There is no partner {cleaned(name, 40)}.", hint="/console/partners lists those there are.")
        return found

    def tools(self, organisation: str, name: str) -> list[PartnerTool]:
        """Return the tools of a partner, by their names here."""
        return list(self.records.list(organisation, TOOLS, name))

    def searching(self, organisation: str, partners: Sequence[Partner]) -> dict[str, PartnerTool]:
        """Return the tools that search, as they are approved, by partner: one read for all."""
        ids = {partner.id: exposed(partner.id, partner.search) for partner in partners if partner.search}
        keys = [TOOLS.at(organisation, id, partner) for partner, id in ids.items()]
        found = (decoded(PartnerTool, item) for item in self.records.table.get_many(keys))
        return {tool.id.partition("__")[0]: tool for tool in found if tool is not None and tool.state == "approved"}

    def called(self, organisation: str, id: str) -> tuple[Partner, PartnerTool] | None:
        """Return a tool by its name here, with its partner: one read for both."""
        name = id.partition("__")[0]
        if not NAME.fullmatch(name) or not is_id(id):
            return None
        keys = [PARTNERS.at(organisation, name), TOOLS.at(organisation, id, name)]
        found = {item["pk"]: item for item in self.records.table.get_many(keys)}
        partner = decoded(Partner, found.get(keys[0]["pk"]))
        tool = decoded(PartnerTool, found.get(keys[1]["pk"]))
        return (partner, tool) if partner is not None and tool is not None else None

    def add(self, author: Author, name: str, url: str, *, title: str = "", search: str = "") -> Review:
        """Connect to a server and store it with its tools, none of them approved.

        `search` is the tool that searches, by its name there; without one it is the first that has `search` in its
        name. Of a server that lists its tools to people who have signed in alone there are none yet. Raises
        InvalidInput, Conflict, and Unavailable where the server gives no list of tools.
        """
        if not NAME.fullmatch(name):
            raise InvalidInput(
                f"{cleaned(name, 40)} cannot be the name of a partner.",
                hint="Use 1 to 23 of a-z, digits and single hyphens, such as dao-primitives.",
                field="name",
            )
        if not fetchable(url, loopback=self.loopback):
            here = ", or of a server on this machine, such as http://127.0.0.1:8790/mcp" if self.loopback else ""
            raise InvalidInput(
                "This cannot be the address of a partner.",
                hint=f"Give an https URL of a public host and a path, such as https://mcp.example.org/mcp{here}.",
                field="url",
            )
        if self.sign_ins is not None and url.startswith(f"{self.sign_ins.base_url}/"):
            raise InvalidInput("This is the deployment itself, which is searched anyway.", field="url")
        known = self.all(author.organisation)
        if twin := next((one for one in known if one.url == url), None):
            raise Conflict(f"{twin.id} has this address already.", hint="Remove it first, or look at it.")
        if len(known) >= MOST_PARTNERS:
            raise Conflict(f"An organisation has at most {MOST_PARTNERS} partners.", hint="Remove one first.")
        now = int(self.clock() * 1_000)
        partner = Partner(
            id=name,
            revision=1,
            url=url,
            title=cleaned(title or name, TITLE_CHARACTERS),
            search=search,
            added_by=author.account,
            added_at=now,
        )
        listed: Sequence[Mapping[str, Any]] = ()
        try:
            listed, contact = self._listed(author, partner)
            partner = replace(partner, era=contact.era, discovered=contact.discovered)
            if search and search not in (names := sorted(str(tool["name"]) for tool in listed)):
                hint = f"It has: {cleaned(', '.join(names), 500)}."
                raise InvalidInput(f"The partner has no tool {cleaned(search, 60)}.", hint=hint, field="search")
        except SignInNeeded as needed:
            partner = replace(partner, challenge=needed.challenge)

        def decide(change: Change) -> None:
            if self.records.get(author.organisation, PARTNERS, name) is not None:
                raise Conflict(f"There is a partner {name} already.", hint="Remove it first, or use another name.")
            self._clear(author.organisation, name)  # of one whose removal did not come to its end
            change.add(PARTNERS, partner)
            change.record(author.record("partner added", self.clock(), partner=name, url=url))

        self.records.change(author.organisation, decide)
        self._look(author, partner)
        return self.compare(author.organisation, partner, listed)

    def review(self, author: Author, name: str) -> Review:
        """Compare a partner's list with what was approved, now. Raises NotFound, Unavailable, and Forbidden where it
        wants somebody to sign in first."""
        partner = self.get(author.organisation, name)
        try:
            listed, contact = self._listed(author, partner)
        except SignInNeeded as needed:
            self.challenged(author.organisation, partner, needed.challenge)
            self._look(author, replace(partner, challenge=needed.challenge))
            raise Forbidden(
                f"{partner.title} lists its tools to people who have signed in there.",
                hint="Sign in at /console/partners, and look at them there.",
            ) from None
        self.remember(author.organisation, partner, contact)
        self._look(author, partner)
        return self.compare(author.organisation, partner, listed)

    def _look(self, author: Author, partner: Partner) -> None:
        """Accept whoever signs people in at a partner now."""
        if self.sign_ins is not None and partner.challenge is not None:
            with suppress(InvalidInput):
                self.sign_ins.accept(author, partner, self.sign_ins.discover(partner))

    def stale(self, partner: Partner) -> bool:
        """Return whether a partner's list is to be compared again."""
        return self.clock() * 1_000 - partner.compared_at >= COMPARED_SECONDS * 1_000

    def approve(self, author: Author, name: str, pins: Mapping[str, str]) -> list[PartnerTool]:
        """Approve tools as they were shown: `{name here: pin}`. Raises NotFound, InvalidInput, and Conflict for one
        that has changed since."""
        if not pins or len(pins) > APPROVED_AT_ONCE:
            raise InvalidInput(f"1 to {APPROVED_AT_ONCE} tools are approved at once.", field="tools")

        def decide(change: Change) -> list[PartnerTool]:
            self.get(author.organisation, name)
            approved: list[PartnerTool] = []
            for id, shown in pins.items():
                was = self.records.get(author.organisation, TOOLS, id, name)
                if was is None or not was.offered:
                    raise NotFound(f"{name} has no tool {cleaned(id, 70)} now.")
                if pin(was.offered) != shown:
                    raise Conflict(
                        f"{cleaned(id, 70)} is not as it was shown.", hint="Look at it again, then approve it."
                    )
                approved.append(
                    replace(
                        was,
                        revision=was.revision + 1,
                        approved=was.offered,
                        approved_by=author.account,
                        approved_at=int(self.clock() * 1_000),
                    )
                )
                change.replace(TOOLS, approved[-1], was, name)
                details = {"partner": name, "tool": id, "pin": shown}
                change.record(author.record("partner tool approved", self.clock(), **details))
            change.require(PARTNERS, name)
            return approved

        return self.records.change(author.organisation, decide)

    def remove(self, author: Author, name: str) -> None:
        """Remove a partner with its tools. Raises NotFound."""

        def decide(change: Change) -> None:
            change.remove(PARTNERS, self.get(author.organisation, name))
            change.record(author.record("partner removed", self.clock(), partner=name))

        # The partner goes last: as long as anything of it is there, it can be removed once more.
        self.get(author.organisation, name)
        self._clear(author.organisation, name)
        self.records.change(author.organisation, decide)

    def _clear(self, organisation: str, name: str) -> None:
        """Delete the tools of a partner, and what people sign in there with."""
        table, tools = self.records.table, self.tools(organisation, name)
        if table.write_many(table.delete(TOOLS.at(organisation, tool.id, name)) for tool in tools):
            raise Unavailable("Not all tools could be deleted.", hint="Try once more.")
        forget_tokens(self.records, organisation, name)

    def remember(self, organisation: str, partner: Partner, contact: Contact) -> None:
        """Remember how a partner spoke, where that has changed."""
        if contact != partner.contact:
            self._note(organisation, partner, era=contact.era, discovered=contact.discovered)

    def challenged(self, organisation: str, partner: Partner, challenge: Challenge) -> None:
        """Remember that a partner wants people to sign in, and what it said of that."""
        if challenge != partner.challenge:
            self._note(organisation, partner, challenge=json.dumps(asdict(challenge)))

    def _note(self, organisation: str, partner: Partner, **values: Any) -> None:
        table, names = self.records.table, ", ".join(f"#{name} = :{name}" for name in values)
        table.write(
            table.update(PARTNERS.at(organisation, partner.id), f"SET {names}", "attribute_exists(pk)", **values)
        )

    def _listed(self, author: Author, partner: Partner) -> tuple[list[dict[str, Any]], Contact]:
        connections = self.connections()

        async def ask(token: str | None) -> tuple[list[dict[str, Any]], Contact]:
            return await connections.tools(partner.contact, token=token)

        try:
            return connections.run(ask(None) if self.sign_ins is None else self.sign_ins.asked(author, partner, ask))
        except SignInNeeded:
            raise
        except PartnerFailed as error:
            hint = HINTS.get(error.reason, "Try again, or ask who runs it.")
            raise PartnerDown(f"{partner.title} did not list its tools ({error.reason}).", hint=hint) from None

    def compare(self, organisation: str, partner: Partner, listed: Sequence[Mapping[str, Any]]) -> Review:
        """Store what a partner lists now beside what was approved.

        A partner at which people sign in may list other tools to each: what one person's list lacks is not gone.
        """
        now = int(self.clock() * 1_000)
        faults: dict[str, str] = {}
        offered: dict[str, Mapping[str, Any]] = {}
        for tool in listed:
            why = fault_of(tool)
            if why is None and (id := exposed(partner.id, tool["name"])) not in offered:
                offered[id] = tool
            else:
                faults[cleaned(tool.get("name"), 80)] = why or "another tool has this name"
        known = {tool.id: tool for tool in self.tools(organisation, partner.id)}
        table = self.records.table
        for id in offered if partner.challenge else offered.keys() | known.keys():
            texts = texts_of(offered[id]) if id in offered else ""
            was = known.get(id)
            if was is None:
                was = PartnerTool(id=id, revision=1, name=offered[id]["name"], offered=texts)
                table.write(table.new(TOOLS.at(organisation, id, partner.id), encode(was)))
            elif was.offered != texts:
                where = TOOLS.at(organisation, id, partner.id)
                moved = "SET #offered = :offered ADD #revision :one"
                held: dict[str, Any] = {"offered": texts, "one": 1, "revision": was.revision}
                written = table.write(table.update(where, moved, "#revision = :revision", **held))
                if written is not None and was.state == "approved":
                    count("PartnerToolsWithheld")
        # What one person's list lacks may be there for others: such a list is not taken for the comparison of an hour.
        lacking = any(tool.approved and tool.id not in offered for tool in known.values())
        noted: dict[str, Any] = {} if partner.challenge and lacking else {"comparedAt": now}
        named = {tool["name"]: tool for tool in offered.values()}
        search = partner.search or next((name for name in named if "search" in name), "")
        if search in named:
            noted |= {"search": search, "query": _words_of(named[search])}
        if noted:
            self._note(organisation, partner, **noted)
        return Review(self.get(organisation, partner.id), self.tools(organisation, partner.id), faults)


def _words_of(tool: Mapping[str, Any]) -> str:
    """Return the argument of a tool that takes words: `query` where it has one, or else the first that is a text."""
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    found = properties if isinstance(properties, dict) else {}
    texts = [name for name, one in found.items() if isinstance(one, dict) and one.get("type") == "string"]
    return "query" if "query" in found or not texts else texts[0]
