"""Whether a fact is found by its story's title and its label: `python -m bench.memory_quality.facts FILE... [--final]`.

Without a file it reads the sample; `bench/lessons` names public files. Like all sets, a third is measured by `--final`.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench import table
from bench.memory_quality.judged import ORGANISATION, entry_of, id_of
from bench.memory_quality.names import searching
from bench.retrieval import engines
from bench.retrieval.judged import drawn, is_locked
from commonplace.memory import validation
from commonplace.memory.model import Entry, EntryId
from local.memory import lessons

SAMPLE = Path(__file__).parents[2] / "samples" / "memory" / "LESSONS-LEARNED.md"
QUERIES = 60
_LABEL = re.compile(r"\W*([^\W\d_][^:\n`]{2,40}):\s")


def facts_by_title(files: Iterable[Path]) -> tuple[list[Entry], Mapping[str, set[EntryId]]]:
    """Return the entries of lessons files, and the facts that answer a title with a label, or with a section's name."""
    entries: list[Entry] = []
    found: dict[str, set[EntryId]] = defaultdict(set)
    for file in files:
        seeds = lessons.parse(file.read_text(encoding="utf-8"), file.name).seeds
        titles = {seed.ref: seed.metadata.get("title") for seed in seeds if seed.ref}
        refs = [f"{file.name}#{number}" for number in range(len(seeds))]
        for seed, ref in zip(seeds, refs, strict=True):
            label = _LABEL.match(seed.content)
            title, about = titles.get(seed.parent_ref or ""), label[1] if label else seed.metadata.get("section")
            if seed.entry_type == "fact" and title and about:
                found[f"{title} {about}".casefold()].add(id_of(ref))
        named = (replace(seed, ref=ref, parent_ref=None).as_import() for seed, ref in zip(seeds, refs, strict=True))
        entries += [entry_of(item) for item in validation.imports([*named]) if not isinstance(item, validation.Refused)]
    return entries, {query: found[query] for query in drawn(found)[:QUERIES]}


def main(given: Sequence[str]) -> int:
    """Print how many of the queries find their fact first, and among the first five."""
    entries, wanted = facts_by_title([Path(file) for file in given if file != "--final"] or [SAMPLE])
    queries = [query for query in wanted if "--final" in given or not is_locked(query)]
    asked = [validation.asked(query=query, entry_type="fact") for query in queries]
    with searching(entries, engines.embedding_model("local")) as search:
        found = [[one.entry.id for one in search.search(ORGANISATION, each).found] for each in asked]
    firsts = [sum(bool({*ids[:top]} & wanted[q]) for q, ids in zip(queries, found, strict=True)) for top in (1, 5)]
    row = {"entries": len(entries), "queries": len(queries), "first": firsts[0], "of the first five": firsts[1]}
    print("\n".join(table.lines([row])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
