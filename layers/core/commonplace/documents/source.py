"""The branch that holds the documents."""

from collections.abc import Mapping, Sequence

from commonplace.repository.settings import KnowledgeBase
from commonplace.repository.sources import BranchSource


def sources(environ: Mapping[str, str]) -> Sequence[BranchSource]:
    """Return the knowledge base's own branch. Raises SettingsError."""
    told = KnowledgeBase.from_environ(environ)
    return [BranchSource("", told.repository, told.branch)]
