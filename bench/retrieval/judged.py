"""A judged set: documents, queries with a category and filters, and grades."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.search.filters import Filters
from commonplace.search.model import Record

_FILTERS = {
    "contentType": "content_types",
    "group": "group",
    "release": "release",
    "status": "status",
    "tag": "tags_all",
    "tagAny": "tags_any",
    "pathPrefix": "path_prefix",
    "dateFrom": "date_from",
    "dateTo": "date_to",
}
"""As the search parameters of the REST API are called."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A query as somebody would type it, what kind of query it is, and the filters that go with it."""

    id: str
    text: str
    category: str = "all"
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """`records` are unversioned: whoever indexes them does it once. Topics without a relevant document are left out."""

    name: str
    records: Sequence[Record]
    topics: Sequence[Topic]
    grades: Mapping[str, Mapping[str, int]]
    """Topic -> document -> grade from 0, not relevant, to 3, what was asked for."""

    @property
    def categories(self) -> list[str]:
        """In order of appearance."""
        return list(dict.fromkeys(topic.category for topic in self.topics))


def judged_set(
    name: str, records: Sequence[Record], topics: Sequence[Topic], grades: Mapping[str, Mapping[str, int]]
) -> JudgedSet:
    """The set with those topics that have something to find. Raises ValueError when none has."""
    answerable = [topic for topic in topics if any(grade > 0 for grade in grades.get(topic.id, {}).values())]
    if not answerable:
        raise ValueError(f"no topic of {name} has a relevant document: do topics and qrels belong together?")
    return JudgedSet(name, records, answerable, grades)


def parse_filters(text: str) -> Filters:
    """Filters written as a JSON object of search parameters. Raises ValueError for an unknown one."""
    stated: dict[str, Any] = json.loads(text) if text.strip() else {}
    if unknown := stated.keys() - _FILTERS.keys():
        raise ValueError(f"unknown filter {', '.join(sorted(unknown))}; there are {', '.join(_FILTERS)}")
    fields: dict[str, Any] = {
        _FILTERS[name]: tuple(value) if isinstance(value, list) else value for name, value in stated.items()
    }
    return Filters(**fields)
