"""The link graph as readers see it: who links where, and back. Read from what a publication stored."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from commonplace.content.document import DocumentRef


@dataclass(frozen=True)
class Network:
    """Documents as nodes, links between two documents as pairs, and the links of a document that lead nowhere.

    Links as authored, which the stored graph keeps for the next publication, are dropped on reading.
    """

    nodes: Mapping[DocumentRef, Mapping[str, Any]] = field(default_factory=dict)
    links: Sequence[tuple[DocumentRef, DocumentRef]] = ()
    broken: Mapping[DocumentRef, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: bytes) -> Self:
        """Plain JSON is enough: the writer's models have checked it, and a reader starts faster without them."""
        graph = json.loads(stored)
        broken: dict[DocumentRef, list[Mapping[str, Any]]] = {}
        for link in graph.get("broken", ()):
            told = {"target": link["target"], "line": link.get("line"), "suggestion": link.get("suggestion")}
            broken.setdefault(link["source"], []).append(told)
        nodes = {node["ref"]: node for node in graph.get("nodes", ())}
        return cls(nodes, [(edge["source"], edge["target"]) for edge in graph.get("edges", ())], broken)

    def out(self, ref: DocumentRef) -> list[DocumentRef]:
        """Documents it links to."""
        return self._out.get(ref, [])

    def back(self, ref: DocumentRef) -> list[DocumentRef]:
        """Documents that link to it."""
        return self._back.get(ref, [])

    def around(self, ref: DocumentRef, depth: int) -> dict[DocumentRef, int]:
        """Documents within so many links, in either direction, nearest first, each with its distance."""
        found = {ref: 0}
        edge = [ref]
        for distance in range(1, depth + 1):
            edge = [near for ref in edge for near in (*self.out(ref), *self.back(ref)) if near not in found]
            edge = list(dict.fromkeys(edge))
            found.update(dict.fromkeys(edge, distance))
        return found

    def between(self, refs: Iterable[DocumentRef]) -> list[tuple[DocumentRef, DocumentRef]]:
        """Links whose two ends are both among these."""
        inside = dict.fromkeys(refs)
        return [(source, target) for source in inside for target in self.out(source) if target in inside]

    @cached_property
    def _out(self) -> dict[DocumentRef, list[DocumentRef]]:
        return _grouped(self.links)

    @cached_property
    def _back(self) -> dict[DocumentRef, list[DocumentRef]]:
        return _grouped((target, source) for source, target in self.links)


def _grouped(pairs: Iterable[tuple[DocumentRef, DocumentRef]]) -> dict[DocumentRef, list[DocumentRef]]:
    found: dict[DocumentRef, list[DocumentRef]] = {}
    for left, right in pairs:
        found.setdefault(left, []).append(right)
    return found
