"""Each catalogue beside the product itself, and what the tools leave of it in an answer."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.reference.real import console, programs
from bench.reference.real.products import Made, Product
from bench.table import Row
from commonplace.reference.model import Entry

MOST_ALIKE = 5
"""Entries with one summary; what is said of more says nothing of any."""
_LABEL = re.compile(r"[\w ]{1,40}: \S+")
"""`Required scope: tasks:write` begins a description, and does not say what the operation does."""
_MARKUP = re.compile(r"\]\([^)]*\)|</?(?:a|b|br|code|em|i|p|strong)\b[^<>]*>")
"""Targets of links, and tags."""
NOT_SAID = "not described where it was read"
Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""A tool of the reference: its name and its arguments -> the result of the protocol."""


@dataclass
class Count:
    """So many of so many."""

    part: int = 0
    whole: int = 0
    not_so: list[str] = field(default_factory=list)
    """The first of those that are not."""

    def add(self, so: bool, what: str) -> None:
        self.add_many(int(so), 1, what)

    def add_many(self, part: int, whole: int, what: str) -> None:
        self.part += part
        self.whole += whole
        if part < whole:
            self.not_so.append(what)

    def __str__(self) -> str:
        return f"{self.part}/{self.whole}" if self.whole else "-"


@dataclass
class Figures:
    """Of one product. `names` are found by the tool; `invented` are entries that the product does not have."""

    names: Count = field(default_factory=Count)
    aliases: Count = field(default_factory=Count)
    """Other names that the product takes, answered by the tool."""
    invented: Count = field(default_factory=Count)
    syntax: Count = field(default_factory=Count)
    """Of entries that are about something that exists."""
    summaries: Count = field(default_factory=Count)
    required: Count = field(default_factory=Count)
    """Required fields and parameters, or arguments, in the entry."""
    required_told: Count = field(default_factory=Count)
    """The same in the answer of the tool."""
    details: Count = field(default_factory=Count)
    """Fields of bodies, or options, in the entry."""
    details_told: Count = field(default_factory=Count)
    cut: Count = field(default_factory=Count)
    """Answers that say that they are not all."""

    def row(self, product: Product, made: Made) -> Row:
        return {
            "product": product.name,
            "entries": len(made.entries),
            "names found": str(self.names),
            "other names": str(self.aliases),
            "invented": self.invented.part,
            "syntax right": str(self.syntax),
            "summaries": str(self.summaries),
            "required, entry": str(self.required),
            "answer": str(self.required_told),
            "fields or options, entry": str(self.details),
            "told": str(self.details_told),
            "answers cut": str(self.cut),
            "unread": made.unread,
            "errors": len(made.errors),
        }


def measured(product: Product, made: Made, call: Call) -> Figures:
    figures = Figures()
    shared = Counter(entry.summary for entry in made.entries)
    by_name = {entry.called: entry for entry in made.entries}
    pages = product.program.pages if product.program else {}
    known = {*(one.name for one in product.things), *pages, f"{product.root} help"}
    usages = [usage for page in pages.values() for usage in page.usages]
    for entry in made.entries:
        used = any(f"{usage} ".startswith(f"{entry.called} ") for usage in usages)
        if product.kind != "console" and entry.called not in known and not used:
            figures.invented.add(True, "")
            figures.invented.not_so.append(entry.called)
    for thing in product.things:
        result = call(*_asked(thing.name))
        if product.kind == "console" and result.get("isError"):
            result = call(*_asked(thing.name.removeprefix(f"{product.root} ")))  # what is typed without it
        if thing.also:
            figures.aliases.add(not result.get("isError"), thing.name)
            continue
        found = by_name.get(thing.name) or by_name.get(thing.name.removeprefix(f"{product.root} "))
        figures.names.add(found is not None and not result.get("isError"), thing.name)
        if found is not None:
            _judge(figures, product, thing.name, found, result, said=shared[found.summary] <= MOST_ALIKE)
    return figures


