"""Judgements that a clone already holds: what a link says is a query, where it leads is what it should find.

Nobody judged these as a search would be judged, so they compare systems and say little of how good one is. The page
that holds the link uses the very words; it counts as of some use.
"""

from collections import defaultdict
from pathlib import Path

from bench.retrieval.judged import JudgedSet, Topic, judged_set
from bench.retrieval.sample import documents
from commonplace.documents.content.graph import LinkResolver, ToDocument, names_of
from commonplace.documents.content.reader import Published, extract_links, judge
from commonplace.documents.index_source import record_from_document
from commonplace.search.text import name_key, query_terms

WANTED, OF_USE = 3, 1
MIN_WORDS = 2
"""Below that a link's text says nothing that could be searched for (`here`)."""


def anchored_set(clone: Path) -> JudgedSet:
    """The published documents of a clone, and texts of links that are no name of where they lead.

    Raises ValueError when there is none.
    """
    published = documents(clone)
    by_path = {document.path: document for document in published}
    names = names_of((document.path, document.title, document.aliases) for document in published)
    resolver = LinkResolver(by_path, [], names)
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for source in published:
        verdict = judge((clone / source.path).read_bytes())
        for link in extract_links(verdict.file) if isinstance(verdict, Published) else ():
            resolution = resolver.resolve(source.path, link)
            text = " ".join(link.text.split())
            if not isinstance(resolution, ToDocument) or len(query_terms(text)) < MIN_WORDS:
                continue
            target = by_path[resolution.path]
            if target.ref == source.ref or name_key(text) in map(name_key, (target.title, *target.aliases)):
                continue
            useful = found[text.casefold()]
            useful[target.ref] = WANTED
            useful.setdefault(source.ref, OF_USE)
    topics = [Topic(str(number), text) for number, text in enumerate(found, 1)]
    grades = {topic.id: found[topic.text] for topic in topics}
    return judged_set(
        f"links of {clone.name}", [record_from_document(document) for document in published], topics, grades
    )
