"""How well, how fast and at what cost the product reference answers: `python -m bench.reference`."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import table
from bench.mcp_servers import logging_as_on_lambda
from bench.reference import costs, quality, served
from bench.reference.judged import catalogue
from bench.reference.real import run as real
from bench.retrieval.engines import Missing, embedding_model
from bench.table import Row
from commonplace.reference.ports import Meaning
from commonplace.search.model import EmbeddingProvider

PARTS = ("quality", "speed", "costs", "served")
TITLE = "How well, how fast and at what cost the product reference answers"


def main(given: Sequence[str]) -> int:
    """1 when a look-up takes longer, or an answer says more, than is allowed."""
    options = arguments(given)
    provider = model(options.embeddings)
    if options.real:
        return real.run(options.real, provider, told=options.all, only=options.products)
    rows: list[Row] = []
    faults: list[str] = []
    for part in options.only.split(","):
        found, wrong = _MEASURES[part](provider)
        rows += found
        faults += wrong
    print(f"\nWritten to {table.keep('reference', TITLE, rows)}")
    print("\n".join(faults))
    return 1 if faults else 0


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.reference", description=__doc__)
    parser.add_argument("--embeddings", default="local", help="a model: local, openai, onnx:/FOLDER, none")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts, with commas: {', '.join(PARTS)}")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="measure real products, whose material is there")
    parser.add_argument("--products", nargs="+", default=(), metavar="NAME", help="of the real products, only these")
    parser.add_argument("--all", action="store_true", help="of the real products, tell also what is not right")
    return parser.parse_args(given)


def model(name: str) -> EmbeddingProvider | None:
    """None, said aloud, where it cannot be had."""
    try:
        return embedding_model(name)
    except Missing as error:
        print(f"Words only: {error}")
        return None


@contextmanager
def meaning(provider: EmbeddingProvider | None) -> Iterator[Meaning | None]:
    if provider is None:
        yield None
        return
    with quality.meaning_of(catalogue(), provider) as found:
        yield found


Measured = tuple[Sequence[Row], Sequence[str]]
"""Figures, and a sentence for each that is not as it should be."""


def _quality(provider: EmbeddingProvider | None) -> Measured:
    with meaning(provider) as found:
        systems = quality.systems(found)
        figures = {name: quality.measured(system) for name, system in systems.items()}
        best = quality.BUILT if found else quality.WORDS
        rows, kinds = list(quality.rows(figures)), list(quality.by_kind(systems[best]))
    _show(f"Paraphrases over {len(catalogue().entries):,} entries: an answer among the first 1, 3 and 5", rows)
    _show(f"{best}, by kind", kinds)
    print("Missed: " + "; ".join(query.text for query in figures[best].missed))
    return [*rows, *kinds], quality.missed(figures[best]) if found else ()


def _speed(provider: EmbeddingProvider | None) -> Measured:
    timed = list(costs.timed(provider))
    rows = [one.row() for one in timed]
    _show("CPU of a warm call in the process", rows)
    return rows, costs.too_slow(timed)


def _costs(provider: EmbeddingProvider | None) -> Measured:
    with meaning(provider) as found, logging_as_on_lambda():
        handler = costs.serving(found)
        told = list(costs.answers(handler))
        prompts = list(costs.prompts(handler, told))
    rows = [one.row() for one in told]
    _show("Tokens of an answer, the larger of text and data", rows)
    _show("Tokens of a request, beside the catalogue in the system prompt", prompts)
    return [*rows, *prompts], costs.too_long(told)


def _served(provider: EmbeddingProvider | None) -> Measured:  # noqa: ARG001 - a laptop cloud has its own model
    rows = served.rows()
    _show("Calls to a laptop cloud, each by turns with a search of the sample knowledge base", rows)
    return rows, []


_MEASURES: Mapping[str, Callable[[EmbeddingProvider | None], Measured]] = {
    "quality": _quality,
    "speed": _speed,
    "costs": _costs,
    "served": _served,
}


def _show(title: str, rows: Sequence[Row]) -> None:
    print(f"\n{title}")
    print("\n".join(table.lines(rows)), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
