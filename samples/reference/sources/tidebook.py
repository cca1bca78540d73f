"""tidebook: the field book of people who count what lives in tide pools, on the command line.

Visits, counts and pools are kept in one JSON file. Nothing but the standard library is needed.
"""

import argparse
import csv
import io
import json
import sys
from datetime import datetime
from pathlib import Path

BOOK = Path.home() / ".tidebook.json"
EMPTY = {"visits": [], "counts": [], "pools": {}, "species": {}, "settings": {"units": "metric", "site": ""}}


class Refused(Exception):
    """What the book does not allow, in a sentence."""


def load(file: Path) -> dict:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else json.loads(json.dumps(EMPTY))


def save(file: Path, book: dict) -> None:
    file.write_text(json.dumps(book, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def running(book: dict) -> dict:
    """The visit that has begun and not ended."""
    for visit in reversed(book["visits"]):
        if visit["ended"] is None:
            return visit
    raise Refused("No visit is running. Begin one: tidebook visit start <pool>")


def visit_start(book: dict, given: argparse.Namespace) -> str:
    if given.pool not in book["pools"]:
        raise Refused(f"There is no pool {given.pool}. Add it: tidebook pool add {given.pool} <name>")
    if any(visit["ended"] is None for visit in book["visits"]):
        raise Refused("A visit is running already. End it: tidebook visit end")
    number = len(book["visits"]) + 1
    visit = {"number": number, "pool": given.pool, "began": now(), "ended": None, "observers": given.observer or []}
    book["visits"].append(visit)
    return f"Visit {number} at {given.pool} has begun."


def visit_end(book: dict, given: argparse.Namespace) -> str:
    visit = running(book)
    visit["ended"], visit["note"] = now(), given.note
    return f"Visit {visit['number']} has ended."


def visit_list(book: dict, given: argparse.Namespace) -> str:
    found = [visit for visit in book["visits"] if given.pool in (None, visit["pool"])]
    return "\n".join(f"{one['number']:>4}  {one['pool']:<8} {one['began']}" for one in found[-given.last :])


def visit_show(book: dict, given: argparse.Namespace) -> str:
    for visit in book["visits"]:
        if visit["number"] == given.number:
            counts = [one for one in book["counts"] if one["visit"] == given.number]
            return "\n".join([f"{visit['pool']}, {visit['began']}", *(f"{one['count']:>5} {one['species']}" for one in counts)])
    raise Refused(f"There is no visit {given.number}. See: tidebook visit list")


def count_add(book: dict, given: argparse.Namespace) -> str:
    if given.species not in book["species"]:
        raise Refused(f"{given.species} is no species of this book. Add it: tidebook species add {given.species} <name>")
    visit = running(book)["number"]
    one = {"visit": visit, "species": given.species, "count": given.count, "quadrat": given.quadrat}
    book["counts"].append(one | {"unsure": given.unsure})
    return f"{given.count} {given.species} in visit {visit}."


def count_undo(book: dict, given: argparse.Namespace) -> str:
    visit = running(book)["number"]
    if not book["counts"] or book["counts"][-1]["visit"] != visit:
        raise Refused("Nothing has been counted in this visit.")
    last = book["counts"].pop()
    return f"Taken back: {last['count']} {last['species']}."


def count_list(book: dict, given: argparse.Namespace) -> str:
    found = [one for one in book["counts"] if given.species in (None, one["species"])]
    return "\n".join(f"{one['visit']:>4}  {one['count']:>5}  {one['species']}" for one in found)


def pool_add(book: dict, given: argparse.Namespace) -> str:
    book["pools"][given.pool] = {"name": given.name, "height": given.height}
    return f"{given.pool} is {given.name}."


def pool_list(book: dict, given: argparse.Namespace) -> str:
    return "\n".join(f"{key:<8} {one['name']}" for key, one in sorted(book["pools"].items()))


def pool_show(book: dict, given: argparse.Namespace) -> str:
    if given.pool not in book["pools"]:
        raise Refused(f"There is no pool {given.pool}. See: tidebook pool list")
    visits = sum(visit["pool"] == given.pool for visit in book["visits"])
    return f"{book['pools'][given.pool]['name']}: {visits} visits"


def species_add(book: dict, given: argparse.Namespace) -> str:
    book["species"][given.species] = {"name": given.name, "non_native": given.non_native}
    return f"{given.species} is {given.name}."


def species_search(book: dict, given: argparse.Namespace) -> str:
    text = given.text.casefold()
    found = {key: one for key, one in book["species"].items() if text in f"{key} {one['name']}".casefold()}
    return "\n".join(f"{key:<12} {one['name']}" for key, one in sorted(found.items()))


def export(book: dict, given: argparse.Namespace) -> str:
    out = io.StringIO(newline="")
    if given.format == "json":
        json.dump(book["counts"], out, indent=2)
    else:
        rows = csv.DictWriter(out, ("visit", "species", "count", "quadrat", "unsure"), lineterminator="\n")
        rows.writeheader()
        rows.writerows(book["counts"])
    if given.output is None:
        return out.getvalue().rstrip()
    Path(given.output).write_text(out.getvalue(), encoding="utf-8")
    return f"{len(book['counts'])} counts are in {given.output}."


def config_get(book: dict, given: argparse.Namespace) -> str:
    return str(book["settings"].get(given.key, ""))


def config_set(book: dict, given: argparse.Namespace) -> str:
    book["settings"][given.key] = given.value
    return f"{given.key} is {given.value}."


def config_list(book: dict, given: argparse.Namespace) -> str:
    return "\n".join(f"{key} = {value}" for key, value in sorted(book["settings"].items()))


def status(book: dict, given: argparse.Namespace) -> str:
    begun = [visit for visit in book["visits"] if visit["ended"] is None]
    where = f"at {begun[-1]['pool']} since {begun[-1]['began']}" if begun else "nowhere"
    return f"{where}; {len(book['visits'])} visits, {len(book['counts'])} counts, {len(book['pools'])} pools"


def now() -> str:
    return datetime.now().astimezone().isoformat(timespec="minutes")


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="tidebook", description="The field book of people who count in tide pools.")
    top.add_argument("--book", type=Path, default=BOOK, metavar="FILE", help="the book, if it is not the usual one")
    groups = top.add_subparsers(dest="group", required=True, metavar="COMMAND")

    visit = _group(groups, "visit", "Begin, end and look back at visits to a pool.")
    one = _command(visit, "start", visit_start, "Begin a visit to a pool", "tidebook visit start LC-04 --observer Ines --observer Tobias")
    one.add_argument("pool", help="number of the pool, such as LC-04")
    one.add_argument("--observer", action="append", metavar="NAME", help="who counts; may be given for each of two")
    one = _command(visit, "end", visit_end, "End the visit that is running", 'tidebook visit end --note "Wind from the west"')
    one.add_argument("--note", default="", help="what the numbers do not say")
    one = _command(visit, "list", visit_list, "List visits, the latest last", "tidebook visit list --pool LC-04 --last 5")
    one.add_argument("--pool", help="only visits to this pool")
    one.add_argument("--last", type=int, default=20, metavar="COUNT", help="how many at most")
    one = _command(visit, "show", visit_show, "Show one visit with what was counted", "tidebook visit show 17")
    one.add_argument("number", type=int, help="number of the visit")

    count = _group(groups, "count", "Write down what lives in a pool.")
    one = _command(count, "add", count_add, "Count a species in the visit that is running", "tidebook count add limpet 42 --quadrat 3")
    one.add_argument("species", help="short name of the species, such as limpet")
    one.add_argument("count", type=int, help="how many")
    one.add_argument("--quadrat", type=int, help="number of the quadrat, where one was laid")
    one.add_argument("--unsure", action="store_true", help="mark the count for a second pair of eyes")
    _command(count, "undo", count_undo, "Take the last count of the visit back", "tidebook count undo")
    one = _command(count, "list", count_list, "List everything that was counted", "tidebook count list --species limpet")
    one.add_argument("--species", help="only this species")

    pool = _group(groups, "pool", "The pools that are visited.")
    one = _command(pool, "add", pool_add, "Give a pool a number", 'tidebook pool add LC-04 "Lantern Cove, by the steps"')
    one.add_argument("pool", help="number of the pool")
    one.add_argument("name", help="where it lies")
    one.add_argument("--height", type=float, metavar="METRES", help="above chart datum")
    _command(pool, "list", pool_list, "List pools by number", "tidebook pool list")
    one = _command(pool, "show", pool_show, "Show a pool and how often it was visited", "tidebook pool show LC-04")
    one.add_argument("pool", help="number of the pool")

    species = _group(groups, "species", "The species that are counted.")
    one = _command(species, "add", species_add, "Add a species to the book", 'tidebook species add limpet "Patella vulgata"')
    one.add_argument("species", help="short name")
    one.add_argument("name", help="scientific name")
    one.add_argument("--non-native", action="store_true", help="report every find of it")
    one = _command(species, "search", species_search, "Find species by a part of their names", "tidebook species search patella")
    one.add_argument("text", help="a part of either name")

    one = _command(groups, "export", export, "Write all counts to a file for the network", "tidebook export --format csv --output counts.csv")
    one.add_argument("--format", choices=("csv", "json"), default="csv", help="what the file is")
    one.add_argument("--output", metavar="FILE", help="where it goes; without it, to the screen")

    config = _group(groups, "config", "Settings of the book.")
    one = _command(config, "get", config_get, "Show one setting", "tidebook config get units")
    one.add_argument("key", help="name of the setting")
    one = _command(config, "set", config_set, "Change one setting", "tidebook config set site lantern-cove")
    one.add_argument("key", help="name of the setting")
    one.add_argument("value", help="what it shall be")
    _command(config, "list", config_list, "List all settings", "tidebook config list")

    _command(groups, "status", status, "Say whether a visit is running, and what the book holds", "tidebook status")
    return top


def _group(groups, name: str, text: str):
    group = groups.add_parser(name, help=text, description=text)
    return group.add_subparsers(dest="command", required=True, metavar="COMMAND")


def _command(group, name: str, run, text: str, example: str) -> argparse.ArgumentParser:
    one = group.add_parser(
        name,
        help=text,
        description=f"{text}.",
        epilog=f"Examples:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.set_defaults(run=run)
    return one


def main(arguments: list[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    book = load(given.book)
    try:
        said = given.run(book, given)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    save(given.book, book)
    if said:
        print(said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
