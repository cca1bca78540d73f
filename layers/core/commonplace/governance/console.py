"""The console's pages of organisations: what awaits me, teams, roles, members, channels with their processes, policies,
the journal, invitations and settings.

A page is a method that reads what its template shows; `forms` names the forms that this member can use now, with their
present values. Every form calls the operation that it is made from, which judges anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.governance import conversation, listings, processes, structure
from commonplace.governance.governance import PERSON, Governance
from commonplace.governance.listings import Reading
from commonplace.governance.model import Team
from commonplace.governance.rules import Access, gone
from commonplace.governance.settings import GovernanceTables
from commonplace.governance.store import INVITATIONS, MEMBERS, POLICIES, ROLES, TEAMS, Store
from commonplace.identity.secrets import digest
from commonplace.kernel.deferred import deferred
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import CommonplaceError, NotFound
from commonplace.web.forms import Fields
from commonplace.web.operation_pages import SHOWN, Form, actor, tabs_of
from commonplace.web.operations import Listing, Operation
from commonplace.web.pages.declaration import ConsolePage, ConsolePages, Done, Link, View, Visit
from commonplace.web.pages.frame import PageContext

PATH = "governance"
ORGANISATION = f"{PATH}/{{orga_id}}"
TABS = ("", "members", "channels", "policies", "journal", "invitations", "settings")
EMOJI = ("👍", "❤️", "🎉", "🤔", "👀", "🙏")
"""Reactions that a page offers; the operation takes others, too."""

LABELS = {
    "firstname": "Your first name",
    "surname": "Your surname",
    "slug": "Short name for addresses",
    "logo_url": "Address of a logo",
    "picture_url": "Address of a picture",
    "parent_team_id": "Below which team",
    "type": "Kind",
    "abstract": "In short",
    "note": "For whom it is",
    "deadline": "Ends, in UTC",
    "question_id": "Question",
    "candidate_id": "Candidate",
    "changes": "What changed",
    **dict.fromkeys(("member_id", "nominee_id"), "Member"),
    "role_id": "Role",
}
"""Of fields whose name says too little."""
TYPES = {"type": {"secretary": "secretary", "referee": "referee"}}
PAGES_OF = {
    **{kind: kind for kind in ("teams", "roles", "members", "policies")},
    **dict.fromkeys(("topics", "votings", "elections"), "messages"),
}
"""Where the pages are of what the journal names, below the organisation's."""
TARGETS = ("orgas", *PAGES_OF, "invitations", "grants")
WORDS = re.compile(r"(?<!^)(?=[A-Z])")
"""Between the words of a name in camel case."""

TEAM, ROLE, POLICY = "name mission color", "title type mission duties", "title abstract text"
FORMS: dict[str, Form] = {}


def form(called: Operation, button: str, names: str = "", *, sure: bool = False, **more: Any) -> None:
    """Add the form of an operation: title and text are its own, and `revision` is hidden where it takes one."""
    name, labels = more.pop("name", called.name), {one: LABELS.get(one, "") for one in names.split()}
    hidden = [*(["revision"] if "revision" in called.input.model_fields else []), *more.pop("hidden", ())]
    more = {"title": called.title, "about": called.description, **more}
    FORMS[name] = Form(name, called, button=button, fields=labels, hidden=tuple(hidden), sure=sure, **more)


