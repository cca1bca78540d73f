"""The console's pages of organisations: what awaits me, teams, roles, members, channels with their processes, policies,
the journal, invitations and settings.

A page is a method that reads what its template shows: most have a sheet of texts, facts, and lists of cards. `forms`
names the forms that this member can use now, with their present values. Every form calls the operation that it is made
from, which judges anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.governance import conversation, listings, processes, structure, webhooks
from commonplace.governance.governance import PERSON, Governance
from commonplace.governance.listings import Reading
from commonplace.governance.model import Response
from commonplace.governance.prompts import Brief, governance_context
from commonplace.governance.settings import GovernanceTables
from commonplace.governance.store import HOOKS, INVITATIONS, MEMBERS, POLICIES, ROLES, TEAMS, Store
from commonplace.identity.secrets import digest
from commonplace.kernel.deferred import deferred
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import CommonplaceError, Forbidden, NotFound
from commonplace.kernel.records import Room
from commonplace.web.forms import Fields
from commonplace.web.operation_pages import SHOWN, Form, actor, tabs_of
from commonplace.web.operations import Listing, Operation
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, Link, View, Visit
from commonplace.web.pages.frame import PageContext

T = TypeVar("T")
Values = dict[str, Any]

HERE = Path(__file__).parent
PATH = "governance"
TABS = ("me", "", "members", "channels", "policies", "journal", "agents", "invitations", "settings")
NAMED = {"": "teams", "me": "for you"}
ACCOUNT = "/account"
EMOJI = ("👍", "❤️", "🎉", "🤔", "👀", "🙏")
"""Reactions that a page offers; the operation takes others, too."""
MOST = 200
"""Records that a choice offers, or a page shows beside others."""
OPEN = ("invite", "accept_invitation", "change_settings", "open_direct", "send_message")
"""Forms that are shown as a whole; others are folded."""
NOTHING: Values = {"base": f"/console/{PATH}", "forms": {}, "choices": {}, "filters": (), "lists": (), "facts": ()}
NOTHING |= dict.fromkeys(("tabs", "above", "about", "lead", "text", "link", "secret", "more", "first"), "")
"""What a page has that does not say otherwise."""
TYPES = {"type": {"secretary": "secretary", "referee": "referee"}}
PAGES_OF = {one: one for one in ("teams", "roles", "members", "policies")}
PAGES_OF |= dict.fromkeys(("topics", "votings", "elections", "messages"), "messages")
"""Where the pages are of what the journal names, below the organisation's."""
TARGETS = {"": "any", "orgas": "organisation"} | {one: one for one in (*PAGES_OF, "invitations", "grants", "webhooks")}
TARGETS |= {"votings": "votes"}
"""What the journal names, and what people read."""
TOLD = {"Organization": "Organisation", "Voting": "Vote", "Clarification": "Question", "TopicResponse": "Response"}
TOLD |= {"ElectionResponse": "Response", "Grant": "Access of an agent"}
MINE = ("", "Your roles", "Waiting for you", "Open, waiting for others", "Decisions", "Policies of your roles")
"""Headings of the sections of `governance_context`, for the member itself."""
MODES = {"single": "one choice", "approval": "several choices", "ranked": "a ranking of all"}
CHANNELS = {"orga": "everybody", "team": "team", "dm": "direct"}
WORDS = re.compile(r"(?<!^)(?=[A-Z])")
"""Between the words of a name in camel case."""

DECLARED: Mapping[str, Mapping[str, Any]] = tomllib.loads((HERE / "forms.toml").read_text(encoding="utf-8"))
MOVES = DECLARED["moves"]
OPERATIONS: Mapping[str, Operation] = {**vars(structure), **vars(conversation), **vars(processes), **vars(webhooks)}
MESSAGES = dict.fromkeys(MOVES, "Moved on.") | {
    name: one["done"] for page in DECLARED.values() for name, one in page.items() if "done" in one
}


