"""Entries out of an API document of OpenAPI 3.x (seed 003, "API Generator"): one for every path and method.

The document is data that others wrote: nothing in it is fetched or run, everything is bounded, and no credential leaves
it. The same document gives the same entries, whatever the order of its keys.
"""

from collections.abc import Mapping
from typing import Any

from commonplace.reference.model import Entry
from generators.generated import Generated, Unread
from generators.openapi import documents, names, security
from generators.openapi.content import Parameter, markdown, parameters, summary
from generators.openapi.examples import examples
from generators.openapi.operation_reader import Reader
from generators.openapi.operations import Operation, operations
from generators.openapi.options import Options, options_of
from generators.openapi.pointers import Pointers
from generators.openapi.security import Need
from generators.openapi.texts import line

MAX_UNREAD = 2_000
MAX_WHERE = 200
MAX_WHAT = 300


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:  # noqa: ARG001 - of every generator
    """By path and method. Raises InvalidInput and TooLarge for a document that cannot be used at all."""
    wanted = options_of(options)
    root = documents.read(raw)
    pointers = Pointers(root)
    found, unread = operations(root, pointers, wanted)
    reader = Reader(pointers, "components")
    schemes = security.known(root, reader)
    unread += [*_besides(root), *reader.unread]
    ids = names.ids(found, wanted.id_prefix)
    near = names.related(found, ids)
    secrets = frozenset(one.name.lower() for one in schemes.values() if one.name)
    known: dict[str, Any] = {}
    entries = []
    for one, entry_id, related in zip(found, ids, near, strict=True):
        reader = Reader(pointers, one.where, secrets, known)
        alternatives = security.needs(one.body.get("security", root.get("security")), schemes, reader)
        entry = _entry(one, alternatives, wanted, reader)
        entries.append(entry.model_copy(update={"id": entry_id, "related_ids": related}))
        unread += reader.unread
    return Generated(tuple(entries), _counted(unread))


def _counted(unread: list[Unread]) -> tuple[Unread, ...]:
    more = len(unread) - MAX_UNREAD
    rest = [Unread("the document", f"{more:,} more parts cannot be read.")] if more > 0 else []
    return tuple(_shown(one) for one in unread[:MAX_UNREAD] + rest)


def _shown(unread: Unread) -> Unread:
    """As a terminal may be shown it: names in it are the document's."""
    return Unread(line(unread.where, MAX_WHERE), line(unread.what, MAX_WHAT), unread.hint)


def _entry(operation: Operation, alternatives: list[list[Need]] | None, options: Options, reader: Reader) -> Entry:
    """Its id and relations are said where all operations are known."""
    found = parameters(operation, reader)
    title = names.title(operation)
    said = summary(operation, title)
    category, subcategory = names.category(operation, options)
    return Entry(
        id="",
        type="api",
        title=title,
        category=category,
        subcategory=subcategory,
        module=options.module,
        method=operation.method,
        path_template=operation.template,
        summary=said,
        content=markdown(operation, found, security.described(alternatives), said, reader),
        keywords=names.keywords(operation, _telling(found), options),
        aliases=names.aliases(operation),
        examples=examples(operation, found, alternatives, reader),
        deprecated=operation.body.get("deprecated") is True,
        last_updated="",
    )


def _telling(found: list[Parameter]) -> list[str]:
    return [one.name for one in found if one.place in ("path", "query")]


def _besides(root: Mapping[str, Any]) -> list[Unread]:
    """What a document has besides operations that can be called."""
    hooks = root.get("webhooks")
    if not isinstance(hooks, dict) or not hooks:
        return []
    return [Unread("webhooks", f"Webhooks ({len(hooks):,}) are calls to you, not to the API: they become no entries.")]