form(structure.found_organisation, "Found the organisation", "name slug firstname surname")
form(structure.accept_invitation, "Join", "firstname surname", hidden=("secret",))
form(structure.change_settings, "Save", "name color logo_url")
form(structure.leave_organisation, "Leave", sure=True)
form(structure.transfer_ownership, "Transfer", sure=True)
form(structure.remove_member, "Remove", sure=True)
form(structure.change_profile, "Save", "firstname surname picture_url")
form(structure.create_team, "Create the team", TEAM)
form(structure.change_team, "Save", "name color parent_team_id")
form(structure.delete_team, "Delete", sure=True)
form(structure.create_role, "Create the role", ROLE)
form(structure.change_role, "Save", ROLE)
form(structure.assign_role, "Assign", "member_id")
form(structure.delete_role, "Delete", sure=True)
form(structure.create_policy, "Publish", POLICY)
form(structure.change_policy, "Save", POLICY)
form(structure.delete_policy, "Delete", sure=True)
form(structure.invite, "Make a link", "note")
form(structure.withdraw_invitation, "Withdraw", hidden=("invitation_id",))
form(conversation.open_direct, "Write a direct message")
form(conversation.send_message, "Send", "text")
form(conversation.react_to_message, "React", hidden=("emoji",))
form(conversation.delete_message, "Delete")
form(processes.open_topic, "Open the topic", "title description")
form(processes.open_vote, "Open the vote", "title mode options deadline", kinds={"deadline": "datetime-local"})
form(processes.open_election, "Open the election", "role_id")
form(processes.ask_clarification, "Ask", "question")
form(processes.answer_clarification, "Answer", "question_id answer")
form(processes.respond, "Respond", "response reason")
form(processes.cast_vote, "Vote", "choices", kinds={"choices": "choices"})
form(processes.nominate_member, "Nominate", "nominee_id reason")


MEMBER = "open_direct change_profile transfer_ownership remove_member"
MESSAGE = (
    "send_message react_to_message delete_message "
    "ask_clarification answer_clarification respond cast_vote nominate_member"
)

MOVES: Mapping[str, tuple[str, str, str, str, Mapping[str, str]]] = {
    "seek_consent": ("topic", "clarification", "Ask for consent", "", {"phase": "consent"}),
    "accept": ("topic", "consent", "Accept", "", {"phase": "resolved", "outcome": "accepted"}),
    "clarify": ("topic", "consent", "Back to clarification", "", {"phase": "clarification"}),
    "modify": ("topic", "consent", "Accept with changes", "changes", {"phase": "resolved", "outcome": "modified"}),
    "withdraw": ("topic", "clarification consent", "Withdraw", "", {"phase": "resolved", "outcome": "withdrawn"}),
    "close": ("voting", "open", "Close the vote", "", {"phase": "closed"}),
    "discuss": ("election", "nomination", "Show nominations and discuss", "", {"phase": "discussion"}),
    "propose": ("election", "discussion", "Propose a candidate", "candidate_id", {"phase": "consent"}),
    "elect": ("election", "consent", "Elect the candidate", "", {"phase": "elected"}),
    "end": ("election", "nomination discussion consent", "End without election", "", {"phase": "no_election"}),
}
"""How a process is moved on: its kind, the phases in which it can be, the button, the fields, and what else is said."""

for move, row in MOVES.items():
    form(processes.move_on, row[2], row[3], name=move, title=row[2], about="", required=tuple(row[3].split()))

MESSAGES = {
    **dict.fromkeys(FORMS, "Done."),
    **{name: "Saved." for name in FORMS if name.startswith("change_")},
    **dict.fromkeys(MOVES, "Moved on."),
    "found_organisation": "Founded. Invite others by a link.",
    "accept_invitation": "Welcome: you are a member.",
    "leave_organisation": "You are no member any more.",
    "withdraw_invitation": "Withdrawn: the link does not work any more.",
    "send_message": "Sent.",
    "respond": "Your response counts. You can change it as long as consent is asked for.",
    "cast_vote": "Your vote counts. You can change it as long as the vote is open.",
}

