"""Each catalogue beside the product itself, and what the tools leave of it in an answer."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from bench.reference.real import console, documents, programs
from bench.reference.real.products import Made, Product
from bench.table import Row
from commonplace.reference.model import Entry, Parameter

MOST_ALIKE = 5
"""Entries with one summary; what is said of more says nothing of any."""
MOST_PAGES = 60
"""Of one answer; one that goes on is counted as wrong."""
_LABEL = re.compile(r"[\w ]{1,40}: \S+")
"""`Required scope: tasks:write` begins a description, and does not say what the operation does."""
_MARKUP = re.compile(r"\]\([^)]*\)|</?(?:a|b|br|code|em|i|p|strong)\b[^<>]*>")
"""Targets of links, and tags."""
_WORD = re.compile(r"[\w-]+")
_OPTIONAL = re.compile(r"(?: \[-(?:[^\[\]]|\[[^\[\]]*\])*\])+")
LONG = 500
"""Characters of a usage, above which its options may be called so."""
NOT_SAID = "not described where it was read"
Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""A tool of the reference: its name and its arguments -> the result of the protocol."""


@dataclass
class Count:
    """So many of so many."""

    part: int = 0
    whole: int = 0
    not_so: list[str] = field(default_factory=list)
    """Those that are not."""

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
    """Of one product; each but `invented` counts what is as it should be."""

    names: Count = field(default_factory=Count)
    """Found by the tool."""
    aliases: Count = field(default_factory=Count)
    """Other names that the product takes, answered by the tool."""
    invented: list[str] = field(default_factory=list)
    """Entries, options and fields that the product does not have."""
    syntax: Count = field(default_factory=Count)
    """Of entries that are about something that exists."""
    exact: Count = field(default_factory=Count)
    """Of those that are said to be exact."""
    summaries: Count = field(default_factory=Count)
    required: Count = field(default_factory=Count)
    """Required parameters, fields and arguments that are parameters of the entry, and required there."""
    required_told: Count = field(default_factory=Count)
    """The same on the first page of the answer."""
    facts: Count = field(default_factory=Count)
    """Parameters of entries whose place, and whether they are required, is as the product has it."""
    details: Count = field(default_factory=Count)
    """Fields of bodies, or options, that are parameters of the entry."""
    details_told: Count = field(default_factory=Count)
    """The same on all pages of the answer."""
    secured: Count = field(default_factory=Count)
    """Operations that need authentication, and say which."""
    cut: Count = field(default_factory=Count)
    """First pages without syntax, a required parameter, authentication or an example of the entry."""
    pages: list[int] = field(default_factory=list)
    """How many each answer has."""

    def row(self, product: Product, made: Made) -> Row:
        return {
            "product": product.name,
            "entries": len(made.entries),
            "names found": str(self.names),
            "other names": str(self.aliases),
            "invented": len(self.invented),
            "syntax right": str(self.syntax),
            "of exact": str(self.exact),
            "summaries": str(self.summaries),
            "required, entry": str(self.required),
            "page 1": str(self.required_told),
            "place, required": str(self.facts),
            "fields or options, entry": str(self.details),
            "told": str(self.details_told),
            "authentication": str(self.secured),
            "cut": len(self.cut.not_so),
            "more pages": sum(one > 1 for one in self.pages),
            "pages at most": max(self.pages, default=0),
            "unread": made.unread,
            "errors": len(made.errors),
            "CPU s": round(made.cpu_seconds, 2),
        }


@dataclass(frozen=True, slots=True)
class Truth:
    """Of one entry, by the product itself."""

    syntax: bool
    summary: bool
    required: Sequence[str]
    details: Sequence[str]
    wrong: Callable[[Parameter], bool | None]
    """Whether place or `required` is not as the product has it; None where there is no such parameter."""


def measured(product: Product, made: Made, call: Call) -> Figures:
    figures = Figures()
    shared = Counter(entry.summary for entry in made.entries)
    by_name = {entry.called: entry for entry in made.entries}
    pages = product.program.pages if product.program else {}
    known = {*(one.name for one in product.things), *pages, f"{product.root} help"}
    asked = (*pages.values(), *product.program.others) if product.program else ()
    written = [usage for page in asked for usage in page.usages]
    # `stash [push]` and `config [<file-option>] list` are usages of `stash push` and `config list`.
    usages = [each for one in written for each in (one, programs.unbracketed(one), one.replace("[", ""))]
    usages = [" ".join(one.split()) for one in usages]
    for entry in made.entries:
        used = any(f"{usage} ".startswith(f"{entry.called} ") for usage in usages)
        if product.kind != "console" and entry.called not in known and not used:
            figures.invented.append(entry.called)
    for thing in product.things:
        tool, arguments = _asked(thing.name)
        result = call(tool, arguments)
        if product.kind == "console" and result.get("isError"):
            tool, arguments = _asked(thing.name.removeprefix(f"{product.root} "))  # what is typed without it
            result = call(tool, arguments)
        if thing.also:
            figures.aliases.add(not result.get("isError"), thing.name)
            continue
        found = by_name.get(thing.name) or by_name.get(thing.name.removeprefix(f"{product.root} "))
        figures.names.add(found is not None and not result.get("isError"), thing.name)
        if found is not None:
            told = [] if result.get("isError") else [text_of(result), *_more(call, tool, arguments, result)]
            _judge(figures, product, thing.name, found, told, own=shared[found.summary] <= MOST_ALIKE)
    return figures


