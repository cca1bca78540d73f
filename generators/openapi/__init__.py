"""Entries out of an API document of OpenAPI 3.x (seed 003, "API Generator"): one for every path and method.

The document is data that others wrote: nothing in it is fetched or run, everything is bounded, and no credential leaves
it. The same document gives the same entries, whatever the order of its keys.
"""

from collections.abc import Mapping
from typing import Any

from commonplace.reference.model import Entry
from generators.generated import Generated, Read, Unread
from generators.openapi import names, security
from generators.openapi.documents import Document
from generators.openapi.examples import examples
from generators.openapi.fields import parameters
from generators.openapi.operations import Operation, Options, operations, options_of
from generators.openapi.responses import content
from generators.openapi.texts import line

MAX_UNREAD = 2_000
MAX_UNREAD_OF_ONE = 20

__all__ = ["generate"]


def generate(raw: bytes, *, source: str, options: Mapping[str, Any], read: Read = lambda _: None) -> Generated:
    """By path and method; `read` gives the files that it refers to. Raises InvalidInput and TooLarge for a document of
    which nothing can be used."""
    del source
    wanted = options_of(options)
    document = Document(raw, read)
    found = operations(document, wanted)
    hooks = document.root.members("webhooks")
    if hooks:
        document.where = "webhooks"
        document.tell(f"Webhooks ({len(hooks):,}) are calls to you, not to the API: they become no entries.")
    document.where = "components"
    schemes = security.known(document)
    ids = names.ids(found, wanted.id_prefix)
    titles = names.titles(found)
    summaries = names.summaries(found, titles)
    entries = []
    for place, (one, near) in enumerate(zip(found, names.related(found, ids), strict=True)):
        document.where = one.where
        known = {"id": ids[place], "title": titles[place], "summary": summaries[place], "related_ids": near}
        entries.append(_entry(one, schemes, wanted, known))
    signed = (one.model_copy(update={"source_hash": document.fingerprint}) for one in entries)
    return Generated(tuple(signed), _counted(document.unread))


def _entry(
    operation: Operation, schemes: Mapping[str, security.Scheme], options: Options, known: Mapping[str, Any]
) -> Entry:
    secrets = frozenset(one.name.lower() for one in schemes.values() if one.name)
    found = parameters(operation, secrets)
    alternatives = security.needs(operation.node, schemes)
    category, subcategory = names.category(operation, options)
    telling = [one.name for one in found if one.place in ("path", "query")]
    return Entry(
        **known,
        type="api",
        category=category,
        subcategory=subcategory,
        module=options.module,
        method=operation.method,
        path_template=operation.template,
        parameters=found,
        authentication=security.described(alternatives),
        content=content(operation, known["summary"]),
        keywords=names.keywords(operation, telling, options),
        aliases=names.aliases(operation),
        examples=examples(operation, found, alternatives, secrets),
        deprecated=operation.node.get("deprecated").value is True,
        last_updated="",
    )


def _counted(unread: tuple[Unread, ...]) -> tuple[Unread, ...]:
    """The first of each part and of all, errors before warnings; the rest by its number. Names are the document's, so
    that a terminal is shown them cleaned."""
    kept: list[Unread] = []
    of_one: dict[str, int] = {}
    left: dict[str, int] = {}
    for one in unread:
        of_one[one.where] = of_one.get(one.where, 0) + 1
        if of_one[one.where] > MAX_UNREAD_OF_ONE or len(kept) >= MAX_UNREAD:
            left[one.where] = left.get(one.where, 0) + 1
        else:
            kept.append(one)
    kept += [Unread(where, f"{count:,} more parts cannot be read.", severity="error") for where, count in left.items()]
    return tuple(Unread(line(one.where, 200), line(one.what, 300), one.hint, one.severity) for one in kept)