LEADS = {
    "found_organisation": f"{PATH}/{{result.slug}}",
    "accept_invitation": ORGANISATION,
    "leave_organisation": PATH,
    "remove_member": f"{ORGANISATION}/members",
    "delete_team": ORGANISATION,
    "delete_role": ORGANISATION,
    "delete_policy": f"{ORGANISATION}/policies",
    "create_team": f"{ORGANISATION}/teams/{{result.id}}",
    "create_role": f"{ORGANISATION}/roles/{{result.id}}",
    "create_policy": f"{ORGANISATION}/policies/{{result.id}}",
    "open_direct": f"{ORGANISATION}/channels/{{result.id}}",
    **dict.fromkeys(("open_topic", "open_vote", "open_election"), f"{ORGANISATION}/messages/{{result.id}}"),
}
"""Where actions lead that do not stay on their page."""

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Here:
    """A page, and the member who looks at it."""

    visit: Visit
    access: Access
    reading: Reading
    owner: str

    def __getitem__(self, name: str) -> str:
        """Return a part of the address."""
        return str(self.visit.request.path_params[name])

    def rows(self, listed: Listing, **given: Any) -> Values:
        """Return a page of a list, with the addresses of the next and the first."""
        query, address = self.visit.request.query_params, self.visit.request.url.path
        cursor = query.get("cursor") or None
        asked = listed.accepted({"orga_id": self["orga_id"], "limit": SHOWN, "cursor": cursor, **given})
        found: Values = listed.run(self.reading.governance, actor(self.visit), asked)
        kept = {name: one for name, one in query.items() if name in given and one}
        more = found["next_cursor"] and f"{address}?{urlencode(kept | {'cursor': found['next_cursor']})}"
        return found | {
            "rows": found[listed.of],
            "more": more,
            "first": f"{address}?{urlencode(kept)}" if cursor else "",
        }

    def sheet(self, called: Operation) -> Any:
        """Return what a reading shows of what the address names."""
        asked = called.accepted(self.visit.request.path_params)
        return called.run(self.reading.governance, actor(self.visit), asked)


