"""What must be on the machine before a node can run."""

from local.errors import CommandError


class RequirementMissing(CommandError):
    """Java or Maven is not there. Tests that need a node are left out then, except in CI."""
