"""The offer of one path: the declarations of its toolsets under the names they have there."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from commonplace.identity.authorization import Need
from commonplace.web.mcp.declaration import Cost, Prompt, Resource, Template, Tool, Toolset
from commonplace.web.mcp.skills import skill_resources

MAX_INSTRUCTION_WORDS = 100


@dataclass(frozen=True, slots=True)
class Offered:
    """A tool under the name it has on this path."""

    name: str
    tool: Tool
    toolset: Toolset

    @property
    def need(self) -> Need:
        return self.toolset.need_of(self.tool)


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything of one path, in the order of every list."""

    toolsets: tuple[Toolset, ...]
    tools: Mapping[str, Offered]
    prompts: Mapping[str, Prompt]
    resources: Mapping[str, Resource]
    templates: tuple[Template, ...]
    needs: Mapping[tuple[str, str], Need]
    """What each takes: `("tool", name)`, `("prompt", name)`, `("resource", URI)`, `("template", URI template)`."""

    def instructions(self) -> str:
        """Under a hundred words: those of the toolsets, or only what each is for if that is too much."""
        whole = "\n\n".join(toolset.instructions for toolset in self.toolsets)
        if len(whole.split()) < MAX_INSTRUCTION_WORDS:
            return whole
        first = (f"{one.title}: {one.instructions.partition('. ')[0].rstrip('.')}." for one in self.toolsets)
        return " ".join("\n".join(first).split(" ")[: MAX_INSTRUCTION_WORDS - 1])


def offer_of(toolsets: Sequence[Toolset], *, prefix_shared: bool = False) -> Offer:
    """Raises ValueError when two things would answer to one name."""
    tools = _named(
        ((one, tool.name, Offered(tool.name, tool, one)) for one in toolsets for tool in one.tools), prefix_shared
    )
    prompts = _named(((one, prompt.name, (one, prompt)) for one in toolsets for prompt in one.prompts), prefix_shared)
    resources = _distinct((item.uri, (one, item)) for one in toolsets for item in _resources(one))
    templates = _distinct((item.uri_template, (one, item)) for one in toolsets for item in one.templates)
    declared = {"prompt": prompts, "resource": resources, "template": templates}
    needs = {(kind, name): one.need_of(item) for kind, rows in declared.items() for name, (one, item) in rows.items()}
    return Offer(
        toolsets=tuple(toolsets),
        tools={name: Offered(name, offered.tool, offered.toolset) for name, offered in tools.items()},
        prompts={name: prompt for name, (_, prompt) in prompts.items()},
        resources={uri: resource for uri, (_, resource) in resources.items()},
        templates=tuple(template for _, template in templates.values()),
        needs=needs | {("tool", name): offered.need for name, offered in tools.items()},
    )


def _resources(toolset: Toolset) -> Iterator[Resource]:
    yield from (*toolset.resources, *skill_resources(toolset.skills))


def cost_of(toolsets: Sequence[Toolset], method: str, params: Any) -> Cost:
    """The class of rate limits that a message counts in, whatever it holds. Names may carry their toolset's prefix."""
    name = params.get("name") if method == "tools/call" and isinstance(params, Mapping) else None
    for toolset, tool in chain.from_iterable(((one, tool) for tool in one.tools) for one in toolsets):
        if name in (tool.name, f"{toolset.name}_{tool.name}"):
            return tool.cost
    return "read"


def _named(declared: Iterable[tuple[Toolset, str, Any]], prefix_shared: bool) -> dict[str, Any]:
    rows = list(declared)
    shared = {name for name, count in Counter(name for _, name, _ in rows).items() if count > 1}
    if not prefix_shared:
        shared = set()
    return _distinct((f"{toolset.name}_{name}" if name in shared else name, item) for toolset, name, item in rows)


def _distinct(rows: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in rows:
        if name in found:
            raise ValueError(f"two declarations are called {name!r}")
        found[name] = item
    return found
