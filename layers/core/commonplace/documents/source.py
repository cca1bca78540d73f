"""The branch that holds the documents. Standard library only: the webhook function carries no third-party package."""

from collections.abc import Mapping, Sequence

from commonplace.kernel.settings import Environment
from commonplace.repository.sources import BranchSource


def sources(environ: Mapping[str, str]) -> Sequence[BranchSource]:
    """The knowledge base's own branch. Raises SettingsError."""
    env = Environment(environ)
    return [BranchSource("", env.repository(), env.branch())]
