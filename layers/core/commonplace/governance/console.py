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
from commonplace.web.pages.declaration import Action, ConsolePage, ConsolePages, Done, Link, View, Visit
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


def form(called: Operation, button: str, fields: str = "", *, sure: bool = False, **more: Any) -> None:
    """Add the form of an operation: title and text are its own, and `revision` is hidden where it takes one."""
    name, labels = more.pop("name", called.name), {one: LABELS.get(one, "") for one in fields.split()}
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

for move, (_, _, title, fields, _) in MOVES.items():
    form(processes.move_on, title, fields, name=move, title=title, about="", required=tuple(fields.split()))

MESSAGES = {
    **{name: "Saved." for name in FORMS if name.startswith("change_")},
    **{name: "Deleted." for name in FORMS if name.startswith("delete_")},
    **{name: "Created." for name in FORMS if name.startswith("create_")},
    **{name: "Opened." for name in FORMS if name.startswith("open_")},
    **dict.fromkeys(MOVES, "Moved on."),
    "found_organisation": "Founded. Invite others by a link.",
    "accept_invitation": "Welcome: you are a member.",
    "leave_organisation": "You are no member any more.",
    "transfer_ownership": "This member is the owner now.",
    "remove_member": "Removed.",
    "assign_role": "Assigned.",
    "withdraw_invitation": "Withdrawn: the link does not work any more.",
    "open_direct": "Only the two of you read this, and no agent does.",
    "send_message": "Sent.",
    "react_to_message": "Done.",
    "ask_clarification": "Asked.",
    "answer_clarification": "Answered.",
    "respond": "Your response counts. You can change it as long as consent is asked for.",
    "cast_vote": "Your vote counts. You can change it as long as the vote is open.",
    "nominate_member": "Nominated.",
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
Read = Callable[[Access, Visit], Values]


@dataclass(frozen=True, slots=True)
class GovernancePages:
    """The pages over these organisations. `origin` is the deployment's, which begins the links of invitations."""

    governance: Governance
    origin: str = ""

    @property
    def store(self) -> Store:
        return self.governance.store

    def pages(self) -> list[ConsolePage]:
        structure = "change_team delete_team create_team create_role"
        policy = "change_policy delete_policy"
        answers = "ask_clarification answer_clarification respond cast_vote nominate_member"
        pages: tuple[tuple[str, str, Read, str], ...] = (
            ("", "Teams", self.teams, ""),
            ("/teams/{team_id}", "A team", self.team, structure),
            ("/roles/{role_id}", "A role", self.role, "change_role assign_role delete_role create_policy"),
            ("/members", "Members", self.members, ""),
            (
                "/members/{member_id}",
                "A member",
                self.member,
                "open_direct change_profile transfer_ownership remove_member",
            ),
            ("/channels", "Channels", self.channels, ""),
            ("/channels/{channel_id}", "A channel", self.channel, "send_message open_topic open_vote open_election"),
            (
                "/messages/{message_id}",
                "A message",
                self.message,
                f"send_message react_to_message delete_message {answers} {' '.join(MOVES)}",
            ),
            ("/policies", "Policies", self.policies, ""),
            ("/policies/{policy_id}", "A policy", self.policy, policy),
            ("/journal", "Journal", self.journal, ""),
            ("/invitations", "Invitations", self.invitations, "invite withdraw_invitation"),
            ("/settings", "Settings", self.settings, "change_settings leave_organisation"),
        )
        return [
            self.page(PATH, "Organisations", self.mine, "found_organisation", listed=True),
            self.page(f"{ORGANISATION}/join", "Become a member", self.joining, "accept_invitation"),
            *(
                self.page(f"{ORGANISATION}{path}", title, partial(self.inside, read), forms)
                for path, title, read, forms in pages
            ),
        ]

    def page(
        self, path: str, title: str, read: Callable[[Visit], tuple[str, Values]], forms: str, *, listed: bool = False
    ) -> ConsolePage:
        """Return a page with the actions of its forms. `read` returns the name of its template and the values."""

        def view(visit: Visit, problem: CommonplaceError | None, more: Values) -> View:
            template, values = read(visit)
            values = {"title": title, "choices": {}, **values, **more}
            shown = {
                name: FORMS[name].shown(visit, present, problem, values["choices"])
                for name, present in values["forms"].items()
            }
            refused = [one for form in shown.values() if form["refused"] for one in form["fields"]]
            common = {"problem": problem, "refused": refused, "when": datetime.fromisoformat, "tabs": ()}
            name = f"{values['title']}, {values['organisation'].name}" if "organisation" in values else values["title"]
            values = {**common, **values, "forms_shown": shown, "console_title": name}
            return View(f"governance_{template}.html", values, problem.status if problem else 200)

        async def show(visit: Visit, problem: CommonplaceError | None = None) -> View:
            return await run_in_threadpool(view, visit, problem, {})

        def done(name: str) -> Callable[[Visit, Any], Any]:
            async def after(visit: Visit, result: Any) -> Done | View:
                if name == "invite":
                    query = urlencode({"invitation": result[1]})
                    link = f"{self.origin}/console/{PATH}/{visit.request.path_params['orga_id']}/join?{query}"
                    return await run_in_threadpool(view, visit, None, {"link": link})
                lead = LEADS.get(name)
                return Done(name, path=lead and lead.format(**visit.request.path_params, result=result))

            return after

        actions = {
            name: FORMS[name].action(self.governance, show, done=done(name), values=partial(beside, name), need=PERSON)
            for name in forms.split()
        }
        return ConsolePage(
            path=path, title=title, show=show, need=PERSON, actions=actions, messages=MESSAGES, listed=listed
        )

    def inside(self, read: Read, visit: Visit) -> tuple[str, Values]:
        """Return a page for members. Raises NotFound for everybody else."""
        organisation = visit.request.path_params["orga_id"]
        access = self.governance.access(actor(visit), organisation)
        base = f"/console/{PATH}/{organisation}"
        links = [Link(f"{base}/{tab}".rstrip("/"), (tab or "teams").capitalize()) for tab in TABS]
        common = {
            "organisation": self.store.organisation(organisation),
            "me": access.member,
            "base": base,
            "tabs": tabs_of(visit, links),
            "forms": {},
        }
        return read.__name__, common | read(access, visit)

    def rows(self, visit: Visit, listed: Listing, **given: Any) -> Values:
        """Return a page of a list, with the addresses of the next and the first."""
        path, query = visit.request.path_params, visit.request.query_params
        cursor, here = query.get("cursor") or None, visit.request.url.path
        asked = listed.accepted({"orga_id": path["orga_id"], "limit": SHOWN, "cursor": cursor, **given})
        found = listed.run(self.governance, actor(visit), asked)
        kept = {name: one for name, one in query.items() if name in given and one}
        following = kept | {"cursor": found["next_cursor"]}
        return found | {
            "rows": found[listed.of],
            "more": f"{here}?{urlencode(following)}" if found["next_cursor"] else "",
            "first": f"{here}?{urlencode(kept)}" if cursor else "",
        }

    def mine(self, visit: Visit) -> tuple[str, Values]:
        """Return the organisations of whoever is signed in, with what awaits them there."""
        who, found = actor(visit), []
        for one in self.store.memberships(self.governance.account(who)):
            with suppress(NotFound):  # somebody removed the member just now
                asked = listings.list_processes.accepted({"orga_id": one.id, "limit": 100})
                open_ones, _ = listings.list_processes.read(self.governance, who, asked)
                awaiting = [row for row in open_ones if row.awaits_you]
                found.append((self.store.organisation(one.id), awaiting))
        return "mine", {"found": found, "forms": {"found_organisation": {}}}

    def joining(self, visit: Visit) -> tuple[str, Values]:
        """Return the page to which the link of an invitation leads. Raises NotFound without a valid one."""
        organisation, secret = visit.request.path_params["orga_id"], visit.request.query_params.get("invitation", "")
        known = is_organisation(organisation) and self.store.records.get(organisation, INVITATIONS, digest(secret))
        if not known or known.expires_at <= self.store.clock():
            raise gone()
        form = {"accept_invitation": {"secret": secret}}
        return "joining", {"organisation": self.store.organisation(organisation), "forms": form}

    def teams(self, access: Access, visit: Visit) -> Values:
        """Return a page of the tree of teams: each stands behind the one above it."""
        teams = self.store.all(access.organisation, TEAMS)
        known, order = {one.id for one in teams}, list[tuple[int, Team]]()
        below: dict[str | None, list[Team]] = {}
        for one in sorted(teams, key=lambda one: one.name.casefold(), reverse=True):
            below.setdefault(one.parent if one.parent in known else None, []).append(one)
        waiting = [(0, one) for one in below.get(None, ())]
        while waiting:
            depth, one = waiting.pop()
            order.append((depth, one))
            waiting += [(depth + 1, child) for child in below.get(one.id, ())]
        after = visit.request.query_params.get("after", "")
        start = next((at for at, (_, one) in enumerate(order, 1) if one.id == after), 0)
        page = order[start : start + SHOWN]
        reading = Reading(self.governance, access)
        leaders = list(reading.many(ROLES, (one.leader for _, one in page)).values())
        rows = reading.teams([one for _, one in page], leaders)
        more = f"?after={page[-1][1].id}" if len(order) > start + SHOWN else ""
        return {"rows": list(zip((depth for depth, _ in page), rows, strict=True)), "more": more, "first": start > 0}

    def team(self, access: Access, visit: Visit) -> Values:
        team = listings.read_team.run(self.governance, actor(visit), self.asked(listings.read_team, visit))
        teams = {one.id: one.name for one in self.store.all(access.organisation, TEAMS) if one.id != team.id}
        policies = [one for one in self.store.all(access.organisation, POLICIES) if one.team == team.id]
        forms = {"create_team": {}, "create_role": {}, "change_team": team, "delete_team": team}
        return {
            "title": team.name,
            "team": team,
            "above": teams.get(team.parent_team_id or "", ""),
            "policies": policies,
            "forms": forms,
            "choices": {"parent_team_id": teams, **TYPES},
        }

    def role(self, access: Access, visit: Visit) -> Values:
        found = self.store.get(access.organisation, ROLES, visit.request.path_params["role_id"])
        (role,) = Reading(self.governance, access).roles([found])
        forms: Values = {"create_policy": {}} if role.mine else {}
        forms |= {"assign_role": {"revision": role.revision}, "change_role": found}
        forms |= {"delete_role": role} if found.type != "leader" else {}
        choices = {"member_id": self.people(access), **TYPES}
        return {"title": role.title, "role": role, "forms": forms, "choices": choices}

    def people(self, access: Access) -> dict[str, str]:
        """Return the present members by id, as a form offers them."""
        members = self.store.all(access.organisation, MEMBERS)
        named = sorted((one.name, one.id) for one in members if one.left_at is None)
        return {id: name for name, id in named}

    def asked(self, called: Operation, visit: Visit) -> Any:
        """Return the input of a reading, from the address."""
        return called.accepted(visit.request.path_params)

    def members(self, access: Access, visit: Visit) -> Values:
        return self.rows(visit, listings.list_members)

    def member(self, access: Access, visit: Visit) -> Values:
        member = listings.read_member.run(self.governance, actor(visit), self.asked(listings.read_member, visit))
        owner = self.store.organisation(access.organisation).owner
        if member.id == access.member.id:
            forms = {"change_profile": member}
        else:
            forms = dict.fromkeys(("open_direct",))
            forms |= dict.fromkeys(("transfer_ownership", "remove_member") if access.member.id == owner else ())
        return {"title": member.name, "member": member, "owner": owner, "forms": forms}

    def channels(self, access: Access, visit: Visit) -> Values:
        return self.rows(visit, listings.list_channels)

    def channel(self, access: Access, visit: Visit) -> Values:
        channel = self.governance.channel(access, visit.request.path_params["channel_id"])
        reading = Reading(self.governance, access)
        (row,) = reading.channels([channel])
        roles = {one.id: one.title for one in reading.of_teams(channel.team, channel.team)} if channel.team else {}
        names = ["send_message", *([] if channel.kind == "dm" else ["open_topic", "open_vote"])]
        names += ["open_election"] if roles else []
        return self.rows(visit, listings.list_messages, channel_id=channel.id) | {
            "title": row.name,
            "channel": row,
            "forms": {} if row.is_archived else dict.fromkeys(names),
            "choices": {"role_id": roles},
        }

    def message(self, access: Access, visit: Visit) -> Values:
        id = visit.request.path_params["message_id"]
        channel = self.governance.channel(access, id.partition(".")[0])
        (row,) = Reading(self.governance, access).channels([channel])
        values = self.rows(visit, listings.read_thread, channel_id=channel.id, message_id=id)
        tool, forms, choices = values["parent"].embedded_tool, Values(), Values()
        if not row.is_archived:
            if tool:
                forms, choices = self.taking_part(access, id, tool)
            forms |= {"send_message": {}}
        present = f"{id}.response.{tool.round or 0:03}." if tool else ""
        title = (tool.title or tool.question or tool.role_title) if tool else "Thread"
        return values | {
            "title": title,
            "channel": row,
            "tool": tool,
            "present": [one for one in (tool and tool.given_responses) or () if one.id.startswith(present)],
            "emoji": () if row.is_archived else EMOJI,
            "moves": [name for name in forms if name in MOVES],
            "forms": forms,
            "choices": choices,
        }

    def taking_part(self, access: Access, id: str, tool: listings.ProcessFace) -> tuple[Values, Values]:
        """Return the forms with which a member takes part in a process now, and the choices that they offer."""
        process = self.governance.process(access, id)
        forms, choices, phase = Values(), Values(), process.phase
        if phase == "clarification":
            open_ones = {one.id: one.text for one in tool.clarifications or () if not one.answers}
            forms = dict.fromkeys(
                ("answer_clarification", "ask_clarification") if open_ones else ("ask_clarification",)
            )
            choices = {"question_id": open_ones}
        elif phase == "consent":
            said = [one for one in tool.given_responses or () if one.member_id == access.member.id]
            forms = {"respond": {"response": tool.yours, "reason": said[-1].text if tool.yours else ""}}
        elif phase == "open" and not process.ended(self.store.now()):
            forms = {"cast_vote": {"choices": tool.yours}}
            choices = {"choices": {one.id: one.label for one in tool.options or ()}}
        elif phase == "nomination" and not tool.you_nominated:
            forms, choices = {"nominate_member": None}, {"nominee_id": self.people(access)}
        elif phase == "discussion":
            choices = {"candidate_id": {one.member_id: f"{one.name} ({one.count})" for one in tool.tally or ()}}
        if processes.facilitator(self.governance, access, process)[0]:
            moves = [
                name for name, (kind, phases, *_) in MOVES.items() if kind == process.kind and phase in phases.split()
            ]
            forms |= dict.fromkeys(moves)
        return forms, choices

    def policies(self, access: Access, visit: Visit) -> Values:
        return self.rows(visit, listings.list_policies)

    def policy(self, access: Access, visit: Visit) -> Values:
        policy = listings.read_policy.run(self.governance, actor(visit), self.asked(listings.read_policy, visit))
        forms = {"change_policy": policy, "delete_policy": policy} if policy.role_id in access.roles else {}
        return {"title": f"{policy.number}. {policy.title}", "policy": policy, "forms": forms}

    def journal(self, access: Access, visit: Visit) -> Values:
        teams = {one.id: one.name for one in self.store.all(access.organisation, TEAMS)}
        query, listed = visit.request.query_params, listings.list_decisions
        names = ("team_id", "target_type")
        offered = {"team_id": teams, "target_type": {one: one for one in TARGETS}}
        labels = {"team_id": "Team", "target_type": "What was changed"}
        filters = Fields(model=listed.input, names=names, id="filter", labels=labels, offered=offered)
        values = self.rows(visit, listed, **{name: query.get(name) or None for name in names})
        sides = [side or {} for row in values["rows"] for side in (row.diff.before, row.diff.after)]
        ids = {one for side in sides for one in side.values() if isinstance(one, str)}
        reading, known = Reading(self.governance, access), dict(teams)
        known |= self.governance.names(access.organisation, {one for one in ids if one.startswith("mb_")})
        known |= {
            id: one.title for id, one in reading.many(ROLES, (one for one in ids if one.startswith("ro_"))).items()
        }
        return values | {
            "filters": filters.filters({name: query.getlist(name) for name in names}),
            "words": partial(words, known),
            "pages": PAGES_OF,
        }

    def invitations(self, access: Access, visit: Visit) -> Values:
        owner = self.store.organisation(access.organisation).owner == access.member.id
        pending = [
            one
            for one in self.store.all(access.organisation, INVITATIONS)
            if one.expires_at > self.store.clock() and (owner or one.member == access.member.id)
        ]
        names = self.governance.names(access.organisation, {one.member for one in pending})
        return {"pending": pending, "names": names, "link": "", "forms": {"invite": {}}}

    def settings(self, access: Access, visit: Visit) -> Values:
        organisation = self.store.organisation(access.organisation)
        owner = organisation.owner == access.member.id
        return {"owner": owner, "forms": {"change_settings": organisation} if owner else {"leave_organisation": None}}


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
        return ", ".join(f"{WORDS.sub(' ', name).lower()}: {words(known, one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(words(known, one) for one in value)
    return known.get(value, value) if isinstance(value, str) else "" if value is None else str(value)


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