def forms_of(page: str) -> dict[str, Form]:
    """Return the forms of a page: titles and texts are the operations', and `revision` is hidden where one takes it."""
    forms = {}
    for name, one in {**DECLARED.get(page, {}), **(MOVES if page == "message" else {})}.items():
        called, fields = OPERATIONS["move_on" if name in MOVES else name], one.get("fields", "").split()
        revision = ["revision"] if "revision" in called.input.model_fields else []
        forms[name] = Form(
            name,
            called,
            one["button"] if name in MOVES else called.title,
            one["button"],
            {field: DECLARED["labels"].get(field, field.removesuffix("_id").capitalize()) for field in fields},
            hidden=(*revision, *one.get("hidden", "").split()),
            kinds=one.get("kinds", {}),
            required=tuple(fields) if name in MOVES else (),
            about="" if name in MOVES else one.get("about", called.description),
            sure=one.get("sure", False),
        )
    return forms


def card(title: str, url: str = "", *facts: Any, badges: Sequence[str | None] = (), text: str = "") -> Values:
    """Return a row of a list; `facts` are texts, times and links."""
    return {"title": title, "url": url, "facts": facts, "badges": badges, "text": text}


def role_card(one: Any, beside: Link) -> Values:
    return card(one.title, f"roles/{one.id}", beside, badges=[*{one.role_type} - {one.title.lower()}])


def policy_card(one: Any) -> Values:
    role = Link(f"roles/{one.role_id}", one.role_title)
    return card(f"{one.number}. {one.title}", f"policies/{one.id}", role, one.owner_name, text=one.abstract)


