"""Outcomes of single blobs, decided by their bytes alone, so that a verdict holds wherever the file lies."""

from typing import Annotated, Literal

from pydantic import Field

from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha
from commonplace.repository.problems import Problem


class PublishedBlob(Stored):
    """Published; its bytes are staged."""

    verdict: Literal["published"] = "published"
    blob_sha: BlobSha


class UnpublishedBlob(Stored):
    """The gate is shut."""

    verdict: Literal["unpublished"] = "unpublished"
    blob_sha: BlobSha
    reason: str
    problem: Problem  # What keeps it back, with line and cure


class InvalidBlob(Stored):
    """Unknown: the frontmatter cannot be read."""

    verdict: Literal["invalid"] = "invalid"
    blob_sha: BlobSha
    problem: Problem


class LostBlob(Stored):
    """The bytes could not be had; the next run tries again."""

    verdict: Literal["lost"] = "lost"
    blob_sha: BlobSha
    reason: str


Outcome = Annotated[PublishedBlob | UnpublishedBlob | InvalidBlob | LostBlob, Field(discriminator="verdict")]
Verdicts = dict[BlobSha, PublishedBlob | UnpublishedBlob | InvalidBlob | LostBlob]


class Batch(Stored):
    """The blobs that one step fetched, and its calls of GitHub."""

    outcomes: list[Outcome]
    github_calls: int = 0


def merge(verdicts: Verdicts, outcomes: list[Outcome]) -> None:
    """Adds outcomes; a verdict once reached is never replaced by "lost" (a step may have run twice)."""
    for outcome in outcomes:
        if not isinstance(outcome, LostBlob) or outcome.blob_sha not in verdicts:
            verdicts[outcome.blob_sha] = outcome
