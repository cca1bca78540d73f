"""The judged catalogue of three made-up products, what is asked of it, and which entries answer that."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

import yaml

from commonplace.reference.model import Catalogue, Entry, Example, Method, Placed

FOLDER = Path(__file__).parent / "catalogue"
NAME = "suite"
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
"""What the catalogue says beyond the default table, as its maintainers would before anybody has asked anything."""

_METHODS: Mapping[str, tuple[Method, str]] = {
    "list": ("GET", ""),
    "create": ("POST", ""),
    "get": ("GET", "/{id}"),
    "update": ("PATCH", "/{id}"),
    "delete": ("DELETE", "/{id}"),
    "members": ("GET", "/{id}/members"),
    "logs": ("GET", "/{id}/logs"),
    "status": ("GET", "/{id}/status"),
    "history": ("GET", "/{id}/history"),
    "preview": ("GET", "/{id}/preview"),
}
"""Any other verb is a POST to an address of its own."""

_ARTICLE = re.compile(r"\b([Aa]) (?=[aeioAEIO])")
_ANSWERS = "Answers 200 with JSON, 401 without a token, 404 for what is not there."


@cache
def catalogue() -> Catalogue:
    """Every entry, by id."""
    entries = sorted([*_made(), *_written()], key=lambda entry: entry.id)
    return Catalogue(
        name=NAME,
        title="Helios, Orbit and Ledger",
        roots=["helios", "orbit", "ledger"],
        synonyms={key: list(others) for key, others in SYNONYMS.items()},
        repository="example/suite",
        branch="main",
        commit_sha="0" * 40,
        generation=1,
        synced_at=datetime(2026, 1, 1, tzinfo=UTC),
        entries=[Placed(entry=entry, path=f"reference/{entry.type}.json", generation=1) for entry in entries],
    )


def of_size(size: int) -> Catalogue:
    """At least so many entries: those of the catalogue again and again, each time of another product."""
    whole, entries = catalogue(), []
    for copy in range(-(-size // len(whole.entries))):
        entries += [_again(placed, copy) for placed in whole.entries] if copy else whole.entries
    return whole.model_copy(update={"entries": entries[: max(size, len(whole.entries))]})


def _again(placed: Placed, copy: int) -> Placed:
    entry = placed.entry
    changed = {
        "id": f"{entry.id}-{copy}",
        "name": f"suite{copy} {entry.name}" if entry.name else None,
        "path_template": f"/suite{copy}{entry.path_template}" if entry.path_template else None,
        "title": f"{entry.title} of suite {copy}",
    }
    return placed.model_copy(update={"entry": entry.model_copy(update=changed)})


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def _made() -> Iterator[Entry]:
    verbs = _read("verbs.yaml")
    for product in _read("nouns.yaml"):
        for area in product["areas"]:
            for noun in area["nouns"]:
                for verb in noun["verbs"].split():
                    yield _command(product["root"], area, noun, verb, verbs[verb])
                    yield _endpoint(product["root"], area, noun, verb, verbs[verb])


def _command(root: str, area: Mapping[str, Any], noun: Mapping[str, Any], verb: str, told: Mapping[str, Any]) -> Entry:
    said = _said(area, noun, verb, told)
    name = " ".join(filter(None, (root, area["prefix"], noun["noun"], verb)))
    syntax = f"{name} {told['takes']}"
    return Entry(
        id="cmd-" + name.removeprefix("helios ").replace(" ", "-"),
        type="command",
        name=name,
        syntax=syntax,
        content=f"{said['summary']} {noun['what']}\n\n**Syntax:**\n```\n{syntax}\n```",
        examples=[Example(description=said["title"], code=f"$ {name}{' 42' if '<id>' in syntax else ''}")],
        source=f"auto-generated:{root}.tsx",
        **said,
    )


def _endpoint(root: str, area: Mapping[str, Any], noun: Mapping[str, Any], verb: str, told: Mapping[str, Any]) -> Entry:
    said = _said(area, noun, verb, told)
    method, rest = _METHODS.get(verb, ("POST", f"/{{id}}/{verb}" if "<id>" in told["takes"] else f"/{verb}"))
    assert method in get_args(Method)
    place = "/".join(filter(None, (area["prefix"], noun["noun"])))
    base = "" if root == "helios" else f"/{root}"
    path = f"/api/v1{base}/{place}{rest}"
    return Entry(
        id=f"api-{method.lower()}{base}/{place}{rest}".replace("/", "-").replace("{", "").replace("}", ""),
        type="api",
        method=method,
        path_template=path,
        content=f"{said['summary']} {noun['what']}\n\n{_ANSWERS}",
        examples=[Example(description=said["title"], code=f"curl -X {method} 'https://api.example.com{path}'")],
        source="auto-generated:openapi.yaml",
        **said,
    )


def _said(area: Mapping[str, Any], noun: Mapping[str, Any], verb: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """What a command and its endpoint have in common."""
    one = noun["one"]
    filled = {"one": one, "many": noun.get("many", f"{one}s"), "where": area["where"]}
    summary = noun.get("say", {}).get(verb, told["summary"])
    return {
        "title": _ARTICLE.sub(r"\1n ", told["title"].format(**filled)),
        "category": area["slug"],
        "subcategory": noun["noun"],
        "module": area.get("module"),
        "summary": _ARTICLE.sub(r"\1n ", summary.format(**filled)),
        "keywords": list(dict.fromkeys([*area["keywords"], *noun["keywords"], *told["keywords"]])),
        "last_updated": WRITTEN,
    }


def _written() -> Iterator[Entry]:
    for told in _read("written.yaml"):
        yield Entry(**{"content": told.pop("said"), "last_updated": WRITTEN, **told})


NOTHING = "nothing"
SCENARIO = "scenario"
SEED = 7
QUERIES = Path(__file__).parent / "queries.yaml"

_LONG = re.compile(r"\b[a-z]{5,}\b")


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
    """All of them, kind by kind."""
    told: Mapping[str, Sequence[Sequence[str]]] = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))
    return tuple(
        Query(str(text), kind, frozenset(answers), held_out=bool(place % 2))
        for kind, lines in told.items()
        for place, (text, *answers) in enumerate(lines)
    )


def paraphrases() -> tuple[Query, ...]:
    """Those that have an answer."""
    return tuple(query for query in queries() if query.kind != NOTHING)


def unanswerable() -> tuple[Query, ...]:
    return tuple(query for query in queries() if query.kind == NOTHING)


@cache
def misspelt() -> tuple[Query, ...]:
    """The paraphrases, each with one mistake in one of its longer words; the same mistakes every time."""
    chance = random.Random(SEED)
    return tuple(
        replace(query, text=query.text.replace(word, _mistaken(word, chance), 1))
        for query in paraphrases()
        if (words := _LONG.findall(query.text)) and (word := chance.choice(words))
    )


def _mistaken(word: str, chance: random.Random) -> str:
    """Two neighbours swapped, a letter left out, one too many, or a wrong one; never the first."""
    at, letter = chance.randrange(1, len(word) - 1), chance.choice("etaoinsr")
    ways = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
    )
    return chance.choice(ways)
