"""The products that are measured, and the catalogue that the generators of today make of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any

import yaml

from bench.reference.real import console, documents, programs
from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import Catalogue, Entry
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source import compilation
from commonplace.reference.source.reader import read_catalogue
from generators import catalogue_file
from generators.openapi.documents import files_of
from generators.plan import generate

FILE = Path(__file__).parent / "products.yaml"
WRITTEN = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Thing:
    """What a product has: a command, or an operation of an API, by a check that is not the generator."""

    name: str
    """`git switch`, `GET /v2/account`."""
    also: str = ""
    """The name that it is another one for."""


@dataclass(frozen=True)
class Product:
    """One product of the file, with what was fetched of it."""

    folder: Path
    told: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.told["name"])

    @property
    def kind(self) -> str:
        return str(self.told["kind"])

    @property
    def root(self) -> str:
        return str(self.told.get("root", self.name))

    @property
    def source(self) -> Path:
        return self.folder / str(self.told.get("source", f"programs/{self.name}.json"))

    @property
    def version(self) -> str:
        """Of a program what it says of itself, else the commit that the file names."""
        if self.kind != "help":
            return f"{self.told['repository']}@{str(self.told['commit'])[:12]}"
        return self.program.version if self.program else ""

    @property
    def there(self) -> bool:
        return self.program is not None if self.kind == "help" else self.source.is_file()

    @cached_property
    def program(self) -> programs.Program | None:
        if self.kind != "help":
            return None
        given = {
            key: self.told[key]
            for key in ("names", "ask", "depth", "complete", "completion", "pinned")
            if key in self.told
        }
        return programs.program(programs.Asked(self.name, **given), self.folder)

    @cached_property
    def operations(self) -> tuple[documents.Operation, ...]:
        return documents.operations(self.source) if self.kind == "openapi" else ()

    @cached_property
    def truths(self) -> Mapping[str, console.Truth]:
        """By the name with the root, as entries have it; what is no command of the root stands without it."""
        return console.truths(self.source, self.root) if self.kind == "console" else {}

    @cached_property
    def things(self) -> tuple[Thing, ...]:
        """All there is."""
        return tuple(self._things())

    def _things(self) -> Iterator[Thing]:
        yield from (Thing(one.name) for one in self.operations)
        yield from (Thing(f"{self.root} {name}") for name in self.truths)
        hidden = tuple(f"{self.name} {one}" for one in self.told.get("internal", ()))
        for name, page in (self.program.pages if self.program else {}).items():
            if name == self.name or (hidden and name.startswith(hidden)):
                continue
            if page.own and not page.is_group:
                yield Thing(name)
            elif not page.own and page.usages:
                yield Thing(name, also=page.usages[0])


@dataclass(frozen=True, slots=True)
class Made:
    """What the generator made of a product, read again as a sync would."""

    catalogue: Catalogue
    unread: int
    """Parts of the source that it says it could not read."""
    errors: tuple[str, ...]
    """Why this catalogue would not be published."""
    cpu_seconds: float
    """Of the generator."""

    @property
    def entries(self) -> list[Entry]:
        return [placed.entry for placed in self.catalogue.entries]


def products(folder: Path, only: Sequence[str] = ()) -> list[Product]:
    """Those whose material is there; `only` leaves the others unasked."""
    every = [Product(folder, told) for told in yaml.safe_load(FILE.read_text(encoding="utf-8"))]
    return [one for one in every if (not only or one.name in only) and one.there]


def made(product: Product) -> Made:
    """Raises CommonplaceError where the generator refuses the whole source."""
    raw = product.program.raw if product.program else product.source.read_bytes()
    options = {"root": product.root} if product.kind != "openapi" else {}
    read = files_of(product.source.parent)
    begun = process_time()
    found = generate(product.kind, raw, source=product.source.name, options=options, read=read)
    spent = process_time() - begun
    entries = catalogue_file.written(catalogue_file.dated(found.entries, None, WRITTEN))
    settings = yaml.safe_dump({"title": product.told["title"]}).encode()
    reading = read_catalogue({"catalogue.yaml": settings, "entries.json": entries}, product.name)
    compiled = compilation.compile(
        reading,
        source=CatalogueSource(product.name, "example/product", "main", ""),
        web_url=None,
        commit="0" * 40,
        generation=1,
        synced_at=datetime(2026, 1, 1, tzinfo=UTC),
        before=None,
    )
    return Made(compiled, len(found.unread), tuple(one.message for one in reading.errors), spent)


__all__ = ["CommonplaceError", "Made", "Product", "Thing", "made", "products"]
