"""What users ask of real products, what is the right answer, and what the tools answer.

Every second question of a kind, in the order of the file, is held: mends are made by the others alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from bench.pii.score import Share
from bench.reference.real.products import Product
from bench.table import Row

FILE = Path(__file__).parent / "asked.yaml"
FRESH = Path(__file__).parent / "asked_fresh.yaml"
"""Of products that nobody mended anything by: all of them are held."""
FIRST = 3
"""Results of a search among which the right one has to be."""

Kind = Literal["paraphrase", "typed", "misspelt", "option", "made up", "nothing"]
Verdict = Literal["right", "refused rightly", "wrong", "refused wrongly"]
Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]

_NO_OPTION = re.compile(r"\bno (?:such )?(?:option|flag)s?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """`right`: names, one of which is to be the answer, or to be named where the answer is a refusal."""

    of: str
    kind: Kind
    text: str
    right: tuple[str, ...]
    held: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    question: Question
    verdict: Verdict
    named: bool
    """Whether a refusal names what is nearest."""
    said: str
    """The beginning of the answer."""

    @property
    def good(self) -> bool:
        return self.verdict in ("right", "refused rightly")


@cache
def questions() -> tuple[Question, ...]:
    found: list[Question] = []
    for file in (FILE, FRESH):
        told: Mapping[str, Mapping[Kind, list[list[str]]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
        before: Counter[Kind] = Counter()
        for of, kinds in told.items():
            for kind, asked in kinds.items():
                for text, *right in asked:
                    held = file == FRESH or before[kind] % 2 == 1
                    found.append(Question(of, kind, text, tuple(right), held))
                    before[kind] += 1
    return tuple(found)


def answered(product: Product, call: Call) -> Iterator[Outcome]:
    """Every question of a product, by the tool that its kind calls for."""
    for question in questions():
        if question.of == product.name:
            yield judged(replace(question, right=_called_so(product, question.right)), call(*_tool(question)))


def _called_so(product: Product, names: tuple[str, ...]) -> tuple[str, ...]:
    """With the path of the API's server, where a document leaves that out."""
    called = {one.written: one.name for one in product.operations}
    return tuple(called.get(name, name) for name in names)


def unknown(product: Product) -> list[str]:
    """Right answers that the product itself does not have: a mistake of whoever wrote them."""
    names = {one.name for one in product.things} | {one.written for one in product.operations}
    pages = product.program.pages if product.program else {}
    return [
        f"{question.text}: {name}"
        for question in questions()
        if question.of == product.name and question.kind != "option"
        for name in question.right
        if name not in names and name not in pages
    ]


def rows(outcomes: Iterable[Outcome]) -> Iterator[Row]:
    """By kind, each half, then all of them."""
    every = list(outcomes)
    for half, held in (("mend", False), ("held", True)):
        asked = [one for one in every if one.question.held == held]
        for kind in dict.fromkeys(one.question.kind for one in every):
            yield _row(half, kind, [one for one in asked if one.question.kind == kind])
        yield _row(half, "all", asked)
    yield _row("both", "all", every)


def _row(half: str, kind: str, outcomes: list[Outcome]) -> Row:
    counts = Counter(one.verdict for one in outcomes)
    share = Share(sum(one.good for one in outcomes), len(outcomes))
    low, high = share.interval
    return {
        "half": half,
        "kind": kind,
        "asked": len(outcomes),
        "right": counts["right"],
        "refused rightly": counts["refused rightly"],
        "of these, nearest named": sum(one.named for one in outcomes if one.verdict == "refused rightly"),
        "wrong": counts["wrong"],
        "refused wrongly": counts["refused wrongly"],
        "good %": round(100 * share.value, 1) if share.value is not None else None,
        "95 %": f"{100 * low:.0f} to {100 * high:.0f}",
    }


def _tool(question: Question) -> tuple[str, Mapping[str, Any]]:
    """What a model would call: a question is searched for, what is typed is looked up by its name."""
    if question.kind in ("paraphrase", "nothing"):
        return "search_knowledge", {"query": question.text}
    endpoint = re.match(r"(?:[A-Z]+ )?(?:/|https?:)", question.text)
    return ("get_api_endpoint", {"path": question.text}) if endpoint else ("get_command", {"command": question.text})


def judged(question: Question, result: Mapping[str, Any]) -> Outcome:
    text = "\n".join(block.get("text", "") for block in result["content"])
    names = _names(result)
    named = any(_is_named(one, text) for one in question.right)
    verdict = _JUDGES[question.kind](question, names, text)
    return Outcome(question, verdict, named, " ".join(text.split())[:160])


def _found(question: Question, names: list[str], text: str) -> Verdict:  # noqa: ARG001 - every judge takes them
    if not names:
        return "refused wrongly"
    return "right" if not set(names[:FIRST]).isdisjoint(question.right) else "wrong"


def _typed(question: Question, names: list[str], text: str) -> Verdict:  # noqa: ARG001
    if not names:
        return "refused wrongly"
    return "right" if names[0] in question.right else "wrong"


def _misspelt(question: Question, names: list[str], text: str) -> Verdict:
    """Answered with what was meant, or refused with it."""
    if names:
        return "right" if names[0] in question.right else "wrong"
    return "refused rightly" if any(_is_named(one, text) for one in question.right) else "refused wrongly"


def _option(question: Question, names: list[str], text: str) -> Verdict:
    """An option that does not exist is to be said, with the nearest one; the command exists."""
    made_up = next(word for word in question.text.split() if word.startswith("--")).partition("=")[0]
    said = _NO_OPTION.search(text) is not None and _is_named(made_up, text)
    if said and any(_is_named(one, text) for one in question.right):
        return "refused rightly"
    return "wrong" if names else "refused wrongly"


def _refused(question: Question, names: list[str], text: str) -> Verdict:  # noqa: ARG001
    return "wrong" if names else "refused rightly"


_JUDGES: Mapping[Kind, Callable[[Question, list[str], str], Verdict]] = {
    "paraphrase": _found,
    "typed": _typed,
    "misspelt": _misspelt,
    "option": _option,
    "made up": _refused,
    "nothing": _refused,
}


def _names(result: Mapping[str, Any]) -> list[str]:
    """What the entries of an answer are called; none of an error."""
    data = result.get("structuredContent") or {}
    if result.get("isError"):
        return []
    listed = data.get("results", data.get("endpoints", [data]))
    return [*(_called(one) for one in listed), *(data.get("more") or [])]


def _called(one: Mapping[str, Any]) -> str:
    if one.get("pathTemplate"):
        return f"{one.get('method')} {one['pathTemplate']}"
    return str(one.get("name") or one.get("title"))


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