@dataclass(frozen=True, slots=True)
class Here(Reading):
    """A page of an organisation, and the member who looks at it. The methods without arguments are the pages."""

    visit: Visit
    owner: str

    def __getitem__(self, name: str) -> str:
        """Return a part of the address."""
        return str(self.visit.request.path_params[name])

    @property
    def store(self) -> Store:
        return self.governance.store

    def rows(self, listed: Listing, **given: Any) -> Values:
        """Return a page of a list, with the addresses of the next and the first."""
        query, address = self.visit.request.query_params, self.visit.request.url.path
        cursor = query.get("cursor") or None
        request = listed.accepted({"orga_id": self["orga_id"], "limit": SHOWN, "cursor": cursor, **given})
        found: Values = listed.run(self.governance, actor(self.visit), request)
        chosen = {name: one for name, one in query.items() if name in given and one}
        more = found["next_cursor"] and f"{address}?{urlencode(chosen | {'cursor': found['next_cursor']})}"
        return found | {"rows": found[listed.of], "more": more, "first": cursor and f"{address}?{urlencode(chosen)}"}

    def cards(self, listed: Listing, shown: Callable[[Here, Any], Values]) -> Values:
        """Return the page of a list of cards."""
        found = self.rows(listed)
        return found | {"lists": [("", [shown(self, one) for one in found["rows"]], listed.nothing)]}

    def few(self, room: Room[T]) -> list[T] | None:
        """Return the records of a room; None if there are more than MOST."""
        found = list(islice(self.read(room, MOST), MOST + 1))
        return found if len(found) <= MOST else None

    def offered(self, room: Room[Any]) -> dict[str, str] | None:
        """Return names by id for a choice; None if they are too many: then its field takes an id."""
        if (found := self.few(room)) is None:
            return None
        present = (one for one in found if getattr(one, "left_at", None) is None)
        return {one.id: one.name for one in sorted(present, key=lambda one: str(one.name).casefold())}

    def sheet(self, called: Operation) -> Any:
        """Return what a reading shows of what the address names."""
        return called.run(self.governance, actor(self.visit), called.accepted(self.visit.request.path_params))

    def team_card(self, one: Any) -> Values:
        leader = one.leader and Link(f"members/{one.leader.member_id}", f"led by {one.leader.name}")
        return card(one.name, f"teams/{one.id}", leader, badges=("yours" if one.mine else "",), text=one.mission)

    def member_card(self, one: Any) -> Values:
        badges = [word for word, id in (("you", self.access.member.id), ("owner", self.owner)) if id == one.id]
        count = len(one.role_ids)
        return card(one.name, f"members/{one.id}", f"{count} {'role' if count == 1 else 'roles'}", badges=badges)

    def channel_card(self, one: Any) -> Values:
        last = one.last_message_at and datetime.fromisoformat(one.last_message_at)
        badges = (CHANNELS[one.kind], "archived" if one.is_archived else "")
        return card(one.name, f"channels/{one.id}", last, badges=badges)

    def mine(self) -> Values:
        """Return the sections that the prompt `governance_context` gives an agent of this member."""
        brief = Brief(self.governance, actor(self.visit), self.access, "")
        governance_context(brief, {})
        (about,), *sections = (one.rows for one in brief.sections)
        lists = []
        for heading, rows in zip(MINE[1:], sections, strict=True):
            shown = [my_card(heading, one) for one in islice(rows, MOST)]
            lists.append((heading, shown, "None."))
        return {"title": f"For {self.access.member.name}", "lead": about.get("mission", ""), "lists": lists}

    def agents_page(self) -> Values:
        owner = self.owner == self.access.member.id
        found = self.rows(listings.list_agents)
        rows, ends = [], {}
        for one in found["rows"]:
            did = f"{one.actions} {'action' if one.actions == 1 else 'actions'}, {one.refused} refused"
            facts = [Link(f"members/{one.member.member_id}", one.member.name), did, "since"]
            facts += [datetime.fromisoformat(one.created_at), "until", one.expires_at]
            text = f"Roles: {', '.join(each.name for each in one.roles) or 'none'}. Kinds: {', '.join(one.kinds)}."
            rows.append(card(one.client, "", *facts, badges=("acts" if one.acts else "reads",), text=text))
            ends[one.id] = f"{one.client}, for {one.member.name}"
        return found | {
            "about": "What agents did stands in the journal. You end your own under connected apps.",
            "facts": [Link(ACCOUNT, "Your connected apps")],
            "lists": [("", rows, "No agent has access.")],
            "forms": {"end_agent": {}} if owner and ends else {},
            "choices": {"agent_id": ends},
        }

    def webhooks(self) -> Values:
        if self.owner != self.access.member.id:
            raise Forbidden("Only the owner of the organisation sees its webhooks.")
        rows, found = [], self.store.all(self["orga_id"], HOOKS)
        for one in found:
            state = "works"
            if one.off_at is not None:
                state = "off: its address is gone" if one.off_because == "gone" else "off: no message arrived for a day"
            elif one.failing_since is not None:
                state = "failing, and tried again"
            since = one.off_at or one.failing_since
            rows.append(card(one.url, "", *(("since", since) if since else ()), badges=(state,)))
        names = {one.id: one.url for one in found}
        off = any(one.off_at is not None for one in found)
        about = "Each action of an agent sends a signed message with ids and types to these addresses."
        return {
            "about": about,
            "lists": [("", rows, "None.")],
            "forms": {
                "add_webhook": {},
                **({"switch_webhook_on": {}} if off else {}),
                **({"rotate_webhook_secret": {}, "remove_webhook": {}} if found else {}),
            },
            "choices": {"webhook_id": names},
        }

    def team(self) -> Values:
        team, teams = self.sheet(listings.read_team), self.offered(TEAMS)
        roles = [role_card(one, Link(f"members/{one.member_id}", one.member_name)) for one in team.roles]
        policies = self.policies([one for one in self.few(POLICIES) or () if one.team == team.id])
        lists = [("Roles", roles, ""), ("Policies", list(map(policy_card, policies)), "")]
        above = team.parent_team_id and self.store.get(self["orga_id"], TEAMS, team.parent_team_id)
        return {
            "title": team.name,
            "above": [Link(f"teams/{above.id}", above.name)] if above else (),
            "lead": team.mission,
            "facts": [Link(f"channels/{team.channel_id}", "Open its channel")] if team.channel_id else (),
            "lists": lists if policies else lists[:1],
            "forms": {"create_team": {}, "create_role": {}, "change_team": team, "delete_team": team},
            "choices": {"parent_team_id": teams, **TYPES},
        }

    def role(self) -> Values:
        found = self.store.get(self["orga_id"], ROLES, self["role_id"])
        (role,) = self.roles([found])
        forms: Values = {"create_policy": {}} if role.mine else {}
        forms |= {"assign_role": {"revision": role.revision}, "change_role": found}
        return {
            "title": role.title,
            "above": [Link(f"teams/{role.team_id}", role.team_name)],
            "lead": role.mission,
            "facts": [Link(f"members/{role.member_id}", f"held by {role.member_name}"), role.role_type],
            "lists": [("Duties", list(map(card, role.duties)), "")] if role.duties else (),
            "forms": forms if found.type == "leader" else forms | {"delete_role": role},
            "choices": {"member_id": self.offered(MEMBERS), **TYPES},
        }

    def member(self) -> Values:
        member, me = self.sheet(listings.read_member), self.access.member.id
        # Whoever is a member by name only has no account yet: a link makes one theirs.
        known = self.store.get(self["orga_id"], MEMBERS, member.id).account
        names = "open_direct transfer_ownership" if known and self.owner == me else "open_direct" if known else "invite"
        names += " remove_member" if self.owner == me else ""
        roles = [role_card(one, Link(f"teams/{one.team_id}", one.team_name)) for one in member.roles]
        return {
            "title": member.name,
            "above": [Link("members", "Members")],
            "facts": [Link(member.picture_url, "Picture")] if member.picture_url else (),
            "lists": [("Roles", roles, "None yet.")],
            "forms": {"change_profile": member} if member.id == me else dict.fromkeys(names.split()),
        }

    def channel(self) -> Values:
        channel = self.store.channel(self.access, self["channel_id"])
        (row,) = self.channels([channel])
        team = channel.team
        roles = {one.id: one.title for one in self.of_teams(team, team)} if team else {}
        names = ["send_message", *([] if channel.kind == "dm" else ["open_topic", "open_vote"])]
        forms = dict.fromkeys([] if row.is_archived else [*names, *(["open_election"] if roles else [])])
        values = {"title": row.name, "above": [Link("channels", "Channels")], "channel": row, "forms": forms}
        return (
            values
            | self.rows(listings.list_messages, channel_id=channel.id)
            | {"choices": {"role_id": roles, "mode": MODES}}
        )

    def message(self) -> Values:
        id = self["message_id"]
        channel = self.store.channel(self.access, id.partition(".")[0])
        (row,) = self.channels([channel])
        values = self.rows(listings.read_thread, channel_id=channel.id, message_id=id)
        tool = values["parent"].embedded_tool
        forms, choices = self.taking_part(tool) if tool and not row.is_archived else (Values(), Values())
        return values | {
            "title": (tool.title or tool.question or tool.role_title) if tool else "Thread",
            "above": [Link(f"channels/{row.id}", row.name)],
            "tool": tool,
            "present": [one for one in (tool and tool.given_responses) or () if one.round == tool.round],
            "emoji": () if row.is_archived else EMOJI,
            "moves": [name for name in forms if name in MOVES],
            "forms": forms if row.is_archived else forms | {"send_message": {}},
            "choices": choices,
        }

    def taking_part(self, tool: Any) -> tuple[Values, Values]:
        """Return the forms with which a member takes part in a process now, and the choices that they offer."""
        process = self.governance.process(self.access, self["message_id"])
        forms, choices = Values(), Values()
        match process.phase:
            case "clarification":
                choices["question_id"] = {one.id: one.text for one in tool.clarifications or () if not one.answers}
                forms |= {"answer_clarification": {}} if choices["question_id"] else {}
                forms["ask_clarification"] = {}
            case "consent":
                said = [one.text for one in tool.given_responses or () if one.member_id == self.access.member.id]
                forms["respond"] = {"response": tool.yours, "reason": said[-1] if tool.yours else ""}
                choices["response"] = {one: one.replace("_", " ") for one in get_args(Response)}  # none is chosen yet
            case "open" if not tool.is_closed:
                forms["cast_vote"] = {"choices": tool.yours}
                choices["choices"] = {one.id: one.label for one in tool.options or ()}
            case "nomination" if not tool.you_nominated:
                forms["nominate_member"] = {}
                choices["nominee_id"] = self.offered(MEMBERS)
            case "discussion":
                choices["candidate_id"] = {one.member_id: f"{one.name} ({one.count})" for one in tool.tally or ()}
        if processes.facilitator(self.store, self.access, process)[0]:
            for name, move in MOVES.items():
                fits = move["kind"] == process.kind and process.phase in move["phases"].split()
                forms |= {name: {}} if fits else {}
        return forms, choices

    def policy(self) -> Values:
        policy = self.sheet(listings.read_policy)
        return {
            "title": f"{policy.number}. {policy.title}",
            "above": [Link("policies", "Policies")],
            "lead": policy.abstract,
            "text": policy.text,
            "facts": [*policy_card(policy)["facts"], datetime.fromisoformat(policy.updated_at)],
            "forms": dict.fromkeys(("change_policy", "delete_policy"), policy)
            if policy.role_id in self.access.roles
            else {},
        }

    def journal(self) -> Values:
        query, listed = self.visit.request.query_params, listings.list_decisions
        offered = {"target_type": TARGETS}
        if (teams := self.offered(TEAMS)) is not None:
            offered["team_id"] = {"": "any", **teams}
        labels = {"team_id": "Team", "target_type": "What was changed"}
        filters = Fields(model=listed.input, names=tuple(labels), id="filter", labels=labels, offered=offered)
        values = self.rows(listed, **{name: query.get(name) or None for name in labels})
        sides = [side for row in values["rows"] for side in (row.diff.before, row.diff.after)]
        ids = {one for side in sides for one in side.values() if isinstance(one, str)}
        known, rooms = dict[str, str](), dict[str, Room[Any]](ro_=ROLES, mb_=MEMBERS, te_=TEAMS)
        for prefix, room in rooms.items():
            found = self.many(room, (one for one in ids if one.startswith(prefix)))
            known |= {id: one.title if room is ROLES else one.name for id, one in found.items()}
        lists = [("", [decision_card(one, known) for one in values["rows"]], "None on this page.")]
        return values | {
            "filters": filters.filters({name: query.getlist(name) for name in query}, None),
            "lists": lists,
        }

    def invitations(self) -> Values:
        me, now = self.access.member.id, self.store.clock()
        found = [one for one in self.store.all(self["orga_id"], INVITATIONS) if one.expires_at > now]
        pending = {one.id: one for one in found if me in (one.member, self.owner)}
        names = self.governance.names(self["orga_id"], {one.member for one in pending.values()})
        said = {id: f"{one.note or 'Without a note'}, by {names[one.member]}" for id, one in pending.items()}
        rows = [card(said[id], "", "until", one.expires_at) for id, one in pending.items()]
        return {
            "lists": [("Pending", rows, "None.")],
            "forms": {"invite": {}, "withdraw_invitation": {}} if pending else {"invite": {}},
            "choices": {"invitation_id": said},
        }

    def settings(self) -> Values:
        me, present = self.access.member, self.store.organisation(self["orga_id"])
        about = "On the page of a member you remove somebody, or transfer ownership, which you do before leaving."
        you, logo = Link(f"members/{me.id}", f"You are {me.name}: change your name"), present.logo_url
        hooks = Link("webhooks", "Webhooks") if self.owner == me.id else ""
        return {
            "about": about if self.owner == me.id else "",
            "facts": [you, hooks, Link(logo, "Logo") if logo else ""],
            "forms": {"change_settings": present, "change_agents": present}
            if self.owner == me.id
            else {"leave_organisation": {}},
        }


