"""Work that takes longer than one call: large imports, and making vectors anew."""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["import", "rebuild"]
Status = Literal["in_progress", "complete", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of such work and how far it has come. Finished ones are kept for a week."""

    organisation: str
    id: str
    kind: Kind
    created_at: str
    updated_at: str
    status: Status = "in_progress"
    total: int = 0
    processed: int = 0
    step: int = 0
    """Grows with each write: two workers never both go on from the same one."""
    position: str = ""
    """Where to go on: of an import the number of the piece, of a rebuild the last id done."""
    batch_size: int = 100
    skip_existing: bool = True
    imported: int = 0
    skipped: int = 0
    errors: tuple[str, ...] = field(default=())
    account: str = ""
    client: str = ""
    grant: str = ""
    network: str = ""
