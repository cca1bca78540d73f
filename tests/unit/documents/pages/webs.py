"""Documents that link to one another, without a text."""

import random

from commonplace.documents.content.document import Summary
from commonplace.documents.content.graph import GraphEdge
from tests.unit.documents.content.entries import summary


def web(count: int, seed: int = 7) -> tuple[list[Summary], list[GraphEdge]]:
    """Documents of which earlier ones are linked more often, as in real knowledge bases."""
    chance = random.Random(seed)
    documents = [summary(f"notes/page-{number}.md") for number in range(count)]
    pairs = {(number, int(number * chance.random() ** 2)) for number in range(1, count) for _ in range(4)}
    return documents, [edge(documents[source], documents[target]) for source, target in sorted(pairs)]


def edge(source: Summary, target: Summary) -> GraphEdge:
    return GraphEdge(source=source.ref, target=target.ref)
