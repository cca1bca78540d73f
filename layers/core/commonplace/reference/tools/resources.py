"""What can be read at an address: the system prompt, the catalogues, each entry whole, the commands of a category."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from commonplace.kernel.errors import CommonplaceError, NotFound
from commonplace.reference.model import Hit
from commonplace.reference.tools import vocabulary
from commonplace.reference.tools.answers import Told, example_of, full, whole
from commonplace.reference.tools.guidance import product_of, system_prompt
from commonplace.reference.tools.markdown import code, line
from commonplace.reference.tools.services import ReferenceServices
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens
from commonplace.web.mcp.choosing import fitting
from commonplace.web.mcp.declaration import Call, Complete, Resource, Template, Text

PROMPT_URI = "reference://prompts/system"
CATALOGUES_URI = "reference://catalogues"

MARKDOWN = "text/markdown"

Values = Callable[[ReferenceServices, Mapping[str, str]], Iterable[str]]
"""`(using, arguments given already) -> everything that can be completed to`"""


def resources(using: ReferenceServices) -> tuple[Resource, ...]:
    return (
        Resource(
            uri=PROMPT_URI,
            name="prompts/system",
            title="System prompt for an assistant of this product",
            description="In place of a list of commands: search first, never make up a command.",
            mime_type="text/plain",
            read=lambda _: system_prompt(product(using)),
        ),
        Resource(
            uri=CATALOGUES_URI,
            name="catalogues",
            title="Catalogues",
            description="What the reference is made of: products, categories, modules, the commit of each.",
            mime_type="application/json",
            read=partial(_catalogues, using),
        ),
    )


def templates(using: ReferenceServices) -> tuple[Template, ...]:
    return (
        Template(
            uri_template="reference://entries/{catalogue}/{id}",
            name="entry",
            title="Entry",
            description="A command, an endpoint, a guide or another entry, whole.",
            mime_type=MARKDOWN,
            read=partial(_entry, using),
            complete={"catalogue": completer(using, _names), "id": completer(using, _ids)},
        ),
        Template(
            uri_template="reference://commands/{category}",
            name="commands",
            title="Commands of a category",
            description="Every command of a category or subcategory, with what it does.",
            mime_type=MARKDOWN,
            read=partial(_commands, using),
            complete={"category": completer(using, _categories)},
        ),
    )


def completer(using: ReferenceServices, values: Values) -> Complete:
    """Completes over what is published at the moment."""
    return lambda typed, given: fitting(values(using, given), typed)


def command_names(using: ReferenceServices, _: Mapping[str, str]) -> Iterable[str]:
    """Those that are not deprecated."""
    return (one.entry.called for one in using.reference.commands() if not one.entry.deprecated)


def product(using: ReferenceServices) -> str:
    """Whatever is away, a prompt is not."""
    try:
        return product_of([one.title for one in using.reference.catalogues()])
    except CommonplaceError:
        return product_of([])


def _catalogues(using: ReferenceServices, _: Call) -> str:
    categories = [
        {"category": one.slug, "title": one.title, "entries": one.entries, "commands": one.commands}
        for one in using.reference.categories()
    ]
    told = [
        {
            "name": one.name,
            "title": one.title,
            "description": one.description,
            "entries": len(one.entries),
            "modules": one.modules,
            "repository": one.repository,
            "commit": one.commit_sha,
        }
        for one in using.reference.catalogues()
    ]
    return json.dumps({"catalogues": told, "categories": categories}, ensure_ascii=False, separators=(",", ":"))


def _entry(using: ReferenceServices, _: Call, given: Mapping[str, str]) -> tuple[Text, str]:
    hit = using.reference.entry(given["catalogue"], given["id"])
    if hit is None:
        near = list(fitting(_ids(using, given), given["id"][:40]))[:3]
        raise NotFound("There is no such entry.", hint=f"Nearest: {', '.join(near)}." if near else None)
    return entry_told(hit), MARKDOWN


def entry_told(hit: Hit) -> str:
    """All of it, with every example."""
    entry = hit.entry
    told = Told(**full(hit, [example_of(one) for one in entry.examples], entry.content.strip()))
    words = (("Also called", entry.aliases), ("Keywords", entry.keywords))
    more = [f"{name}: {', '.join(line(one, 200) for one in values)}" for name, values in words if values]
    return "\n\n".join([f"# {line(entry.title)}", whole(told, hit.catalogue), *more]) + "\n"


def _commands(using: ReferenceServices, _: Call, given: Mapping[str, str]) -> tuple[Text, str]:
    """As many as fit in the largest answer that a client takes."""
    category = vocabulary.filtered(given["category"])
    found = using.reference.commands(category)
    if not found:
        known = [one.slug for one in vocabulary.with_commands(using)]
        raise NotFound("No command is in this category.", hint=f"Categories: {vocabulary.listed(known)}.")
    lines, left = [f"{len(found)} commands in {category or 'all categories'}.", ""], MAX_TOKENS - 100
    for placed in found:
        told = f"- {code(placed.entry.called)} {line(placed.entry.summary)}"
        left -= estimate_tokens(told) + 1
        if left < 0:
            return "\n".join([*lines, "", "There are more: list_commands pages through them."]), MARKDOWN
        lines.append(told)
    return "\n".join(lines), MARKDOWN


def _names(using: ReferenceServices, _: Mapping[str, str]) -> Iterable[str]:
    return (one.name for one in using.reference.catalogues())


def _ids(using: ReferenceServices, given: Mapping[str, str]) -> Iterable[str]:
    """Of the catalogue that is given; of all while none is."""
    wanted = given.get("catalogue", "").strip()
    catalogues = (one for one in using.reference.catalogues() if not wanted or one.name == wanted)
    return (placed.entry.id for one in catalogues for placed in one.entries)


def _categories(using: ReferenceServices, _: Mapping[str, str]) -> Iterable[str]:
    return (one.slug for one in vocabulary.with_commands(using))