INSIDE: Sequence[tuple[str, str, Callable[[Here], Values]]] = (
    ("/me", "mine", Here.mine),
    ("/agents", "agents", Here.agents_page),
    ("/webhooks", "webhooks", Here.webhooks),
    ("", "teams", partial(Here.cards, listed=listings.list_teams, shown=Here.team_card)),
    ("/teams/{team_id}", "team", Here.team),
    ("/roles/{role_id}", "role", Here.role),
    ("/members", "members", partial(Here.cards, listed=listings.list_members, shown=Here.member_card)),
    ("/members/{member_id}", "member", Here.member),
    ("/channels", "channels", partial(Here.cards, listed=listings.list_channels, shown=Here.channel_card)),
    ("/channels/{channel_id}", "channel", Here.channel),
    ("/messages/{message_id}", "message", Here.message),
    (
        "/policies",
        "policies",
        partial(Here.cards, listed=listings.list_policies, shown=lambda _, one: policy_card(one)),
    ),
    ("/policies/{policy_id}", "policy", Here.policy),
    ("/journal", "journal", Here.journal),
    ("/invitations", "invitations", Here.invitations),
    ("/settings", "settings", Here.settings),
)


@dataclass(frozen=True, slots=True)
class GovernancePages:
    """The pages over these organisations. `origin` is the deployment's: links of invitations begin with it."""

    governance: Governance
    origin: str = ""

    def pages(self) -> ConsolePages:
        """Return them as the console takes them."""
        slug = f"{PATH}/{{orga_id}}"
        inside = (self.page(f"{slug}{path}", name, partial(self.inside, read)) for path, name, read in INSIDE)
        outside = (self.page(PATH, "organisations", self.organisations), self.page(f"{slug}/join", "join", self.join))
        return ConsolePages(pages=[*outside, *inside], templates=HERE / "templates")

    def page(self, path: str, name: str, read: Callable[[Visit], Values]) -> ConsolePage:
        """Return the page of a template, with the actions of its forms; `read` returns the template's values.

        `forms` has those that are offered now, with their present values, and `choices` what their fields offer.
        """
        title, forms = name.capitalize(), forms_of(name)

        def view(visit: Visit, problem: CommonplaceError | None, more: Values) -> View:
            values = NOTHING | {"title": title} | read(visit) | more
            choices = {name: one for name, one in values["choices"].items() if one is not None}
            shown = {one: forms[one].shown(visit, now, problem, choices) for one, now in values["forms"].items()}
            values |= {
                "forms_shown": shown,
                "open": OPEN,
                "problem": problem,
                "refused": [one for form in shown.values() if form["refused"] for one in form["fields"]],
                "when": datetime.fromisoformat,
                "console_title": values["title"],
            }
            template = name if name in ("channel", "message") else "page"
            return View(f"governance_{template}.html", values, problem.status if problem else 200)

        async def show(visit: Visit, problem: CommonplaceError | None = None) -> View:
            return await run_in_threadpool(view, visit, problem, {})

        async def done(visit: Visit, result: Any) -> Done | View:
            did, address = visit.value("action"), visit.request.path_params
            if did in ("add_webhook", "rotate_webhook_secret"):
                return await run_in_threadpool(view, visit, None, {"secret": result[1]})
            if did == "invite":
                link = f"{self.origin}/console/{PATH}/{address['orga_id']}/join?{urlencode({'invitation': result[1]})}"
                return await run_in_threadpool(view, visit, None, {"link": link})
            to = DECLARED.get(name, {}).get(did, {}).get("to")
            return Done(did, path=None if to is None else f"{PATH}/{to.format(**address, result=result)}".rstrip("/"))

        actions = {
            one: form.action(self.governance, show, done=done, values=partial(beside, one), need=PERSON)
            for one, form in forms.items()
        }
        more: Values = {"actions": actions, "messages": MESSAGES, "listed": path == PATH}
        return ConsolePage(path=path, title=title, show=show, need=PERSON, **more)

    def inside(self, read: Callable[[Here], Values], visit: Visit) -> Values:
        """Return what a page for members shows. Raises NotFound for everybody else."""
        slug = visit.request.path_params["orga_id"]
        access, base = self.governance.access(actor(visit), slug), f"/console/{PATH}/{slug}"
        organisation = self.governance.store.organisation(slug)
        links = [Link(f"{base}/{tab}".rstrip("/"), NAMED.get(tab, tab).capitalize()) for tab in TABS]
        common = {"organisation": organisation, "me": access.member, "base": base, "tabs": tabs_of(visit, links)}
        return common | read(Here(self.governance, access, visit, organisation.owner))

    def organisations(self, visit: Visit) -> Values:
        """Return the organisations of whoever is signed in, with what awaits them there."""
        who, store, lists = actor(visit), self.governance.store, []
        for one in store.memberships(self.governance.account(who)):
            with suppress(NotFound):  # somebody removed the member just now
                request = listings.list_processes.accepted({"orga_id": one.id, "limit": 100})
                active, _ = listings.list_processes.read(self.governance, who, request)
                waiting = [each for each in active if each.awaits_you]
                rows = [
                    card(each.title, f"{one.id}/messages/{each.message_id}", badges=(each.type,)) for each in waiting
                ]
                lists.append((Link(one.id, store.organisation(one.id).name), rows, "Nothing pending."))
        none = "You are in no organisation yet. Ask a member for the link of an invitation, or found one."
        reads = f"An agent takes part for you at {self.origin}/mcp/governance, as far as you allow: see connected apps."
        return {"about": reads if lists else none, "lists": lists, "forms": {"found_organisation": {}}}

    def join(self, visit: Visit) -> Values:
        """Return the page to which the link of an invitation leads. Raises NotFound without a valid one."""
        slug, secret = visit.request.path_params["orga_id"], visit.request.query_params.get("invitation", "")
        store = self.governance.store
        known = store.records.get(slug, INVITATIONS, digest(secret)) if is_organisation(slug) else None
        if known is None or known.expires_at <= store.clock():
            hint = "If you used it, look under Organisations in the console; else ask its sender for a new one."
            raise NotFound("This invitation is no longer valid.", hint=hint)
        about = f"You are invited to {store.organisation(slug).name}. Its members see the name that you write here."
        return {"title": "Become a member", "about": about, "forms": {"accept_invitation": {"secret": secret}}}


