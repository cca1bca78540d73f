"""The one GraphQL query the sync sends: when did these paths last change, as of a commit?"""

import re
from collections.abc import Callable, Mapping
from typing import Any

HISTORY = re.compile(r"(\w+)\s*:\s*history\s*\(\s*first\s*:\s*1\s*,\s*path\s*:\s*\$(\w+)\s*\)")
OBJECT = re.compile(
    r"repository\s*\(\s*owner\s*:\s*\$\w+\s*,\s*name\s*:\s*\$\w+\s*\)\s*\{\s*object\s*\(\s*oid\s*:\s*\$\w+"
)
MOST_ALIASES = 500
"""GitHub counts the nodes a query may touch; this stands for that bound."""


def answer(body: Any, name: str, last_changed: Callable[[str], Mapping[str, str] | None]) -> dict[str, Any]:
    """`data` in the query's shape, or GitHub's `errors`; `last_changed` is None for an unknown commit."""
    query, variables = _parts(body)
    asked = HISTORY.findall(query)
    if not OBJECT.search(query) or not asked:
        return _errors("Parse error on this query: only the last-changed query is served here")
    if len(asked) > MOST_ALIASES:
        return _errors(
            f"By the time this query traverses to the history connection, it is requesting up to {len(asked)} nodes"
        )
    if missing := [path for _, path in asked if not isinstance(variables.get(path), str)]:
        return _errors(f"Variable ${missing[0]} of type String! was provided invalid value")
    if f"{variables.get('owner')}/{variables.get('name')}".lower() != name.lower():
        return {"data": {"repository": None}} | _errors("Could not resolve to a Repository")
    dates = last_changed(str(variables.get("oid")))
    if dates is None:
        return {"data": {"repository": {"object": None}}}
    return {"data": {"repository": {"object": {alias: _nodes(dates.get(variables[path])) for alias, path in asked}}}}


def _parts(body: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(body, dict):
        return "", {}
    query, variables = body.get("query"), body.get("variables")
    return query if isinstance(query, str) else "", variables if isinstance(variables, dict) else {}


def _nodes(when: str | None) -> dict[str, Any]:
    return {"nodes": [{"committedDate": when}] if when else []}


def _errors(message: str) -> dict[str, Any]:
    return {"errors": [{"message": message}]}
