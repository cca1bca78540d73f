"""The judged catalogue of three made-up products, questions about it, and which entries answer them."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from commonplace.reference.model import Catalogue, Entry, Example, Placed

FOLDER = Path(__file__).parent / "catalogue"
WRITTEN = "2026-01-01T00:00:00Z"

SYNONYMS: Mapping[str, Sequence[str]] = {
    "gw": ["google workspace"],
    "ms": ["microsoft 365", "office 365"],
    "mfa": ["2fa", "two-factor", "second factor"],
    "email": ["mail", "e-mail"],
    "suspend": ["block", "deactivate", "disable"],
    "database": ["db", "postgres", "mysql"],
    "licence": ["license", "seat"],
    "organisation": ["organization"],
}
"""What the catalogue says beyond the default table, as its maintainers would before there was any question."""

_METHODS = {"list": ("GET", ""), "create": ("POST", ""), "get": ("GET", "/{id}")}
_METHODS |= {"update": ("PATCH", "/{id}"), "delete": ("DELETE", "/{id}")}
_METHODS |= {verb: ("GET", f"/{{id}}/{verb}") for verb in ("members", "logs", "status", "history", "preview")}
"""Any other verb is a POST to an address of its own."""

_ARTICLE = re.compile(r"\b([Aa]) (?=[aeioAEIO])")
_ANSWERS = "Answers 200 with JSON, 401 without a token, 404 for what is not there."


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


@cache
def catalogue() -> Catalogue:
    """Return every entry, by id."""
    entries = [
        Entry(**{"content": told.pop("said"), "last_updated": WRITTEN, **told}) for told in _read("written.yaml")
    ]
    verbs = _read("verbs.yaml")
    for product in _read("nouns.yaml"):
        for area in product["areas"]:
            for noun in area["nouns"]:
                for verb in noun["verbs"].split():
                    entries += _made(product["root"], area, noun, verb, verbs[verb])
    return Catalogue(
        name="suite",
        title="Helios, Orbit and Ledger",
        roots=["helios", "orbit", "ledger"],
        synonyms={key: list(others) for key, others in SYNONYMS.items()},
        repository="example/suite",
        branch="main",
        commit_sha="0" * 40,
        generation=1,
        synced_at=datetime(2026, 1, 1, tzinfo=UTC),
        entries=[
            Placed(entry=entry, path=f"reference/{entry.type}.json", generation=1)
            for entry in sorted(entries, key=lambda entry: entry.id)
        ],
    )


def _made(
    root: str, area: Mapping[str, Any], noun: Mapping[str, Any], verb: str, told: Mapping[str, Any]
) -> Iterator[Entry]:
    """Yield the command and the endpoint of one verb and noun."""
    one = noun["one"]
    filled = {"one": one, "many": noun.get("many", f"{one}s"), "where": area["where"]}
    summary = noun.get("say", {}).get(verb, told["summary"])
    said = {
        "title": _ARTICLE.sub(r"\1n ", told["title"].format(**filled)),
        "category": area["slug"],
        "subcategory": noun["noun"],
        "module": area.get("module"),
        "summary": _ARTICLE.sub(r"\1n ", summary.format(**filled)),
        "keywords": list(dict.fromkeys([*area["keywords"], *noun["keywords"], *told["keywords"]])),
        "last_updated": WRITTEN,
    }
    name = " ".join(filter(None, (root, area["prefix"], noun["noun"], verb)))
    syntax = f"{name} {told['takes']}"
    yield Entry(
        id="cmd-" + name.removeprefix("helios ").replace(" ", "-"),
        type="command",
        name=name,
        syntax=syntax,
        content=f"{said['summary']} {noun['what']}\n\n**Syntax:**\n```\n{syntax}\n```",
        examples=[Example(description=said["title"], code=f"$ {name}{' 42' if '<id>' in syntax else ''}")],
        source=f"auto-generated:{root}.tsx",
        **said,
    )
    method, rest = _METHODS.get(verb, ("POST", f"/{{id}}/{verb}" if "<id>" in told["takes"] else f"/{verb}"))
    place = "/".join(filter(None, (area["prefix"], noun["noun"])))
    base = "" if root == "helios" else f"/{root}"
    path = f"/api/v1{base}/{place}{rest}"
    yield Entry(
        id=f"api-{method.lower()}{base}/{place}{rest}".replace("/", "-").replace("{", "").replace("}", ""),
        type="api",
        method=method,
        path_template=path,
        content=f"{said['summary']} {noun['what']}\n\n{_ANSWERS}",
        examples=[Example(description=said["title"], code=f"curl -X {method} 'https://api.example.com{path}'")],
        source="auto-generated:openapi.yaml",
        **said,
    )


NOTHING = "nothing"
SEED = 7
QUERIES = Path(__file__).parent / "queries.yaml"


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `answers` are ids, each of which is enough; none where nobody wrote about it."""

    text: str
    kind: str
    answers: frozenset[str]
    held_out: bool
    """Weights were chosen without looking at it."""


@cache
def queries() -> tuple[Query, ...]:
    """Return all of them, kind by kind."""
    listed: Mapping[str, Sequence[Sequence[str]]] = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))
    return tuple(
        Query(str(text), kind, frozenset(answers), held_out=bool(place % 2))
        for kind, lines in listed.items()
        for place, (text, *answers) in enumerate(lines)
    )


def paraphrases() -> tuple[Query, ...]:
    """Return those that have an answer."""
    return tuple(query for query in queries() if query.kind != NOTHING)


def unanswerable() -> tuple[Query, ...]:
    return tuple(query for query in queries() if query.kind == NOTHING)


@cache
def misspelt() -> tuple[Query, ...]:
    """Return the paraphrases, each with one mistake in a longer word; the same every time, and never the first letter.

    Two neighbours are swapped, a letter is left out, one is too many, or a wrong one.
    """
    chance = random.Random(SEED)
    found: list[Query] = []
    for query in paraphrases():
        if words := re.findall(r"\b[a-z]{5,}\b", query.text):
            word = chance.choice(words)
            at, letter = chance.randrange(1, len(word) - 1), chance.choice("etaoinsr")
            mistaken = chance.choice(
                (
                    word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                    word[:at] + word[at + 1 :],
                    word[:at] + letter + word[at:],
                    word[:at] + letter + word[at + 1 :],
                )
            )
            found.append(replace(query, text=query.text.replace(word, mistaken, 1)))
    return tuple(found)
