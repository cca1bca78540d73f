"""Questions of users about real products, asked of the tools as they are served: `python -m tests.acceptance.products
FOLDER`, where FOLDER has the material that README.md names. Every second question of a kind is held: mends are made by
the others alone.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import yaml

from bench.engines import Missing, embedding_model
from bench.mcp_servers import logging_as_on_lambda
from bench.reference.__main__ import call, meaning_of, serving
from bench.table import Row, Share, keep, say
from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import Catalogue
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source import compilation
from commonplace.reference.source.reader import read_catalogue
from commonplace.search.model import EmbeddingProvider
from commonplace_generators import catalogue_file
from commonplace_generators.openapi.documents import files_of
from commonplace_generators.plan import generate
from commonplace_local.cli.reference.programs import raw_of

HERE = Path(__file__).parent
FILE, FRESH = HERE / "asked.yaml", HERE / "asked_fresh.yaml"
"""The second is about products that nobody mended anything by: all of it is held."""
FIRST = 3
"""Results of a search among which the right one has to be."""
WRITTEN = "2026-01-01T00:00:00Z"

Kind = Literal["paraphrase", "typed", "misspelt", "option", "made up", "nothing"]
Verdict = Literal["right", "refused rightly", "wrong", "refused wrongly"]
GOOD: tuple[Verdict, ...] = ("right", "refused rightly")
VERDICTS: tuple[Verdict, ...] = (*GOOD, "wrong", "refused wrongly")
Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


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
    said: str
    """The beginning of the answer."""


@cache
def questions() -> tuple[Question, ...]:
    found: list[Question] = []
    for file in (FILE, FRESH):
        listed: Mapping[str, Mapping[Kind, list[list[str]]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
        before: Counter[Kind] = Counter()
        for of, kinds in listed.items():
            for kind, lines in kinds.items():
                for text, *right in lines:
                    found.append(Question(of, kind, text, tuple(right), file == FRESH or before[kind] % 2 == 1))
                    before[kind] += 1
    return tuple(found)


def catalogue_of(product: Mapping[str, Any], folder: Path) -> Catalogue | None:
    """Return what the generators of today make of a product, read as a sync would; None where there is no material.

    A program's help is read once and stored in `FOLDER/programs`, so that another run measures the same program.
    """
    name, kind = product["name"], product["kind"]
    source = folder / product.get("source", f"programs/{name}.json")
    if kind == "help" and not source.is_file():
        own = [str(folder.resolve() / one) for one in ("python/bin", "node_modules/.bin")]
        os.environ["PATH"] = os.pathsep.join([*own, os.environ["PATH"]])
        program = shutil.which(name)
        if program and (not product.get("pinned") or Path(program).is_relative_to(folder.resolve())):
            options = {"depth": product["depth"], "ask": product.get("ask", "--help")}
            options["complete"] = product.get("complete", "")
            with tempfile.TemporaryDirectory() as place:
                raw = raw_of("help", name, folder=Path(place), options=options)
            source.parent.mkdir(exist_ok=True)
            source.write_text(json.dumps({"raw": raw.decode()}), encoding="utf-8")
    if not source.is_file():
        return None
    raw = json.loads(source.read_text(encoding="utf-8"))["raw"].encode() if kind == "help" else source.read_bytes()
    options = {"root": product.get("root", name)} if kind != "openapi" else {}
    made = generate(kind, raw, source=source.name, options=options, read=files_of(source.parent))
    entries = catalogue_file.written(catalogue_file.dated(made.entries, None, WRITTEN))
    settings = yaml.safe_dump({"title": product["title"]}).encode()
    return compilation.compile(
        read_catalogue({"catalogue.yaml": settings, "entries.json": entries}, name),
        source=CatalogueSource(name, "example/product", "main", ""),
        web_url=None,
        commit="0" * 40,
        generation=1,
        synced_at=datetime(2026, 1, 1, tzinfo=UTC),
        before=None,
    )


def answered(catalogues: Sequence[Catalogue], provider: EmbeddingProvider | None) -> Iterator[Outcome]:
    """Yield the outcome of every question about the products of one deployment, by the tool that its kind calls for."""
    with meaning_of(catalogues, provider) as meaning:
        ask = partial(call, serving(catalogues, meaning))
        for catalogue in catalogues:
            names = [placed.entry.called for placed in catalogue.entries]
            for question in questions():
                if question.of == catalogue.name:
                    yield judged(replace(question, right=tuple(_name_in(names, one) for one in question.right)), ask)


def _name_in(names: Sequence[str], right: str) -> str:
    """Return it with the path of the API's server, where a document leaves that out."""
    method, _, path = right.partition(" ")
    longer = (name for name in names if path.startswith("/") and name.startswith(method) and name.endswith(path))
    return right if right in names else next(longer, right)


