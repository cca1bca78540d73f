"""How well a search finds: `python -m bench.retrieval`, on our own judged set or on any in TREC format."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.retrieval import run, sets
from bench.retrieval.judged import JudgedSet, load_folder
from bench.retrieval.sets import anchored_set, sample_set


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument(
        "--set", action="append", default=[], type=Path, help="a folder with documents, topics and qrels in TREC format"
    )
    parser.add_argument(
        "--fetch", action="append", default=[], choices=sorted(sets.SETS), help="a public set, downloaded at need"
    )
    parser.add_argument("--renumber", action="store_true", help="count the topics of --set from 1, as its qrels do")
    parser.add_argument("--links", action="append", default=[], type=Path, help="a clone whose links are the queries")
    parser.add_argument("--sample", action="store_true", help="our own set as well, when another one is named")
    parser.add_argument(
        "--opensearch", metavar="URL", help="a node to measure on; `start` starts one. Without it: the embedded engine"
    )
    parser.add_argument("--only-opensearch", action="store_true", help="leave the embedded engine out")
    parser.add_argument("--embeddings", default="local", help="models, with commas: local, bedrock-titan, onnx:/FOLDER")
    parser.add_argument("--onnx", metavar="FOLDER", help="an embedding model of your own: model.onnx, tokenizer.json")
    parser.add_argument("--rerank", default="none", help="bedrock-cohere, bedrock-amazon, onnx:/FOLDER")
    parser.add_argument("--chunk", action="append", type=int, default=[], help="pieces of a chunk, to compare sizes")
    parser.add_argument("--sweep", action="store_true", help="compare weights, constants, depths and floors instead")
    parser.add_argument("--name", default="", help="of the file of results: bench/results/retrieval-NAME.json")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measures what can be measured and says what cannot; 1 when nothing could."""
    options = arguments(given)
    plan = run.Plan(
        embeddings=[*filter(None, options.embeddings.split(",")), *([f"onnx:{options.onnx}"] if options.onnx else [])],
        rerank=options.rerank,
        chunks=options.chunk or [None],
        sweep=options.sweep,
        embedded=not options.only_opensearch,
    )
    with run.node(options.opensearch) as url:
        figures = [row for judged in _sets(options) for row in run.measure(judged, plan, url)]
    if not figures:
        print("\nNothing was measured.")
        return 1
    print(f"\nWritten to {run.keep(figures, options.name or ('sweep' if options.sweep else ''))}")
    return 0


def _sets(options: argparse.Namespace) -> Iterator[JudgedSet]:
    if options.sample or not (options.set or options.fetch or options.links):
        yield sample_set()
    for folder in options.set:
        yield load_folder(folder, renumber=options.renumber)
    yield from map(anchored_set, options.links)
    for name in options.fetch:
        try:
            yield load_folder(sets.fetch(name), renumber=sets.SETS[name].renumber)
        except sets.Unreachable as error:
            print(f"\nSkipped: the set {name}. {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