def _asked(name: str) -> tuple[str, Mapping[str, Any]]:
    method, _, path = name.partition(" ")
    return (
        ("get_api_endpoint", {"method": method, "path": path})
        if path.startswith("/")
        else ("get_command", {"command": name})
    )


def _more(call: Call, tool: str, arguments: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[str]:
    """The pages after the first."""
    for _ in range(MOST_PAGES):
        data = result.get("structuredContent") or {}
        following = next((one["nextPage"] for one in (data, *data.get("endpoints", ())) if one.get("nextPage")), None)
        if following is None:
            return
        result = call(tool, {**arguments, "page": following})
        yield text_of(result)


def text_of(result: Mapping[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in result["content"])


def _judge(figures: Figures, product: Product, name: str, entry: Entry, told: Sequence[str], *, own: bool) -> None:
    """`told`: the pages of the answer; `own`: whether the summary is shared by few."""
    truth = _truth(product, name, entry)
    figures.syntax.add(truth.syntax, f"{name}: {entry.syntax or entry.called}")
    if entry.confidence == "exact":
        figures.exact.add(truth.syntax, f"{name}: {entry.syntax or entry.called}")
    figures.summaries.add(own and truth.summary, f"{name}: {entry.summary}")
    parameters = entry.parameters or []
    quoted = "`{}`" if product.kind == "openapi" else "{}"  # a field may be called as a word of the prose is
    required = {
        spelt for one in parameters if one.required for spelt in _spelt(one) | set(_WORD.findall(one.type or ""))
    }
    for count, wanted, there in (
        (figures.required, truth.required, required),
        (figures.required_told, truth.required, told[:1]),
        (figures.details, truth.details, {spelt for one in parameters for spelt in _spelt(one)}),
        (figures.details_told, truth.details, told),
    ):
        pages = there if isinstance(there, Sequence) else ()
        missing = [
            one for one in wanted if one not in there and not any(_holds(page, quoted.format(one)) for page in pages)
        ]
        count.add_many(len(wanted) - len(missing), len(wanted), f"{name}: {', '.join(sorted(missing)[:5])}")
    for one in parameters:
        wrong = truth.wrong(one)
        if wrong is None:
            figures.invented.append(f"{name}: {one.name}")
        else:
            figures.facts.add(not wrong, f"{name}: {one.line[:80]}")
    operation = _operation(product, name)
    if operation and operation.secured:
        figures.secured.add(bool(entry.authentication), name)
    if told:
        figures.cut.add(not (lacking := list(_lacking(entry, told[0]))), f"{name}: {', '.join(lacking)}")
        figures.pages.append(len(told))


def _spelt(one: Parameter) -> set[str]:
    """Every way to write it, `--[no-]verify` as both; the names in `<crate>[@<version>]`."""
    names = {one.name, *one.aliases}
    names |= {each.replace("[no-]", "") for each in names} | {each.replace("[no-]", "no-") for each in names}
    if one.place != "argument":
        return names
    return (
        names
        | {re.sub(r"[<>]|\.{3}", "", each) for each in names}
        | {word for each in names for word in _WORD.findall(each)}
    )


def _lacking(entry: Entry, page: str) -> Iterator[str]:
    """What of the entry is not on its first page and has to be there."""
    squeezed = " ".join(page.split())
    for one in (entry.syntax or entry.called, entry.authentication):
        if one and " ".join(one.split()) not in squeezed:
            yield one
    yield from (one.name for one in entry.parameters or () if one.required and not _holds(page, one.name))
    if entry.examples and not any(" ".join(one.code.split()) in squeezed for one in entry.examples):
        yield "an example"


def _operation(product: Product, name: str) -> documents.Operation | None:
    return next((one for one in product.operations if one.name == name), None)


def _truth(product: Product, name: str, entry: Entry) -> Truth:
    described = bool(entry.summary.strip()) and NOT_SAID not in entry.summary
    operation = _operation(product, name)
    if operation:
        own = not operation.said.strip() or _alike(entry.summary, operation.said)
        paths = {each for (place, each) in operation.given if place == "path"}
        return Truth(
            syntax=entry.called == name
            and paths <= {one.name for one in entry.parameters or () if one.place == "path"},
            summary=described and own and not _LABEL.fullmatch(entry.summary),
            required=sorted(operation.parameters | operation.body),
            details=sorted(operation.fields),
            wrong=lambda one: _wrong_field(operation, one),
        )
    if product.kind == "console":
        return _console_truth(product, name, entry, described)
    program = product.program
    page = program.pages[name] if program else programs.Page((), "")
    ways = [" ".join(one.split()) for one in (entry.syntax or "", *entry.usages)]
    words = [programs.unbracketed(one).split() for one in page.own]
    common = [one for one in words[0] if all(one in other for other in words)] if words else []
    style = ["[-h]"] if page.own and "[-h]" in page.own[0] else []  # argparse
    wanted = programs.required(" ".join([*common, *style]), name)
    above = [" ".join(name.split()[:words]) for words in range(1, len(name.split()) + 1)]
    texts = [program.pages[one].text for one in above if one in program.pages] if program else []
    # Options that it completes, and those of all commands, stand on no page of the command.
    texts += [one.text for one in program.others if " ".join(one.words) in above] if program else []
    known = "\n".join(texts)
    return Truth(
        syntax=set(ways) <= {*page.own, *(_OPTIONAL.sub(" [options]", one) for one in page.own if len(one) > LONG)},
        summary=described and _alike(entry.summary, _all_text(product)),
        required=[re.sub(r"[<>\[\].]", "", one) for one in wanted],
        details=sorted(page.flags),
        wrong=lambda one: _wrong_option(page, known, one),
    )


def _console_truth(product: Product, name: str, entry: Entry, described: bool) -> Truth:
    short = name.removeprefix(f"{product.root} ")
    truth = product.truths[short]
    forms = [found for way in truth.ways if (found := console.form(way, short, product.root))]
    source = product.source.read_text(encoding="utf-8")

    def wrong(one: Parameter) -> bool | None:
        read = re.search(rf"(?:--|\bparams\.|')(?:{re.escape(one.name.strip('-'))})\b", source)
        return None if one.place == "option" and not read else (one.place == "option") != one.name.startswith("-")

    return Truth(
        syntax=console.agrees(entry.syntax or entry.called, short, product.root, truth),
        summary=described and (not truth.said or any(_alike(entry.summary, one) for one in truth.said)),
        required=sorted(frozenset.intersection(*(one.needed for one in forms))) if forms else [],
        details=sorted({option for one in forms for option in one.allowed}),
        wrong=wrong,
    )


def _wrong_field(operation: documents.Operation, one: Parameter) -> bool | None:
    """Of a field below one that may be left out both answers are right."""
    if one.place != "body":
        given = operation.given.get((one.place, one.name))
        if given is None:
            return False if operation.has_below(one.name) else None
        return given != one.required
    if not operation.has(one.name):
        return None
    nested = re.search(r"[.\[]", one.name) is not None
    if one.name in operation.body:
        return not one.required
    if one.name == "body" and one.name not in operation.fields:
        return one.required and not operation.body_required
    return one.required and not nested and one.name not in operation.sometimes_required


def _wrong_option(page: programs.Page, known: str, one: Parameter) -> bool | None:
    if one.place == "option":
        spelt = [each.partition("=")[0] for each in _spelt(one)]
        if not any(_holds(known, each) for each in spelt):
            return None
        needed = "required" in page.text.casefold() or any(
            _holds(programs.unbracketed(usage), each) for usage in page.own for each in spelt
        )
        return not one.name.startswith("-") or (one.required and not needed)
    words = {word.casefold() for word in _WORD.findall(one.name)}
    if not any(_holds(page.text.casefold(), word) for word in words):
        return None
    outside = " ".join(programs.unbracketed(usage) for usage in page.own).casefold()
    return one.required and not any(_holds(outside, word) for word in words)


def _all_text(product: Product) -> str:
    told = product.program
    return "\n".join(page.text for page in (*told.pages.values(), *told.others)) if told else ""


def _alike(summary: str, said: str) -> bool:
    """Whether it begins with words that the product says, in their order, whatever signs stand between them."""
    words = re.findall(r"\w+", summary.casefold())[:5]
    return bool(words) and " ".join(words) in " ".join(re.findall(r"\w+", _MARKUP.sub(" ", said).casefold()))


def _holds(text: str, wanted: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", text) is not None


def faults(figures: Figures, most: int = 4) -> Iterator[str]:
    """The first of what is not as the product has it."""
    if figures.invented:
        yield f"invented: {'; '.join(figures.invented[:most])}"
    for one in fields(Figures):
        count = getattr(figures, one.name)
        if isinstance(count, Count) and count.not_so:
            yield f"{one.name}: {'; '.join(count.not_so[:most])}"
