"""Refusal of query parameters that an endpoint does not have, naming the one that was meant."""

from collections.abc import Mapping
from typing import Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel

from commonplace.kernel.errors import InvalidInput
from commonplace.web.argument_names import MAX_NAME_CHARACTERS, Synonyms, closest, meant

MAX_NAMED = 10
"""Parameters named in one message."""

SYNONYMS: Synonyms = tuple(
    (frozenset([declared]), frozenset(given.split()))
    for declared, given in (
        ("offset", "page pagenumber skip start startindex"),
        ("cursor", "page pagenumber skip start offset"),
        ("sort", "order orderby sortorder direction"),
        ("fields", "select columns attributes"),
        ("include", "expand embed with"),
        ("updatedsince", "updated modified updatedafter modifiedafter modifiedsince changedsince"),
        ("pathprefix", "path folder directory dir prefix"),
        ("author", "by writer creator"),
        ("group", "cell project team"),
        ("status", "state"),
    )
)
"""Names of parameters, and what other interfaces say in their place; both as `argument_names.plain` writes them."""


async def known_parameters(request: Request) -> None:
    """A dependency of every endpoint. Raises InvalidInput for a name it does not have, or one that comes too often."""
    given = request.query_params
    if not given:
        return
    several = _parameters(request.scope["route"].dependant)
    faults = {name: _unknown(name, several) for name in given if name not in several}
    repeated = (name for name, many in several.items() if not many and len(given.getlist(name)) > 1)
    faults |= dict.fromkeys(repeated, (None, "comes several times, and takes one value"))
    if not faults:
        return
    shown = list(faults.items())[:MAX_NAMED]
    here = f"Parameters here: {', '.join(several)}." if several else "This address takes no parameters."
    near = list(dict.fromkeys(near for _, (near, _) in shown if near))
    raise InvalidInput(
        "; ".join(f"{_printable(name)}: {message}" for name, (_, message) in shown),
        fields=[{"in": "query", "field": _printable(name), "message": message} for name, (_, message) in shown],
        nearest=near,
        validParameters=list(several),
        hint=(f"Did you mean {' or '.join(near)}? " if near else "") + here,
    )


def _unknown(name: str, several: Mapping[str, bool]) -> tuple[str | None, str]:
    near = meant(name, several, more=SYNONYMS) or next(iter(closest(name, several, 1)), None)
    return near, f"there is no such parameter here; did you mean {near}?" if near else "there is no such parameter here"


def _parameters(dependant: Dependant) -> Mapping[str, bool]:
    """Names of query parameters, and whether they take several values."""
    found: dict[str, bool] = {}
    for each in (dependant, *dependant.dependencies):
        for field in each.query_params:
            kind = field.field_info.annotation
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                found |= {one.alias or name: _is_list(one.annotation) for name, one in kind.model_fields.items()}
            else:
                found[field.alias] = _is_list(kind)
    return found


def _is_list(annotation: Any) -> bool:
    """Return whether a parameter of this type takes several values; it may be optional."""
    return list in (get_origin(annotation), *map(get_origin, get_args(annotation)))


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:MAX_NAME_CHARACTERS])
