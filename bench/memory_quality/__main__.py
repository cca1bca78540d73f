"""How well a team's memory is searched, and what an answer costs: `python -m bench.memory_quality`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.memory_quality.judged import facts_by_title, judged_memory
from bench.memory_quality.run import Plan, keep, measure
from bench.retrieval import run


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory_quality", description=__doc__)
    parser.add_argument("--opensearch", metavar="URL", help="a node to measure on as well; `start` starts one")
    parser.add_argument("--embeddings", default="local", help="models, with commas: local, openai, onnx:/FOLDER, none")
    parser.add_argument("--pictures", metavar="FOLDER", type=Path, help="draw the figures as SVG")
    parser.add_argument("--facts", metavar="FILE", nargs="+", type=Path, help="lessons files: facts by title instead")
    parser.add_argument("--final", action="store_true", help="with the questions that are locked away")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measures what can be measured and says what cannot; 1 when nothing could."""
    options = arguments(given)
    with run.node(options.opensearch) as url:
        plan = Plan([name for name in options.embeddings.split(",") if name], url, options.pictures)
        final = options.final
        judged = facts_by_title(options.facts, final=final) if options.facts else judged_memory(final=final)
        figures = list(measure(judged, plan))
    if not figures:
        print("\nNothing was measured.")
        return 1
    print(f"\nWritten to {keep(figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
