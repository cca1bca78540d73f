"""One search of the knowledge base, for every tool that makes one: the same hits as REST shows, a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.lexicon import lexicon_of
from commonplace.documents.content.manifest import Entry
from commonplace.documents.findings import Findings, published, settle, with_spares
from commonplace.documents.tools.names import sound
from commonplace.documents.tools.search import Narrowing, filters, unknown
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel.errors import InvalidInput
from commonplace.search.filters import Filters
from commonplace.search.model import SearchRequest
from commonplace.web.mcp import continuing

NEAREST_TERMS = 3

BY_WORDS = "Meaning could not be compared: these were found by their words alone."
ELSEWHERE = "Other words, or fewer filters, may find more."
ENDS = "The ranking ends here. Filters show what lies further down."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a search came to."""

    query: str
    findings: Findings
    known: Mapping[DocumentRef, Entry]
    """What is published."""
    cursor: str | None
    """Continues the ranking."""
    hints: tuple[str, ...]
    """What a reader should know of it, in sentences."""

    @property
    def truncated(self) -> bool:
        return self.findings.passed + len(self.findings.hits) < self.findings.total


def ask(
    using: KnowledgeServices,
    query: str,
    narrowing: Narrowing | None = None,
    *,
    tool: str,
    cursor: str | None = None,
    documents: bool = False,
) -> Asked:
    """Raises InvalidInput for what cannot be searched for, and Unavailable when the index does not answer."""
    query = sound(query)
    if not query.strip():
        raise InvalidInput("The query is empty.", hint="Say what to look for: a question or a few words.")
    narrowing = narrowing or Narrowing()
    catalogue = using.library.edition().catalogue
    wanted = filters(catalogue, narrowing)
    question = repr((query, wanted))
    start = _start(cursor, tool, question)
    request = SearchRequest(query, wanted, with_spares(narrowing.limit, start), documents=documents)
    found = using.search.search(request)
    known = published(using.library, found)
    settled = settle(found, request, known, limit=narrowing.limit, start=start)
    onward = None
    if settled.resume is not None:
        onward = continuing.handle(settled.resume, tool=tool, question=question, version="")
    asked = Asked(query, settled, known, onward, ())
    hints = (BY_WORDS,) if found.fallback else ()
    if not settled.hits:
        hints = (*hints, *_advice(catalogue, query, wanted))
    elif asked.truncated and onward is None:
        hints = (*hints, ENDS)
    return replace(asked, hints=hints)


def _start(cursor: str | None, tool: str, question: str) -> int:
    if not cursor:
        return 0
    found = continuing.resume(cursor, tool=tool, question=question, version="")
    return found if isinstance(found, int) else 0


def _advice(catalogue: Catalogue, query: str, wanted: Filters) -> list[str]:
    """What to try where nothing was found."""
    told = unknown(catalogue, wanted)
    terms = [term.name for term in lexicon_of(catalogue).nearest(query, NEAREST_TERMS)]
    nearest = [f"Terms of the lexicon like it: {', '.join(terms)}."] if terms else []
    return [*told, *nearest, ELSEWHERE]
