"""The capabilities of the product. The order is the order of every list: of toolsets, routes, collections, commands."""

from commonplace.documents.capability import DOCUMENTS
from commonplace.memory.capability import MEMORY
from commonplace.reference.capability import REFERENCE
from commonplace.site.capability import SITE

CAPABILITIES = (DOCUMENTS, MEMORY, REFERENCE, SITE)
