"""The console's pages of organisations: what awaits me, teams, roles, members, channels with their processes, policies,
the journal, invitations and settings.

A page is a method that reads what its template shows; `forms` names the forms that this member can use now, with their
present values. Every form calls the operation that it is made from, which judges anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool

from commonplace.governance import conversation, listings, processes, structure
from commonplace.governance.governance import PERSON, Governance
from commonplace.governance.listings import Reading
from commonplace.governance.model import Response, Team
from commonplace.governance.rules import Access
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

HERE = Path(__file__).parent
PATH = "governance"
TABS = ("", "members", "channels", "policies", "journal", "invitations", "settings")
EMOJI = ("👍", "❤️", "🎉", "🤔", "👀", "🙏")
"""Reactions that a page offers; the operation takes others, too."""
MODES = {"single": "one choice", "approval": "several choices", "ranked": "a ranking of all"}
TYPES = {"type": {"secretary": "secretary", "referee": "referee"}}
PAGES_OF = {one: one for one in ("teams", "roles", "members", "policies")}
PAGES_OF |= dict.fromkeys(("topics", "votings", "elections"), "messages")
"""Where the pages are of what the journal names, below the organisation's."""
TARGETS = {"": "any", "orgas": "organisation"} | {one: one for one in (*PAGES_OF, "invitations", "grants")}
TARGETS |= {"votings": "votes"}
"""What the journal names, and what people read."""
WORDS = re.compile(r"(?<!^)(?=[A-Z])")
"""Between the words of a name in camel case."""

