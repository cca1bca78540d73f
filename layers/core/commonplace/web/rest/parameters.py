"""Refusal of query parameters that an endpoint does not have, naming the one that was meant."""

from collections.abc import Mapping
from typing import Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from pydantic import BaseModel

from commonplace.kernel.errors import InvalidInput
from commonplace.web.argument_names import MAX_NAME_CHARACTERS, OF_PARAMETERS, closest, meant

MAX_NAMED = 10
"""Parameters named in one message."""


async def known_parameters(request: Request) -> None:
    """Check parameters, as a dependency of every endpoint. Raises InvalidInput for an unknown or repeated name."""
    given = request.query_params
    if not given:
        return
    several = _parameters(request.scope["route"].dependant)
    faults: dict[str, tuple[str | None, str]] = {}
    for name in (name for name in given if name not in several):
        near = meant(name, several, more=OF_PARAMETERS) or next(iter(closest(name, several, 1)), None)
        faults[name] = near, "there is no such parameter here" + (f"; did you mean {near}?" if near else "")
    repeated = (name for name, many in several.items() if not many and len(given.getlist(name)) > 1)
    faults |= dict.fromkeys(repeated, (None, "comes several times, and takes one value"))
    if not faults:
        return
    shown = list(faults.items())[:MAX_NAMED]
    here = f"Parameters here: {', '.join(several)}." if several else "This address takes no parameters."
    nearest = list(dict.fromkeys(near for _, (near, _) in shown if near))
    raise InvalidInput(
        "; ".join(f"{_printable(name)}: {message}" for name, (_, message) in shown),
        fields=[{"in": "query", "field": _printable(name), "message": message} for name, (_, message) in shown],
        nearest=nearest,
        validParameters=list(several),
        hint=(f"Did you mean {' or '.join(nearest)}? " if nearest else "") + here,
    )


def _parameters(dependant: Dependant) -> Mapping[str, bool]:
    """Return the names of query parameters, and whether they take several values."""
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
