"""The offer of one path: the declarations of its toolsets under the names and addresses they have there, and access.

Verdicts are those of `identity.authorization`, in the terms of the protocol. The guard answers by HTTP what a sign-in
or another consent would allow, before a server is called; what reaches a server is refused here, in words for models.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from commonplace.identity.authorization import HOW_TO_JOIN, MEMBERS_ONLY, Need, Verdict, worth_showing
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.declaration import Caller, Cost, Declared, Prompt, Resource, Template, Tool, Toolset
from commonplace.web.mcp.skill_files import skill_resources

MAX_INSTRUCTION_WORDS = 100
MAX_URI_CHARACTERS = 2_048

CALLER = "commonplace.caller"
"""Key in the ASGI scope under which the guard leaves a `declaration.Caller`."""

NOBODY = Caller()
UNCERTAIN_SECONDS = 30

_VARIABLE = re.compile(r"\{(\+?)(\w+)\}")
_QUERY = re.compile(r"\{\?([\w,]+)\}$")
QUERY_GROUP = "_query"
QUERY = "?"
"""The name under which `match` gives the query of an address, as it is written."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool under the name it has on this path, and what a call takes."""

    name: str
    tool: Tool
    toolset: Toolset
    need: Need


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything of one path, in the order of every list."""

    toolsets: tuple[Toolset, ...]
    tools: Mapping[str, Offered]
    prompts: Mapping[str, Prompt]
    resources: Mapping[str, Resource]
    templates: tuple[Template, ...]
    needs: Mapping[tuple[str, str], Need]
    """The need of each: `("tool", name)`, `("prompt", name)`, `("resource", URI)`, `("template", URI template)`."""
    owners: Mapping[tuple[str, str], str]
    """The toolset of each, by the same names."""
    patterns: tuple[tuple[re.Pattern[str], Template], ...]
    further: Toolset | None = None
    """The toolset whose callers have tools besides."""

    @property
    def further_need(self) -> Need:
        """What the tools besides take, whichever they are."""
        assert self.further is not None  # noqa: S101 - asked for where there are such tools
        placeholder = Declared(name="", title="", description="", tier=self.further.further_tier)
        return self.further.need_of(placeholder)

    def further_tools(self, caller: Caller, name: str = "", *, asking: bool = False) -> Iterator[Offered]:
        """Return the tools that a caller has besides, or those that may be of this name. Reads the store.

        Those that a person approves call by call are among them where one can be asked.
        """
        if self.further is not None and self.further.further is not None:
            need = self.further_need
            for tool in self.further.further(caller, name):
                if asking or not tool.asks:
                    yield Offered(tool.name, tool, self.further, need)

    @property
    def further_cost(self) -> tuple[Cost, str] | None:
        """What a call of a tool that is not declared counts as, and in which toolset; None where there is none."""
        return (self.further.further_cost, self.further.name) if self.further is not None else None

    def instructions(self) -> str:
        """Return under a hundred words: those of the toolsets, or only what each is for if that is too much."""
        whole = "\n\n".join(toolset.instructions for toolset in self.toolsets)
        if len(whole.split()) < MAX_INSTRUCTION_WORDS:
            return whole
        first = (f"{one.title}: {one.instructions.partition('. ')[0].rstrip('.')}." for one in self.toolsets)
        return " ".join("\n".join(first).split(" ")[: MAX_INSTRUCTION_WORDS - 1])

    def need(self, method: str, params: Mapping[str, Any], read_only: bool) -> Need | None:
        """Return None for what is not there, what is malformed, and what everybody may: the server answers those."""
        kind, name = self.named(method, params)
        if kind == "tool" and name in self.tools and read_only and not self.tools[name].tool.read_only:
            return None
        if kind == "tool" and name not in self.tools and self.further is not None:
            return self.further_need
        return self.needs.get((kind, name))

    def named(self, method: str, params: Mapping[str, Any]) -> tuple[str, str]:
        """Return what a message names, as `needs` and `owners` have it; what they lack is not there."""
        named = params.get("uri" if method == "resources/read" else "name")
        if not isinstance(named, str):
            return "", ""
        if method == "resources/read" and ("resource", named) not in self.needs:
            found = self.template_at(named)
            return ("template", found[0].uri_template) if found else ("", "")
        return {"tools/call": "tool", "prompts/get": "prompt", "resources/read": "resource"}.get(method, ""), named

    def template_at(self, uri: str) -> tuple[Template, Mapping[str, str]] | None:
        """Return the template that an address is of, and the variables in it."""
        for pattern, template in self.patterns:
            if (variables := match(pattern, uri)) is not None:
                return template, variables
        return None


def offer_of(toolsets: Sequence[Toolset], *, prefix_shared: bool = False) -> Offer:
    """Return the offer of these toolsets. Raises ValueError when two things would answer to one name."""
    tools = _named(((one, tool.name, (tool, one)) for one in toolsets for tool in one.tools), prefix_shared)
    prompts = _named(((one, prompt.name, (one, prompt)) for one in toolsets for prompt in one.prompts), prefix_shared)
    resources = _distinct(
        (item.uri, (one, item)) for one in toolsets for item in (*one.resources, *skill_resources(one.skills))
    )
    templates = _distinct((item.uri_template, (one, item)) for one in toolsets for item in one.templates)
    declared = {"prompt": prompts, "resource": resources, "template": templates}
    needs = {(kind, name): one.need_of(item) for kind, rows in declared.items() for name, (one, item) in rows.items()}
    owners = {(kind, name): one.name for kind, rows in declared.items() for name, (one, _) in rows.items()}
    offered = {name: Offered(name, tool, one, one.need_of(tool)) for name, (tool, one) in tools.items()}
    return Offer(
        toolsets=tuple(toolsets),
        tools=offered,
        prompts={name: prompt for name, (_, prompt) in prompts.items()},
        resources={uri: resource for uri, (_, resource) in resources.items()},
        templates=tuple(template for _, template in templates.values()),
        needs=needs | {("tool", name): one.need for name, one in offered.items()},
        owners=owners,
        patterns=tuple((pattern_of(uri), template) for uri, (_, template) in templates.items()),
        further=toolsets[0] if len(toolsets) == 1 and toolsets[0].further is not None else None,
    )


def _named(declared: Iterable[tuple[Toolset, str, Any]], prefix_shared: bool) -> dict[str, Any]:
    rows = list(declared)
    shared = {name for name, count in Counter(name for _, name, _ in rows).items() if count > 1 and prefix_shared}
    return _distinct((f"{toolset.name}_{name}" if name in shared else name, item) for toolset, name, item in rows)


def _distinct(rows: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in rows:
        if name in found:
            raise ValueError(f"two declarations are called {name!r}")
        found[name] = item
    return found


def caller_of(request: Any) -> Caller:
    """Return the caller whom the guard found behind an HTTP request; nobody in particular where there is no guard."""
    caller = request.scope.get(CALLER) if request is not None else None
    return caller if isinstance(caller, Caller) else NOBODY


def exists(offered: Offered, caller: Caller) -> bool:
    """Return whether the tool is there: under a restriction to reading, one that writes is not."""
    return offered.tool.read_only or not caller.read_only


def shown(need: Need, caller: Caller) -> bool:
    """Return whether lists show what takes this."""
    return worth_showing(caller.principal, need)


def tools_for(offer: Offer, caller: Caller) -> Iterator[Offered]:
    """Return the tools that a list shows."""
    stranger = caller.principal.anonymous
    return (
        one
        for one in offer.tools.values()
        if exists(one, caller) and shown(one.need, caller) and not (stranger and one.toolset.members_only)
    )


def view_of(caller: Caller) -> tuple[Any, ...]:
    """Return what lists depend on; equal for callers who are shown the same, and written alike by every process."""
    principal = caller.principal
    if principal.anonymous or principal.uncertain:
        return "*", caller.read_only
    kinds = None if principal.resource_scopes is None else tuple(sorted(principal.resource_scopes))
    scopes = tuple(sorted(principal.scopes)), tuple(sorted(principal.attainable))
    acts = principal.membership
    member = () if acts is None else (acts.organisation, acts.member, tuple(sorted(acts.roles)))
    return principal.tier, caller.read_only, principal.permission, *scopes, kinds, *member


def denial(thing: str, need: Need, verdict: Verdict) -> str:
    """Return why a caller may not, in words for a model (seed 000, section 7.3).

    Raises Unavailable when that cannot be decided now.
    """
    match verdict:
        case Verdict.UNCERTAIN:
            raise Unavailable(
                "The roles of your account cannot be read just now.",
                retry_after_seconds=UNCERTAIN_SECONDS,
                hint="Until then, use what is public.",
            )
        case Verdict.MEMBERSHIP:
            return f"Access denied. {MEMBERS_ONLY} {HOW_TO_JOIN}"
        case Verdict.KIND:
            return f"Access denied. This {thing} is beyond the kinds of things that your token reaches."
        case Verdict.TIER | Verdict.SIGN_IN if need.tier != "public":
            return f"Access denied. This {thing} requires {need.tier} access."
        case _:
            return f"Access denied. This {thing} requires the scope {need.scope}."


def pattern_of(uri_template: str) -> re.Pattern[str]:
    """Return the pattern of whole addresses of a URI template (RFC 6570), with its variables as groups.

    `{name}` is one segment, `{+path}` the rest with its slashes, and `{?names}` at the end a query, the last group; the
    groups are still percent-encoded.
    """
    query = _QUERY.search(uri_template)
    uri_template = uri_template[: query.start()] if query else uri_template
    parts, end = [], 0
    for found in _VARIABLE.finditer(uri_template):
        parts.append(re.escape(uri_template[end : found.start()]))
        parts.append(f"(?P<{found[2]}>{'[^?#]+' if found[1] else '[^/?#]+'})")
        end = found.end()
    return re.compile(
        "".join(parts) + re.escape(uri_template[end:]) + (rf"(?:\?(?P<{QUERY_GROUP}>[^#]*))?" if query else "")
    )


def variables_of(uri_template: str) -> list[str]:
    """Return the names of its variables, those of a query last."""
    query = _QUERY.search(uri_template)
    return [*(found[2] for found in _VARIABLE.finditer(uri_template)), *(query[1].split(",") if query else ())]


def match(pattern: re.Pattern[str], uri: str) -> Mapping[str, str] | None:
    """Return the variables of an address, decoded; None if it is not of this shape or climbs out of it."""
    found = pattern.fullmatch(uri) if len(uri) <= MAX_URI_CHARACTERS else None
    if found is None:
        return None
    groups = found.groupdict()
    query = groups.pop(QUERY_GROUP, None)
    values = {name: unquote(value) for name, value in groups.items()}
    for value in values.values():
        # No segment may mean another folder, whichever way it is spelled.
        if any(part in ("", ".", "..") for part in re.split(r"[/\\]", value)) or any(sign < " " for sign in value):
            return None
    return values if query is None else values | {QUERY: query}
