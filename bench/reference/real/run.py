"""Real products: what the generators make of them, beside the products themselves; and questions of their users."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench import table
from bench.mcp_servers import Handler, logging_as_on_lambda, ours
from bench.reference import costs
from bench.reference.quality import Fixed
from bench.reference.real import asked, measured
from bench.reference.real.products import CommonplaceError, Made, Product, made, products
from bench.retrieval import engines
from bench.table import Row
from commonplace.reference.index_source import record_of
from commonplace.reference.model import Catalogue
from commonplace.reference.search import VectorMeaning
from commonplace.reference.service import Reference
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.model import EmbeddingProvider

TITLE = "The product reference on real products"


def run(folder: Path, provider: EmbeddingProvider | None, *, told: bool, only: Sequence[str] = ()) -> int:
    """Prints both tables. 1 where no product is there, or one is refused.

    `told`: also what is not as it should be, of questions to mend by alone.
    """
    rows: list[Row] = []
    outcomes: list[asked.Outcome] = []
    together: list[tuple[Product, Made]] = []
    refused = 0
    with logging_as_on_lambda():
        for product in products(folder, only):
            try:
                one = made(product)
            except CommonplaceError as error:
                print(f"{product.name}: no catalogue. {error.message}")
                refused += 1
                continue
            figures, answered = _one(product, one, provider)
            rows.append(figures.row(product, one))
            outcomes += answered
            together.append((product, one))
            print(f"{product.name}: {product.version}", flush=True)
            if told:
                print("\n".join(f"  {line}" for line in measured.faults(figures)))
                print("\n".join(f"  error: {line}" for line in one.errors[:4]))
                print("\n".join(f"  no right answer: {line}" for line in asked.unknown(product)))
        every = list(_together(together, provider)) if together else []
    if not rows:
        print(f"There is no material in {folder}: see bench/reference/README.md.")
        return 1
    print(f"\n{TITLE}\n" + "\n".join(table.lines(rows)))
    summed = list(asked.rows(outcomes))
    print("\nQuestions of users, by kind and half\n" + "\n".join(table.lines(summed)))
    mixed = [{**row, "half": f"{row['half']}, one deployment"} for row in asked.rows(every)]
    print("\nThe same, asked of one deployment that has all of them\n" + "\n".join(table.lines(mixed)))
    if told:
        bad = [one for one in outcomes if not one.good and not one.question.held]
        print("\n".join(f"{one.verdict}: {one.question.of}: {one.question.text} -> {one.said}" for one in bad))
    print(f"\nWritten to {table.keep('reference_real', TITLE, [*rows, *summed, *mixed])}")
    return 1 if refused else 0


def _one(
    product: Product, one: Made, provider: EmbeddingProvider | None
) -> tuple[measured.Figures, list[asked.Outcome]]:
    with _serving([one.catalogue], provider) as handler:
        call = partial(costs.call, handler)
        return measured.measured(product, one, call), list(asked.answered(product, call))


def _together(every: Sequence[tuple[Product, Made]], provider: EmbeddingProvider | None) -> Iterator[asked.Outcome]:
    with _serving([one.catalogue for _, one in every], provider) as handler:
        for product, _ in every:
            yield from asked.answered(product, partial(costs.call, handler))


@contextmanager
def _serving(catalogues: Sequence[Catalogue], provider: EmbeddingProvider | None) -> Iterator[Handler]:
    """The toolset of a deployment that has these catalogues, behind the frame of every MCP call."""
    shelf = Fixed(tuple(catalogues))
    if provider is None:
        yield _toolset(Reference(shelf))
        return
    records = [record_of(catalogue, placed) for catalogue in catalogues for placed in catalogue.entries]
    embedded = engines.embedded_records(records, provider, lambda *_: None)
    with engines.embedded_engine(embedded, provider) as engine:
        yield _toolset(Reference(shelf, VectorMeaning(engine, [provider])))


def _toolset(reference: Reference) -> Handler:
    return ours(reference_toolset(ReferenceServices(reference=reference, keeps_gaps=False)))