DECLARED: Mapping[str, Mapping[str, Any]] = tomllib.loads((HERE / "forms.toml").read_text(encoding="utf-8"))
MOVES = DECLARED["moves"]
OPERATIONS: Mapping[str, Operation] = {**vars(structure), **vars(conversation), **vars(processes)}
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
            {field: DECLARED["labels"].get(field, "") for field in fields},
            hidden=(*revision, *one.get("hidden", "").split()),
            kinds=one.get("kinds", {}),
            required=tuple(fields) if name in MOVES else (),
            about="" if name in MOVES else one.get("about", called.description),
            sure=one.get("sure", False),
        )
    return forms


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

    def pages(self) -> ConsolePages:
        """Return them as the console takes them."""
        listed = (listings.list_members, listings.list_channels, listings.list_policies)
        inside: tuple[tuple[str, Callable[[Here], Values]], ...] = (
            ("", self.teams),
            ("/teams/{team_id}", self.team),
            ("/roles/{role_id}", self.role),
            ("/members/{member_id}", self.member),
            ("/channels/{channel_id}", self.channel),
            ("/messages/{message_id}", self.message),
            ("/policies/{policy_id}", self.policy),
            ("/journal", self.journal),
            ("/invitations", self.invitations),
            ("/settings", self.settings),
        )
        found = [(path, read.__name__, read) for path, read in inside]
        found += [(f"/{one.of}", one.of, partial(Here.rows, listed=one)) for one in listed]
        shown = [
            self.page(PATH, "mine", self.mine, title="Organisations", listed=True),
            self.page(f"{PATH}/{{orga_id}}/join", "joining", self.joining, title="Become a member"),
            *(self.page(f"{PATH}/{{orga_id}}{path}", name, self.inside(read)) for path, name, read in found),
        ]
        return ConsolePages(pages=shown, templates=HERE / "templates")

    def page(
        self, path: str, name: str, read: Callable[[Visit], Values], *, title: str = "", listed: bool = False
    ) -> ConsolePage:
        """Return the page of a template, with the actions of its forms; `read` returns the template's values.

        `forms` has those that are offered now, with their present values, and `choices` what their fields offer.
        """
        title, forms = title or name.capitalize(), forms_of(name)

        def view(visit: Visit, problem: CommonplaceError | None, more: Values) -> View:
            values = {"title": title, "choices": {}, "tabs": (), "forms": {}, **read(visit), **more}
            shown = {
                one: forms[one].shown(visit, present, problem, values["choices"])
                for one, present in values["forms"].items()
            }
            values |= {
                "forms_shown": shown,
                "problem": problem,
                "refused": [one for form in shown.values() if form["refused"] for one in form["fields"]],
                "when": datetime.fromisoformat,
                "console_title": values["title"],
            }
            return View(f"governance_{name}.html", values, problem.status if problem else 200)

        async def show(visit: Visit, problem: CommonplaceError | None = None) -> View:
            return await run_in_threadpool(view, visit, problem, {})

        async def done(visit: Visit, result: Any) -> Done | View:
            did, address = visit.value("action"), visit.request.path_params
            if did == "invite":
                link = f"{self.origin}/console/{PATH}/{address['orga_id']}/join?{urlencode({'invitation': result[1]})}"
                return await run_in_threadpool(view, visit, None, {"link": link})
            to = DECLARED.get(name, {}).get(did, {}).get("to")
            return Done(did, path=None if to is None else f"{PATH}/{to.format(**address, result=result)}".rstrip("/"))

        actions = {
            one: form.action(self.governance, show, done=done, values=partial(beside, one), need=PERSON)
            for one, form in forms.items()
        }
        return ConsolePage(
            path=path, title=title, show=show, need=PERSON, actions=actions, messages=MESSAGES, listed=listed
        )

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
        return {"found": found, "origin": self.origin, "forms": {"found_organisation": {}}}

    def joining(self, visit: Visit) -> Values:
        """Return the page to which the link of an invitation leads. Raises NotFound without a valid one."""
        slug, secret = visit.request.path_params["orga_id"], visit.request.query_params.get("invitation", "")
        known = self.store.records.get(slug, INVITATIONS, digest(secret)) if is_organisation(slug) else None
        if known is None or known.expires_at <= self.store.clock():
            hint = "If you used it, look under Organisations in the console; else ask its sender for a new one."
            raise NotFound("This invitation is not valid any more.", hint=hint)
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
        types = {"type": {"": "leader"}} if found.type == "leader" else TYPES
        choices = {"member_id": self.people(here["orga_id"]), **types}
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
        choices = {"role_id": roles, "mode": MODES}
        return values | {"title": row.name, "channel": row, "forms": forms, "choices": choices}

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

    def taking_part(self, here: Here, tool: Any) -> tuple[Values, Values]:
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
                choices["response"] = {one: one.replace("_", " ") for one in get_args(Response)}  # none is chosen yet
            case "open" if not tool.is_closed:
                forms["cast_vote"] = {"choices": tool.yours}
                choices["choices"] = {one.id: one.label for one in tool.options or ()}
            case "nomination" if not tool.you_nominated:
                forms["nominate_member"] = {}
                choices["nominee_id"] = self.people(here["orga_id"])
            case "discussion":
                choices["candidate_id"] = {one.member_id: f"{one.name} ({one.count})" for one in tool.tally or ()}
        if processes.facilitator(self.store, here.access, process)[0]:
            for name, move in MOVES.items():
                fits = move["kind"] == process.kind and process.phase in move["phases"].split()
                forms |= {name: {}} if fits else {}
        return forms, choices

    def policy(self, here: Here) -> Values:
        policy = here.sheet(listings.read_policy)
        forms = {"change_policy": policy, "delete_policy": policy} if policy.role_id in here.access.roles else {}
        return {"title": f"{policy.number}. {policy.title}", "policy": policy, "forms": forms}

    def journal(self, here: Here) -> Values:
        query, listed, slug = here.visit.request.query_params, listings.list_decisions, here["orga_id"]
        known = {one.id: one.name for one in self.store.all(slug, TEAMS)}
        offered = {"team_id": {"": "any", **known}, "target_type": TARGETS}
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
        case "react_to_message" | "delete_message":  # of a reply, too
            return {"message_id": visit.value("message_id")}
        case "send_message" if "message_id" in path:
            return {"channel_id": path["message_id"].partition(".")[0], "parent_id": path["message_id"]}
    given: Mapping[str, Any] = MOVES[name]["given"] if name in MOVES else {}
    return given


def words(known: Mapping[str, str], value: Any) -> str:
    """Return a value of the journal as people read it; `known` are names by id."""
    if isinstance(value, Mapping):
        return ", ".join(f"{label(name)}: {words(known, one)}" for name, one in value.items() if name != "memberId")
    if isinstance(value, list | tuple):
        return "; ".join(words(known, one) for one in value)
    return known.get(value, value) if isinstance(value, str) else "" if value is None else str(value)


def label(name: str) -> str:
    """Return a name of the journal as words."""
    return WORDS.sub(" ", name).replace("_", " ").lower()


def pages(context: PageContext) -> ConsolePages | None:
    """Return the pages of a deployment; None without governance."""
    if GovernanceTables.where_governed(context.environ) is None:
        return None

    def build() -> Governance:
        from commonplace.governance.composition import governance

        return governance(context.environ, context.settings, context.objects)

    return GovernancePages(deferred(build), context.frame.base_url).pages()
