"""Parameters of a command or an endpoint, a line each, with as much of their descriptions as there is room for."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from commonplace.reference.model import Catalogue, Entry, Hit, Parameter, Place
from commonplace.reference.tools.layout import GROUP_TOKENS, Item
from commonplace.reference.tools.markdown import code, line

LENGTHS = (1_000, 300, 200, 150, 120, 100, 80, 70, 60, 50, 40, 0)
"""Characters of descriptions of parameters: the first that leaves room for every parameter."""
PAGED_LENGTH = 60
"""The same where not even their names have room on one page."""
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


def parameters_of(entry: Entry) -> list[Parameter]:
    order = list(PLACES)
    return sorted(entry.parameters or (), key=lambda one: order.index(one.place))


def optional(hit: Hit, left: int) -> tuple[Sequence[Item], bool]:
    """A line each, and whether any is shortened.

    Where room is scarce, options that most commands of the product have come last and bare; where it is not enough for
    a word on each of the others, all are.
    """
    parameters = [one for one in parameters_of(hit.entry) if not one.required]
    left -= GROUP_TOKENS * len({one.place for one in parameters})
    items, most = fitted("parameters", parameters, left, LENGTHS[:-1])
    if not parameters or spent(items) <= left:
        return items, any(len(one.description) > most for one in parameters)
    shared = _shared(hit.catalogue) if hit.entry.type == "command" else set()
    own = [one for one in parameters if one.name not in shared]
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
        [_item("", one, LENGTHS[0]) for one in parameters_of(hit.entry) if one.required is wanted]
        for wanted in (True, False)
    )
    groups = GROUP_TOKENS * len(PLACES)
    rest = spent(others) + (after if after <= spent(others) / 3 else 0)
    return max(spent(required) * 3 // 2, spent(required) + rest) + groups


def _shared(catalogue: Catalogue) -> set[str]:
    """Options that more than half of its commands have: what is known of one is known of all."""
    commands = [placed.entry.parameters for placed in catalogue.entries if placed.entry.type == "command"]
    known = [{one.name for one in parameters} for parameters in commands if parameters]
    counts = Counter(name for names in known for name in names)
    return {name for name, count in counts.items() if count > max(len(known) / 2, LEAST_SHARING)}


def fitted(
    kind: str, parameters: Sequence[Parameter], left: int, lengths: Sequence[int] = LENGTHS
) -> tuple[list[Item], int]:
    """A line each, with as much of their descriptions as leaves room for all; else with the least. And how much."""
    fits = partial(_fits, kind, parameters, left)
    most = lengths[min(bisect_left(lengths, True, key=fits), len(lengths) - 1)]
    return [_item(kind, one, most) for one in parameters], most


def _fits(kind: str, parameters: Sequence[Parameter], left: int, most: int) -> bool:
    return spent(_item(kind, one, most) for one in parameters) <= left


def spent(items: Iterable[Item]) -> int:
    return sum(item.tokens for item in items)


def _item(kind: str, parameter: Parameter, most: int) -> Item:
    """Of a command as a help page has it: in a code block names need no marks."""
    names = line(", ".join((parameter.name, *parameter.aliases)), 1_000)
    type = line(parameter.type or "")
    said = line(parameter.description, most) if most else ""
    if parameter.place in ("argument", "option"):
        label = f"{names} {type}" if type and parameter.place == "option" else names
        text = f"{label}  {said}".rstrip()
    else:
        label = f"{names} ({type})" if type else names
        text = f"- {code(names, 1_000)}{label.removeprefix(names)}" + (f": {said}" if said else "")
    return Item(kind, parameter.place, text, f"{label}: {said}" if said else label)
