"""Completions for arguments: content types, ids, paths, groups, releases, tags, terms."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain

from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.lexicon import lexicon_of
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.completions import fitting
from commonplace.web.mcp.declaration import Complete

Values = Callable[[Catalogue, Mapping[str, str]], Iterable[str]]
"""`(catalogue, arguments given already) -> everything that can be completed to, the likeliest first`"""

PATTERNS = ("pattern",)
PRACTICES = ("practice", "pattern")


def completer(using: KnowledgeServices, values: Values) -> Complete:
    """Completes over what is published at the moment."""
    return lambda _, typed, given: fitting(values(using.catalogue(), given), typed)


def content_types(catalogue: Catalogue, _: Mapping[str, str]) -> Iterable[str]:
    """Return those in use, the most used first; then the others that a document can have."""
    used = Counter(entry.content_type for entry in catalogue.entries)
    others = (spec.name for spec in ONTOLOGY.types.values() if not spec.abstract)
    return chain((name for name, _ in used.most_common()), others)


def ids(catalogue: Catalogue, given: Mapping[str, str]) -> Iterable[str]:
    """Return the ids of the given content type; of all while none is given."""
    wanted = given.get("contentType", "").strip()
    return (entry.id for entry in catalogue.entries if not wanted or entry.content_type == wanted)


def paths(catalogue: Catalogue, _: Mapping[str, str]) -> Iterable[str]:
    """Files of documents, then attachments."""
    documents = sorted(entry.path for entry in catalogue.entries)
    return chain(documents, sorted(attachment.path for attachment in catalogue.manifest.attachments))


def tags(catalogue: Catalogue, _: Mapping[str, str]) -> Iterable[str]:
    """Return tags, the most used first."""
    return (facet.name for facet in facets.tags(catalogue))


def terms(catalogue: Catalogue, _: Mapping[str, str]) -> Iterable[str]:
    """Return titles of the lexicon."""
    return (term.name for term in lexicon_of(catalogue).defined)


def topics(catalogue: Catalogue, given: Mapping[str, str]) -> Iterable[str]:
    """Return titles of the lexicon, then tags."""
    return chain(terms(catalogue, given), tags(catalogue, given))


def titles(*types: str) -> Values:
    """Return titles of documents of these types, one type after the other."""
    return lambda catalogue, _: (
        entry.title for wanted in types for entry in catalogue.entries if entry.content_type == wanted
    )
