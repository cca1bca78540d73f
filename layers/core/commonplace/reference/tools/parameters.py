"""Parameters of a command or an endpoint, a line each, with as much of their descriptions as there is room for."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

from commonplace.reference.model import Entry, Hit, Parameter, Place
from commonplace.reference.tools.layout import GROUP_TOKENS, Item
from commonplace.reference.tools.markdown import code, line

LENGTHS = (1_000, 300, 200, 150, 120, 100, 80, 70, 60, 50, 40, 0)
"""Characters of descriptions of parameters: the first that leaves room for every parameter."""
PAGED_LENGTH = 60
"""The same where not even their names have room on one page."""
LEAST_TYPE = 60
"""Characters of a type in words, such as `array of User or Group`."""
_NEED = re.compile(
    r"\((?:[^()]*; )?(required (?:in|with|unless) [^;()]+|only with [^;()]+, required there)(?:; [^()]*)?\)$"
)
LEAST_SHARING = 3
"""Commands that have an option, or more of them, before it counts as one that most have."""
PLACES: dict[Place, tuple[str, str]] = {
    "argument": ("Arguments", "arguments"),
    "option": ("Options", "options"),
    "path": ("Path parameters", "path parameters"),
    "query": ("Query parameters", "query parameters"),
    "header": ("Headers", "headers"),
    "cookie": ("Cookies", "cookies"),
    "body": ("Body", "body fields"),
}
"""Above a list of them, and after a number."""


def parameters_of(entry: Entry, *, essential: bool) -> list[Parameter]:
    """Those that a call needs, or the others, by where they stand.

    Needed are as well the fields at the top of a body that may be left out, or is one of several, and needs them.
    """
    order = list(PLACES)
    wanted = [
        one
        for one in entry.parameters or ()
        if essential is (one.required or bool(one.place == "body" and _depth(one) == 0 and _need(one)))
    ]
    return sorted(wanted, key=lambda one: order.index(one.place))


def optional(hit: Hit, left: int) -> tuple[Sequence[Item], bool]:
    """A line each, and whether any is shortened.

    Where room is scarce, fields of fields come after those that hold them, and options that most commands of the
    product have last and bare; where it is not enough for a word on each of the others, all are.
    """
    parameters = parameters_of(hit.entry, essential=False)
    left -= GROUP_TOKENS * len({one.place for one in parameters})
    items, most = fitted("parameters", parameters, left, LENGTHS[:-1])
    if not parameters or spent(items) <= left:
        return items, any(len(one.description) > most for one in parameters)
    shared: set[str] = set()
    if hit.entry.type == "command":  # options that more than half of its commands have: known of one, known of all
        commands = [placed.entry.parameters for placed in hit.catalogue.entries if placed.entry.type == "command"]
        known = [{one.name for one in of_one} for of_one in commands if of_one]
        counts = Counter(name for names in known for name in names)
        shared = {name for name, count in counts.items() if count > max(len(known) / 2, LEAST_SHARING)}
    own = [one for one in parameters if one.name not in shared]
    if hit.entry.type == "api":
        own.sort(key=lambda one: (list(PLACES).index(one.place), _depth(one)))
    bare = [_item("parameters", one, 0) for one in parameters if one.name in shared]
    for room in (left - spent(bare), left):
        items, _ = fitted("parameters", own, room, LENGTHS[:-1])
        if spent(items) <= room:
            return items + bare, True
    items, _ = fitted("parameters", own, left - spent(bare))
    if spent(items) + spent(bare) > left:
        items, _ = fitted("parameters", own, 0, (PAGED_LENGTH,))
    return items + bare, True


def spent_whole(hit: Hit, after: int) -> int:
    """Tokens for all parameters with their whole descriptions, and for what comes after them if that is short."""
    required, others = (
        [_item("", one, LENGTHS[0]) for one in parameters_of(hit.entry, essential=wanted)] for wanted in (True, False)
    )
    groups = GROUP_TOKENS * len(PLACES)
    rest = spent(others) + (after if after <= spent(others) / 3 else 0)
    return max(spent(required) * 2, spent(required) + rest) + groups


def _depth(parameter: Parameter) -> int:
    return parameter.name.count(".") + parameter.name.count("[]")


def _need(parameter: Parameter) -> str:
    """Return when it is required, as the generator of endpoints says at the end of a description."""
    found = _NEED.search(parameter.description)
    return found[1] if found else ""


def fitted(
    kind: str, parameters: Sequence[Parameter], left: int, lengths: Sequence[int] = LENGTHS
) -> tuple[list[Item], int]:
    """A line each, with as much of their descriptions as leaves room for all; else with the least. And how much."""

    def fits(most: int) -> bool:
        return spent(_item(kind, one, most) for one in parameters) <= left

    most = lengths[min(bisect_left(lengths, True, key=fits), len(lengths) - 1)]
    return [_item(kind, one, most) for one in parameters], most


def spent(items: Iterable[Item]) -> int:
    return sum(item.tokens for item in items)


def _item(kind: str, parameter: Parameter, most: int) -> Item:
    """Write that of a command as a help page has it: in a code block names need no marks. When it is required is never
    cut.
    """
    names = line(", ".join((parameter.name, *parameter.aliases)), 1_000)
    said = line(parameter.description, most) if most else ""
    if parameter.place in ("argument", "option"):
        value = f" {line(parameter.type)}" if parameter.type and parameter.place == "option" else ""
        text = f"{names}{value}  {said}".rstrip()
    else:
        need = _need(parameter) if len(parameter.description) > most else ""
        facts = [line(one, max(most, LEAST_TYPE)) for one in (parameter.type, need) if one]
        value = f" ({'; '.join(facts)})" if facts else ""
        text = f"- {code(names, 1_000)}{value}" + (f": {said}" if said else "")
    return Item(kind, parameter.place, text, f"{names}{value}" + (f": {said}" if said else ""))