def judged(question: Question, ask: Call) -> Outcome:
    """Ask as a model would: a question is searched for, what is typed is looked up by its name."""
    if question.kind in ("paraphrase", "nothing"):
        answer = ask("search_knowledge", {"query": question.text})
    elif re.match(r"(?:[A-Z]+ )?(?:/|https?:)", question.text):
        answer = ask("get_api_endpoint", {"path": question.text})
    else:
        answer = ask("get_command", {"command": question.text})
    text = "\n".join(block.get("text", "") for block in answer["content"])
    return Outcome(question, verdict(question, _names(answer), text), " ".join(text.split())[:160])


def verdict(question: Question, names: Sequence[str], text: str) -> Verdict:
    """Judge the entries that an answer has, none of a refusal, and its text."""
    named = any(_is_named(one, text) for one in question.right)
    match question.kind:
        case "made up" | "nothing":
            return "wrong" if names else "refused rightly"
        case "option":  # what does not exist has to be said, with the nearest one; the command exists
            made_up = next(word for word in question.text.split() if word.startswith("--")).partition("=")[0]
            said = re.search(r"\bno (?:such )?(?:option|flag)s?\b", text, re.IGNORECASE) and _is_named(made_up, text)
            if said and named:
                return "refused rightly"
            return "wrong" if names else "refused wrongly"
        case "misspelt" if not names and named:
            return "refused rightly"
    if not names:
        return "refused wrongly"
    first = names[: FIRST if question.kind == "paraphrase" else 1]
    return "wrong" if set(first).isdisjoint(question.right) else "right"


def _names(answer: Mapping[str, Any]) -> list[str]:
    """Return what the entries of an answer are called; nothing for an error."""
    data = answer.get("structuredContent") or {}
    if answer.get("isError"):
        return []
    listed = data.get("results", data.get("endpoints", [data]))
    called = [
        f"{one.get('method')} {one['pathTemplate']}"
        if one.get("pathTemplate")
        else str(one.get("name") or one.get("title"))
        for one in listed
    ]
    return [*called, *(data.get("more") or [])]


def _is_named(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def rows(outcomes: Iterable[Outcome]) -> list[Row]:
    """Return a row by kind of each half, then of all of them."""
    every = list(outcomes)
    found: list[Row] = []
    kinds = [*dict.fromkeys(one.question.kind for one in every), "all"]
    for half, kind in (*product(("mend", "held"), kinds), ("both", "all")):
        chosen = [one for one in every if half == "both" or one.question.held is (half == "held")]
        counts = Counter(one.verdict for one in chosen if kind in (one.question.kind, "all"))
        share = Share(sum(counts[good] for good in GOOD), counts.total())
        low, high = share.interval
        found.append(
            {
                "half": half,
                "kind": kind,
                "questions": counts.total(),
                **{name: counts[name] for name in VERDICTS},
                "good %": round(100 * share.value, 1) if share.value is not None else None,
                "95 %": f"{100 * low:.0f} to {100 * high:.0f}",
            }
        )
    return found


def main(given: Sequence[str]) -> int:
    """Print both tables. 1 where no product is there, or one is refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.products", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the material of the products")
    parser.add_argument("--embeddings", default="local", help="a model: local, openai, onnx:/FOLDER, none")
    parser.add_argument("--products", nargs="+", default=(), metavar="NAME", help="only these")
    parser.add_argument("--all", action="store_true", help="print also what is not right, of questions to mend by")
    options = parser.parse_args(given)
    try:
        provider = embedding_model(options.embeddings)
    except Missing as error:
        print(f"Words only: {error}")
        provider = None
    catalogues: list[Catalogue] = []
    refused = 0
    for each in yaml.safe_load((HERE / "products.yaml").read_text(encoding="utf-8")):
        if not options.products or each["name"] in options.products:
            try:
                found = catalogue_of(each, options.folder)
            except CommonplaceError as error:
                print(f"{each['name']}: no catalogue. {error.message}")
                refused += 1
            else:
                catalogues += [found] if found else []
    if not catalogues:
        print(f"There is no material in {options.folder}: see README.md.")
        return 1
    with logging_as_on_lambda():
        outcomes = [outcome for catalogue in catalogues for outcome in answered([catalogue], provider)]
        together = list(answered(catalogues, provider))
    title = f"Questions about {', '.join(catalogue.name for catalogue in catalogues)}, each by itself"
    say(title, alone := rows(outcomes))
    say("The same, asked of one deployment that has all of them", mixed := rows(together))
    for one in outcomes if options.all else ():
        if one.verdict not in GOOD and not one.question.held:
            print(f"{one.verdict}: {one.question.of}: {one.question.text} -> {one.said}")
    file = keep("reference_real", title, [*alone, *({**row, "half": f"{row['half']}, together"} for row in mixed)])
    print(f"\nWritten to {file}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
