"""Lessons files as they are read, beside a count by hand: `python -m bench.lessons FOLDER`."""

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.lessons.score import Beside, beside, total
from bench.table import Row, show
from commonplace.kernel.yaml import read
from local.memory import claude

COUNTED = Path(__file__).with_name("counted.yaml")
RULES = "-claude.md"
"""Files that end so are read by the parser of rules."""


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.lessons", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="of the files, named as in the count")
    parser.add_argument("--counted", metavar="FILE", type=Path, default=COUNTED, help="the count, as YAML")
    parser.add_argument("--parser", metavar="MODULE", default="local.memory.lessons", help="a module with `parse`")
    parser.add_argument("--lines", action="store_true", help="list each difference")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Prints a row of each file that is there, and their sum. 1 when none of them is."""
    options = arguments(given)
    files = read(options.counted.read_text(encoding="utf-8"), max_depth=9, max_values=100_000).value
    parse = importlib.import_module(options.parser).parse
    told: dict[str, Beside] = {}
    for counted in files:
        file = options.folder / counted["file"]
        if file.exists():
            text = file.read_text(encoding="utf-8")
            reader = claude.parse if file.name.endswith(RULES) else parse
            told[file.name] = beside(counted, reader(text, file.name), text)
    if not told:
        print(f"None of the {len(files)} files is in {options.folder}; README.md says where they come from.")
        return 1
    show("lessons", "Lessons files beside a count by hand", rows(told))
    for name, one in told.items() if options.lines else ():
        print("\n".join((f"\n{name}", *(f"  {line}" for line in one.lines))))
    return 0


def rows(told: Mapping[str, Beside]) -> list[Row]:
    """Of each file, and of all together."""
    return [
        {
            "file": name,
            "stories": f"{one.found} of {one.stories}",
            "no story": one.more,
            "dates": f"{one.dated} of {one.dates}",
            "facts": one.facts,
            "read": one.read,
            "agreed": one.agreed,
            "wrong story": one.elsewhere,
        }
        for name, one in {**told, "all": total(list(told.values()))}.items()
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
