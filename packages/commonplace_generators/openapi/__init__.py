"""Entries out of an API document of OpenAPI 3.x (seed 003, "API Generator"): one for every path and method.

The document is data that others wrote: nothing in it is fetched or run, everything is bounded, and no credential leaves
it. The same document gives the same entries, whatever the order of its keys.
"""

from collections.abc import Mapping
from typing import Any

from commonplace.reference.model import Entry
from commonplace_generators.generated import Generated, Read
from commonplace_generators.openapi import names, security
from commonplace_generators.openapi.documents import Document
from commonplace_generators.openapi.examples import examples
from commonplace_generators.openapi.fields import parameters
from commonplace_generators.openapi.operations import Operation, Options, operations, options_of
from commonplace_generators.openapi.responses import content

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
        document.tell(f"Webhooks ({len(hooks):,}) are calls to you, not to the API, and are skipped.")
    document.where = "components"
    schemes = security.known(document)
    ids = names.ids(found, wanted.id_prefix)
    titles = names.titles(found)
    summaries = names.summaries(found, titles)
    entries = []
    for place, (one, near) in enumerate(zip(found, names.related(found, ids), strict=True)):
        document.enter(one.where)
        known = {"id": ids[place], "title": titles[place], "summary": summaries[place], "related_ids": near}
        entries.append(_entry(one, schemes, wanted, {**known, "source_hash": document.fingerprint}))
    return Generated(tuple(entries), tuple(document.unread))


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
