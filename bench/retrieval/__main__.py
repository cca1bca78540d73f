"""How well a search finds: `python -m bench.retrieval`, on our own judged sets or on any in TREC format."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench import table
from bench.retrieval import run, sets
from bench.retrieval.judged import JudgedSet, load_folder
from bench.retrieval.sets import clone_sets, paraphrased_set, sample_sets

CLONES = {
    "links": "a clone whose links are the queries",
    "titles": "a clone whose titles, and typos in them, are the queries",
    "names": "a clone whose authors, files, addresses, ids and tags are the queries",
    "paraphrases": "a public clone in a folder named handbook or til, with our questions in other words",
}
"""Options that take a clone."""


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
    for kind, text in CLONES.items():
        parser.add_argument(f"--{kind}", action="append", default=[], type=Path, help=text)
    parser.add_argument(
        "--twins", action="store_true", help="give each query in upper case too, and compare the answers"
    )
    parser.add_argument("--sample", action="store_true", help="our own sets as well, when others are named")
    parser.add_argument(
        "--brief", action="store_true", help="only what is built, beside words alone: a third of the time"
    )
    parser.add_argument("--final", action="store_true", help="with the third of the queries that is locked away")
    parser.add_argument("--before", type=Path, help="rankings that an earlier run kept, to compare with")
    parser.add_argument(
        "--opensearch", metavar="URL", help="a node to measure on; `start` starts one. Without it: the embedded engine"
    )
    parser.add_argument("--only-opensearch", action="store_true", help="leave the embedded engine out")
    parser.add_argument("--embeddings", default="local", help="models, with commas: local, minilm, bedrock-titan")
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
        brief=options.brief,
        twins=options.twins,
        embedded=not options.only_opensearch,
        before=_before(options.before),
    )
    with run.node(options.opensearch) as url:
        figures = [row for group in _groups(options) for row in run.measure(group, plan, url)]
    if not figures:
        print("\nNothing was measured.")
        return 1
    if alike := run.agreement(plan.kept):
        print("\nBoth engines, as built: queries with the same first result, and how many of the first ten they share")
        print("\n".join(table.lines(alike)))
    name = options.name or ("sweep" if options.sweep else "")
    print(f"\nWritten to {run.keep(figures, name)} and {run.keep_rankings(plan.kept, name)}")
    return 0


def _groups(options: argparse.Namespace) -> Iterator[Sequence[JudgedSet]]:
    """Sets over the same documents together; without --final, without what is locked away."""
    for group in _sets(options):
        wanted = group if options.final else [judged.for_tuning() for judged in group]
        if left := [judged for judged in wanted if judged.topics]:
            yield left


def _sets(options: argparse.Namespace) -> Iterator[Sequence[JudgedSet]]:
    if options.sample or not any(getattr(options, kind) for kind in ("set", "fetch", *CLONES)):
        yield sample_sets(final=options.final)
    for folder in options.set:
        yield [load_folder(folder, renumber=options.renumber)]
    for clone in options.paraphrases:
        yield [paraphrased_set(clone, final=options.final)]
    for clone in dict.fromkeys([*options.links, *options.titles, *options.names]):
        wanted = {kind: clone in getattr(options, kind) for kind in ("links", "titles", "names")}
        yield clone_sets(clone, **wanted, final=options.final)
    for name in options.fetch:
        try:
            yield [load_folder(sets.fetch(name), renumber=sets.SETS[name].renumber)]
        except sets.Unreachable as error:
            print(f"\nSkipped: the set {name}. {error}")


def _before(file: Path | None) -> Mapping[str, run.Rankings]:
    """By engine and set: the model and chunks of an earlier run may have been others."""
    kept = json.loads(file.read_text(encoding="utf-8")) if file else {}
    return {key.partition(",")[0]: rankings for key, rankings in kept.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