@dataclass(frozen=True, slots=True)
class GovernancePages:
    """The pages over these organisations. `origin` is the deployment's: links of invitations begin with it."""

    governance: Governance
    origin: str = ""

    @property
    def store(self) -> Store:
        return self.governance.store

    def pages(self) -> list[ConsolePage]:
        listed = {
            "members": listings.list_members,
            "channels": listings.list_channels,
            "policies": listings.list_policies,
        }
        found: tuple[tuple[str, str, Callable[[Here], Values], str], ...] = (
            ("", "Teams", self.teams, ""),
            ("/teams/{team_id}", "A team", self.team, "change_team delete_team create_team create_role"),
            ("/roles/{role_id}", "A role", self.role, "change_role assign_role delete_role create_policy"),
            ("/members/{member_id}", "A member", self.member, MEMBER),
            ("/channels/{channel_id}", "A channel", self.channel, "send_message open_topic open_vote open_election"),
            ("/messages/{message_id}", "A message", self.message, f"{MESSAGE} {' '.join(MOVES)}"),
            ("/policies/{policy_id}", "A policy", self.policy, "change_policy delete_policy"),
            ("/journal", "Journal", self.journal, ""),
            ("/invitations", "Invitations", self.invitations, "invite withdraw_invitation"),
            ("/settings", "Settings", self.settings, "change_settings leave_organisation"),
        )
        return [
            self.page(PATH, "Organisations", "mine", self.mine, "found_organisation", listed=True),
            self.page(f"{ORGANISATION}/join", "Become a member", "joining", self.joining, "accept_invitation"),
            *(
                self.page(f"{ORGANISATION}/{name}", name.capitalize(), name, self.inside(partial(Here.rows, listed=of)))
                for name, of in listed.items()
            ),
            *(
                self.page(f"{ORGANISATION}{path}", title, read.__name__, self.inside(read), forms)
                for path, title, read, forms in found
            ),
        ]

    def page(
        self, path: str, title: str, template: str, read: Callable[[Visit], Values], forms: str = "", **how: Any
    ) -> ConsolePage:
        """Return a page with the actions of these forms; `read` returns the values of its template.

        `forms` has those that are offered now, with their present values, and `choices` what their fields offer.
        """

        def view(visit: Visit, problem: CommonplaceError | None, more: Values) -> View:
            values = {"title": title, "choices": {}, "tabs": (), "forms": {}, **read(visit), **more}
            shown = {
                name: FORMS[name].shown(visit, present, problem, values["choices"])
                for name, present in values["forms"].items()
            }
            values |= {
                "forms_shown": shown,
                "problem": problem,
                "refused": [one for form in shown.values() if form["refused"] for one in form["fields"]],
                "when": datetime.fromisoformat,
                "console_title": ", ".join(
                    [values["title"], *([values["organisation"].name] if "base" in values else [])]
                ),
            }
            return View(f"governance_{template}.html", values, problem.status if problem else 200)

        async def show(visit: Visit, problem: CommonplaceError | None = None) -> View:
            return await run_in_threadpool(view, visit, problem, {})

        async def after(visit: Visit, result: Any) -> Done | View:
            name, address = visit.value("action"), visit.request.path_params
            if name == "invite":
                link = f"{self.origin}/console/{PATH}/{address['orga_id']}/join?{urlencode({'invitation': result[1]})}"
                return await run_in_threadpool(view, visit, None, {"link": link})
            return Done(name, path=LEADS[name].format(**address, result=result) if name in LEADS else None)

        actions = {
            name: FORMS[name].action(self.governance, show, done=after, values=partial(beside, name), need=PERSON)
            for name in forms.split()
        }
        how = {"listed": False, "messages": MESSAGES, "need": PERSON, **how}
        return ConsolePage(path=path, title=title, show=show, actions=actions, **how)

    def inside(self, read: Callable[[Here], Values]) -> Callable[[Visit], Values]:
        """Return how a page for members is read. It raises NotFound for everybody else."""

        def found(visit: Visit) -> Values:
            slug = visit.request.path_params["orga_id"]
            access, base = self.governance.access(actor(visit), slug), f"/console/{PATH}/{slug}"
            organisation = self.store.organisation(slug)
            links = [Link(f"{base}/{tab}".rstrip("/"), (tab or "teams").capitalize()) for tab in TABS]
            common = {"organisation": organisation, "me": access.member, "base": base, "tabs": tabs_of(visit, links)}
            return common | read(Here(visit, access, Reading(self.governance, access), organisation.owner))

        return found

    def mine(self, visit: Visit) -> Values:
        """Return the organisations of whoever is signed in, with what awaits them there."""
        who, found = actor(visit), []
        for one in self.store.memberships(self.governance.account(who)):
            with suppress(NotFound):  # somebody removed the member just now
                asked = listings.list_processes.accepted({"orga_id": one.id, "limit": 100})
                active, _ = listings.list_processes.read(self.governance, who, asked)
                found.append((self.store.organisation(one.id), [row for row in active if row.awaits_you]))
        return {"found": found, "forms": {"found_organisation": {}}}

    def joining(self, visit: Visit) -> Values:
        """Return the page to which the link of an invitation leads. Raises NotFound without a valid one."""
        slug, secret = visit.request.path_params["orga_id"], visit.request.query_params.get("invitation", "")
        known = self.store.records.get(slug, INVITATIONS, digest(secret)) if is_organisation(slug) else None
        if known is None or known.expires_at <= self.store.clock():
            raise gone()
        return {"organisation": self.store.organisation(slug), "forms": {"accept_invitation": {"secret": secret}}}

    def teams(self, here: Here) -> Values:
        """Return a page of the tree of teams: each stands behind the one above it."""
        teams = self.store.all(here["orga_id"], TEAMS)
        known, order = {one.id for one in teams}, list[tuple[int, Team]]()
        below: dict[str | None, list[Team]] = {}
        for one in sorted(teams, key=lambda one: one.name.casefold(), reverse=True):
            below.setdefault(one.parent if one.parent in known else None, []).append(one)
        waiting = [(0, one) for one in below.get(None, ())]
        while waiting:
            depth, one = waiting.pop()
            order.append((depth, one))
            waiting += [(depth + 1, child) for child in below.get(one.id, ())]
        after = here.visit.request.query_params.get("after", "")
        start = next((at for at, (_, one) in enumerate(order, 1) if one.id == after), 0)
        shown = order[start : start + SHOWN]
        leaders = list(here.reading.many(ROLES, (one.leader for _, one in shown)).values())
        rows = here.reading.teams([one for _, one in shown], leaders)
        more = f"?after={shown[-1][1].id}" if len(order) > start + SHOWN else ""
        return {
            "rows": [(depth, row) for (depth, _), row in zip(shown, rows, strict=True)],
            "more": more,
            "first": start,
        }

    def team(self, here: Here) -> Values:
        team = here.sheet(listings.read_team)
        teams = {one.id: one.name for one in self.store.all(here["orga_id"], TEAMS) if one.id != team.id}
        return {
            "title": team.name,
            "team": team,
            "above": teams.get(team.parent_team_id),
            "policies": [one for one in self.store.all(here["orga_id"], POLICIES) if one.team == team.id],
            "forms": {"create_team": {}, "create_role": {}, "change_team": team, "delete_team": team},
            "choices": {"parent_team_id": teams, **TYPES},
        }

    def role(self, here: Here) -> Values:
        found = self.store.get(here["orga_id"], ROLES, here["role_id"])
        (role,) = here.reading.roles([found])
        forms: Values = {"create_policy": {}} if role.mine else {}
        forms |= {"assign_role": {"revision": role.revision}, "change_role": found}
        forms |= {} if found.type == "leader" else {"delete_role": role}
        choices = {"member_id": self.people(here["orga_id"]), **TYPES}
        return {"title": role.title, "role": role, "forms": forms, "choices": choices}

    def people(self, organisation: str) -> dict[str, str]:
        """Return the names of the present members by id."""
        members = self.store.all(organisation, MEMBERS)
        return {one.id: one.name for one in sorted(members, key=lambda one: one.name) if one.left_at is None}

    def member(self, here: Here) -> Values:
        member, me = here.sheet(listings.read_member), here.access.member.id
        names = "open_direct transfer_ownership remove_member" if here.owner == me else "open_direct"
        forms = {"change_profile": member} if member.id == me else dict.fromkeys(names.split())
        return {"title": member.name, "member": member, "forms": forms}

    def channel(self, here: Here) -> Values:
        channel = self.governance.channel(here.access, here["channel_id"])
        (row,) = here.reading.channels([channel])
        team = channel.team
        roles = {one.id: one.title for one in here.reading.of_teams(team, team)} if team else {}
        names = ["send_message", *([] if channel.kind == "dm" else ["open_topic", "open_vote"])]
        forms = dict.fromkeys([] if row.is_archived else [*names, *(["open_election"] if roles else [])])
        values = here.rows(listings.list_messages, channel_id=channel.id)
        return values | {"title": row.name, "channel": row, "forms": forms, "choices": {"role_id": roles}}

    def message(self, here: Here) -> Values:
        id = here["message_id"]
        channel = self.governance.channel(here.access, id.partition(".")[0])
        (row,) = here.reading.channels([channel])
        values = here.rows(listings.read_thread, channel_id=channel.id, message_id=id)
        tool = values["parent"].embedded_tool
        forms, choices = self.taking_part(here, tool) if tool and not row.is_archived else (Values(), Values())
        return values | {
            "title": (tool.title or tool.question or tool.role_title) if tool else "Thread",
            "channel": row,
            "tool": tool,
            "present": [one for one in (tool and tool.given_responses) or () if one.round == tool.round],
            "emoji": () if row.is_archived else EMOJI,
            "moves": [name for name in forms if name in MOVES],
            "forms": forms if row.is_archived else forms | {"send_message": {}},
            "choices": choices,
        }

    def taking_part(self, here: Here, tool: listings.ProcessFace) -> tuple[Values, Values]:
        """Return the forms with which a member takes part in a process now, and the choices that they offer."""
        process = self.governance.process(here.access, here["message_id"])
        forms, choices = Values(), Values()
        match process.phase:
            case "clarification":
                choices["question_id"] = {one.id: one.text for one in tool.clarifications or () if not one.answers}
                forms |= {"answer_clarification": {}} if choices["question_id"] else {}
                forms["ask_clarification"] = {}
            case "consent":
                said = [one.text for one in tool.given_responses or () if one.member_id == here.access.member.id]
                forms["respond"] = {"response": tool.yours, "reason": said[-1] if tool.yours else ""}
            case "open" if not tool.is_closed:
                forms["cast_vote"] = {"choices": tool.yours}
                choices["choices"] = {one.id: one.label for one in tool.options or ()}
            case "nomination" if not tool.you_nominated:
                forms["nominate_member"] = {}
                choices["nominee_id"] = self.people(here["orga_id"])
            case "discussion":
                choices["candidate_id"] = {one.member_id: f"{one.name} ({one.count})" for one in tool.tally or ()}
        if processes.facilitator(self.store, here.access, process)[0]:
            for name, (kind, phases, *_) in MOVES.items():
                forms |= {name: {}} if kind == process.kind and process.phase in phases.split() else {}
        return forms, choices

    def policy(self, here: Here) -> Values:
        policy = here.sheet(listings.read_policy)
        forms = {"change_policy": policy, "delete_policy": policy} if policy.role_id in here.access.roles else {}
        return {"title": f"{policy.number}. {policy.title}", "policy": policy, "forms": forms}

    def journal(self, here: Here) -> Values:
        query, listed, slug = here.visit.request.query_params, listings.list_decisions, here["orga_id"]
        known = {one.id: one.name for one in self.store.all(slug, TEAMS)}
        offered = {"team_id": dict(known), "target_type": {one: one for one in TARGETS}}
        labels = {"team_id": "Team", "target_type": "What was changed"}
        filters = Fields(model=listed.input, names=tuple(labels), id="filter", labels=labels, offered=offered)
        values = here.rows(listed, **{name: query.get(name) or None for name in labels})
        sides = [side for row in values["rows"] for side in (row.diff.before, row.diff.after)]
        ids = {one for side in sides for one in side.values() if isinstance(one, str)}
        known |= self.governance.names(slug, {one for one in ids if one.startswith("mb_")})
        roles = here.reading.many(ROLES, (one for one in ids if one.startswith("ro_")))
        known |= {id: one.title for id, one in roles.items()}
        shown = filters.filters({name: query.getlist(name) for name in query}, None)
        return values | {"filters": shown, "words": partial(words, known), "label": label, "pages": PAGES_OF}

    def invitations(self, here: Here) -> Values:
        me, now = here.access.member.id, self.store.clock()
        found = [one for one in self.store.all(here["orga_id"], INVITATIONS) if one.expires_at > now]
        pending = [one for one in found if me in (one.member, here.owner)]
        names = self.governance.names(here["orga_id"], {one.member for one in pending})
        return {"pending": pending, "names": names, "link": "", "forms": {"invite": {}}}

    def settings(self, here: Here) -> Values:
        owner = here.owner == here.access.member.id
        present = self.store.organisation(here["orga_id"])
        return {"owner": owner, "forms": {"change_settings": present} if owner else {"leave_organisation": {}}}