def _asked(name: str) -> tuple[str, Mapping[str, Any]]:
    method, _, path = name.partition(" ")
    return (
        ("get_api_endpoint", {"method": method, "path": path})
        if path.startswith("/")
        else ("get_command", {"command": name})
    )


def text_of(result: Mapping[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in result["content"])


def _judge(
    figures: Figures, product: Product, name: str, entry: Entry, result: Mapping[str, Any], *, said: bool
) -> None:
    """`said`: whether the summary is its own."""
    told = "" if result.get("isError") else _asks(product, text_of(result))
    whole = _asks(product, f"{entry.syntax or ''}\n{entry.content}")
    syntax, summary, required, details = _truth(product, name, entry)
    figures.syntax.add(syntax, f"{name}: {entry.syntax or entry.called}")
    figures.summaries.add(said and summary, f"{name}: {entry.summary}")
    for count, wanted, text in (
        (figures.required, required, whole),
        (figures.required_told, required, told),
        (figures.details, details, whole),
        (figures.details_told, details, told),
    ):
        there = [one for one in wanted if _holds(text, one)]
        count.add_many(len(there), len(wanted), f"{name}: {', '.join(sorted(set(wanted) - set(there))[:5])}")
    if not result.get("isError"):
        figures.cut.add(_is_cut(result), name)


def _truth(product: Product, name: str, entry: Entry) -> tuple[bool, bool, Sequence[str], Sequence[str]]:
    """Whether the syntax is right and the summary there; what is required; what there is besides."""
    described = bool(entry.summary.strip()) and NOT_SAID not in entry.summary
    if product.kind == "openapi":
        operation = next(one for one in product.operations if one.name == name)
        own = not operation.said.strip() or _alike(entry.summary, operation.said)
        return (
            entry.called == name and all(_holds(entry.content, f"`{one}`") for one in operation.parameters),
            described and own and not _LABEL.fullmatch(entry.summary),
            [f"`{one}`" for one in sorted(operation.parameters | operation.body)],
            [f"`{one}`" for one in sorted(operation.fields)],
        )
    if product.kind == "console":
        short = name.removeprefix(f"{product.root} ")
        truth = product.truths[short]
        right = console.agrees((entry.syntax or entry.called), short, product.root, truth)
        said = described and (not truth.said or any(_alike(entry.summary, one) for one in truth.said))
        forms = [found for way in truth.ways if (found := console.form(way, short, product.root))]
        needed = sorted(frozenset.intersection(*(one.needed for one in forms))) if forms else []
        return right, said, needed, sorted({option for one in forms for option in one.allowed})
    page = product.program.pages[name] if product.program else programs.Page((), "")
    syntax = " ".join((entry.syntax or "").split())
    wanted = list(dict.fromkeys(programs.required(page.own[0]))) if page.own else []
    return syntax in page.own, described and _alike(entry.summary, _all_text(product)), wanted, sorted(page.flags)


def _asks(product: Product, text: str) -> str:
    """What a caller has to send: a field of a response may be called as one of the request that is missing."""
    return text.partition("**Responses**")[0] if product.kind == "openapi" else text


def _all_text(product: Product) -> str:
    return "\n".join(page.text for page in product.program.pages.values()) if product.program else ""


def _alike(summary: str, said: str) -> bool:
    """Whether it begins with words that the product says, in their order, whatever signs stand between them."""
    words = re.findall(r"\w+", summary.casefold())[:5]
    return bool(words) and " ".join(words) in " ".join(re.findall(r"\w+", _MARKUP.sub(" ", said).casefold()))


def _holds(text: str, wanted: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text) is not None


def _is_cut(result: Mapping[str, Any]) -> bool:
    data = result.get("structuredContent") or {}
    return bool(data.get("truncated") or any(one.get("truncated") for one in data.get("endpoints", ())))


def faults(figures: Figures, most: int = 4) -> Iterator[str]:
    """The first of what is not as the product has it."""
    for what in ("names", "aliases", "invented", "syntax", "summaries", "required", "required_told", "details"):
        count: Count = getattr(figures, what)
        if count.not_so:
            yield f"{what}: {'; '.join(count.not_so[:most])}"
