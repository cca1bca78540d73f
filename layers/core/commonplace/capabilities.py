"""The capabilities of the product. The order is the order of every list: of toolsets, routes, collections, commands."""

from collections.abc import Mapping

from commonplace.chat.capability import CHAT
from commonplace.documents.capability import DOCUMENTS
from commonplace.federation.capability import FEDERATION
from commonplace.governance.capability import GOVERNANCE
from commonplace.hive.capability import HIVE
from commonplace.memory.capability import MEMORY
from commonplace.reference.capability import REFERENCE
from commonplace.site.capability import SITE

CAPABILITIES = (DOCUMENTS, MEMORY, REFERENCE, HIVE, GOVERNANCE, FEDERATION, CHAT, SITE)


def served_toolsets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The toolsets that a deployment with these variables has: what it requires is there."""
    return tuple(one.scopes.toolset for one in CAPABILITIES if one.scopes and one.there(environ))
