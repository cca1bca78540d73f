"""The catalogues that tests read: the product of the seed, and the sample."""

from datetime import UTC, datetime
from pathlib import Path

from commonplace.reference.model import Catalogue
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source import compilation
from commonplace.reference.source.reader import Reading, read_catalogue

ROOT = Path(__file__).parent.parent
HELIOS = ROOT / "tests" / "fixtures" / "reference" / "helios"
SAMPLE = ROOT / "samples" / "reference"
COMMIT = "a1b2c3d4" * 5
WEB_URL = "https://github.com/example/product"
SYNCED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def files_of(folder: Path) -> dict[str, bytes]:
    """Paths inside the folder -> bytes, as a sync would fetch them."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def compiled(reading: Reading, *, folder: str = "", generation: int = 1, before: Catalogue | None = None) -> Catalogue:
    source = CatalogueSource(reading.name, "example/product", "main", folder)
    return compilation.compile(
        reading,
        source=source,
        web_url=WEB_URL,
        commit=COMMIT,
        generation=generation,
        synced_at=SYNCED_AT,
        before=before,
    )


def helios() -> Catalogue:
    return compiled(read_catalogue(files_of(HELIOS), "helios"), folder="reference")


def sample() -> Catalogue:
    return compiled(read_catalogue(files_of(SAMPLE), "tidebook"), folder="samples/reference")