def beside(name: str, visit: Visit) -> Mapping[str, Any]:
    """Return what a form does not say of what its operation takes."""
    path = visit.request.path_params
    match name:
        case "create_team":
            return {"parent_team_id": path["team_id"]}
        case "react_to_message":  # of a reply, too
            return {"message_id": visit.value("message_id")}
        case "send_message" if "message_id" in path:
            return {"channel_id": path["message_id"].partition(".")[0], "parent_id": path["message_id"]}
    given: Mapping[str, Any] = MOVES[name]["given"] if name in MOVES else {}
    return given


def my_card(heading: str, one: Mapping[str, Any]) -> Values:
    """Return a row of what awaits a member."""
    match heading:
        case "Your roles":
            return card(one["title"], f"roles/{one['_id']}", one.get("teamName"), text=one.get("mission", ""))
        case "Decisions":
            about = ", ".join(f"{TARGETS.get(name, name)} {count}" for name, count in one["about"].items())
            return card(f"{one['decisions']} in the last seven days", "journal", text=about)
        case "Policies of your roles":
            title = f"{one['number']}. {one['title']}"
            return card(title, f"policies/{one['_id']}", one.get("roleTitle"), text=one.get("abstract", ""))
    until = datetime.fromisoformat(one["deadline"]) if "deadline" in one else None
    facts = [one.get("channelName"), one.get("phase"), *(["until", until] if until else [])]
    badges = ("vote" if one["toolType"] == "voting" else one["toolType"],)
    return card(one["title"], f"messages/{one['messageId']}", *facts, badges=badges)