def beside(name: str, visit: Visit) -> Mapping[str, Any]:
    """Return what a form does not say of what its operation takes."""
    path = visit.request.path_params
    match name:
        case "create_team":
            return {"parent_team_id": path["team_id"]}
        case "react_to_message" | "delete_message":
            return {"message_id": visit.value("message_id")}
        case "send_message" if "message_id" in path:
            return {"channel_id": path["message_id"].partition(".")[0], "parent_id": path["message_id"]}
    return MOVES[name][-1] if name in MOVES else {}


def words(known: Mapping[str, str], value: Any) -> str:
    """Return a value of the journal as people read it; `known` are names by id."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label(name)}: {words(known, one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(words(known, one) for one in value)
    return known.get(value, value) if isinstance(value, str) else "" if value is None else str(value)


def label(name: str) -> str:
    """Return a name in camel case as words."""
    return WORDS.sub(" ", name).lower()


def governance_pages(shown: GovernancePages) -> ConsolePages:
    """Return these pages as the console takes them."""
    return ConsolePages(pages=shown.pages(), templates=Path(__file__).parent / "templates")


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without governance."""
    if GovernanceTables.where_governed(context.environ) is None:
        return None

    def build() -> Governance:
        from commonplace.governance.composition import governance

        return governance(context.environ, context.settings, context.objects)

    return governance_pages(GovernancePages(deferred(build), context.frame.base_url))
