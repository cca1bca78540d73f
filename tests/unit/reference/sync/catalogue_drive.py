"""A catalogue that is synced, as `drive` does it for documents, and files for it."""

import json
from typing import Any

from commonplace.reference.library import manifest_key, report_key
from commonplace.reference.model import Catalogue, Manifest
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.sync.plan import CatalogueReport
from commonplace.reference.sync.steps import CatalogueSteps
from tests.unit.documents.sync.drive import Clock, Runs

NAME = "helios"
FOLDER = "docs/reference"


class CatalogueWorld(Runs):
    """Where the catalogue `helios` is synced, from a folder of the branch."""

    def __init__(self, folder: str = FOLDER) -> None:
        super().__init__()
        self.source = CatalogueSource(NAME, self.repository.name, self.repository.branch, folder)
        self.steps: CatalogueSteps = self.of(self.source)

    def of(self, source: CatalogueSource) -> CatalogueSteps:
        return CatalogueSteps(self.objects, self.repository, self.state, source, bucket="store", now=Clock())

    def save(self, files: dict[str, bytes], beside: dict[str, bytes] | None = None) -> str:
        """Pushes a tree with these files in the folder, and others beside it."""
        prefix = f"{self.source.folder}/" if self.source.folder else ""
        return self.push({f"{prefix}{path}": raw for path, raw in files.items()} | (beside or {"README": b"readme"}))

    @property
    def manifest(self) -> Manifest | None:
        found = self.objects.get(manifest_key(NAME))
        return Manifest.model_validate_json(found.body) if found else None

    @property
    def catalogue(self) -> Catalogue:
        """As readers find it."""
        manifest = self.manifest
        assert manifest is not None
        found = self.objects.get(manifest.catalogue_key)
        assert found is not None
        return Catalogue.model_validate_json(found.body)

    @property
    def report(self) -> CatalogueReport:
        found = self.objects.get(report_key(NAME))
        assert found is not None
        return CatalogueReport.model_validate_json(found.body)

    @property
    def titles(self) -> dict[str, str]:
        return {placed.entry.id: placed.entry.title for placed in self.catalogue.entries}

    def codes(self) -> list[str]:
        """Of the errors that the last run has found."""
        return [problem.code for problem in self.report.errors]


def command(id: str, title: str = "Lists users", **fields: object) -> dict[str, Any]:
    """A whole entry."""
    return {
        "id": id,
        "type": "command",
        "title": title,
        "category": "users",
        "name": f"helios {id.replace('-', ' ')}",
        "syntax": f"helios {id.replace('-', ' ')}",
        "summary": f"{title}.",
        "content": "What it does.",
        "keywords": ["users"],
        "lastUpdated": "2026-01-01T00:00:00Z",
        **fields,
    }


def entries(*given: dict[str, Any]) -> bytes:
    """A file of entries."""
    return json.dumps({"entries": given}).encode()


def guide(title: str, *, publish: str = "true") -> bytes:
    lines = f"title: {title}\ntype: guide\ncategory: users\nsummary: How it is done.\npublish: {publish}"
    return f"---\n{lines}\nlastUpdated: 2026-01-01\n---\n# {title}\n\nDo this.\n".encode()