def decision_card(one: Any, known: Mapping[str, str]) -> Values:
    """Return a record of the journal, before and after; `known` are names by id."""

    def words(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{label(name)}: {words(one)}" for name, one in value.items() if name != "memberId")
        if isinstance(value, list | tuple):
            return "; ".join(map(words, value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        return known.get(value, value) if isinstance(value, str) else "" if value is None else str(value)

    def label(name: str) -> str:
        return WORDS.sub(" ", name).replace("_", " ").lower()

    before, after = one.diff.before, one.diff.after
    done = "changed" if before and after else "deleted" if before else "created"
    names = [name for name in {**before, **after} if not name.endswith("At") and name != "channel"]
    sides = [(name, [words(side[name]) for side in (before, after) if name in side]) for name in names]
    # A reply stands on the page of its thread.
    target = ".".join(one.target_id.split(".")[:2])
    url = f"{PAGES_OF[one.target_type]}/{target}" if after and one.target_type in PAGES_OF else ""
    client = one.agent["client"] if one.agent else ""
    agent = f"by an agent: {client}" if one.agent and "grant" in one.agent else ""
    done = "" if agent else done
    facts = one.author.name, f"{one.role_name}, {one.team_name}", datetime.fromisoformat(one.created_at)
    text = "\n".join(f"{label(name)}: {' → '.join(each)}" for name, each in sides)
    of = "" if agent else client
    return card(TOLD.get(one.diff.type, one.diff.type), url, *facts, of, badges=(agent, done), text=text)


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without governance."""
    if GovernanceTables.where_governed(context.environ) is None:
        return None

    def build() -> Governance:
        from commonplace.governance.composition import governance

        return governance(context.environ, context.settings, context.objects)

    return GovernancePages(deferred(build), context.frame.base_url).pages()
